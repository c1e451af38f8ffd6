"""Play the games with their kernels as C++ without Python, and compile these for a GPU (`make gpu-check`, docs/gpu.md).

    cd tests && python -m tools.gpu_check

takes the operations of each game from the C that Cython generated, and compiles them with gpu_pool.cu for the CPU. It
plays random games and compares each step with the engine. Then nvcc, from PATH or PyPI, compiles the same source. This
needs no GPU, and prints registers, stack (bytes) and spills (bytes) for each entry of gpu_pool.cu.
"""

import ctypes
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.engine import Game, Position

ROOT = Path(__file__).parents[2]
POOL = ROOT / "tests/tools/gpu_pool.cu"
OUTPUT = ROOT / "build/gpu"
GENERATED = ROOT / "build/cython/engine/chatiere/engine"
GAME_MODULES = ("state", "hidden", "observation", "kernel")
# The operations of core/operations.pxd that the pool uses.
OPERATIONS = {"start", "actor", "legal_actions", "apply", "sample_outcome", "apply_outcome", "end", "totals", "ranks"}
OPERATIONS |= {"view", "observe", "body_size", "view_size", "observation_length"}
# The number of games for each number of players, and nvcc's name of the H100.
GAMES, ARCHITECTURE = 30, "sm_90"
# MAX_LEGAL and MAX_SEATS of core/operations.pxd; the header of a packed state, and in it the numbers drawn.
MAX_LEGAL, MAX_SEATS, HEADER, DRAWN = 7168, 6, slice(32), slice(24, 32)
# The project's names in C: types, enumerators, functions and variables of its modules, and names of its own C.
NAME = r"\b(?:__pyx_(?:[tefv]|opt_args)_8chatiere|__Pyx_|chatiere_)\w+"
STOP = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[{};]')
# Statements of a module's import, which set a constant, fill tables, or set an operation.
CONSTANT = re.compile(r"^ +(__pyx_v_8chatiere\w+) = (\w+);", re.MULTILINE)
FILLING = re.compile(r"^ +(__pyx_f_8chatiere\w+)\(\);", re.MULTILINE)
OPERATION = re.compile(r"^ +__pyx_t_\d+\.(\w+) = ([^;]+);", re.MULTILINE)
DESIGNATED = re.compile(r"(\[(\d+)\][^=;]*= \{)(\s*\[[^}]*)\};")


def expanded(source: Path) -> str:
    """Return a generated file without macros, in the language that C and C++ share."""
    command = ("gcc", "-E", "-P", "-DNDEBUG", f"-I{sysconfig.get_path('include')}", source)
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    # The pointer to another module's table is the table.
    text = re.sub(r"\(\*__pyx_vp_(\w+)\)", r"__pyx_v_\1", text)
    # C++ converts neither numbers to enums nor untyped pointers, and has no designated elements of arrays.
    text = re.sub(r"\benum __pyx_t_\w+\s*\{", "enum {", text)
    text = re.sub(r"\benum __pyx_t_\w+", "int", text).replace("((void *)0)", "nullptr")
    text = DESIGNATED.sub(in_order, text)
    for name, value in CONSTANT.findall(text):
        text = re.sub(rf"static (\w+ {name});", rf"static const \1 = {value};", text)
    return text


def in_order(array: re.Match[str]) -> str:
    """Return an array with all of its elements."""
    values = ["0"] * int(array[2])
    for first, last, value in re.findall(r"\[(\d+)(?: \.\.\. (\d+))?\] = (\w+)", array[3]):
        for place in range(int(first), int(last or first) + 1):
            values[place] = value
    return f"{array[1]}{', '.join(values)}}};"


def declarations(text: str) -> Iterable[str]:
    """Split C into its outermost declarations and definitions."""
    depth = begin = 0
    head = ""
    for stop in STOP.finditer(text):
        if stop[0] == "{":
            head = head if depth else text[begin : stop.start()].rstrip()
            depth += 1
        depth -= stop[0] == "}"
        if depth == 0 and (stop[0] == ";" or (stop[0] == "}" and head.endswith(")"))):
            yield text[begin : stop.end()].strip()
            begin, head = stop.end(), ""


def declared(text: str) -> tuple[str, list[str]]:
    """Return the kind of a declaration and the project's names that it defines, if any."""
    head = text.partition("{")[0].strip()
    if text.startswith("enum"):
        return "type", re.findall(rf"[{{,]\s*({NAME})", text)
    if text.startswith(("struct", "typedef")):
        return "type", re.findall(NAME, head)[-1:]
    if head.endswith(")"):
        return "function", re.findall(rf"({NAME})\s*\(", head)[:1]
    return "variable" if "=" in text else "table", re.findall(rf"^static\b[^(={{]*?({NAME})\s*[\[=;]", text)


def extract(game: str) -> str:
    """Return C++ with `write_tables()` and, as macros in upper case, the operations of a game.

    Functions chatiere_… of gpu_pool.cu replace those of the generated C.

    Raises:
        LookupError: A type, function, variable or operation is missing, or nothing fills a table.
    """
    modules = ("core/stream", "core/packed", *(f"games/{game}/{name}" for name in GAME_MODULES))
    sources = [expanded(GENERATED / f"{module}.c") for module in modules]
    pool = POOL.read_text()
    operations = {name: value for name, value in OPERATION.findall(sources[-1]) if name in OPERATIONS}
    if missing := sorted(OPERATIONS - operations.keys()):
        raise LookupError(f"{game}: the generated C does not set the operations {', '.join(missing)}")
    replaced = set(re.findall(r"\b(chatiere_\w+)\(", pool))
    by_name: dict[str, list[str]] = {name: [] for name in replaced}
    kinds: dict[str, str] = {}
    for text in (text for source in sources for text in declarations(source)):
        kind, names = declared(text)
        for name in set(names) - replaced:
            # A struct has several declarations. The modules have copies of the same enums and functions.
            if name not in by_name or text.startswith(("struct", "typedef")):
                by_name.setdefault(name, []).append(text)
                kinds[text] = kind

    def needed(names: Iterable[str]) -> set[str]:
        """Return the declarations of names and of all names in them."""
        found: set[str] = set()
        while names:
            if missing := sorted(set(names) - by_name.keys()):
                raise LookupError(f"{game}: the generated C does not define {', '.join(missing)}")
            texts = {text for name in names for text in by_name[name]} - found
            found |= texts
            names = {name for text in texts for name in re.findall(NAME, text)}
        return found

    used = needed(re.findall(NAME, f"{pool} {operations}"))
    tables = {text for text in used if kinds[text] == "table"}
    filling = [name for source in sources for name in FILLING.findall(source) if needed([name]) & tables]
    if empty := sorted(declared(text)[1][0] for text in tables - needed(filling)):
        raise LookupError(f"{game}: no `cdef void f() noexcept` fills {', '.join(empty)} at import")
    texts = [text for text in kinds if text in used | needed(filling)]
    functions = [text for text in texts if kinds[text] == "function"]
    definitions = [text for text in texts if kinds[text] in ("variable", "table")]
    definitions += [f"{text.partition('{')[0]};" for text in functions] + functions
    definitions.append(f"static void write_tables() {{ {' '.join(f'{name}();' for name in filling)} }}")
    lines = [text for text in texts if kinds[text] == "type"] + [f"DEVICE {text}" for text in definitions]
    return "\n".join([*lines, *(f"#define {name.upper()} {value}" for name, value in operations.items()), ""])


def compiled(game: str, folder: Path) -> ctypes.CDLL:
    """Write a game's kernel into a folder, and return its pool for the CPU with filled tables."""
    kernel, library = folder / f"{game}.h", folder / f"{game}.so"
    kernel.write_text(extract(game))
    options = ("-std=c++20", "-O2", "-w", "-shared", "-fPIC", "-x", "c++", f'-DKERNEL="{kernel}"')
    subprocess.run(("g++", *options, POOL, "-o", library), check=True)
    pool = ctypes.CDLL(str(library))
    pool.tables()
    return pool


def play(pool: ctypes.CDLL, game: Game, players: int, n: int) -> int:
    """Play n random games and return the number of decisions. Raises AssertionError if pool and engine differ."""
    rng = random.Random(players)
    positions = [game.new_game(players, seed=seed) for seed in range(n)]
    games = np.zeros((n, game.packed_size), np.uint8)
    games[:, HEADER] = [np.frombuffer(position.pack(), np.uint8)[HEADER] for position in positions]
    games[:, DRAWN] = 0
    pool.start(games.ctypes, n, players, game.encode_options(players, None))
    decisions = 0
    while positions:
        compare(pool, games, positions)
        games = games[[not position.is_terminal() for position in positions]]
        positions = [position for position in positions if not position.is_terminal()]
        actions = np.array([rng.choice(position.legal_actions()) for position in positions], np.uint16)
        faults = np.zeros(len(positions), np.int32)
        pool.step(games.ctypes, len(positions), actions.ctypes, faults.ctypes)
        if faults.any():
            raise AssertionError(f"{game.name}, {players} players: the pool refuses a legal action")
        for position, action in zip(positions, actions, strict=True):
            position.apply(action)
        decisions += len(positions)
    return decisions


def compare(pool: ctypes.CDLL, games: NDArray[np.uint8], positions: list[Position]) -> None:
    """Compare states, actors, legal actions, totals, ranks and observations. Raises AssertionError."""
    n, game, players = len(games), positions[0].game, positions[0].num_players()
    actors, counts = np.zeros((2, n), np.int32)
    actions = np.zeros((n, MAX_LEGAL), np.uint16)
    totals, ranks = np.zeros((n, MAX_SEATS), np.int32), np.zeros((n, MAX_SEATS), np.uint8)
    seen = np.zeros((players, n, game.observation_length), np.uint8)
    pool.look(games.ctypes, n, *(each.ctypes for each in (actors, counts, actions, totals, ranks)))
    for seat in range(players):
        pool.observe(games.ctypes, n, seat, seen[seat].ctypes)
    for i, position in enumerate(positions):
        is_over = position.is_terminal()
        pairs = {
            "state": (games[i].tobytes(), position.pack()),
            "actor": (actors[i], position.current_player()),
            "legal actions": (actions[i, : counts[i]].tolist(), [] if is_over else position.legal_actions()),
            "totals": (totals[i, :players].tolist(), position.totals()),
            "ranks": (ranks[i, :players].tolist() if is_over else None, position.ranks()),
            "observations": ([each.tobytes() for each in seen[:, i]], [*map(position.observation, range(players))]),
        }
        if wrong := [name for name, (found, expected) in pairs.items() if found != expected]:
            at = f"{players} players, stream {position.random_stream()}, ply {position.ply()}"
            raise AssertionError(f"{game.name}, {at}: the pool has other {', '.join(wrong)}")


def find_nvcc() -> str | None:
    """Return nvcc of PATH or else of PyPI, installed into build/gpu. None if that fails."""
    if found := shutil.which("nvcc"):
        return found
    packages = OUTPUT / "packages"
    command = (sys.executable, "-m", "pip", "install", "-q", "--target", packages, "nvidia-cuda-nvcc")
    if not packages.exists() and subprocess.run(command).returncode:
        return None
    return next(map(str, packages.glob("nvidia/*/bin/nvcc")), None)


def compile_for_gpu(nvcc: str, game: str) -> Iterable[str]:
    """Compile a game's pool for a GPU, and report on each entry."""
    options = ("-std=c++20", f"-arch={ARCHITECTURE}", "-cubin", "-w", "-Xptxas", "-v", "-o", os.devnull)
    command = (nvcc, *options, f'-DKERNEL="{OUTPUT / game}.h"', POOL)
    log = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    for name, entry in re.findall(r"entry function '(\w+)'(.*?)(?=entry function|\Z)", log, re.DOTALL):
        registers, stack, spills = (
            sum(map(int, re.findall(pattern, entry)))
            for pattern in (r"Used (\d+) registers", r"(\d+) bytes cumulative", r"(\d+) bytes spill")
        )
        yield f"{name}: {registers} registers, stack {stack}, spills {spills}"


def main() -> None:
    """Check all games."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for game in engine.games():
        pool = compiled(game.name, OUTPUT)
        tables = range(game.min_players, game.max_players + 1)
        decisions = sum(play(pool, game, players, GAMES) for players in tables)
        print(f"{game.name}: {decisions} decisions of {GAMES * len(tables)} games as in the engine", flush=True)
    if (nvcc := find_nvcc()) is None:
        print("not compiled for a GPU: nvcc is not installed, and pip cannot install nvidia-cuda-nvcc")
        return
    for game in engine.games():
        for line in compile_for_gpu(nvcc, game.name):
            print(f"{game.name}, {line}", flush=True)


if __name__ == "__main__":
    main()
