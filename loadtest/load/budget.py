"""The budget of a scenario. It is read from the scenario's file and checked at the end of a run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Importing Locust makes gevent patch the whole process. Code that only reads budgets must not cause this.
    from locust.env import Environment
    from locust.stats import StatsEntry

SCENARIOS = Path(__file__).parent.parent / "scenarios"


@dataclass(frozen=True)
class Scenario:
    """A file of scenarios/.

    Attributes:
        users: The number of users of each class.
        seconds: The duration of a run.
        spawn_rate: The number of users started per second.
        p99_ms: The maximum 99th percentile of the durations of each listed method's calls, in milliseconds.
        error_rate: The maximum share of calls that may fail. No response may be wrong.
        calls: The minimum number of calls. A run with fewer calls is not meaningful.
        has_rooms: True if the service must have rooms.
        min_share: The minimum share of the calls for each of two servers. One server is replaced during the load. 0 if
            there is only one server.
    """

    name: str
    meaning: str
    users: dict[str, int]
    seconds: int
    spawn_rate: float
    error_rate: float
    calls: int
    p99_ms: dict[str, float]
    has_rooms: bool = False
    min_share: float = 0.0

    @property
    def uses_web(self) -> bool:
        """True if some users call the web door."""
        return not {"BrowserUser", "RoomUser"}.isdisjoint(self.users)


def read_scenario(name: str) -> Scenario:
    """Read a scenario. Raise FileNotFoundError if there is no such file."""
    return Scenario(name=name, **tomllib.loads((SCENARIOS / f"{name}.toml").read_text()))


def scenario_names() -> list[str]:
    """Return the names of the scenarios that define users. These are the scenarios for Locust."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml") if "users" in tomllib.loads(path.read_text()))


def broken(scenario: Scenario, environment: Environment) -> list[str]:
    """Return a message for each violation of the budget in a run."""
    stats = environment.stats
    entries: list[StatsEntry] = list(stats.entries.values())
    answers = [entry for entry in entries if entry.method == "check"]
    calls = [entry for entry in entries if entry.method != "check"]
    made = sum(entry.num_requests for entry in calls)
    failed = sum(entry.num_failures for entry in calls)
    found = [f"{entry.num_failures} wrong answers: {entry.name}" for entry in answers if entry.num_failures]
    if environment.runner is not None:
        found += [f"a user failed: {failure['msg']}" for failure in environment.runner.exceptions.values()]
    if made < scenario.calls:
        found.append(f"only {made} of at least {scenario.calls} calls were made")
    if made and failed / made > scenario.error_rate:
        found.append(f"{failed} of {made} calls failed, more than {scenario.error_rate:.2%}")
    for name, limit in scenario.p99_ms.items():
        entry = next((each for each in calls if each.name == name and each.method != "refused"), None)
        if entry is None:
            found.append(f"{name} was never called")
        elif (p99 := entry.get_response_time_percentile(0.99)) > limit:
            found.append(f"99 % of {name} took up to {p99:.0f} ms, more than {limit:.0f} ms")
    return found
