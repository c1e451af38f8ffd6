"""The result of an attack on a door: its figures, and the broken parts of its budget; tables of results."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tabulate import tabulate

from loadtest.siege.good_client import KINDS
from loadtest.siege.plan import DOORS, Attack

_MAX_ERRORS = 3


@dataclass(frozen=True)
class AttackResult:
    """The result of an attack on a door.

    - `came`: counts of what happened to the attackers' calls.
    - `onset_ms`: the longest call at the onset of any other client at another address. `p99_ms`, `calls`: the 99th
      percentile and the number of their calls from then on, by kind, the worse client's. `failures`: the number of
      their failures, by time and cause, and of the streams that ended at the attackers' address.
    - `beside_ms`, `beside_failures`: the longest 99th percentile of a kind of calls of a client at the attackers' own
      address, and the number of its calls that failed; None if it made none.
    - `idle`, `peak`, `kept`: the memory of each process, by name, before, during and after, in MiB; the last two are
      empty if a process has died.
    - `has_metrics`: True if the metrics responded afterwards. `errors`: the errors that the server logged until its
      end. `has_stopped`: True if it stopped when told to.
    """

    attack: Attack
    door: str
    came: dict[str, int] = field(default_factory=dict)
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
        """Return a message for each part of the budget that was broken."""
        return [*self._slow(), *self._grown(), *self._failed()]

    def _slow(self) -> Iterator[str]:
        budget = self.attack.budget
        if self.onset_ms > budget.onset_ms:
            yield f"at the onset a call took {self.onset_ms:.0f} ms, more than {budget.onset_ms:g} ms"
        for kind, p99 in self.p99_ms.items():
            if p99 > (most := getattr(budget, f"{kind}_p99_ms")):
                yield f"99 % of {kind} calls took up to {p99:.0f} ms, more than {most:g} ms"

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
        if self.attack.is_refused and (taken := self.came.get("OK", 0) + self.came.get("HTTP 200", 0)):
            yield f"{taken} calls of the attackers succeeded"
        if not self.has_metrics:
            yield "the metrics did not respond afterwards"
        for line in self.errors[:_MAX_ERRORS]:
            yield f"the server logged {line}"
        if not self.has_stopped:
            yield "the server did not stop when told to"

    def cell(self) -> str:
        """Return the worst figures in short: the time of 99 % of a kind of calls, and how far the worker grew."""
        if not self.peak or not self.p99_ms:
            return "**died**"
        figures = f"{max(self.p99_ms.values()):.0f} ms, +{self.peak['worker'] - self.idle['worker']:.0f} MiB"
        return f"{figures} **over**" if self.broken() else figures

    def as_json(self) -> dict[str, Any]:
        """Return all figures, for a report."""
        return asdict(self) | {"broken": self.broken()}


def matrix(results: list[AttackResult]) -> str:
    """Return a table of attacks and doors. A cell is empty if the attack was left out, – if it makes no sense there."""
    cells = {(result.attack.name, result.door): result.cell() for result in results}
    attacks = {result.attack.name: result.attack for result in results}
    rows = [
        (name, *(cells.get((name, door), "" if door in attack.doors else "–") for door in DOORS))
        for name, attack in attacks.items()
    ]
    return tabulate(rows, ("attack", *DOORS.values()), tablefmt="github")


def table(results: list[AttackResult]) -> str:
    """Return a table of the results; memory is the worker's."""
    headers = (
        "attack",
        "door",
        "onset max ms",
        *(f"{kind} p99 ms" for kind in KINDS),
        "own address p99 ms",
        "failed there",
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
            *(sizes.get("worker") for sizes in (result.idle, result.peak, result.kept)),
            "no" if result.broken() else "yes",
        )
        for result in results
    ]
    return tabulate(rows, headers, floatfmt=".0f", tablefmt="github")
