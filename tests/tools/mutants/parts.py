"""The parts of the sources in which faults are planted, and the tests that have to detect them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .faults import Fault, faults_in

ROOT = Path(__file__).parents[3]
_BATTERY = "tests/conformance"
# The modules in a game's folder that are not kernels. The codec is a separate part.
_NO_KERNELS = ("codec",)
# The endings of the names of a game's slowest test files.
_SLOW = ("_limits", "_reference")
_RULES = ("bits.pxd", "loops.pyx", "moves.pyx", "packed.pxd", "stream.pxd", "stream.pyx", "weights.pxd")
_POSITION = (
    "position.pyx",
    "events.pyx",
    "game.pyx",
    "arguments.pyx",
    "batch.pyx",
    "blocks.pyx",
    "cancellation.pyx",
    "parts.pyx",
    "steps.pyx",
    "integers.pyx",
    "threads.pyx",
)
_MESSAGES = ("messages.pyx", "codec.pyx", "phrases.pyx")


class Part(NamedTuple):
    """Some sources, and the tests that detect their faults."""

    sources: list[Path]
    quick: list[str]
    """The tests that run first, because they detect most faults."""
    others: list[str]
    chosen: str = ""
    """The game whose tests are run. If it is empty, the tests of all games are run."""

    def faults(self) -> list[list[Fault]]:
        """Return the faults of the part, statement by statement."""
        return [listed for path in self.sources for listed in faults_in(path, ROOT)]

    def choice(self) -> list[str]:
        """Return the arguments with which pytest selects the tests of this part in a file."""
        return ["-k", self.chosen] if self.chosen else []

    def runs(self, source: str) -> Iterator[list[str]]:
        """Yield pytest's arguments for a fault in a source: a list for each run. Slow tests are in the last run."""
        path = Path(source)
        quick = _files(self.quick, path)
        others = [test for test in _files(self.others, path) if test not in quick]
        skipped = "slow or cluster or whole_page"
        for tests, marks in (
            (quick, f"not (release_only or {skipped})"),
            (others, f"not (release_only or {skipped})"),
            ([*quick, *others], f"release_only and not ({skipped})"),
        ):
            yield [*tests, *self.choice(), "-m", marks]


def _files(tests: list[str], source: Path) -> list[str]:
    # Returns test files, including those in folders. Files that are named after the source or that import it are first,
    # and slow files are last.
    files = [
        str(file.relative_to(ROOT))
        for path in (ROOT / test for test in tests)
        for file in ([path] if path.is_file() else sorted(path.rglob("test_*.py")))
    ]
    module = f"{source.parent.name}.{source.stem}"

    def order(file: str) -> tuple[bool, bool]:
        name = Path(file).stem
        is_its_own = source.stem in name or module in (ROOT / file).read_text(encoding="utf-8")
        return not is_its_own, name.endswith(_SLOW)

    return sorted(dict.fromkeys(files), key=order)


def parts() -> dict[str, Part]:
    """Return a mapping from the names of all parts to the parts."""
    engine, service = ROOT / "engine/chatiere/engine", ROOT / "service/chatiere/service"
    found = {}
    for kernel in sorted((engine / "games").glob("*/kernel.pyx")):
        folder, game = kernel.parent, kernel.parent.name
        sources = sorted(path for path in folder.glob("*.p[xy][dx]") if path.stem not in _NO_KERNELS)
        found[game] = Part(sources, [f"tests/games/{game}", *_battery("observation", "traces")], [_BATTERY], game)
        found[f"{game}-codec"] = Part(
            [folder / "codec.pyx"],
            [*_battery("codec", "phrases", "traces", "mutations"), f"tests/games/{game}"],
            [_BATTERY, *_service("games", "errors", "hidden", "replay")],
            game,
        )
    core = engine / "core"
    found["core"] = Part(
        [core / name for name in _RULES],
        [*_engine("stream", "batch", "position"), *_battery("traces", "golden")],
        ["tests/engine", _BATTERY],
    )
    found["position"] = Part(
        [core / name for name in _POSITION],
        [*_engine("position", "events", "game", "integers", "batch"), *_battery("batch", "play")],
        [
            "tests/engine",
            _BATTERY,
            "tests/envs/test_table_env.py",
            *_service("batch", "long_batches", "columns", "faults"),
        ],
    )
    found["messages"] = Part(
        [core / name for name in _MESSAGES],
        [*_battery("codec", "phrases"), *_engine("requests")],
        [_BATTERY, "tests/engine", *_service("games", "errors", "hidden", "languages", "requests", "replay")],
    )
    found["wire"] = Part(
        sorted((engine / "wire").glob("*.p[xy][dx]")),
        _engine("wire", "requests", "plain", "weighing", "transcoding"),
        [*_battery("codec", "phrases"), *_service("batch", "columns", "requests", "untrusted"), *_clients("batch")],
    )
    found["search"] = Part(
        [
            path
            for path in sorted((ROOT / "engine/chatiere/bots").glob("*.p[xy][dx]"))
            if path.stem != "integer_network"
        ],
        ["tests/bots/test_search.py"],
        ["tests/bots"],
    )
    found["network"] = Part(
        [ROOT / "engine/chatiere/bots" / name for name in ("net.c", "integer_network.pyx")],
        ["tests/bots/test_integer_network.py"],
        [],
    )
    found["http2"] = Part(
        sorted(path for path in (ROOT / "http2/chatiere/http2").iterdir() if path.suffix in (".c", ".pyx")),
        [
            "tests/service/fast_door/test_fast_door_calls.py",
            *_clients("fast_call"),
            "tests/tools/fuzz/test_fuzz_http2.py",
        ],
        [
            "tests/service/fast_door",
            *_clients("stream"),
            *_service("connections", "half_open", "idle_streams", "flood", "sizes"),
        ],
    )
    found["tables"] = Part(
        [*sorted((service / "tables").glob("*.py")), ROOT / "clients/chatiere/clients/sealed_seat.py"],
        [
            "tests/tables/test_tables_derivations.py",
            "tests/tables/test_tables_seal.py",
            *_clients("sealed_seat", "sealed_tables"),
        ],
        ["tests/tables", "tests/command/test_command_verify.py", *_service("processes")],
    )
    found["rooms"] = Part(
        [*sorted((service / "rooms").glob("*.py")), ROOT / "clients/chatiere/clients/calls/room_contents.py"],
        [f"tests/service/rooms/test_rooms_{name}.py" for name in ("relay", "bounds", "hidden", "redis")],
        ["tests/service/rooms", *_clients("room")],
    )
    found["exchange"] = Part(
        sorted((service / "exchange").glob("*.py")),
        ["tests/service/exchange"],
        [
            *_service("server", "errors", "batch", "long_batches", "bots", "limits", "half_open", "idle_streams"),
            *_service("languages", "metrics"),
            *(f"tests/service/web/test_web_{name}.py" for name in ("protocols", "streams")),
            "tests/service/conformance",
            "tests/service/fast_door",
        ],
    )
    found["guards"] = Part(
        [*sorted((service / "guards").glob("*.py")), service / "base/metrics.py"],
        _service("limits", "access", "server", "metrics"),
        [
            *_service("errors", "bots", "batch", "faults", "flood", "balancing", "languages", "metrics_port"),
            *_service("connections", "half_open", "idle_streams", "log", "requests", "sizes", "workers", "processes"),
            "tests/service/fast_door",
        ],
    )
    return found


def _battery(*names: str) -> list[str]:
    return [f"{_BATTERY}/test_conformance_{name}.py" for name in names]


def _engine(*names: str) -> list[str]:
    return [f"tests/engine/test_{name}.py" for name in names]


def _service(*names: str) -> list[str]:
    return [f"tests/service/test_service_{name}.py" for name in names]


def _clients(*names: str) -> list[str]:
    return [f"tests/clients/test_client_{name}.py" for name in names]
