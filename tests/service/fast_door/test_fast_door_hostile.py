"""Hostile clients of the fast door lose their call or their connection, and do not affect other clients."""

import gzip
import os
import re
import resource
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import count, islice, repeat
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.needs import require
from tools.played_frames import (
    ACK,
    COMPRESSION_ERROR,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    HEADERS,
    MAX_NUMBER,
    NO_ERROR,
    PING,
    PREFACE,
    SETTINGS,
    UNKNOWN_KIND,
    WINDOW,
    Frame,
    data,
    goaway,
    message,
    padded,
    ping,
    priority,
    reset,
    setting,
    window,
)

from chatiere import engine
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, NewGamesRequest, PlayRequest, PlayResponse
from chatiere.v1.game_pb2 import Include
from chatiere.v1.game_service_pb2 import NewGameRequest

from ..process import Served, served
from .peer import NEW_GAME, OK, PLAY, SMALL, TAKES_ALL, Bystander, Peer

require("libnghttp2")

pytestmark = pytest.mark.long

NEW_GAMES = "/chatiere.v1.BatchService/NewGames"
# The address of attackers. No other client has it.
ELSEWHERE = "127.0.0.2"
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
# The memory, in MiB, by which a worker may exceed its settings.
SLACK = 48


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--fast-address", "127.0.0.1:0", "--request-timeout", "600") as server:
        pid = server.worker_pid(0)
        yield server
        assert server.worker_pid(0) == pid
        assert not [line for line in server.lines if " ERROR " in line]


@pytest.fixture
def peer(server: Served) -> Iterator[Peer]:
    with Peer(server, source=ELSEWHERE) as peer:
        # The server's settings are in force once they are acknowledged.
        peer.ping()
        yield peer


@pytest.fixture
def many_files() -> Iterator[int]:
    """Raise this process's limit of open files, and yield the new limit."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


class Growth:
    """The growth of a worker's memory since this object was made."""

    def __init__(self, server: Served) -> None:
        self._process = Path(f"/proc/{server.worker_pid(0)}")
        (self._process / "clear_refs").write_text("5")
        self._before = self._read("VmRSS")

    def _read(self, name: str) -> float:
        found = re.search(rf"{name}:\s+(\d+) kB", (self._process / "status").read_text())
        assert found
        return int(found[1]) / 1024

    def stays_below(self, mib: float) -> None:
        # The address sanitizer keeps freed memory.
        if "ASAN_OPTIONS" not in os.environ:
            assert self._read("VmHWM") - self._before < mib


# Floods


def many(frame: Frame) -> Callable[[Peer], Iterable[bytes]]:
    return lambda peer: repeat(bytes(frame) * 1000)


def same_headers(peer: Peer, path: str = PLAY) -> Callable[[int], Frame]:
    """Return a function that returns the headers of a stream. All of them are in the HPACK table."""
    peer.send(peer.headers(3, path=path), reset(3))
    headers = peer.headers(path=path)
    return lambda stream: headers._replace(stream=stream)


def per_stream(make: Callable[[Callable[[int], Frame], int], list[Frame]]) -> Callable[[Peer], Iterable[bytes]]:
    """Return a flood: a function that yields the frames of one stream after another, without end."""

    def chunks(peer: Peer) -> Iterable[bytes]:
        headers = same_headers(peer)
        for first in count(5, 200):
            yield b"".join(bytes(frame) for stream in range(first, first + 200, 2) for frame in make(headers, stream))

    return chunks


def continuations(content: bytes) -> Callable[[Peer], Iterable[bytes]]:
    def chunks(peer: Peer) -> Iterable[bytes]:
        peer.send(peer.headers(3, flags=0))
        return repeat(bytes(Frame(CONTINUATION, 0, 3, content)) * 100)

    return chunks


FLOODS: dict[str, Callable[[Peer], Iterable[bytes]]] = {
    "PING": many(ping()),
    "PING with ACK": many(Frame(PING, ACK, 0, bytes(8))),
    "SETTINGS": many(Frame(SETTINGS, 0, 0, b"")),
    "SETTINGS that change the window": many(setting(WINDOW, 1)),
    "empty DATA": many(data(b"")),
    "DATA of padding alone": many(padded(data(b""), 0)),
    "PRIORITY": many(priority(1)),
    "PRIORITY of idle streams": lambda peer: (
        b"".join(bytes(priority(stream)) for stream in range(first, first + 2000, 2)) for first in count(3, 2000)
    ),
    "WINDOW_UPDATE": many(window(0, 1)),
    "WINDOW_UPDATE of a stream": many(window(1, 1)),
    "RST_STREAM of a closed stream": lambda peer: (same_headers(peer), many(reset(3))(peer))[1],
    "GOAWAY": many(goaway()),
    "an unknown kind": many(Frame(UNKNOWN_KIND, 0, 0, b"")),
    "CONTINUATION": continuations(b""),
    "CONTINUATION with headers": continuations(b"\x00\x01a\x01b" * 20),
    "calls reset at once": per_stream(lambda headers, stream: [headers(stream), reset(stream)]),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_ends_its_connection(server: Served, bystander: Bystander, peer: Peer, name: str) -> None:
    growth = Growth(server)
    # An open call keeps the connection in use.
    peer.send(peer.headers())
    bystander.is_served_during(peer.pour, FLOODS[name](peer))
    assert peer.goodbye()[0] == ENHANCE_YOUR_CALM
    growth.stays_below(SLACK)


def test_a_flood_that_is_as_costly_to_its_client_is_slowed_down(
    server: Served, bystander: Bystander, peer: Peer
) -> None:
    growth = Growth(server)
    peer.send(peer.headers())
    # A few MB are sufficient, and more data would only take longer.
    flood = islice(many(padded(data(b""), 255))(peer), 20)
    bystander.is_served_during(peer.pour, flood)
    growth.stays_below(SLACK)


def test_a_flood_of_calls_that_the_server_has_to_reset(server: Served, bystander: Bystander, peer: Peer) -> None:
    growth = Growth(server)
    flood = per_stream(lambda headers, stream: [headers(stream), window(stream, MAX_NUMBER)])
    # Each pair of frames begins a call, and the server resets it. A slow server may never fall far enough behind to end
    # the connection.
    bystander.is_served_during(peer.pour, islice(flood(peer), 300))
    growth.stays_below(SLACK)


def test_endless_calls_of_a_client_that_neither_acknowledges_nor_reads(server: Served, bystander: Bystander) -> None:
    growth = Growth(server)
    with Peer(server, greets=False, source=ELSEWHERE) as peer:
        peer.send(PREFACE, Frame(SETTINGS, 0, 0, b""))

        def attack() -> None:
            # This is many times the data that the server accepts, but it does not fill the machine's memory.
            for chunk in islice(per_stream(lambda headers, stream: [headers(stream)])(peer), 30_000):
                peer.send(chunk)

        with pytest.raises(ConnectionError):
            bystander.is_served_during(attack)
        bystander.is_served()
    growth.stays_below(SLACK)


def test_pings_whose_acknowledgements_are_not_read(server: Served, bystander: Bystander, peer: Peer) -> None:
    growth = Growth(server)
    peer.socket.setblocking(False)
    # Send until the socket is full, or the server ends the connection.
    with suppress(OSError):
        while True:
            peer.socket.send(bytes(ping()) * 1000)
    bystander.is_served()
    growth.stays_below(SLACK)


# Half-open and half-sent


def test_thousands_of_half_open_calls(server: Served, bystander: Bystander) -> None:
    with ExitStack() as stack:
        peers = [stack.enter_context(Peer(server, source=ELSEWHERE)) for _ in range(3)]
        opened = [range(1, 1800, 2)] * 3

        def attack() -> None:
            for peer, streams in zip(peers, opened, strict=True):
                peer.send(*(peer.headers(stream, path=NEW_GAME) for stream in streams))
                peer.ping()

        bystander.is_served_during(attack)
        for peer in peers:
            peer.ping()
        # 1,000 calls wait (--max-calls). The oldest calls were ended.
        assert [len(peer.ends) for peer in peers] == [900, 800, 0]
        assert {peer.end(stream)[0] for peer in peers for stream in peer.ends} == {EXHAUSTED}
        # The other calls still wait for their requests.
        peers[2].send(data(message(SMALL), END_STREAM, 1))
        assert peers[2].end() == OK


def test_a_thousand_calls_whose_large_messages_never_arrive(server: Served, bystander: Bystander, peer: Peer) -> None:
    growth = Growth(server)

    def attack() -> None:
        for stream in range(1, 2000, 2):
            peer.send(peer.headers(stream, path=NEW_GAME), data(b"\0\0\xff\xff\xff", 0, stream))
        # The announced messages would need 16 GB.
        assert peer.end()[0] is EXHAUSTED

    bystander.is_served_during(attack)
    growth.stays_below(SLACK)


# Windows

GAME = max(engine.games(), key=lambda game: game.observation_length)
# Its response has about 4 MiB.
LARGE = NewGamesRequest(
    setup=BatchSetup(game=GAME.name, players=GAME.min_players),
    count=4 * 2**20 // GAME.observation_length,
    columns=Columns(observations=True),
)
BUDGET = 32


@pytest.mark.parametrize("method", [NEW_GAMES, PLAY])
@pytest.mark.parametrize("greeting", [[setting(WINDOW, 0)], TAKES_ALL], ids=["closed windows", "an unread socket"])
def test_large_unread_responses(method: str, greeting: Sequence[Frame]) -> None:
    limit = ("--max-undelivered-bytes", str(BUDGET * 2**20))
    request = LARGE if method == NEW_GAMES else PlayRequest(new_games=LARGE)
    with (
        served("--fast-address", "127.0.0.1:0", *limit) as server,
        Bystander(server) as bystander,
        Peer(server, *greeting, source=ELSEWHERE) as peer,
    ):
        growth = Growth(server)
        streams = range(1, 101, 2)

        def attack() -> None:
            for stream in streams:
                peer.send(*peer.call(stream, method, request.SerializeToString()))

        bystander.is_served_during(attack)
        growth.stays_below(BUDGET + SLACK)
        # The waiting responses are not lost.
        if greeting is not TAKES_ALL:
            peer.send(*TAKES_ALL)
        codes = [peer.end(stream)[0] for stream in streams]
        whole = [response for responses in peer.messages.values() for response in responses if len(response) > 2**21]
        assert whole
        if method == NEW_GAMES:
            assert {*codes} <= {grpc.StatusCode.OK, EXHAUSTED}
            assert codes.count(grpc.StatusCode.OK) == len(whole)
        else:
            # Streams refuse requests individually.
            refused = [PlayResponse.FromString(peer.messages[stream][0]).HasField("refusal") for stream in streams]
            assert {*codes} == {grpc.StatusCode.OK}
            assert refused.count(False) == len(whole)
        growth.stays_below(BUDGET + SLACK)
        bystander.is_served()


def talkative_request(server: Served) -> NewGameRequest:
    """Return the NewGame request with the largest response, about 14 KB."""
    requests = [
        NewGameRequest(
            game=game.name,
            players=game.max_players,
            include=Include(legal_actions=True, score=True, viewers=range(game.max_players)),
        )
        for game in engine.games()
    ]
    with Peer(server, *TAKES_ALL) as peer:
        for number, request in enumerate(requests):
            peer.send(*peer.call(2 * number + 1, NEW_GAME, request.SerializeToString()))
            peer.end(2 * number + 1)
        return max(zip(requests, peer.messages.values(), strict=True), key=lambda each: len(each[1][0]))[0]


def test_small_unread_responses() -> None:
    limit = ("--max-undelivered-bytes", str(BUDGET * 2**20))
    with (
        served("--fast-address", "127.0.0.1:0", *limit) as server,
        Bystander(server) as bystander,
        ExitStack() as stack,
    ):
        peers = [stack.enter_context(Peer(server, setting(WINDOW, 0), source=ELSEWHERE)) for _ in range(10)]
        request = talkative_request(server)
        growth = Growth(server)

        def attack() -> None:
            for peer in peers:
                for stream in range(1, 2000, 2):
                    request.seed = stream
                    peer.send(*peer.call(stream, NEW_GAME, request.SerializeToString()))
                peer.ping()

        bystander.is_served_during(attack)
        growth.stays_below(BUDGET + SLACK)


def test_a_response_is_read_byte_by_byte(server: Served, bystander: Bystander) -> None:
    with Peer(server, setting(WINDOW, 1), source=ELSEWHERE) as peer:
        peer.send(*peer.call(1, NEW_GAME, SMALL))

        def take() -> None:
            while 1 not in peer.ends:
                frame = peer.frame()
                if frame.kind == DATA and frame.payload:
                    assert len(frame.payload) == 1
                    peer.send(window(1, 1))

        bystander.is_served_during(take)
        assert peer.end() == OK
        assert peer.messages[1] == [bystander.response]


# Slow clients


@pytest.mark.parametrize("way", ["bytes", "frames"])
def test_a_request_is_sent_byte_by_byte(server: Served, bystander: Bystander, way: str) -> None:
    with Peer(server, greets=False, source=ELSEWHERE) as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers, request = peer.call(1, NEW_GAME, SMALL)
        start: list[Any] = [PREFACE, Frame(SETTINGS, 0, 0, b""), headers]
        if way == "bytes":
            parts = [bytes([byte]) for byte in b"".join(bytes(frame) for frame in (*start, request))]
        else:
            parts = [
                *(bytes(frame) for frame in start),
                *(bytes(data(bytes([byte]))) for byte in request.payload),
                bytes(data(b"", END_STREAM)),
            ]

        def send() -> None:
            for part in parts:
                peer.send(part)

        bystander.is_served_during(send)
        assert peer.end() == OK
        assert peer.messages[1] == [bystander.response]


SILENT: dict[str, list[Frame | bytes]] = {
    "nothing": [],
    "half a preface": [PREFACE[:10]],
    "a preface": [PREFACE],
    "a preface and half a frame": [PREFACE, bytes(Frame(SETTINGS, 0, 0, b""))[:5]],
    "headers without their end": [PREFACE, Frame(SETTINGS, 0, 0, b""), Frame(HEADERS, 0, 1, b"\x83")],
    "half a frame": [PREFACE, Frame(SETTINGS, 0, 0, b""), bytes(ping())[:12]],
}


@pytest.mark.parametrize("name", SILENT)
def test_a_silent_client_is_disconnected(name: str) -> None:
    with (
        served("--fast-address", "127.0.0.1:0", "--request-timeout", "1.5") as server,
        Bystander(server) as bystander,
        Peer(server, greets=False) as peer,
    ):
        peer.send(*SILENT[name])
        assert bystander.is_served_during(peer.goodbye)[0] == NO_ERROR


def test_a_client_that_sends_meaningless_frames_is_not_silent() -> None:
    with served("--fast-address", "127.0.0.1:0", "--request-timeout", "1.5") as server, Peer(server) as peer:
        peer.send(Frame(UNKNOWN_KIND, 0, 0, b"later"))
        # Silent clients that connected later are disconnected in the meantime.
        for _ in range(2):
            with Peer(server, greets=False) as silent:
                assert silent.goodbye()[0] == NO_ERROR
        peer.send(*peer.call(3, NEW_GAME, SMALL))
        assert peer.end(3) == OK


def test_a_call_whose_request_does_not_arrive_ends() -> None:
    with served("--fast-address", "127.0.0.1:0", "--request-timeout", "1.5") as server, Peer(server) as peer:
        peer.send(peer.headers(path=NEW_GAME), data(message(SMALL)[:-1]))
        code, text = peer.end()
        assert (code, "request timeout" in text) == (grpc.StatusCode.DEADLINE_EXCEEDED, True)
        # The connection remains usable.
        peer.send(*peer.call(3, NEW_GAME, SMALL))
        assert peer.end(3) == OK


# Bombs


@pytest.mark.parametrize("path", [NEW_GAME, NEW_GAMES, PLAY])
def test_a_compressed_bomb_is_not_opened(server: Served, bystander: Bystander, peer: Peer, path: str) -> None:
    growth = Growth(server)
    bomb = gzip.compress(bytes(2**28))
    compressed = b"\1" + len(bomb).to_bytes(4) + bomb

    def attack() -> None:
        peer.send(peer.headers(path=path, grpc_encoding="gzip"), data(compressed, END_STREAM))

    bystander.is_served_during(attack)
    assert peer.end()[0] is grpc.StatusCode.UNIMPLEMENTED
    assert peer.ends[1]["grpc-accept-encoding"] == "identity"
    growth.stays_below(SLACK)


def large_field(size: int) -> bytes:
    """Return a header field without indexing whose value has this size (RFC 7541, 5.1 and 6.2.2)."""
    length, left = bytearray(b"\x7f"), size - 127
    while left >= 128:
        length.append(left & 0x7F | 0x80)
        left >>= 7
    return b"\x00\x01a" + bytes(length) + bytes([left]) + b"b" * size


# The size of a list of headers. If each byte refers to one entry of 3,996 bytes in the HPACK table, the decoded list
# needs 12 GB.
GRANTED = 3 * 2**20
REFERENCES = b"\x40\x01a" + large_field(3_959)[3:] + b"\xbe" * (GRANTED - 4_000)
FIELDS = b"\x00\x01a\x01b" * (GRANTED // 5)


def in_frames(headers: bytes, size: int) -> list[Frame]:
    parts = [headers[i : i + size] for i in range(0, len(headers), size)]
    frames = [Frame(CONTINUATION if i else HEADERS, 0, 1, part) for i, part in enumerate(parts)]
    return [*frames[:-1], frames[-1]._replace(flags=END_HEADERS)]


HEADER_BOMBS: dict[str, Callable[[bytes], list[Frame]]] = {
    "many fields in a frame": lambda head: in_frames((head + FIELDS)[:GRANTED], GRANTED),
    "many fields in CONTINUATIONs": lambda head: in_frames(head + FIELDS, 2**14),
    "a large field": lambda head: in_frames((head + large_field(GRANTED))[:GRANTED], GRANTED),
    "a large field in CONTINUATIONs": lambda head: in_frames(head + large_field(GRANTED), 2**14),
    "references to a large field": lambda head: in_frames((head + REFERENCES)[:GRANTED], GRANTED),
}


@pytest.mark.parametrize("name", HEADER_BOMBS)
def test_3_mib_of_headers(server: Served, bystander: Bystander, peer: Peer, name: str) -> None:
    growth = Growth(server)
    frames = HEADER_BOMBS[name](peer.headers().payload)
    bystander.is_served_during(peer.pour, [b"".join(map(bytes, frames))])
    # libnghttp2 accepts no field above 64 KiB.
    assert peer.goodbye()[0] in {ENHANCE_YOUR_CALM, COMPRESSION_ERROR}
    growth.stays_below(SLACK)


# Garbage

frames = st.builds(
    Frame,
    kind=st.integers(0, 10),
    flags=st.integers(0, 255),
    stream=st.sampled_from([0, 1, 2, 3, 5, 2**31 - 1, 2**31]),
    payload=st.binary(max_size=60),
)


@settings(deadline=None, max_examples=100)
@given(greets=st.booleans(), has_call=st.booleans(), sent=st.lists(frames | st.binary(max_size=60), max_size=8))
def test_garbage(server: Served, greets: bool, has_call: bool, sent: list[Frame | bytes]) -> None:
    with Bystander(server) as bystander, Peer(server, greets=greets, source=ELSEWHERE) as peer:
        # The server may end the connection at any byte.
        with suppress(OSError):
            peer.send(*([peer.headers()] if has_call else []), *sent)
            peer.socket.shutdown(socket.SHUT_WR)
        while has_come(peer):
            pass
        bystander.is_served()


def has_come(peer: Peer) -> bool:
    """Wait for data or the end of the connection."""
    try:
        return bool(peer.socket.recv(2**16))
    except ConnectionError:
        return False


# Connections


def test_thousands_of_connections(server: Served, bystander: Bystander, many_files: int) -> None:
    if many_files < 4000:
        pytest.skip("this process may not open as many files")
    growth = Growth(server)
    with ExitStack() as stack:

        def attack() -> None:
            for i in range(3000):
                peers.append(stack.enter_context(Peer(server, greets=i % 2 == 0, source=ELSEWHERE)))

        peers: list[Peer] = []
        bystander.is_served_during(attack)
        # Half of the connections are silent. The rest are used.
        for peer in peers[::500]:
            peer.ping()
        growth.stays_below(2 * SLACK)
    bystander.is_served()


def test_connections_keep_little_memory_of_large_responses(server: Served, bystander: Bystander) -> None:
    with ExitStack() as stack:
        peers = [stack.enter_context(Peer(server, *TAKES_ALL, source=ELSEWHERE)) for _ in range(30)]
        growth = Growth(server)

        def take() -> None:
            for peer in peers:
                peer.send(*peer.call(1, NEW_GAMES, LARGE.SerializeToString()))
                assert peer.end() == OK

        bystander.is_served_during(take)
        # All responses together have taken 120 MB.
        growth.stays_below(SLACK)


def test_a_connection_above_the_limit_ends_one_of_the_client_with_most(many_files: int) -> None:
    files = ("prlimit", "--nofile=400")
    with (
        served("--fast-address", "127.0.0.1:0", prefix=files) as server,
        Bystander(server) as bystander,
        ExitStack() as stack,
    ):

        def attack() -> None:
            for _ in range(300):
                peers.append(stack.enter_context(Peer(server, source=ELSEWHERE)))
                peers[-1].ping()

        peers: list[Peer] = []
        bystander.is_served_during(attack)
        # Half of the descriptors are for connections. The oldest connections were ended.
        for peer in peers[:50]:
            peer.rest()
        peers[-1].ping()
