"""Threads for calls that may take a long time. They share processor time fairly among clients."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from chatiere.service.base.threads import started_threads
from chatiere.service.exchange.fair_queue import Bounds, FairQueue, Job, Stage

_Result = TypeVar("_Result")

# The maximum number of first turns at the same time. Most of a first turn runs with the interpreter's lock. The
# loop needs this lock to receive calls, so two first turns at the same time would delay other calls.
_FIRST_TURNS = 1
# The maximum numbers of jobs that have a thread: of one client's jobs, and of all jobs.
_BEGUN = (128, 1024)


class ThreadJob(Job):
    """Work in one of FairThreads."""

    def __init__(self, threads: FairThreads, client: str, connection: str) -> None:
        """See FairThreads.job."""
        super().__init__(client, connection)
        self._threads = threads
        self.work: Callable[[], Any] | None = None
        self.future: Future[Any] | None = None
        # A lock that is released when the job gets its next turn.
        self.turn = threading.Lock()
        self.turn.acquire()
        # The processor time of the job's thread when the turn began.
        self.begun = 0.0

    def cancel(self) -> None:
        """End the work soon, even if it waits for a turn."""
        super().cancel()
        self._threads.wake(self)

    def give_way(self) -> None:
        """Wait for the next turn."""
        self._threads.give_way(self)


class FairThreads:
    """Threads that give calls turns in the order of a FairQueue."""

    def __init__(self, name: str, most: int) -> None:
        """Start some threads. More threads are started when calls need them.

        Args:
            name: The prefix of the threads' names.
            most: The maximum number of calls that run at the same time after their first turn, but at most one per
                core. It is also the maximum number of a connection's calls in progress. A client may have twice as many
                calls in progress, and all clients together four times as many. These limits bound the memory of
                searches.

        Raises:
            RuntimeError: If the threads cannot be started.
        """
        turns = min(most, os.cpu_count() or 1)
        self._most = most
        self._queue = FairQueue(Bounds(_FIRST_TURNS, turns, most, 2 * most, 4 * most, *_BEGUN))
        self._changed = threading.Condition(threading.Lock())
        # True if no more jobs may be added, and true if the clock's thread sleeps because no job waits.
        self._is_closed = self._clock_sleeps = False
        self._pool = started_threads(name, _FIRST_TURNS + turns, _BEGUN[1])
        self._clock = threading.Thread(target=self._look, name=f"{name} clock", daemon=True)
        self._clock.start()

    def job(self, client: str, connection: str) -> ThreadJob:
        """Return a job of a client for `submit`. The job can be submitted again once it is over."""
        return ThreadJob(self, client, connection)

    def submit(self, job: ThreadJob, work: Callable[[], _Result]) -> Future[_Result]:
        """Run `work` in a thread. It must use the job as its Cancellation."""
        future: Future[_Result] = Future()
        job.work, job.future = work, future
        with self._changed:
            self._hand_out(self._queue.add(job, time.monotonic()))
        return future

    def begin_here(self) -> bool:
        """Return True if the caller may run short work in its own thread until `end_here`, because no calls wait."""
        with self._changed:
            return self._queue.begin_aside(self._most)

    @property
    def is_contended(self) -> bool:
        """True if calls wait for a turn, so that work outside the threads should end soon."""
        return self._queue.is_contended

    def end_here(self) -> None:
        """End work that ran in the thread of its caller."""
        with self._changed:
            self._hand_out(self._queue.end_aside(time.monotonic()))

    def give_way(self, job: ThreadJob) -> None:
        """End the turn of a job, and wait for its next turn. Must be called in the job's thread."""
        with self._changed:
            seconds = time.thread_time() - job.begun
            self._hand_out(self._queue.give_way(job, seconds, time.monotonic()), job)
            is_paused = job.stage in (Stage.WAITING, Stage.PAUSED)
        if is_paused:
            job.turn.acquire()
        job.begun = time.thread_time()

    def wake(self, job: ThreadJob) -> None:
        """Let a cancelled job end."""
        with self._changed:
            if self._queue.cancel(job):
                job.turn.release()

    def shutdown(self) -> None:
        """Wait until all jobs have ended, and end the threads."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            while self._queue:
                self._changed.wait()
        self._pool.shutdown()
        self._clock.join()

    def _hand_out(self, jobs: list[Job], own: Job | None = None) -> None:
        # Start or continue jobs that have been given a turn. `own` is the job of this thread.
        for job in jobs:
            assert isinstance(job, ThreadJob)
            if job.stage is Stage.FIRST:
                # If no more threads can be started, the job waits for one of the running threads.
                with suppress(RuntimeError):
                    self._pool.submit(self._run, job)
            elif job is not own:
                job.turn.release()
        if (self._clock_sleeps and self._queue.is_contended) or self._is_closed:
            self._clock_sleeps = False
            self._changed.notify_all()

    def _run(self, job: ThreadJob) -> None:
        work, future = job.work, job.future
        # Drop these references, so that the response is freed once it is delivered.
        job.work = job.future = None
        assert work is not None
        assert future is not None
        job.begun = time.thread_time()
        result, fault = None, None
        is_wanted = future.set_running_or_notify_cancel()
        if is_wanted:
            try:
                result = work()
            except BaseException as error:
                fault = error
        del work
        with self._changed:
            self._hand_out(self._queue.end(job, time.thread_time() - job.begun, time.monotonic()))
        if fault is not None:
            future.set_exception(fault)
        elif is_wanted:
            future.set_result(result)

    def _look(self) -> None:
        # Ask jobs to end their turns while other jobs wait.
        with self._changed:
            while not (self._is_closed and not self._queue):
                self._clock_sleeps = not self._queue.is_contended
                if self._clock_sleeps:
                    self._changed.wait()
                    continue
                now = time.monotonic()
                self._hand_out(self._queue.replace_overdue(now))
                jobs, wait = self._queue.late(now)
                for job in jobs:
                    job.ask_to_give_way()
                self._changed.wait(wait)
