"""A browser's connection: uvicorn's, with bounds on how long and how large its requests may be.

uvicorn itself would wait for ever for the rest of headers, of a body, or for a client to take its response, and headers
could have any size. `PortState.look` looks at all connections from time to time: so no call needs a timer for this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import Any

from uvicorn import Config
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from chatiere.service.guards.limits import origin_of
from chatiere.service.ports.web.http import Receive, Scope, Send

# The bytes of a request's headers, its first line included: as at the fast door.
MOST_HEADERS = 16 * 1024
# The requests of a connection that may wait behind one that is being served: each takes some KiB. Browsers send none.
_MOST_WAITING = 64
# The bytes a second that are read of refused requests, on all connections together.
_REFUSED_RATE = 64 * 2**20
_TOO_SLOW, _TOO_LARGE = (
    (
        b"HTTP/1.1 %s\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
        % (status, len(text), text)
    )
    for status, text in (
        (b"408 Request Timeout", b"the headers did not come in time\n"),
        (b"431 Request Header Fields Too Large", b"the headers are too large\n"),
    )
)
# What serves a request: the connection, and ASGI's three.
Application = Callable[["Connection", Scope, Receive, Send], Awaitable[None]]


class PortState(ServerState):
    """What the connections of a port share."""

    connections: set[Connection]  # type: ignore[assignment]

    def __init__(self, config: Config, application: Application, patience: float) -> None:
        """`patience`: the seconds that a client has for a handshake, for a request, and to take something."""
        super().__init__()
        self.config, self.application, self.patience = config, application, patience
        self.forgets: list[Callable[[Connection], None]] = []
        """Called when a connection has ended."""
        # The time, of time.monotonic, from which on more of refused requests may be read.
        self._reads_refused_at = 0.0
        self._has_emptied = asyncio.Event()

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
        """End the connections whose clients are too slow."""
        now = monotonic()
        for connection in list(self.connections):
            connection.look(now)


class Connection(HttpToolsProtocol):
    """A connection. `peer`: the client's address in gRPC's notation."""

    def __init__(self, state: PortState, place: tuple[Any, ...]) -> None:
        """Wait for the client at `place`."""
        super().__init__(state.config, state, {})
        self.app = partial(state.application, self)
        self._state = state
        host, port = place[:2]
        host = host.removeprefix("::ffff:") if "." in host else host
        self.peer = f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
        # Since when a request, or the first one, has been arriving; None while none is.
        self._arriving: float | None = None
        # Bytes of the headers that are arriving, as read and as they come; whether their end has come.
        self._head, self._raw, self._has_head = 0, 0, False
        # Bytes that the client has not taken, and since when none of them.
        self._untaken, self._since = 0, 0.0
        # Bytes of a refused request that have just come.
        self._refused = 0
        # The request that is being served, or was last.
        self._served: RequestResponseCycle | None = None

    # Called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._arriving = monotonic()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up what is under way."""
        if self._served is not None:
            # uvicorn tells the request that came last, which may wait behind this one.
            self._served.disconnected = True
            self._served.message_event.set()
        # uvicorn's timer would keep the connection's memory.
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self._state.forget(self)

    def data_received(self, data: bytes) -> None:
        """Read a part of requests."""
        if self.transport.is_closing():
            return
        if self._arriving is None:
            self._arriving = monotonic()
        self._raw += len(data)
        super().data_received(data)
        # The parser tells of a header when it has come whole, which may be never.
        if not self._has_head and self._raw > MOST_HEADERS and not self.transport.is_closing():
            self.send_400_response("")
        if self._refused:
            # Its client may look at the response only when it has sent everything, but not at other clients' expense.
            self.flow.pause_reading()
            self.loop.call_later(self._state.pause_after(self._refused), self._read_on)
            self._refused = 0

    # Called by the parser

    def on_message_begin(self) -> None:
        """Begin to read headers."""
        super().on_message_begin()
        # The bytes that have just come are not all of this request, but one is.
        self._head, self._raw, self._has_head = 0, 1, False
        if self._arriving is None:
            self._arriving = monotonic()

    def on_url(self, url: bytes) -> None:
        """Take a part of the URL. Raises ValueError if the headers get too large."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer. Raises ValueError if they get too large."""
        # With the colon, a space and the end of the line.
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to serve a request. Raises ValueError if too many wait behind another."""
        if len(self.pipeline) >= _MOST_WAITING:
            raise ValueError("too many requests at a time")
        self._has_head = True
        self._raw = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a request, or leave it if it was refused."""
        if self.cycle.response_started:
            self._refused += len(body)
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that a request has come whole."""
        self._arriving = None
        self._head, self._raw, self._has_head = 0, 0, False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or has too large headers, and end the connection."""
        if max(self._head, self._raw) > MOST_HEADERS and not self._has_head:
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        else:
            super().send_400_response(msg)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > MOST_HEADERS:
            raise ValueError("headers too large")

    # Called by uvicorn

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    # Called by the port

    async def delivered(self) -> None:
        """Wait until the client has nearly all that was sent, or is gone; `look` ends one who takes nothing."""
        if self.flow.write_paused:
            await self.flow.drain()

    def look(self, now: float) -> None:
        """End it if its client is too slow."""
        untaken = self.transport.get_write_buffer_size()
        if not untaken or untaken != self._untaken:
            self._untaken, self._since = untaken, now
        elif now - self._since > self._state.patience:
            self.transport.abort()
        if self.is_idle and self._arriving is not None and now - self._arriving > self._state.patience:
            # The body of a call has a timer of its own.
            if self._raw and not self.transport.is_closing():
                self.transport.write(_TOO_SLOW)
            self.transport.close()

    @property
    def is_made(self) -> bool:
        """True once it has begun, after the handshake."""
        return self.transport is not None

    @property
    def is_idle(self) -> bool:
        """True while no request is served."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def origin(self) -> str:
        """The client's address, as limits see it."""
        return origin_of(self.peer)
