"""One end of a connection that carries the messages of one gRPC call at a time.

For batches of hundreds of kilobytes, where gRPC's library hands each message on from thread to thread, and copies it.
Here the thread that waits for a message reads it to where it stays. The protocol:
https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, on HTTP/2 (RFC 9113).
"""

import select
import socket
import struct
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from hpack import Decoder, Encoder, HPACKError

from chatiere.http2 import frames

Buffer = bytes | memoryview
"""Bytes, wherever they are."""

_PREFIX = struct.Struct(">BI")  # of a gRPC message: whether it is compressed, its length
# All but the longest part of long messages, which goes where it stays, is read through this; not all of it at a time,
# because what comes through it is copied once more.
_BUFFER, _GULP = 2**16, 2**12
# Header blocks, and what the other end may let wait to be answered: pings, settings.
_LONGEST_HEADERS, _MOST_WAITING = 2**16, 1000
# Where the system has these options: seconds until it asks a silent machine, between questions, and how many.
_KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}
_LONGEST_WAIT = 1e6
# What has been taken is given back to the windows when it is this part of one.
_SHARES = 4
# As many as the system takes at once, at least.
_MOST_PIECES = 16
# Kinds that are taken whole.
_WHOLE = frozenset(range(10)) - {frames.DATA, frames.PRIORITY}


class Broken(Exception):
    """The connection is over, or cannot go on."""


class ProtocolError(Broken):
    """Because the other end does not speak the protocol."""


class Ended(Broken):
    """Because the other end sends nothing more."""


class Stuck(Broken):
    """Because the other end takes nothing."""


def milliseconds(seconds: float | None) -> float | None:
    """A wait as poll takes it, which knows neither less than none nor more than some weeks."""
    return None if seconds is None else 1000 * min(max(seconds, 0.0), _LONGEST_WAIT)


class Connection(ABC):
    """The connection. For one thread at a time.

    `stream`: the number of the call's stream; 0: there is none. Messages come into a queue, of which the other end may
    fill `window` bytes, and one more message, before any is taken.
    """

    def __init__(self, connected: socket.socket, *, patience: float, window: int, longest: int, most: int) -> None:
        """`patience`: seconds for which the other end may take nothing.

        `longest`: bytes of a message that comes. `most`: messages in the queue; small ones take more memory than bytes.
        """
        self._socket = connected
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Else there would be no end to waiting for a machine that has vanished.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE.items():
            self._socket.setsockopt(socket.IPPROTO_TCP, option, value)
        self._patience = patience
        self._longest, self._most = longest, most
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(connected, select.POLLIN)
        self._writable.register(connected, select.POLLOUT)
        self._encoder, self._decoder = Encoder(), Decoder()
        self.stream = 0
        # The highest number of a stream so far.
        self._last = 0

        # What goes to the system next, and what the windows have no room for yet; whether the other end takes no more,
        # or sends no more.
        self._ready: list[Buffer] = []
        self._is_deaf = self._is_at_end = False
        self._outgoing: deque[memoryview] = deque()
        # What may be sent: by frame, by the connection's window and by the stream's, which begins as `_first_window`.
        self._frame_size = frames.DEFAULT_FRAME
        self._room = self._stream_room = self._first_window = frames.DEFAULT_WINDOW

        # What may come, and what of it has been taken and not been given back.
        self._window = self._may_come = window
        self._taken = 0
        # What has come and was not looked at is from `_begin` to before `_come`.
        self._buffer = memoryview(bytearray(_BUFFER))
        self._begin = self._come = 0
        # How much of the present DATA frame is still to come: of messages, and what is passed over after it.
        self._data_left = self._passed_over = 0
        # Where messages go: a prefix, then the message; how much of its present part is there.
        self._prefix = memoryview(bytearray(_PREFIX.size))
        self._target = self._prefix
        self._filled = 0
        # Whether the present frame is the stream's last, and whether what else comes of it is passed over.
        self._ends = self._is_refused = False
        # Messages, and the bytes of each that were not given back when they came.
        self._messages: deque[tuple[memoryview, int]] = deque()
        self._held = 0
        # A block of headers that is not whole yet, its stream and the flags it began with.
        self._block: tuple[int, int, bytearray] | None = None

    # What the ends differ in

    @abstractmethod
    def _take_headers(self, stream: int, ends: bool, headers: list[tuple[str, str]]) -> None:
        """Headers have come; `ends`: and nothing after them."""

    @abstractmethod
    def _take_end(self) -> None:
        """The stream's messages have ended, without headers after them."""

    @abstractmethod
    def _take_reset(self, error: int) -> None:
        """The stream was reset."""

    @abstractmethod
    def _take_goaway(self, last: int, text: str) -> None:
        """The other end begins no stream after `last`."""

    @abstractmethod
    def _refuse_message(self, reason: str, *, is_limit: bool) -> None:
        """A message of the stream that is not taken has begun: the rest of the stream will be passed over.

        `is_limit`: because of a limit.
        """

    # Sending

    def _send(self, *pieces: Buffer) -> None:
        """Hand on frames. What comes is taken meanwhile where the system takes no more. Raises Broken."""
        self._ready += pieces
        while self._ready and not self._is_deaf:
            try:
                sent = self._socket.sendmsg(self._ready[:_MOST_PIECES], (), socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._wait_to_send()
            except OSError:
                # Why the other end has left may have come before, and messages: they are read first.
                self._is_deaf = True
            else:
                self._drop_sent(sent)
        if self._is_deaf:
            # Kept, it would be more and more.
            self._ready.clear()

    def _wait_to_send(self) -> None:
        # The other end may be waiting for the same: reading lets both go on.
        reads = not self._is_at_end
        self._writable.modify(self._socket, select.POLLOUT | (select.POLLIN if reads else 0))
        events = self._writable.poll(1000 * self._patience)
        if not events:
            self._is_deaf = True
            raise Stuck("the other end takes no more")
        if reads and events[0][1] & ~select.POLLOUT:
            # If it sends nothing more, it may still take what is sent.
            with suppress(Ended):
                self._read()

    def _drop_sent(self, sent: int) -> None:
        if sent == sum(map(len, self._ready)):
            self._ready.clear()
            return
        for whole, piece in enumerate(self._ready):
            if sent < len(piece):
                self._ready[: whole + 1] = [memoryview(piece)[sent:]]
                return
            sent -= len(piece)

    def _answer(self, frame: bytes) -> None:
        # Behind what is being sent, if something is.
        if len(self._ready) >= _MOST_WAITING:
            raise ValueError("too much that wants an answer")
        self._ready.append(frame)

    def _send_message(self, pieces: Sequence[Buffer]) -> None:
        """Send a message, in pieces that are to be joined; what the windows have no room for is sent when they have."""
        # Before it, which costs less than apart from it.
        self._give_back()
        size = sum(map(len, pieces))
        pieces = [_PREFIX.pack(0, size), *pieces]
        size += _PREFIX.size
        if not self._outgoing and size <= self._may_send():
            self._send_data(pieces, size)
        else:
            self._outgoing.append(memoryview(b"".join(pieces)))
            self._send_outgoing()

    def _may_send(self) -> int:
        return min(self._frame_size, self._room, self._stream_room)

    def _send_outgoing(self) -> None:
        while self._outgoing and (room := self._may_send()) > 0:
            data = self._outgoing.popleft()
            if len(data) > room:
                self._outgoing.appendleft(data[room:])
            self._send_data([data[:room]], min(room, len(data)))

    def _send_data(self, pieces: Sequence[Buffer], size: int) -> None:
        self._room -= size
        self._stream_room -= size
        self._send(frames.head(frames.DATA, 0, self.stream, size), *pieces)

    def _headers(self, flags: int, headers: Sequence[tuple[str, str]]) -> bytes:
        """Headers of the stream, in frames."""
        block = self._encoder.encode(headers)
        parts = [block[begin : begin + self._frame_size] for begin in range(0, len(block), self._frame_size)]
        kinds = [frames.HEADERS] + [frames.CONTINUATION] * (len(parts) - 1)
        ends = [0] * (len(parts) - 1) + [frames.END_HEADERS]
        firsts = [flags] + [0] * (len(parts) - 1)
        return b"".join(
            frames.frame(kind, first | end, self.stream, part)
            for kind, first, end, part in zip(kinds, firsts, ends, parts, strict=True)
        )

    def _begin_stream(self, stream: int) -> None:
        """The messages are those of this stream from now on; 0: of none, what still comes of it is passed over."""
        self.stream = stream
        self._last = max(stream, self._last)
        self._stream_room = self._first_window
        self._outgoing.clear()
        self._taken += self._held + sum(held for _, held in self._messages)
        self._held = 0
        self._messages.clear()
        self._pass_over_messages()
        self._is_refused = False

    def _pass_over_messages(self) -> None:
        # Of the present frame.
        self._passed_over += self._data_left
        self._taken += self._data_left
        self._data_left = self._filled = 0
        self._target = self._prefix
        self._ends = False

    # Receiving

    def _take_message(self) -> memoryview:
        """The first of the messages that have come, for whoever takes it to keep and to write to."""
        message, held = self._messages.popleft()
        self._taken += held
        if not self._messages:
            # Of the one that is coming, of which there may be more than a window.
            self._taken += self._held
            self._held = 0
        return message

    @property
    def _has_part(self) -> bool:
        # Of a message, and not all of it.
        return self._filled > 0 or self._target is not self._prefix

    def _wait(self, seconds: float | None) -> None:
        """Take what comes next. Raises TimeoutError if nothing has within so many seconds (None: never), and Broken."""
        self._give_back()
        if self._ready:
            self._send()
        if not self._has_come(seconds):
            return
        self._read()
        if self._ready:
            self._send()
        self._send_outgoing()

    def _has_come(self, seconds: float | None) -> bool:
        """Wait until something has; False: the wait is over without. Raises TimeoutError."""
        # Reading waits by itself.
        if seconds is not None and not self._readable.poll(milliseconds(seconds)):
            raise TimeoutError("nothing has come")
        return True

    def _read(self) -> None:
        try:
            if not self._reads_rest():
                self._read_anything()
                # Of a message that has begun the rest has mostly come, too. While there is something else to do, it can
                # wait, and so can the connection's end.
                if not (self._messages or self._ready or self._outgoing) and self._reads_rest():
                    self._read_rest(socket.MSG_DONTWAIT)
            else:
                self._read_rest(0)
        except (ValueError, IndexError, MemoryError, HPACKError, struct.error) as error:
            raise ProtocolError(f"this is not gRPC: {error}") from error

    def _reads_rest(self) -> bool:
        # The rest of a message, of which the buffer has no more, goes where it stays.
        return self._data_left > 0 and self._begin == self._come and self._target is not self._prefix

    def _read_rest(self, flags: int) -> None:
        self._fill(self._receive(self._target[self._filled :][: self._data_left], flags))

    def _read_anything(self) -> None:
        if self._begin == self._come:
            self._begin = self._come = 0
        elif self._come == _BUFFER:
            self._come -= self._begin
            self._buffer[: self._come] = bytes(self._buffer[self._begin :])
            self._begin = 0
        self._come += self._receive(self._buffer[self._come : self._come + _GULP], 0)
        while self._begin < self._come and self._take():
            pass

    def _receive(self, room: memoryview, flags: int) -> int:
        # How many bytes have come; 0 if none, where `flags` say that nobody waits.
        try:
            count = self._socket.recv_into(room, 0, flags)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise Broken(f"the connection broke: {error}") from error
        if count == 0:
            self._is_at_end = True
            raise Ended("the other end closed the connection")
        return count

    def _give_back(self) -> None:
        if self._taken <= self._window // _SHARES:
            return
        more = frames.NUMBER.pack(self._taken)
        self._may_come += self._taken
        self._taken = 0
        for stream in {0, self.stream}:
            self._answer(frames.frame(frames.WINDOW_UPDATE, 0, stream, more))

    def _take(self) -> bool:
        # Take something out of the buffer; False if what it has is not enough.
        ready = self._come - self._begin
        if self._data_left:
            count = min(ready, self._data_left, len(self._target) - self._filled)
            self._target[self._filled : self._filled + count] = self._buffer[self._begin : self._begin + count]
            self._begin += count
            self._fill(count)
            return count > 0
        if self._passed_over:
            count = min(ready, self._passed_over)
            self._begin += count
            self._passed_over -= count
            return count > 0
        return ready >= frames.HEAD.size and self._take_frame(ready - frames.HEAD.size)

    def _fill(self, count: int) -> None:
        # So many more bytes are where they go.
        self._data_left -= count
        self._filled += count
        if self._messages:
            self._held += count
        else:
            self._taken += count
        while self._filled == len(self._target):
            self._filled = 0
            if self._target is not self._prefix:
                self._messages.append((self._target, self._held))
                self._target, self._held = self._prefix, 0
                continue
            compressed, size = _PREFIX.unpack(self._prefix)
            reason = ""
            if compressed:
                reason = f"a message of {size} bytes is compressed, which nobody asked for"
            elif size > self._longest:
                reason = f"a message of {size} bytes is longer than {self._longest}"
            elif len(self._messages) >= self._most:
                reason = f"{self._most} messages wait for their answers, which is the most"
            if reason:
                self._refuse_message(reason, is_limit=not compressed)
                self._is_refused = True
                return self._pass_over_messages()
            # Not zeroed, which would take as long as another copy.
            self._target = np.empty(size, np.uint8).data
        if self._ends and self._data_left == 0:
            self._take_end()

    def _take_frame(self, ready: int) -> bool:
        # The next frame, of which, after its head, so much is in the buffer; False if that is not enough.
        size_and_kind, flags, stream = frames.HEAD.unpack_from(self._buffer, self._begin)
        size, kind, stream = size_and_kind >> 8, size_and_kind & 0xFF, stream & frames.UNRESERVED
        # The messages in a DATA frame are taken as they come.
        wanted = size if kind in _WHOLE else min(size, int(kind == frames.DATA and flags & frames.PADDED > 0))
        if wanted > _BUFFER - frames.HEAD.size:
            raise ValueError(f"a frame of type {kind} has {size} bytes")
        if ready < wanted:
            return False
        begin = self._begin + frames.HEAD.size
        self._begin = begin + wanted
        payload = bytes(self._buffer[begin : self._begin])
        if (self._block is not None) != (kind == frames.CONTINUATION):
            raise ValueError(f"a frame of type {kind} where headers go on, or go on without a beginning")
        if self._block is not None and stream != self._block[0]:
            raise ValueError(f"a frame of stream {stream} where headers go on")
        if kind == frames.DATA:
            self._take_data(stream, size, payload, flags)
        elif kind in _WHOLE:
            self._take_whole(kind, flags, stream, payload)
        else:
            # Priorities, and what later versions have.
            self._passed_over = size
        return True

    def _take_whole(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == frames.HEADERS:
            padding = payload[0] if flags & frames.PADDED else 0
            begin = (1 if flags & frames.PADDED else 0) + (5 if flags & frames.WITH_PRIORITY else 0)
            if begin + padding > len(payload):
                raise ValueError("headers are only padding")
            self._block = stream, flags, bytearray()
            self._take_block(payload[begin : len(payload) - padding], flags)
        elif kind == frames.CONTINUATION:
            self._take_block(payload, flags)
        elif kind == frames.RST_STREAM:
            (error,) = frames.NUMBER.unpack(payload)
            if stream > self._last or stream == 0:
                raise ValueError(f"stream {stream} is reset, which there is not")
            if stream == self.stream:
                self._take_reset(error)
        elif kind == frames.SETTINGS:
            if not flags & frames.ACK:
                self._take_settings(payload)
        elif kind == frames.PING:
            if len(payload) != 8:
                raise ValueError(f"a ping of {len(payload)} bytes")
            if not flags & frames.ACK:
                self._answer(frames.frame(frames.PING, frames.ACK, 0, payload))
        elif kind == frames.GOAWAY:
            last = frames.NUMBER.unpack_from(payload)[0] & frames.UNRESERVED
            self._take_goaway(last, payload[8:].decode(errors="replace"))
        elif kind == frames.WINDOW_UPDATE:
            self._take_window(stream, frames.NUMBER.unpack(payload)[0] & frames.UNRESERVED)
        else:
            raise ValueError(f"a frame of type {kind}")

    def _take_block(self, part: bytes, flags: int) -> None:
        assert self._block is not None
        stream, first, block = self._block
        block += part
        if len(block) > _LONGEST_HEADERS:
            raise ValueError(f"headers have more than {_LONGEST_HEADERS} bytes")
        if flags & frames.END_HEADERS:
            self._block = None
            headers = [(str(name), str(value)) for name, value in self._decoder.decode(bytes(block))]
            self._take_headers(stream, first & frames.END_STREAM > 0, headers)

    def _take_data(self, stream: int, size: int, padding: bytes, flags: int) -> None:
        if stream > self._last or stream == 0:
            raise ValueError(f"a frame of stream {stream}")
        self._may_come -= size
        if self._may_come < 0:
            raise ValueError("more comes than the window has room for")
        after = padding[0] if padding else 0
        left = size - len(padding) - after
        if left < 0:
            raise ValueError("a frame is only padding")
        self._passed_over = after
        self._taken += size - left
        if stream != self.stream or self._is_refused:
            self._passed_over += left
            self._taken += left
            return
        self._data_left = left
        self._ends = flags & frames.END_STREAM > 0
        if self._ends and left == 0:
            self._take_end()

    def _take_window(self, stream: int, more: int) -> None:
        if stream == 0:
            self._room += more
        elif stream == self.stream:
            self._stream_room += more
        if more == 0 or max(self._room, self._stream_room) > frames.LARGEST_WINDOW:
            raise ValueError(f"a window grows by {more}")

    def _take_settings(self, payload: bytes) -> None:
        for name, value in frames.SETTING.iter_unpack(payload):
            if name == frames.INITIAL_WINDOW_SIZE:
                if value > frames.LARGEST_WINDOW:
                    raise ValueError(f"a window of {value}")
                self._stream_room += value - self._first_window
                self._first_window = value
            elif name == frames.MAX_FRAME_SIZE:
                if not frames.DEFAULT_FRAME <= value <= frames.LARGEST_FRAME:
                    raise ValueError(f"frames of {value}")
                self._frame_size = value
            elif name == frames.HEADER_TABLE_SIZE:
                self._encoder.header_table_size = min(value, frames.DEFAULT_TABLE)
        self._answer(frames.frame(frames.SETTINGS, frames.ACK, 0))
