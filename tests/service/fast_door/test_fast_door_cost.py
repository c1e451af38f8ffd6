"""Processor time at the fast door: headers that HPACK expands, and frames that cost the server more than the sender."""

import importlib
import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from hpack import Encoder
from tools.needs import require
from tools.played_frames import (
    CONTINUATION,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    GOAWAY,
    HEADERS,
    Frame,
    data,
    message,
    ping,
    reset,
)

from ..process import Served, served
from .peer import NEW_GAME, OK, SMALL, Bystander, Peer

require("libnghttp2")
http2 = importlib.import_module("chatiere.http2.server")

LAST = END_HEADERS | END_STREAM
ELSEWHERE = "127.0.0.2"
# A header field of 3,992 bytes (as HTTP/2 counts), and a reference to it in HPACK's table. The field becomes the newest
# entry of the table.
LARGE = b"\x40\x01a\x7f\xf8\x1d" + b"b" * 3959
AGAIN = b"\xbe"
# The same field with a value that HTTP/2 forbids, so that the server skips the field.
NOT_ALLOWED = LARGE[:-1] + b"\x01"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--fast-address", "127.0.0.1:0", "--request-timeout", "600") as server:
        pid = server.worker_pid(0)
        yield server
        assert server.worker_pid(0) == pid


@pytest.fixture
def peer(server: Served) -> Iterator[Peer]:
    with Peer(server, source=ELSEWHERE) as peer:
        # The server's settings are in force once they are acknowledged.
        peer.ping()
        yield peer


# Lists of headers


def with_more(peer: Peer, *more: bytes, flags: int = LAST) -> list[Frame]:
    """Return a list of headers in several frames: each item of `more` is in a separate frame."""
    parts = [peer.headers(path=NEW_GAME).payload, *more]
    frames = [Frame(CONTINUATION if i else HEADERS, 0, 1, part) for i, part in enumerate(parts)]
    frames[0] = frames[0]._replace(flags=flags & END_STREAM)
    return [*frames[:-1], frames[-1]._replace(flags=frames[-1].flags | END_HEADERS)]


def passed_over(peer: Peer, *more: bytes) -> list[Frame]:
    """Return a header list for a stream that is over. The server decodes it nevertheless."""
    return [peer.headers(flags=END_HEADERS, path=NEW_GAME), reset(1), *with_more(peer, *more)]


def as_trailers(peer: Peer, *more: bytes) -> list[Frame]:
    first = Frame(HEADERS, LAST if len(more) == 1 else END_STREAM, 1, more[0])
    rest = [Frame(CONTINUATION, 0, 1, part) for part in more[1:]]
    if rest:
        rest[-1] = rest[-1]._replace(flags=END_HEADERS)
    return [peer.headers(path=NEW_GAME), data(message(SMALL)), first, *rest]


TOO_MUCH: dict[str, Callable[[Peer], list[Frame]]] = {
    "references in a frame": lambda peer: with_more(peer, LARGE + AGAIN * 16),
    "references in CONTINUATION": lambda peer: with_more(peer, LARGE, *[AGAIN] * 16),
    "references without an end": lambda peer: with_more(peer, LARGE + AGAIN * 16, b"")[:-1],
    "references in trailers": lambda peer: as_trailers(peer, LARGE + AGAIN * 16),
    "references that are passed over": lambda peer: with_more(peer, NOT_ALLOWED + AGAIN * 16),
    "many small fields": lambda peer: with_more(peer, b"\x40\x01a\x01b" + AGAIN * 2000),
    "a frame of 32 KiB": lambda peer: with_more(peer, b"\x00\x01a\x01b" * 6554),
    "frames of 32 KiB together": lambda peer: with_more(peer, *[b"\x00\x01a\x01b" * 3277] * 2),
    "frames of trailers": lambda peer: as_trailers(peer, *[b"\x00\x01a\x01b" * 3277] * 2),
    "headers of a stream that is over": lambda peer: passed_over(peer, b"\x00\x01a\x01b" * 6554),
    "GOAWAY": lambda peer: [Frame(GOAWAY, 0, 0, bytes(8) + b"b" * 2**15)],
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_far_too_many_headers_end_the_connection(server: Served, bystander: Bystander, peer: Peer, name: str) -> None:
    peer.send(*TOO_MUCH[name](peer))
    assert peer.goodbye()[0] == ENHANCE_YOUR_CALM
    bystander.is_served()


@pytest.mark.parametrize("as_list", [with_more, as_trailers], ids=["headers", "trailers"])
@pytest.mark.parametrize("more", [LARGE + AGAIN * 4, LARGE + AGAIN * 14, b"\x00\x01a\x01b" * 1800])
def test_slightly_too_many_headers_end_only_the_call(
    peer: Peer, as_list: Callable[..., list[Frame]], more: bytes
) -> None:
    peer.send(*as_list(peer, more))
    peer.encoder = Encoder()
    assert peer.end()[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
    peer.send(*peer.call(3, NEW_GAME, SMALL))
    assert peer.end(3) == OK


@pytest.mark.parametrize("as_list", [with_more, as_trailers], ids=["headers", "trailers"])
def test_headers_below_the_bound_are_accepted(peer: Peer, as_list: Callable[..., list[Frame]]) -> None:
    if as_list is with_more:
        peer.send(*with_more(peer, LARGE + AGAIN * 2, flags=0), data(message(SMALL), END_STREAM))
    else:
        peer.send(*as_trailers(peer, LARGE + AGAIN * 2))
    assert peer.end() == OK


# Cost


class Turned:
    """An endpoint whose loop a test runs step by step. `calls` are the arrived calls, by the client's address."""

    def __init__(self, pace: float, most: float, **more: Any) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setblocking(False)
        self.served = SimpleNamespace(server=SimpleNamespace(fast_port=listening.getsockname()[1]))
        self.calls: list[str] = []
        bounds: dict[str, Any] = {
            "max_sizes": [2**20],
            "streams": 1000,
            "connections": 100,
            "greeting": 600.0,
            "idle": 600.0,
        }
        self._endpoint = http2.Endpoint(
            self, [listening.detach()], {b"/a": self._take}, print, print, http2.Accounts(pace, most), **bounds, **more
        )

    def _take(self, call: Any) -> None:
        self.calls.append(call.peer.split(":")[1])
        call.finish([("grpc-status", "0")])

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            self._endpoint.turn(0)

    def close(self) -> None:
        self._endpoint.close()

    def peer(self, source: str) -> Peer:
        peer: Peer = Peer(self.served, source=source)  # type: ignore[arg-type]
        self.turn(10)
        return peer


def calls(peer: Peer, first: int, count: int) -> bytes:
    """Return the frames of calls. They need at least 27 bytes for each call."""
    streams = range(first, first + 2 * count, 2)
    return b"".join(bytes(frame) for stream in streams for frame in peer.call(stream, "/a"))


@pytest.fixture
def turned(request: pytest.FixtureRequest) -> Iterator[Turned]:
    turned = Turned(**request.param)
    yield turned
    turned.close()


UNPAID = {"pace": 1e-6, "most": 1e6}


@pytest.mark.parametrize("turned", [UNPAID], indirect=True)
def test_a_connection_that_costs_too_much_ends(turned: Turned) -> None:
    with turned.peer(ELSEWHERE) as peer:
        # 61 pings cost a million units.
        peer.send(bytes(ping()) * 70)
        turned.turn(10)
        assert peer.goodbye()[0] == ENHANCE_YOUR_CALM


@pytest.mark.parametrize("turned", [{"pace": 1e9, "most": 1e6}], indirect=True)
def test_a_connection_may_spend_the_units_that_time_has_paid(turned: Turned) -> None:
    with turned.peer(ELSEWHERE) as peer:
        for _ in range(20):
            peer.send(bytes(ping()) * 50)
            while len(peer._came) < 50 * 17:
                turned.turn()
                peer.socket.settimeout(0.001)
                try:
                    peer._receive()
                except TimeoutError:
                    continue
            peer._came.clear()


@pytest.mark.parametrize("turned", [{"pace": 1e7, "most": 1e6, "long_turn": 1e9}], indirect=True)
def test_a_connection_in_debt_waits(turned: Turned) -> None:
    with turned.peer(ELSEWHERE) as peer:
        count = 900
        peer.send(calls(peer, 1, count))
        turned.turn()
        # An eighth of a million units is less than 200 calls, but data is read 16 KiB at a time.
        assert 0 < len(turned.calls) < count
        while len(turned.calls) < count:
            turned.turn()


@pytest.mark.parametrize(
    ("turned", "waits"),
    [(UNPAID | {"most": 1e7, "long_turn": 0.0}, True), (UNPAID | {"most": 1e7, "long_turn": 1e9}, False)],
    indirect=["turned"],
    ids=["short of time", "with time"],
)
def test_an_address_in_debt_waits_while_time_is_short(turned: Turned, waits: bool) -> None:
    with turned.peer(ELSEWHERE) as first, turned.peer(ELSEWHERE) as second, turned.peer("127.0.0.3") as neighbour:
        first.send(bytes(ping()) * 20)
        turned.turn(10)
        for peer in second, neighbour:
            peer.send(calls(peer, 1, 1))
        turned.turn(100)
        assert turned.calls.count("127.0.0.3") == 1
        assert turned.calls.count(ELSEWHERE) == (0 if waits else 1)
