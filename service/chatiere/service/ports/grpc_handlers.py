"""grpcio's handlers: coroutines that connect exchanges to grpcio.

By default, grpcio reads the request of a unary call before it reports the call. Therefore unary methods are registered
as methods with a request stream. To clients they look the same. The handlers then read the request after checking the
token, and within a timeout.
"""

# This import is needed because some of gRPC's types can be subscripted only in annotations.
from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
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
from chatiere.service.exchange.exchange import Exchange
from chatiere.service.exchange.making import exchanges_of
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod
from chatiere.service.guards.chain import REQUEST_ID, Guards
from chatiere.service.guards.sizes import MAX_METADATA, OF_FIELD, largest_request
from chatiere.service.ports.asyncio_loop import AsyncioLoop
from chatiere.service.ports.libraries import channelz_methods, reflection_methods
from chatiere.service.ports.methods import Methods

# The type grpc.aio.ServicerContext is only partly annotated.
Context = Any
# The time in seconds within which the client can still receive a response on a stream that must end.
_LAST_SECONDS = 1.0
# When a client leaves, gRPC first reports the end of the requests, and within this number of seconds the cancellation.
_MOMENT = 0.002
# gRPC keeps a copy of the response, and the call, until the client has received the response.
_COST = Cost(small=-1, copies=2, of_call=32 * 1024)
# The metadata key of the details of a status.
_DETAILS = "grpc-status-details-bin"
# gRPC's code for each number.
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def _is_no_departure(record: logging.LogRecord) -> bool:
    # Return False for the error with a traceback that grpcio logs when a client leaves before the response.
    return not record.getMessage().startswith("ExecuteBatchError raised in core by servicer method")


logging.getLogger("grpc._cython.cygrpc").addFilter(_is_no_departure)


class Handlers(grpc.GenericRpcHandler):
    """The handlers of grpcio for all paths. The serving loop must be running."""

    def __init__(self, settings: Settings, metrics: Metrics, guards: Guards, methods: Methods) -> None:
        """Create handlers for the server's methods, and for the methods of gRPC's libraries enabled in the settings."""
        self.door = Door(settings, guards, None, _COST, lambda wire: wire.fault)
        self._loop = AsyncioLoop()
        self._count_unknown = partial(methods.count_unknown, guards)
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        singles = [*methods.singles, methods.check]
        streams = [methods.play]
        if settings.channelz:
            singles += channelz_methods(metrics, methods)
        if settings.reflection:
            streams += reflection_methods(settings, metrics, methods)
        for unary in singles:
            self.add_unary(unary)
        for batch in methods.batches:
            self.add_unary(batch)
        for stream in streams:
            self._add_stream(stream)
        for feed in methods.feeds:
            self._add_stream(feed)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the handler of a call's path, or None if the method is unknown."""
        handler = self._handlers.get(handler_call_details.method)
        if handler is None:
            self._count_unknown()
        return handler

    def add_unary(self, served: SingleMethod | BatchMethod) -> None:
        """Add a unary method."""
        make = exchanges_of(self.door, served)
        largest = largest_request(served.path, self.door.settings.max_message_bytes)

        async def handle(_: object, context: Context) -> bytes:
            wire = _UnaryWire(context, self._loop, largest)
            return await wire.run(make(wire))

        self._handlers[served.path] = grpc.stream_unary_rpc_method_handler(handle)

    def _add_stream(self, served: StreamMethod | FeedMethod) -> None:
        make = exchanges_of(self.door, served)
        largest = largest_request(served.path, self.door.settings.max_message_bytes)

        # The handler is a generator, as OpenTelemetry's instrumentation requires.
        async def handle(_: object, context: Context) -> AsyncIterator[Buffer]:
            wire = _StreamWire(context, self._loop, largest, takes_one=isinstance(served, FeedMethod))
            try:
                wire.begin(make(wire))
                while (response := await wire.next()) is not None:
                    yield response
            finally:
                wire.leave()

        self._handlers[served.path] = grpc.stream_stream_rpc_method_handler(handle)


class _GrpcWire(ABC):
    """A call at grpcio's port (see exchange.wire.Wire): the common part of unary calls and streams."""

    __slots__ = (
        "_context",
        "_has_more",
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

    # gRPC does not report partly received requests, the other calls on the connection, or unsent output.
    has_part = is_alone = is_behind = False
    held = 0

    def __init__(self, context: Context, loop: AsyncioLoop, largest: int) -> None:
        """Create the wire of a call whose headers have been received. `largest`: the maximum size of a request."""
        self._context, self.loop, self._largest = context, loop, largest
        self.peer: str = context.peer()
        self.metadata = context.invocation_metadata()
        self.timeout: float | None = context.time_remaining()
        self.watch: Callable[[], None] | None = None
        self.fault: Exception | None = None
        if sum(len(key) + len(value) + OF_FIELD for key, value in self.metadata) > MAX_METADATA:
            self.fault = limit_exceeded("bytes of metadata", MAX_METADATA)
        self.has_ended = self.is_closed = False
        self._request: bytes | None = None
        # True if the client has sent more than one request to a method with a single request.
        self._has_more = False
        self.status: Status | None = None
        """The status of the call, once it is known."""
        self._request_id = ""

    @property
    def waiting(self) -> int:
        return int(self._request is not None) + int(self._has_more)

    @property
    def is_delivered(self) -> bool:
        return self.is_closed

    def request(self) -> bytes | None:
        return None if self._has_more else self.take_buffer()

    def take_buffer(self) -> bytes | None:
        request, self._request = self._request, None
        return request

    def finish(self, status: Status, request_id: str) -> None:
        if self.status is None:
            self.status, self._request_id = status, request_id
            self._wake()

    @abstractmethod
    def _wake(self) -> None:
        """Make the call's coroutine send pending output."""

    async def _read_only(self) -> Any:
        """Read until the client's stream has ended. Return the only request, or EOF if there is no request."""
        request = await self._context.read()
        if request is grpc.aio.EOF:
            await asyncio.sleep(_MOMENT)
        elif len(request) <= self._largest:
            self._has_more = await self._context.read() is not grpc.aio.EOF
        self.has_ended = True
        return request

    def _came(self, request: Any) -> None:
        if request is grpc.aio.EOF:
            self.has_ended = True
        elif len(request) > self._largest:
            self.fault = limit_exceeded("bytes of a request", self._largest)
        else:
            self._request = request
        self._tell()

    def _close(self, _: object = None) -> None:
        # The client has received the response, or it has left.
        self.is_closed = True
        self._tell()

    def _tell(self) -> None:
        if self.watch is not None:
            self.watch()

    async def _abort(self) -> None:
        # Send the status. Raises AbortError unless the status is OK.
        status = self.status
        assert status is not None
        if status.code:
            details = ((_DETAILS, status.details),) if status.details else ()
            await self._context.abort(_CODES[status.code], status.message, (*details, (REQUEST_ID, self._request_id)))


class _UnaryWire(_GrpcWire):
    """A unary call at grpcio's port."""

    __slots__ = ("_finished", "_language", "_reading", "_response")

    is_sending = False

    def __init__(self, context: Context, loop: AsyncioLoop, largest: int) -> None:
        super().__init__(context, loop, largest)
        self._response, self._language = b"", ""
        # The call's task while it reads, and the future for which it waits afterwards.
        self._reading: asyncio.Task[Any] | None = None
        self._finished: asyncio.Future[None] | None = None

    async def run(self, exchange: Exchange) -> bytes:
        """Run the call to its end and return the response. Raises AbortError."""
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
            request = await self._read_only()
        except asyncio.CancelledError:
            if self.status is None:
                raise
            # `_wake` cancelled the reading.
            self._reading.uncancel()
            return
        finally:
            self._reading = None
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
        """Have no effect, because gRPC keeps a response until the client receives it or leaves."""


class _StreamWire(_GrpcWire):
    """A call with many responses at grpcio's port. A request may arrive before the response to the previous one."""

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
        """Create the wire of a call whose headers have been received. `takes_one`: True for a single request."""
        super().__init__(context, loop, largest)
        self._takes_one = takes_one
        self._responses: deque[bytes] = deque()
        self._language = ""
        # The call's task, and the future for which it waits until there is output.
        self._task = asyncio.current_task()
        self._waiting: asyncio.Future[None] | None = None
        # The task that reads requests, and the future for which it waits until a request is taken.
        self._reader: asyncio.Task[None] | None = None
        self._taken: asyncio.Future[None] | None = None
        # The task that ends the call although the client has not received the response.
        self._ending: asyncio.Task[None] | None = None
        # True once headers have been sent, and true while gRPC has a response that the client has not received.
        self._has_begun = self._is_given = False

    @property
    def is_sending(self) -> bool:
        return self._is_given or bool(self._responses)

    def begin(self, exchange: Exchange) -> None:
        """Start the exchange, and read requests."""
        self._context.set_trailing_metadata(((REQUEST_ID, exchange.request_id),))
        self._context.add_done_callback(self._close)
        exchange.begin()
        if self.status is None:
            self._reader = asyncio.create_task(self._read())

    async def next(self) -> bytes | None:
        """Return the next response, or None after the last one. Raises AbortError."""
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
            # Send the metadata separately. Otherwise gRPC would try to send it again with a status that follows an
            # unread response.
            await self._context.send_initial_metadata(((CONTENT_LANGUAGE, self._language),) if self._language else ())
        self._is_given = True
        return self._responses.popleft()

    def leave(self) -> None:
        """Stop reading."""
        if self._reader is not None:
            self._reader.cancel()

    async def _read(self) -> None:
        if self._takes_one:
            self._came(await self._read_only())
        while not (self.has_ended or self.fault):
            request = await self._context.read()
            if request is grpc.aio.EOF:
                await asyncio.sleep(_MOMENT)
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
        """End the call soon, although the client has not received a response. It can still receive it until then."""
        self.loop.after(_LAST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self._is_given and not self.is_closed and self._task is not None:
            # gRPC would keep the call until the client receives the response and the status, or leaves.
            self._ending = asyncio.create_task(self._abort_unread())
            self._task.cancel()

    async def _abort_unread(self) -> None:
        # `abort` always raises an error: the call is aborted, or the client has left.
        with suppress(Exception):
            await self._abort()
