"""Unary calls, tested with simulated events: every order of what request, threads, client, clock and slots do."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any, Literal
from unittest import mock

import pytest

from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.exchange.exchange import BatchExchange, Exchange, SingleExchange, UnknownExchange
from chatiere.service.exchange.methods import LARGE, UnknownMethod
from chatiere.service.exchange.wire import Form
from chatiere.service.guards.memory import Holding

from .played import ALL_THE_TIME, BROKEN, CANCELLED, FULL, INTERNAL, LATE, MALFORMED, OK, UNIMPLEMENTED, Played

Kind = Literal["single", "batch"]
EVENTS = ("request", "two", "none", "fault", "left", "late", "slot", "drain", "begins", "finishes", "taken")


def begin(played: Played, kind: Kind, handle: Any = None, form: Form | None = None) -> Exchange:
    """Begin a call. `handle` is the method's handler; None means that the handler responds."""
    exchange: Exchange
    if kind == "single":
        single = played.single() if handle is None else played.single(handle)
        exchange = SingleExchange(played.door, single, played.wire, form)
    else:
        batch = played.batch() if handle is None else played.batch(handle)
        exchange = BatchExchange(played.door, batch, played.wire, form)
    exchange.begin()
    return exchange


def happen(played: Played, exchange: Exchange, event: str) -> None:
    """Perform an event. After the end of its request, the client sends no more data."""
    wire = played.wire
    comes = not (wire.has_ended or wire.fault or wire.is_closed)
    if event in ("request", "two", "none") and comes:
        wire.requests.extend([b"meow"] * {"request": 1, "two": 2, "none": 0}[event])
        wire.has_ended = event != "two"
    elif event == "fault" and comes:
        wire.fault = True
    elif event == "left":
        wire.close()
    elif event == "late":
        played.loop.pass_time(ALL_THE_TIME)
    elif event == "slot":
        played.door.half_open.end(exchange.origin, [exchange])
    elif event == "drain":
        played.door.drain()
    elif event == "begins":
        played.threads.begin()
    elif event == "finishes":
        played.threads.finish()
    elif event == "taken":
        wire.take()
    played.look()


# By event, the status of a call whose request has not arrived.
ENDS_HALF_OPEN: dict[str, int] = {
    "two": UNIMPLEMENTED,
    "none": UNIMPLEMENTED,
    "fault": BROKEN,
    "left": CANCELLED,
    "late": LATE,
    "slot": FULL,
}


def expected(kind: Kind, events: Sequence[str]) -> int:
    """Return the expected status of a call after these events, derived from the documentation."""
    state = "half-open"
    refused_for: int = OK
    for event in events:
        if state == "half-open":
            if event in ENDS_HALF_OPEN:
                return ENDS_HALF_OPEN[event]
            if event == "request":
                if kind == "single":
                    return refused_for
                state = "waits for a thread"
        elif event in ("left", "late"):
            # A client that has left cannot be late.
            refused_for = CANCELLED if event == "left" or refused_for == CANCELLED else LATE
            if state == "waits for a thread":
                return refused_for
        elif event == "begins":
            state = "at work"
        elif event == "finishes":
            return refused_for
    return ENDS_HALF_OPEN["left"] if state == "half-open" else refused_for


def orders(longest: int) -> list[tuple[str, ...]]:
    return [order for length in range(longest + 1) for order in permutations(EVENTS, length)]


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_every_order_of_events_ends_a_call_once(kind: Kind) -> None:
    for order in orders(4):
        played = Played()
        exchange = begin(played, kind)
        for event in order:
            happen(played, exchange, event)
        if len(played.door.half_open):
            happen(played, exchange, "left")
        played.settle()
        code = expected(kind, order)
        try:
            played.check_nothing_is_left(code)
            assert played.wire.sent == ([b"re: meow"] if code == OK else [])
        except AssertionError as error:
            raise AssertionError(f"{kind}: {order}") from error


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_a_call_that_loses_its_slot_as_its_request_arrives_is_served(kind: Kind) -> None:
    played = Played()
    exchange = begin(played, kind)
    played.door.half_open.end(exchange.origin, [exchange])
    # The request arrives before the loop's next turn.
    played.wire.requests.append(b"meow")
    played.wire.has_ended = True
    played.wire.tell()
    played.loop.turn()
    played.settle()
    played.check_nothing_is_left(OK)


# Time


@pytest.mark.parametrize(
    ("timeout", "seconds", "has_come", "reason", "message"),
    [
        # A half-open call lasts until the client's deadline, or for `request_timeout` if this is shorter.
        (None, 9, False, "", ""),
        (None, 10, False, "REQUEST_TIMEOUT", "request timeout: the request did not arrive within 10 s"),
        (20.0, 10, False, "REQUEST_TIMEOUT", "request timeout: the request did not arrive within 10 s"),
        (3.0, 3, False, "TIME_LIMIT", "deadline exceeded"),
        # A call at work lasts until the client's deadline or, without one, for `default_deadline`. It lasts at most for
        # `max_deadline`.
        (None, 59, True, "", ""),
        (
            None,
            60,
            True,
            "TIME_LIMIT",
            "deadline exceeded: the server allows 60 s; for up to 120 s, set a deadline (connect-timeout-ms or gRPC's)",
        ),
        (3.0, 3, True, "TIME_LIMIT", "deadline exceeded"),
        (100.0, 99, True, "", ""),
        (100.0, 100, True, "TIME_LIMIT", "deadline exceeded"),
        (120.0, 120, True, "TIME_LIMIT", "deadline exceeded"),
        (1000.0, 120, True, "TIME_LIMIT", "deadline exceeded: the server allows 120 s"),
    ],
)
def test_a_deadline_is_the_client_s_or_the_server_s(
    timeout: float | None, seconds: float, has_come: bool, reason: str, message: str
) -> None:
    played = Played(timeout=timeout, request_timeout=10.0, default_deadline=60.0, max_deadline=120.0)
    exchange = begin(played, "batch")
    if has_come:
        happen(played, exchange, "request")
    played.loop.pass_time(seconds)
    played.look()
    if not reason:
        assert played.wire.status is None
        return
    assert played.wire.status is not None
    assert (played.wire.status.reason, played.wire.status.message) == (reason, message)
    played.settle()
    played.check_nothing_is_left(LATE)


def test_a_call_without_time_left_is_not_handled() -> None:
    played = Played(timeout=0.0)
    played.wire.requests.append(b"meow")
    played.wire.has_ended = True
    begin(played, "single")
    played.settle()
    played.check_nothing_is_left(LATE)


@pytest.mark.parametrize("event", ["late", "left"])
def test_work_of_a_call_that_has_ended_is_cancelled(event: str) -> None:
    cancellations = []

    def handle(request: bytes, cancellation: Cancellation, hold: object) -> list[bytes]:
        cancellations.append(cancellation.cancelled)
        return [b"too late"]

    played = Played()
    exchange = begin(played, "batch", handle)
    for each in ("request", "begins", event, "finishes"):
        happen(played, exchange, each)
    assert cancellations == [True]
    assert played.wire.sent == []


# Checks before a method


def test_a_call_that_is_not_admitted_does_not_reach_its_method() -> None:
    played = Played()
    played.limit.calls = played.limit.most = 1
    exchange = begin(played, "single", lambda _: pytest.fail("handled"))
    happen(played, exchange, "request")
    assert played.wire.status is not None
    assert (played.wire.status.code, played.wire.status.reason) == (FULL, "LIMIT_EXCEEDED")
    assert played.limit.calls == 1


def test_a_call_with_an_invalid_language_is_refused_at_its_headers() -> None:
    played = Played()
    played.wire.metadata = (("accept-language", "?"),)
    begin(played, "batch")
    assert played.wire.status is not None
    assert played.wire.status.reason == "INVALID_LANGUAGE"
    played.check_nothing_is_left(MALFORMED)


def test_an_unknown_method_is_refused_at_its_headers() -> None:
    played = Played()
    UnknownExchange(played.door, UnknownMethod(played.method), played.wire).begin()
    played.check_nothing_is_left(UNIMPLEMENTED)


# Steps after a method


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_a_failing_method_is_reported_as_the_service_s_failure(kind: Kind) -> None:
    def fail(*_: object) -> bytes:
        raise RuntimeError("broken")

    played = Played()
    exchange = begin(played, kind, fail)
    happen(played, exchange, "request")
    played.settle()
    assert played.wire.status is not None
    assert played.wire.status.reason == "INTERNAL"
    played.check_nothing_is_left(INTERNAL)


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_memory_is_held_until_the_client_has_the_response(kind: Kind) -> None:
    played = Played()
    exchange = begin(played, kind)
    happen(played, exchange, "request")
    if kind == "batch":
        # While the request waits for a thread, its memory is held.
        assert played.guards.budget.held == len(b"meow")
        happen(played, exchange, "finishes")
    assert played.guards.budget.held == 100 + len(b"re: meow")
    happen(played, exchange, "taken")
    played.check_nothing_is_left(OK)


def test_memory_is_held_as_long_as_the_port_uses_it() -> None:
    played = Played()
    exchange = begin(played, "single")
    happen(played, exchange, "request")
    # The client has left, but its response is still being written.
    played.wire.is_closed = True
    played.look()
    assert played.guards.budget.held > 0
    played.wire.close()
    played.look()
    played.check_nothing_is_left(OK)


def test_a_refused_call_holds_no_memory_while_its_client_is_slow() -> None:
    played = Played()
    played.wire.is_slow = True
    exchange = begin(played, "batch")
    happen(played, exchange, "request")
    happen(played, exchange, "late")
    assert played.wire.status is not None
    assert not played.wire.is_delivered
    assert played.guards.budget.held == 0
    happen(played, exchange, "taken")
    played.check_nothing_is_left(LATE)


def test_memory_of_a_request_without_a_thread_is_held_until_its_refusal_is_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played()
    played.wire.is_slow = True
    exchange = begin(played, "batch")
    # An executor that was shut down behaves in this way.
    monkeypatch.setattr(played.threads, "submit", mock.Mock(side_effect=RuntimeError("no new work")))
    happen(played, exchange, "request")
    assert not played.wire.is_delivered
    assert played.guards.budget.held == len(b"meow")
    happen(played, exchange, "taken")
    played.check_nothing_is_left(INTERNAL)


def test_a_response_that_exceeds_the_memory_is_not_sent() -> None:
    played = Played(max_undelivered_bytes=1)
    # A call of any size is accepted unless other calls hold much memory.
    other = Holding(played.guards.budget, "another")
    other.hold(2**20)
    exchange = begin(played, "single")
    happen(played, exchange, "request")
    assert played.wire.sent == []
    other.release()
    played.check_nothing_is_left(FULL)


def test_large_requests_of_quick_methods_are_left_to_threads() -> None:
    played = Played()
    exchange = begin(played, "single")
    played.wire.requests.append(bytes(LARGE + 1))
    played.wire.has_ended = True
    played.look()
    assert played.wire.status is None
    happen(played, exchange, "finishes")
    assert played.wire.sent == [b"re: " + bytes(LARGE + 1)]
    happen(played, exchange, "taken")
    played.check_nothing_is_left(OK)


# Forms


class Upper:
    """Messages in upper case."""

    memory = 10

    def read(self, text: bytes) -> bytes:
        if not text.isupper():
            raise Refusal(ServiceReason.MALFORMED_REQUEST, "no capitals", metadata={})
        return text.lower()

    def write(self, data: bytes) -> bytes:
        return data.upper()


@pytest.mark.parametrize("kind", ["single", "batch"])
@pytest.mark.parametrize("size", [4, LARGE, LARGE + 1])
def test_messages_are_read_and_written_in_their_form(kind: Kind, size: int) -> None:
    played = Played()
    exchange = begin(played, kind, form=Upper())
    played.wire.requests.append(b"M" * size)
    played.wire.has_ended = True
    played.look()
    # Large messages are read and written in a thread, and use more memory in the meantime.
    in_loop = kind == "single" and size == 4
    assert (played.wire.status is not None) == in_loop
    if not in_loop:
        large_response = kind == "single" and size == LARGE
        assert played.guards.budget.held == (size + 4 if large_response else 10 * size)
    happen(played, exchange, "finishes")
    assert played.wire.sent == [b"RE: " + b"M" * size]
    happen(played, exchange, "taken")
    played.check_nothing_is_left(OK)


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_a_request_in_another_form_is_refused(kind: Kind) -> None:
    played = Played()
    exchange = begin(played, kind, form=Upper())
    happen(played, exchange, "request")
    played.settle()
    played.check_nothing_is_left(MALFORMED)
