"""The simulated time, and the loops and threads that run in it. All run in one thread, in an order from a seed."""

import random
import secrets
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache, partial
from heapq import heappop, heappush
from itertools import count
from types import ModuleType, SimpleNamespace
from typing import Any

from google.protobuf.internal import well_known_types

from chatiere.service.exchange import feeds
from chatiere.service.exchange.fair_queue import Bounds, FairQueue, Job, Stage
from chatiere.service.exchange.turns import Turns

Work = Callable[[], Any]
# The simulated time begins here, and not at 0, because the guards use the time 0 for "never".
_BEGINNING = 1000.0
_SINCE_1970 = 1.7e9


class Broken(BaseException):
    """Raised if a property does not hold. The service does not catch this exception."""


class Waits(BaseException):
    """Raised by work in a thread if it has to wait for another thread. It is then done again, with the outcome."""

    def __init__(self, begin: Callable[[Callable[[Work], None]], None]) -> None:
        """Create the exception.

        Args:
            begin: Starts the other work. Takes a function, which it calls when the other work has ended. The argument
                of this function returns the outcome.
        """
        super().__init__()
        self.begin = begin


class Timer:
    """Scheduled work."""

    __slots__ = ("_loop", "work")

    def __init__(self, work: Work, loop: "Loop | None" = None) -> None:
        self.work: Work | None = work
        self._loop = loop

    def cancel(self) -> None:
        """Drop the work, unless it has begun."""
        if self.take() is not None and self._loop is not None:
            self._loop.timers -= 1

    def take(self) -> Work | None:
        """Return the work. It then no longer waits."""
        work, self.work = self.work, None
        return work


class Run:
    """One run of the simulation: the time, the random choices, the events, and a trace of the events."""

    def __init__(self, seed: int) -> None:
        self.choices = random.Random(seed)
        self.now = _BEGINNING
        self.trace: list[str] = []
        """A line for each event that can be observed. All runs with the same seed have the same lines."""
        self.check: Work = lambda: None
        """Called after each event."""
        self.outcome: Work | None = None
        """The outcome for which the current work has waited, or None if it has not waited (see Waits)."""
        self.store: Any = None
        """The simulated Redis."""
        self._events: list[tuple[float, int, Timer]] = []
        self._numbers = count()

    def note(self, *words: object) -> None:
        """Add a line to the trace."""
        self.trace.append(" ".join(map(str, (f"{self.now - _BEGINNING:.6f}", *words))))

    def after(self, seconds: float, work: Work, loop: "Loop | None" = None) -> Timer:
        """Schedule work."""
        timer = Timer(work, loop)
        heappush(self._events, (self.now + seconds, next(self._numbers), timer))
        return timer

    def soon(self, most: float, work: Work) -> Timer:
        """Schedule work after a random time of up to `most` seconds."""
        return self.after(self.choices.random() * most, work)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with all events that are due."""
        end = self.now + seconds
        while self.step(end):
            pass

    def step(self, end: float) -> bool:
        """Let the next event happen if it is due by `end`. Otherwise let time pass until `end`, and return False."""
        events = self._events
        while events and events[0][0] <= end:
            due, _, timer = heappop(events)
            work = timer.take()
            if work is not None:
                self.now = due
                work()
                self.check()
                return True
        self.now = end
        return False


class Loop:
    """The loop of a thread that serves calls. See exchange.wire.Loop."""

    def __init__(self, run: Run, *, is_own: bool = False) -> None:
        self.is_own, self.under_way = is_own, 0
        self.timers = 0
        """The number of timers that are neither cancelled nor over."""
        self.is_dead = False
        self._run = run
        self._posted: deque[Work] = deque()
        self.turns = Turns(self.post, self._time)
        self._spent = 0.0

    def after(self, seconds: float, work: Work) -> Timer:
        self.timers += 1

        def fire() -> None:
            self.timers -= 1
            if not self.is_dead:
                work()

        return self._run.after(max(seconds, 0.0), fire, self)

    def post(self, work: Work) -> None:
        self._posted.append(work)
        if len(self._posted) == 1:
            self._run.soon(0.001, self._turn)

    def _time(self) -> float:
        # Events take no time. Only work in turns takes time, so that some of it has to wait for the next turn.
        self._spent += 0.0004
        return self._run.now + self._spent

    def _turn(self) -> None:
        # Work that is posted during this turn waits for the next one.
        for _ in range(len(self._posted)):
            work = self._posted[0]
            if not self.is_dead:
                work()
            self._posted.popleft()
        if self._posted:
            self._run.soon(0.001, self._turn)


class Threads(Executor):
    """A pool of threads. Work in these threads takes a random time."""

    def __init__(self, run: Run, threads: int) -> None:
        self._run, self._free = run, threads
        self._waiting: deque[tuple[Future[Any], Work]] = deque()

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: work(*arguments, **named)))
        self._run.soon(0.0005, self._begin)
        return future

    def _begin(self) -> None:
        while self._waiting and self._free:
            future, work = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                self._free -= 1
                seconds = self._run.choices.choice((0.0005, 0.01, 0.1, 2.0)) * self._run.choices.random()
                self._run.after(seconds, partial(self._finish, future, work))

    def _finish(self, future: "Future[Any]", work: Work, outcome: Work | None = None) -> None:
        self._run.outcome = outcome
        try:
            result = work()
        except Waits as waits:
            waits.begin(partial(self._finish, future, work))
            return
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        self._free += 1
        self._begin()


class _Job(Job):
    """A call's work. It takes simulated time."""

    def __init__(self, pool: "Pool", client: str, connection: str) -> None:
        super().__init__(client, connection)
        self._pool = pool
        self.left = 0.0
        self.work: Work = lambda: None
        self.future: Future[Any] = Future()

    def cancel(self) -> None:
        super().cancel()
        self._pool.wake(self)


class Pool:
    """Threads for calls that may take a long time. The service's queue determines the order."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.queue = FairQueue(Bounds(1, 1, 1, 2, 3, 4, 6))

    def job(self, client: str, connection: str) -> _Job:
        return _Job(self, client, connection)

    def submit(self, job: _Job, work: Work) -> Future[Any]:
        job.work, job.future = work, Future()
        job.left = self._run.choices.choice((0.0005, 0.01, 0.1, 2.0)) * self._run.choices.random()
        self._hand_out(self.queue.add(job, self._run.now))
        return job.future

    def begin_here(self) -> bool:
        return self.queue.begin_aside(2)

    @property
    def is_contended(self) -> bool:
        return self.queue.is_contended

    def end_here(self) -> None:
        self._hand_out(self.queue.end_aside(self._run.now))

    @property
    def left(self) -> int:
        """The number of calls in the queue's accounts. It is 0 once all calls are over."""
        queue = self.queue
        return len(queue) + queue._in_progress + queue._aside + len(queue._first) + len(queue._running)

    def wake(self, job: _Job) -> None:
        """Let a cancelled job end."""
        if self.queue.cancel(job):
            self._run.soon(0.0005, partial(self._end, job, 0.0))

    def _hand_out(self, jobs: list[Any]) -> None:
        for job in jobs:
            seconds = min(job.left, 0.001 if job.stage is Stage.FIRST else 0.01)
            self._run.after(seconds, partial(self._use, job, seconds))

    def _use(self, job: _Job, seconds: float) -> None:
        job.left -= seconds
        if job.left <= 0 or job.cancelled:
            self._end(job, seconds)
        else:
            self._hand_out(self.queue.give_way(job, seconds, self._run.now))

    def _end(self, job: _Job, seconds: float) -> None:
        self._hand_out(self.queue.end(job, seconds, self._run.now))
        if job.future.set_running_or_notify_cancel():
            try:
                result = job.work()
            except Exception as error:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)


@contextmanager
def replaced(place: Any, **values: Any) -> Iterator[None]:
    """Replace attributes of an object, for example of a module."""
    before = {name: getattr(place, name) for name in values}
    for name, value in values.items():
        setattr(place, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(place, name, value)


@cache
def _places(value: object) -> list[tuple[ModuleType, str]]:
    """Return the names of an object in the modules of the service."""
    modules = [module for name, module in sys.modules.items() if name.startswith("chatiere.service.")]
    return [(module, name) for module in modules for name, each in vars(module).items() if each is value]


@contextmanager
def simulated(run: Run) -> Iterator[None]:
    """Make the modules of the service use the time and the random numbers of a run."""

    def now() -> float:
        return run.now

    def since_1970() -> float:
        return _SINCE_1970 + run.now

    choices = run.choices
    clock = SimpleNamespace(monotonic=now, perf_counter=now, time=since_1970)
    random_bytes = SimpleNamespace(
        token_bytes=choices.randbytes,
        token_hex=lambda size: choices.randbytes(size).hex(),
        randbits=choices.getrandbits,
    )
    changes: list[tuple[Any, str, Any, Any]] = [
        (module, name, value, other)
        for value, other in (
            (time, clock),
            (time.monotonic, now),
            (time.perf_counter, now),
            (time.time, since_1970),
            (secrets, random_bytes),
            (random, choices),
        )
        for module, name in _places(value)
    ]
    timestamp: Any = well_known_types.Timestamp
    stamp = lambda self: self.FromSeconds(int(since_1970()))  # noqa: E731
    changes.append((timestamp, "GetCurrentTime", timestamp.GetCurrentTime, stamp))
    # Simulated responses are small, so the usual limit would never be reached.
    most = feeds._MAX_UNTAKEN
    changes.append((feeds, "_MAX_UNTAKEN", most, choices.choice((most, 100))))
    for place, name, _, other in changes:
        setattr(place, name, other)
    try:
        yield
    finally:
        for place, name, value, _ in changes:
            setattr(place, name, value)
