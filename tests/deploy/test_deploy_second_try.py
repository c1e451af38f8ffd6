"""In CI, a failed test is tried again (tests/tools/second_try.py)."""

import subprocess
import sys
from pathlib import Path

from tools.needs import summary

TESTS = Path(__file__).parents[1]
# test_often fails in each process, and test_once only in the first process.
FAILING = """\
from pathlib import Path

def test_once():
    seen = Path(__file__).with_name("seen")
    is_second = seen.exists()
    seen.touch()
    assert is_second, "the first try"

def test_never():
    pass
"""
OFTEN = """
def test_often():
    assert False
"""


def tried(folder: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on a module in an empty folder, with the options that the Makefile uses in CI."""
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\naddopts = -p tools.second_try\n")
    (folder / "test_module.py").write_text(code)
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--second-try", *options)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_failure_that_does_not_repeat_is_recorded_and_the_run_passes(tmp_path: Path) -> None:
    done = tried(tmp_path, FAILING, "--numprocesses", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "build/flaky.txt").read_text() == "test_module.py::test_once\n"
    log = (tmp_path / "build/flaky.log").read_text()
    assert "passed at the second try: test_module.py::test_once\n" in log
    assert "AssertionError: the first try" in log


def test_a_failure_that_repeats_fails_the_run(tmp_path: Path) -> None:
    done = tried(tmp_path, FAILING + OFTEN)
    assert done.returncode == 1, done.stdout + done.stderr
    assert not (tmp_path / "build").exists()


def test_skipped_tests_are_counted_by_their_need() -> None:
    assert summary(["another reason"]) == ""
    reasons = ["needs Redis (apt install it)", "another reason", *["needs Node (install it)"] * 2]
    assert summary(reasons) == "2 for Node (install it), 1 for Redis (apt install it)"
