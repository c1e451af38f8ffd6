"""Streams that wait for their clients: they give way to new streams, and end after some time."""

import queue
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import grpc
import h2.events
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal
from chatiere.service.base.settings import Settings
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.guards.idle import IdleStreams
from chatiere.v1 import batch_service_pb2 as pb

from .process import wait_until
from .support import PATIENCE, Door, Running, batch_stub, refusal, running
from .test_service_half_open import Peer

pytestmark = pytest.mark.long

PLAY = "/chatiere.v1.BatchService/Play"
REQUEST = pb.PlayRequest(new_games=pb.NewGamesRequest(setup=pb.BatchSetup(game="discat", players=2), count=1))
LOST = {"limit": "streams whose request has not arrived completely", "most": "2"}


class Stream:
    """A stream on which a test sends each request."""

    def __init__(self, method: Any) -> None:
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.call = method(iter(self._requests.get, None), timeout=PATIENCE)

    def ask(self, request: Any = REQUEST) -> Any:
        self._requests.put(request)
        return next(self.call)

    def close(self) -> None:
        self._requests.put(None)
        self.call.cancel()


def play(server: Running) -> Any:
    return closing(Stream(batch_stub(server.channel).Play))


def reflection(server: Running) -> Any:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(server.channel)
    return closing(Stream(stub.ServerReflectionInfo))


LIST_SERVICES = reflection_pb2.ServerReflectionRequest(list_services="")

# The number of seconds that a stream may be idle. The clients of these tests are faster, even on a busy machine.
MOMENT = 2.0


def open_streams(server: Running) -> float:
    return server.sample("chatiere_calls_in_flight", grpc_type="bidi_stream")


def settings(**fields: Any) -> Settings:
    return Settings(address="127.0.0.1:0", **fields)


# Time


@pytest.mark.parametrize("requests", [0, 2])
def test_a_stream_without_requests_ends_in_time(door: Door, requests: int) -> None:
    with running(settings(stream_idle_timeout=MOMENT), door) as server, play(server) as stream:
        for _ in range(requests):
            assert stream.ask().new_games.positions.states
        refused = refusal(lambda: list(stream.call))
        assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "REQUEST_TIMEOUT")
        assert refused.metadata == {"seconds": f"{MOMENT:g}"}
        wait_until(lambda: not open_streams(server), "the stream has ended")


def test_a_reflection_without_requests_ends_in_time() -> None:
    with running(settings(stream_idle_timeout=MOMENT)) as server, reflection(server) as stream:
        assert stream.ask(LIST_SERVICES).list_services_response.service
        refused = refusal(lambda: list(stream.call))
        assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "REQUEST_TIMEOUT")


def test_a_stream_whose_client_reads_no_response_ends_in_time(door: Door) -> None:
    with running(settings(stream_idle_timeout=MOMENT), door) as server:
        with closing(Peer(server.address, window=0)) as peer:
            stream = peer.begin(PLAY)
            peer.send(stream, REQUEST.SerializeToString())
            wait_until(lambda: server.sample("grpc_server_started_total", **OF_PLAY), "the call has begun")
            wait_until(lambda: not open_streams(server), "the stream has ended")
            labels = OF_PLAY | {"grpc_code": "DeadlineExceeded"}
            assert server.sample("grpc_server_handled_total", **labels) == 1
            if door == "fast":
                peer.wait_for(h2.events.StreamReset)
            else:
                # gRPC keeps the call, so that a client that eventually reads the response gets the status.
                assert server.server._guards.budget.held >= 32 * 1024
                peer.connection.increment_flow_control_window(65_535, stream)
                peer.flush()
                assert peer.status(stream)[0] == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
                wait_until(lambda: not server.server._guards.budget.held, "no memory is held")
        assert server.server._guards.budget.held == 0


OF_PLAY = {"grpc_type": "bidi_stream", "grpc_service": "chatiere.v1.BatchService", "grpc_method": "Play"}


# Slots


def test_a_newcomer_takes_the_slot_of_an_idle_stream(door: Door) -> None:
    with running(settings(max_streams=2), door) as server, play(server) as first:
        wait_until(lambda: open_streams(server) == 1, "the first is open")
        with play(server) as second:
            wait_until(lambda: open_streams(server) == 2, "the second is open")
            with play(server) as third:
                assert third.ask().new_games.positions.states
                refused = refusal(lambda: list(first.call))
                assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")
                assert refused.metadata == LOST
                assert second.ask().new_games.positions.states
                assert third.ask().new_games.positions.states


def test_streams_with_unread_responses_give_way(door: Door) -> None:
    with running(settings(max_streams=2), door) as server, closing(Peer(server.address, window=0)) as peer:
        for _ in range(20):
            stream = peer.begin(PLAY)
            peer.send(stream, REQUEST.SerializeToString())
        wait_until(lambda: server.sample("grpc_server_started_total", **OF_PLAY) == 20, "all calls have begun")
        idle: Any = server.server.methods.streams.idle
        wait_until(lambda: len(idle) == 2, "all streams are idle")
        with play(server) as mine:
            assert mine.ask().new_games.positions.states
        peer.close()
        wait_until(lambda: not server.server._guards.budget.held, "no memory is held")


def test_the_client_with_most_idle_streams_loses_one(door: Door) -> None:
    with running(settings(max_streams=5), door) as server, play(server) as mine:
        assert mine.ask().new_games.positions.states
        with closing(Peer(server.address)) as peer:
            for _ in range(50):
                peer.begin(PLAY)
            wait_until(lambda: server.sample("grpc_server_started_total", **OF_PLAY) == 51, "all calls have begun")
            assert mine.ask().new_games.positions.states
            with play(server) as another:
                assert another.ask().new_games.positions.states


def test_a_reflection_stream_and_a_stream_at_another_door_give_way() -> None:
    with running(settings(max_streams=2), "fast") as server:
        grpcio = f"127.0.0.1:{server.server.port}"
        with grpc.insecure_channel(grpcio) as channel:
            there = Running(server.server, grpcio, server.registry, channel)
            with reflection(there) as first, play(there) as second:
                wait_until(lambda: open_streams(server) == 2, "both streams are open")
                with play(server) as third, play(server) as fourth:
                    assert third.ask().new_games.positions.states
                    assert fourth.ask().new_games.positions.states
                    for lost in first, second:
                        assert refusal(lambda lost=lost: list(lost.call)).metadata == LOST


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Return an event. Work on streams waits until it is set."""
    released = threading.Event()
    answer = PlayStream.answer

    def slow(stream: PlayStream, data: Any, cancellation: Cancellation, *arguments: Any) -> Any:
        assert released.wait(PATIENCE)
        return answer(stream, data, cancellation, *arguments)

    monkeypatch.setattr(PlayStream, "answer", slow)
    yield released
    released.set()


def test_working_streams_do_not_give_way(working: threading.Event, door: Door) -> None:
    with running(settings(max_streams=2), door) as server, play(server) as first, play(server) as second:
        results: list[Any] = []
        asking = [threading.Thread(target=lambda each=each: results.append(each.ask())) for each in (first, second)]
        for thread in asking:
            thread.start()
        idle = server.server.methods.streams.idle
        wait_until(lambda: open_streams(server) == 2 and not idle, "both streams are working")
        with play(server) as third:
            refused = refusal(lambda: list(third.call))
            assert refused.metadata == {"limit": "streams at a time", "most": "2"}
            assert refused.retry_after == 1
        working.set()
        for thread in asking:
            thread.join(PATIENCE)
        assert len(results) == 2


def test_idle_streams_end_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest stream of the client with the most streams ends first. Streams that worked recently end last."""
    now = 100.0
    monkeypatch.setattr("chatiere.service.guards.idle.time.monotonic", lambda: now)
    idle, ended = IdleStreams(5), list[tuple[str, str]]()

    def add(client: str, stream: str, *, has_worked: bool = False) -> None:
        def end(refusal: Refusal) -> None:
            ended.append((stream, refusal.reason))

        idle.add(client, stream, client, end, has_worked=has_worked)

    def given_up() -> str | None:
        waiting = idle.give_up_one()
        return None if waiting is None else waiting.client

    add("a", "a1", has_worked=True)
    for each in "b1", "b2":
        add("b", each)
    add("c", "c1", has_worked=True)
    add("a", "a2", has_worked=True)
    assert [given_up() for _ in range(3)] == ["b", "b", "a"]
    assert not idle.remove("b", "b1")
    assert not idle.remove("a", "a1")
    assert idle.remove("a", "a2")
    now += 5
    add("c", "c2")
    idle.end_late()
    assert ended == [("c1", "REQUEST_TIMEOUT")]
    assert [given_up() for _ in range(3)] == ["c", "c", None]
    assert not idle
