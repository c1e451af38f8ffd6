"""Clients that keep to the rules of HTTP/2, and to no others."""

import ipaddress
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from google.rpc import code_pb2
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from siege.floods import Flooder

# Attackers come from loopback addresses of their own, beginning with this one.
_FIRST_SOURCE = ipaddress.IPv4Address("127.0.0.2")
# The timeout of socket operations, in seconds.
_PATIENCE = 10.0
_CHUNK = 2**16


class Attacker:
    """A connection. `came`: counts of what happened on its streams."""

    def __init__(self, address: tuple[str, int], source: str, came: Counter[str], *, window: int | None = None) -> None:
        """Connect. `window`: the bytes of a response that it takes; None: HTTP/2's default."""
        self._came = came
        self.socket = socket.create_connection(address, timeout=_PATIENCE, source_address=(source, 0))
        self._http2 = H2Connection(H2Configuration(client_side=True))
        if window is not None:
            values: dict[SettingCodes | int, int] = {SettingCodes.INITIAL_WINDOW_SIZE: window}
            self._http2.local_settings = Settings(client=True, initial_values=values)
        # The unsent parts of request bodies, by stream, in the order of their turns.
        self._bodies: deque[tuple[int, memoryview]] = deque()
        self._http2.initiate_connection()
        self._flush()
        # Respect the server's limits.
        while not any(isinstance(event, RemoteSettingsChanged) for event in self.read()):
            pass

    def begin(self, method: str, body: bytes = b"", *, is_whole: bool = False) -> None:
        """Begin a call, and send only the given part of its request."""
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", f"/{method}"),
            (":authority", "localhost"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]
        try:
            stream = self._http2.get_next_available_stream_id()
            self._http2.send_headers(stream, headers)
        except ProtocolError:
            self._came["no stream left on the connection"] += 1
            return
        if body and is_whole:
            # Small enough for every window.
            self._http2.send_data(stream, body, end_stream=True)
        elif body:
            self._bodies.append((stream, memoryview(body)))
        try:
            self._flush()
            self.push()
            self._came["begun"] += 1
        except OSError:
            # The server has closed the connection, or receives nothing.
            self._came["not sent"] += 1

    def push(self) -> None:
        """Send as much of the bodies as the server's windows allow."""
        for _ in range(len(self._bodies)):
            stream, body = self._bodies.popleft()
            with suppress(ProtocolError):
                # ProtocolError: the stream is over.
                size = min(self._http2.local_flow_control_window(stream), self._http2.max_outbound_frame_size)
                if size > 0:
                    self._http2.send_data(stream, body[:size].tobytes())
                    self._came["bytes sent"] += len(body[:size])
                    self._flush()
                if len(body) > max(size, 0):
                    self._bodies.append((stream, body[max(size, 0) :]))

    def read(self) -> list[Event]:
        """Read what has arrived. Raise ConnectionError if the server has closed the connection."""
        data = self.socket.recv(_CHUNK)
        if not data:
            raise ConnectionResetError
        events = self._http2.receive_data(data)
        for event in events:
            self._count(event)
        self._flush()
        return events

    def _count(self, event: Event) -> None:
        if isinstance(event, ResponseReceived | TrailersReceived):
            status = dict(event.headers or ()).get(b"grpc-status")
            if status is not None:
                self._came[code_pb2.Code.Name(int(status))] += 1
        elif isinstance(event, StreamReset):
            self._came["reset"] += 1
        elif isinstance(event, ConnectionTerminated):
            self._came["connection ended"] += 1

    def _flush(self) -> None:
        if data := self._http2.data_to_send():
            self.socket.sendall(data)


class Crowd:
    """The attackers of an attack."""

    def __init__(self, address: tuple[str, int], came: Counter[str]) -> None:
        """Create an empty crowd. `came`: counts of what happens to its attackers."""
        self._address = address
        self._came = came
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> "Crowd":
        """Return the crowd itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections."""
        self._selector.close()
        for each in self._sockets:
            each.close()

    def connect(self, count: int, addresses: int, **settings: Any) -> list[Attacker]:
        """Connect attackers that speak HTTP/2, from a number of addresses."""
        attackers = []
        for i in range(count):
            attacker = Attacker(self._address, str(_FIRST_SOURCE + i % addresses), self._came, **settings)
            attackers.append(attacker)
            self._sockets.append(attacker.socket)
            self._selector.register(attacker.socket, selectors.EVENT_READ, attacker)
        return attackers

    def connect_sending(self, count: int, data: bytes, *, is_read: bool = True) -> None:
        """Open connections that send `data`, as far as the server takes it at once, and no more.

        `is_read`: take what the server sends.
        """
        for silent in self.connect_silently(count):
            if not is_read:
                self._selector.unregister(silent)
            silent.settimeout(_PATIENCE)
            silent.sendall(data[:_CHUNK])
            silent.setblocking(False)
            # The server may end it, or read no further.
            with suppress(OSError):
                silent.send(data[_CHUNK:])

    def connect_silently(self, count: int) -> list[socket.socket]:
        """Open connections that send nothing, without waiting for the server to accept them."""
        opened = []
        for _ in range(count):
            silent = socket.socket()
            self._sockets.append(silent)
            silent.setblocking(False)
            silent.bind((str(_FIRST_SOURCE), 0))
            silent.connect_ex(self._address)
            self._came["begun"] += 1
            self._selector.register(silent, selectors.EVENT_READ)
            opened.append(silent)
        return opened

    def flooders(self, count: int) -> list[Flooder]:
        """Connect attackers that flood, each from an address of its own."""
        return [Flooder(self._address, str(_FIRST_SOURCE + i), self._came) for i in range(count)]

    def stay(self, until: float) -> None:
        """Read what arrives, and send what may be sent, until a time of time.monotonic()."""
        while (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                try:
                    if key.data is None:
                        if not key.fileobj.recv(_CHUNK):  # type: ignore[union-attr]
                            raise ConnectionResetError
                    else:
                        key.data.read()
                        key.data.push()
                except (OSError, ProtocolError):
                    self._came["connection closed"] += 1
                    self._selector.unregister(key.fileobj)


def in_turn(attackers: list[Attacker], count: int) -> Iterable[Attacker]:
    """Yield the attackers in turn, `count` in all."""
    for i in range(count):
        yield attackers[i % len(attackers)]
