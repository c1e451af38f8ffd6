"""The port for streams of batches: what gRPC's port answers, and HTTP/2 played here frame by frame (RFC 9113)."""

import errno
import itertools
import os
import queue
import random
import re
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import grpc
import pytest
from hpack import Decoder, Encoder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PRIORITY_FLAG,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    UNKNOWN_KIND,
    WINDOW_UPDATE,
    Frame,
    data,
    message,
    padded,
    reset,
    setting,
    window,
)
from prometheus_client import CollectorRegistry

from chatiere import engine
from chatiere.clients import BatchClient, ChatiereError, SocketStream, TransportError, VectorEnv, batch_calls
from chatiere.engine import Game
from chatiere.http2 import connection as http2_connection
from chatiere.service import play_port, port
from chatiere.service.batch import Batches
from chatiere.service.config import SettingError, Settings
from chatiere.service.port import HeldPort, listening_sockets
from chatiere.service.server import create_server
from chatiere.service.tokens import new_token
from chatiere.v1.batch_service_pb2 import (
    Columns,
    NewGamesRequest,
    ObserveRequest,
    PlayoutRequest,
    PlayRequest,
    PlayResponse,
    ScoreRequest,
    StepRequest,
    Table,
)

from .process import Served, served, wait_until
from .support import PATIENCE, LogLines, Running, read_refusal, running

PLAY = "/chatiere.v1.BatchService/Play"
LABELS = {"grpc_type": "bidi_stream", "grpc_service": "chatiere.v1.BatchService", "grpc_method": "Play"}
# HTTP/2's settings and errors by number.
TABLE_SIZE, STREAMS, WINDOW, FRAME_SIZE = 1, 3, 4, 5
NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM = 0, 1, 7, 11
# What the service is ready to take ahead of its answers.
AHEAD = 2**22


def own(**more: Any) -> Settings:
    return Settings(address="127.0.0.1:0", play_address="127.0.0.1:0", **more)


@contextmanager
def playing(**more: Any) -> Iterator[Running]:
    with running(own(**more)) as server:
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with playing() as server:
        yield server


def play_address(server: Running) -> str:
    return f"127.0.0.1:{server.server.play_port}"


class Peer:
    """A client, frame by frame. `messages`, `ends`, `resets`: what has come so far, by stream."""

    def __init__(self, server: Running, *greeting: Frame, greets: bool = True) -> None:
        assert server.server.play_port is not None
        self.socket = socket.create_connection(("127.0.0.1", server.server.play_port), PATIENCE)
        self._came = self.socket.makefile("rb")
        self._encoder, self._decoder = Encoder(), Decoder()
        self._parts: dict[int, bytes] = {}
        self.messages: dict[int, list[bytes]] = {}
        self.ends: dict[int, dict[str, str]] = {}
        self.resets: dict[int, int] = {}
        if greets:
            self.socket.sendall(PREFACE)
            self.send(*(greeting or (Frame(SETTINGS, 0, 0, b""),)))

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._came.close()
        self.socket.close()

    def send(self, *frames: Frame | bytes) -> None:
        self.socket.sendall(b"".join(map(bytes, frames)))

    def headers(self, stream: int = 1, flags: int = END_HEADERS, without: str = "", **others: str) -> Frame:
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": PLAY,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        } | {name.replace("__", ":").replace("_", "-"): value for name, value in others.items()}
        headers.pop(without, None)
        return Frame(HEADERS, flags, stream, self._encoder.encode(list(headers.items())))

    def frame(self) -> Frame:
        """The next that comes. Raises EOFError."""
        head = self._came.read(9)
        if len(head) < 9:
            raise EOFError
        size_and_kind, flags, stream = struct.unpack(">IBI", head)
        frame = Frame(size_and_kind & 0xFF, flags, stream, self._came.read(size_and_kind >> 8))
        if frame.kind == DATA:
            self._parts[stream] = self._parts.get(stream, b"") + frame.payload
            while len(part := self._parts[stream]) >= 5 and len(part) >= (end := 5 + int.from_bytes(part[1:5])):
                assert part[0] == 0
                self.messages.setdefault(stream, []).append(part[5:end])
                self._parts[stream] = part[end:]
        elif frame.kind == HEADERS:
            assert flags & END_HEADERS
            headers = {str(name): str(value) for name, value in self._decoder.decode(frame.payload)}
            if flags & END_STREAM:
                self.ends[stream] = headers
            else:
                assert headers == {":status": "200", "content-type": "application/grpc"}
        elif frame.kind == RST_STREAM:
            (self.resets[stream],) = struct.unpack(">I", frame.payload)
        return frame

    def skip_to(self, kind: int, flags: int = 0) -> Frame:
        while (frame := self.frame()).kind != kind or frame.flags & flags != flags:
            pass
        return frame

    def answers(self, count: int, stream: int = 1) -> list[bytes]:
        """The first so many messages."""
        while len(self.messages.get(stream, ())) < count:
            assert stream not in self.ends, f"the call has ended: {self.ends}"
            self.frame()
        return self.messages[stream][:count]

    def end(self, stream: int = 1) -> tuple[grpc.StatusCode, str]:
        """How a call ends."""
        while stream not in self.ends:
            self.frame()
        end = self.ends[stream]
        (code,) = [code for code in grpc.StatusCode if str(code.value[0]) == end["grpc-status"]]
        return code, unquote(end.get("grpc-message", ""))

    def goodbye(self) -> tuple[int, str]:
        """The error and the words with which the connection ends; it must do so."""
        payload = self.skip_to(GOAWAY).payload
        with pytest.raises(EOFError):
            self.frame()
        return int.from_bytes(payload[4:8]), payload[8:].decode()

    def ping(self, content: bytes = b"whothere") -> None:
        """Wait until all that was sent has been read."""
        self.send(Frame(PING, 0, 0, content))
        while self.skip_to(PING, ACK).payload != content:
            pass

    def calls(self, stream: int, content: bytes = b"") -> None:
        """Make a call and end it; it must be answered."""
        self.send(self.headers(stream), data(message(content), END_STREAM, stream))
        (answer,) = self.answers(1, stream)
        assert answer == content
        assert self.end(stream) == (grpc.StatusCode.OK, "")


@pytest.fixture
def peer(server: Running) -> Iterator[Peer]:
    with Peer(server) as peer:
        yield peer


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request is its own answer."""
    monkeypatch.setattr(Batches, "play", lambda self, request, cancellation: [bytes(request)])


class Slow:
    """Answers that take until they are released; each is its request."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.released = threading.Semaphore(0), threading.Semaphore(0)
        self.cancelled: list[bool] = []
        monkeypatch.setattr(Batches, "play", self._play)

    def _play(self, request: memoryview, cancellation: Any) -> list[bytes]:
        self.entered.release()
        assert self.released.acquire(timeout=PATIENCE)
        self.cancelled.append(cancellation.cancelled)
        return [bytes(request)]

    def wait_for_request(self) -> None:
        assert self.entered.acquire(timeout=PATIENCE)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow(monkeypatch)
    yield slow
    slow.released.release(1000)


def everything_is_answered(server: Running) -> None:
    """Another connection works."""
    with Peer(server) as peer:
        peer.send(peer.headers(), data(message(PlayRequest(tag=7).SerializeToString()), END_STREAM))
        assert PlayResponse.FromString(peer.answers(1)[0]).tag == 7
        assert peer.end() == (grpc.StatusCode.OK, "")


def connections_end() -> None:
    wait_until(lambda: not [each for each in threading.enumerate() if each.name == "play"], "connections end")


# The same answers as gRPC's port


def all_kinds(game: Game) -> list[bytes]:
    """Requests of all kinds, and some that are refused."""
    table = Table(game=game.name, players=game.min_players)
    position = game.new_game(game.min_players, seed=3)
    states = [position.pack()]
    for _ in range(5):
        position.apply(position.legal_actions()[0])
        states.append(position.pack())
    packed, columns = b"".join(states), Columns(legal=True, scores=True, observations=True)
    count = len(states)
    seats, zeros = bytes(count), bytes(2 * count)
    requests = [
        PlayRequest(new_games=NewGamesRequest(table=table, count=3, columns=columns)),
        PlayRequest(new_games=NewGamesRequest(table=table, seeds=struct.pack("<3Q", 1, 2, 3), columns=columns)),
        PlayRequest(step=StepRequest(table=table, states=packed, moves=zeros, columns=columns)),
        PlayRequest(playout=PlayoutRequest(table=table, states=packed, count=3, seed=5)),
        PlayRequest(score=ScoreRequest(table=table, states=packed)),
        PlayRequest(observe=ObserveRequest(table=table, states=packed, seats=seats)),
        PlayRequest(),
        PlayRequest(score=ScoreRequest(table=Table(game="tarock"), states=packed)),
        PlayRequest(score=ScoreRequest(table=table, states=packed[:-1])),
        PlayRequest(new_games=NewGamesRequest(table=table, count=2**31)),
    ]
    for tag, request in enumerate(requests):
        request.tag = tag
    return [request.SerializeToString() for request in requests]


def over_channel(address: str, requests: list[bytes]) -> list[bytes]:
    with grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)]) as channel:
        return list(channel.stream_stream(PLAY)(iter(requests), timeout=PATIENCE))


def test_every_answer_is_that_of_grpc_s_port(server: Running, game: Game) -> None:
    requests = all_kinds(game)
    expected = over_channel(server.address, requests)
    assert [PlayResponse.FromString(each).HasField("refusal") for each in expected] == [False] * 6 + [True] * 4
    assert over_channel(play_address(server), requests) == expected
    with Peer(server) as peer:
        peer.send(peer.headers(), *[data(message(request)) for request in requests], data(b"", END_STREAM))
        assert peer.answers(len(requests)) == expected
        assert peer.end() == (grpc.StatusCode.OK, "")


def test_both_clients_have_the_same_answers_at_both_ports(server: Running, game: Game) -> None:
    table, columns = Table(game=game.name, players=game.max_players), Columns(legal=True, observations=True)

    def answers(stream: Any) -> list[str]:
        begun = stream.submit(batch_calls.new_games(table, [1, 2, 3], columns=columns)).result(PATIENCE)
        moves = begun.legal_ids[begun.legal_offsets[:-1]]
        futures = [
            stream.submit(call)
            for call in (
                batch_calls.step(table, begun.states, moves, columns=columns),
                batch_calls.resample(table, begun.states, [0, 1, 0], 3),
                batch_calls.pack(table, []),
                batch_calls.unpack(table, begun.states),
                batch_calls.playout(table, begun.states, 2, 9),
            )
        ]
        with pytest.raises(ChatiereError) as refused:
            stream.submit(batch_calls.new_games(Table(game="tarock"), [1])).result(PATIENCE)
        return [repr(future.result(PATIENCE)) for future in futures] + [repr(vars(refused.value))]

    found = []
    for address in server.address, play_address(server):
        with BatchClient(address) as client, client.stream() as over_grpc:
            found.append(answers(over_grpc))
        with SocketStream(address) as over_socket:
            found.append(answers(over_socket))
    assert found[0] == found[1] == found[2] == found[3]


def refused(address: str, requests: list[bytes], path: str = PLAY, **options: Any) -> Any:
    """What a call must end with, as grpcio's client reads it."""
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as raised:
        list(channel.stream_stream(path)(iter(requests), **({"timeout": PATIENCE} | options)))
    return read_refusal(raised.value)


def test_a_request_that_cannot_be_parsed_ends_the_stream_as_at_grpc_s_port(server: Running) -> None:
    requests = [PlayRequest(tag=1).SerializeToString(), b"\xff", PlayRequest(tag=2).SerializeToString()]
    found, expected = (refused(address, requests) for address in (play_address(server), server.address))
    assert found == expected
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_REQUEST")
    assert found.domain == "chatiere.v1"
    assert found.request_id


def test_a_failure_of_the_service_is_logged_and_ends_the_stream(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Batches, "play", None)
    with LogLines() as log:
        found = refused(play_address(server), [b""])
    assert (found.code, found.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert [line for line in log.lines if f"incident {found.metadata['incident']} of request" in line]


# What is no call of Play


@pytest.mark.parametrize("path", ["/chatiere.v1.BatchService/Step", "/chatiere.v1.GameService/ListGames", "/x", ""])
def test_other_methods_are_unimplemented(peer: Peer, echo: None, path: str) -> None:
    peer.send(peer.headers(__path=path), data(message(b"")))
    code, words = peer.end()
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "streams of batches alone" in words
    peer.calls(3)


@pytest.mark.parametrize(
    ("headers", "code", "words"),
    [
        ({"__method": "GET"}, grpc.StatusCode.UNIMPLEMENTED, ":method must be POST, not 'GET'"),
        ({"content_type": "text/html"}, grpc.StatusCode.UNIMPLEMENTED, "content-type must be application/grpc, not"),
        ({"content_type": "application/grpcx"}, grpc.StatusCode.UNIMPLEMENTED, "content-type must be application/grpc"),
        ({"grpc_encoding": "gzip"}, grpc.StatusCode.UNIMPLEMENTED, "grpc-encoding must be identity, not 'gzip'"),
        ({"grpc_timeout": "soon"}, grpc.StatusCode.INTERNAL, "grpc-timeout is none: 'soon'"),
        ({"grpc_timeout": "-1S"}, grpc.StatusCode.INTERNAL, "grpc-timeout is none"),
        ({"grpc_timeout": "123456789S"}, grpc.StatusCode.INTERNAL, "grpc-timeout is none"),
        ({"grpc_timeout": "1n"}, grpc.StatusCode.DEADLINE_EXCEEDED, "the call has had its time"),
        ({"grpc_timeout": "0H"}, grpc.StatusCode.DEADLINE_EXCEEDED, "the call has had its time"),
    ],
)
def test_headers_that_begin_no_call(
    peer: Peer, echo: None, headers: dict[str, str], code: grpc.StatusCode, words: str
) -> None:
    peer.send(peer.headers(**headers))
    found, said = peer.end()
    assert found is code
    assert words in said
    peer.calls(3)


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/grpc+proto"},
        {"grpc_encoding": "identity"},
        {"without": "content-type"},
        {"grpc_timeout": "99999999H"},
        {"grpc_timeout": "1000000u"},
        {"x_other": "meow", "other_bin": "AAEC"},
    ],
)
def test_headers_that_begin_one(peer: Peer, echo: None, headers: dict[str, str]) -> None:
    peer.send(peer.headers(**headers), data(message(b"meow")))
    assert peer.answers(1) == [b"meow"]


def test_a_deadline_passes_while_the_client_says_nothing(server: Running) -> None:
    with grpc.insecure_channel(play_address(server)) as channel:
        # grpcio's client ends such a call itself: what the service says is read below.
        call = channel.stream_stream(PLAY)(iter(threading.Event().wait, None), timeout=0.05)
        with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
            next(call)
    with Peer(server) as peer:
        peer.send(peer.headers(grpc_timeout="10m"))
        assert peer.end()[0] is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_compressed_message(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(), data(message(b"first") + struct.pack(">BI", 1, 3) + b"zip"), data(message(b"more")))
    code, words = peer.end()
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "a message of 3 bytes is compressed, which nobody asked for" in words
    assert peer.messages[1] == [b"first"]
    peer.calls(3)


# Tokens, limits, ids, metrics, log


def test_tokens(tmp_path: Path) -> None:
    token, line = new_token("alice")
    path = tmp_path / "tokens"
    path.write_text(f"{line}\n")
    table = Table(game="discat", players=2)
    with playing(tokens=path) as server, LogLines() as log:
        for metadata in (), (("authorization", "Bearer wrong"),):
            found = refused(play_address(server), [b""], metadata=metadata)
            assert (found.code, found.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        with (
            SocketStream(play_address(server)) as stream,
            pytest.raises(ChatiereError, match="UNAUTHENTICATED: this service needs a token"),
        ):
            stream.submit(batch_calls.new_games(table, [1])).result(PATIENCE)
        with SocketStream(play_address(server), token=token) as stream:
            assert len(stream.submit(batch_calls.new_games(table, [1])).result(PATIENCE).states) == 1
        assert log.wait_for("client alice")


def test_calls_of_one_client_at_a_time(slow: Slow) -> None:
    with playing(max_calls_per_client=1) as server, Peer(server) as first, Peer(server) as second:
        first.send(first.headers(), data(message(b"meow"), END_STREAM))
        slow.wait_for_request()
        second.send(second.headers())
        code, words = second.end()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "calls of one client at a time, 1 at most" in words
        slow.released.release(2)
        assert first.end()[0] is grpc.StatusCode.OK
        # The end is told after the call is over.
        second.calls(3)


def test_connections_above_the_limit_are_refused_with_a_reason(echo: None) -> None:
    with playing(max_streams=2) as server, Peer(server) as first:
        with Peer(server) as second:
            first.calls(1)
            second.calls(1)
            with Peer(server, greets=False) as third:
                assert third.goodbye() == (ENHANCE_YOUR_CALM, "2 streams are open, which is the most")
            with (
                SocketStream(play_address(server)) as stream,
                pytest.raises(TransportError, match=r"UNAVAILABLE: .* 2 streams are open, which is the most"),
            ):
                stream.submit(batch_calls.new_games(Table(game="discat", players=2), [1])).result(PATIENCE)

        def there_is_room() -> bool:
            with Peer(server, greets=False) as peer:
                return peer.frame().kind == SETTINGS and peer.frame().kind == WINDOW_UPDATE

        wait_until(there_is_room, "there is room again")
        first.calls(3)


def test_a_message_that_is_too_long(echo: None) -> None:
    with playing(max_message_bytes=1000) as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(bytes(1000))))
        assert peer.answers(1) == [bytes(1000)]
        # What is passed over is given back to the window, too.
        rest = b"".join(bytes(data(bytes(2**16))) for _ in range(3 * AHEAD // 2**16))
        sender = threading.Thread(target=peer.send, args=(data(message(bytes(1001))), rest))
        sender.start()
        code, words = peer.end()
        sender.join(PATIENCE)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "a message of 1001 bytes is longer than 1000" in words
        peer.calls(3, bytes(1000))
    with playing(max_message_bytes=1000) as server:
        found = refused(play_address(server), [bytes(1001)])
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")


def test_request_ids_and_log_lines(server: Running, echo: None) -> None:
    with LogLines() as log, Peer(server) as peer:
        peer.send(peer.headers(x_request_id="cat-1"), data(message(b""), END_STREAM))
        assert peer.end()[0] is grpc.StatusCode.OK
        assert peer.ends[1]["x-request-id"] == "cat-1"
        line = log.wait_for("request cat-1")
        assert "chatiere.v1.BatchService/Play OK" in line
        assert f"from ipv4:127.0.0.1:{peer.socket.getsockname()[1]} " in line
        # One that could forge a line gets another.
        peer.send(peer.headers(3, x_request_id="cat\r\n1"), data(b"", END_STREAM, 3))
        assert peer.end(3)[0] is grpc.StatusCode.OK
        assert re.fullmatch("[0-9a-f]{16}", peer.ends[3]["x-request-id"])


def handled(server: Running) -> dict[str, float]:
    names = ("OK", "Canceled", "InvalidArgument", "DeadlineExceeded", "ResourceExhausted", "Unavailable")
    counts = {name: server.sample("grpc_server_handled_total", **LABELS, grpc_code=name) for name in names}
    return {name: count for name, count in counts.items() if count}


def in_flight(server: Running) -> float:
    return server.sample("chatiere_calls_in_flight", grpc_type="bidi_stream")


def test_calls_and_batches_are_counted() -> None:
    game = engine.games()[0]
    request = PlayRequest(new_games=NewGamesRequest(table=Table(game=game.name, players=game.min_players), count=5))
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(request.SerializeToString())))
        peer.answers(1)
        assert in_flight(server) == 1
        peer.send(data(b"", END_STREAM))
        assert peer.end()[0] is grpc.StatusCode.OK
        assert (handled(server), in_flight(server)) == ({"OK": 1}, 0)
        assert server.sample("chatiere_batch_items_sum", game=game.name, method="NewGames") == 5
        peer.send(peer.headers(3), data(message(b"\xff"), 0, 3))
        assert peer.end(3)[0] is grpc.StatusCode.INVALID_ARGUMENT
        peer.send(peer.headers(5), reset(5))
        peer.send(peer.headers(7))
        wait_until(lambda: server.sample("grpc_server_started_total", **LABELS) >= 3, "the call has begun")
        peer.send(reset(7))
        peer.ping()
        wait_until(lambda: not in_flight(server), "the call is over")
        counts = handled(server)
        assert counts.pop("Canceled") == server.sample("grpc_server_started_total", **LABELS) - 2
        assert counts == {"OK": 1, "InvalidArgument": 1}
        peer.send(peer.headers(9, __path="/other"))
        assert peer.end(9)[0] is grpc.StatusCode.UNIMPLEMENTED
        unknown = dict.fromkeys(LABELS, "unknown")
        assert server.sample("grpc_server_handled_total", **unknown, grpc_code="Unimplemented") == 1


def test_traces_stand_around_the_calls_of_this_port_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.instrumentation.grpc")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with playing(traces=True) as server:
        everything_is_answered(server)
        assert refused(play_address(server), [b"\xff"]).reason == "MALFORMED_REQUEST"


# HTTP/2: beginnings


BEGINNINGS = {
    "HTTP/1.1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TLS": bytes.fromhex("160301010001000100fc0303") + bytes(200),
    "another word": PREFACE[:-6] + b"XX\r\n\r\n",
    "nonsense": bytes(1000),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_beginning_that_is_not_http2_s(server: Running, name: str) -> None:
    with Peer(server, greets=False) as peer:
        peer.send(BEGINNINGS[name])
        assert peer.goodbye() == (PROTOCOL_ERROR, "this is not gRPC: the client does not begin as HTTP/2 does")
    everything_is_answered(server)


def test_a_beginning_that_comes_in_pieces_or_breaks_off(server: Running) -> None:
    for size in 0, 1, len(PREFACE) - 1:
        with Peer(server, greets=False) as peer:
            peer.send(PREFACE[:size])
            peer.socket.shutdown(socket.SHUT_WR)
            assert peer.goodbye()[0] == NO_ERROR
    with Peer(server, greets=False) as peer:
        for byte in PREFACE + bytes(Frame(PING, 0, 0, b"whothere")):
            peer.send(bytes([byte]))
        assert peer.skip_to(PING) == Frame(PING, ACK, 0, b"whothere")


def test_a_client_that_does_not_begin_is_left(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_port, "_GREETING", 0.0)
    with Peer(server, greets=False) as peer:
        peer.goodbye()


def test_a_connection_without_a_call_is_left_in_the_end(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_port, "_IDLE", 0.0)
    with Peer(server) as peer:
        peer.goodbye()


def test_how_the_service_begins(peer: Peer) -> None:
    first, second = peer.frame(), peer.frame()
    assert (first.kind, first.stream) == (SETTINGS, 0)
    values = dict(struct.iter_unpack(">HI", first.payload))
    assert values[STREAMS] == 1
    assert values[FRAME_SIZE] == 2**24 - 1
    assert second == window(0, AHEAD - 65_535)
    assert peer.frame() == Frame(SETTINGS, ACK, 0, b"")


# HTTP/2: frames and streams


WRONG: dict[str, tuple[Callable[[Peer], list[Frame]], str]] = {
    "data before headers": (lambda peer: [data(message(b""))], "a frame of stream 1"),
    "data of no stream": (lambda peer: [peer.headers(), data(b"", 0, 0)], "a frame of stream 0"),
    "data of a later stream": (lambda peer: [peer.headers(), data(b"", 0, 3)], "a frame of stream 3"),
    "an even stream": (lambda peer: [peer.headers(2)], "headers of stream 2"),
    "no stream": (lambda peer: [peer.headers(0)], "headers of stream 0"),
    "an earlier stream": (lambda peer: [peer.headers(3), reset(3), peer.headers(1)], "headers of stream 1"),
    "headers again": (lambda peer: [peer.headers(), peer.headers()], "headers of stream 1"),
    "a reset of no stream": (lambda peer: [reset(1)], "stream 1 is reset"),
    "a reset of stream 0": (lambda peer: [reset(0)], "stream 0 is reset"),
    "half a reset": (lambda peer: [peer.headers(), Frame(RST_STREAM, 0, 1, b"\0")], ""),
    "a promise": (lambda peer: [Frame(PUSH_PROMISE, END_HEADERS, 1, bytes(8))], "type 5"),
    "headers that go on": (lambda peer: [Frame(CONTINUATION, END_HEADERS, 1, b"")], "without a beginning"),
    "headers that break off": (lambda peer: [Frame(HEADERS, 0, 1, b""), Frame(PING, 0, 0, bytes(8))], "headers go on"),
    "headers of two streams": (
        lambda peer: [Frame(HEADERS, 0, 1, b""), Frame(CONTINUATION, END_HEADERS, 3, b"\x82")],
        "headers go on",
    ),
    "headers without end": (
        lambda peer: [Frame(HEADERS, 0, 1, bytes(2**15)), *[Frame(CONTINUATION, 0, 1, bytes(2**15))] * 2],
        "headers have more than",
    ),
    "long headers": (lambda peer: [Frame(HEADERS, END_HEADERS, 1, bytes(70_000))], "70000 bytes"),
    "many headers": (
        lambda peer: [Frame(HEADERS, END_HEADERS, 1, Encoder().encode([("a", "b" * 2**12)]) + b"\xbe" * 2**14)],
        "",
    ),
    "broken headers": (lambda peer: [Frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff")], ""),
    "no text in headers": (lambda peer: [Frame(HEADERS, END_HEADERS, 1, b"\x00\x01a\x01\xff")], ""),
    "headers of padding alone": (lambda peer: [Frame(HEADERS, END_HEADERS | PADDED, 1, b"\x09" + bytes(5))], "padding"),
    "headers without padding": (lambda peer: [Frame(HEADERS, END_HEADERS | PADDED, 1, b"")], ""),
    "data of padding alone": (lambda peer: [peer.headers(), Frame(DATA, PADDED, 1, b"\x05\0\0")], "padding"),
    "half a setting": (lambda peer: [Frame(SETTINGS, 0, 0, b"\0")], ""),
    "a window too large": (lambda peer: [setting(WINDOW, 2**31)], "a window of"),
    "frames too large": (lambda peer: [setting(FRAME_SIZE, 2**24)], "frames of"),
    "frames too small": (lambda peer: [setting(FRAME_SIZE, 2**14 - 1)], "frames of"),
    "an update of nothing": (lambda peer: [window(0, 0)], "grows by 0"),
    "an update of nothing of the stream": (lambda peer: [peer.headers(), window(1, 0)], "grows by 0"),
    "updates beyond the largest": (lambda peer: [window(0, 2**31 - 1)], "grows by"),
    "updates of the stream beyond": (lambda peer: [peer.headers(), window(1, 2**31 - 1)], "grows by"),
    "half an update": (lambda peer: [Frame(WINDOW_UPDATE, 0, 0, b"\0")], ""),
    "a long ping": (lambda peer: [Frame(PING, 0, 0, bytes(60_000))], "a ping of 60000 bytes"),
    "half a farewell": (lambda peer: [Frame(GOAWAY, 0, 0, b"\0")], ""),
    "more than the window": (
        lambda peer: [peer.headers(), data(struct.pack(">BI", 0, 2**24) + bytes(AHEAD - 5)), data(b"x")],
        "more comes than the window has room for",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_grpc_ends_the_connection_with_a_reason(
    server: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else what is taken would be given back.
    monkeypatch.setattr(http2_connection, "_SHARES", 1)
    make, words = WRONG[name]
    with Peer(server) as peer:
        peer.send(*make(peer))
        error, said = peer.goodbye()
        assert error == PROTOCOL_ERROR
        assert said.startswith("this is not gRPC: ")
        assert words in said
        assert not peer.ends, "a call that broke has no status"
    everything_is_answered(server)


def test_what_means_nothing_is_passed_over(peer: Peer, echo: None) -> None:
    nothing = [
        Frame(PRIORITY, 0, 1, bytes(5)),
        Frame(UNKNOWN_KIND, 0xFF, 7, bytes(70_000)),
        Frame(SETTINGS, ACK, 0, b""),
        Frame(PING, ACK, 0, bytes(8)),
        Frame(GOAWAY, 0, 0, bytes(8) + b"later"),
        setting(0xABCD, 5),
        window(99, 5),
    ]
    half = message(b"meow")
    peer.send(*nothing, peer.headers(), *nothing, data(half[:3]), *nothing, data(half[3:]), *nothing, data(b""))
    # The highest bit of a stream's number.
    peer.send(data(message(b"purr"))._replace(stream=0x80000001))
    assert peer.answers(2) == [b"meow", b"purr"]


def test_headers_in_parts_with_padding_and_priority(peer: Peer, echo: None) -> None:
    whole = peer.headers(grpc_timeout="1H").payload
    first = padded(Frame(HEADERS, PRIORITY_FLAG, 1, bytes(5) + whole[:10]), 3)
    parts = [Frame(CONTINUATION, 0, 1, whole[10:11]), Frame(CONTINUATION, 0, 1, b"")]
    peer.send(first, *parts, Frame(CONTINUATION, END_HEADERS, 1, whole[11:]))
    peer.send(padded(data(message(b"meow"), END_STREAM), 255))
    assert peer.answers(1) == [b"meow"]
    assert peer.end()[0] is grpc.StatusCode.OK


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.lists(st.integers(0, 80_000).map(lambda size: (b"meow" * 20_000)[:size]), max_size=4),
    cuts=st.lists(st.integers(0, 70_000), max_size=8),
    paddings=st.lists(st.integers(0, 255) | st.none(), max_size=8),
)
def test_requests_arrive_however_they_are_cut_into_frames(
    server: Running, echo: None, contents: list[bytes], cuts: list[int], paddings: list[int | None]
) -> None:
    with Peer(server, setting(WINDOW, 2**31 - 1), window(0, 2**30)) as peer:
        peer.send(peer.headers())
        left = b"".join(map(message, contents))
        for cut, padding in zip(cuts, [*paddings, *[None] * 8], strict=False):
            frame, left = data(left[:cut]), left[cut:]
            peer.send(frame if padding is None else padded(frame, padding))
        peer.send(data(left, END_STREAM))
        assert peer.end() == (grpc.StatusCode.OK, "")
        assert peer.messages.get(1, []) == contents


@pytest.mark.parametrize("how", ["with the last", "empty", "trailers"])
def test_how_a_client_may_end_its_requests(peer: Peer, echo: None, how: str) -> None:
    last = data(message(b"meow"), END_STREAM if how == "with the last" else 0)
    trailers = Frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x00\x09x-trailer\x011")
    more = {"with the last": [], "empty": [data(b"", END_STREAM)], "trailers": [trailers]}[how]
    peer.send(peer.headers(), last, *more)
    assert peer.end() == (grpc.StatusCode.OK, "")
    assert peer.messages == {1: [b"meow"]}
    peer.calls(3)


def test_a_call_without_requests(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(flags=END_HEADERS | END_STREAM))
    assert peer.end() == (grpc.StatusCode.OK, "")
    peer.calls(3)


def test_a_request_that_breaks_off(peer: Peer, echo: None) -> None:
    for stream, part in (1, message(b"meow")[:7]), (3, message(b"meow")[:3]), (5, message(b"meow")[:5]):
        peer.send(peer.headers(stream), data(message(b"whole") + part, END_STREAM, stream))
        code, words = peer.end(stream)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "the last message breaks off" in words
        assert peer.messages[stream] == [b"whole"]
    peer.calls(7)


def test_a_second_stream_is_refused_and_the_first_goes_on(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(), data(message(b"one")))
    peer.answers(1)
    peer.send(peer.headers(3), data(message(b"other"), END_STREAM, 3), data(message(b"two"), END_STREAM))
    assert peer.end() == (grpc.StatusCode.OK, "")
    assert peer.messages == {1: [b"one", b"two"]}
    assert peer.resets[3] == REFUSED_STREAM
    peer.calls(5)


def test_pings_are_answered_in_the_middle_of_a_message_and_between_calls(peer: Peer, echo: None) -> None:
    peer.ping(b"no calls")
    whole = message(bytes(50_000))
    peer.send(peer.headers(), data(whole[:30_000]))
    peer.ping(b"half one")
    peer.send(data(whole[30_000:], END_STREAM))
    assert peer.end()[0] is grpc.StatusCode.OK
    peer.ping(b"no calls")


def test_pings_are_answered_while_an_answer_waits_for_room(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 0)) as peer:
        peer.send(peer.headers(), data(message(b"meow")))
        peer.ping()
        assert not peer.messages
        peer.send(window(1, 9))
        assert peer.answers(1) == [b"meow"]


def test_no_more_is_sent_than_windows_and_frames_allow(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 1000)) as peer:
        content = random.Random(7).randbytes(200_000)
        peer.send(peer.headers(), data(message(content)))
        left = message(content)
        # What is granted, and the frames that come of it: the stream's window holds, then the connection's (65,535 at
        # first), then the stream's again.
        steps: list[tuple[list[Frame], list[int]]] = [
            ([], [1000]),
            ([window(1, 300)], [300]),
            ([setting(WINDOW, 1100)], [100]),
            ([setting(WINDOW, 0), window(1, 1000)], []),
            ([setting(WINDOW, 1000), window(1, 99_000)], [16_384] * 3 + [65_535 - 1400 - 3 * 16_384]),
            ([window(0, 100_000), setting(FRAME_SIZE, 50_000)], [101_300 - 65_535]),
            ([window(1, 200_000)], [50_000, 165_535 - 101_300 - 50_000]),
            ([window(0, 200_000)], [200_005 - 165_535]),
        ]
        for frames, sizes in steps:
            peer.send(*frames)
            for size in sizes:
                assert peer.skip_to(DATA).payload == left[:size]
                left = left[size:]
            peer.ping()
        assert left == b""
        assert peer.messages == {1: [content]}


def test_a_client_without_memory_for_headers(server: Running, echo: None) -> None:
    with Peer(server, setting(TABLE_SIZE, 0)) as peer:
        peer._decoder.max_allowed_table_size = 0
        peer._decoder.header_table_size = 0
        for stream in 1, 3, 5:
            peer.calls(stream, b"meow")


# Resets


def test_a_reset_between_requests_and_in_the_middle_of_one(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(), data(message(b"one")))
    peer.answers(1)
    # With the next call behind it at once.
    peer.send(reset(1), peer.headers(3), data(message(b"two")[:6], 0, 3), reset(3), peer.headers(5))
    peer.send(data(message(b"three"), END_STREAM, 5))
    assert peer.end(5) == (grpc.StatusCode.OK, "")
    assert peer.messages == {1: [b"one"], 5: [b"three"]}
    assert not peer.resets.keys() & {5}
    # What was under way of those that were reset means nothing.
    peer.send(data(message(b"late"), END_STREAM, 3), window(1, 5), reset(3))
    peer.calls(7)


def test_a_reset_while_an_answer_is_made(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")), data(message(b"two")))
        slow.wait_for_request()
        peer.send(reset(1), peer.headers(3), data(message(b"three"), END_STREAM, 3))
        slow.released.release(3)
        assert peer.end(3) == (grpc.StatusCode.OK, "")
        assert peer.messages[3] == [b"three"]
        assert not peer.resets.keys() & {3}
        assert (handled(server), in_flight(server)) == ({"OK": 1, "Canceled": 1}, 0)


def test_a_reset_while_an_answer_waits_for_room(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 3)) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        peer.skip_to(DATA)
        peer.send(reset(1), peer.headers(3), window(3, 100), data(message(b"two"), END_STREAM, 3))
        assert peer.end(3) == (grpc.StatusCode.OK, "")
        assert peer.messages[3] == [b"two"]


def test_a_call_that_a_grpc_client_leaves(server: Running, echo: None) -> None:
    with grpc.insecure_channel(play_address(server)) as channel:
        play = channel.stream_stream(PLAY)
        for _ in range(20):
            left = play(iter(threading.Event().wait, None), timeout=PATIENCE)
            left.cancel()
            assert list(play(iter([b"meow"]), timeout=PATIENCE)) == [b"meow"]


# Both ends write at once


def test_as_many_large_requests_as_the_window_allows_before_any_answer_is_read(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 2**31 - 1), setting(FRAME_SIZE, 2**24 - 1), window(0, 2**30)) as peer:
        content = random.Random(7).randbytes(1_000_000)
        request = data(message(content))
        room, sent = 65_535, 0
        peer.send(peer.headers())
        while sent < 30:
            # All buffers between the ends are full when the first frame is read.
            while room >= len(request.payload) and sent < 30:
                peer.send(request)
                room -= len(request.payload)
                sent += 1
            while (frame := peer.skip_to(WINDOW_UPDATE)).stream:
                pass
            room += int.from_bytes(frame.payload)
        assert peer.answers(30) == [content] * 30


def test_both_clients_may_ask_much_before_they_read(server: Running) -> None:
    game = max(engine.games(), key=lambda game: game.packed_size)
    table = Table(game=game.name, players=game.max_players)
    count = AHEAD // game.packed_size
    with SocketStream(play_address(server)) as socket_stream, BatchClient(play_address(server)) as client:
        for stream in socket_stream, client.stream():
            with stream:
                begun = stream.submit(batch_calls.new_games(table, range(count // 4))).result(PATIENCE)
                calls = [batch_calls.resample(table, begun.states, [0] * len(begun.states), 3) for _ in range(20)]
                futures = [stream.submit(call) for call in calls]
                states = [future.result(PATIENCE).states.tobytes() for future in futures]
                assert len(states[0]) == begun.states.nbytes
                assert set(states) == {states[0]}


def test_a_client_that_reads_slowly(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 2**31 - 1), setting(FRAME_SIZE, 2**24 - 1), window(0, 2**30)) as peer:
        content = random.Random(7).randbytes(4_000_000)
        peer.send(peer.headers(), data(message(content)), data(message(b"meow"), END_STREAM))
        head = peer._came.read(9)
        while head[3] != DATA:
            peer._came.read(int.from_bytes(head[:3]))
            head = peer._came.read(9)
        # The answer waits for its reader, and the ping behind it.
        peer.send(Frame(PING, 0, 0, b"whothere"))
        assert int.from_bytes(head[:3]) == len(message(content))
        assert b"".join(peer._came.read(50_000) for _ in range(80)) + peer._came.read(5) == message(content)
        assert peer.end() == (grpc.StatusCode.OK, "")
        assert peer.messages[1] == [b"meow"]


def test_a_request_longer_than_the_window_behind_another(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 0), window(0, 2**30)) as peer:
        long = message(bytes(2 * AHEAD))
        # While the first answer waits for room, the second request and all that the window has room for come.
        peer.send(peer.headers(), data(message(b"one")))
        peer.ping()
        first = message(b"two") + long[: AHEAD - 16]
        peer.send(data(first))
        peer.ping()
        peer.send(window(1, 2**30))
        assert peer.answers(2) == [b"one", b"two"]
        given = 0
        while given < len(first):
            given += int.from_bytes(peer.skip_to(WINDOW_UPDATE).payload)
        peer.send(data(long[AHEAD - 16 :][:AHEAD]))
        peer.send(data(long[2 * AHEAD - 16 :]))
        assert peer.answers(3)[2] == long[5:]


def test_padding_is_given_back_to_the_window(peer: Peer, echo: None) -> None:
    padding = padded(data(b""), 255)
    peer.send(peer.headers(), *[padding] * (AHEAD // 256))
    given = 0
    while given < AHEAD // 2:
        given += int.from_bytes(peer.skip_to(WINDOW_UPDATE).payload)
    peer.send(data(message(b"meow")))
    assert peer.answers(1) == [b"meow"]


def test_more_small_requests_than_memory_should_hold(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 0), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"first")))
        peer.ping()
        peer.send(data(message(b"") * 2**14))
        peer.ping()
        peer.send(data(message(b"")), window(1, 2**30))
        code, words = peer.end()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert f"{2**14} messages wait for their answers, which is the most" in words
        assert len(peer.messages[1]) == 1 + 2**14
        peer.send(setting(WINDOW, 100))
        peer.calls(3)


@pytest.mark.parametrize("frame", [Frame(PING, 0, 0, bytes(8)), Frame(SETTINGS, 0, 0, b"")])
def test_a_client_that_asks_and_asks_and_never_reads(
    server: Running, frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_port, "_FAREWELL", 0.0)
    with Peer(server) as peer:
        many = bytes(frame) * 10_000

        def ask_for_ever() -> None:
            while True:
                peer.send(many)

        with pytest.raises(ConnectionError):
            ask_for_ever()
    connections_end()
    everything_is_answered(server)


def test_answers_for_a_client_that_is_gone_are_neither_kept_nor_made(slow: Slow) -> None:
    with playing() as server, Peer(server, setting(WINDOW, 2**31 - 1), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"meow") * 1000))
        slow.wait_for_request()
        # Its system says so to what is sent next.
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer._came.close()
        peer.socket.close()
        slow.released.release(1000)
        connections_end()
        assert len(slow.cancelled) <= 2
        assert (handled(server), in_flight(server)) == ({"Canceled": 1}, 0)


# Any bytes


def files() -> set[str]:
    return {os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}


def conversation() -> bytes:
    """A whole one, of two calls."""
    encoder = Encoder()
    headers = [(":method", "POST"), (":path", PLAY), ("content-type", "application/grpc"), ("grpc-timeout", "1H")]
    request = PlayRequest(new_games=NewGamesRequest(table=Table(game="discat", players=2), count=3))
    frames = [Frame(SETTINGS, 0, 0, b""), window(0, 2**20), Frame(PING, 0, 0, b"whothere")]
    for stream in 1, 3:
        frames.append(Frame(HEADERS, END_HEADERS, stream, encoder.encode(headers)))
        frames.append(padded(data(message(request.SerializeToString()), 0, stream), 3))
        frames.append(reset(stream))
    return PREFACE + b"".join(map(bytes, frames))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid conversation in which bytes are changed, left out, put in and said again."""
    made = bytearray(conversation())
    for _ in range(draw(st.integers(1, 5))):
        begin = draw(st.integers(0, len(made)))
        end = begin + draw(st.integers(0, 20))
        made[begin:end] = draw(st.one_of(st.binary(max_size=20), st.just(bytes(made[begin:end]) * 2)))
    return bytes(made)


_frames = st.lists(
    st.builds(
        Frame, st.integers(0, 10), st.integers(0, 255), st.integers(0, 4), st.binary(max_size=20) | st.just(b"\x82\x84")
    ).map(bytes),
    max_size=8,
)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | _frames.map(lambda frames: PREFACE + b"".join(frames)) | mutated())
def test_any_bytes(server: Running, came: bytes) -> None:
    with Peer(server, greets=False) as peer:
        peer.send(came)
        peer.socket.shutdown(socket.SHUT_WR)
        # It ends, and says so.
        assert peer.skip_to(GOAWAY).stream == 0
        with pytest.raises(EOFError):
            peer.frame()


def test_after_any_bytes_nothing_is_left(caplog: pytest.LogCaptureFixture) -> None:
    noise = random.Random(7)
    with running() as warm:
        assert warm.server.play_port is None
    before = set(threading.enumerate()), len(list(Path("/proc/self/fd").iterdir()))
    with playing() as server:
        for number in range(100):
            made = bytearray(conversation())
            for _ in range(number % 5):
                made[noise.randrange(len(made))] = noise.randrange(256)
            with Peer(server, greets=False) as peer:
                peer.send(bytes(made))
                peer.socket.shutdown(socket.SHUT_WR)
                peer.skip_to(GOAWAY)
        everything_is_answered(server)
        connections_end()
        assert in_flight(server) == 0

    def is_as_before() -> bool:
        left = {each for each in threading.enumerate() if "play" in each.name} - before[0]
        return not left and len(list(Path("/proc/self/fd").iterdir())) <= before[1]

    wait_until(is_as_before, "threads and files are as before")
    assert not [record for record in caplog.records if record.exc_info]


# Clients that are gone before they are served, and what the process has no more of


def test_clients_that_are_gone_at_once_hold_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("nobody is to wait for a client that is gone")

    monkeypatch.setattr(play_port.time, "sleep", sleep)
    port = play_port.PlayPort(own(), "127.0.0.1:0", lambda path: None, share_port=False)
    for _ in range(3):
        gone = socket.create_connection(("127.0.0.1", port.port))
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()
    with LogLines() as log, socket.create_connection(("127.0.0.1", port.port), PATIENCE) as client:
        port.start()
        assert client.recv(9)[3] == SETTINGS
        assert not log.lines
    assert port.stop(None).wait(PATIENCE)


def test_a_process_without_more_threads_goes_on(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def fail(thread: threading.Thread) -> None:
        if thread.name == "play":
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patch, LogLines() as log:
        patch.setattr(threading.Thread, "start", fail)
        with Peer(server, greets=False) as peer, pytest.raises(EOFError):
            peer.frame()
        assert log.wait_for("could not be served: can't start new thread")
    everything_is_answered(server)


def test_a_process_without_more_files_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    accept = socket.socket.accept
    failures = [OSError(24, "Too many open files")]

    def fail(listening: socket.socket) -> Any:
        if failures:
            raise failures.pop()
        return accept(listening)

    with playing() as server, LogLines() as log:
        monkeypatch.setattr(socket.socket, "accept", fail)
        everything_is_answered(server)
        assert log.wait_for("could not be taken: .* Too many open files".replace(".* ", "[Errno 24] "))


# Stopping


STOPPING = "the server stops: begin again, at another one"


def test_what_has_come_is_answered_before_the_end(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")), data(message(b"two")))
        slow.wait_for_request()
        ended = server.server.stop(PATIENCE)
        slow.released.release(2)
        assert peer.answers(2) == [b"one", b"two"]
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
    with playing() as server, grpc.insecure_channel(play_address(server)) as channel:
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
    monkeypatch.setattr(Batches, "play", lambda self, request, cancellation: [bytes(50_000_000)])
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
    play = ("--play-address", "127.0.0.1:0", "--workers", "2")

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
def test_a_play_address_that_is_taken(share: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        words = f"^play_address: cannot listen on {address}: Address already in use"
        with pytest.raises(SettingError, match=words) as raised:
            HeldPort(address, "play_address")
        assert raised.value.setting == "play_address"
        with pytest.raises(SettingError, match=words):
            create_server(Settings(address="127.0.0.1:0", play_address=address), CollectorRegistry(), share_port=share)
        if not share:
            with served("--play-address", address) as second:
                assert second.process.wait(PATIENCE) == 2
                assert second.find(f"^Error: --play-address: cannot .* {address}: Address already in use")


@pytest.mark.parametrize("address", ["no-such-host.invalid:1", "192.0.2.1:0", "a..b:0", f"{'a' * 64}:0"])
def test_a_play_address_that_is_not_this_machine_s(address: str) -> None:
    for listen in (
        lambda: HeldPort(address, "play_address"),
        lambda: listening_sockets("play_address", address, socket.SO_REUSEADDR),
    ):
        with pytest.raises(SettingError, match=f"^play_address: cannot listen on {address}: ."):
            listen()


@pytest.mark.parametrize(("host", "reached"), [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")])
def test_where_it_listens(host: str, reached: str) -> None:
    with (
        running(Settings(address="127.0.0.1:0", play_address=f"{host}:0")) as server,
        SocketStream(f"{reached}:{server.server.play_port}") as stream,
    ):
        assert stream.submit(batch_calls.new_games(Table(game="discat", players=2), [1])).result(PATIENCE)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["[::1]", "[::]"])
def test_over_ipv6(host: str, echo: None) -> None:
    with running(Settings(address="127.0.0.1:0", play_address=f"{host}:0")) as server, LogLines() as log:
        for reached in ["[::1]", "127.0.0.1"] if host == "[::]" else ["[::1]"]:
            with grpc.insecure_channel(f"{reached}:{server.server.play_port}") as channel:
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
    monkeypatch.setattr(port.socket, "socket", refuse)
    (listening,) = listening_sockets("play_address", "localhost:0", socket.SO_REUSEADDR)
    assert listening.getsockname()[0] == "127.0.0.1"
    listening.close()


def test_all_that_a_name_stands_for_has_one_port() -> None:
    with HeldPort("localhost:0", "play_address") as held:
        number = int(held.address.removeprefix("localhost:"))
        assert number
        found = listening_sockets("play_address", held.address, socket.SO_REUSEPORT)
        assert {each.getsockname()[1] for each in found} == {number}
        for each in found:
            each.close()
