"""The way of a browser's call: from its headers through the guards to its method, and back.

connectrpc reads and writes the protocols; messages in wire format pass it as bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeVar

from connectrpc.codec import Codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.rpc import code_pb2

from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import (
    CANCELLED,
    Refusal,
    ServiceReason,
    Status,
    deadline_exceeded,
    limit_exceeded,
    request_timeout,
    slot_lost,
)
from chatiere.service.base.languages import speaking
from chatiere.service.base.settings import Settings
from chatiere.service.guards.chain import REQUEST_ID, Call, Guards, Method
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import Holding
from chatiere.service.guards.sizes import largest_request
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.handlers import LARGE, BatchHandler, Hold, finished
from chatiere.service.ports.web.connection import Connection
from chatiere.service.ports.web.endings import ended
from chatiere.service.ports.web.http import (
    Headers,
    Receive,
    Scope,
    Send,
    has_body,
    number_in,
    send_whole,
    tags_in,
    takes_gzip,
)
from chatiere.service.ports.web.json_form import MEMORY, JsonForm

# Compressed requests may have so many bytes at most when they are unpacked, which the serving loop does.
_UNPACKED = 1 << 20
# Smaller responses, in bytes, are not worth compressing; the level is zlib's.
_WORTH_COMPRESSING, _LEVEL = 1024, 5
# What is left to connectrpc of these would make it compress every response.
_OURS = (b"accept-encoding", b"grpc-accept-encoding")
# Seconds for which clients may keep responses to GET.
_FRESH = 3600
_FAULTY = Status(code_pb2.INVALID_ARGUMENT, ServiceReason.MALFORMED_REQUEST)


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Route(NamedTuple):
    """A method at this door.

    `handle_single` is set of methods that take microseconds, `handle_batch` of others; `threads` take what takes long.
    """

    path: str
    method: Method
    form: JsonForm
    threads: Executor
    handle_single: Callable[[bytes], bytes] | None
    handle_batch: BatchHandler | None
    has_no_side_effects: bool


class Door(NamedTuple):
    """What all calls of the door share; `traces`: None if none are made."""

    settings: Settings
    guards: Guards
    half_open: CallSlots
    """The calls whose request has not come whole."""
    traces: CallTraces | None


class _JsonText(bytes):
    """A request as JSON."""


class _Binary(Codec[bytes, bytes]):
    """Leaves messages in wire format as they are."""

    def name(self) -> str:
        return "proto"

    def encode(self, message: bytes) -> bytes:
        return message

    def decode(self, data: bytes | bytearray, message_class: type[bytes]) -> bytes:
        return bytes(data)


class _Json(_Binary):
    """Leaves JSON to the call, which may read it in a thread."""

    def name(self) -> str:
        return "json"

    def decode(self, data: bytes | bytearray, message_class: type[bytes]) -> bytes:
        return _JsonText(data)


class _Gzip(GzipCompression):
    """Unpacks requests, as far as a loop may spend time on it."""

    def decompress(self, data: bytes | bytearray | memoryview, read_max_bytes: int | None = None) -> bytes:
        most = min(_UNPACKED, _EXCHANGE.get().largest)
        try:
            return super().decompress(data, most)
        except ConnectError as error:
            kind = "compressed request" if most == _UNPACKED else "request"
            raise limit_exceeded(f"bytes of a {kind}", most) from error


_Context = RequestContext[Any, Any]
_EXCHANGE: ContextVar[Exchange] = ContextVar("exchange")


class _Counted:
    """Ends every call that connectrpc could make out, before the client learns of it."""

    async def on_start(self, ctx: _Context) -> Exchange:
        return _EXCHANGE.get()

    async def on_end(self, token: Exchange, ctx: _Context, error: Exception | None) -> None:
        token.end(error)


class _Identified:
    """Identifies a call's client before its request is read."""

    async def on_start(self, ctx: _Context) -> None:
        _EXCHANGE.get().identify()

    async def on_end(self, token: None, ctx: _Context, error: Exception | None) -> None:
        pass


def protocols_of(routes: Iterable[Route], most: int) -> ConnectASGIApplication[None]:
    """Return connectrpc's application for the methods. `most`: the bytes of the largest request."""

    class Protocols(ConnectASGIApplication[None]):
        path = ""

    async def answer(request: bytes, ctx: _Context) -> bytes:
        return await _EXCHANGE.get().answer(request, ctx.timeout_ms)

    def endpoint(route: Route) -> Any:
        level = IdempotencyLevel.NO_SIDE_EFFECTS if route.has_no_side_effects else IdempotencyLevel.UNKNOWN
        return Endpoint.unary(
            MethodInfo(
                name=route.method.name,
                service_name=route.method.service,
                input=bytes,
                output=bytes,
                idempotency_level=level,
                stream_type=StreamType.UNARY,
            ),
            answer,
        )

    return Protocols(
        service=None,
        endpoints=lambda _: {route.path: endpoint(route) for route in routes},
        interceptors=(_Counted(), _Identified()),
        read_max_bytes=most,
        compressions=(_Gzip(),),
        codecs=(_Binary(), _Json()),
    )


class Exchange:
    """A call's request and response."""

    def __init__(self, door: Door, route: Route, connection: Connection, scope: Scope) -> None:
        """Begin a call whose headers have come; they are ASCII."""
        self._door, self._route, self._connection = door, route, connection
        self._guards = door.guards
        headers: Headers = scope["headers"]
        self._scope, self._headers = scope, headers
        self._metadata = [(name.decode(), value.decode()) for name, value in headers]
        self._call: Call = self._guards.begin(route.method, connection.peer, self._metadata)
        if door.traces is not None:
            door.traces.begin(self._call, self._metadata)
        self._holding: Holding = self._guards.holding(self._call)
        self.largest = largest_request(route.path, door.settings.max_message_bytes)
        """The bytes that its request may have."""
        self.received = 0
        """The bytes of its request that have come and are not handled yet."""
        self._length = number_in(headers, b"content-length")
        self._is_whole = not has_body(headers)
        self._started: dict[str, Any] = {}
        self._body: list[bytes] = []

    async def run(
        self,
        protocols: Callable[[Scope, Receive, Send], Awaitable[None]],
        receive: Receive,
        send: Send,
        more_headers: Headers,
    ) -> None:
        """Take the call to its end. `more_headers`: of the response."""
        self._receive, self._send, self._more_headers = receive, send, more_headers
        _EXCHANGE.set(self)
        scope = self._scope | {"headers": [each for each in self._headers if each[0] not in _OURS], "root_path": ""}
        try:
            await protocols(scope, self._receive_part, self._send_part)
            await self._connection.delivered()
        except Exception as error:
            self._guards.refuse(self._call, error)
            raise
        finally:
            self._guards.end(self._call, CANCELLED)
            self._holding.release()

    def identify(self) -> None:
        """Identify the client. Raises Refusal."""
        self._guards.identify(self._call, self._metadata)

    def end(self, error: Exception | None) -> None:
        """Count the end. Raises ConnectError for what the client is to be told instead of `error`."""
        if error is None:
            self._guards.end(self._call)
        else:
            raise ended(self._guards, self._call, error, self.largest)

    async def answer(self, request: bytes, milliseconds: float | None) -> bytes:
        """Return the response to a request that connectrpc has read. Raises what methods do.

        `milliseconds`: until the client's deadline; None: it has none.
        """
        self.received = 0
        if milliseconds is not None and milliseconds <= 0:
            raise deadline_exceeded()
        self._guards.check_size(self._call, len(request))
        self._guards.admit(self._call)
        handle = self._route.handle_single
        if handle is None or len(request) > LARGE:
            return await self._answer_in_thread(request, milliseconds)
        if not isinstance(request, _JsonText):
            response = self._speaking(handle)(request)
            self._hold(len(response))
            return response
        response = self._speaking(handle)(self._route.form.read(request))
        if len(response) > LARGE:
            return await self._finished(lambda: self._written(response), milliseconds, Cancellation())
        return self._route.form.write(response)

    async def _answer_in_thread(self, request: bytes, milliseconds: float | None) -> bytes:
        cancellation = Cancellation()
        return await self._finished(partial(self._handled, request, cancellation), milliseconds, cancellation)

    def _finished(
        self, work: Callable[[], bytes], milliseconds: float | None, cancellation: Cancellation
    ) -> Awaitable[bytes]:
        settings = self._door.settings
        if milliseconds is None:
            seconds: float | None = settings.default_deadline
        else:
            seconds = None if milliseconds <= 1000 * settings.max_deadline else settings.max_deadline
        return finished(self._route.threads, seconds, cancellation, work)

    def _speaking(self, handle: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        return speaking(self._call.language, handle)

    # In a thread, for what is large or takes long

    def _handled(self, request: bytes, cancellation: Cancellation) -> bytes:
        form = self._route.form if isinstance(request, _JsonText) else None
        data = request
        if form is not None:
            self._holding.hold(MEMORY * len(request))
            data = form.read(request)
        hold = self._holding.beside(data)
        response = self._handle(data, cancellation, hold)
        if form is not None:
            return self._written(response)
        self._hold(len(response))
        return response

    def _handle(self, data: bytes, cancellation: Cancellation, hold: Hold) -> bytes:
        if self._route.handle_single is not None:
            return self._speaking(self._route.handle_single)(data)
        assert self._route.handle_batch is not None
        pieces: list[Buffer] = self._speaking(self._route.handle_batch)(data, cancellation, hold)
        return b"".join(pieces)

    def _written(self, response: bytes) -> bytes:
        self._hold(MEMORY // 2 * len(response))
        text = self._route.form.write(response)
        self._hold(len(text))
        return text

    def _hold(self, size: int) -> None:
        # A copy of a large response is in memory until the client has it.
        self._holding.hold(2 * size if size > LARGE else 0)

    # What connectrpc receives and sends

    async def _receive_part(self) -> dict[str, Any]:
        # With gRPC-Web's prefix.
        most = self.largest + 5
        if self._length is not None and self._length > most:
            raise limit_exceeded("bytes of a request", self.largest)
        message = await self._next_part()
        self._is_whole = not message.get("more_body", False)
        self.received += len(message.get("body", b""))
        if self.received > most:
            raise limit_exceeded("bytes of a request", self.largest)
        return message

    async def _next_part(self) -> dict[str, Any]:
        if self._is_whole:
            # Only the client's departure can come.
            return await self._receive()
        task = asyncio.current_task()
        assert task is not None
        settings, half_open, call = self._door.settings, self._door.half_open, self._call
        refusal: Refusal | None = None

        def end(refuse: Callable[[], Refusal]) -> None:
            nonlocal refusal
            if refusal is None:
                refusal = refuse()
                task.cancel()

        origin = call.origin
        half_open.take(origin, self, partial(end, lambda: slot_lost("calls", settings.max_calls)))
        loop = task.get_loop()
        left = call.start + settings.request_timeout - time.perf_counter()
        timer = loop.call_later(left, end, lambda: request_timeout(settings.request_timeout))
        try:
            return await self._receive()
        except asyncio.CancelledError:
            if refusal is None:
                raise
            task.uncancel()
            raise refusal from None
        finally:
            timer.cancel()
            half_open.release(origin, self)

    async def _send_part(self, message: dict[str, Any]) -> None:
        # Responses are of one message: they leave at once, with their length.
        if message["type"] == "http.response.start":
            self._started = message
            return
        self._body.append(message["body"])
        if not message["more_body"]:
            await self._send_whole(b"".join(self._body))

    async def _send_whole(self, body: bytes) -> None:
        # What connectrpc refuses by the headers alone has not been counted yet.
        self._guards.end(self._call, _FAULTY)
        status: int = self._started["status"]
        headers = [each for each in self._started["headers"] if each[0] not in (b"content-encoding", b"vary")]
        headers.append((REQUEST_ID.encode(), self._call.request_id.encode()))
        if self._scope["method"] == "GET" and status == 200:
            tag = b'W/"%s"' % hashlib.sha256(body).hexdigest()[:32].encode()
            kind = b"public" if self._door.settings.tokens is None else b"private"
            headers += [(b"etag", tag), (b"cache-control", b"%s, max-age=%d" % (kind, _FRESH))]
            if tag in tags_in(self._headers):
                status, body = 304, b""
        headers.append((b"vary", b"accept-encoding, accept-language"))
        if self._call.language:
            headers.append((b"content-language", self._call.language.encode()))
        if len(body) >= _WORTH_COMPRESSING and takes_gzip(self._headers):
            body = await self._compressed(body)
            headers.append((b"content-encoding", b"gzip"))
        headers += self._more_headers
        await send_whole(self._send, status, headers, body, None if self._is_whole else self._receive)

    async def _compressed(self, body: bytes) -> bytes:
        if len(body) <= LARGE:
            return gzip.compress(body, _LEVEL, mtime=0)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._route.threads, partial(gzip.compress, body, _LEVEL, mtime=0))
