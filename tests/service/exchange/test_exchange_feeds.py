"""Calls with many responses to one request, tested with simulated events, and watches of a server's health."""

from contextlib import suppress
from typing import Any

import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from hypothesis import given
from hypothesis import strategies as st

from chatiere.service.base.errors import OK as ENDED
from chatiere.service.base.errors import Refusal, StatusError, slot_lost
from chatiere.service.exchange.feeds import FeedExchange
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import FeedHandler, FeedMethod
from chatiere.service.exchange.turns import SHARE
from chatiere.service.guards.memory import Holding, MemoryBudget

from .played import BROKEN, CANCELLED, FULL, LATE, OK, PATH, STOPPING, Played, PlayedLoop, PlayedWire

# The events, each with the status with which it may end a call.
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
    """A simulated call."""

    def __init__(
        self,
        timeout: float | None = None,
        handle: FeedHandler | None = None,
        loop: PlayedLoop | None = None,
        peer: str = PlayedWire.peer,
    ) -> None:
        self.played = Played(timeout=timeout, loop=loop)
        self.wire, self.source = self.played.wire, self.played.feed
        self.wire.peer = peer
        served = FeedMethod(PATH, self.played.method, handle or self.source.begin)
        self.exchange = FeedExchange(self.played.door, served, self.wire)
        self.exchange.begin()
        self.sent: list[bytes] = []

    def happen(self, *events: str) -> None:
        """Perform events, one after another."""
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
        """Let the client leave if the call is not over. Check that it holds no resources, and return its status."""
        if not self.exchange.is_over:
            self.happen("left")
        self.played.settle()
        assert self.wire.status is not None
        self.played.check_nothing_is_left(self.wire.status.code)
        # The source of the responses is notified exactly once.
        assert self.source.forgotten == (0 if self.source.feed is None else 1)
        assert self.wire.sent == self.sent[: len(self.wire.sent)]
        return self.wire.status.code


@given(events=st.lists(st.sampled_from(list(EVENTS)), max_size=16), timeout=st.sampled_from([None, 5.0]))
def test_a_feed_ends_once_with_the_status_of_an_event(events: list[str], timeout: float | None) -> None:
    fed = Fed(timeout)
    fed.happen(*events)
    was_over = fed.exchange.is_over
    code = fed.settle()
    assert code in {EVENTS[event] for event in events} or (code == CANCELLED and not was_over)


def test_responses_are_sent_immediately() -> None:
    fed = Fed()
    fed.happen("request")
    assert (fed.wire.sent, fed.wire.status) == ([], None)
    fed.happen("send", "send", "taken", "send", "over")
    assert len(fed.wire.sent) == 3
    assert fed.played.guards.budget.held > 0
    assert fed.settle() == OK


def test_clients_take_turns_when_many_responses_wait() -> None:
    """Other work of the loop also gets its turn, and the responses of each feed are in order."""
    loop, done = PlayedLoop(), list[str]()
    feds = [Fed(loop=loop, peer=f"ipv4:192.0.2.{number // 5}:1") for number in range(6)]
    for number, fed in enumerate(feds):
        fed.happen("request")

        def send(pieces: list[bytes], language: str, number: int = number, fed: Fed = fed) -> None:
            loop.now += SHARE
            done.append(f"{number} {pieces[0].decode()}")
            PlayedWire.send(fed.wire, pieces, language)

        fed.wire.send = send  # type: ignore[method-assign]
    for fed in feds:
        fed._happen("send")
    loop.post(lambda: done.append("other work"))
    loop.turn()
    assert done == ["0 0", "other work", "1 0", "5 0", "2 0", "3 0", "4 0"]
    # All responses that wait for a turn are sent in that turn.
    for _ in range(3):
        feds[2]._happen("send")
    loop.turn()
    assert done[7:] == ["2 1", "2 2", "2 3"]
    assert {fed.settle() for fed in feds} == {CANCELLED}


def test_a_feed_with_very_many_responses_to_send_is_cut() -> None:
    fed = Fed()
    fed.happen("request")
    for _ in range(1001):
        fed._happen("send")
    fed.played.look()
    assert fed.settle() == FULL


def test_a_feed_without_a_deadline_does_not_end() -> None:
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


def calls_that_fill(budget: MemoryBudget) -> list[Holding]:
    """Return small calls of other clients that together fill the part of the budget for small calls."""
    calls: list[Holding] = []
    for size in (1 << power for power in reversed(range(21))):
        with suppress(Refusal):
            while True:
                call = Holding(budget, f"another {len(calls)}")
                call.hold(size)
                calls.append(call)
    return calls


def test_unread_responses_end_a_feed_when_they_take_too_much_memory() -> None:
    fed = Fed()
    budget = fed.played.guards.budget
    fed.happen("request", "send")
    others = calls_that_fill(budget)
    fed.happen("send")
    assert len(fed.wire.sent) == 1
    assert fed.wire.was_reset
    for other in others:
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


def test_the_client_of_an_aborted_feed_receives_what_can_be_sent_immediately() -> None:
    fed = Fed()
    fed.happen("request", "send")
    assert fed.source.feed is not None
    fed.source.feed.cut(slot_lost("calls", 1))
    fed.played.loop.turn()
    fed.wire.take()
    fed.played.look()
    assert not fed.wire.was_reset
    assert fed.settle() == FULL


def test_an_aborted_feed_does_not_wait_for_its_client() -> None:
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


def test_a_watch_reports_each_change_once() -> None:
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


def test_a_watch_that_begins_when_the_server_stops_reports_the_status_and_ends() -> None:
    health = Health([])
    health.stop()
    fed = watching(health)
    fed.played.look()
    assert [status_in(each) for each in fed.wire.sent] == [HealthCheckResponse.NOT_SERVING]
    assert fed.wire.status == ENDED


def test_a_check_of_an_unknown_service_fails() -> None:
    health = Health(["a"])
    assert status_in(health.check(HealthCheckRequest(service="a").SerializeToString())) == HealthCheckResponse.SERVING
    with pytest.raises(StatusError, match="unknown service"):
        health.check(HealthCheckRequest(service="b").SerializeToString())
