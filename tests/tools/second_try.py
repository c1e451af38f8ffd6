"""A pytest plugin. Its option `--second-try` runs failed tests again, in a separate process.

The run fails if a test fails again. The names of the tests that pass are added to build/flaky.txt, and `make flaky`
repeats these tests. Their first tracebacks are added to build/flaky.log. `.ci/run` prints this file at its end.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--second-try", action="store_true", help="run failed tests again, in a new process")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin in the process that receives the reports of all tests."""
    if config.getoption("--second-try") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTry(config.rootpath / "build"))


class SecondTry:
    """The failed tests, with their tracebacks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failures: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the traceback of a failed test."""
        if report.failed:
            self._failures[report.nodeid] = self._failures.get(report.nodeid, "") + report.longreprtext

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """Run the failed tests again. The session succeeds if all of them pass."""
        result = yield
        if exitstatus != pytest.ExitCode.TESTS_FAILED or not self._failures:
            return result
        print(f"\n{len(self._failures)} failed: running them again in a new process", flush=True)
        command = (sys.executable, "-m", "pytest", *self._failures)
        if subprocess.run(command, cwd=session.config.rootpath, check=False).returncode == 0:
            self._folder.mkdir(exist_ok=True)
            with (self._folder / "flaky.txt").open("a") as flaky, (self._folder / "flaky.log").open("a") as log:
                for name, traceback in self._failures.items():
                    flaky.write(f"{name}\n")
                    log.write(f"passed at the second try: {name}\n{traceback}\n\n")
            session.exitstatus = pytest.ExitCode.OK
        return result
