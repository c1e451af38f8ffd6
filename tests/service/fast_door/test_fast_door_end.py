"""How the fast door stops, and the addresses at which it listens."""

import importlib
import itertools
import os
import queue
import signal
import socket
from contextlib import closing
from functools import partial
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tools.needs import needs
from tools.played_frames import (
    DATA,
    MAX_NUMBER,
    NO_ERROR,
    PREFACE,
    SETTINGS,
    WINDOW,
    data,
    message,
    setting,
    window,
)

from chatiere.clients import BatchClient, VectorEnv
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.ports.fast.loop import Loop
from chatiere.service.ports.server import create_server
from chatiere.v1.batch_service_pb2 import BatchSetup
from chatiere.v1.game_service_pb2 import ListGamesResponse
from chatiere.v1.room_service_pb2 import FollowRequest

from ..process import Served, served
from ..support import PATIENCE, LogLines, SlowCall, running
from .peer import LIST_GAMES, OK, PLAY, TAKES_ALL, Peer
from .servers import Slow, in_flight, playing

pytestmark = [needs("libnghttp2"), pytest.mark.long]

# Stopping


FOLLOW = "/chatiere.v1.RoomService/Follow"
ROOMS = "limit exceeded: rooms at a time (at most 2); try again in 1.0 s"
STOPPING = "the server is stopping: call again on another server"


@pytest.mark.parametrize("sizes", [[3, 3], [3_000] * 15])
def test_received_requests_are_answered_before_the_end(slow: Slow, sizes: list[int]) -> None:
    requests = [bytes([number]) * size for number, size in enumerate(sizes)]
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), *[data(message(request)) for request in requests])
        slow.wait_for_request()
        peer.ping()
        ended = server.server.stop(PATIENCE)
        slow.released.release(len(requests))
        assert peer.answers(len(requests)) == requests
        assert peer.end() == (grpc.StatusCode.UNAVAILABLE, STOPPING)
        assert peer.goodbye()[0] == NO_ERROR
        peer.close()
        assert ended.wait(PATIENCE)
        assert in_flight(server) == 0
        with pytest.raises(ConnectionRefusedError):
            Peer(server)


def test_a_stream_without_a_current_request_ends_immediately(echo: None) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        assert peer.answers(1) == [b"one"]
        ended = server.server.stop(PATIENCE)
        assert peer.end() == (grpc.StatusCode.UNAVAILABLE, STOPPING)
        assert peer.goodbye()[0] == NO_ERROR
        assert ended.wait(PATIENCE)


def test_a_response_that_waits_for_a_window_is_sent_before_the_end(echo: None) -> None:
    with playing() as server, Peer(server, setting(WINDOW, 3)) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        peer.skip_to(DATA)
        server.server.stop(PATIENCE)
        # The server reads this ping during the shutdown. The connection must still be open then.
        peer.ping()
        peer.send(window(1, 100))
        assert peer.answers(1) == [b"one"]
        assert peer.end() == (grpc.StatusCode.UNAVAILABLE, STOPPING)


def test_a_feed_that_ends_with_its_first_response_has_a_status() -> None:
    """Each room replaces the previous one, whose follower has only been sent its first response."""
    with playing(relay="memory", max_rooms=2) as server, Peer(server) as peer:
        streams = range(1, 8, 2)
        requests = {stream: FollowRequest(room=bytes([stream] * 16)).SerializeToString() for stream in streams}
        peer.send(*[frame for stream in streams for frame in peer.call(stream, FOLLOW, requests[stream])])
        for stream in streams[:-1]:
            assert peer.end(stream) == (grpc.StatusCode.RESOURCE_EXHAUSTED, ROOMS)


def test_connections_without_a_call_end_with_the_server(echo: None) -> None:
    with playing() as server, Peer(server) as idle, Peer(server, greets=False) as greeting, Peer(server) as over:
        idle.ping()
        over.calls(1)
        greeting.send(PREFACE[:5])
        greeting.skip_to(SETTINGS)
        ended = server.server.stop(PATIENCE)
        assert idle.goodbye()[0] == NO_ERROR
        assert over.goodbye()[0] == NO_ERROR
        greeting.rest()
        assert ended.wait(PATIENCE)


def test_a_call_sent_before_the_client_learns_of_the_stop_is_answered(slow_call: SlowCall) -> None:
    """When the server stops, one call is in flight, and another call crosses the first GOAWAY."""
    with playing() as server, Peer(server, *TAKES_ALL) as peer:
        peer.send(*peer.call(1, "/chatiere.v1.BatchService/NewGames"))
        assert slow_call.entered.wait(PATIENCE)
        ended = server.server.stop(PATIENCE)
        peer.send(*peer.call(3))
        assert peer.end(3) == OK
        assert ListGamesResponse.FromString(peer.messages[3][0]).games
        slow_call.released.set()
        assert peer.end(1) == OK
        assert peer.goodbye()[0] == NO_ERROR
        assert ended.wait(PATIENCE)


def test_a_grpc_client_learns_that_the_server_stops(echo: None) -> None:
    with playing() as server:
        requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        play: Any = server.channel.stream_stream(PLAY)
        call = play(iter(requests.get, None), timeout=PATIENCE)
        requests.put(b"meow")
        assert next(call) == b"meow"
        ended = server.server.stop(PATIENCE)
        with pytest.raises(grpc.RpcError) as raised:
            next(call)
        requests.put(None)
        assert (raised.value.code(), raised.value.details()) == (grpc.StatusCode.UNAVAILABLE, STOPPING)
        assert ended.wait(PATIENCE)


def test_the_connection_of_a_client_that_does_not_read_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    # The response is larger than all buffers between client and server.
    monkeypatch.setattr(PlayStream, "answer", lambda *_: [bytes(50_000_000)])
    with playing() as server, Peer(server, setting(WINDOW, MAX_NUMBER), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"meow")))
        peer.skip_to(DATA)
        ended = server.server.stop(PATIENCE)
        assert not ended.is_set()
        assert server.server.stop(0).wait(PATIENCE)


def test_a_batch_in_flight_is_cancelled_after_the_grace(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        slow.wait_for_request()
        ended = server.server.stop(0)
        # The server cuts the connection although the handler continues.
        peer.rest()
        assert not ended.is_set()
        slow.released.release()
        assert ended.wait(PATIENCE)
        assert slow.cancelled == [True]
        assert in_flight(server) == 0


def test_a_server_may_be_stopped_before_it_starts_and_twice() -> None:
    settings = Settings(address="127.0.0.1:0", fast_address="127.0.0.1:0")
    server, _ = create_server(settings, CollectorRegistry())
    assert server.fast_port is not None
    assert server.stop(None).wait(PATIENCE)
    assert server.stop(PATIENCE).wait(PATIENCE)
    # The port is free again.
    socket.create_server(("127.0.0.1", server.fast_port)).close()


def test_games_continue_when_workers_are_replaced() -> None:
    def games(server: Served, stops: bool) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        with VectorEnv(server.address, "discat", 2, num_envs=64, games=200) as env:
            batch = env.reset(seed=7)
            for turn in itertools.count():
                if stops and turn in (10, 200):
                    # Either of the workers may have the stream.
                    for number in (0, 1):
                        lines = len(server.lines)
                        os.kill(server.worker_pid(number), signal.SIGTERM)
                        server.find(f"worker {number} serves", lines)
                for game, totals in zip(batch.ended.game_numbers, batch.ended.totals, strict=True):
                    found[int(game)] = totals.tolist()
                if not len(batch):
                    return found
                batch = env.step(batch.random_actions())
        raise AssertionError("unreachable")

    with served("--workers", "2", door="fast") as server:
        expected = games(server, stops=False)
        assert len(expected) == 200
        assert games(server, stops=True) == expected
        assert server.total("chatiere_workers_restarted_total") == 4
        assert not [line for line in server.lines if "Traceback" in line]


def test_a_stop_while_a_stream_s_loop_has_just_ended() -> None:
    """The thread that stops the server does the work that `stop` posts. The endpoint is already closed."""
    http2 = importlib.import_module("chatiere.http2.server")
    loop = Loop(is_own=True)
    limits: dict[str, Any] = {"max_sizes": [], "streams": 1, "connections": 1, "greeting": 1.0, "idle": 1.0}
    loop.endpoint = http2.Endpoint(loop, [], {}, pytest.fail, pytest.fail, http2.Accounts(1, 1), **limits)
    loop.end()
    done: list[str] = []
    for name in ("drain", "cut", "wake", "close"):
        loop.post(getattr(loop.endpoint, name))
        loop.post(partial(done.append, name))
    assert done == ["drain", "cut", "wake", "close"]
    assert (loop.endpoint.connections, loop.endpoint.held) == (0, 0)
    with pytest.raises(ValueError, match="closed endpoint"):
        loop.endpoint.turn(0)


# Addresses


@pytest.mark.parametrize("share", [False, True])
def test_a_fast_address_in_use_is_refused(share: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        words = f"^fast_address: cannot listen on {address}: Address already in use"
        with pytest.raises(SettingError, match=words) as raised:
            create_server(Settings(address="127.0.0.1:0", fast_address=address), CollectorRegistry(), share_port=share)
        assert raised.value.setting == "fast_address"


def test_a_fast_address_in_use_stops_the_start() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with served("--fast-address", address) as second:
            assert second.process.wait(PATIENCE) == 2
            assert second.find(f"^Error: --fast-address: cannot .* {address}: Address already in use")


@pytest.mark.parametrize(("host", "reached"), [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")])
def test_the_fast_port_listens_at_a_name_or_an_address(host: str, reached: str) -> None:
    with (
        running(Settings(address="127.0.0.1:0", fast_address=f"{host}:0")) as server,
        BatchClient(f"{reached}:{server.server.fast_port}") as client,
    ):
        assert len(client.new_games(BatchSetup(game="discat", players=2), [1]).states) == 1


@needs("IPv6")
@pytest.mark.parametrize("host", ["[::1]", "[::]"])
def test_the_fast_port_listens_over_ipv6(host: str) -> None:
    settings = Settings(address="127.0.0.1:0", fast_address=f"{host}:0", log_calls=True, insecure=True)
    with running(settings) as server, LogLines() as log:
        for reached in ["[::1]", "127.0.0.1"] if host == "[::]" else ["[::1]"]:
            with grpc.insecure_channel(f"{reached}:{server.server.fast_port}") as channel:
                call: Any = channel.unary_unary(LIST_GAMES)
                assert ListGamesResponse.FromString(call(b"", timeout=PATIENCE)).games
            assert log.wait_for("from ipv4:127.0.0.1:" if "." in reached else "from ipv6:%5B::1%5D:")
