"""Hooks for all tests."""

import ctypes
import os
from collections import Counter

import pytest
from hypothesis import Phase, settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("untimed", deadline=None)
# For make mutants, which asks only which test fails: nothing is shrunk, explained or kept.
settings.register_profile("first_failure", deadline=None, phases=(Phase.explicit, Phase.generate), database=None)
settings.load_profile("untimed")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let xdist's workers write the coverage of the compiled engine: they exit without running exit()'s handlers."""
    if hasattr(config, "workerinput") and "CHATIERE_COVERAGE" in os.environ:
        ctypes.CDLL(None).exit(0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how often the battery's games met which kinds of events, if its tests that count them ran."""
    # Here, as not every run of tests needs the engine.
    from conformance.counting import EVENTS, report

    from chatiere import engine

    counts: dict[str, Counter[str]] = {}
    for finished in terminalreporter.stats.get("passed", []):
        for name, value in finished.user_properties:
            if name == EVENTS:
                counts.setdefault(value[0], Counter()).update(value[1])
    if counts:
        terminalreporter.section("kinds of events in the conformance battery")
    for name, met in counts.items():
        terminalreporter.write_line(report(engine.game(name), met))
