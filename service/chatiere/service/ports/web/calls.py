"""The calls of browsers: an HTTP request and its response in one of the protocols. They are the wires of exchanges."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple, cast

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Refusal, Status, StatusError, limit_exceeded
from chatiere.service.base.languages import CONTENT_LANGUAGE
from chatiere.service.exchange.exchange import Exchange
from chatiere.service.exchange.making import Make
from chatiere.service.exchange.methods import LARGE, Pool
from chatiere.service.exchange.wire import Form
from chatiere.service.guards.chain import REQUEST_ID
from chatiere.service.ports.asyncio_loop import AsyncioLoop
from chatiere.service.ports.web.connection import Connection, Fields, Request
from chatiere.service.ports.web.http import tags_in, takes_gzip
from chatiere.service.ports.web.protocols import (
    PREFIX,
    Response,
    StreamProtocol,
    UnaryProtocol,
    WebProtocol,
    message_in_query,
)

# The minimum size in bytes of a response that is compressed, and the compression level of zlib.
_WORTH_COMPRESSING, _LEVEL = 1024, 5
_VARY = ("vary", "accept-encoding, accept-language")
# The fields of streams that prevent proxies from buffering responses. The second field is for nginx.
_UNBUFFERED = (("cache-control", "no-store"), ("x-accel-buffering", "no"))


class Route(NamedTuple):
    """A method that the port for browsers serves.

    Attributes:
        make: A function that creates the exchange of a call, given its wire and the JSON form of its messages or None.
        form: The JSON form of the messages.
        largest: The maximum size of requests in bytes.
        pool: The threads that compress large responses, or None for a method that responds with a stream.
        kept: The cache-control field of responses to GET; "" if the method has side effects and therefore needs POST.
    """

    make: Make
    form: Form
    largest: int
    pool: Pool | None
    kept: str


class WebCall:
    """A call. It implements `Wire` and `Served`. `exchange` must be set after construction."""

    __slots__ = (
        "_body",
        "_connection",
        "_has_started",
        "_is_cut",
        "_is_gone",
        "_is_over",
        "_is_unread",
        "_message",
        "_more",
        "_pieces",
        "_protocol",
        "_request",
        "_route",
        "exchange",
        "fault",
        "has_ended",
        "held",
        "loop",
        "metadata",
        "peer",
        "timeout",
        "watch",
    )
    exchange: Exchange
    is_alone = True

    def __init__(
        self,
        loop: AsyncioLoop,
        connection: Connection,
        request: Request,
        protocol: WebProtocol,
        route: Route,
        more: Fields,
    ) -> None:
        """Create a call whose head has been received and is ASCII. `more`: additional fields of the response."""
        self.loop, self._connection, self._request, self._protocol = loop, connection, request, protocol
        self._route, self._more = route, more
        self.peer, self.metadata = connection.peer, request.fields
        self.watch: Callable[[], None] | None = None
        self.fault: Exception | None = None
        self.timeout: float | None = None
        self.held = 0
        self.has_ended = self._has_started = self._is_over = self._is_gone = self._is_cut = self._is_unread = False
        self._body: list[bytes] = []
        self._message: bytes | None = None
        self._pieces: list[Buffer] | None = None
        try:
            self.timeout = protocol.timeout(request.values)
        except Refusal as refusal:
            self.fault, self._is_unread = refusal, True
        if request.length is not None and request.length > route.largest + PREFIX:
            self.fault = limit_exceeded("bytes of a request", route.largest)

    # Methods called by the connection

    def on_data(self, data: bytes) -> None:
        """Add a part of the request's body. The body of a GET is ignored."""
        if not self.has_ended:
            self.add(data)
            self._tell()

    def on_end(self) -> None:
        """Read the request, now that it has been received completely."""
        if not self.has_ended:
            self.read()
            self._tell()

    def on_delivered(self) -> None:
        """Notify the exchange that the client has received output."""
        self._tell()

    def on_gone(self) -> None:
        """Notify the exchange that the client has left."""
        self._is_gone = True
        self._tell()

    def on_cut(self) -> None:
        """End the exchange as cancelled."""
        self._is_cut = True
        self._tell()

    def _tell(self) -> None:
        if self.watch is not None:
            self.watch()

    # The request

    def add(self, data: bytes) -> None:
        """Add a part of the body."""
        self.held += len(data)
        if self.held > self._route.largest + PREFIX:
            self.fault = self.fault or limit_exceeded("bytes of a request", self._route.largest)
        self._body.append(data)
        if self.fault is not None:
            self._body.clear()

    def read(self) -> None:
        """Parse the complete body, or the query of a GET."""
        self.has_ended = True
        body, self._body = b"".join(self._body), []
        if self.fault is not None:
            return
        try:
            if self._request.method == "GET":
                self._message = message_in_query(self._request.query, self._route.largest)
            else:
                self._message = self._protocol.message(self._request.values, body, self._route.largest)
        except (Refusal, StatusError) as error:
            self.fault = error

    @property
    def waiting(self) -> int:
        """1 while the request waits to be taken, otherwise 0."""
        return int(self._message is not None)

    @property
    def has_part(self) -> bool:
        """True while part of the request has been received."""
        return bool(self._body)

    def request(self) -> bytes | None:
        """Take the request."""
        message, self._message, self.held = self._message, None, 0
        return message

    take_buffer = request

    # The response

    @property
    def is_closed(self) -> bool:
        """True once the call has ended or was cancelled, or its client has left."""
        return self._is_over or self._is_gone or self._is_cut

    @property
    def is_behind(self) -> bool:
        """True if the client is slow to receive the response."""
        return self._connection.is_behind

    @property
    def is_sending(self) -> bool:
        """True while a large part of the response waits for the client to receive it."""
        return self._connection.is_behind

    @property
    def is_delivered(self) -> bool:
        """True once the client has received nearly all of the response, or has left."""
        return self._is_gone or (self._is_over and not self._connection.is_behind)

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        """End the call with a response."""
        self._respond(cast(UnaryProtocol, self._protocol).answer(response))

    def send(self, pieces: list[Buffer], language: str) -> None:
        """Send a response: immediately for a stream, otherwise at the end of the call."""
        if self._route.pool is not None:
            self._pieces = pieces
            return
        if self.is_closed:
            return
        stream = cast(StreamProtocol, self._protocol)
        if not self._has_started:
            self._has_started = True
            self._connection.start(200, self._fields([*stream.fields, *_UNBUFFERED]))
        self._connection.send(stream.envelope(b"".join(pieces)))

    def finish(self, status: Status, request_id: str) -> None:
        """End the call with a status."""
        if self._has_started:
            if not (self._is_over or self._is_gone):
                self._is_over = True
                self._connection.send(cast(StreamProtocol, self._protocol).end(status))
                self._connection.end()
        elif self._pieces is not None and not status.code:
            pieces, self._pieces = self._pieces, None
            self._respond(cast(UnaryProtocol, self._protocol).answer(b"".join(pieces)))
        else:
            self._respond(self._protocol.unread(status) if self._is_unread else self._protocol.error(status))

    def reset(self) -> None:
        """Abort the connection."""
        self._connection.transport.abort()

    def _respond(self, response: Response) -> None:
        status, own, body = response
        request, fields = self._request, self._fields(own)
        if request.method == "GET" and status == 200:
            tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
            fields += [("etag", tag), ("cache-control", self._route.kept)]
            if tag in tags_in(request.values):
                status, body = 304, b""
        if len(body) < _WORTH_COMPRESSING or not takes_gzip(request.values):
            self._write(status, fields, body)
            return
        fields.append(("content-encoding", "gzip"))
        pack = partial(gzip.compress, body, _LEVEL, mtime=0)
        if len(body) <= LARGE or self._route.pool is None:
            self._write(status, fields, pack())
            return
        pool = self._route.pool
        packing = pool.submit(pool.job(self.exchange.origin, self.peer), pack)
        packing.add_done_callback(lambda done: self.loop.post(partial(self._write_packed, status, fields, done)))

    def _write_packed(self, status: int, fields: Fields, packing: Future[bytes]) -> None:
        self._write(status, fields, packing.result())
        self._tell()

    def _write(self, status: int, fields: Fields, body: bytes) -> None:
        if not (self._is_over or self._is_gone):
            self._is_over = True
            self._connection.respond(status, fields, body)

    def _fields(self, own: Fields) -> Fields:
        call = self.exchange
        fields = [*own, (REQUEST_ID, call.request_id), _VARY, *self._more]
        if call.language:
            fields.append((CONTENT_LANGUAGE, call.language))
        return fields
