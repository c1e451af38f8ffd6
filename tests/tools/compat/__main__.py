"""Try machine-learning libraries with the lowest and the highest supported releases, each in a separate environment.

python -m tools.compat [--lowest] [--row NAME]

uv creates the environments in build/compat, with the package built in this folder. PyPI's torch depends on CUDA's
wheels. UV_TORCH_BACKEND=cpu makes uv use a build without them. Each program takes at most a minute.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
UV = Path(sys.executable).parent / "uv"
# Parts of uv's messages about an index that it cannot reach.
UNREACHABLE = "Failed to fetch"


class CompatRow(NamedTuple):
    """A program, the extras with which it runs, and packages that need not have their lowest releases."""

    program: str
    extras: Sequence[str]
    libraries: Sequence[str] = ()


ROWS = (
    CompatRow("seat_env", ["gymnasium"]),
    CompatRow("raw_env", ["pettingzoo"]),
    CompatRow("openspiel_search", ["openspiel"]),
    CompatRow("data_set", ["data"]),
    CompatRow("tournament", ["arena"]),
    CompatRow("typed_line", ["play"]),
    CompatRow("mcp_tools", ["mcp"]),
    CompatRow("openenv_episodes", ["openenv"]),
    CompatRow("textarena_games", ["textarena"]),
    # This library writes the network, so its release does not matter.
    CompatRow("network_bot", ["arena", "onnx"], ["onnx"]),
    CompatRow("trained", ["train"]),
    # Minari's requirements omit Pillow.
    CompatRow("minari_data", ["data", "gymnasium"], ["minari[hdf5]>=0.5.4", "pillow"]),
    # The library's command starts programs with uv.
    CompatRow("verifiers_games", ["verifiers"], ["uv"]),
    CompatRow("shared_memory", [], ["jax>=0.10", "torch"]),
    CompatRow("maskable_ppo", ["gymnasium"], ["sb3-contrib>=2.7"]),
    CompatRow("action_mask", ["gymnasium"], ["torchrl>=0.10"]),
    CompatRow("tianshou_dqn", ["pettingzoo"], ["tianshou>=2"]),
    # RLlib determines the release of Gymnasium.
    CompatRow("rllib_ppo", ["pettingzoo", "ray"], ["ray[rllib]", "torch"]),
)


def lowest(requirement: Requirement) -> str:
    """Return a requirement of exactly the lowest release that a requirement allows. It must name this release."""
    (version,) = (bound.version for bound in requirement.specifier if bound.operator in (">=", "~=", "=="))
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}=={version}"


def requirements(row: CompatRow, *, is_lowest: bool) -> list[str]:
    """Return the requirements of a row's environment: the package's, the extras', and the row's libraries.

    `is_lowest`: use the lowest releases of the extras' packages and of NumPy. Machine-learning libraries need NumPy.
    """
    dependencies = [Requirement(text) for text in PROJECT["dependencies"]]
    found = [each for each in dependencies if each.name == "numpy"]
    for extra in row.extras:
        found += _of_extra(extra)
    return [*map(str, dependencies), *(lowest(each) if is_lowest else str(each) for each in found), *row.libraries]


def _of_extra(extra: str) -> list[Requirement]:
    found: list[Requirement] = []
    for each in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if each.name == PROJECT["name"]:
            found += [inner for named in each.extras for inner in _of_extra(named)]
        else:
            found.append(each)
    return found


def run(row: CompatRow, *, is_lowest: bool) -> str:
    """Create the environment of a row and run its program in it. Return the failure, or an empty string."""
    place = ROOT / "build" / "compat" / f"{row.program}-{'lowest' if is_lowest else 'highest'}"
    python = place / "bin" / "python"
    # With one thread, because more threads are slower for so little work.
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    for command in (
        [UV, "venv", "--quiet", "--clear", "--python", sys.executable, place],
        [UV, "pip", "install", "--quiet", "--python", python, *requirements(row, is_lowest=is_lowest)],
        [python, PROGRAMS / f"{row.program}.py"],
    ):
        if command[0] == python:
            _install_ourselves(place)
        done = subprocess.run(list(map(str, command)), env=variables, capture_output=True, text=True)
        if done.returncode:
            return f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return ""


def _install_ourselves(place: Path) -> None:
    # This folder is already built, so install the files that setuptools wrote for its editable package.
    ours = Path(sysconfig.get_path("purelib"))
    theirs = place / ours.relative_to(sys.prefix)
    for path in ours.glob("*chatiere*"):
        if path.is_dir():
            shutil.copytree(path, theirs / path.name)
        else:
            shutil.copy(path, theirs)


def main() -> None:
    """Run all or some rows, and fail if one fails. Rows whose packages cannot be downloaded are left out."""
    parser = argparse.ArgumentParser(prog="python -m tools.compat", description="Try learners' libraries.")
    parser.add_argument("--lowest", action="store_true", help="only the lowest releases, without torch")
    parser.add_argument("--row", choices=[row.program for row in ROWS], action="append", help="only this row")
    given = parser.parse_args()
    failed = 0
    for row in ROWS:
        if (given.row and row.program not in given.row) or (given.lowest and row.libraries):
            continue
        for is_lowest in (True,) if given.lowest else (True, False):
            began = time.monotonic()
            failure = run(row, is_lowest=is_lowest)
            is_left_out = UNREACHABLE in failure
            failed += bool(failure) and not is_left_out
            releases = "lowest" if is_lowest else "highest"
            result = "left out" if is_left_out else "failed" if failure else "ok"
            print(f"{row.program:18}{releases:9}{result:10}{time.monotonic() - began:.0f} s")
            print(failure, end="", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
