"""grpcio's handlers: coroutines that carry what an exchange asks for to grpcio, and what comes to the exchange.

By default grpcio reads a unary call's request before it reports the call. So unary methods are registered as taking a
stream too, which is the same on the wire: the request is read here, after the token was checked and within a timeout.
"""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import grpc
import grpc.aio

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import OK, Status, limit_exceeded
from chatiere.service.base.languages import CONTENT_LANGUAGE
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.exchange import BatchExchange, Exchange, SingleExchange
from chatiere.service.exchange.feeds import FeedExchange
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod
from chatiere.service.exchange.streams import StreamExchange
from chatiere.service.guards.chain import REQUEST_ID, Guards
from chatiere.service.guards.sizes import largest_request
from chatiere.service.ports.asyncio_loop import AsyncioLoop
from chatiere.service.ports.libraries import channelz_methods, reflection_method
from chatiere.service.ports.methods import Methods

# grpc.aio.ServicerContext, whose types are only half known.
Context = Any
# Seconds in which the client of a stream that has to end can still take a response.
_LAST_SECONDS = 1.0
# Seconds in which gRPC tells that a client has left, once it has told that nothing more comes.
_MOMENT = 0.002
# gRPC keeps a copy of a response, and the call, until the client has taken it.
_COST = Cost(small=-1, copies=2, of_call=32 * 1024)
# The metadata key of a status with its details, and gRPC's codes by number.
_DETAILS = "grpc-status-details-bin"
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def _is_no_departure(record: logging.LogRecord) -> bool:
    # grpcio logs an error with a traceback for clients that leave before their response.
    return not record.getMessage().startswith("ExecuteBatchError raised in core by servicer method")


logging.getLogger("grpc._cython.cygrpc").addFilter(_is_no_departure)


class Handlers(grpc.GenericRpcHandler):
    """grpcio's handlers by path; for the serving loop, which has to run."""

    def __init__(self, settings: Settings, metrics: Metrics, guards: Guards, methods: Methods) -> None:
        """Make handlers of the server's methods, and of those of gRPC's libraries that the settings ask for."""
        self.door = Door(settings, guards, None, _COST, lambda wire: wire.fault)
        self._loop = AsyncioLoop()
        self._count_unknown = partial(methods.count_unknown, guards)
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        for single in (*methods.singles, methods.check):
            self.add_single(single)
        for batch in methods.batches:
            self._add_unary(BatchExchange, batch)
        self._add_stream(StreamExchange, methods.play)
        for feed in methods.feeds:
            self._add_stream(FeedExchange, feed)
        if settings.channelz:
            for single in channelz_methods(metrics, methods):
                self.add_single(single)
        if settings.reflection:
            self._add_stream(StreamExchange, reflection_method(settings, metrics, methods))

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the handler of a call's path; None if there is no such method."""
        handler = self._handlers.get(handler_call_details.method)
        if handler is None:
            self._count_unknown()
        return handler

    def add_single(self, single: SingleMethod) -> None:
        """Add a method that takes microseconds."""
        self._add_unary(SingleExchange, single)

    def _add_unary(self, kind: Callable[[Door, Any, Any], Exchange[Any]], served: SingleMethod | BatchMethod) -> None:
        largest = largest_request(served.path, self.door.settings.max_message_bytes)

        async def handle(_: object, context: Context) -> bytes:
            wire = _UnaryWire(context, self._loop, largest)
            return await wire.run(kind(self.door, served, wire))

        self._handlers[served.path] = grpc.stream_unary_rpc_method_handler(handle)

    def _add_stream(self, kind: Callable[[Door, Any, Any], Exchange[Any]], served: StreamMethod | FeedMethod) -> None:
        largest = largest_request(served.path, self.door.settings.max_message_bytes)

        # A generator, as OpenTelemetry's instrumentation wants it.
        async def handle(_: object, context: Context) -> AsyncIterator[Buffer]:
            wire = _StreamWire(context, self._loop, largest, takes_one=kind is FeedExchange)
            try:
                wire.begin(kind(self.door, served, wire))
                while (response := await wire.next()) is not None:
                    yield response
            finally:
                wire.leave()

        self._handlers[served.path] = grpc.stream_stream_rpc_method_handler(handle)


class _GrpcWire:
    """A call as grpcio carries it (see exchange.wire.Wire): what unary calls and streams have in common."""

    __slots__ = (
        "_context",
        "_largest",
        "_request",
        "_request_id",
        "fault",
        "has_ended",
        "is_closed",
        "loop",
        "metadata",
        "peer",
        "status",
        "timeout",
        "watch",
    )

    # Only gRPC knows of parts, of a connection's other calls, and of what waits to be sent on it.
    has_part = is_alone = is_behind = False
    held = 0

    def __init__(self, context: Context, loop: AsyncioLoop, largest: int) -> None:
        """Carry a call whose headers have come; its requests have at most `largest` bytes."""
        self._context, self.loop, self._largest = context, loop, largest
        self.peer: str = context.peer()
        self.metadata = context.invocation_metadata()
        self.timeout: float | None = context.time_remaining()
        self.watch: Callable[[], None] | None = None
        self.fault: Exception | None = None
        self.has_ended = self.is_closed = False
        self._request: bytes | None = None
        self.status: Status | None = None
        """The end of the call, once it is known."""
        self._request_id = ""

    @property
    def waiting(self) -> int:
        return 0 if self._request is None else 1

    @property
    def is_delivered(self) -> bool:
        return self.is_closed

    def request(self) -> bytes | None:
        return self.take_buffer()

    def take_buffer(self) -> bytes | None:
        request, self._request = self._request, None
        return request

    def finish(self, status: Status, request_id: str) -> None:
        if self.status is None:
            self.status, self._request_id = status, request_id
            self._wake()

    def _wake(self) -> None:
        """Have the call's coroutine look at what there is to send."""
        raise NotImplementedError

    def _came(self, request: Any) -> None:
        if request is grpc.aio.EOF:
            self.has_ended = True
        elif len(request) > self._largest:
            self.fault = limit_exceeded("bytes of a request", self._largest)
        else:
            self._request = request
        self._tell()

    def _close(self, _: object = None) -> None:
        # Its response was taken, or the client has left.
        self.is_closed = True
        self._tell()

    def _tell(self) -> None:
        if self.watch is not None:
            self.watch()

    async def _abort(self) -> None:
        # Raises AbortError, unless the status is OK.
        status = self.status
        assert status is not None
        if status.code:
            details = ((_DETAILS, status.details),) if status.details else ()
            await self._context.abort(_CODES[status.code], status.message, (*details, (REQUEST_ID, self._request_id)))


class _UnaryWire(_GrpcWire):
    """A unary call as grpcio carries it.

    Like gRPC's own servers, this does not wait for the end of the client's stream: a second message is ignored.
    """

    __slots__ = ("_finished", "_language", "_reading", "_response")

    is_sending = False

    def __init__(self, context: Context, loop: AsyncioLoop, largest: int) -> None:
        super().__init__(context, loop, largest)
        self._response, self._language = b"", ""
        # The task while it reads, and what it waits for afterwards.
        self._reading: asyncio.Task[Any] | None = None
        self._finished: asyncio.Future[None] | None = None

    async def run(self, exchange: Exchange[Any]) -> bytes:
        """Carry the call to its end; return the response. Raises AbortError."""
        context = self._context
        context.set_trailing_metadata(((REQUEST_ID, exchange.request_id),))
        try:
            exchange.begin()
            if self.status is None:
                await self._read()
            if self.status is None:
                self._finished = asyncio.get_running_loop().create_future()
                await self._finished
            if self.watch is not None:
                context.add_done_callback(self._close)
            if self.status is not OK:
                await self._abort()
            if self._language:
                await context.send_initial_metadata(((CONTENT_LANGUAGE, self._language),))
        except asyncio.CancelledError:
            self._close()
            raise
        return self._response

    async def _read(self) -> None:
        self._reading = asyncio.current_task()
        assert self._reading is not None
        try:
            request = await self._context.read()
            if request is grpc.aio.EOF:
                await asyncio.sleep(_MOMENT)
        except asyncio.CancelledError:
            if self.status is None:
                raise
            # By `_wake`.
            self._reading.uncancel()
            return
        finally:
            self._reading = None
        self.has_ended = True
        self._came(request)

    def _wake(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        elif self._finished is not None and not self._finished.done():
            self._finished.set_result(None)

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        self._response, self._language = response, language
        self.finish(OK, request_id)

    def send(self, pieces: list[Buffer], language: str) -> None:
        self._response, self._language = b"".join(pieces), language

    def reset(self) -> None:
        """Do nothing: gRPC keeps a response until its client takes it or leaves."""


class _StreamWire(_GrpcWire):
    """A call with many responses as grpcio carries it: the next request may come before the last one is answered."""

    __slots__ = (
        "_ending",
        "_has_begun",
        "_is_given",
        "_language",
        "_reader",
        "_responses",
        "_taken",
        "_takes_one",
        "_task",
        "_waiting",
    )

    def __init__(self, context: Context, loop: AsyncioLoop, largest: int, *, takes_one: bool) -> None:
        """`takes_one`: the method takes one request, whose client's stream is not waited for either."""
        super().__init__(context, loop, largest)
        self._takes_one = takes_one
        self._responses: deque[bytes] = deque()
        self._language = ""
        # The call's task, and what it waits for: something to send.
        self._task = asyncio.current_task()
        self._waiting: asyncio.Future[None] | None = None
        # The task that reads requests, and what it waits for: that a request is taken.
        self._reader: asyncio.Task[None] | None = None
        self._taken: asyncio.Future[None] | None = None
        # The task that ends the call although its response is not taken.
        self._ending: asyncio.Task[None] | None = None
        # Headers have been sent; gRPC has a response that the client has not taken.
        self._has_begun = self._is_given = False

    @property
    def is_sending(self) -> bool:
        return self._is_given or bool(self._responses)

    def begin(self, exchange: Exchange[Any]) -> None:
        """Begin to carry the call."""
        self._context.set_trailing_metadata(((REQUEST_ID, exchange.request_id),))
        self._context.add_done_callback(self._close)
        exchange.begin()
        if self.status is None:
            self._reader = asyncio.create_task(self._read())

    async def next(self) -> bytes | None:
        """Return the next response; None after the last one. Raises AbortError."""
        if self._is_given:
            self._is_given = False
            self._tell()
        while not self._responses:
            if self.status is not None:
                await self._abort()
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        if not self._has_begun:
            self._has_begun = True
            # By itself, as gRPC would want to send it again with a status that follows an unread response.
            await self._context.send_initial_metadata(((CONTENT_LANGUAGE, self._language),) if self._language else ())
        self._is_given = True
        return self._responses.popleft()

    def leave(self) -> None:
        """Read no more."""
        if self._reader is not None:
            self._reader.cancel()

    async def _read(self) -> None:
        while not (self.has_ended or self.fault):
            request = await self._context.read()
            if request is grpc.aio.EOF:
                await asyncio.sleep(_MOMENT)
            self.has_ended = self._takes_one
            self._came(request)
            while self._request is not None:
                self._taken = asyncio.get_running_loop().create_future()
                await self._taken

    def take_buffer(self) -> bytes | None:
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(None)
        return super().take_buffer()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        self.send([response], language)
        self.finish(OK, request_id)

    def send(self, pieces: list[Buffer], language: str) -> None:
        self._language = language
        self._responses.append(b"".join(pieces))
        self._wake()

    def reset(self) -> None:
        """End the call soon, although the client has not taken a response; until then it still may."""
        self.loop.after(_LAST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self._is_given and not self.is_closed and self._task is not None:
            # gRPC keeps the call until the client takes the response, and then the status, or leaves.
            self._ending = asyncio.create_task(self._abort_unread())
            self._task.cancel()

    async def _abort_unread(self) -> None:
        # It always raises: the call is aborted, or the client has left.
        with suppress(Exception):
            await self._abort()
