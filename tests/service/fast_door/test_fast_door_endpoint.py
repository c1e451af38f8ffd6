"""An endpoint without a server: memory held for calls, calls' headers, and the endpoint's end."""

import importlib
import socket
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from hpack import Encoder
from tools.needs import require
from tools.played_frames import END_HEADERS, END_STREAM, HEADERS, PREFACE, RST_STREAM, SETTINGS, Frame, data, message

from ..support import PATIENCE, served_socket

require("libnghttp2")
http2 = importlib.import_module("chatiere.http2.server")

LIMITS: dict[str, Any] = {"streams": 10, "connections": 10, "greeting": PATIENCE, "idle": PATIENCE}
HEAD = {
    ":method": "POST",
    ":scheme": "http",
    ":path": "/meow",
    ":authority": "localhost",
    "te": "trailers",
    "content-type": "application/grpc",
}


class Played:
    """An endpoint, a client that has begun a call, and the calls that have arrived."""

    def __init__(self, **headers: str) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setblocking(False)
        self.client = socket.create_connection(listening.getsockname(), PATIENCE)
        self.calls: list[Any] = []
        routes = {b"/meow": self.calls.append}
        self.endpoint = http2.Endpoint(
            None,
            [listening.detach()],
            routes,
            self.calls.append,
            pytest.fail,
            http2.Accounts(1e9, 1e9),
            max_sizes=[1000],
            **LIMITS,
        )
        head = Encoder().encode(list((HEAD | headers).items()))
        self.send(PREFACE, Frame(SETTINGS, 0, 0, b""), Frame(HEADERS, END_HEADERS, 1, head))

    def close(self) -> None:
        self.client.close()
        self.endpoint.close()

    def send(self, *frames: Frame | bytes) -> None:
        self.client.sendall(b"".join(map(bytes, frames)))

    def turn_until(self, done: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            assert self.endpoint.turn(1) < end, "the condition is not met"


def test_the_memory_of_an_incomplete_message_is_freed() -> None:
    with closing(Played()) as played:
        played.send(data(message(bytes(100)) + message(bytes(900))[:500]))
        played.turn_until(lambda: played.calls and played.calls[0].has_part)
        (call,) = played.calls
        assert call.held > 600
        played.send(data(b"", END_STREAM))
        played.turn_until(lambda: call.has_ended)
        assert (call.fault, call.has_part, call.waiting) == ("breaks_off", False, 1)
        # The complete message is kept.
        assert 100 <= call.held == played.endpoint.held < 600
        assert call.take() == bytes(100)
        assert call.held == played.endpoint.held == 0


def test_a_call_has_its_clients_headers_without_the_protocol_s() -> None:
    """One name begins like a protocol header's name, and its value is as long as that header's name."""
    others = {"te-st": "ab", "grpc-timeout": "1H", "grpc-encoding": "identity", "x-request-id": "te"}
    with closing(Played(**others)) as played:
        played.turn_until(lambda: played.calls)
        (call,) = played.calls
        assert call.metadata == (("te-st", "ab"), ("x-request-id", "te"))


def test_a_response_to_a_client_that_has_left_is_dropped() -> None:
    with closing(Played()) as played:
        played.turn_until(lambda: played.calls)
        (call,) = played.calls
        played.send(Frame(RST_STREAM, 0, 1, bytes(4)))
        played.turn_until(lambda: call.is_closed)
        call.answer(bytes(100), "late")
        assert not call.is_sending


def test_a_machine_that_has_vanished_is_noticed() -> None:
    with closing(Played()) as played:
        played.turn_until(lambda: played.calls)
        with served_socket(played.client) as accepted:
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            assert [accepted.getsockopt(socket.IPPROTO_TCP, each) for each in options] == [60, 10, 3]


def test_a_connection_ends_even_if_another_process_has_its_socket() -> None:
    """A process that was just forked has copies of all sockets."""
    with closing(Played()) as played:
        played.turn_until(lambda: played.calls)
        with served_socket(played.client):
            played.client.close()
            played.turn_until(lambda: not played.endpoint.connections)
            for _ in range(10):
                played.endpoint.turn(0)
