"""Functions that run several contenders in turn and measure their time, and the rows of the table of results."""

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from chatiere.engine import Game
from loadtest.bench.servers import BenchServer

Key = TypeVar("Key")
Found = TypeVar("Found")


class Run(NamedTuple):
    """A run: the amount of work, its wall time, and the processor times of this process and the server, in seconds."""

    amount: float
    wall: float
    client: float
    server: float = 0.0

    @property
    def cpu(self) -> float:
        """The total processor time in seconds."""
        return self.client + self.server

    @property
    def rate(self) -> float:
        """The work per processor second."""
        return self.amount / self.cpu


class Timer:
    """The time used by a `with` block. See `measured`."""

    def __init__(self, server: BenchServer | None) -> None:
        """Start the timer, also for the processor time of `server` if one is given."""
        self._server = server
        self._before = self._now()
        self._used = self._before

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter(), time.process_time(), self._server.cpu_seconds() if self._server else 0.0

    def stop(self) -> None:
        """Stop at the end of the block."""
        self._used = self._now()

    def run(self, count: float) -> Run:
        """Return the measured run. `count` is the amount of work done in it."""
        wall, client, server = (after - before for after, before in zip(self._used, self._before, strict=True))
        return Run(count, wall, client, server)


@contextmanager
def measured(server: BenchServer | None = None) -> Iterator[Timer]:
    """Time a block: wall time, this process's processor time (in all threads), and a server's processor time."""
    timer = Timer(server)
    yield timer
    timer.stop()


def repeat(work: Callable[[], float], seconds: float, server: BenchServer | None = None) -> Run:
    """Repeat `work` for a number of seconds. Each call returns its amount of work."""
    count = 0.0
    end = time.perf_counter() + seconds
    with measured(server) as timer:
        while True:
            count += work()
            if time.perf_counter() >= end:
                break
    return timer.run(count)


@contextmanager
def pinned() -> Iterator[None]:
    """Keep this thread, and threads that it starts, on one core during a `with` block, if the system supports this."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def alternate(contenders: Mapping[Key, Callable[[], Found]], rounds: int) -> dict[Key, list[Found]]:
    """Return the runs of each contender. In each round, all contenders run in turn."""
    runs: dict[Key, list[Found]] = {key: [] for key in contenders}
    for _ in range(rounds):
        for key, contender in contenders.items():
            runs[key].append(contender())
    return runs


def middle(runs: Sequence[Run], by: Callable[[Run], float] = lambda run: run.rate) -> Run:
    """Return the run with the median figure (the lower one of two)."""
    return sorted(runs, key=by)[(len(runs) - 1) // 2]


def fastest(runs: Mapping[Key, Sequence[Run]]) -> tuple[Key, Run]:
    """Return the key of the runs with the highest median rate, and the run with this median."""
    middles = {key: middle(one) for key, one in runs.items()}
    best = max(middles, key=lambda key: middles[key].rate)
    return best, middles[best]


def listed(runs: Mapping[tuple[str, str], Sequence[Run]]) -> list[dict[str, Any]]:
    """Return a table of the median rates of the peers' runs. The keys are (kind, game). Our own kind is ""."""
    return [
        {"peer": kind, "game": game, "moves/CPU-s": middle(found).rate} for (kind, game), found in runs.items() if kind
    ]


@dataclass(frozen=True)
class Row:
    """A row of the table: a game's figure and the peer's figure. The latter is None if the peer is not installed.

    Attributes:
        bound: The required limit of the ratio of the figures.
        target: The desired limit of `target_figure`.
        at_most: True if `bound` and `target` are upper limits. Otherwise they are lower limits.
        run: Our median run.
        peer_run: The peer's median run.
    """

    row: str
    game: str
    unit: str
    ours: float
    peer: float | None
    bound: float
    peer_name: str
    at_most: bool = False
    target: float | None = None
    target_figure: float | None = None
    run: Run | None = None
    peer_run: Run | None = None

    @property
    def ratio(self) -> float | None:
        """The ratio of our figure to the peer's figure, or None without a peer."""
        return None if self.peer is None else self.ours / self.peer

    @property
    def holds(self) -> bool | None:
        """True if the ratio is within its bound, or None without a peer."""
        if self.ratio is None:
            return None
        return self.ratio <= self.bound if self.at_most else self.ratio >= self.bound


@dataclass(frozen=True)
class BenchPlan:
    """The parameters of the measurements.

    Attributes:
        games: The games to measure, each with its number of players.
        rounds: The number of rounds in which all contenders run in turn.
        seconds: The duration of a run.
        batch: The number of games in a batch.
        warm_up: The number of moves per game before measuring.
        moves: The number of moves during which the server's memory must not grow.
        rooms: The number of rooms that are followed at the same time.
    """

    games: Mapping[Game, int]
    rounds: int
    seconds: float
    batch: int
    warm_up: int
    moves: int
    rooms: int


@dataclass
class Result:
    """The results of a subject: rows with bounds, and additional tables. A line of a table maps titles to figures."""

    rows: list[Row] = field(default_factory=list)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def machine() -> str:
    """Return a description of the parts of the machine that affect the figures."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    processor = f"{len(names)} × {names[0]}" if names else platform.processor()
    return f"{processor}, {platform.system()} {platform.release()}, Python {platform.python_version()}"
