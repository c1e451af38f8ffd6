"""A gRPC call with a stream each way, over a socket of its own: gRPC's protocol without gRPC's library.

For batches of a hundred kilobytes, where most of a client's time is gRPC's: its threads hand each message on to one
another, and copy it. Here the thread that waits for a message reads it to where it stays. The protocol:
https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, on HTTP/2 (RFC 9113).
"""

import base64
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from urllib.parse import unquote

import grpc
import numpy as np
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from hpack import Decoder, Encoder, HPACKError

from chatiere.clients.columns import Buffer
from chatiere.clients.errors import ChatiereError, TransportError, error_of_status

# Frames: RFC 9113, 6.
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PUSH_PROMISE = 0, 1, 3, 4, 5
_PING, _GOAWAY, _WINDOW_UPDATE, _CONTINUATION = 6, 7, 8, 9
_ACK, _END_STREAM, _END_HEADERS, _PADDED, _PRIORITY = 1, 1, 4, 8, 0x20
# Settings: 6.5.2.
_ENABLE_PUSH, _INITIAL_WINDOW_SIZE, _MAX_FRAME_SIZE = 2, 4, 5
_FRAME = struct.Struct(">IBI")  # the length and, in the lowest byte, the type; flags; stream
_SETTING = struct.Struct(">HI")
_NUMBER = struct.Struct(">I")
_PREFIX = struct.Struct(">BI")  # of a gRPC message: whether it is compressed, its length
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_STREAM = 1
_CONTROL = (_HEADERS, _RST_STREAM, _SETTINGS, _PUSH_PROMISE, _PING, _GOAWAY, _WINDOW_UPDATE, _CONTINUATION)
_DEFAULT_WINDOW = 65_535
_LARGEST_WINDOW = 2**31 - 1
# The highest bit of numbers of streams and windows means nothing.
_RESERVED = 2**31 - 1
# What has been received is given back to the windows when it is this much: they do not run out before.
_GIVEN_BACK = 2**29
_DEFAULT_FRAME = 16_384
_LARGEST_FRAME = 2**24 - 1
# All but the longest part of long messages, which goes where it stays, is read through this.
_BUFFER = 2**16
_SHORTEST_WAIT = 1e-4
# Statuses by number: https://grpc.github.io/grpc/core/md_doc_statuscodes.html.
_CODES = {code.value[0]: code for code in grpc.StatusCode}
# What a reset stream's error means, and an answer that is HTTP's alone, where it is no INTERNAL or UNKNOWN.
_OF_RESET = {
    7: grpc.StatusCode.UNAVAILABLE,
    8: grpc.StatusCode.CANCELLED,
    11: grpc.StatusCode.RESOURCE_EXHAUSTED,
    12: grpc.StatusCode.PERMISSION_DENIED,
}
_OF_HTTP = {
    "400": grpc.StatusCode.INTERNAL,
    "401": grpc.StatusCode.UNAUTHENTICATED,
    "403": grpc.StatusCode.PERMISSION_DENIED,
    "404": grpc.StatusCode.UNIMPLEMENTED,
    "429": grpc.StatusCode.UNAVAILABLE,
    "502": grpc.StatusCode.UNAVAILABLE,
    "503": grpc.StatusCode.UNAVAILABLE,
    "504": grpc.StatusCode.UNAVAILABLE,
}


class SocketCall:
    """The call. For one thread at a time; close it.

    The connection does no more than the call: nothing is encrypted, and while nobody waits for a message nobody answers
    when the server asks whether the client is still there, so that it closes a connection that is left alone.
    """

    def __init__(self, address: str, path: str, timeout: float) -> None:
        """Begin the call.

        `address`: "HOST:PORT". `path`: "/SERVICE/METHOD". `timeout`: seconds that connecting may take, and handing on
        to the system what the service is ready to take. Raises TransportError: UNAVAILABLE.
        """
        host, _, port = address.rpartition(":")
        self._timeout = timeout
        try:
            self._socket = socket.create_connection((host.removeprefix("[").removesuffix("]"), int(port)), timeout)
        except (OSError, ValueError) as error:
            raise TransportError(grpc.StatusCode.UNAVAILABLE, f"no connection to {address}: {error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Else there would be no end to waiting for a machine that has vanished.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._decoder = Decoder()
        self._end: ChatiereError | None = None
        # What the windows have no room for yet.
        self._outgoing: deque[memoryview] = deque()
        # What may be sent: by frame, by the connection's window and by the stream's, which began as `_first_window`.
        self._frame_size = _DEFAULT_FRAME
        self._window = self._stream_window = self._first_window = _DEFAULT_WINDOW
        # What has come and was not taken yet is from `_begin` to before `_come`.
        self._buffer = memoryview(bytearray(_BUFFER))
        self._begin = self._come = 0
        # How much of the present DATA frame is still to come: of messages, and of padding after it.
        self._data_left = self._padding = 0
        # Where that goes: a message's prefix, then the message.
        self._prefix = memoryview(bytearray(_PREFIX.size))
        self._target = self._prefix
        self._filled = 0
        self._messages: deque[memoryview] = deque()
        self._received = 0
        settings = {_ENABLE_PUSH: 0, _INITIAL_WINDOW_SIZE: _LARGEST_WINDOW, _MAX_FRAME_SIZE: _LARGEST_FRAME}
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", address),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]
        self._send(
            _PREFACE,
            _frame(_SETTINGS, 0, 0, b"".join(_SETTING.pack(*each) for each in settings.items())),
            _frame(_WINDOW_UPDATE, 0, 0, _NUMBER.pack(_LARGEST_WINDOW - _DEFAULT_WINDOW)),
            _frame(_HEADERS, _END_HEADERS, _STREAM, Encoder().encode(headers)),
        )

    @property
    def is_over(self) -> bool:
        """Whether there will be no more messages than those that have come."""
        return self._end is not None

    def send(self, pieces: Sequence[Buffer]) -> None:
        """Send a message, in pieces that are to be joined.

        What the service is not ready to take is sent while `receive` waits. If the call is over, it goes nowhere, and
        `receive` says why.
        """
        size = sum(map(len, pieces))
        pieces = [_PREFIX.pack(0, size), *pieces]
        size += _PREFIX.size
        if not self._outgoing and size <= self._may_send():
            self._send_data(pieces, size)
        else:
            self._outgoing.append(memoryview(b"".join(pieces)))
            self._send_outgoing()

    def receive(self, timeout: float | None = None) -> memoryview:
        """The next message.

        Raises TimeoutError if none has begun to come within so many seconds (None: never), and ChatiereError if the
        call ends before one.
        """
        end = None if timeout is None else time.monotonic() + timeout
        left = timeout
        while not self._messages:
            self._wait(left)
            if end is not None:
                left = end - time.monotonic()
                if left < 0 and not self._messages and self._target is self._prefix:
                    raise TimeoutError("no answer yet")
        return self._messages.popleft()

    def close(self) -> None:
        """Leave the call, if it is not over, and the connection."""
        self._break("the stream was closed", grpc.StatusCode.CANCELLED)

    def _break(self, reason: str, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
        # The call is over, unless it was already, without an end of the service's.
        if self._end is None:
            self._end = TransportError(code, reason)
        self._socket.close()

    # Sending

    def _may_send(self) -> int:
        return min(self._frame_size, self._window, self._stream_window)

    def _send_outgoing(self) -> None:
        while self._outgoing and (room := self._may_send()) > 0 and self._end is None:
            data = self._outgoing.popleft()
            self._send_data([data[:room]], min(room, len(data)))
            if len(data) > room:
                self._outgoing.appendleft(data[room:])

    def _send_data(self, pieces: Sequence[Buffer], size: int) -> None:
        self._window -= size
        self._stream_window -= size
        self._send(_head(_DATA, 0, _STREAM, size), *pieces)

    def _send(self, *pieces: Buffer) -> None:
        if self._end is not None:
            return
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(b"".join(pieces))
        except TimeoutError:
            self._break("the service takes no more of a request", grpc.StatusCode.DEADLINE_EXCEEDED)
        except OSError:
            # Why the service has left may have come before, and answers: they are read first.
            pass

    # Receiving

    def _wait(self, seconds: float | None) -> None:
        # Take what comes next. Raises TimeoutError, and ChatiereError if the call is over.
        if self._end is not None:
            raise self._end
        if self._begin == self._come:
            self._begin = self._come = 0
        elif self._come == _BUFFER:
            self._come -= self._begin
            self._buffer[: self._come] = bytes(self._buffer[self._begin :])
            self._begin = 0
        # The rest of a message, of which the buffer has no more, goes where it stays.
        direct = self._data_left > 0 and self._come == 0 and self._target is not self._prefix
        room = self._target[self._filled :][: self._data_left] if direct else self._buffer[self._come :]
        try:
            # At 0 a socket would not wait at all, and fail in another way.
            self._socket.settimeout(None if seconds is None else max(seconds, _SHORTEST_WAIT))
            count = self._socket.recv_into(room)
        except OSError as error:
            # A connection that the system gives up is a TimeoutError too, with a number.
            if isinstance(error, TimeoutError) and error.errno is None:
                raise
            return self._break(f"the connection broke: {error}")
        if count == 0:
            return self._break("the service closed the connection")
        try:
            if direct:
                self._fill(count)
            else:
                self._come += count
                while self._end is None and self._take():
                    pass
        except (ValueError, IndexError, MemoryError, HPACKError, DecodeError, struct.error) as error:
            self._break(f"this is not gRPC: {error}", grpc.StatusCode.INTERNAL)
        self._send_outgoing()

    def _take(self) -> bool:
        # Take something out of the buffer; False if what it has is not enough.
        ready = self._come - self._begin
        if self._data_left:
            count = min(ready, self._data_left, len(self._target) - self._filled)
            self._target[self._filled : self._filled + count] = self._buffer[self._begin : self._begin + count]
            self._begin += count
            self._fill(count)
            return count > 0
        if self._padding:
            count = min(ready, self._padding)
            self._begin += count
            self._padding -= count
            return count > 0
        return ready >= _FRAME.size and self._take_frame(ready - _FRAME.size)

    def _fill(self, count: int) -> None:
        # So many more bytes are where they go.
        self._data_left -= count
        self._filled += count
        while self._filled == len(self._target):
            self._filled = 0
            if self._target is not self._prefix:
                self._messages.append(self._target.toreadonly())
                self._target = self._prefix
                continue
            compressed, size = _PREFIX.unpack(self._prefix)
            if compressed:
                raise ValueError("a message is compressed, which nobody asked for")
            # Not zeroed, which would take as long as another copy.
            self._target = np.empty(size, np.uint8).data

    def _take_frame(self, ready: int) -> bool:
        # The next frame, of which, after its head, so much is in the buffer; False if that is not enough.
        size_and_kind, flags, stream = _FRAME.unpack_from(self._buffer, self._begin)
        size, kind, stream = size_and_kind >> 8, size_and_kind & 0xFF, stream & _RESERVED
        if stream > _STREAM and (kind == _DATA or kind in _CONTROL):
            raise ValueError(f"a frame of stream {stream}")
        # The messages in a DATA frame are taken as they come.
        wanted = size if kind in _CONTROL else min(size, int(kind == _DATA and flags & _PADDED > 0))
        if wanted > _BUFFER - _FRAME.size:
            raise ValueError(f"a frame of type {kind} has {size} bytes")
        if ready < wanted:
            return False
        begin = self._begin + _FRAME.size
        self._begin = begin + wanted
        payload = bytes(self._buffer[begin : self._begin])
        if kind == _DATA:
            self._take_data(size - wanted, payload, flags)
        elif kind == _HEADERS:
            self._take_headers(payload, flags)
        elif kind == _RST_STREAM:
            (code,) = _NUMBER.unpack(payload)
            reason = f"the service reset the stream, HTTP/2 error {code}"
            self._break(reason, _OF_RESET.get(code, grpc.StatusCode.INTERNAL))
        elif kind == _SETTINGS:
            self._take_settings(payload, flags)
        elif kind == _PING and not flags & _ACK:
            self._send(_frame(_PING, _ACK, 0, payload))
        elif kind == _GOAWAY and _NUMBER.unpack_from(payload)[0] & _RESERVED < _STREAM:
            self._break("the service stops")
        elif kind == _WINDOW_UPDATE:
            more = _NUMBER.unpack(payload)[0] & _RESERVED
            if stream:
                self._stream_window += more
            else:
                self._window += more
        elif kind in (_PUSH_PROMISE, _CONTINUATION):
            raise ValueError(f"a frame of type {kind}")
        elif kind not in _CONTROL:
            # Priorities, and what later versions have: passed over.
            self._padding = size
        return True

    def _take_data(self, size: int, padding: bytes, flags: int) -> None:
        self._padding = padding[0] if padding else 0
        self._data_left = size - self._padding
        if self._data_left < 0 or flags & _END_STREAM:
            raise ValueError("the stream ends without a status, or a frame is only padding")
        self._received += size + len(padding)
        if self._received >= _GIVEN_BACK:
            more = _NUMBER.pack(self._received)
            for stream in (0, _STREAM):
                self._send(_frame(_WINDOW_UPDATE, 0, stream, more))
            self._received = 0

    def _take_headers(self, payload: bytes, flags: int) -> None:
        if not flags & _END_HEADERS:
            raise ValueError("headers in several frames")
        padding = payload[0] if flags & _PADDED else 0
        begin = (1 if flags & _PADDED else 0) + (5 if flags & _PRIORITY else 0)
        block = payload[begin : len(payload) - padding]
        headers = {str(name): str(value) for name, value in self._decoder.decode(block)}
        status = headers.get(":status", "200")
        if "grpc-status" in headers:
            self._end = _end_of(headers)
        elif flags & _END_STREAM or not status.startswith(("1", "200")):
            self._break(f"no gRPC status, but HTTP's {status}", _OF_HTTP.get(status, grpc.StatusCode.UNKNOWN))

    def _take_settings(self, payload: bytes, flags: int) -> None:
        if flags & _ACK:
            return
        for name, value in _SETTING.iter_unpack(payload):
            if name == _INITIAL_WINDOW_SIZE:
                if value > _LARGEST_WINDOW:
                    raise ValueError(f"a window of {value}")
                self._stream_window += value - self._first_window
                self._first_window = value
            elif name == _MAX_FRAME_SIZE:
                if not _DEFAULT_FRAME <= value <= _LARGEST_FRAME:
                    raise ValueError(f"frames of {value}")
                self._frame_size = value
        self._send(_frame(_SETTINGS, _ACK, 0, b""))


def _head(kind: int, flags: int, stream: int, size: int) -> bytes:
    # What stands before so many bytes.
    return _FRAME.pack(size << 8 | kind, flags, stream)


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return _head(kind, flags, stream, len(payload)) + payload


def _end_of(trailers: dict[str, str]) -> ChatiereError:
    # What a call has ended with.
    code = _CODES.get(int(trailers["grpc-status"]), grpc.StatusCode.UNKNOWN)
    if code == grpc.StatusCode.OK:
        return TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
    details = trailers.get("grpc-status-details-bin", "")
    # Written without the padding of base64.
    status = (
        Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4), validate=True)) if details else None
    )
    return error_of_status(code, unquote(trailers.get("grpc-message", "")), status)
