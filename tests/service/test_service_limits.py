"""How much may be asked for: calls at a time, by all and by one client, calls a second, time."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2_grpc

from chatiere.service import limits
from chatiere.service.config import Settings
from chatiere.service.deadlines import Deadlines
from chatiere.service.errors import Refusal
from chatiere.service.limits import ClientLimits
from chatiere.service.servicer import GameServicer
from chatiere.service.tokens import new_token
from chatiere.v1 import game_service_pb2

from .process import wait_until
from .support import PATIENCE, Running, SlowCall, code_of, read_refusal, refusal, running

LIST_GAMES = game_service_pb2.ListGamesRequest()
GET_SCORE = game_service_pb2.GetScoreRequest()


# Calls at a time


def test_calls_above_the_limit_are_refused_and_the_others_answered(slow_call: SlowCall) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls=3)) as server:
        # One runs, two wait.
        slow = server.stub.ListGames.future(LIST_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        waiting = [server.stub.GetScore.future(GET_SCORE) for _ in range(2)]
        refused = wait_until(lambda: _refused(server), "a call is refused")
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")
        assert refused.metadata == {"limit": "calls at a time", "most": "3"}
        assert refused.retry_after == 1
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        assert health.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE).status
        slow_call.released.set()
        assert slow.result(PATIENCE).games
        assert [call.code() for call in waiting] == [grpc.StatusCode.INVALID_ARGUMENT] * 2
        wait_until(lambda: code_of(server.stub.ListGames, LIST_GAMES) is grpc.StatusCode.OK, "calls are taken again")


def _refused(server: Running) -> Any:
    # Until the server has read the calls before it, one more would wait, too.
    call = server.stub.GetScore.future(GET_SCORE, timeout=0.2)
    try:
        call.result()
    except grpc.FutureTimeoutError:
        return None
    except grpc.RpcError as error:
        refused = read_refusal(error)
        return refused if refused.reason == "LIMIT_EXCEEDED" else None


def test_calls_that_are_given_up_while_they_wait_count_no_more(slow_call: SlowCall) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls=2)) as server:
        slow = server.stub.ListGames.future(LIST_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        given_up = server.stub.GetScore.future(GET_SCORE)
        given_up.cancel()
        slow_call.released.set()
        assert slow.result(PATIENCE).games

        def two_are_taken() -> bool:
            both = [server.stub.ListGames.future(LIST_GAMES) for _ in range(2)]
            return [call.code() for call in both] == [grpc.StatusCode.OK] * 2

        # A call still counts for a moment after its answer has arrived.
        wait_until(two_are_taken, "two calls are taken at a time")


def test_streams_above_the_limit_are_refused() -> None:
    with running(Settings(address="127.0.0.1:0", max_streams=2)) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        watches = [health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE) for _ in range(2)]
        for watch in watches:
            next(watch)
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(server.channel)
        refused = refusal(lambda: list(reflection.ServerReflectionInfo(iter([]))))
        assert refused.metadata == {"limit": "streams at a time", "most": "2"}
        assert code_of(server.stub.ListGames, LIST_GAMES) is grpc.StatusCode.OK
        for watch in watches:
            watch.cancel()
        wait_until(
            lambda: code_of(lambda: list(reflection.ServerReflectionInfo(iter([])))) is grpc.StatusCode.OK,
            "streams are taken again",
        )


def test_many_watches_of_the_health_can_be_open() -> None:
    with running(Settings(address="127.0.0.1:0")) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        watches = [health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE) for _ in range(200)]
        assert all(next(watch).status == health_pb2.HealthCheckResponse.SERVING for watch in watches)


# One client


@pytest.fixture
def two_clients(tmp_path: Path) -> Iterator[tuple[Running, Any, Any]]:
    """A server that gives a client one call at a time, and the metadata of two clients."""
    (alice, line), (bob, other_line) = new_token("alice"), new_token("bob")
    (tmp_path / "tokens").write_text(f"{line}\n{other_line}\n")
    settings = Settings(address="127.0.0.1:0", max_calls_per_client=1, tokens=tmp_path / "tokens")
    with running(settings) as server:
        yield server, *((("authorization", f"Bearer {token}"),) for token in (alice, bob))


def test_a_client_has_its_own_limit(two_clients: tuple[Running, Any, Any], slow_call: SlowCall) -> None:
    server, alice, bob = two_clients
    slow = server.stub.ListGames.future(LIST_GAMES, metadata=alice)
    assert slow_call.entered.wait(PATIENCE)
    refused = refusal(server.stub.GetScore, GET_SCORE, metadata=alice)
    assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused.metadata == {"limit": "calls of one client at a time", "most": "1"}
    assert refused.retry_after == 0.1
    assert code_of(server.stub.GetScore, GET_SCORE, metadata=bob) is grpc.StatusCode.INVALID_ARGUMENT
    slow_call.released.set()
    assert slow.result(PATIENCE).games
    wait_until(
        lambda: code_of(server.stub.ListGames, LIST_GAMES, metadata=alice) is grpc.StatusCode.OK,
        "the limit is free",
    )


def test_without_tokens_a_client_is_its_address(slow_call: SlowCall) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls_per_client=1)) as server:
        slow = server.stub.ListGames.future(LIST_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as other:
            call = other.unary_unary("/chatiere.v1.GameService/GetScore")
            assert refusal(call, b"").reason == "LIMIT_EXCEEDED"
        slow_call.released.set()
        assert slow.result(PATIENCE).games


class Clock:
    """time.monotonic for the limits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(limits.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def called(limited: ClientLimits, client: str) -> float | None:
    """Make a call; when to try again if it is refused."""
    try:
        with limited.call_of(client):
            return None
    except Refusal as refused:
        return refused.retry_after


def test_calls_a_second(clock: Clock) -> None:
    limited = ClientLimits(0, 4)
    assert [called(limited, "alice") for _ in range(5)] == [None, None, None, None, pytest.approx(0.25)]
    assert called(limited, "bob") is None
    clock.now += 0.26
    assert called(limited, "alice") is None
    assert called(limited, "alice") == pytest.approx(0.24)
    # However long nothing came, no more than a second's calls come at once.
    clock.now += 1000
    assert [called(limited, "alice") for _ in range(5)] == [None, None, None, None, pytest.approx(0.25)]


def test_less_than_a_call_a_second(clock: Clock) -> None:
    limited = ClientLimits(0, 0.1)
    assert called(limited, "alice") is None
    clock.now += 9
    assert called(limited, "alice") == pytest.approx(1)
    clock.now += 1.001
    assert called(limited, "alice") is None


def test_a_first_call_is_answered_whatever_the_clock_and_the_rate_are(clock: Clock) -> None:
    choices = random.Random(7)
    for _ in range(1000):
        clock.now = choices.uniform(0, 1e6)
        assert called(ClientLimits(0, choices.choice((0.001, 1, 7, choices.uniform(0.01, 100)))), "alice") is None


def test_what_is_tried_again_when_told_to_is_answered(clock: Clock) -> None:
    limited = ClientLimits(0, 3)
    for _ in range(100):
        wait = called(limited, "alice")
        if wait is not None:
            clock.now += wait + 1e-9
            assert called(limited, "alice") is None


def test_clients_that_have_stopped_calling_are_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MANY", 10)
    limited = ClientLimits(1, 5)
    for number in range(1000):
        clock.now += 0.1
        assert called(limited, f"address {number}") is None
    assert len(limited._taken) <= 11
    assert not limited._running


# Time


def test_a_deadline_of_the_client_s_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    remaining: list[float] = []

    def tell(self: GameServicer, request: bytes, context: grpc.ServicerContext) -> bytes:
        remaining.append(context.time_remaining())
        return game_service_pb2.ListGamesResponse().SerializeToString()

    monkeypatch.setattr(GameServicer, "ListGames", tell)
    with running(Settings(address="127.0.0.1:0", default_deadline=0.001, max_deadline=1000)) as server:
        server.stub.ListGames(LIST_GAMES, timeout=500)
    assert 300 < remaining[0] < 600


class FakeContext:
    """A call that goes on."""

    def add_callback(self, callback: object) -> bool:
        return True

    def is_active(self) -> bool:
        return True


def test_the_calls_that_are_over_time_are_cut_and_no_others() -> None:
    deadlines = Deadlines()
    context: Any = FakeContext()
    late, soon = threading.Event(), threading.Event()
    with deadlines.cut_after(1000, context) as first, deadlines.cut_after(0.01, context) as second:
        assert first.add_callback(late.set)
        assert second.add_callback(soon.set)
        assert soon.wait(PATIENCE)
        assert second.is_cut
        assert not second.is_active()
        assert not second.add_callback(soon.set)
        assert not late.is_set()
        assert first.is_active()
    with deadlines.cut_after(0.01, context) as third:
        again = threading.Event()
        # It may have been cut before it is asked.
        assert not third.add_callback(again.set) or again.wait(PATIENCE)


def test_the_thread_for_deadlines_ends_with_the_calls() -> None:
    before = set(threading.enumerate())
    deadlines = Deadlines()
    context: Any = FakeContext()
    with deadlines.cut_after(0.2, context):
        assert set(threading.enumerate()) > before
    wait_until(lambda: set(threading.enumerate()) <= before, "the thread has ended")
