"""The load test itself: its smoke scenario passes, and budgets notice what breaks them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from service.process import served

from loadtest import run
from loadtest.load import budget


def entry(kind: str, name: str, requests: int, failures: int = 0, p99: float = 1.0) -> SimpleNamespace:
    """Return Locust's statistics of a kind of call, as far as budgets read them."""
    return SimpleNamespace(
        method=kind,
        name=name,
        num_requests=requests,
        num_failures=failures,
        get_response_time_percentile=lambda share: p99,
    )


def environment(*entries: SimpleNamespace, exceptions: dict[str, Any] | None = None) -> Any:
    return SimpleNamespace(
        stats=SimpleNamespace(entries={(e.name, e.method): e for e in entries}),
        runner=SimpleNamespace(exceptions=exceptions or {}),
    )


SCENARIO = budget.Scenario("test", "", {}, 1, 1.0, error_rate=0.01, calls=100, p99_ms={"Apply": 50.0})


def test_the_smoke_scenario_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "REPORTS", tmp_path)
    with served("--workers", "2") as server:
        assert run.locust("smoke", server.address) == 0
    assert "MisbehavingUser" in (tmp_path / "smoke.html").read_text()


@pytest.mark.parametrize("name", budget.scenario_names())
def test_a_scenario_can_be_read(name: str) -> None:
    scenario = budget.read_scenario(name)
    assert scenario.meaning
    assert scenario.users
    assert scenario.seconds > 0


def test_a_run_that_keeps_the_budget() -> None:
    assert budget.broken(SCENARIO, environment(entry("grpc", "Apply", 200, 2), entry("check", "right", 10))) == []


@pytest.mark.parametrize(
    ("run_of", "message"),
    [
        ((entry("grpc", "Apply", 200), entry("check", "right", 10, 1)), "1 wrong answers: right"),
        ((entry("grpc", "Apply", 99),), "only 99 of at least 100 calls were made"),
        ((entry("grpc", "Apply", 200, 3),), "3 of 200 calls failed, more than 1.00%"),
        ((entry("grpc", "Apply", 200, p99=51.0),), "99 % of Apply took up to 51 ms, more than 50 ms"),
        ((entry("grpc", "NewGame", 200),), "Apply was never called"),
    ],
)
def test_what_breaks_a_budget(run_of: tuple[SimpleNamespace, ...], message: str) -> None:
    assert budget.broken(SCENARIO, environment(*run_of)) == [message]


def test_a_user_that_fails_breaks_every_budget() -> None:
    failed = environment(entry("grpc", "Apply", 200), exceptions={"key": {"msg": "boom"}})
    assert budget.broken(SCENARIO, failed) == ["a user failed: boom"]
