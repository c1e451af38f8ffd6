"""The client's side of gRPC's protocol, with a simulated server that sends single frames (RFC 9113)."""

import base64
import signal
import socket
import struct
import threading
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Protocol

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from hpack import Decoder, Encoder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psutil import Process
from tools.needs import needs
from tools.played_frames import (
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
from chatiere.clients.transport import fast_call
from chatiere.clients.transport.fast_call import FastCall

pytestmark = needs("libnghttp2")

# A timeout in seconds that is longer than any test takes.
PATIENCE = 60.0
MAX_WINDOW = 2**31 - 1
MAX_FRAME = 2**24 - 1
# The service's first frames: its settings, and the acknowledgement of the client's settings.
GREETING = Frame(SETTINGS, 0, 0, b""), Frame(SETTINGS, ACK, 0, b"")


class Closable(Protocol):
    def close(self) -> None: ...


class Service:
    """The service's side of calls to `address`."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._opened: list[Closable] = []
        self._threads: list[threading.Thread] = []
        self._encoder = Encoder()

    def call(
        self,
        *answers: Frame,
        timeout: float = PATIENCE,
        token: str | None = None,
        greeting: tuple[Frame, ...] = GREETING,
    ) -> FastCall:
        """Begin a call as this service's current call. Send the greeting and `answers`."""
        call = FastCall(self.address, "/a.Service/Method", timeout, token)
        self.connection, _ = self._listener.accept()
        self.came = self.connection.makefile("rb")
        self._opened += (call, self.connection, self.came)
        self._encoder = Encoder()
        self.send(*greeting, *answers)
        return call

    def answered_call(self, *answers: Frame) -> FastCall:
        """Begin a call, and send headers before `answers`."""
        call = self.call()
        self.send(self.headers((":status", "200")), *answers)
        return call

    def send(self, *frames: Frame) -> None:
        self.connection.sendall(b"".join(map(bytes, frames)))

    def meanwhile(self, work: Callable[[], None]) -> None:
        """Run a function in a thread. `close` waits for the thread to end."""
        self._threads.append(threading.Thread(target=work))
        self._threads[-1].start()

    def headers(self, *headers: tuple[str, str], flags: int = END_HEADERS) -> Frame:
        return Frame(HEADERS, flags, 1, self._encoder.encode(headers))

    def frame(self) -> Frame:
        """Return the next frame from the client."""
        size_and_kind, flags, stream = struct.unpack(">IBI", self.came.read(9))
        return Frame(size_and_kind & 0xFF, flags, stream, self.came.read(size_and_kind >> 8))

    def skip_to(self, kind: int) -> Frame:
        while (frame := self.frame()).kind != kind:
            pass
        return frame

    def greeted(self) -> None:
        """Read the beginning of a call, including its headers."""
        assert self.came.read(len(PREFACE)) == PREFACE
        self.skip_to(HEADERS)

    def close(self) -> None:
        for thread in self._threads:
            thread.join()
        for each in (*self._opened, self._listener):
            each.close()


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


def ended(service: Service, code: int, *more: tuple[str, str]) -> Frame:
    """Return the trailers of a call whose headers were already sent."""
    return service.headers(("grpc-status", str(code)), *more, flags=END_HEADERS | END_STREAM)


def refused(service: Service, code: int, *more: tuple[str, str]) -> Frame:
    """Return a response that consists only of trailers."""
    return service.headers((":status", "200"), ("grpc-status", str(code)), *more, flags=END_HEADERS | END_STREAM)


def decoded(headers: Frame) -> typing.Any:
    return Decoder().decode(headers.payload)


def test_a_call_begins_with_preface_settings_window_and_headers(service: Service) -> None:
    service.call()
    assert service.came.read(len(PREFACE)) == PREFACE
    first = service.frame()
    assert (first.kind, first.stream) == (SETTINGS, 0)
    window = service.frame()
    assert (window.kind, window.stream) == (WINDOW_UPDATE, 0)
    headers = service.frame()
    assert (headers.kind, headers.flags, headers.stream) == (HEADERS, END_HEADERS, 1)
    assert dict(decoded(headers)) == {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/a.Service/Method",
        ":authority": service.address,
        "te": "trailers",
        "content-type": "application/grpc",
    }


def test_a_silent_service_is_pinged_and_given_up_if_it_does_not_respond(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_call, "_PING_AFTER", 0.01)
    monkeypatch.setattr(fast_call, "_PING_TIMEOUT", 1.0)
    call = service.answered_call()
    # This timeout ends the call if the client does not ping.
    service.connection.settimeout(PATIENCE)

    def respond() -> None:
        try:
            service.greeted()
            for _ in range(3):
                service.send(service.skip_to(PING)._replace(flags=ACK))
            service.skip_to(PING)
            service.came.read()
        finally:
            with suppress(OSError):
                service.connection.shutdown(socket.SHUT_RDWR)

    service.meanwhile(respond)
    with pytest.raises(TransportError, match="no response to a ping") as raised:
        call.receive()
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE


def test_a_token_is_sent(service: Service) -> None:
    service.call(token="purr")
    service.came.read(len(PREFACE))
    assert dict(decoded(service.skip_to(HEADERS)))["authorization"] == "Bearer purr"


def test_a_message_is_sent_in_grpc_s_format(service: Service) -> None:
    call = service.call()
    call.send([b"one ", memoryview(b"message")])
    service.greeted()
    assert service.frame() == data(message(b"one message"))


@settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    contents=st.lists(st.integers(0, 80_000).map(lambda size: (b"meow" * 20_000)[:size]), max_size=4),
    cuts=st.lists(st.integers(0, 70_000), max_size=8),
    paddings=st.lists(st.integers(0, 255) | st.none(), max_size=8),
    between=st.lists(
        st.sampled_from([PING, SETTINGS, PRIORITY, UNKNOWN_KIND, WINDOW_UPDATE, GOAWAY, None]), max_size=8
    ),
)
def test_messages_may_be_split_into_frames_in_any_way(
    service: Service, contents: list[bytes], cuts: list[int], paddings: list[int | None], between: list[int | None]
) -> None:
    harmless = {
        PING: Frame(PING, 0, 0, b"whothere"),
        SETTINGS: Frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)),
        PRIORITY: Frame(PRIORITY, 0, 1, bytes(5)),
        UNKNOWN_KIND: Frame(UNKNOWN_KIND, 0xFF, 7, b"from a later version"),
        WINDOW_UPDATE: window(0, 5),
        # The connection accepts no more streams, but continues with this one.
        GOAWAY: Frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)),
    }
    call = service.answered_call()
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


def test_long_messages_arrive_whole(service: Service) -> None:
    call = service.answered_call()
    contents = [bytes(range(256)) * (4096 * size) + bytes(size) for size in (1, 0, 3, 7, 20, 2)]
    left = b"".join(map(message, contents))
    frames = [data(left[begin : begin + 5_000_000]) for begin in range(0, len(left), 5_000_000)]
    service.meanwhile(lambda: service.send(*frames))
    assert all(call.receive(PATIENCE) == content for content in contents)


def test_frames_may_begin_anywhere_in_the_data_of_a_read(service: Service) -> None:
    call = service.answered_call()
    contents = [bytes([size % 256]) * size for size in [*range(120), *range(4000, 4200, 7)]]
    ping = Frame(PING, 0, 0, b"whothere")
    for content in contents:
        service.send(data(message(content)), ping, ping)
    assert [bytes(call.receive(PATIENCE)) for _ in contents] == contents


def test_receive_waits_for_all_pieces_of_a_message(service: Service) -> None:
    call = service.call()
    whole = bytes(service.headers((":status", "200"))) + bytes(data(message(b"meow")))
    for i in range(len(whole) - 1):
        service.connection.sendall(whole[i : i + 1])
        with pytest.raises(TimeoutError):
            call.receive(0)
    service.connection.sendall(whole[-1:])
    received = call.receive(PATIENCE)
    assert (bytes(received), received.readonly) == (b"meow", True)


def test_a_message_outlives_its_call(service: Service) -> None:
    call = service.answered_call(data(message(b"first")), data(message(b"second")))
    first, second = call.receive(PATIENCE), call.receive(PATIENCE)
    call.close()
    del call
    assert (bytes(first), bytes(second)) == (b"first", b"second")


def test_settings_and_pings_are_acknowledged(service: Service) -> None:
    call = service.answered_call(Frame(PING, 0, 0, b"whothere"), data(message(b"")))
    assert bytes(call.receive(PATIENCE)) == b""
    service.greeted()
    assert {service.frame(), service.frame()} == {Frame(SETTINGS, ACK, 0, b""), Frame(PING, ACK, 0, b"whothere")}
    # Acknowledgements are not acknowledged.
    service.send(Frame(PING, ACK, 0, b"whothere"), data(message(b"")))
    call.receive(PATIENCE)
    call.send([b"last"])
    assert service.frame() == data(message(b"last"))


def grant(service: Service, call: FastCall, *frames: Frame) -> None:
    """Send these frames, and wait until the call has read them."""
    service.send(*frames, data(message(b"")))
    call.receive(PATIENCE)


def test_the_client_respects_windows_and_frame_sizes(service: Service) -> None:
    call = service.answered_call()
    grant(service, call, setting(4, 1000))
    service.greeted()
    assert [service.frame(), service.frame()] == [Frame(SETTINGS, ACK, 0, b"")] * 2
    first, second = bytes(range(250)) * 800, b"meow"
    call.send([first])
    call.send([second])
    left = message(first) + message(second)
    # Frames sent to the client, and the number of bytes that the client may then send. The limit is first the stream's
    # window, then the connection's (65,535 at first, of which 1,300 are used), then the stream's again. Frames have at
    # most 16,384 bytes until a larger size is allowed.
    larger = setting(5, 50_000)
    largest = 16_384
    steps: list[tuple[list[Frame], int]] = [
        ([], 1000),
        ([window(1, 300)], 300),
        ([window(1, 100_000)], 65_535 - 1300),
        ([window(0, 60_000), larger], 100_000 - 65_535 + 1300),
        ([window(1, MAX_WINDOW - 100_000)], 60_000 - 100_000 + 65_535 - 1300),
        ([window(0, 1_000_000)], len(left) - 65_535 - 60_000),
    ]
    sizes = []
    for frames, expected in steps:
        if frames:
            grant(service, call, *frames)
        if larger in frames:
            assert service.frame() == Frame(SETTINGS, ACK, 0, b"")
            largest = 50_000
        while expected:
            frame = service.frame()
            size = len(frame.payload)
            assert frame == data(left[:size])
            assert size <= min(expected, largest)
            left, expected = left[size:], expected - size
            sizes.append(size)
    assert left == b""
    assert {1000, 300, 16_384, 50_000} <= set(sizes)
    call.send([b"last"])
    assert service.frame() == data(message(b"last"))


@pytest.mark.parametrize("room", [1000, 10_000_000])
def test_a_sent_message_belongs_to_the_caller_again(service: Service, room: int) -> None:
    call = service.answered_call()
    grant(service, call, setting(4, room), window(0, 10_000_000))
    service.greeted()
    content = bytearray(b"meow" * 25_000)
    expected = message(bytes(content))
    call.send([memoryview(content)])
    content[:] = bytes(len(content))
    # The call no longer holds a buffer of it.
    content.clear()
    grant(service, call, setting(4, 10_000_000))
    came = b""
    while len(came) < len(expected):
        came += service.skip_to(DATA).payload
    assert came == expected


def test_both_ends_may_send_simultaneously(service: Service) -> None:
    call = service.answered_call()
    grant(service, call, setting(4, MAX_WINDOW), setting(5, MAX_FRAME), window(0, 2**30))
    service.greeted()
    # This content is larger than any socket buffer.
    content = b"meow" * 4_000_000
    came = []

    def send_then_read() -> None:
        service.send(data(message(content)), data(message(content)))
        came.append(service.skip_to(DATA).payload)

    service.meanwhile(send_then_read)
    call.send([content])
    assert call.receive(PATIENCE) == content
    assert call.receive(PATIENCE) == content
    service.close()
    assert came == [message(content)]


@pytest.mark.release_only
def test_received_bytes_are_returned_to_the_windows(service: Service) -> None:
    call = service.answered_call()
    frame = bytes(data(message(bytes(MAX_FRAME - 5))))
    # The number of frames that fill half of the windows.
    count = MAX_WINDOW // 2 // MAX_FRAME + 1

    def send_all() -> None:
        for _ in range(count):
            service.connection.sendall(frame)

    service.meanwhile(send_all)
    for _ in range(count):
        call.receive(PATIENCE)
    service.greeted()
    given = [service.skip_to(WINDOW_UPDATE) for _ in range(2)]
    assert {frame.stream for frame in given} == {0, 1}
    assert all(int.from_bytes(frame.payload) > 2**30 - MAX_FRAME for frame in given)


@pytest.mark.release_only
def test_the_memory_of_released_messages_is_freed(service: Service) -> None:
    call = service.answered_call()
    frame = bytes(data(message(bytes(MAX_FRAME - 5))))
    count = 20

    def send_all() -> None:
        for _ in range(count):
            service.connection.sendall(frame)

    service.meanwhile(send_all)
    call.receive(PATIENCE)
    before = Process().memory_info().rss
    for _ in range(count - 1):
        call.receive(PATIENCE)
    assert Process().memory_info().rss < before + count // 2 * len(frame)


def test_a_refusal_has_its_reason(service: Service) -> None:
    info = ErrorInfo(reason="LIMIT_EXCEEDED", domain="chatiere", metadata={"limit": "3"})
    detail = Any()
    detail.Pack(info)
    status = base64.b64encode(Status(details=[detail]).SerializeToString()).decode().rstrip("=")
    call = service.call()
    more = ("grpc-message", "too many streams %E2%80%93 wait"), ("grpc-status-details-bin", status)
    service.send(refused(service, 8, *more))
    for _ in range(2):
        with pytest.raises(ChatiereError, match="LIMIT_EXCEEDED: too many streams – wait") as raised:
            call.receive(PATIENCE)
        assert raised.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert raised.value.metadata == {"limit": "3"}
    call.send([b"nobody takes this"])


def test_headers_may_arrive_in_parts(service: Service) -> None:
    call = service.call()
    whole = refused(service, 5, ("grpc-message", "not here"))
    parts = [whole.payload[:3], whole.payload[3:4], whole.payload[4:]]
    first = Frame(HEADERS, END_STREAM, 1, parts[0])
    service.send(first, Frame(CONTINUATION, 0, 1, parts[1]), Frame(CONTINUATION, END_HEADERS, 1, parts[2]))
    with pytest.raises(TransportError, match="NOT_FOUND: not here"):
        call.receive(PATIENCE)


def test_trailers_may_arrive_byte_by_byte(service: Service) -> None:
    call = service.answered_call()
    whole = bytes(ended(service, 5, ("grpc-message", "not here")))
    for i in range(len(whole) - 1):
        service.connection.sendall(whole[i : i + 1])
        with pytest.raises(TimeoutError):
            call.receive(0)
    service.connection.sendall(whole[-1:])
    with pytest.raises(TransportError, match="NOT_FOUND: not here"):
        call.receive(PATIENCE)


def test_trailers_before_a_reset_are_the_status(service: Service) -> None:
    call = service.answered_call()
    service.send(ended(service, 5, ("grpc-message", "not here")), Frame(RST_STREAM, 0, 1, bytes(4)))
    with pytest.raises(TransportError, match="NOT_FOUND: not here"):
        call.receive(PATIENCE)


def test_the_error_has_the_service_s_reason_for_closing_the_connection(service: Service) -> None:
    call = service.call()
    service.greeted()
    service.send(Frame(GOAWAY, 0, 0, struct.pack(">II", 1, 1) + b"too many pings"))
    service.connection.shutdown(socket.SHUT_WR)
    # A timeout of more milliseconds than any system can wait for.
    with pytest.raises(TransportError, match="UNAVAILABLE: the other end closed the connection: too many pings"):
        call.receive(1e12)


def test_messages_before_the_end_are_delivered(service: Service) -> None:
    call = service.answered_call(data(message(b"last")))
    service.send(ended(service, 15, ("grpc-message", "gone")))
    assert bytes(call.receive(PATIENCE)) == b"last"
    with pytest.raises(TransportError, match="DATA_LOSS: gone"):
        call.receive(PATIENCE)


def test_an_end_without_a_status_is_an_error(service: Service) -> None:
    call = service.call()
    grant(service, call, service.headers((":status", "200")))
    service.send(data(b"", END_STREAM))
    with pytest.raises(TransportError, match=r"INTERNAL: .* without a status"):
        call.receive(PATIENCE)


def head(service: Service) -> Frame:
    return service.headers((":status", "200"))


def endless_headers(service: Service) -> list[Frame]:
    many = [Frame(CONTINUATION, 0, 1, service.headers((f"x-{i}", "meow" * 1000)).payload) for i in range(20)]
    return [service.headers((":status", "200"), flags=0), *many]


def long_headers(service: Service) -> list[Frame]:
    return [service.headers((":status", "200"), *((f"x-{i}", "meow" * 1000) for i in range(20)))]


# Responses that end a call, and the resulting errors.
BROKEN: dict[str, tuple[Callable[[Service], list[Frame]], str]] = {
    "HTTP alone": (lambda service: [service.headers((":status", "404"), flags=5)], "UNIMPLEMENTED: .* HTTP's 404"),
    "an HTTP error": (lambda service: [service.headers((":status", "502"))], "UNAVAILABLE: .* HTTP's 502"),
    "an odd HTTP status": (lambda service: [service.headers((":status", "418"))], "UNKNOWN: .* HTTP's 418"),
    "no status": (lambda service: [head(service), data(b"", END_STREAM)], "INTERNAL: .* without a status"),
    "an unknown status": (lambda service: [refused(service, 99)], "UNKNOWN: "),
    "no number": (
        lambda service: [service.headers((":status", "200"), ("grpc-status", "OK"), flags=5)],
        "INTERNAL: this is not gRPC",
    ),
    "invalid details": (
        lambda service: [refused(service, 3, ("grpc-status-details-bin", "CAE-"))],
        "INTERNAL: this is not gRPC",
    ),
    "a reset": (lambda service: [Frame(RST_STREAM, 0, 1, struct.pack(">I", 11))], "RESOURCE_EXHAUSTED: .* error 11"),
    "another reset": (lambda service: [Frame(RST_STREAM, 0, 1, struct.pack(">I", 2))], "INTERNAL: .* error 2"),
    "a server that stops": (
        lambda service: [Frame(GOAWAY, 0, 0, bytes(8) + b"for lunch")],
        "UNAVAILABLE: the service stops: for lunch",
    ),
    "compression": (
        lambda service: [head(service), data(struct.pack(">BI", 1, 3) + b"zip")],
        "INTERNAL: .* compressed",
    ),
    "no prefix": (
        lambda service: [head(service), data(struct.pack(">BI", 2, 3) + b"meo")],
        "INTERNAL: .* unknown prefix",
    ),
    "only padding": (lambda service: [head(service), Frame(DATA, PADDED, 1, b"\x05\0\0")], "INTERNAL: "),
    "no headers before messages": (lambda service: [data(message(b"meow"))], "INTERNAL: .* protocol error"),
    "no HTTP status": (lambda service: [service.headers(("grpc-status", "0"))], "INTERNAL: .* PROTOCOL_ERROR"),
    "another stream": (lambda service: [head(service), Frame(DATA, 0, 3, message(b"meow"))], "INTERNAL: "),
    "a promise": (lambda service: [head(service), Frame(PUSH_PROMISE, 4, 1, bytes(8))], "INTERNAL: "),
    "half of headers": (lambda service: [service.headers((":status", "200"), flags=0), data(b"")], "INTERNAL: "),
    "a continuation without headers": (lambda service: [Frame(CONTINUATION, 4, 1, b"")], "INTERNAL: "),
    "headers without end": (endless_headers, "INTERNAL: .* headers have more than"),
    "long headers": (long_headers, "INTERNAL: .* headers have more than"),
    "no headers": (lambda service: [Frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff")], "INTERNAL: "),
    "half a setting": (lambda service: [Frame(SETTINGS, 0, 0, b"\0")], "INTERNAL: "),
    "a short window": (lambda service: [Frame(WINDOW_UPDATE, 0, 0, b"\0")], "INTERNAL: "),
    "a window too large": (lambda service: [setting(4, 2**31)], "INTERNAL: "),
    "frames too large": (lambda service: [setting(5, 2**24)], "INTERNAL: "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_responses_outside_grpc_end_the_call(service: Service, name: str) -> None:
    frames, words = BROKEN[name]
    call = service.call()
    service.send(*frames(service))
    with pytest.raises(TransportError, match=words):
        call.receive(PATIENCE)
    assert call.is_over


def test_a_service_of_another_protocol_is_reported(service: Service) -> None:
    call = service.call(greeting=())
    service.connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(TransportError, match="INTERNAL: this is not gRPC"):
        call.receive(PATIENCE)


def test_meaningless_frames_are_ignored(service: Service) -> None:
    call = service.call()
    long = Frame(UNKNOWN_KIND, 0, 0, bytes(70_000))
    service.send(service.headers((":status", "103")), service.headers((":status", "200")), long)
    # The highest bit of a stream's number is reserved, and must be ignored.
    service.send(data(message(b"meow"))._replace(stream=0x80000001))
    assert bytes(call.receive(PATIENCE)) == b"meow"


def test_headers_with_padding_and_priority_are_read(service: Service) -> None:
    call = service.call()
    headers = service.headers((":status", "200"), flags=END_HEADERS | PRIORITY_FLAG)
    service.send(padded(headers._replace(payload=bytes(5) + headers.payload), 3), data(message(b"meow")))
    assert bytes(call.receive(PATIENCE)) == b"meow"


@pytest.mark.parametrize("greeting", [(), GREETING])
@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    came=st.binary(max_size=200)
    | st.lists(
        st.builds(Frame, st.integers(0, 10), st.integers(0, 255), st.integers(0, 2), st.binary(max_size=20)).map(bytes),
        max_size=6,
    ).map(b"".join)
)
def test_any_bytes_are_messages_or_an_end(service: Service, greeting: tuple[Frame, ...], came: bytes) -> None:
    call = service.call(greeting=greeting)
    service.connection.sendall(came)
    service.connection.shutdown(socket.SHUT_WR)

    def receive_all() -> None:
        while True:
            call.receive(PATIENCE)

    with pytest.raises(ChatiereError):
        receive_all()


def test_a_broken_connection_ends_the_call(service: Service) -> None:
    call = service.call()
    service.came.close()
    service.connection.close()
    call.send([b"message"])
    for _ in range(2):
        with pytest.raises(TransportError, match="UNAVAILABLE"):
            call.receive(PATIENCE)
    assert call.is_over


def test_a_connection_that_is_reset_ends_the_call(service: Service) -> None:
    call = service.call()
    grant(service, call, service.headers((":status", "200")))
    # Closing the socket now sends RST.
    service.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    service.came.close()
    service.connection.close()
    with pytest.raises(TransportError, match=r"UNAVAILABLE: the connection broke: .* reset"):
        call.receive(PATIENCE)


def test_messages_before_a_connection_broke_are_delivered(service: Service) -> None:
    call = service.answered_call(Frame(PING, 0, 0, b"whothere"), data(message(b"last")))
    service.send(ended(service, 16, ("grpc-message", "no token")))
    service.came.close()
    service.connection.close()
    call.send([b"message"])
    call.send([b"message"])
    assert bytes(call.receive(PATIENCE)) == b"last"
    with pytest.raises(TransportError, match="UNAUTHENTICATED: no token"):
        call.receive(PATIENCE)


def test_deadlines_hold_while_other_frames_arrive(service: Service) -> None:
    ping = bytes(Frame(PING, 0, 0, b"whothere")) * 100

    def ask_for_ever() -> None:
        with suppress(OSError):
            while True:
                service.connection.sendall(ping)

    call = service.answered_call()
    service.meanwhile(ask_for_ever)
    with pytest.raises(TimeoutError):
        call.receive(0.001)
    assert not call.is_over
    # This also ends the pings.
    call.close()


def test_a_request_that_cannot_be_sent_in_time_ends_the_call(service: Service) -> None:
    call = service.call(timeout=1.5)
    head = service.headers((":status", "200"))
    grant(service, call, head, setting(4, MAX_WINDOW), setting(5, MAX_FRAME), window(0, 2**30))
    # The service does not read, and this is more than the sockets buffer.
    for _ in range(10):
        call.send([bytes(2**24 - 100)])
    with pytest.raises(TransportError, match="DEADLINE_EXCEEDED: the other end takes no more"):
        call.receive(PATIENCE)


def test_a_call_reset_while_a_request_is_being_sent_releases_it(service: Service) -> None:
    call = service.answered_call()
    grant(service, call, setting(4, MAX_WINDOW), setting(5, MAX_FRAME), window(0, 2**30))
    service.send(Frame(RST_STREAM, 0, 1, struct.pack(">I", 8)))
    # The service does not read, and the request is longer than a frame.
    content: typing.Any = bytearray(3 * MAX_FRAME)
    call.send([content])
    assert call.is_over
    # The call no longer holds a buffer of it.
    content.clear()
    with pytest.raises(TransportError, match="CANCELLED"):
        call.receive(PATIENCE)


def test_pieces_of_other_types_are_refused_and_the_call_continues(service: Service) -> None:
    call = service.call()
    with pytest.raises(TypeError):
        call.send([b"meow", "meow"])  # type: ignore[list-item]
    call.send([b"meow"])
    service.greeted()
    assert service.skip_to(DATA) == data(message(b"meow"))


def test_closing_ends_the_connection(service: Service) -> None:
    call = service.call()
    grant(service, call, service.headers((":status", "200")))
    call.close()
    service.greeted()
    service.skip_to(SETTINGS)
    assert service.came.read() == b""
    call.close()
    call.send([b"message"])
    with pytest.raises(TransportError, match="CANCELLED"):
        call.receive(PATIENCE)


def test_only_one_thread_at_a_time_may_use_a_call(service: Service) -> None:
    call = service.answered_call(Frame(PING, 0, 0, b"whothere"))
    received = []
    thread = threading.Thread(target=lambda: received.append(bytes(call.receive(PATIENCE))))
    thread.start()
    # The ping is answered because the thread waits in `receive`.
    service.greeted()
    service.skip_to(PING)
    for use in (lambda: call.send([b"meow"]), call.close, lambda: call.receive(0)):
        with pytest.raises(RuntimeError, match="one thread at a time"):
            use()
    service.send(data(message(b"meow")))
    thread.join()
    assert received == [b"meow"]


def test_a_signal_ends_a_wait(service: Service) -> None:
    def interrupt(*_: object) -> None:
        done.set()
        raise InterruptedError

    call = service.answered_call(Frame(PING, 0, 0, b"whothere"))
    done = threading.Event()
    waiting = threading.get_ident()

    def signal_until_done() -> None:
        service.greeted()
        # The ping is answered because the main thread waits in `receive`.
        service.skip_to(PING)
        # A signal just before the wait does not end it.
        while not done.wait(0.01):
            signal.pthread_kill(waiting, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        service.meanwhile(signal_until_done)
        with pytest.raises(InterruptedError):
            call.receive(PATIENCE)
    finally:
        done.set()
        service.close()
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("address", ["127.0.0.1:port", "127.0.0.1"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(TransportError, match="UNAVAILABLE: no connection to"):
        FastCall(address, "/a.Service/Method", PATIENCE)


def test_a_call_to_a_port_without_a_server_is_unavailable(service: Service) -> None:
    service.close()
    with pytest.raises(TransportError, match="UNAVAILABLE: no connection to"):
        FastCall(service.address, "/a.Service/Method", PATIENCE)
