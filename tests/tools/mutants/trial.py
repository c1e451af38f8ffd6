"""Trials: a fault is planted in a copy of the tree, the copy is built, and the tests run."""

import compileall
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from .faults import Fault
from .parts import ROOT, Part

# The folder with the unchanged tree and its build. Folders that are not copied are imported from the original.
_TREE = ROOT / "build" / "mutants"
_ROOTS = ("engine", "http2", "service", "clients", "proto")
# The build also writes the fields of sealed tables for the page.
_COPIED = (*_ROOTS, "web/shared", "tests/tools/fuzz/http2")
# The folder in which setuptools searches for modules that are already built. It copies them next to their sources.
_BUILT = "build/lib"
# The time limit of a test in seconds. A planted fault may loop or allocate memory without end.
SECONDS_A_TEST = 120
SECONDS_A_RUN = 1_800
# The number of seconds that a run may take to end after a test has failed. Broken code may never end.
SECONDS_TO_END = 20
# Used instead of a test's name if a fault does not compile.
COMPILER = "the compiler"
# The name of a test, with its parameters.
_ID = r"(tests/[^\s\[]+(?:\[.*?\](?=\s|$))?)"
_FAILED = re.compile(rf"^(?:FAILED|ERROR) {_ID}", re.MULTILINE)
# With -v, pytest prints a test's name before running it.
_BEGUN = re.compile(rf"^(?=\S+::){_ID}", re.MULTILINE)
# A test that pytest did not find.
# This may be in the middle of a line, because pytest may have written "collecting ... " before it.
_NOT_FOUND = re.compile(rf"ERROR: not found: {re.escape(str(ROOT))}/{_ID}", re.MULTILINE)
# The line that pytest prints immediately when a test fails.
_FAILURE = re.compile(rb"^tests/.*(?:FAILED|ERROR) +\[", re.MULTILINE)
# Folders of tests with servers and clients. Servers and clients wait for each other.
_TIMED = ("tests/service", "tests/clients", "tests/tables", "tests/command", "tests/envs", "tests/bots")
# pytest's exit code if no test was selected.
_NO_TESTS = 5


class TrialError(Exception):
    """The unchanged tree cannot be built, or a test fails there."""


def _run(command: list[str], folder: Path, **environment: str) -> tuple[int, str]:
    # The output is written to a file, because processes that outlive a crashed test would keep a pipe open.
    with TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            # Compiled Python is kept for the next trials.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = time.monotonic() + SECONDS_A_RUN
        while process.poll() is None and (left := end - time.monotonic()) > 0:
            with suppress(subprocess.TimeoutExpired):
                process.wait(min(left, SECONDS_TO_END))
            # Reading must not move the position at which the process writes.
            if _FAILURE.search(os.pread(output.fileno(), os.fstat(output.fileno()).st_size, 0)):
                end = min(end, time.monotonic() + SECONDS_TO_END)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        output.seek(0)
        return code, output.read().decode(errors="replace")


def build(folder: Path, kind: str) -> tuple[int, str]:
    """Build a copy of the tree with CHATIERE_BUILD=`kind`. Return the exit code and the output."""
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", "--build-lib", _BUILT]
    return _run(command, folder, CHATIERE_BUILD=kind)


def _test(arguments: list[str], tree: Path) -> tuple[int, str]:
    return _run(
        [
            sys.executable,
            *("-m", "pytest", "-v", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("--hypothesis-profile", "first_failure"),
            *("-o", f"faulthandler_timeout={SECONDS_A_TEST}", "-o", "faulthandler_exit_on_timeout=true"),
            *arguments,
        ],
        ROOT,
        PYTHONPATH=search_path(tree),
    )


def copy_tree(tree: Path) -> None:
    """Copy the sources and their build into a folder. There, `build` compiles only files that were edited."""
    for part in _COPIED:
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("*.so", "__pycache__", "typescript"))
    for name in ("Makefile", "pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy2(ROOT / name, tree)
    # The times of the files are not copied: make has just built them, so no source is newer.
    for made in ("build/cython", "build/flags"):
        shutil.copytree(ROOT / made, tree / made, copy_function=shutil.copy)
    for root in (ROOT / "engine", ROOT / "http2", ROOT / "service"):
        for module in root.rglob("*.so"):
            for target in (tree / module.relative_to(ROOT), tree / _BUILT / module.relative_to(root)):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(module, target)


def search_path(tree: Path) -> str:
    """Return the PYTHONPATH for imports from a copy of the tree."""
    return os.pathsep.join(str(tree / root) for root in _ROOTS)


def prepare() -> None:
    """Copy the unchanged tree with its build. Raises TrialError."""
    shutil.rmtree(_TREE, ignore_errors=True)
    copy_tree(_TREE)
    code, output = build(_TREE, "release")
    if code:
        raise TrialError(f"the unchanged tree cannot be built:\n{output}")
    compileall.compile_dir(_TREE, quiet=2)


def try_fault(fault: Fault, part: Part) -> str | None:
    """Return the test that detects a fault, COMPILER, or None if no test does."""
    with TemporaryDirectory(prefix="chatiere-") as name:
        scratch = Path(name)
        is_built = not fault.file.endswith(".py") or (ROOT / fault.file).with_suffix(".pxd").exists()
        left_out = shutil.ignore_patterns("temp.*" if is_built else "build")
        shutil.copytree(_TREE, scratch, symlinks=True, ignore=left_out, dirs_exist_ok=True)
        planted = scratch / fault.file
        text = fault.plant(planted.read_text(encoding="utf-8"))
        planted.write_text(text, encoding="utf-8")
        if build(scratch, "trial")[0] if is_built else not _is_python(text):
            return COMPILER
        return next(filter(None, (_failing(arguments, scratch) for arguments in part.runs(fault.file))), None)


def _failing(arguments: list[str], tree: Path) -> str | None:
    # Returns the first test that fails. If time may be the reason (a busy machine), the test has to fail twice.
    code, output = _test(arguments, tree)
    while code not in (0, _NO_TESTS):
        test = detecting(output) or arguments[0]
        if not test.startswith(_TIMED) or _test([test], tree)[0]:
            return test
        arguments = [*arguments, "--deselect", test]
        code, output = _test(arguments, tree)
    return None


def detecting(output: str) -> str | None:
    """Return the test that failed or crashed according to pytest's output, or the file that cannot be imported."""
    named = _FAILED.findall(output) or _BEGUN.findall(output)
    return named[-1] if named else None


def gone(tests: Iterable[str]) -> set[str]:
    """Return the tests, or files of tests, that no longer exist."""
    named = set(tests)
    there = {test for test in named if (ROOT / test.partition("::")[0]).exists()}
    # If pytest gets a file and tests in it, it collects only the file.
    _, output = _test(["--collect-only", *sorted(test for test in there if "::" in test)], ROOT)
    # pytest names tests without their parameters.
    missing = set(_NOT_FOUND.findall(output))
    return {test for test in named if test not in there or test.partition("[")[0] in missing}


def check(tests: Iterable[str]) -> None:
    """In the unchanged tree, run the tests that detected faults. They have to pass there. Raises TrialError."""
    # A file in place of a test means that the file could not be imported. Here it only has to be importable.
    named = sorted(set(tests))
    for options, chosen in (
        ([], [test for test in named if "::" in test]),
        (["--collect-only"], [test for test in named if "::" not in test]),
    ):
        code, output = _test([*options, *chosen], _TREE) if chosen else (0, "")
        if code:
            raise TrialError(f"a test that detected a fault also fails without it:\n{output}")


def _is_python(text: str) -> bool:
    try:
        compile(text, "planted", "exec")
    except SyntaxError:
        return False
    return True
