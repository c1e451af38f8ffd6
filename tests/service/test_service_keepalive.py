"""Clients at both gRPC doors whose pings keep a connection alive, or detect that it is dead."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import grpc
import pytest
from tools.played_frames import ACK, ENHANCE_YOUR_CALM, PING, PREFACE, SETTINGS, Frame, ping

from chatiere.service.base.settings import split_address
from chatiere.service.ports import server as server_module
from chatiere.v1 import game_service_pb2

from .fast_door.peer import Peer
from .process import wait_until
from .support import PATIENCE, Door, Running, SlowCall, batch_stub, game_stub, only_grpcio, running
from .test_service_limits import NEW_GAMES, watch_the_health

pytestmark = pytest.mark.long

# The shortest interval between a client's pings, in milliseconds.
ALLOWED = 1000
PINGS = 6
CHANNEL_OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.keepalive_time_ms", ALLOWED),
    ("grpc.keepalive_timeout_ms", round(1000 * PATIENCE)),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
]


class PingCounter:
    """A relay between clients and a server that counts the clients' pings and connections."""

    def __init__(self, server: Running) -> None:
        self.pings = self.connections = 0
        self._target = split_address(server.address)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._sockets = [self._listening]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self.connections += 1
                server = socket.create_connection(self._target, PATIENCE)
                server.settimeout(None)
                self._sockets += [client, server]
                for work in (self._relay_requests, self._relay_responses):
                    self._threads.append(threading.Thread(target=work, args=(client, server)))
                    self._threads[-1].start()

    def _relay_requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), client.makefile("rb") as incoming:
            server.sendall(incoming.read(len(PREFACE)))
            while len(head := incoming.read(9)) == 9:
                size_and_kind, flags, _ = struct.unpack(">IBI", head)
                self.pings += size_and_kind & 0xFF == PING and not flags & ACK
                server.sendall(head + incoming.read(size_and_kind >> 8))
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _relay_responses(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while chunk := server.recv(2**16):
                client.sendall(chunk)
            client.shutdown(socket.SHUT_WR)


@contextmanager
def pinging(server: Running) -> Iterator[tuple[grpc.Channel, PingCounter]]:
    """Yield a channel that pings as often as allowed, and the counter of its pings."""
    counter = PingCounter(server)
    try:
        with grpc.insecure_channel(counter.address, CHANNEL_OPTIONS) as channel:
            yield channel, counter
    finally:
        counter.close()


def test_a_silent_stream_and_a_long_call_survive_the_most_frequent_pings(slow_call: SlowCall, door: Door) -> None:
    with running(door=door) as server, pinging(server) as (channel, counter):
        watching = Running(server.server, counter.address, server.registry, channel)
        watch = watch_the_health(watching)
        slow = batch_stub(channel).NewGames.future(NEW_GAMES, timeout=PATIENCE)
        assert slow_call.entered.wait(PATIENCE)
        wait_until(lambda: counter.pings >= PINGS, f"the client has sent {PINGS} pings")
        assert watch.is_active()
        slow_call.released.set()
        assert slow.result(PATIENCE).positions.states
        assert counter.connections == 1


def test_a_connection_without_a_call_may_ping_too(door: Door) -> None:
    with running(door=door) as server, pinging(server) as (channel, counter):
        stub: Any = game_stub(channel)
        assert stub.ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE).games
        wait_until(lambda: counter.pings >= PINGS, f"the client has sent {PINGS} pings")
        assert stub.ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE).games
        assert counter.connections == 1


@only_grpcio
def test_a_client_that_does_not_respond_to_a_ping_is_disconnected(monkeypatch: pytest.MonkeyPatch, door: Door) -> None:
    monkeypatch.setattr(server_module, "_PING_AFTER", ALLOWED)
    monkeypatch.setattr(server_module, "_PING_TIMEOUT", 1)
    with running(door=door) as server, socket.create_connection(split_address(server.address), PATIENCE) as client:
        client.sendall(PREFACE + bytes(Frame(SETTINGS, 0, 0, b"")))
        # By default, gRPC would wait for a minute.
        client.settimeout(30)
        with client.makefile("rb") as incoming:
            frames = incoming.read()
    assert bytes(ping())[:5] in frames


@only_grpcio
def test_a_flood_of_pings_ends_its_connection(server: Running) -> None:
    with Peer(socket.create_connection(split_address(server.address), PATIENCE)) as peer:
        with suppress(ConnectionError):
            peer.send(*[ping()] * 100)
        assert peer.goodbye() == (ENHANCE_YOUR_CALM, "too_many_pings")
