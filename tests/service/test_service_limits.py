"""Limits: simultaneous calls (of all clients and of one client), calls per second, and time."""

import random
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chatiere.clients import CHANNEL_OPTIONS
from chatiere.service.base.errors import Refusal
from chatiere.service.base.settings import Settings
from chatiere.service.exchange import fair_queue
from chatiere.service.exchange import health as health_module
from chatiere.service.guards import limits
from chatiere.service.guards.limits import CallLimit, Limits
from chatiere.service.guards.tokens import new_token
from chatiere.v1 import batch_service_pb2, game_service_pb2, game_service_pb2_grpc

from .process import wait_until
from .support import PATIENCE, Door, Running, SlowCall, batch_stub, code_of, read_refusal, refusal, running

LIST_GAMES = game_service_pb2.ListGamesRequest()
GET_SCORE = game_service_pb2.GetScoreRequest()
NEW_GAMES = batch_service_pb2.NewGamesRequest()
SCORE = batch_service_pb2.ScoreRequest()


# Simultaneous calls


def test_only_calls_above_the_limit_are_refused(slow_call: SlowCall, door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", batch_threads=1, max_calls=3), door) as server:
        batches = batch_stub(server.channel)
        # One call runs, and two calls wait.
        slow = batches.NewGames.future(NEW_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        waiting = [batches.Score.future(SCORE) for _ in range(2)]
        refused = wait_until(lambda: _refused(batches), "a call is refused")
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")
        assert refused.metadata == {"limit": "batches at a time", "most": "3"}
        assert refused.retry_after == 1
        # Unary calls to GameService and health checks do not wait for the batches.
        assert server.stub.ListGames(LIST_GAMES, timeout=PATIENCE).games
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        assert health.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE).status
        slow_call.released.set()
        assert slow.result(PATIENCE).positions.states
        assert [call.code() for call in waiting] == [grpc.StatusCode.INVALID_ARGUMENT] * 2
        wait_until(lambda: code_of(batches.NewGames, NEW_GAMES) is grpc.StatusCode.OK, "calls are accepted again")


def _refused(batches: Any) -> Any:
    # As long as the server has not read the earlier calls, this call waits, too.
    call = batches.Score.future(SCORE, timeout=0.2)
    try:
        call.result()
    except grpc.FutureTimeoutError:
        return None
    except grpc.RpcError as error:
        refused = read_refusal(error)
        return refused if refused.reason == "LIMIT_EXCEEDED" else None


def test_calls_cancelled_while_they_wait_no_longer_count(
    monkeypatch: pytest.MonkeyPatch, slow_call: SlowCall, door: Door
) -> None:
    # The second call waits until the first one has ended.
    monkeypatch.setattr(fair_queue, "_TURN", 2 * PATIENCE)
    with running(Settings(address="127.0.0.1:0", batch_threads=1, max_calls=2), door) as server:
        batches = batch_stub(server.channel)
        slow = batches.NewGames.future(NEW_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        given_up = batches.Score.future(SCORE)
        wait_until(lambda: server.sample("chatiere_calls_in_flight", grpc_type="unary") == 2, "both calls have begun")
        given_up.cancel()
        wait_until(
            lambda: server.sample("chatiere_calls_in_flight", grpc_type="unary") == 1, "the cancelled call has ended"
        )
        another = batches.Score.future(SCORE)
        slow_call.released.set()
        assert slow.result(PATIENCE).positions.states
        assert another.code() is grpc.StatusCode.INVALID_ARGUMENT


def stream(server: Running) -> None:
    """Open a stream without requests, and wait for its end."""
    assert list(batch_stub(server.channel).Play(iter([]), timeout=PATIENCE)) == []


def watch_the_health(server: Running, service: str = "") -> Any:
    """Return a watch after its first status."""
    health: Any = health_pb2_grpc.HealthStub(server.channel)
    watch = health.Watch(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE)
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    return watch


def test_health_watches_take_no_slots_of_streams(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_streams=1), door) as server:
        watches = [watch_the_health(server) for _ in range(200)]
        assert code_of(stream, server) is grpc.StatusCode.OK
        assert all(watch.is_active() for watch in watches)


def test_a_watch_above_the_limit_ends_the_oldest(monkeypatch: pytest.MonkeyPatch, door: Door) -> None:
    monkeypatch.setattr(health_module, "WATCHES", 2)
    with running(door=door) as server:
        first, second, third = (watch_the_health(server) for _ in range(3))
        with pytest.raises(grpc.RpcError):
            next(first)
        assert first.code() is grpc.StatusCode.UNIMPLEMENTED
        assert second.is_active()
        assert third.is_active()


def test_clients_whose_health_watch_was_ended_do_not_retry_it(monkeypatch: pytest.MonkeyPatch, door: Door) -> None:
    monkeypatch.setattr(health_module, "WATCHES", 2)
    with running(door=door) as server, ExitStack() as stack:
        channels = [stack.enter_context(grpc.insecure_channel(server.address, CHANNEL_OPTIONS)) for _ in range(6)]
        for channel in channels:
            grpc.channel_ready_future(channel).result(PATIENCE)
        # A client whose watch has ended regards the server as healthy, and does not watch it again.
        labels = {"grpc_type": "server_stream", "grpc_service": "grpc.health.v1.Health", "grpc_method": "Watch"}
        wait_until(
            lambda: server.sample("grpc_server_handled_total", grpc_code="Unimplemented", **labels) == 4,
            "four watches have ended",
        )
        for channel in channels:
            assert code_of(game_service_pb2_grpc.GameServiceStub(channel).ListGames, LIST_GAMES) is grpc.StatusCode.OK
        assert server.sample("grpc_server_started_total", **labels) == 6


# One client


@pytest.fixture
def two_clients(tmp_path: Path, door: Door) -> Iterator[tuple[Running, Any, Any]]:
    """Run a server that allows each client one call at a time. Yield it with the metadata of two clients."""
    (alice, line), (bob, other_line) = new_token("alice"), new_token("bob")
    (tmp_path / "tokens").write_text(f"{line}\n{other_line}\n")
    settings = Settings(address="127.0.0.1:0", max_calls_per_client=1, tokens=tmp_path / "tokens")
    with running(settings, door) as server:
        yield server, (("authorization", f"Bearer {alice}"),), (("authorization", f"Bearer {bob}"),)


def test_a_client_has_its_own_limit(slow_call: SlowCall, two_clients: tuple[Running, Any, Any]) -> None:
    server, alice, bob = two_clients
    slow = batch_stub(server.channel).NewGames.future(NEW_GAMES, metadata=alice)
    assert slow_call.entered.wait(PATIENCE)
    refused = refusal(server.stub.GetScore, GET_SCORE, metadata=alice)
    assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused.metadata == {"limit": "calls of one client at a time", "most": "1"}
    assert refused.retry_after == 0.1
    assert code_of(server.stub.GetScore, GET_SCORE, metadata=bob) is grpc.StatusCode.INVALID_ARGUMENT
    slow_call.released.set()
    assert slow.result(PATIENCE).positions.states
    wait_until(
        lambda: code_of(server.stub.ListGames, LIST_GAMES, metadata=alice) is grpc.StatusCode.OK,
        "the limit is free",
    )


def test_without_tokens_a_client_is_identified_by_its_address(slow_call: SlowCall, door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls_per_client=1), door) as server:
        slow = batch_stub(server.channel).NewGames.future(NEW_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as other:
            call: Any = other.unary_unary("/chatiere.v1.GameService/GetScore")
            assert refusal(call, b"").reason == "LIMIT_EXCEEDED"
        slow_call.released.set()
        assert slow.result(PATIENCE).positions.states


class Clock:
    """A replacement for time.monotonic in the limits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def called(limited: Limits, client: str) -> float | None:
    """Make a call. If it is refused, return the time after which it can be retried."""
    limit = CallLimit("calls", 1)
    try:
        limited.begin(limit, client)
    except Refusal as refused:
        return refused.retry_after
    limited.end(limit, client)
    return None


def test_a_client_may_make_as_many_calls_per_second_as_the_limit(clock: Clock) -> None:
    limited = Limits(0, 4)
    assert [called(limited, "alice") for _ in range(5)] == [None, None, None, None, pytest.approx(0.25)]
    assert called(limited, "bob") is None
    clock.now += 0.26
    assert called(limited, "alice") is None
    assert called(limited, "alice") == pytest.approx(0.24)
    # Even after a long pause, a burst has at most as many calls as are allowed in a second.
    clock.now += 1000
    assert [called(limited, "alice") for _ in range(5)] == [None, None, None, None, pytest.approx(0.25)]


def test_a_limit_may_be_less_than_one_call_per_second(clock: Clock) -> None:
    limited = Limits(0, 0.1)
    assert called(limited, "alice") is None
    clock.now += 9
    assert called(limited, "alice") == pytest.approx(1)
    clock.now += 1.001
    assert called(limited, "alice") is None


def test_a_first_call_is_answered_at_any_time_and_rate(clock: Clock) -> None:
    choices = random.Random(7)
    for _ in range(1000):
        clock.now = choices.uniform(0, 1e6)
        assert called(Limits(0, choices.choice((0.001, 1, 7, choices.uniform(0.01, 100)))), "alice") is None


def test_a_call_retried_after_the_stated_time_is_answered(clock: Clock) -> None:
    limited = Limits(0, 3)
    for _ in range(100):
        wait = called(limited, "alice")
        if wait is not None:
            clock.now += wait + 1e-9
            assert called(limited, "alice") is None


def test_clients_that_have_stopped_calling_are_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MANY", 10)
    limited = Limits(1, 5)

    def memory_after(calls: int) -> int:
        for number in range(calls):
            clock.now += 0.1
            assert called(limited, f"address {calls} {number}") is None
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = memory_after(100)
        # A remembered client needs at least a hundred bytes.
        assert memory_after(2000) - before < 20_000
    finally:
        tracemalloc.stop()


def test_a_call_refused_by_one_limit_counts_towards_no_limit(clock: Clock) -> None:
    limit, limited = CallLimit("calls", 3), Limits(1, 2)
    limited.begin(limit, "alice")
    for _ in range(10):
        with pytest.raises(Refusal, match="calls of one client at a time"):
            limited.begin(limit, "alice")
    assert limit.calls == 1
    limited.begin(limit, "bob")
    # Calls without a client count only towards the limit of all calls.
    limited.begin(limit, None)
    for _ in range(10):
        with pytest.raises(Refusal, match="calls \\(at most 3\\)"):
            limited.begin(limit, "carol")
    for client in "alice", "bob", None:
        limited.end(limit, client)
    # Each client has made at most one of its two calls per second.
    assert [called(limited, client) for client in ("alice", "bob", "carol", "carol")] == [None] * 4
    assert limit.calls == 0


# Time


def test_the_client_s_own_deadline_is_kept(slow_call: SlowCall, door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", default_deadline=0.001, max_deadline=1000), door) as server:
        call = batch_stub(server.channel).NewGames.future(NEW_GAMES, timeout=PATIENCE)
        assert slow_call.entered.wait(PATIENCE)
        slow_call.released.set()
        assert call.result().positions.states
