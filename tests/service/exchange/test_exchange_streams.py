"""Streams, tested with simulated events: in any order of events, responses are in order, and a stream ends once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal
from chatiere.service.exchange.streams import StreamExchange
from chatiere.service.guards.chain import Call
from chatiere.v1.batch_service_pb2 import PlayRequest

from .played import BROKEN, CANCELLED, FULL, INTERNAL, LATE, OK, STOPPING, Played

STEP = bytes([PlayRequest.STEP_FIELD_NUMBER << 3 | 2])
# The events, each with the status with which it may end a stream.
EVENTS = {
    "ask": None,
    "part": None,
    "whole": None,
    "fault": BROKEN,
    "end": OK,
    "left": CANCELLED,
    "late": LATE,
    "slot": FULL,
    "newcomer": FULL,
    "patience": LATE,
    "drain": STOPPING,
    "begins": None,
    "finishes": None,
    "taken": None,
}


class Stream:
    """A simulated stream."""

    def __init__(self, *, is_own: bool = False, timeout: float | None = None, handle: Any = None) -> None:
        self.played = Played(is_own=is_own, timeout=timeout)
        self.wire = self.played.wire
        self.wire.is_alone = True
        served = self.played.stream() if handle is None else self.played.stream(handle)
        self.exchange = StreamExchange(self.played.door, served, self.wire)
        self.exchange.begin()
        self.asked: list[bytes] = []

    def happen(self, *events: str) -> None:
        """Perform events, one after another."""
        for event in events:
            self._happen(event)
            self.played.look()

    def _happen(self, event: str) -> None:
        played, wire = self.played, self.wire
        comes = not (wire.has_ended or wire.fault or wire.is_closed)
        if event == "ask" and comes:
            self.asked.append(STEP + b"%d" % len(self.asked))
            wire.requests.append(self.asked[-1])
        elif event in ("part", "whole") and comes:
            wire.has_part = event == "part"
        elif event == "fault" and comes:
            wire.fault = True
        elif event == "end" and comes:
            wire.has_ended, wire.has_part = True, False
        elif event == "left":
            wire.close()
        elif event == "late":
            played.loop.pass_time(10)
        elif event == "slot":
            played.door.streams.end(self.exchange.origin, [self.exchange])
        elif event == "newcomer":
            self._come_anew()
        elif event == "patience":
            assert played.limit.idle is not None
            played.limit.idle.end_late()
        elif event == "drain":
            played.door.drain()
        elif event == "begins":
            played.threads.begin()
        elif event == "finishes":
            played.threads.finish()
        elif event == "taken":
            wire.take()

    def _come_anew(self) -> None:
        # Another stream takes the only slot, and then ends immediately.
        limits, limit = self.played.guards._limits, self.played.limit
        try:
            limits.begin(limit, "another")
        except Refusal:
            return
        limits.end(limit, "another")

    def settle(self) -> int:
        """Let the client leave if the stream is not over. Check that it holds no resources, and return its status."""
        while not self.exchange.is_over and (self.played.threads.waits or self.wire.is_sending):
            self.happen("finishes", "taken")
        if not self.exchange.is_over:
            self.happen("left")
        self.played.settle()
        assert self.wire.status is not None
        self.played.check_nothing_is_left(self.wire.status.code)
        # Responses are in order, without duplicates.
        assert self.wire.sent == [b"re: " + request for request in self.asked[: len(self.wire.sent)]]
        return self.wire.status.code


@given(
    events=st.lists(st.sampled_from(list(EVENTS)), max_size=20),
    is_own=st.booleans(),
    timeout=st.sampled_from([None, 5.0]),
)
def test_a_stream_ends_once_with_the_status_of_an_event(events: list[str], is_own: bool, timeout: float | None) -> None:
    stream = Stream(is_own=is_own, timeout=timeout)
    stream.happen(*events)
    was_over = stream.exchange.is_over
    code = stream.settle()
    reasons = {EVENTS[event] for event in events if event != "late" or timeout is not None}
    assert code in reasons or (code == CANCELLED and not was_over)
    if code == OK:
        assert len(stream.wire.sent) == len(stream.asked)


def test_requests_are_answered_one_after_another() -> None:
    stream = Stream()
    stream.happen("ask", "ask", "end")
    assert stream.wire.waiting == 1
    # The next request is handled when the client has read the response.
    stream.happen("finishes")
    assert (len(stream.wire.sent), stream.wire.waiting) == (1, 1)
    stream.happen("taken", "finishes")
    assert (len(stream.wire.sent), stream.wire.status) == (2, None)
    stream.happen("taken")
    assert stream.settle() == OK


def test_requests_before_a_fault_are_answered() -> None:
    stream = Stream()
    stream.happen("ask", "fault", "finishes", "taken")
    assert len(stream.wire.sent) == 1
    assert stream.settle() == BROKEN


@pytest.mark.parametrize("event", ["late", "slot", "left"])
def test_a_working_stream_ends_once_its_thread_has_stopped(event: str) -> None:
    cancellations = []

    def handle(request: bytes, cancellation: Cancellation, hold: Any) -> list[bytes]:
        cancellations.append(cancellation.cancelled)
        return [b"too late"]

    stream = Stream(timeout=5.0, handle=handle)
    stream.happen("ask", "begins", event)
    assert stream.wire.status is None
    stream.happen("finishes")
    assert (cancellations, stream.wire.sent) == ([True], [])
    assert stream.settle() == EVENTS[event]


@pytest.mark.parametrize("event", ["late", "slot", "newcomer", "patience", "left"])
def test_work_that_has_not_begun_is_withdrawn(event: str) -> None:
    handled = []

    def handle(request: bytes, cancellation: Cancellation, hold: Any) -> list[bytes]:
        handled.append(request)
        return [b"re: ", request]

    stream = Stream(timeout=5.0, handle=handle)
    stream.happen("ask", event, "finishes")
    # A working stream does not give way to others, and its time to wait for the client does not run out.
    if event in ("newcomer", "patience"):
        stream.happen("taken", "end")
        assert (len(handled), stream.settle()) == (1, OK)
    else:
        assert (len(handled), stream.settle()) == (0, EVENTS[event])


@pytest.mark.parametrize("event", ["slot", "newcomer", "patience"])
@pytest.mark.parametrize("before", [(), ("ask", "finishes", "taken")])
def test_a_stream_that_waits_for_a_request_gives_way_with_a_status(event: str, before: tuple[str, ...]) -> None:
    stream = Stream()
    stream.happen(*before, event)
    assert stream.wire.status is not None
    assert not stream.wire.was_reset
    assert stream.settle() == EVENTS[event]


@pytest.mark.parametrize("has_worked", [False, True])
def test_a_stream_without_requests_gives_way_before_streams_that_have_worked(has_worked: bool) -> None:
    stream = Stream()
    stream.happen(*(("ask", "finishes", "taken") if has_worked else ()))
    idle = stream.played.limit.idle
    assert idle is not None

    def end_other(refusal: Refusal) -> None:
        pass

    # Another origin has two more streams. If all streams have worked, it is the first to lose a stream.
    for other in "one", "another":
        idle.add("elsewhere", other, "elsewhere", end_other, has_worked=True)
    gone = idle.give_up_one()
    assert gone is not None
    assert (gone.client == "elsewhere") is has_worked


@pytest.mark.parametrize("event", ["slot", "newcomer", "patience"])
def test_a_stream_with_an_unread_response_is_reset(event: str) -> None:
    stream = Stream()
    stream.happen("ask", "finishes", event)
    assert stream.wire.was_reset
    assert stream.settle() == EVENTS[event]


@pytest.mark.parametrize("event", ["newcomer", "patience", "slot"])
def test_a_stream_that_has_given_way_handles_no_further_request(event: str) -> None:
    stream = Stream()
    stream._happen(event)
    # The request arrives before the loop's next turn.
    stream._happen("ask")
    stream.wire.tell()
    was_taken = stream.played.threads.waits
    stream.played.loop.turn()
    # A stream that gave way to a newcomer has no slot and begins no work. In the other cases, work may begin and is
    # then stopped.
    assert was_taken == (event != "newcomer")
    stream.happen("finishes")
    assert stream.wire.sent == []
    assert stream.settle() == EVENTS[event]


@pytest.mark.parametrize("event", ["newcomer", "patience", "slot"])
def test_a_client_may_leave_while_its_stream_gives_way(event: str) -> None:
    stream = Stream()
    stream._happen(event)
    stream._happen("left")
    stream.wire.tell()
    stream.played.loop.turn()
    assert stream.settle() == CANCELLED


def test_memory_is_held_until_the_client_has_a_response() -> None:
    stream = Stream()
    budget = stream.played.guards.budget
    stream.happen("ask")
    assert budget.held == len(stream.asked[0])
    stream.happen("finishes")
    assert budget.held == 100 + len(stream.wire.sent[0])
    stream.happen("taken")
    assert budget.held == 0
    stream.happen("end")
    assert stream.settle() == OK


def test_a_stopping_server_answers_the_current_request() -> None:
    stream = Stream()
    stream.happen("ask", "drain", "part", "finishes", "taken")
    # Part of another request has arrived.
    assert stream.wire.status is None
    stream.happen("ask", "whole", "finishes", "taken")
    assert len(stream.wire.sent) == 2
    assert stream.settle() == STOPPING


def test_a_stream_that_begins_while_the_server_stops_ends() -> None:
    played = Played()
    played.door.drain()
    StreamExchange(played.door, played.stream(), played.wire).begin()
    played.check_nothing_is_left(STOPPING)


def test_short_steps_are_answered_immediately_unless_other_calls_wait_on_the_connection() -> None:
    stream = Stream(is_own=True)
    stream.happen("ask", "finishes", "taken")
    stream.happen("ask")
    assert len(stream.wire.sent) == 2
    stream.wire.is_alone = False
    stream.happen("taken", "ask")
    assert len(stream.wire.sent) == 2
    stream.happen("finishes")
    assert len(stream.wire.sent) == 3
    stream.happen("taken", "end")
    assert stream.settle() == OK


@pytest.mark.parametrize("is_own", [False, True])
def test_a_request_that_fails_ends_the_stream(is_own: bool) -> None:
    count = 0

    def handle(request: bytes, *_: object) -> list[bytes]:
        nonlocal count
        count += 1
        if count > 1:
            raise RuntimeError("broken")
        return [b"re: ", request]

    stream = Stream(is_own=is_own, handle=handle)
    stream.happen("ask", "finishes", "taken", "ask", "finishes")
    assert stream.settle() == INTERNAL


def test_a_stream_that_is_not_admitted_ends_at_its_headers() -> None:
    played = Played()
    played.guards.begin(other := Call(played.method, "ipv4:192.0.2.2:1", ()))
    played.guards.admit(other)
    StreamExchange(played.door, played.stream(), played.wire).begin()
    assert played.wire.status is not None
    assert played.wire.status.code == FULL
    assert len(played.door.streams) == 0
