"""Planting a fault in a copy of the tree, building it, and running the tests."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from .faults import Fault

ROOT = Path(__file__).parents[2]
# The unchanged tree is built here once, for all faults. Folders that are not copied are imported from the original.
_TREE = ROOT / "build" / "mutants"
_COPIED = ("pyproject.toml", "setup.py", "README.md", "proto", "engine")
# A planted fault may loop or allocate memory for ever.
SECONDS_A_TEST = 120
SECONDS_A_RUN = 1_800
# Named in place of a test if a fault does not compile.
COMPILER = "the compiler"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def tests_of(room: str) -> list[list[str]]:
    """Return pytest's arguments, run by run: most faults show in the first; the slow tests come last."""
    conformance = "tests/conformance"
    if room == "core":
        quick = ["tests/engine"]
        chosen: list[str] = []
    else:
        whole_games = [f"{conformance}/test_conformance_{name}.py" for name in ("observation", "traces")]
        quick = [f"tests/games/{room}", *whole_games]
        chosen = ["-k", room]
    return [
        [*quick, *chosen, "-m", "not release_only"],
        [conformance, *chosen, "-m", "not release_only"],
        [*quick, conformance, *chosen, "-m", "release_only"],
    ]


def _run(command: list[str], folder: Path, **environment: str) -> tuple[int, str]:
    # To a file: processes that a crashed test leaves behind would keep a pipe open.
    with TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_A_RUN)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        output.seek(0)
        return code, output.read().decode(errors="replace")


def _build(folder: Path) -> tuple[int, str]:
    return _run([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], folder)


def prepare() -> None:
    """Build the unchanged tree. Raises RuntimeError."""
    (_TREE / "build").mkdir(parents=True, exist_ok=True)
    for part in _COPIED:
        if (ROOT / part).is_dir():
            shutil.rmtree(_TREE / part, ignore_errors=True)
            shutil.copytree(ROOT / part, _TREE / part, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        else:
            shutil.copy2(ROOT / part, _TREE / part)
    code, output = _build(_TREE)
    if code:
        raise RuntimeError(output)


def _first_failure(room: str, scratch: Path) -> str | None:
    # The test that failed, or how the run ended without naming one.
    for tests in tests_of(room):
        code, output = _run(
            [
                sys.executable,
                *("-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider"),
                *("-o", f"faulthandler_timeout={SECONDS_A_TEST}", "-o", "faulthandler_exit_on_timeout=true"),
                *tests,
            ],
            ROOT,
            PYTHONPATH=str(scratch / "src"),
            HYPOTHESIS_STORAGE_DIRECTORY=str(scratch / "hypothesis"),
        )
        # 5: no tests were collected.
        if code not in (0, 5):
            found = _FAILED.search(output)
            return found[1] if found else "a crash" if code < 0 else "time is up"
    return None


def try_fault(fault: Fault | None, room: str) -> str | None:
    """Return the first test that detects a fault, or COMPILER; without a fault, the first that fails anyway."""
    with TemporaryDirectory(prefix="chatiere-") as name:
        scratch = Path(name)
        shutil.copytree(_TREE, scratch, symlinks=True, ignore=shutil.ignore_patterns("temp.*"), dirs_exist_ok=True)
        if fault:
            planted = scratch / fault.file
            planted.write_text(fault.plant(planted.read_text(encoding="utf-8")), encoding="utf-8")
            if _build(scratch)[0]:
                return COMPILER
        return _first_failure(room, scratch)
