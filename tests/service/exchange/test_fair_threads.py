"""Threads for calls that may take a long time: their turns, cancellation, and the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from chatiere.engine.core.cancellation import Cancelled
from chatiere.service.exchange.fair_queue import Stage
from chatiere.service.exchange.fair_threads import FairThreads, ThreadJob

from ..process import wait_until
from ..support import PATIENCE


@contextmanager
def threads(end: threading.Event) -> Iterator[FairThreads]:
    """Return one thread for long work. At the end, `end` is set, so that the work ends."""
    made = FairThreads("tested", 1)
    try:
        yield made
    finally:
        end.set()
        made.shutdown()
    assert not [each for each in threading.enumerate() if each.name.startswith("tested")]


def endless(job: ThreadJob, end: threading.Event) -> Callable[[], list[bytes]]:
    """Return work that can give way, and that lasts until an event is set."""

    def work() -> list[bytes]:
        while not end.is_set():
            job.check()
        return [b"ended"]

    return work


def test_calls_take_turns() -> None:
    end = threading.Event()
    with threads(end) as made:
        jobs = [made.job("many", str(number)) for number in range(4)]
        futures = [made.submit(job, endless(job, end)) for job in jobs]
        assert made.submit(made.job("one", "1"), lambda: [b"short"]).result(PATIENCE) == [b"short"]
        assert not any(future.done() for future in futures)
        end.set()
        assert [future.result(PATIENCE) for future in futures] == [[b"ended"]] * 4


@pytest.mark.parametrize("stage", [Stage.QUEUED, Stage.WAITING, Stage.PAUSED, Stage.RUNNING])
def test_a_cancelled_call_ends_in_every_stage(stage: Stage) -> None:
    end, held = threading.Event(), threading.Event()
    with threads(end) as made:
        # The third call waits, because two calls of its client are in progress.
        jobs = [made.job("many", str(number)) for number in range(3)]
        futures = [made.submit(job, endless(job, end)) for job in jobs]
        if stage is Stage.QUEUED:
            # Work that cannot give way has the only first turn.
            wait_until(lambda: Stage.WAITING in [job.stage for job in jobs], "all calls have had their first turns")
            made.submit(made.job("other", "1"), lambda: [b"held"][: held.wait(PATIENCE)])
            jobs.append(made.job("many", "1"))
            futures.append(made.submit(jobs[-1], endless(jobs[-1], end)))
        found = wait_until(lambda: [job for job in jobs if job.stage is stage], f"a call is {stage.name}")
        future = futures[jobs.index(found[0])]
        found[0].cancel()
        future.cancel()
        if not future.cancelled():
            assert isinstance(future.exception(PATIENCE), Cancelled)
        held.set()


def test_an_error_of_the_work_is_the_futures() -> None:
    end = threading.Event()
    with threads(end) as made:
        failed = made.submit(made.job("a", "1"), lambda: [bytes(-1)])
        assert isinstance(failed.exception(PATIENCE), ValueError)
        assert made.submit(made.job("a", "1"), lambda: [b"next"]).result(PATIENCE) == [b"next"]


def test_no_work_runs_in_other_threads_while_calls_wait() -> None:
    end = threading.Event()
    with threads(end) as made:
        assert made.begin_here()
        assert not made.begin_here()
        made.end_here()
        for _ in range(2):
            job = made.job("many", "1")
            made.submit(job, endless(job, end))
        assert not made.begin_here()
