"""The order in which long calls get turns on the processor. It is fair to clients, and to a client's connections.

A call's first turn lasts a millisecond. A few turns are reserved for new calls, so a call that ends within its first
turn never waits for long calls. A longer call is then in progress, with turns of ten milliseconds, until it ends. The
next turn goes to the client that has used the least processor time since calls began to wait. The connections of a
client get turns one after another.

    queued ──▶ first ──▶ waiting ──▶ running ◀──▶ paused
                 │          │           │           │
                 └──────────┴───────────┴───────────┴──▶ over
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from math import inf
from typing import NamedTuple

from chatiere.engine.core.cancellation import Cancellation

# The length of a first turn, and of other turns, in seconds.
_FIRST, _TURN = 0.001, 0.01
# The number of clients above which clients without jobs are forgotten.
_MANY = 1000


class Stage(Enum):
    """The stages of a job."""

    QUEUED = auto()
    """The job has not begun."""
    FIRST = auto()
    """The job has its first turn."""
    WAITING = auto()
    """The job has had its first turn, and is not in progress."""
    RUNNING = auto()
    """The job is in progress, and has a turn."""
    PAUSED = auto()
    """The job is in progress, and waits for a turn."""
    ENDING = auto()
    """The job has begun, needs no more turns, and is about to end."""
    OVER = auto()
    """The job has ended, or was never added."""


class Bounds(NamedTuple):
    """The maximum numbers of turns, and of jobs, at the same time."""

    first_turns: int
    """The maximum number of first turns."""
    turns: int
    """The maximum number of other turns."""
    of_connection: int
    """The maximum number of one connection's jobs in progress."""
    of_client: int
    """The maximum number of one client's jobs in progress."""
    of_all: int
    """The maximum number of jobs in progress."""
    begun_of_client: int
    """The maximum number of one client's jobs that have begun."""
    begun: int
    """The maximum number of jobs that have begun."""


class Job(Cancellation):
    """The work of a client that gets turns. A job can be added to the queue again once it is over.

    Attributes:
        stage: The stage, set by the queue.
    """

    def __init__(self, client: str, connection: str) -> None:
        """Create a job for a request that a client sent on a connection."""
        self.client, self.connection = client, connection
        self.stage = Stage.OVER
        # The time when the job's turn began, and whether the job was asked to end this turn.
        self.since, self.is_asked = 0.0, False


class _Flow:
    """The jobs of a connection, in the order in which they get turns."""

    def __init__(self) -> None:
        self.queued: dict[Job, None] = {}
        self.waiting: dict[Job, None] = {}
        self.paused: dict[Job, None] = {}
        self.in_progress = 0
        self.count = 0


class _Client:
    """The jobs of a client for each connection, and the processor time in seconds used since calls began to wait."""

    def __init__(self, used: float) -> None:
        self.flows: dict[str, _Flow] = {}
        self.used = used
        self.begun = 0
        self.in_progress = 0


class FairQueue:
    """The jobs of a worker. No method blocks; times are in seconds.

    Methods that free turns return the jobs that get these turns. The caller must start (FIRST) or continue (RUNNING)
    them.
    """

    def __init__(self, bounds: Bounds) -> None:
        """Create an empty queue."""
        self._bounds = bounds
        self._clients: dict[str, _Client] = {}
        # The jobs that have a first turn, and those that have another turn. Then the numbers of jobs in the stages in
        # which they wait, of jobs that have begun, and of jobs in progress.
        self._first: set[Job] = set()
        self._running: set[Job] = set()
        # The jobs whose first turns no longer count, because they did not give way in time.
        self._overdue: set[Job] = set()
        self._queued = self._waiting = self._paused = 0
        self._begun = self._in_progress = 0
        # The number of calls that run outside the queue.
        self._aside = 0
        # The time when jobs began to wait, and the largest processor time that a client had used since then when it got
        # a turn. New clients begin with this time.
        self._contended_since = inf
        self._floor = 0.0

    def __len__(self) -> int:
        """Return the number of jobs that are not over."""
        return self._queued + self._begun

    @property
    def is_contended(self) -> bool:
        """True if a job waits for a turn."""
        return self._queued + self._waiting + self._paused > 0

    def add(self, job: Job, now: float) -> list[Job]:
        """Add a job as a new job. Its stage must be OVER."""
        client = self._client(job)
        flow = client.flows.setdefault(job.connection, _Flow())
        flow.count += 1
        flow.queued[job] = None
        job.stage = Stage.QUEUED
        self._queued += 1
        return self._hand_out(now)

    def give_way(self, job: Job, seconds: float, now: float) -> list[Job]:
        """End a turn in which a job used `seconds` of processor time. The job may get the next turn."""
        if job.stage not in (Stage.FIRST, Stage.RUNNING):
            return []
        self._end_turn(job, seconds, now)
        flow = self._flow(job)
        if job.stage is Stage.FIRST:
            flow.waiting[job] = None
            job.stage = Stage.WAITING
            self._waiting += 1
        else:
            flow.paused[job] = None
            job.stage = Stage.PAUSED
            self._paused += 1
        return self._hand_out(now)

    def cancel(self, job: Job) -> bool:
        """Stop the waiting of a job. A job that has not begun is then over.

        Returns:
            True if the job had begun and was waiting. The caller must then wake the job. The job ends
            without another turn.
        """
        if job.stage is Stage.QUEUED:
            del self._flow(job).queued[job]
            self._queued -= 1
            self._forget(job)
        elif job.stage is Stage.WAITING:
            del self._flow(job).waiting[job]
            self._waiting -= 1
            job.stage = Stage.ENDING
            return True
        elif job.stage is Stage.PAUSED:
            del self._flow(job).paused[job]
            self._paused -= 1
            self._leave_progress(job)
            job.stage = Stage.ENDING
            return True
        return False

    def end(self, job: Job, seconds: float, now: float) -> list[Job]:
        """End a job that has begun. `seconds`: the processor time that it used since its turn began."""
        if job.stage is not Stage.ENDING:
            self._end_turn(job, seconds, now)
        if job.stage is Stage.RUNNING:
            self._leave_progress(job)
        self._begun -= 1
        self._clients[job.client].begun -= 1
        self._forget(job)
        return self._hand_out(now)

    def begin_aside(self, most: int) -> bool:
        """Count a call that runs outside the queue until `end_aside`; False if jobs wait or `most` calls run."""
        if self.is_contended or len(self._first) + len(self._overdue) + len(self._running) + self._aside >= most:
            return False
        self._aside += 1
        return True

    def end_aside(self, now: float) -> list[Job]:
        """End a call that ran outside the queue."""
        self._aside -= 1
        return self._hand_out(now)

    def replace_overdue(self, now: float) -> list[Job]:
        """Let other jobs begin in place of jobs whose first turns have lasted as long as other turns."""
        found = [job for job in self._first if job.is_asked and now >= job.since + _TURN]
        for job in found:
            self._end_turn(job, now - job.since, now)
            job.since = now
            self._overdue.add(job)
        return self._hand_out(now) if found else []

    def late(self, now: float) -> tuple[list[Job], float]:
        """Find jobs whose turns must end because other jobs wait. Each job is found once per turn.

        Returns:
            The jobs, and the time in seconds until the next job can be found.
        """
        found, wait = [], _FIRST if self._queued else _TURN
        for jobs, seconds in ((self._first, _FIRST), (self._running, _TURN)):
            for job in jobs:
                if not job.is_asked:
                    left = job.since + seconds - now
                    if left <= 0:
                        job.is_asked = True
                        found.append(job)
                    else:
                        wait = min(wait, left)
        return found, wait

    # Turns

    def _end_turn(self, job: Job, seconds: float, now: float) -> None:
        client = self._clients[job.client]
        client.used += max(min(seconds, now - max(job.since, self._contended_since)), 0.0)
        for jobs in (self._first, self._overdue, self._running):
            jobs.discard(job)

    def _hand_out(self, now: float) -> list[Job]:
        found = []
        while self._queued and len(self._first) < self._bounds.first_turns and self._begun < self._bounds.begun:
            job = self._next_new()
            if job is None:
                break
            del self._flow(job).queued[job]
            self._queued -= 1
            self._begun += 1
            self._clients[job.client].begun += 1
            self._begin_turn(job, Stage.FIRST, self._first, now)
            found.append(job)
        while self._waiting + self._paused and len(self._running) + self._aside < self._bounds.turns:
            job = self._next_begun()
            if job is None:
                break
            flow = self._flow(job)
            if job.stage is Stage.PAUSED:
                del flow.paused[job]
                self._paused -= 1
            else:
                del flow.waiting[job]
                self._waiting -= 1
                flow.in_progress += 1
                self._clients[job.client].in_progress += 1
                self._in_progress += 1
            self._begin_turn(job, Stage.RUNNING, self._running, now)
            found.append(job)
        if not self.is_contended:
            self._contended_since = inf
        elif self._contended_since == inf:
            self._contended_since, self._floor = now, 0.0
            self._clients = {name: each for name, each in self._clients.items() if each.flows}
            for client in self._clients.values():
                client.used = 0.0
        return found

    def _begin_turn(self, job: Job, stage: Stage, jobs: set[Job], now: float) -> None:
        job.stage, job.since, job.is_asked = stage, now, False
        jobs.add(job)
        client = self._clients[job.client]
        self._floor = max(self._floor, client.used)
        # Move the connection to the end, so that the client's other connections get the next turns.
        client.flows[job.connection] = client.flows.pop(job.connection)

    def _next_new(self) -> Job | None:
        for client in self._least_used():
            if client.begun < self._bounds.begun_of_client:
                for flow in client.flows.values():
                    if flow.queued:
                        return next(iter(flow.queued))
        return None

    def _next_begun(self) -> Job | None:
        bounds = self._bounds
        for client in self._least_used():
            is_open = self._in_progress < bounds.of_all and client.in_progress < bounds.of_client
            for flow in client.flows.values():
                if is_open and flow.waiting and flow.in_progress < bounds.of_connection:
                    return next(iter(flow.waiting))
                if flow.paused:
                    return next(iter(flow.paused))
        return None

    def _least_used(self) -> Iterator[_Client]:
        return iter(sorted(self._clients.values(), key=lambda client: client.used))

    # Clients and connections

    def _client(self, job: Job) -> _Client:
        # Return the client of a new job.
        client = self._clients.get(job.client)
        if client is None:
            if len(self._clients) >= _MANY:
                self._clients = {
                    name: each for name, each in self._clients.items() if each.flows or each.used > self._floor
                }
            client = self._clients[job.client] = _Client(self._floor)
        elif not client.flows:
            client.used = max(client.used, self._floor)
        return client

    def _flow(self, job: Job) -> _Flow:
        return self._clients[job.client].flows[job.connection]

    def _leave_progress(self, job: Job) -> None:
        self._flow(job).in_progress -= 1
        self._clients[job.client].in_progress -= 1
        self._in_progress -= 1

    def _forget(self, job: Job) -> None:
        job.stage = Stage.OVER
        client = self._clients[job.client]
        flow = client.flows[job.connection]
        flow.count -= 1
        if not flow.count:
            del client.flows[job.connection]
        if not client.flows and client.used <= self._floor:
            del self._clients[job.client]
