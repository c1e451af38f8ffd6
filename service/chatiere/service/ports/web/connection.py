"""A browser's HTTP/1.1 connection. Its requests are read one after another, each within limits.

The library llhttp (in httptools) parses requests. This module limits their size and time, and never passes bytes to the
parser that follow the current request. `PortState.look` checks all connections at intervals, so that calls do not need
timers for slow clients.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url

from chatiere.service.exchange.methods import LARGE
from chatiere.service.exchange.turns import Turns
from chatiere.service.guards.limits import origin_of
from chatiere.service.guards.sizes import MAX_METADATA

MAX_HEAD, MAX_FIELDS = MAX_METADATA, 100
"""The maximum size of a request's head in bytes, as at the fast door, and the maximum number of its fields.

Both limits include trailers.
"""

# The maximum number of bytes that a client may send after the current request. If it sends more, the request is the
# last request of the connection. Browsers do not send bytes after a request.
_MAX_UNREAD = 16 * 1024
# The time in seconds after which a connection without a request is closed.
_IDLE = 75.0
# The time in seconds during which the rest of a refused request is read. If the connection were closed immediately, the
# client might not read the response.
_LINGER = 1.0
# The maximum rate in bytes per second at which refused requests are read, for all connections together.
_REFUSED_RATE = 64 * 2**20
_END = b"\r\n\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TEXT = ("content-type", "text/plain; charset=utf-8")
_STATUS_LINES = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n" for each in HTTPStatus}
# Connect's status for a cancelled call. HTTP's registry does not contain this status.
_STATUS_LINES[499] = "HTTP/1.1 499 Client Closed Request\r\n"
# The statuses of responses without a body and a length.
_BODYLESS = (204, 304)
Fields = list[tuple[str, str]]


class Request(NamedTuple):
    """The head of a request. The names of fields are in lower case. Non-ASCII bytes are decoded as Latin-1.

    Attributes:
        fields: The fields in order.
        values: The value of each field. Several fields with the same name are joined as a list (RFC 9110, section 5.3).
        length: The length of the body in bytes, or None for a chunked body.
        target_host: The host in a target in absolute form ("http://HOST/path"); "" in a target without a host.
    """

    method: str
    path: str
    query: str
    version: str
    fields: Fields
    values: dict[str, str]
    length: int | None
    target_host: str = ""


class Served(Protocol):
    """The handling of a request, until the client has received the response or has left."""

    held: int
    """The number of received bytes of the request that are not being handled."""

    def on_data(self, data: bytes) -> None:
        """Handle another part of the body."""

    def on_end(self) -> None:
        """Handle the end of the request. The whole request has been received."""

    def on_delivered(self) -> None:
        """Continue, because the client has received nearly all output after the connection was `is_behind`."""

    def on_gone(self) -> None:
        """End the handling, because the client has left."""

    def on_cut(self) -> None:
        """Respond immediately that the request was cancelled."""


class PortState:
    """The state shared by the connections of a port."""

    def __init__(self, serve: Callable[[Connection, Request, bytes], Served | None], patience: float) -> None:
        """Create the state, without connections.

        Args:
            serve: A function that handles a request, given its head and the first part of its body. It returns None if
                it has already responded.
            patience: The time in seconds within which a client must complete a handshake, send a request's head, and
                receive output.
        """
        self.serve, self.patience = serve, patience
        self.turns = Turns(asyncio.get_running_loop().call_soon)
        self.date = ""
        """The line with the date field of responses."""
        self.connections: set[Connection] = set()
        self.serving: set[Connection] = set()
        """The connections with a request in progress."""
        self.forgets: list[Callable[[Connection], None]] = []
        """The functions to call when a connection has ended."""
        # The time (time.monotonic) from which more bytes of refused requests may be read.
        self._reads_refused_at = 0.0
        self._has_emptied = asyncio.Event()

    @property
    def held(self) -> int:
        """The number of received bytes of requests that are not being handled."""
        return sum(connection.held for connection in self.serving)

    def forget(self, connection: Connection) -> None:
        """Remove a connection that has ended."""
        self.connections.discard(connection)
        for forget in self.forgets:
            forget(connection)
        if not self.connections:
            self._has_emptied.set()

    def pause_after(self, refused: int) -> float:
        """Return how long to pause reading after `refused` bytes of refused requests were received, in seconds."""
        now = monotonic()
        self._reads_refused_at = max(now, self._reads_refused_at) + refused / _REFUSED_RATE
        return self._reads_refused_at - now

    async def emptied(self) -> None:
        """Wait until all connections have ended."""
        while self.connections:
            self._has_emptied.clear()
            await self._has_emptied.wait()

    def look(self) -> None:
        """End connections whose clients are too slow, or have sent no request for too long."""
        now = monotonic()
        for connection in list(self.connections):
            connection.look(now)


class Connection(asyncio.Protocol):
    """A client's HTTP/1.1 connection.

    Attributes:
        peer: The client's address in gRPC's notation.
        origin: The identity to which limits per client apply.
    """

    transport: asyncio.Transport

    def __init__(self, state: PortState, place: tuple[str, int]) -> None:
        """Create a connection with the client at `place`, a host and a port."""
        self._state = state
        host, port = place[:2]
        host = host.removeprefix("::ffff:") if "." in host else host
        self.peer = f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
        self.origin = origin_of(self.peer)
        self.is_made = False
        """True once the connection has begun, after the handshake."""
        self.is_behind = False
        """True while much output waits for the client to receive it."""
        self._parser: HttpRequestParser | None = HttpRequestParser(self)
        # The bytes that were received after the current request, or that wait for the turn of this address.
        self._unread = b""
        self._keeps_alive = True
        # The time when the current request began to arrive, or the connection began. None after that. Then the time
        # when the last request ended.
        self._arriving: float | None = None
        self._idle_since = 0.0
        # The number of bytes written, the number of bytes that the client has received, and the time when it last
        # received any.
        self._written, self._taken, self._since = 0, 0, 0.0
        self._lingering: asyncio.TimerHandle | None = None
        self._begin()

    def _begin(self) -> None:
        # Reset the state of the current request.
        self._state.serving.discard(self)
        self._target, self._fields, self._values = b"", Fields(), dict[str, str]()
        self._has_head = self._is_whole = self._is_upgrade = False
        self._count = 0
        # The number of bytes received in the request's head or since the last part of the body, and the last three of
        # these bytes.
        self._raw, self._tail = 0, b""
        # The number of bytes of the body that have not been received, or None for a chunked body.
        self._left: int | None = None
        self._parts: list[bytes] = []
        self._request: Request | None = None
        self._served: Served | None = None
        # True until the request is passed to its handler. Then the progress of the response.
        self._is_new = True
        self._has_started = self._has_responded = self._is_chunked = False

    # Methods called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self.transport = transport  # type: ignore[assignment]  # It is one for reading and writing.
        self.is_made = True
        self._arriving = self._since = monotonic()
        self._state.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the request in progress."""
        # Break a reference cycle, because the parser refers to methods of this connection.
        self._parser = None
        if self._lingering is not None:
            self._lingering.cancel()
        self._let_go()
        self._state.forget(self)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, or store it until the current request is over."""
        if self.transport.is_closing():
            return
        if self._unread or self._is_whole:
            self._keep(self._unread + data)
        elif self._state.turns.has_time or len(data) > LARGE:
            # Read large parts immediately: threads handle large requests, and only few bytes should wait in memory.
            self._read(data)
        else:
            self.transport.pause_reading()
            self._unread = data
            self._await_turn()

    def pause_writing(self) -> None:
        """Record that much output waits for the client."""
        self.is_behind = True

    def resume_writing(self) -> None:
        """Record that the client has received nearly all output."""
        self.is_behind = False
        if self._served is not None:
            self._served.on_delivered()
        if self._has_responded and self._is_whole and not self.is_behind:
            self._end_request()

    # Methods called by the parser

    def on_url(self, url: bytes) -> None:
        """Add a part of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a field, or ignore a trailer. Raises ValueError if there are too many fields and trailers."""
        self._count += 1
        if self._count > MAX_FIELDS:
            raise ValueError("too many fields")
        if self._has_head:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._fields.append((key, text))
        self._values[key] = f"{self._values[key]}, {text}" if key in self._values else text

    def on_headers_complete(self) -> None:
        """Record that the head is complete."""
        assert self._parser is not None
        self._has_head = True
        self._keeps_alive = self._keeps_alive and self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        """Add a part of the body."""
        self._raw = 0
        self._parts.append(body)

    def on_message_complete(self) -> None:
        """Record that the request is complete."""
        self._is_whole = True

    # Reading

    def _read(self, data: bytes) -> None:
        if self._arriving is None and self._is_new:
            self._arriving = monotonic()
        view, at, size = memoryview(data), 0, len(data)
        while at < size and not self._is_whole:
            end = self._end_of_part(data, at)
            part, at = view[at:end], end
            if not self._feed(part):
                return
        if at < size:
            self._keep(data[at:])
        if self._has_head:
            self._pass_on()

    def _await_turn(self) -> None:
        self._state.turns.take(self.origin, self._go_on)

    def _keep(self, data: bytes) -> None:
        # Store data of the next request. That request gets another turn of the loop.
        self._unread = data
        self.transport.pause_reading()
        if len(data) > _MAX_UNREAD:
            self._keeps_alive = False

    def _end_of_part(self, data: bytes, at: int) -> int:
        # Return an index up to which the data can be parsed without passing the end of the request. This is the end of
        # the body's length or of an empty line.
        if self._left:
            return min(at + self._left, len(data))
        if self._tail:
            found = (self._tail + data[at : at + 3]).find(_END)
            if found >= 0:
                return at + found + len(_END) - len(self._tail)
        found = data.find(_END, at)
        return len(data) if found < 0 else found + len(_END)

    def _feed(self, part: memoryview) -> bool:
        # Parse a part. Return False if the connection ends.
        assert self._parser is not None
        self._raw += len(part)
        try:
            if self._is_upgrade:
                self.on_body(bytes(part))
            else:
                self._parser.feed_data(part)
        except HttpParserUpgrade:
            self._is_upgrade = True
        except HttpParserError as error:
            if self._count > MAX_FIELDS:
                return self._give_up(431, *_refusal_of_head(f"fields of metadata (at most {MAX_FIELDS})"))
            return self._give_up(400, f"not HTTP/1.1: {error}\n")
        if self._raw > MAX_HEAD:
            return self._give_up(431, *_refusal_of_head(f"bytes of metadata (at most {MAX_HEAD})"))
        if self._left:
            self._left -= len(part)
            self._is_whole = self._is_whole or (self._is_upgrade and not self._left)
        elif not self._is_whole:
            self._tail = (self._tail + part[-3:])[-3:]
        if self._has_head and self._request is None:
            return self._read_head()
        return True

    def _read_head(self) -> bool:
        assert self._parser is not None
        version, coding = self._parser.get_http_version(), self._values.get("transfer-encoding")
        length = self._values.get("content-length", "0")
        if version not in ("1.1", "1.0"):
            return self._give_up(505, "this door supports only HTTP/1.1\n")
        if coding is not None and (coding.lower() != "chunked" or version == "1.0"):
            return self._give_up(400, "not HTTP/1.1: invalid transfer-encoding\n")
        if self._is_upgrade:
            # The parser leaves the rest to another protocol. Read a body of known length without the parser.
            if coding is not None:
                return self._give_up(400, "no other protocol is supported here\n")
            self._keeps_alive = False
        try:
            url = parse_url(self._target)
            path, query = url.path.decode("latin-1"), url.query.decode("latin-1") if url.query else ""
        except (HttpParserError, AttributeError):
            return self._give_up(400, "not HTTP/1.1: invalid target\n")
        self._left = None if coding is not None else int(length)
        if self._is_upgrade:
            self._is_whole = not self._left
        self._tail = b""
        if version == "1.0":
            self._keeps_alive = False
        self._request = Request(
            self._parser.get_method().decode("latin-1"),
            unquote(path) if "%" in path else path,
            query,
            version,
            self._fields,
            self._values,
            self._left,
            url.host.decode("latin-1") if url.host else "",
        )
        return True

    def _pass_on(self) -> None:
        # Pass the received parts to the handler of the request.
        request, body = self._request, b"".join(self._parts)
        assert request is not None
        self._parts = []
        if self._is_new:
            self._is_new, self._arriving = False, None
            served = self._state.serve(self, request, body)
            if self._request is request:
                self._served = served
                self._state.serving.add(self)
                if not (self._has_started or self._is_whole) and _expects(request):
                    self._write(_CONTINUE)
        elif self._has_responded:
            self._leave_unread(len(body))
        elif self._served is not None:
            if body:
                self._served.on_data(body)
            if self._is_whole:
                self._served.on_end()

    def _leave_unread(self, size: int) -> None:
        # Read the rest of a refused request, because the client may read the response only after sending everything.
        # Limit the rate, so that other clients are not delayed.
        if self._is_whole:
            self.transport.close()
        elif size:
            self.transport.pause_reading()
            asyncio.get_running_loop().call_later(self._state.pause_after(size), self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _give_up(self, status: int, text: str, fields: Fields | None = None) -> bool:
        # End the connection after input that is invalid or exceeds a limit.
        if not self._has_started:
            self._keeps_alive = False
            self._write(self._head(status, fields or [TEXT], len(text)) + text.encode())
        self.transport.close()
        self._let_go()
        return False

    def _let_go(self) -> None:
        self._state.serving.discard(self)
        served, self._served = self._served, None
        if served is not None:
            served.on_gone()

    def _go_on(self) -> None:
        # Continue with stored bytes, after the previous request or in the turn of this address.
        if not self.transport.is_closing():
            data, self._unread = self._unread, b""
            self.transport.resume_reading()
            try:
                self._read(data)
            except BaseException:
                # Abort the connection, as the event loop does when data_received raises.
                self.transport.abort()
                raise

    # Methods called by the handler of the request

    @property
    def is_whole(self) -> bool:
        """True once the request has been received completely."""
        return self._is_whole

    def respond(self, status: int, fields: Fields, body: bytes = b"") -> None:
        """Send a complete response."""
        assert self._request is not None
        # Close the connection after an incomplete request: its rest must not be read as another request.
        self._keeps_alive = self._keeps_alive and self._is_whole
        is_bodyless = status in _BODYLESS
        head = self._head(status, fields, None if is_bodyless else len(body))
        self._has_started = True
        self._write(head if is_bodyless or self._request.method == "HEAD" else head + body)
        self._end_response()

    def start(self, status: int, fields: Fields) -> None:
        """Send the head of a response of unknown length. `send` and `end` must be called afterwards."""
        assert self._request is not None
        self._has_started = True
        self._is_chunked = self._request.version == "1.1"
        self._keeps_alive = self._keeps_alive and self._is_whole
        coding = [("transfer-encoding", "chunked")] if self._is_chunked else []
        self._write(self._head(status, [*fields, *coding], None))

    def send(self, data: bytes) -> None:
        """Send a part of the body. The part must not be empty."""
        self._write(b"%x\r\n%b\r\n" % (len(data), data) if self._is_chunked else data)

    def end(self) -> None:
        """End the response."""
        if self._is_chunked:
            self._write(b"0\r\n\r\n")
        self._end_response()

    def _write(self, data: bytes) -> None:
        self._written += len(data)
        self.transport.write(data)

    def _head(self, status: int, fields: Fields, length: int | None) -> bytes:
        lines = [_STATUS_LINES[status], self._state.date]
        lines += [f"{name}: {value}\r\n" for name, value in fields]
        if length is not None:
            lines.append(f"content-length: {length}\r\n")
        if not self._keeps_alive:
            lines.append("connection: close\r\n")
        lines.append("\r\n")
        return "".join(lines).encode("latin-1")

    def _end_response(self) -> None:
        self._has_responded = True
        if not self._is_whole:
            self._lingering = asyncio.get_running_loop().call_later(_LINGER, self.transport.close)
        elif not self.is_behind:
            self._end_request()

    def _end_request(self) -> None:
        if not self._keeps_alive:
            self.transport.close()
            return
        self._begin()
        self._idle_since = monotonic()
        if self._unread:
            self._await_turn()

    # Methods called by the port

    @property
    def held(self) -> int:
        """The number of received bytes of the current request that are not being handled."""
        return 0 if self._served is None else self._served.held

    @property
    def is_idle(self) -> bool:
        """True while the connection has no current request."""
        return self._request is None

    def look(self, now: float) -> None:
        """End the connection if its client is too slow, or has sent no request for too long."""
        untaken = self.transport.get_write_buffer_size()
        taken = self._written - untaken
        if not untaken or taken > self._taken:
            self._taken, self._since = taken, now
        elif now - self._since > self._state.patience:
            self.transport.abort()
        if self.transport.is_closing() or self._request is not None:
            return
        if self._arriving is None:
            if now - self._idle_since > _IDLE:
                self.transport.close()
        elif now - self._arriving > self._state.patience:
            if self._raw:
                self._give_up(408, "the headers did not arrive in time\n")
            else:
                self.transport.close()

    def shut_down(self) -> None:
        """End the connection after the current request."""
        self._keeps_alive = False
        if self._request is None:
            self.transport.close()

    def cut(self) -> None:
        """Cancel the current request."""
        if self._served is not None:
            self._served.on_cut()


def _expects(request: Request) -> bool:
    return request.version == "1.1" and request.values.get("expect", "").lower() == "100-continue"


def _refusal_of_head(limit: str) -> tuple[str, Fields]:
    # The protocol is not known yet. Return a JSON text for Connect clients, and fields for gRPC-Web clients.
    message = f"limit exceeded: {limit}"
    text = json.dumps({"code": "resource_exhausted", "message": message})
    return text, [("content-type", "application/json"), ("grpc-status", "8"), ("grpc-message", message)]
