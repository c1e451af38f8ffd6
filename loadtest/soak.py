"""Load a server with well-behaved and misbehaving clients for many minutes, and check for leaks: `make soak`.

This command starts a server with one worker. The clients use all doors of this server. The report is
build/load/soak.json.
"""

import json
import re
import statistics
import threading
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from pathlib import Path

import click
import psutil
from tabulate import tabulate

from loadtest.load.own_server import OwnServer, own_server
from loadtest.siege.attacks import Attackers
from loadtest.siege.good_client import KINDS, GoodClient
from loadtest.siege.plan import DOORS, Plan, read_plan

NAME = "soak"
REPORTS = Path("build/load")
# How long calls are made before the first quarter, and the time between samples of the worker, in seconds.
_WARMING, _LOOK = 3.0, 1.0
# The fraction of its time slot that an attack lasts. In the rest of the slot, only well-behaved clients make calls.
_TURN = 0.8
_MIB = 2**20
# The maximum growth of each figure from the second quarter to the last. Memory is in MiB. The other figures may grow a
# little, because they vary with the calls in flight.
_MAX_GROWTH = {"resident": 16, "descriptors": 2, "threads": 2, "tasks": 2}


@dataclass(frozen=True)
class Look:
    """A sample of the worker: its resident memory in MiB, and the numbers of its descriptors, threads and tasks."""

    resident: float
    descriptors: int
    threads: int
    tasks: int


@dataclass(frozen=True)
class SoakResult:
    """The result of a soak.

    Attributes:
        minutes: The duration of the soak.
        quarters: The values of each figure in the four quarters: the median of resident memory, and the minimum numbers
            of descriptors, threads and tasks. Minimums are used because misbehaving connections add to these numbers.
        calls: The number of calls at each door.
        p99_ms: For each kind of call at each door, the 99th percentile of the durations, in milliseconds.
        failures: The number of failures for each door and cause.
        came: The number of events of each kind at the misbehaving connections.
        errors: The errors that the server logged.
        has_stopped: True if the server stopped when requested.
    """

    minutes: float
    quarters: dict[str, list[float]]
    calls: dict[str, int]
    p99_ms: dict[str, dict[str, float]]
    failures: dict[str, int]
    came: dict[str, int]
    errors: list[str]
    has_stopped: bool

    def broken(self) -> list[str]:
        """Return a message for each violation of the budget."""
        found = [f"{count} calls failed at {what}" for what, count in self.failures.items()]
        found += [f"the server logged {line}" for line in self.errors]
        found += [] if self.has_stopped else ["the server did not stop when requested"]
        for name, (_, second, _, last) in self.quarters.items():
            if last - second > _MAX_GROWTH[name]:
                found.append(f"{name} grew from {second:g} to {last:g} between the second quarter and the last")
        return found

    def text(self) -> str:
        """Return the figures as tables."""
        quarters = [(name, *values) for name, values in self.quarters.items()]
        calls = [(DOORS[door], n, *(self.p99_ms[door].get(kind) for kind in KINDS)) for door, n in self.calls.items()]
        named = ("", "first quarter", "second", "third", "last")
        return "\n\n".join(
            (
                tabulate(quarters, named, floatfmt=".0f", tablefmt="github"),
                tabulate(calls, ("door", "calls", *(f"{k} p99 ms" for k in KINDS)), floatfmt=".0f", tablefmt="github"),
            )
        )


class Looks:
    """Samples of a server's worker, taken once per second in a thread during a `with` statement."""

    def __init__(self, server: OwnServer) -> None:
        """Find the worker. It must be running."""
        (self._worker,) = psutil.Process(server.pid).children()
        self._metrics_url = f"http://{server.addresses['metrics']}/metrics"
        self._taken: list[tuple[float, Look]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> "Looks":
        """Start sampling."""
        self._begun = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop sampling."""
        self._stopping.set()
        self._thread.join()

    def quarters(self) -> dict[str, list[float]]:
        """Return each figure in each quarter of the time so far. Raise ClickException if the worker has died."""
        quarter = (time.monotonic() - self._begun) / 4
        parts: list[list[Look]] = [[], [], [], []]
        for when, look in self._taken:
            parts[min(3, int(when / quarter))].append(look)
        if not all(parts) or not self._worker.is_running():
            raise click.ClickException("the worker has died, or could not be looked at")
        return {
            "resident": [statistics.median(look.resident for look in part) for part in parts],
            **{
                name: [min(getattr(look, name) for look in part) for part in parts]
                for name in ("descriptors", "threads", "tasks")
            },
        }

    def _repeat(self) -> None:
        while not self._stopping.wait(_LOOK):
            try:
                look = self._look()
            except (OSError, psutil.Error):
                # `quarters` reports a worker that has ended, and a quarter without samples.
                continue
            self._taken.append((time.monotonic() - self._begun, look))

    def _look(self) -> Look:
        with urllib.request.urlopen(self._metrics_url, timeout=5.0) as response:
            tasks = re.search(r"^chatiere_tasks ([\d.]+)$", response.read().decode(), re.MULTILINE)
        assert tasks is not None
        with self._worker.oneshot():
            return Look(
                resident=self._worker.memory_info().rss / _MIB,
                descriptors=self._worker.num_fds(),
                threads=self._worker.num_threads(),
                tasks=int(float(tasks[1])),
            )


def soak(plan: Plan, minutes: float, report: Path) -> bool:
    """Load a server, print figures and write a report as JSON. Return True if the run stayed within the budget."""
    with own_server("--relay", "memory", doors=DOORS) as server:
        with ExitStack() as stack:
            clients = {
                door: stack.enter_context(GoodClient(door, server.addresses[door], None, None, has_rooms=True))
                for door in DOORS
            }
            time.sleep(_WARMING)
            measured = {door: client.measure() for door, client in clients.items()}
            with Looks(server) as looks:
                came = _attack(plan, server, 60 * minutes)
                quarters = looks.quarters()
        result = SoakResult(
            minutes=minutes,
            quarters=quarters,
            calls={door: sum(map(len, each.seconds.values())) for door, each in measured.items()},
            p99_ms={door: {kind: measured[door].p99_ms(kind) for kind in clients[door].kinds} for door in DOORS},
            failures={f"{door}: {what}": n for door, each in measured.items() for what, n in each.failures.items()},
            came=dict(came),
            has_stopped=server.stop(),
            errors=server.errors(),
        )
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps(asdict(result) | {"broken": result.broken()}, indent=2))
    click.echo(result.text())
    for line in result.broken():
        click.echo(f"budget: {line}")
    return not result.broken()


def _attack(plan: Plan, server: OwnServer, seconds: float) -> Counter[str]:
    # Make one attack after another, each in a time slot of at least one second. If the slots of all attacks fit into a
    # quarter of the time, each quarter contains every attack once at every door.
    entries = plan.entries()
    turn = max(1.0, seconds / 4 / len(entries))
    end = time.monotonic() + seconds
    came: Counter[str] = Counter()
    for attack, door in cycle(entries):
        begun = time.monotonic()
        if begun + turn > end:
            break
        attackers = Attackers(replace(attack, seconds=_TURN * turn), door, server.addresses)
        attackers.begin()
        came += attackers.wait()
        time.sleep(max(0.0, begun + turn - time.monotonic()))
    time.sleep(max(0.0, end - time.monotonic()))
    return came


@click.command()
@click.option("--minutes", default=20.0, show_default=True, type=click.FloatRange(min=0, min_open=True))
def main(minutes: float) -> None:
    """Load a server for a while, and check for leaks. The exit code is 1 if it exceeds its budget."""
    plan = read_plan(NAME)
    click.echo(f"{NAME}: {plan.meaning}")
    if not soak(plan, minutes, REPORTS / f"{NAME}.json"):
        raise click.ClickException("budget broken")


if __name__ == "__main__":
    main()
