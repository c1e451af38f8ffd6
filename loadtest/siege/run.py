"""The siege: a server for each attack, its figures, and the broken parts of its budget."""

import json
import resource
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from load.own_server import OwnServer, own_server
from siege.attacks import Attackers
from siege.good_client import KINDS, GoodClient
from siege.memory import Memory
from siege.plan import Attack, Plan
from tabulate import tabulate

from chatiere.service.guards.tokens import new_token

# Seconds of calls before memory is first read: allocations of the first calls belong to the idle size.
_WARMING = 1.5
# Seconds for the server to give memory back, and for the metrics to respond again.
_SETTLING = 10.0
_PAUSE = 0.1
_MOST_ERRORS = 3


@dataclass(frozen=True)
class AttackResult:
    """The result of an attack.

    - `came`: counts of what happened to the attackers' calls.
    - `onset_ms`: the longest of another client's calls at the onset. `p99_ms`, `calls`: the 99th percentile and the
      number of its calls from then on, by kind. `failures`: the number of its failures, by time and cause.
    - `idle`, `peak`, `kept`: the memory of each process, by name, before, during and after, in MiB; the last two are
      empty if a process has died.
    - `errors`: the errors that the server logged. `has_metrics`: True if the metrics responded afterwards.
    """

    attack: Attack
    came: dict[str, int]
    onset_ms: float
    p99_ms: dict[str, float]
    calls: dict[str, int]
    failures: dict[str, int]
    idle: dict[str, float]
    peak: dict[str, float]
    kept: dict[str, float]
    errors: list[str]
    has_metrics: bool

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
        for line in self.errors[:_MOST_ERRORS]:
            yield f"the server logged {line}"
        if not self.has_metrics:
            yield "the metrics did not respond afterwards"


def siege(plan: Plan, report: Path) -> bool:
    """Make all attacks, print a table and write the report as JSON. Return True if all were within their budgets."""
    # Each of the many connections is an open file.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    results = []
    for attack in plan.attacks:
        click.echo(f"  {attack.name}")
        with besieged(attack) as (server, token):
            results.append(besiege(server, token, attack))
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps([asdict(each) | {"broken": each.broken()} for each in results], indent=2))
    click.echo(table(results))
    for result in results:
        for line in result.broken():
            click.echo(f"budget: {result.attack.name}: {line}")
    return not any(result.broken() for result in results)


@contextmanager
def besieged(attack: Attack) -> Iterator[tuple[OwnServer, str | None]]:
    """Run a server for an attack; yield it and the token that it requires."""
    arguments: tuple[str, ...] = ("--fast-address", "127.0.0.1:0") if attack.is_fast else ()
    if attack.is_web:
        arguments += ("--web-address", "127.0.0.1:0")
    if not attack.has_tokens:
        with own_server(*arguments) as server:
            yield server, None
        return
    token, line = new_token("good")
    with tempfile.NamedTemporaryFile("w") as tokens:
        tokens.write(line)
        tokens.flush()
        with own_server("--tokens", tokens.name, *arguments) as server:
            yield server, token


def besiege(server: OwnServer, token: str | None, attack: Attack) -> AttackResult:
    """Attack a server, and measure before, during and after. `token`: the other client's."""
    address = server.fast_address if attack.is_fast else server.address
    assert address is not None
    memory = Memory(server.pid)
    with GoodClient(address, token) as client:
        attacked = server.web_address if attack.is_web else address
        assert attacked is not None
        attackers = Attackers(attack, attacked, server.metrics_address)
        time.sleep(_WARMING)
        idle = memory.now()
        memory.forget_peak()
        onset = client.measure()
        attackers.begin()
        time.sleep(attack.onset)
        during = client.measure()
        came = attackers.wait()
        after = client.measure()
        try:
            peak = memory.peak()
            kept = _settled(memory, {who: mib + attack.budget.kept_mib for who, mib in idle.items()})
        except FileNotFoundError:
            peak = kept = {}
        has_metrics = _metrics_respond(server.metrics_address)
    times = {"at the onset": onset, "during the attack": during, "after it": after}
    return AttackResult(
        attack=attack,
        came=dict(came),
        onset_ms=onset.longest_ms(),
        p99_ms={kind: during.p99_ms(kind) for kind in KINDS},
        calls={kind: len(during.seconds[kind]) for kind in KINDS},
        failures={f"{when}: {what}": count for when, each in times.items() for what, count in each.failures.items()},
        idle=idle,
        peak=peak,
        kept=kept,
        errors=server.errors(),
        has_metrics=has_metrics,
    )


def _settled(memory: Memory, wanted: dict[str, float]) -> dict[str, float]:
    # The sizes as soon as they are small enough, or at the end of the time.
    end = time.monotonic() + _SETTLING
    while True:
        now = memory.now()
        if time.monotonic() > end or all(now[who] <= wanted[who] for who in now):
            return now
        time.sleep(_PAUSE)


def _metrics_respond(address: str) -> bool:
    end = time.monotonic() + _SETTLING
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=1.0) as response:
                return b"grpc_server_handled_total" in response.read()
        except OSError:
            time.sleep(_PAUSE)
    return False


def table(results: list[AttackResult]) -> str:
    """Return a table of the results; memory is the worker's."""
    headers = (
        "attack",
        "onset max ms",
        "game p99 ms",
        "batch p99 ms",
        "health p99 ms",
        "idle MiB",
        "peak MiB",
        "after MiB",
        "in budget",
    )
    rows = [
        (
            result.attack.name,
            result.onset_ms,
            *(result.p99_ms[kind] for kind in KINDS),
            *(sizes.get("worker") for sizes in (result.idle, result.peak, result.kept)),
            "no" if result.broken() else "yes",
        )
        for result in results
    ]
    return tabulate(rows, headers, floatfmt=".0f", tablefmt="github")
