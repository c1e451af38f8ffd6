"""The socket's side of gRPC's protocol, against a server that is played here, frame by frame (RFC 9113)."""

import base64
import errno
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Protocol

import grpc
import numpy as np
import pytest
from google.protobuf.any_pb2 import Any
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
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
    setting,
    window,
)

from chatiere.clients import ChatiereError, TransportError
from chatiere.clients.transport.socket_call import SocketCall
from chatiere.http2 import connection as http2_connection

# Longer than any test takes.
PATIENCE = 60.0


class Closable(Protocol):
    def close(self) -> None: ...


class Service:
    """The other end of the calls that are made to `address`."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._opened: list[Closable] = []
        self._encoder = Encoder()

    def call(self, timeout: float = PATIENCE) -> SocketCall:
        """A new call, of which this is the service now."""
        call = SocketCall(self.address, "/a.Service/Method", timeout)
        self.connection, _ = self._listener.accept()
        self.came = self.connection.makefile("rb")
        self._opened += (call, self.connection, self.came)
        self._encoder = Encoder()
        return call

    def send(self, *frames: Frame) -> None:
        self.connection.sendall(b"".join(map(bytes, frames)))

    def headers(self, *headers: tuple[str, str], flags: int = END_HEADERS) -> Frame:
        return Frame(HEADERS, flags, 1, self._encoder.encode(headers))

    def frame(self) -> Frame:
        """The next that the client has sent."""
        size_and_kind, flags, stream = struct.unpack(">IBI", self.came.read(9))
        return Frame(size_and_kind & 0xFF, flags, stream, self.came.read(size_and_kind >> 8))

    def skip_to(self, kind: int) -> Frame:
        while (frame := self.frame()).kind != kind:
            pass
        return frame

    def greeted(self) -> None:
        """Take what a call begins with, to its headers."""
        assert self.came.read(len(PREFACE)) == PREFACE
        self.skip_to(HEADERS)

    def close(self) -> None:
        for each in (*self._opened, self._listener):
            each.close()


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


def ended(service: Service, code: int, *more: tuple[str, str]) -> Frame:
    return service.headers(("grpc-status", str(code)), *more, flags=END_HEADERS | END_STREAM)


def test_how_a_call_begins(service: Service) -> None:
    service.call()
    assert service.came.read(len(PREFACE)) == PREFACE
    first = service.frame()
    assert (first.kind, first.stream) == (SETTINGS, 0)
    window = service.frame()
    assert (window.kind, window.stream) == (WINDOW_UPDATE, 0)
    headers = service.frame()
    assert (headers.kind, headers.flags, headers.stream) == (HEADERS, END_HEADERS, 1)
    assert dict(Decoder().decode(headers.payload)) == {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/a.Service/Method",
        ":authority": service.address,
        "te": "trailers",
        "content-type": "application/grpc",
    }


def test_a_message_is_sent_as_grpc_has_it(service: Service) -> None:
    call = service.call()
    call.send([b"one ", memoryview(b"message")])
    service.greeted()
    assert service.frame() == data(message(b"one message"))


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.lists(st.integers(0, 80_000).map(lambda size: (b"meow" * 20_000)[:size]), max_size=4),
    cuts=st.lists(st.integers(0, 70_000), max_size=8),
    paddings=st.lists(st.integers(0, 255) | st.none(), max_size=8),
    between=st.lists(
        st.sampled_from([PING, SETTINGS, PRIORITY, UNKNOWN_KIND, WINDOW_UPDATE, GOAWAY, None]), max_size=8
    ),
)
def test_messages_arrive_however_they_are_cut_into_frames(
    service: Service, contents: list[bytes], cuts: list[int], paddings: list[int | None], between: list[int | None]
) -> None:
    harmless = {
        PING: Frame(PING, 0, 0, b"whothere"),
        SETTINGS: Frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)),
        PRIORITY: Frame(PRIORITY, 0, 1, bytes(5)),
        UNKNOWN_KIND: Frame(UNKNOWN_KIND, 0xFF, 7, b"from a later version"),
        WINDOW_UPDATE: Frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 5)),
        # The connection takes no more streams, but goes on with this one.
        GOAWAY: Frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)),
    }
    call = service.call()
    service.send(service.headers((":status", "200")))
    left = b"".join(map(message, contents))
    for i in range(max(len(cuts), len(paddings), len(between))):
        cut = cuts[i] if i < len(cuts) else 0
        frame, left = data(left[:cut]), left[cut:]
        if i < len(paddings) and (padding := paddings[i]) is not None:
            frame = padded(frame, padding)
        service.send(frame)
        if i < len(between) and (kind := between[i]) is not None:
            service.send(harmless[kind])
    service.send(data(left), ended(service, 0))
    assert [bytes(call.receive(PATIENCE)) for _ in contents] == contents
    with pytest.raises(TransportError, match="the service ended the stream"):
        call.receive(PATIENCE)


def test_frames_lie_anywhere_in_the_buffer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2_connection, "_BUFFER", 100)
    call = service.call()
    contents = [bytes([size]) * size for size in range(120)]
    ping = Frame(PING, 0, 0, b"whothere")
    for content in contents:
        service.send(data(message(content)), ping, ping)
    assert [bytes(call.receive(PATIENCE)) for _ in contents] == contents


def test_a_message_that_comes_in_pieces_is_waited_for(service: Service) -> None:
    call = service.call()
    whole = bytes(service.headers((":status", "200"))) + bytes(data(message(b"meow")))
    for i in range(len(whole) - 1):
        service.connection.sendall(whole[i : i + 1])
        with pytest.raises(TimeoutError):
            call.receive(0)
    service.connection.sendall(whole[-1:])
    received = call.receive(PATIENCE)
    assert (bytes(received), received.readonly) == (b"meow", True)


def test_what_a_server_asks_is_answered(service: Service) -> None:
    call = service.call()
    service.send(Frame(SETTINGS, 0, 0, b""), Frame(PING, 0, 0, b"whothere"), data(message(b"")))
    assert call.receive(PATIENCE) == b""
    service.greeted()
    assert [service.frame(), service.frame()] == [Frame(SETTINGS, ACK, 0, b""), Frame(PING, ACK, 0, b"whothere")]
    # Answers are not answered.
    service.send(Frame(SETTINGS, ACK, 0, b""), Frame(PING, ACK, 0, b"whothere"), data(message(b"")))
    call.receive(PATIENCE)
    call.send([b"last"])
    assert service.frame() == data(message(b"last"))


def grant(service: Service, call: SocketCall, *frames: Frame) -> None:
    """Let the call take these frames."""
    service.send(*frames, data(message(b"")))
    call.receive(PATIENCE)


def test_no_more_is_sent_than_the_windows_and_frames_allow(service: Service) -> None:
    call = service.call()
    grant(service, call, Frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1000)))
    service.greeted()
    assert service.frame() == Frame(SETTINGS, ACK, 0, b"")
    first, second = bytes(range(250)) * 800, b"meow"
    call.send([first])
    call.send([second])
    left = message(first) + message(second)
    # What is granted, and the frames that come of it: the stream's window holds, then the connection's (65,535 at
    # first, of which 1,300 are used), then the stream's again; frames are of 16,384 at most, until more is allowed.
    larger = Frame(SETTINGS, 0, 0, struct.pack(">HI", 5, 50_000))
    acknowledged = Frame(SETTINGS, ACK, 0, b"")
    steps: list[tuple[list[Frame], list[int]]] = [
        ([], [1000]),
        ([window(1, 300)], [300]),
        ([window(1, 100_000)], [16_384, 16_384, 16_384, 65_535 - 1300 - 3 * 16_384]),
        ([window(0, 60_000), larger], [100_000 - 65_535 + 1300]),
        ([window(1, 2**31 - 1 - 100_000)], [60_000 - 100_000 + 65_535 - 1300]),
        ([window(0, 1_000_000)], [50_000, len(message(first)) - 65_535 - 60_000 - 50_000, len(message(second))]),
    ]
    for frames, sizes in steps:
        if frames:
            grant(service, call, *frames)
        if larger in frames:
            assert service.frame() == acknowledged
        for size in sizes:
            assert service.frame() == data(left[:size])
            left = left[size:]
    assert left == b""
    call.send([b"last"])
    assert service.frame() == data(message(b"last"))


def test_what_was_received_is_given_back_to_the_windows(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2_connection, "_SHARES", (2**31 - 1) // 100)
    call = service.call()
    service.send(data(message(bytes(50))), padded(data(message(bytes(50))), 7))
    call.receive(PATIENCE)
    call.receive(PATIENCE)
    with pytest.raises(TimeoutError):
        call.receive(0)
    service.greeted()
    size = struct.pack(">I", 55 + 55 + 8)
    assert [service.frame(), service.frame()] == [Frame(WINDOW_UPDATE, 0, stream, size) for stream in (0, 1)]


def test_a_refusal_says_why(service: Service) -> None:
    info = ErrorInfo(reason="ERROR_REASON_LIMIT_EXCEEDED", domain="chatiere.v1", metadata={"limit": "3"})
    detail = Any()
    detail.Pack(info)
    status = base64.b64encode(Status(details=[detail]).SerializeToString()).decode().rstrip("=")
    call = service.call()
    more = ("grpc-message", "too many streams %E2%80%93 wait"), ("grpc-status-details-bin", status)
    service.send(ended(service, 8, (":status", "200"), *more))
    for _ in range(2):
        with pytest.raises(ChatiereError, match="LIMIT_EXCEEDED: too many streams – wait") as raised:
            call.receive(PATIENCE)
        assert raised.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert raised.value.metadata == {"limit": "3"}
    call.send([b"nobody takes this"])


def test_headers_may_come_in_parts(service: Service) -> None:
    call = service.call()
    whole = ended(service, 5, ("grpc-message", "not here"))
    parts = [whole.payload[:3], whole.payload[3:4], whole.payload[4:]]
    first = Frame(HEADERS, END_STREAM, 1, parts[0])
    service.send(first, Frame(CONTINUATION, 0, 1, parts[1]), Frame(CONTINUATION, END_HEADERS, 1, parts[2]))
    with pytest.raises(TransportError, match="NOT_FOUND: not here"):
        call.receive(PATIENCE)


def test_why_the_service_closes_the_connection_is_told(service: Service) -> None:
    call = service.call()
    service.greeted()
    service.send(Frame(GOAWAY, 0, 0, struct.pack(">II", 1, 1) + b"too many pings"))
    service.connection.shutdown(socket.SHUT_WR)
    # As long as it likes: no system waits so many milliseconds.
    with pytest.raises(TransportError, match="UNAVAILABLE: the other end closed the connection: too many pings"):
        call.receive(1e12)


def test_messages_before_the_end_are_delivered(service: Service) -> None:
    call = service.call()
    service.send(data(message(b"last")), ended(service, 15, ("grpc-message", "gone")))
    assert call.receive(PATIENCE) == b"last"
    with pytest.raises(TransportError, match="DATA_LOSS: gone"):
        call.receive(PATIENCE)


def endless_headers() -> list[Frame]:
    return [Frame(HEADERS, 0, 1, bytes(2**15)), *[Frame(CONTINUATION, 0, 1, bytes(2**15))] * 2]


# What ends a call, and what is said of it.
BROKEN: dict[str, tuple[Callable[[Service], list[Frame]], str]] = {
    "HTTP alone": (lambda service: [service.headers((":status", "404"), flags=5)], "UNIMPLEMENTED: .* HTTP's 404"),
    "an HTTP error": (lambda service: [service.headers((":status", "502"))], "UNAVAILABLE: .* HTTP's 502"),
    "an odd HTTP status": (lambda service: [service.headers((":status", "418"))], "UNKNOWN: .* HTTP's 418"),
    "no status": (lambda service: [data(b"", END_STREAM)], "INTERNAL: .* without a status"),
    "an unknown status": (lambda service: [ended(service, 99)], "UNKNOWN: "),
    "no number": (lambda service: [service.headers(("grpc-status", "OK"), flags=5)], "INTERNAL: "),
    "details that are none": (lambda service: [ended(service, 3, ("grpc-status-details-bin", "CAE-"))], "INTERNAL: "),
    "a reset": (lambda service: [Frame(RST_STREAM, 0, 1, struct.pack(">I", 11))], "RESOURCE_EXHAUSTED: .* error 11"),
    "another reset": (lambda service: [Frame(RST_STREAM, 0, 1, struct.pack(">I", 2))], "INTERNAL: .* error 2"),
    "a server that stops": (lambda service: [Frame(GOAWAY, 0, 0, bytes(8))], "UNAVAILABLE: the service stops"),
    "compression": (lambda service: [data(struct.pack(">BI", 1, 3) + b"zip")], "INTERNAL: .* compressed"),
    "only padding": (lambda service: [Frame(DATA, PADDED, 1, b"\x05\0\0")], "INTERNAL: .* padding"),
    "another stream": (lambda service: [Frame(DATA, 0, 3, message(b"meow"))], "INTERNAL: .* stream 3"),
    "a promise": (lambda service: [Frame(PUSH_PROMISE, 4, 1, bytes(8))], "INTERNAL: .* type 5"),
    "half of headers": (
        lambda service: [service.headers((":status", "200"), flags=0), data(b"")],
        "INTERNAL: .* go on",
    ),
    "headers that go on": (lambda service: [Frame(CONTINUATION, 4, 1, b"")], "INTERNAL: .* without a beginning"),
    "headers without end": (lambda service: endless_headers(), "INTERNAL: .* headers have more than"),
    "no headers": (lambda service: [Frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff")], "INTERNAL: "),
    "long headers": (lambda service: [Frame(HEADERS, END_HEADERS, 1, bytes(70_000))], "INTERNAL: .* 70000 bytes"),
    "half a setting": (lambda service: [Frame(SETTINGS, 0, 0, b"\0")], "INTERNAL: "),
    "a short window": (lambda service: [Frame(WINDOW_UPDATE, 0, 0, b"\0")], "INTERNAL: "),
    "a window too large": (lambda service: [setting(4, 2**31)], "INTERNAL: .* a window of"),
    "frames too large": (lambda service: [setting(5, 2**24)], "INTERNAL: .* frames of"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_grpc_ends_the_call(service: Service, name: str) -> None:
    frames, words = BROKEN[name]
    call = service.call()
    service.send(*frames(service))
    with pytest.raises(TransportError, match=words):
        call.receive(PATIENCE)


def test_what_means_nothing_is_passed_over(service: Service) -> None:
    call = service.call()
    long = Frame(UNKNOWN_KIND, 0, 0, bytes(70_000))
    service.send(service.headers((":status", "103")), service.headers((":status", "200")), long)
    # The highest bit of a stream's number.
    service.send(data(message(b"meow"))._replace(stream=0x80000001))
    assert call.receive(PATIENCE) == b"meow"


def test_headers_with_padding_and_priority(service: Service) -> None:
    call = service.call()
    headers = service.headers((":status", "200"), flags=END_HEADERS | PRIORITY_FLAG)
    service.send(padded(headers._replace(payload=bytes(5) + headers.payload), 3), data(message(b"meow")))
    assert call.receive(PATIENCE) == b"meow"


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200)
    | st.lists(
        st.builds(Frame, st.integers(0, 10), st.integers(0, 255), st.integers(0, 2), st.binary(max_size=20)).map(bytes),
        max_size=6,
    ).map(b"".join)
)
def test_any_bytes_are_messages_or_an_end(service: Service, came: bytes) -> None:
    call = service.call()
    service.connection.sendall(came)
    service.connection.shutdown(socket.SHUT_WR)

    def receive_all() -> None:
        while True:
            call.receive(PATIENCE)

    with pytest.raises(ChatiereError):
        receive_all()


def test_a_connection_that_breaks(service: Service) -> None:
    call = service.call()
    service.came.close()
    service.connection.close()
    call.send([b"message"])
    for _ in range(2):
        with pytest.raises(TransportError, match="UNAVAILABLE"):
            call.receive(PATIENCE)
    assert call.is_over


def test_what_came_before_a_connection_broke_is_told(service: Service) -> None:
    call = service.call()
    service.send(Frame(SETTINGS, 0, 0, b""), Frame(PING, 0, 0, b"whothere"), data(message(b"last")))
    service.send(ended(service, 16, ("grpc-message", "no token")))
    service.came.close()
    service.connection.close()
    call.send([b"message"])
    call.send([b"message"])
    assert call.receive(PATIENCE) == b"last"
    with pytest.raises(TransportError, match="UNAUTHENTICATED: no token"):
        call.receive(PATIENCE)


def test_a_connection_that_the_system_gives_up_is_no_timeout(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> int:
        raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    monkeypatch.setattr(socket.socket, "recv_into", give_up)
    with pytest.raises(TransportError, match=r"UNAVAILABLE: .* timed out"):
        service.call().receive()


def test_a_message_that_memory_has_no_room_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(size: int, dtype: object) -> None:
        raise MemoryError(f"no room for {size} bytes")

    monkeypatch.setattr(np, "empty", refuse)
    call = service.call()
    service.send(data(message(b"meow")))
    with pytest.raises(TransportError, match=r"INTERNAL: .* no room for 4 bytes"):
        call.receive(PATIENCE)


def test_deadlines_hold_while_other_frames_come(service: Service) -> None:
    call = service.call()
    service.send(Frame(PING, 0, 0, b"whothere"))
    with pytest.raises(TimeoutError):
        call.receive(-1)
    assert not call.is_over


def test_a_request_that_cannot_be_sent(service: Service) -> None:
    call = service.call(timeout=0.2)
    grant(service, call, Frame(SETTINGS, 0, 0, struct.pack(">HIHI", 4, 2**31 - 1, 5, 2**24 - 1)), window(0, 2**30))
    # Nobody reads, and no socket takes so much.
    for _ in range(10):
        call.send([bytes(2**24 - 100)])
    with pytest.raises(TransportError, match="DEADLINE_EXCEEDED: the other end takes no more"):
        call.receive(PATIENCE)


def test_closing_ends_the_connection(service: Service) -> None:
    call = service.call()
    call.close()
    service.greeted()
    assert service.came.read() == b""
    call.close()
    call.send([b"message"])
    with pytest.raises(TransportError, match="CANCELLED"):
        call.receive(PATIENCE)


@pytest.mark.parametrize("address", ["127.0.0.1:port", "127.0.0.1"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(TransportError, match="UNAVAILABLE: no connection to"):
        SocketCall(address, "/a.Service/Method", PATIENCE)


def test_nobody_listens(service: Service) -> None:
    service.close()
    with pytest.raises(TransportError, match="UNAVAILABLE: no connection to"):
        SocketCall(service.address, "/a.Service/Method", PATIENCE)
