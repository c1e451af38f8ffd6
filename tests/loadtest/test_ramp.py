"""The ramp of a load test. It finds the number of users that a budget allows."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from loadtest.load import ramp
from loadtest.load.budget import Scenario

pytestmark = pytest.mark.long

SCENARIO = Scenario("test", "", {"FrontendUser": 10}, 60, 5.0, error_rate=0.01, calls=5000, p99_ms={"Apply": 50.0})


def climb(monkeypatch: pytest.MonkeyPatch, p99: Callable[[int], float], generator: Callable[[int], float]) -> ramp.Ramp:
    """Take all steps of a ramp. The durations in ms and the processor's share are functions of the number of users.

    `generator` returns the share of the second of three processes.
    """
    now, users = [0.0], [0]

    def entry() -> SimpleNamespace:
        return SimpleNamespace(
            name="Apply",
            method="grpc",
            num_requests=60 * users[0],
            num_failures=0,
            get_response_time_percentile=lambda share: p99(users[0]),
        )

    class Stats:
        total = SimpleNamespace(get_response_time_percentile=lambda share: p99(users[0]))

        def reset_all(self) -> None:
            self.entries = {("Apply", "grpc"): entry()}

    monkeypatch.setattr(ramp, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    idle = SimpleNamespace(cpu_percent=lambda: 1.0)
    busy = SimpleNamespace(cpu_percent=lambda: 100 * generator(users[0]))
    process = SimpleNamespace(cpu_percent=lambda: 1.0, children=lambda *, recursive: [busy, idle])
    monkeypatch.setattr(psutil, "Process", lambda: process)
    environment: Any = SimpleNamespace(stats=Stats(), runner=SimpleNamespace(exceptions={}))
    found = ramp.Ramp(environment, SCENARIO)
    while (wanted := found.tick()) is not None:
        users[0] = wanted[0]
        now[0] += 1
    return found


def test_a_ramp_doubles_until_the_budget_is_exceeded_and_then_searches_between(monkeypatch: pytest.MonkeyPatch) -> None:
    found = climb(monkeypatch, lambda users: 0.5 * users, lambda users: 0.1)
    assert [step.users for step in found.steps] == [10, 20, 40, 80, 160, 120, 100]
    assert [step.users for step in found.steps if not step.found] == [10, 20, 40, 80, 100]
    assert found.steps[3].calls == 80
    assert "100 users are within the budget, 120 are not." in found.table()


def test_a_ramp_ends_when_its_generator_is_too_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = climb(monkeypatch, lambda users: 1.0 if users < 80 else 60.0, lambda users: users / 80)
    assert [step.users for step in found.steps] == [10, 20, 40, 80]
    assert "| not known" in found.table()
    assert "At least 40 users. The generator is too busy to measure 80: give it more --processes." in found.table()


def test_a_ramp_reports_nothing_if_its_generator_is_too_busy_in_the_first_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = climb(monkeypatch, lambda users: 60.0, lambda users: 0.91)
    assert found.table().endswith("\n\nThe generator is too busy to measure 10: give it more --processes.")


def test_a_ramp_reports_that_its_first_step_exceeds_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    found = climb(monkeypatch, lambda users: 1000.0, lambda users: 0.1)
    assert [step.users for step in found.steps] == [10]
    assert "Fewer than 10 users." in found.table()
    assert "99 % of Apply took up to 1000 ms, more than 50 ms" in found.table()
