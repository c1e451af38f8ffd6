"""The result of an attack on a door: its figures, violations of its budget, and tables of results."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tabulate import tabulate

from loadtest.siege.good_client import KINDS
from loadtest.siege.plan import TARGETS, Attack

_MAX_ERRORS = 3


@dataclass(frozen=True)
class AttackResult:
    """The result of an attack on a door.

    Attributes:
        came: The number of events of each kind at the attackers' calls.
        second: The same for a second client that makes the same calls. Empty without a second client.
        onset_ms: The longest duration of a call at the onset, in milliseconds. This attribute and the next three are
            about the well-behaved clients at addresses other than the attackers'.
        p99_ms: For each kind of call, the 99th percentile of the slower client's durations after the onset.
        calls: The number of calls of each kind after the onset, for the client with fewer calls.
        failures: The number of failed calls for each time and cause. It includes streams that ended at the attackers'
            address.
        beside_ms: The highest 99th percentile of any kind of call that the well-behaved client at the attackers'
            address made, or None if it made no calls.
        beside_failures: The number of failed calls of this client.
        idle: The memory of each process before the attack, in MiB.
        peak: The memory of each process at its peak, in MiB; empty if a process has died.
        kept: The memory of each process after the attack, in MiB; empty if a process has died.
        has_metrics: True if the metrics responded after the attack.
        errors: The errors that the server logged.
        has_stopped: True if the server stopped when requested.
    """

    attack: Attack
    door: str
    came: dict[str, int] = field(default_factory=dict)
    second: dict[str, int] = field(default_factory=dict)
    onset_ms: float = 0.0
    p99_ms: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    beside_ms: float | None = None
    beside_failures: int = 0
    idle: dict[str, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)
    kept: dict[str, float] = field(default_factory=dict)
    has_metrics: bool = True
    errors: list[str] = field(default_factory=list)
    has_stopped: bool = True

    def broken(self) -> list[str]:
        """Return a message for each violation of the budget."""
        return [*self._slow(), *self._grown(), *self._failed()]

    def _slow(self) -> Iterator[str]:
        budget = self.attack.budget
        if self.onset_ms > budget.onset_ms:
            yield f"at the onset a call took {self.onset_ms:.0f} ms, more than {budget.onset_ms:g} ms"
        for kind, p99 in self.p99_ms.items():
            if p99 > (most := getattr(budget, f"{kind}_p99_ms")):
                yield f"99 % of {kind} calls took up to {p99:.0f} ms, more than {most:g} ms"

        if self.beside_ms is not None and self.beside_ms > budget.own_p99_ms:
            took = f"took up to {self.beside_ms:.0f} ms, more than {budget.own_p99_ms:g} ms"
            yield f"99 % of a kind of calls at the attackers' address {took}"
        if (share := self.share()) < budget.least_share:
            yield f"a second client completed {share:.0%} of the calls, less than {budget.least_share:.0%}"

    def share(self) -> float:
        """Return the second client's share of all calls that it and the attackers completed."""
        return _completed(self.second) / max(1, _completed(self.second) + _completed(self.came))

    def rate(self) -> float:
        """Return the calls per second that the attackers and the second client completed together."""
        return (_completed(self.second) + _completed(self.came)) / self.attack.seconds

    def _grown(self) -> Iterator[str]:
        if not self.kept:
            yield "a process of the server has died"
        budget = self.attack.budget
        for when, sizes, most in ("at its peak", self.peak, budget.peak_mib), ("after", self.kept, budget.kept_mib):
            for who, size in sizes.items():
                if (grown := size - self.idle[who]) > most:
                    yield f"{who} was {grown:.0f} MiB larger {when} than idle, more than {most:g} MiB"

    def _failed(self) -> Iterator[str]:
        for what, count in self.failures.items():
            yield f"{count} calls failed {what}"
        if self.attack.is_refused and (taken := _completed(self.came)):
            yield f"{taken} calls of the attackers succeeded"
        if not self.has_metrics:
            yield "the metrics did not respond afterwards"
        for line in self.errors[:_MAX_ERRORS]:
            yield f"the server logged {line}"
        if not self.has_stopped:
            yield "the server did not stop when requested"

    def cell(self) -> str:
        """Return the highest 99th percentile of any kind of call, and the worker's growth, as text."""
        if not self.peak or not self.p99_ms:
            return "**died**"
        figures = f"{max(self.p99_ms.values()):.0f} ms, +{self.peak['worker'] - self.idle['worker']:.0f} MiB"
        return f"{figures} **over**" if self.broken() else figures

    def as_json(self) -> dict[str, Any]:
        """Return all figures, for a report."""
        return asdict(self) | {"broken": self.broken(), "share": self.share(), "rate": self.rate()}


def _completed(came: dict[str, int]) -> int:
    return came.get("OK", 0) + came.get("HTTP 200", 0)


def matrix(results: list[AttackResult]) -> str:
    """Return a table with a row for each attack and a column for each door.

    A cell is empty if the attack was not made, and – if it does not apply to the door.
    """
    cells = {(result.attack.name, result.door): result.cell() for result in results}
    attacks = {result.attack.name: result.attack for result in results}
    rows = [
        (name, *(cells.get((name, door), "" if door in attack.doors else "–") for door in TARGETS))
        for name, attack in attacks.items()
    ]
    return tabulate(rows, ("attack", *TARGETS.values()), tablefmt="github")


def table(results: list[AttackResult]) -> str:
    """Return a table of the results. Memory is the worker's memory."""
    headers = (
        "attack",
        "door",
        "onset max ms",
        *(f"{kind} p99 ms" for kind in KINDS),
        "own address p99 ms",
        "failed there",
        "completed calls/s",
        "second client",
        "idle MiB",
        "peak MiB",
        "after MiB",
        "in budget",
    )
    rows = [
        (
            result.attack.name,
            result.door,
            result.onset_ms,
            *(result.p99_ms.get(kind) for kind in KINDS),
            result.beside_ms,
            result.beside_failures,
            result.rate(),
            f"{result.share():.0%}" if result.second else None,
            *(sizes.get("worker") for sizes in (result.idle, result.peak, result.kept)),
            "no" if result.broken() else "yes",
        )
        for result in results
    ]
    return tabulate(rows, headers, floatfmt=".0f", tablefmt="github")
