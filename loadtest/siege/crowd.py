"""Clients that obey the rules of HTTP/2 and HTTP/1.1, but no other rules."""

import http.client
import ipaddress
import re
import selectors
import socket
import ssl
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from typing import Any, TypeVar

import grpc
from google.rpc import code_pb2
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from loadtest.siege.floods import Flooder, FloodsByName

# The first of the loopback addresses used by attackers.
FIRST_SOURCE = "127.0.0.2"
# The timeout of socket operations, in seconds.
_PATIENCE = 10.0
_CHUNK = 2**16
# The value of the socket option SO_LINGER with which closing a socket resets its connection.
_RESET = struct.pack("ii", 1, 0)
# The head of a call at the web door, without the length of its request.
WEB_HEAD = "POST /%s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/%s\r\n"

_T = TypeVar("_T")


class Attacker:
    """An attacker that has an HTTP/2 connection, and counts the events on its streams in `came`."""

    def __init__(self, address: tuple[str, int], source: str, came: Counter[str], *, window: int | None = None) -> None:
        """Connect. `window` is the maximum number of bytes of a response to receive, or None to read all responses."""
        self._came = came
        self._reads_all = window is None
        self.socket = socket.create_connection(address, timeout=_PATIENCE, source_address=(source, 0))
        self._http2 = H2Connection(H2Configuration(client_side=True))
        if window is not None:
            values = {SettingCodes.INITIAL_WINDOW_SIZE: window}
            self._http2.local_settings = Settings(client=True, initial_values=values)
        # The streams that send in turn: the id, the unsent part of the body, and True if the stream then ends.
        self._bodies: deque[tuple[int, memoryview, bool]] = deque()
        self._http2.initiate_connection()
        self._flush()
        # Wait for the server's settings, to respect its limits.
        while not any(isinstance(event, RemoteSettingsChanged) for event in self.read()):
            pass

    def begin(
        self, method: str, message: bytes | None = None, *, length: int | None = None, is_open: bool = False
    ) -> None:
        """Start a call.

        Args:
            method: The full name of the method, SERVICE/METHOD.
            message: The part of the request to send; None to send only headers.
            length: The length of the whole request, or None if `message` is the whole request.
            is_open: True to leave the stream open after the request.
        """
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
        if message is not None:
            body = memoryview(_in_grpc(message, length))
            self._bodies.append((stream, body, length is None and not is_open))
        try:
            self._flush()
            self.push()
            self._came["begun"] += 1
        except OSError:
            # The server has closed the connection, or does not read.
            self._came["not sent"] += 1

    def push(self) -> None:
        """Send as much of the bodies as the server's flow-control windows allow."""
        for _ in range(len(self._bodies)):
            stream, body, ends = self._bodies.popleft()
            with suppress(ProtocolError):
                # ProtocolError means that the stream is over.
                size = min(self._http2.local_flow_control_window(stream), self._http2.max_outbound_frame_size)
                if size > 0:
                    self._http2.send_data(stream, body[:size].tobytes(), end_stream=ends and len(body) <= size)
                    self._came["bytes sent"] += len(body[:size])
                    self._flush()
                if len(body) > max(size, 0):
                    self._bodies.append((stream, body[max(size, 0) :], ends))

    def read(self) -> list[Event]:
        """Read incoming data. Raise ConnectionError if the server has closed the connection."""
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
        elif isinstance(event, DataReceived) and self._reads_all:
            self._http2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, StreamReset):
            self._came["reset"] += 1
        elif isinstance(event, StreamEnded):
            self._came["ended"] += 1
        elif isinstance(event, ConnectionTerminated):
            self._came["connection ended"] += 1

    def _flush(self) -> None:
        if data := self._http2.data_to_send():
            self.socket.sendall(data)


class WebAttacker:
    """An attacker at the web door, with one connection per call."""

    def __init__(self, open_sending: Callable[[bytes], socket.socket]) -> None:
        """Create an attacker. `open_sending` opens a connection that sends the given data."""
        self._open_sending = open_sending

    def begin(
        self, method: str, message: bytes | None = None, *, length: int | None = None, kind: str = "proto"
    ) -> None:
        """Start a call. For `message` and `length` see Attacker. `kind` is proto, json or connect+proto."""
        self.socket = self._open_sending(_in_http(method, message, length, kind))


class _Sender:
    """A connection that sends given data, and counts the HTTP/1.1 statuses that it receives."""

    def __init__(self, opened: socket.socket, data: bytes, came: Counter[str], *, is_read: bool = True) -> None:
        self.socket, self._left, self._came, self.is_read = opened, memoryview(data), came, is_read

    def push(self) -> bool:
        """Send as much as the socket accepts. Return True if some data is left."""
        with suppress(BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            while self._left:
                self._left = self._left[self.socket.send(self._left) :]
        return bool(self._left)

    def read(self) -> None:
        """Read incoming data. Raise OSError if the server has closed the connection."""
        try:
            data = self.socket.recv(_CHUNK)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        if not data:
            self._came["ended"] += 1
            raise ConnectionResetError
        for status in re.findall(rb"^HTTP/1\.1 (\d{3}) ", data, re.MULTILINE):
            self._came[f"HTTP {status.decode()}"] += 1


@lru_cache(maxsize=2)
def _in_grpc(message: bytes, length: int | None) -> bytes:
    return b"\0" + (length or len(message)).to_bytes(4) + message


@lru_cache(maxsize=2)
def _in_http(method: str, message: bytes | None, length: int | None, kind: str) -> bytes:
    size = 1 if message is None else length or len(message)
    head = WEB_HEAD % (method, kind) + f"connection: close\r\ncontent-length: {size}\r\n\r\n"
    return head.encode() + (message or b"")


class Crowd:
    """The attackers of an attack on `door`."""

    def __init__(self, address: tuple[str, int], door: str, came: Counter[str], source: str = FIRST_SOURCE) -> None:
        """Create an empty crowd.

        Args:
            address: The address of the door.
            door: The name of the door.
            came: The counter of events at the attackers.
            source: The first of the attackers' addresses.
        """
        self.door = door
        self._source = ipaddress.IPv4Address(source)
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

    def connect(self, count: int, addresses: int, *, window: int | None = None) -> "list[Attacker] | list[WebAttacker]":
        """Return new attackers. They connect immediately, except at the web door.

        Args:
            count: The number of attackers.
            addresses: The number of source addresses.
            window: See Attacker. At the web door, attackers with a window do not read.

        Raises:
            ConnectionError: The server has not accepted any connection.
        """
        if self.door == "web":
            return [
                WebAttacker(partial(self._open_sending, source=source, is_read=window is None))
                for source in self._sources(count, addresses)
            ]
        attackers = []
        for source in self._sources(count, addresses):
            try:
                attacker = Attacker(self._address, source, self._came, window=window)
            except (OSError, ProtocolError):
                self._came["not connected"] += 1
                continue
            attackers.append(attacker)
            self._sockets.append(attacker.socket)
            self._selector.register(attacker.socket, selectors.EVENT_READ, attacker)
        if not attackers:
            raise ConnectionRefusedError("the server takes no connection")
        return attackers

    @contextmanager
    def calls(self) -> "Iterator[Callable[[str, bytes], bytes]]":
        """Yield a function that makes a call as a well-behaved client does, and returns the response."""
        host, port = self._address
        if self.door == "web":
            with closing(http.client.HTTPConnection(host, port, timeout=_PATIENCE)) as connection:

                def call(method: str, message: bytes) -> bytes:
                    connection.request("POST", f"/{method}", message, {"content-type": "application/proto"})
                    with connection.getresponse() as response:
                        content = response.read()
                    if response.status != 200:
                        raise ConnectionRefusedError(content.decode())
                    return content

                yield call
        else:
            with grpc.insecure_channel(f"{host}:{port}", options=[("grpc.enable_http_proxy", 0)]) as channel:

                def call(method: str, message: bytes) -> bytes:
                    made: Any = channel.unary_unary(f"/{method}")
                    response: bytes = made(message, timeout=_PATIENCE)
                    return response

                yield call

    def connect_sending(self, count: int, data: bytes, *, addresses: int = 1, is_read: bool = True) -> None:
        """Open connections that send `data`. `is_read` is True to read the server's responses."""
        for source in self._sources(count, addresses):
            self._open_sending(data, source, is_read=is_read)

    def connect_silently(self, count: int, addresses: int) -> list[socket.socket]:
        """Open connections that send no data, without waiting for the server to accept them."""
        return [self._open_sending(b"", source) for source in self._sources(count, addresses)]

    def connect_by_tls(self, count: int, addresses: int, data: bytes, until: float) -> None:
        """Open TLS connections that send only `data`, one after another."""
        context = tls_context(self.door)
        for source in self._sources(count, addresses):
            if time.monotonic() > until:
                return
            try:
                opened = socket.create_connection(self._address, _PATIENCE, source_address=(source, 0))
                self._sockets.append(opened)
                secured = context.wrap_socket(opened)
                self._sockets[-1] = secured
                secured.setblocking(False)
                self._register(_Sender(secured, data, self._came))
                self._came["begun"] += 1
            except OSError:
                self._came["not connected"] += 1

    def churn(self, count: int, addresses: int, until: float) -> None:
        """Open connections in parallel, and reset them at the time `until` of time.monotonic()."""
        opened = self.connect_silently(count, addresses)
        self.stay(until)
        for each in opened:
            if each.fileno() < 0:
                continue
            self._selector.unregister(each)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            each.close()
        del self._sockets[-len(opened) :]

    def flooders(self, count: int, kinds: FloodsByName, *, acknowledges: bool = True) -> list[Flooder]:
        """Connect attackers that flood, each from a different address. For `acknowledges` see Flooder."""
        return [
            Flooder(self._address, source, self._came, kinds, acknowledges=acknowledges)
            for source in self._sources(count, count)
        ]

    def stay(self, until: float) -> None:
        """Read incoming data and send outgoing data until the time `until` of time.monotonic()."""
        while (left := until - time.monotonic()) > 0:
            for key, events in self._selector.select(left):
                attacker = key.data
                try:
                    if events & selectors.EVENT_READ:
                        attacker.read()
                    if not attacker.push() and events & selectors.EVENT_WRITE:
                        if attacker.is_read:
                            self._selector.modify(key.fileobj, selectors.EVENT_READ, attacker)
                        else:
                            self._selector.unregister(key.fileobj)
                except (OSError, ProtocolError):
                    self._came["connection closed"] += 1
                    self._selector.unregister(key.fileobj)
                    attacker.socket.close()

    def _open_sending(self, data: bytes, source: str, *, is_read: bool = True) -> socket.socket:
        opened = socket.socket()
        self._sockets.append(opened)
        opened.setblocking(False)
        opened.bind((source, 0))
        opened.connect_ex(self._address)
        self._came["begun"] += 1
        self._register(_Sender(opened, data, self._came, is_read=is_read))
        return opened

    def in_flight(self) -> int:
        """Return the number of calls without a response. The number assumes that no connection has ended early."""
        return self._came["begun"] - self._came["ended"] - self._came["reset"]

    def leave(self, attacker: "Attacker | WebAttacker") -> None:
        """Close the connection of an attacker."""
        if attacker.socket.fileno() >= 0:
            self._selector.unregister(attacker.socket)
            attacker.socket.close()
        self._sockets.remove(attacker.socket)

    def _sources(self, count: int, addresses: int) -> Iterator[str]:
        return (str(self._source + i % addresses) for i in range(count))

    def _register(self, sender: _Sender) -> None:
        events = selectors.EVENT_WRITE | sender.is_read * selectors.EVENT_READ
        self._selector.register(sender.socket, events, sender)


def tls_context(door: str) -> ssl.SSLContext:
    """Return the TLS context of a client of a door. The client accepts any certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1" if door == "web" else "h2"])
    return context


def in_turn(attackers: Sequence[_T], count: int) -> Iterable[_T]:
    """Yield the attackers in turn, `count` times in total."""
    for i in range(count):
        yield attackers[i % len(attackers)]
