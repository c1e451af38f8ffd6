"""HTTP/1.1: a browser's connection, whose requests are read one after another, each within bounds.

llhttp (by httptools) reads what a request is; how much of it may come, and when, is decided here. It never gets a byte
behind the end of the request that is being served. `PortState.look` looks at all connections from time to time: so no
call needs a timer for slow clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url

from chatiere.service.exchange.methods import LARGE
from chatiere.service.guards.limits import origin_of
from chatiere.service.ports.web.turns import Turns

MAX_HEAD, MAX_FIELDS = 16 * 1024, 100
"""The bytes of a request's head, as at the fast door, and its fields; those of its trailers count with them."""

# Bytes that may come behind the request that is being served; with more, it is the last one. Browsers send none.
_MAX_UNREAD = 16 * 1024
# Seconds that a connection may be without a request.
_IDLE = 75.0
# Seconds for which the rest of a refused request is read: if its connection were closed at once, the client might not
# read why.
_LINGER = 1.0
# The bytes a second that are read of refused requests, on all connections together.
_REFUSED_RATE = 64 * 2**20
_END = b"\r\n\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TEXT = ("content-type", "text/plain; charset=utf-8")
_STATUS_LINES = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n" for each in HTTPStatus}
# What Connect makes of a call that was cancelled; it is no status of HTTP's registry.
_STATUS_LINES[499] = "HTTP/1.1 499 Client Closed Request\r\n"
# Responses that have no body, and no length.
_BODYLESS = (204, 304)
Fields = list[tuple[str, str]]


class Request(NamedTuple):
    """The head of a request. Names of fields are in lower case; bytes beyond ASCII are read as Latin-1.

    `values`: by name, those of several fields as one list (RFC 9110, section 5.3). `length`: of the body, in bytes;
    None: it comes in chunks.
    """

    method: str
    path: str
    query: str
    version: str
    fields: Fields
    values: dict[str, str]
    length: int | None


class Served(Protocol):
    """The service of a request, until the client has taken the response or is gone."""

    held: int
    """The bytes of the request that have come and are not worked on."""

    def on_data(self, data: bytes) -> None:
        """Take a further part of the body."""

    def on_end(self) -> None:
        """Note that the request has come whole."""

    def on_delivered(self) -> None:
        """Note that the client has taken nearly all that it was sent, after the connection was `is_behind`."""

    def on_gone(self) -> None:
        """Note that the client is gone: nothing can be sent any more."""

    def on_cut(self) -> None:
        """Respond at once, that it was cancelled."""


class PortState:
    """The parts that the connections of a port share."""

    def __init__(self, serve: Callable[[Connection, Request, bytes], Served | None], patience: float) -> None:
        """`serve`: serves a request whose head and a first part of the body have come; None: it has responded.

        `patience`: the seconds that a client has for a handshake, for a request's head, and to take something.
        """
        self.serve, self.patience = serve, patience
        self.turns = Turns()
        self.date = ""
        """The field `date` of responses, as a line."""
        self.connections: set[Connection] = set()
        self.serving: set[Connection] = set()
        """Those with a request that is not over."""
        self.forgets: list[Callable[[Connection], None]] = []
        """Called when a connection has ended."""
        # The time, of time.monotonic, from which on more of refused requests may be read.
        self._reads_refused_at = 0.0
        self._has_emptied = asyncio.Event()

    @property
    def held(self) -> int:
        """The bytes of requests that have come and are not worked on."""
        return sum(connection.held for connection in self.serving)

    def forget(self, connection: Connection) -> None:
        """Note that a connection has ended."""
        self.connections.discard(connection)
        for forget in self.forgets:
            forget(connection)
        if not self.connections:
            self._has_emptied.set()

    def pause_after(self, refused: int) -> float:
        """Return the seconds for which no more may be read of a refused request of which so many bytes have come."""
        now = monotonic()
        self._reads_refused_at = max(now, self._reads_refused_at) + refused / _REFUSED_RATE
        return self._reads_refused_at - now

    async def emptied(self) -> None:
        """Wait until there is no connection."""
        while self.connections:
            self._has_emptied.clear()
            await self._has_emptied.wait()

    def look(self) -> None:
        """End the connections whose clients are too slow, or have asked for nothing for long."""
        now = monotonic()
        for connection in list(self.connections):
            connection.look(now)


class Connection(asyncio.Protocol):
    """A connection. `peer`: the client's address in gRPC's notation; `origin`: the client, as limits see it."""

    transport: asyncio.Transport

    def __init__(self, state: PortState, place: tuple[str, int]) -> None:
        """Wait for the client at `place`, a host and a port."""
        self._state = state
        host, port = place[:2]
        host = host.removeprefix("::ffff:") if "." in host else host
        self.peer = f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
        self.origin = origin_of(self.peer)
        self.is_made = False
        """True once it has begun, after the handshake."""
        self.is_behind = False
        """True while the client has much to take of what it was sent."""
        self._parser: HttpRequestParser | None = HttpRequestParser(self)
        # What has come behind the request that is being served, or awaits its turn.
        self._unread = b""
        self._keeps_alive = True
        # Since when a request, or the first one, has been arriving; None while none is. When the last one was over.
        self._arriving: float | None = None
        self._idle_since = 0.0
        # Bytes that were sent, and those of them that the client has taken, with the time since when no more.
        self._written, self._taken, self._since = 0, 0, 0.0
        self._lingering: asyncio.TimerHandle | None = None
        self._begin()

    def _begin(self) -> None:
        # Of the request that is arriving, or is being served.
        self._state.serving.discard(self)
        self._target, self._fields, self._values = b"", Fields(), dict[str, str]()
        self._has_head = self._is_whole = self._is_upgrade = False
        self._count = 0
        # Bytes that have come of its head, or since the last part of its body; the last three of them.
        self._raw, self._tail = 0, b""
        # Bytes of the body that are to come; None if they come in chunks.
        self._left: int | None = None
        self._parts: list[bytes] = []
        self._request: Request | None = None
        self._served: Served | None = None
        # Nothing serves it yet; its response.
        self._is_new = True
        self._has_started = self._has_responded = self._is_chunked = False

    # Called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self.transport = transport  # type: ignore[assignment]  # It is one for reading and writing.
        self.is_made = True
        self._arriving = self._since = monotonic()
        self._state.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up what is under way."""
        # It has methods of this connection.
        self._parser = None
        if self._lingering is not None:
            self._lingering.cancel()
        self._let_go()
        self._state.forget(self)

    def data_received(self, data: bytes) -> None:
        """Read a part of requests, or keep it until the one before is over."""
        if self.transport.is_closing():
            return
        if self._unread or self._is_whole:
            self._keep(self._unread + data)
        elif self._state.turns.has_time or len(data) > LARGE:
            # Threads handle large requests; of what waits, not much is to be kept.
            self._read(data)
        else:
            self.transport.pause_reading()
            self._unread = data
            self._await_turn()

    def pause_writing(self) -> None:
        """Note that the client has much to take."""
        self.is_behind = True

    def resume_writing(self) -> None:
        """Note that the client has taken nearly all."""
        self.is_behind = False
        if self._served is not None:
            self._served.on_delivered()
        if self._has_responded and self._is_whole and not self.is_behind:
            self._end_request()

    # Called by the parser

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field, or leave a trailer. Raises ValueError if there are too many."""
        self._count += 1
        if self._count > MAX_FIELDS:
            raise ValueError("too many fields")
        if self._has_head:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._fields.append((key, text))
        self._values[key] = f"{self._values[key]}, {text}" if key in self._values else text

    def on_headers_complete(self) -> None:
        """Note that the head has come."""
        assert self._parser is not None
        self._has_head = True
        self._keeps_alive = self._keeps_alive and self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._raw = 0
        self._parts.append(body)

    def on_message_complete(self) -> None:
        """Note that the request has come whole."""
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
        # The next request has a turn of the loop of its own.
        self._unread = data
        self.transport.pause_reading()
        if len(data) > _MAX_UNREAD:
            self._keeps_alive = False

    def _end_of_part(self, data: bytes, at: int) -> int:
        # The request does not end before, and may end there: with its length, or else with an empty line.
        if self._left:
            return min(at + self._left, len(data))
        if self._tail:
            found = (self._tail + data[at : at + 3]).find(_END)
            if found >= 0:
                return at + found + len(_END) - len(self._tail)
        found = data.find(_END, at)
        return len(data) if found < 0 else found + len(_END)

    def _feed(self, part: memoryview) -> bool:
        # Return False if the connection ends.
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
                return self._give_up(431, "too many headers\n")
            return self._give_up(400, f"not HTTP/1.1: {error}\n")
        if self._raw > MAX_HEAD:
            return self._give_up(431, "the headers, trailers or extensions of a chunk are too large\n")
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
            return self._give_up(505, "this door speaks HTTP/1.1\n")
        if coding is not None and (coding.lower() != "chunked" or version == "1.0"):
            return self._give_up(400, "not HTTP/1.1: the transfer-encoding\n")
        if self._is_upgrade:
            # The parser takes what follows for another protocol's: a body of known length is read without it.
            if coding is not None:
                return self._give_up(400, "no other protocol is spoken here\n")
            self._keeps_alive = False
        try:
            url = parse_url(self._target)
            path, query = url.path.decode("latin-1"), url.query.decode("latin-1") if url.query else ""
        except (HttpParserError, AttributeError):
            return self._give_up(400, "not HTTP/1.1: the target\n")
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
        )
        return True

    def _pass_on(self) -> None:
        # What has come, to what serves the request.
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
        # Its client may look at the response only when it has sent everything, but not at other clients' expense.
        if self._is_whole:
            self.transport.close()
        elif size:
            self.transport.pause_reading()
            asyncio.get_running_loop().call_later(self._state.pause_after(size), self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _give_up(self, status: int, text: str) -> bool:
        # What is no request, or has no bounds, ends the connection.
        if not self._has_started:
            self._keeps_alive = False
            self._write(self._head(status, [TEXT], len(text)) + text.encode())
        self.transport.close()
        self._let_go()
        return False

    def _let_go(self) -> None:
        self._state.serving.discard(self)
        served, self._served = self._served, None
        if served is not None:
            served.on_gone()

    def _go_on(self) -> None:
        # With what has come behind the request that is over, or when it was others' turn.
        if not self.transport.is_closing():
            data, self._unread = self._unread, b""
            self.transport.resume_reading()
            try:
                self._read(data)
            except BaseException:
                # As the loop does if it fails when data comes.
                self.transport.abort()
                raise

    # Called by what serves the request

    @property
    def is_whole(self) -> bool:
        """True once the request has come whole."""
        return self._is_whole

    def respond(self, status: int, fields: Fields, body: bytes = b"") -> None:
        """Send a whole response."""
        assert self._request is not None
        # The rest of a refused request is not read as another one.
        self._keeps_alive = self._keeps_alive and self._is_whole
        is_bodyless = status in _BODYLESS
        head = self._head(status, fields, None if is_bodyless else len(body))
        self._has_started = True
        self._write(head if is_bodyless or self._request.method == "HEAD" else head + body)
        self._end_response()

    def start(self, status: int, fields: Fields) -> None:
        """Send the head of a response of unknown length, to which `send` and `end` belong."""
        assert self._request is not None
        self._has_started = True
        self._is_chunked = self._request.version == "1.1"
        self._keeps_alive = self._keeps_alive and self._is_whole
        coding = [("transfer-encoding", "chunked")] if self._is_chunked else []
        self._write(self._head(status, [*fields, *coding], None))

    def send(self, data: bytes) -> None:
        """Send a part of the body, which is not empty."""
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

    # Called by the port

    @property
    def held(self) -> int:
        """The bytes of a request that have come and are not worked on."""
        return 0 if self._served is None else self._served.held

    @property
    def is_idle(self) -> bool:
        """True while no request is served."""
        return self._request is None

    def look(self, now: float) -> None:
        """End it if its client is too slow, or has asked for nothing for long."""
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
                self._give_up(408, "the headers did not come in time\n")
            else:
                self.transport.close()

    def shut_down(self) -> None:
        """End it once the request that is being served is over."""
        self._keeps_alive = False
        if self._request is None:
            self.transport.close()

    def cut(self) -> None:
        """End the request that is being served."""
        if self._served is not None:
            self._served.on_cut()


def _expects(request: Request) -> bool:
    return request.version == "1.1" and request.values.get("expect", "").lower() == "100-continue"
