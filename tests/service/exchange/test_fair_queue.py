"""Turns of calls that may take a long time: which call gets the next turn, with a simulated clock and processor."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatiere.service.exchange.fair_queue import Bounds, FairQueue, Job, Stage

# The bounds of a worker on a processor with two cores.
BOUNDS = Bounds(first_turns=2, turns=2, of_connection=8, of_client=16, of_all=32, begun_of_client=128, begun=1024)
TICK = 0.0005


class Processor:
    """Runs the jobs that have turns, each at the speed of one core, and asks them to give way at the end of a turn."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.queue = FairQueue(bounds)
        self.now = 100.0
        self.running: list[Job] = []
        self.left: dict[Job, float] = {}
        self.used: dict[str, float] = {}
        self.waited: dict[Job, float] = {}

    def add(self, client: str, connection: str, seconds: float) -> Job:
        job = Job(client, connection)
        self.left[job], self.waited[job] = seconds, self.now
        self.running += self.queue.add(job, self.now)
        return job

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK)):
            self.now += TICK
            for job in self.running:
                self.left[job] -= TICK
                self.used[job.client] = self.used.get(job.client, 0.0) + TICK
            late, _ = self.queue.late(self.now)
            for job in list(self.running):
                if self.left[job] <= 0:
                    self.running.remove(job)
                    self.running += self.queue.end(job, self.now - job.since, self.now)
                elif job in late:
                    self.running.remove(job)
                    self.running += self.queue.give_way(job, self.now - job.since, self.now)


def test_a_client_with_one_call_gets_as_much_as_one_with_many() -> None:
    processor = Processor()
    for _ in range(64):
        processor.add("many", "1", 60)
    processor.run(1)
    processor.add("one", "1", 60)
    before = dict(processor.used)
    processor.run(4)
    assert processor.used["one"] == pytest.approx(processor.used["many"] - before["many"], rel=0.1)


def test_a_client_is_not_charged_for_time_that_no_call_waited_for() -> None:
    processor = Processor(BOUNDS._replace(turns=1))
    processor.add("first", "1", 60)
    processor.run(10)
    processor.add("second", "1", 60)
    before = processor.used["first"]
    processor.run(1)
    # The first turn of the second job is on the other core.
    assert processor.used["second"] == pytest.approx(processor.used["first"] - before, abs=0.02)


def test_a_short_call_never_waits_for_long_ones() -> None:
    processor = Processor()
    for number in range(64):
        processor.add("many", str(number), 60)
    processor.run(2)
    for client in ("many", "one"):
        for _ in range(20):
            short = processor.add(client, "another", TICK)
            processor.run(0.002)
            assert short.stage is Stage.OVER


def test_connections_of_a_client_get_the_same() -> None:
    processor = Processor()
    for _ in range(8):
        processor.add("proxy", "many", 60)
    processor.run(1)
    job = processor.add("proxy", "one", 60)
    processor.run(2)
    # A connection has at most half of the two cores.
    assert 60 - processor.left[job] == pytest.approx(2, rel=0.1)


def test_calls_above_the_limit_of_a_connection_end_in_their_order() -> None:
    processor = Processor()
    jobs = [processor.add("many", "1", 0.1) for _ in range(20)]
    while any(job.stage is not Stage.OVER for job in jobs):
        processor.run(0.01)
        in_progress = sum(job.stage in (Stage.RUNNING, Stage.PAUSED) for job in jobs)
        assert in_progress <= BOUNDS.of_connection
        over = [job.stage is Stage.OVER for job in jobs]
        assert not any(over[BOUNDS.of_connection :]) or all(over[:2])
    assert len(processor.queue) == 0


def test_a_call_that_does_not_give_way_delays_other_clients_only_once() -> None:
    queue, now = FairQueue(BOUNDS._replace(first_turns=1)), 100.0
    jobs = [Job("stubborn", str(number)) for number in range(20)]
    begun = [each for job in jobs for each in queue.add(job, now)]
    other = Job("other", "1")
    assert queue.add(other, now) == []
    while other.stage is Stage.QUEUED:
        now += TICK
        queue.late(now)
        begun += queue.replace_overdue(now)
    assert begun == [jobs[0], other]
    for job in begun:
        begun += queue.end(job, 0.001, now)
    assert (set(begun), len(queue)) == ({*jobs, other}, 0)


def test_a_cancelled_call_waits_no_longer() -> None:
    processor = Processor(BOUNDS._replace(first_turns=1, turns=1, of_connection=2))
    jobs = [processor.add("many", "1", 60) for _ in range(5)]
    processor.run(0.0015)
    stages = {job.stage: job for job in jobs}
    processor.run(0.05)
    stages |= {job.stage: job for job in jobs}
    for stage, needs_waking in ((Stage.QUEUED, False), (Stage.WAITING, True), (Stage.PAUSED, True)):
        found = next((job for job in jobs if job.stage is stage), None)
        if found is None:
            continue
        assert processor.queue.cancel(found) is needs_waking
        if needs_waking:
            assert found.stage is Stage.ENDING
            processor.running += processor.queue.end(found, 0.0, processor.now)
        assert found.stage is Stage.OVER
    running = next(job for job in jobs if job.stage is Stage.RUNNING)
    assert not processor.queue.cancel(running)


@given(st.integers(0, 2**32), st.sampled_from([BOUNDS, Bounds(1, 1, 1, 2, 3, 4, 6)]))
def test_every_order_of_events_ends_with_nothing_left(seed: int, bounds: Bounds) -> None:
    choices, processor = Random(seed), Processor(bounds)
    jobs: list[Job] = []
    actions: list[Callable[[], object]] = [
        lambda: jobs.append(processor.add(choices.choice("ab"), choices.choice("12"), choices.random() / 100)),
        lambda: processor.run(choices.random() / 200),
        lambda: cancel(processor, choices.choice(jobs)) if jobs else None,
    ]
    for _ in range(60):
        choices.choice(actions)()
        check(processor.queue, jobs, bounds)
    for turn in count():
        if all(job.stage is Stage.OVER for job in jobs):
            break
        assert turn < 100, [job.stage for job in jobs]
        processor.run(0.1)
    assert (len(processor.queue), processor.queue.is_contended, processor.running) == (0, False, [])


def cancel(processor: Processor, job: Job) -> None:
    if processor.queue.cancel(job):
        processor.running += processor.queue.end(job, 0.0, processor.now)


def check(queue: FairQueue, jobs: list[Job], bounds: Bounds) -> None:
    """Check the bounds. Check that no turn is free while a job that may have it waits."""
    stages = [job.stage for job in jobs]
    in_progress = [job for job in jobs if job.stage in (Stage.RUNNING, Stage.PAUSED)]
    assert stages.count(Stage.FIRST) <= bounds.first_turns
    assert stages.count(Stage.RUNNING) <= bounds.turns
    assert len(in_progress) <= bounds.of_all
    for client in "ab":
        assert sum(job.client == client for job in in_progress) <= bounds.of_client
    assert not (Stage.PAUSED in stages and stages.count(Stage.RUNNING) < bounds.turns)
    assert len(queue) == sum(stage is not Stage.OVER for stage in stages)


def test_work_outside_the_queue_is_refused_while_calls_wait() -> None:
    queue = FairQueue(Bounds(1, 1, 1, 2, 3, 4, 6))
    assert queue.begin_aside(2)
    assert queue.begin_aside(2)
    assert not queue.begin_aside(2)
    queue.end_aside(0.0)
    first, second = Job("a", "1"), Job("b", "1")
    assert queue.add(first, 0.0) == [first]
    queue.end_aside(0.0)
    assert queue.add(second, 0.0) == []
    assert not queue.begin_aside(9)
    # The only turn of each kind is free, so each job gets a turn of the kind that it needs.
    assert queue.give_way(first, 0.001, 0.001) == [second, first]
    assert queue.begin_aside(9)
    queue.give_way(second, 0.001, 0.002)
    assert queue.end(first, 0.001, 0.003) == []
    assert queue.end_aside(0.003) == [second]
