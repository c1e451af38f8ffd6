"""Calls with many responses for one request, against the exchange alone, and the health service's watches."""

from typing import Any

import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from hypothesis import given
from hypothesis import strategies as st

from chatiere.service.base.errors import OK as ENDED
from chatiere.service.base.errors import StatusError, slot_lost
from chatiere.service.exchange.feeds import FeedExchange
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import FeedHandler, FeedMethod
from chatiere.service.guards.memory import Holding

from .played import BROKEN, CANCELLED, FULL, LATE, OK, PATH, STOPPING, Played

# What may happen, and the status that a call may have because of it.
EVENTS = {
    "request": None,
    "fault": BROKEN,
    "left": CANCELLED,
    "late": LATE,
    "slot": FULL,
    "send": None,
    "over": OK,
    "taken": None,
    "drain": STOPPING,
}


class Fed:
    """A call that is played."""

    def __init__(self, timeout: float | None = None, handle: FeedHandler | None = None) -> None:
        self.played = Played(timeout=timeout)
        self.wire, self.source = self.played.wire, self.played.feed
        served = FeedMethod(PATH, self.played.method, handle or self.source.begin)
        self.exchange = FeedExchange(self.played.door, served, self.wire)
        self.exchange.begin()
        self.sent: list[bytes] = []

    def happen(self, *events: str) -> None:
        """Let things happen, one after another."""
        for event in events:
            self._happen(event)
            self.played.look()

    def _happen(self, event: str) -> None:
        wire, feed = self.wire, self.source.feed
        comes = not (wire.has_ended or wire.fault or wire.is_closed)
        if event == "request" and comes:
            wire.requests.append(b"meow")
            wire.has_ended = True
        elif event == "fault" and comes:
            wire.fault = True
        elif event == "left":
            wire.close()
        elif event == "late":
            self.played.loop.pass_time(10_000)
        elif event == "slot":
            self.played.door.half_open.end(self.exchange.origin, [self.exchange])
        elif event == "send" and feed is not None:
            self.sent.append(b"%d" % len(self.sent))
            feed.send(self.sent[-1])
        elif event == "over" and feed is not None:
            feed.end()
        elif event == "taken":
            wire.take()
        elif event == "drain":
            self.played.door.drain()

    def settle(self) -> int:
        """Let the client leave if the call is not over; check that nothing is left, and return its status."""
        if not self.exchange.is_over:
            self.happen("left")
        self.played.settle()
        assert self.wire.status is not None
        self.played.check_nothing_is_left(self.wire.status.code)
        # Its source is told, once.
        assert self.source.forgotten == (0 if self.source.feed is None else 1)
        assert self.wire.sent == self.sent[: len(self.wire.sent)]
        return self.wire.status.code


@given(events=st.lists(st.sampled_from(list(EVENTS)), max_size=16), timeout=st.sampled_from([None, 5.0]))
def test_whatever_happens_a_feed_ends_once_for_a_reason(events: list[str], timeout: float | None) -> None:
    fed = Fed(timeout)
    fed.happen(*events)
    was_over = fed.exchange.is_over
    code = fed.settle()
    assert code in {EVENTS[event] for event in events} or (code == CANCELLED and not was_over)


def test_responses_are_sent_as_they_come() -> None:
    fed = Fed()
    fed.happen("request")
    assert (fed.wire.sent, fed.wire.status) == ([], None)
    fed.happen("send", "send", "taken", "send", "over")
    assert len(fed.wire.sent) == 3
    assert fed.played.guards.budget.held > 0
    assert fed.settle() == OK


def test_a_feed_without_a_deadline_lasts() -> None:
    fed = Fed()
    fed.happen("request", "late", "send")
    assert fed.wire.status is None
    assert fed.settle() == CANCELLED


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_deadline_passes(is_taken: bool) -> None:
    fed = Fed(timeout=5.0)
    fed.happen("request", "send", *(["taken"] if is_taken else []), "late")
    assert fed.wire.was_reset != is_taken
    assert fed.settle() == LATE


def test_responses_that_nobody_takes_end_a_feed_when_they_take_too_much_memory() -> None:
    fed = Fed()
    budget = fed.played.guards.budget
    other = Holding(budget, "another")
    fed.happen("request", "send")
    other.hold(budget._most * 5 // 4)
    fed.happen("send")
    assert len(fed.wire.sent) == 1
    assert fed.wire.was_reset
    other.release()
    assert fed.settle() == FULL


def test_a_feed_that_begins_while_the_server_stops_ends() -> None:
    fed = Fed()
    fed.happen("drain", "request")
    assert fed.settle() == STOPPING


def test_a_feed_gives_way_to_another_when_its_limit_is_reached() -> None:
    fed = Fed()
    fed.happen("request", "send")
    fed.played.guards._limits.begin(fed.played.limit, "another")
    fed.played.look()
    assert fed.wire.was_reset
    fed.played.guards._limits.end(fed.played.limit, "another")
    assert fed.settle() == FULL


def test_a_feed_that_is_cut_does_not_wait_for_its_client() -> None:
    fed = Fed()
    fed.happen("request", "send")
    assert fed.source.feed is not None
    for _ in range(2):
        fed.source.feed.cut(slot_lost("calls", 1))
    fed.played.look()
    assert fed.wire.was_reset
    assert fed.settle() == FULL


# Health


def status_in(response: bytes) -> Any:
    return HealthCheckResponse.FromString(response).status


def watching(health: Health, service: str = "") -> Fed:
    fed = Fed(handle=health.watch)
    fed.wire.requests.append(HealthCheckRequest(service=service).SerializeToString())
    fed.wire.has_ended = True
    fed.played.look()
    return fed


def test_a_watch_tells_each_change_once() -> None:
    health = Health(["a", "b"])
    watches = {service: watching(health, service) for service in ("a", "b", "", "none")}
    health.set("a", HealthCheckResponse.NOT_SERVING)
    health.set("a", HealthCheckResponse.NOT_SERVING)
    health.set("none", HealthCheckResponse.SERVING)
    health.set("a", HealthCheckResponse.SERVING)
    health.stop()
    health.set("a", HealthCheckResponse.SERVING)
    statuses = {}
    for service, fed in watches.items():
        fed.played.look()
        statuses[service] = [status_in(each) for each in fed.wire.sent]
    up, down, unknown = (
        HealthCheckResponse.SERVING,
        HealthCheckResponse.NOT_SERVING,
        HealthCheckResponse.SERVICE_UNKNOWN,
    )
    assert statuses == {"a": [up, down, up, down], "b": [up, down], "": [up, down], "none": [unknown, up, down]}
    assert {fed.wire.status for fed in watches.values()} == {ENDED}


def test_a_watch_that_begins_when_the_server_stops_ends_with_its_news() -> None:
    health = Health([])
    health.stop()
    fed = watching(health)
    fed.played.look()
    assert [status_in(each) for each in fed.wire.sent] == [HealthCheckResponse.NOT_SERVING]
    assert fed.wire.status == ENDED


def test_a_check_of_no_service_finds_none() -> None:
    health = Health(["a"])
    assert status_in(health.check(HealthCheckRequest(service="a").SerializeToString())) == HealthCheckResponse.SERVING
    with pytest.raises(StatusError, match="unknown service"):
        health.check(HealthCheckRequest(service="b").SerializeToString())
