"""Hooks for all tests."""

import ctypes
import os
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from tools.needs import Module, summary

pytest_plugins = ["tools.second_try", "tools.share"]

# No deadlines: the time to generate and run an example depends on the machine more than on the code.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("untimed", UNTIMED)
# The profile for `make mutants`. Only the first failure matters, so examples are not shrunk, explained or stored.
settings.register_profile("first_failure", UNTIMED, phases=(Phase.explicit, Phase.generate), database=None)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of a product except one (see `tools/over.py`) as `repeated`. `make test` omits these."""
    alike: dict[tuple[str, ...], list[pytest.Item]] = {}
    for item in items:
        over = {name for mark in item.iter_markers("over") for name in mark.args}
        if over and isinstance(item, pytest.Function):
            # Parameters can be compared by identity, because tests share the same objects.
            others = [f"{name} {id(value)}" for name, value in item.callspec.params.items() if name not in over]
            alike.setdefault((item.nodeid.partition("[")[0], *others), []).append(item)
    for (name, *_), repeated in alike.items():
        candidates = [item for item in repeated if not _is_skipped(item)] or repeated
        # The hash of the test's name chooses the test to keep, so that all games occur.
        kept = candidates[zlib.crc32(name.encode()) % len(candidates)]
        for item in repeated:
            if item is not kept:
                item.add_marker("repeated")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Return a module that is skipped if it imports a library that is not installed."""
    return Module.from_parent(parent, path=module_path)


def _is_skipped(item: pytest.Item) -> bool:
    """Return whether a mark skips the test because a program is not installed (see `tools/needs.py`)."""
    return any(any(mark.args) for mark in item.iter_markers("skipif"))


@pytest.hookimpl(optionalhook=True)  # `-p no:xdist` has no such hook
def pytest_xdist_auto_num_workers() -> int:
    """Return one more than the number of cores, because many tests wait for a server or a deadline."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)  # see above
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Give xdist's workers more than 10 seconds to write the coverage on a busy machine, before they are killed."""
    from xdist.workermanage import NodeManager

    NodeManager.EXIT_TIMEOUT = 300


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write the compiled engine's coverage in xdist's workers. They would skip it, because they end without exit()."""
    if hasattr(config, "workerinput") and "CHATIERE_COVERAGE" in os.environ:
        # Another thread of the worker would end the process after 15 seconds.
        os._exit = lambda status: None  # type: ignore[assignment, return-value]
        ctypes.CDLL(None).exit(0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how often each kind of event occurred in the conformance battery, and why tests were skipped."""
    # Import this only here, because some test runs do not need the engine.
    from conformance.counting import EVENTS
    from conformance.counting import report as counted

    from chatiere import engine

    counts: dict[str, Counter[str]] = {}
    for finished in terminalreporter.stats.get("passed", []):
        for name, value in finished.user_properties:
            if name == EVENTS:
                counts.setdefault(value[0], Counter()).update(value[1])
    if counts:
        terminalreporter.section("kinds of events in the conformance battery")
    for name, met in counts.items():
        terminalreporter.write_line(counted(engine.game(name), met))
    skipped = terminalreporter.stats.get("skipped", [])
    if line := summary(report.longrepr[2].removeprefix("Skipped: ") for report in skipped):
        terminalreporter.write_line(f"skipped for missing requirements: {line}")
