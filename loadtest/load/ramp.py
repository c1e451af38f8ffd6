"""A ramp: it increases the number of a scenario's users until the budget is exceeded."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, NamedTuple

import psutil
from tabulate import tabulate

from loadtest.load.budget import Scenario, broken

if TYPE_CHECKING:
    # See budget.py.
    from locust.env import Environment

# The number of bisections between the last step within the budget and the first step that exceeds it.
_HALVINGS = 2
# The share of a processor above which a process of the load generator is too busy to measure the service.
_GENERATOR = 0.9


class Step(NamedTuple):
    """A step of a ramp: a run with a number of users.

    Attributes:
        users: The number of users.
        calls: The number of calls per second.
        p50: The median duration of a call, in milliseconds.
        p99: The 99th percentile of the durations, in milliseconds.
        failed: The number of calls that failed.
        generator: The share of a processor that the busiest process of the load generator used.
        found: A message for each violation of the budget.
    """

    users: int
    calls: float
    p50: float
    p99: float
    failed: int
    generator: float
    found: list[str]

    @property
    def is_of_the_generator(self) -> bool:
        """True if the load generator was too busy to measure the service."""
        return self.generator > _GENERATOR


class Ramp:
    """A sequence of steps, each as long as a scenario.

    Each step has twice as many users as the step before, until the budget is exceeded. Further steps bisect the
    interval between the last two numbers.
    """

    def __init__(self, environment: Environment, scenario: Scenario) -> None:
        """Create a ramp that starts with the scenario's number of users."""
        self._environment = environment
        # A step of the ramp needs no minimum number of calls.
        self._scenario = dataclasses.replace(scenario, calls=1)
        self._most, self._least, self._halvings = 0, 0, 0
        self._users = sum(scenario.users.values())
        # The time, on the clock of time.perf_counter, when all users of the step had started, or None before.
        self._begun: float | None = None
        self._is_spawned = False
        self._processes: list[psutil.Process] = []
        self.steps: list[Step] = []

    def tick(self) -> tuple[int, float] | None:
        """Return the step's number of users and how many to start per second; None at the end (see LoadTestShape)."""
        rate = max(self._scenario.spawn_rate, self._users / 10)
        if not self._is_spawned:
            # This starts the users of the first step. Locust does not call tick again before all of them have started.
            self._is_spawned = True
        elif self._begun is None:
            self._environment.stats.reset_all()
            own = psutil.Process()
            self._processes = [own, *own.children(recursive=True)]
            for process in self._processes:
                process.cpu_percent()
            self._begun = time.perf_counter()
        elif time.perf_counter() - self._begun >= self._scenario.seconds:
            if not self._next():
                return None
            rate = max(self._scenario.spawn_rate, self._users / 10)
            self._begun, self._is_spawned = None, True
        return self._users, rate

    def _next(self) -> bool:
        # Record the figures of a step. Return False if it was the last one.
        step = self._step()
        self.steps.append(step)
        if step.is_of_the_generator:
            return False
        if step.found:
            self._most = self._users
        else:
            self._least = self._users
        if not self._most:
            self._users *= 2
            return True
        self._halvings += 1
        if not self._least or self._halvings > _HALVINGS:
            return False
        self._users = (self._least + self._most) // 2
        return self._least < self._users

    def _step(self) -> Step:
        assert self._begun is not None
        seconds = time.perf_counter() - self._begun
        calls = [each for each in self._environment.stats.entries.values() if each.method != "check"]
        total = self._environment.stats.total
        return Step(
            users=self._users,
            calls=sum(each.num_requests for each in calls) / seconds,
            p50=total.get_response_time_percentile(0.5) or 0.0,
            p99=total.get_response_time_percentile(0.99) or 0.0,
            failed=sum(each.num_failures for each in calls),
            generator=max(process.cpu_percent() for process in self._processes) / 100,
            found=broken(self._scenario, self._environment),
        )

    def table(self) -> str:
        """Return the steps as a Markdown table, ordered by their numbers of users, and a conclusion."""
        rows = [
            {
                "users": step.users,
                "calls a second": round(step.calls, 1),
                "p50 ms": round(step.p50),
                "p99 ms": round(step.p99),
                "failed": step.failed,
                "generator's processor": f"{step.generator:.0%}",
                "budget": "not known" if step.is_of_the_generator else "; ".join(step.found) or "kept",
            }
            for step in sorted(self.steps)
        ]
        return f"{tabulate(rows, headers='keys', tablefmt='github')}\n\n{self._conclusion()}"

    def _conclusion(self) -> str:
        kept = [step.users for step in self.steps if not (step.found or step.is_of_the_generator)]
        if self.steps[-1].is_of_the_generator:
            busy = f"The generator is too busy to measure {self.steps[-1].users}: give it more --processes."
            return f"At least {max(kept)} users. {busy}" if kept else busy
        if not kept:
            return f"Fewer than {self.steps[0].users} users."
        return f"{max(kept)} users are within the budget, {self._most} are not."
