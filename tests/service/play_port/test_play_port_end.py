"""The port for streams: how it stops, and where it listens."""

import errno
import itertools
import os
import queue
import signal
import socket
from contextlib import closing

import grpc
import pytest
from played_frames import (
    DATA,
    PREFACE,
    SETTINGS,
    WINDOW_UPDATE,
    data,
    message,
    setting,
    window,
)
from prometheus_client import CollectorRegistry

from chatiere.clients import SocketStream, VectorEnv
from chatiere.clients.calls import batch_requests
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.ports import listening as listening_module
from chatiere.service.ports import play_port
from chatiere.service.ports.listening import HeldPort, listening_sockets
from chatiere.service.ports.server import create_server
from chatiere.service.process.settings import SettingError, Settings
from chatiere.v1.batch_service_pb2 import (
    Table,
)

from ..process import Served, served, wait_until
from ..support import PATIENCE, LogLines, Running, running
from .peer import (
    NO_ERROR,
    PLAY,
    WINDOW,
    Peer,
    Slow,
    in_flight,
    own,
    fast_address,
    playing,
)

# Stopping


STOPPING = "the server stops: begin again, at another one"


@pytest.mark.parametrize("sizes", [[3, 3], [3_000] * 15])
def test_what_has_come_is_answered_before_the_end(slow: Slow, sizes: list[int]) -> None:
    requests = [bytes([number]) * size for number, size in enumerate(sizes)]
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), *[data(message(request)) for request in requests])
        slow.wait_for_request()
        ended = server.server.stop(PATIENCE)
        slow.released.release(len(requests))
        assert peer.answers(len(requests)) == requests
        assert peer.end() == (grpc.StatusCode.UNAVAILABLE, STOPPING)
        assert peer.goodbye() == (NO_ERROR, STOPPING)
        peer.__exit__()
        assert ended.wait(PATIENCE)
        assert in_flight(server) == 0
        with pytest.raises(ConnectionRefusedError):
            Peer(server)


def test_an_answer_that_waits_for_room_is_sent_before_the_end(server: Running, echo: None) -> None:
    with playing() as server, Peer(server, setting(WINDOW, 3)) as peer:
        peer.send(peer.headers(), data(message(b"one") + message(b"two")[:6]))
        peer.skip_to(DATA)
        server.server.stop(PATIENCE)
        # Heard after the stop: the end of the connection would be too early now.
        peer.ping()
        peer.send(window(1, 100))
        assert peer.answers(1) == [b"one"]
        # Half of a request has come.
        peer.send(data(message(b"two")[6:]))
        assert peer.answers(2) == [b"one", b"two"]
        assert peer.end() == (grpc.StatusCode.UNAVAILABLE, STOPPING)


def test_a_connection_without_a_call_ends_with_the_server(echo: None) -> None:
    with playing() as server, Peer(server) as idle, Peer(server, greets=False) as greeting, Peer(server) as over:
        idle.ping()
        over.calls(1)
        greeting.send(PREFACE[:5])
        assert [greeting.frame().kind, greeting.frame().kind] == [SETTINGS, WINDOW_UPDATE]
        ended = server.server.stop(PATIENCE)
        for peer in idle, greeting, over:
            assert peer.goodbye() == (NO_ERROR, STOPPING)
            peer.__exit__()
        assert ended.wait(PATIENCE)


def test_a_grpc_client_is_told_that_the_server_stops(echo: None) -> None:
    with playing() as server, grpc.insecure_channel(fast_address(server)) as channel:
        requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        call = channel.stream_stream(PLAY)(iter(requests.get, None), timeout=PATIENCE)
        requests.put(b"meow")
        assert next(call) == b"meow"
        ended = server.server.stop(PATIENCE)
        with pytest.raises(grpc.RpcError) as raised:
            next(call)
        requests.put(None)
        assert (raised.value.code(), raised.value.details()) == (grpc.StatusCode.UNAVAILABLE, STOPPING)
        channel.close()
        assert ended.wait(PATIENCE)


def test_a_client_that_takes_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    # More than all buffers between the ends hold.
    monkeypatch.setattr(BatchService, "play", lambda self, request, cancellation: [bytes(50_000_000)])
    with playing() as server, Peer(server, setting(WINDOW, 2**31 - 1), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"meow")))
        peer.skip_to(DATA)
        ended = server.server.stop(PATIENCE)
        assert not ended.is_set()
        assert server.server.stop(0).wait(PATIENCE)


def test_a_batch_under_way_is_cancelled_in_the_end(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        slow.wait_for_request()
        ended = server.server.stop(0)
        # The handler is told though its client says nothing.
        wait_until(lambda: not in_flight(server), "the call is over")
        assert not ended.is_set()
        slow.released.release()
        assert ended.wait(PATIENCE)
        assert slow.cancelled == [True]


def test_stopping_before_starting_and_twice() -> None:
    port = play_port.PlayPort(own(), "127.0.0.1:0", lambda path: None, share_port=False)
    address = ("127.0.0.1", port.port)
    assert port.stop(None).wait(PATIENCE)
    assert port.stop(PATIENCE).wait(PATIENCE)
    # The port is free again.
    socket.create_server(address).close()
    server, _ = create_server(own(), CollectorRegistry())
    assert server.stop(None).wait(PATIENCE)
    assert server.stop(None).wait(PATIENCE)


@pytest.mark.parametrize("name", ["discat"])
def test_games_go_on_when_workers_are_replaced(name: str) -> None:
    play = ("--fast-address", "127.0.0.1:0", "--workers", "2")

    def games(server: Served, stops: bool) -> dict[int, list[int]]:
        address, found = server.find(r"streams of batches on ([^ \",]+)")[1], {}
        with VectorEnv(server.address, name, 2, num_envs=64, games=200, socket_address=address) as env:
            batch = env.reset(seed=7)
            for turn in itertools.count():
                if stops and turn in (10, 200):
                    # The one that has the stream may be either.
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

    with served(*play) as server:
        expected = games(server, stops=False)
        assert len(expected) == 200
        assert games(server, stops=True) == expected
        assert server.total("chatiere_workers_restarted_total") == 4
        assert not [line for line in server.lines if "Traceback" in line]


# Where it listens


@pytest.mark.parametrize("share", [False, True])
def test_a_fast_address_that_is_taken(share: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        words = f"^fast_address: cannot listen on {address}: Address already in use"
        with pytest.raises(SettingError, match=words) as raised:
            HeldPort(address, "fast_address")
        assert raised.value.setting == "fast_address"
        with pytest.raises(SettingError, match=words):
            create_server(Settings(address="127.0.0.1:0", fast_address=address), CollectorRegistry(), share_port=share)
        if not share:
            with served("--fast-address", address) as second:
                assert second.process.wait(PATIENCE) == 2
                assert second.find(f"^Error: --fast-address: cannot .* {address}: Address already in use")


@pytest.mark.parametrize("address", ["no-such-host.invalid:1", "192.0.2.1:0", "a..b:0", f"{'a' * 64}:0"])
def test_a_fast_address_that_is_not_this_machine_s(address: str) -> None:
    for listen in (
        lambda: HeldPort(address, "fast_address"),
        lambda: listening_sockets("fast_address", address),
    ):
        with pytest.raises(SettingError, match=f"^fast_address: cannot listen on {address}: ."):
            listen()


@pytest.mark.parametrize(("host", "reached"), [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")])
def test_where_it_listens(host: str, reached: str) -> None:
    with (
        running(Settings(address="127.0.0.1:0", fast_address=f"{host}:0")) as server,
        SocketStream(f"{reached}:{server.server.fast_port}") as stream,
    ):
        assert stream.submit(batch_requests.new_games(Table(game="discat", players=2), [1])).result(PATIENCE)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["[::1]", "[::]"])
def test_over_ipv6(host: str, echo: None) -> None:
    settings = Settings(address="127.0.0.1:0", fast_address=f"{host}:0", log_calls=True)
    with running(settings) as server, LogLines() as log:
        for reached in ["[::1]", "127.0.0.1"] if host == "[::]" else ["[::1]"]:
            with grpc.insecure_channel(f"{reached}:{server.server.fast_port}") as channel:
                assert list(channel.stream_stream(PLAY)(iter([b"meow"]), timeout=PATIENCE)) == [b"meow"]
            assert log.wait_for("from ipv4:127.0.0.1:" if "." in reached else "from ipv6:%5B::1%5D:")


def test_a_machine_without_one_of_the_families(monkeypatch: pytest.MonkeyPatch) -> None:
    make = socket.socket

    def refuse(family: int, kind: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return make(family, kind)

    places = [
        (family, socket.SOCK_STREAM, 0, "", (host, 0))
        for family, host in ((socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.1"))
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
    monkeypatch.setattr(listening_module.socket, "socket", refuse)
    (listening,) = listening_sockets("fast_address", "localhost:0")
    assert listening.getsockname()[0] == "127.0.0.1"
    listening.close()


def test_all_that_a_name_stands_for_has_one_port() -> None:
    with HeldPort("localhost:0", "fast_address") as held:
        number = int(held.address.removeprefix("localhost:"))
        assert number
        found = listening_sockets("fast_address", held.address, share_port=True)
        assert {each.getsockname()[1] for each in found} == {number}
        for each in found:
            each.close()
