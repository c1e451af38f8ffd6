"""A browser's call as the wire of an exchange: a request of HTTP and its response, by one of the protocols."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, NamedTuple, cast

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Refusal, Status, StatusError, limit_exceeded
from chatiere.service.base.languages import CONTENT_LANGUAGE
from chatiere.service.exchange.exchange import Exchange
from chatiere.service.exchange.methods import LARGE
from chatiere.service.exchange.wire import Form, Wire
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

# Smaller responses, in bytes, are not worth compressing; the level is zlib's.
_WORTH_COMPRESSING, _LEVEL = 1024, 5
_VARY = ("vary", "accept-encoding, accept-language")
# Of streams: proxies pass responses on as they come (nginx looks at the second).
_UNBUFFERED = (("cache-control", "no-store"), ("x-accel-buffering", "no"))


class Route(NamedTuple):
    """A method at this door.

    `make`: makes the exchange of a call, with the JSON form of its messages or None. `largest`: bytes of its requests.
    `threads`: they compress its large responses; None: its responses are a stream. `kept`: what caches may do with a
    response to GET; "": it has side effects, and is called by POST alone.
    """

    make: Callable[[Wire, Form | None], Exchange[Any]]
    form: Form
    largest: int
    threads: Executor | None
    kept: str


class WebCall:
    """A call, as `Wire` and `Served` describe it; `exchange`, which is to be set: of the call."""

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
    exchange: Exchange[Any]
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
        """Begin a call whose head has come, with values in ASCII; `more`: fields of the response."""
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

    # Called by the connection

    def on_data(self, data: bytes) -> None:
        """Take a part of the request; what a GET has is left."""
        if not self.has_ended:
            self.add(data)
            self._tell()

    def on_end(self) -> None:
        """Read the request, which has come whole."""
        if not self.has_ended:
            self.read()
            self._tell()

    def on_delivered(self) -> None:
        """Have the exchange look."""
        self._tell()

    def on_gone(self) -> None:
        """Have the exchange end: nothing can be sent."""
        self._is_gone = True
        self._tell()

    def on_cut(self) -> None:
        """Have the exchange end as one that was cancelled."""
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
        """Read the body, which has come whole, or what a GET has instead."""
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
        """1 while the request can be taken."""
        return int(self._message is not None)

    @property
    def has_part(self) -> bool:
        """True while the request has come in part."""
        return bool(self._body)

    def request(self) -> bytes | None:
        """Take the request."""
        message, self._message, self.held = self._message, None, 0
        return message

    take_buffer = request

    # The response

    @property
    def is_closed(self) -> bool:
        """True once the call has ended, was cut off, or its client has left."""
        return self._is_over or self._is_gone or self._is_cut

    @property
    def is_behind(self) -> bool:
        """True if the client is slow to take what it is sent."""
        return self._connection.is_behind

    @property
    def is_sending(self) -> bool:
        """True while the client has much to take."""
        return self._connection.is_behind

    @property
    def is_delivered(self) -> bool:
        """True once the client has nearly all, or is gone."""
        return self._is_gone or (self._is_over and not self._connection.is_behind)

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        """End the call with a response."""
        self._respond(cast(UnaryProtocol, self._protocol).answer(response))

    def send(self, pieces: list[Buffer], language: str) -> None:
        """Send a response: of a stream at once, or else with the end of the call."""
        if self._route.threads is not None:
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
        """End the connection."""
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
        if len(body) <= LARGE or self._route.threads is None:
            self._write(status, fields, pack())
            return
        packing = self._route.threads.submit(pack)
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
