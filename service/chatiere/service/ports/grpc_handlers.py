"""grpcio's handlers: the way of a call from its headers through the guards to its method, and back.

By default grpcio reads a unary call's request before it reports the call. So unary methods are registered as taking a
stream too, which is the same on the wire: the request is read here, after the token was checked and within a timeout.
"""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import grpc
import grpc.aio

from chatiere.engine.core.batch import Cancellation
from chatiere.service.base.errors import (
    CANCELLED,
    Refusal,
    ServiceReason,
    Status,
    request_timeout,
    slot_lost,
)
from chatiere.service.base.languages import CONTENT_LANGUAGE, speaking
from chatiere.service.base.settings import Settings
from chatiere.service.guards.chain import REQUEST_ID, Call, Guards, Metadata, Method
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import Holding
from chatiere.service.ports.handlers import LARGE, BatchHandler, SingleHandler, finished

# grpc.aio.ServicerContext, whose types are only half known.
Context = Any
# Seconds in which the client of a stream that has to end can still take a response.
_LAST_SECONDS = 1.0
# Bytes that a call takes beside its response.
_OF_CALL = 32 * 1024
# The metadata key of a status with its details, and gRPC's codes by number.
DETAILS = "grpc-status-details-bin"
CODES = {code.value[0]: code for code in grpc.StatusCode}


def _is_no_departure(record: logging.LogRecord) -> bool:
    # grpcio logs an error with a traceback for clients that leave before their response.
    return not record.getMessage().startswith("ExecuteBatchError raised in core by servicer method")


logging.getLogger("grpc._cython.cygrpc").addFilter(_is_no_departure)


class HandlerFactory:
    """Makes grpcio's handlers of methods; all run in one serving loop."""

    def __init__(self, settings: Settings, guards: Guards) -> None:
        """Make handlers that keep to `settings` and pass through `guards`."""
        self._settings = settings
        self._guards = guards
        self.half_open = CallSlots(settings.max_calls)
        """The unary calls whose request has not arrived."""
        self.streams = CallSlots(settings.max_streams)
        """The streams of batches, whose next request may be arriving."""
        self._endings: set[asyncio.Task[Any]] = set()

    def single(self, method: Method, handle: SingleHandler, threads: Executor) -> Any:
        """Return the handler of a unary method that takes microseconds; `threads` take its large requests."""

        async def work(call: Call, request: bytes, context: Context) -> bytes:
            answer = speaking(call.language, handle)
            if len(request) <= LARGE:
                response = answer(request)
            else:
                response = await asyncio.get_running_loop().run_in_executor(threads, answer, request)
            self._until_taken(call, context).hold(2 * len(response))
            return response

        return self._unary(method, work)

    def batch(self, method: Method, handle: BatchHandler, threads: Executor) -> Any:
        """Return the handler of a unary method that may take long, and stops when its call is cancelled or late."""

        async def work(call: Call, request: bytes, context: Context) -> bytes:
            holding = self._until_taken(call, context)
            cancellation = Cancellation()
            answer = speaking(call.language, handle)
            run = partial(answer, request, cancellation, holding.beside(request))
            response = b"".join(await finished(threads, self._seconds_of(context), cancellation, run))
            # Until the client has taken it, gRPC keeps a copy.
            holding.hold(2 * len(response))
            return response

        return self._unary(method, work)

    def play(self, method: Method, handle: BatchHandler, threads: Executor) -> Any:
        """Return the handler of Play: a stream of batches, answered in order."""

        async def work(call: Call, context: Context) -> AsyncIterator[bytes]:
            self._guards.admit(call)
            holding = self._until_taken(call, context)
            cancellation = Cancellation()
            following = asyncio.ensure_future(context.read())
            had_to_go = has_worked = False

            def end() -> None:
                nonlocal had_to_go
                had_to_go = True
                following.cancel()

            origin = call.origin
            self.streams.take(origin, call, end)
            try:
                while (request := await self._next(call, following, has_worked=has_worked)) is not grpc.aio.EOF:
                    # The next request may arrive meanwhile.
                    following = asyncio.ensure_future(context.read())
                    run = partial(handle, request, cancellation, holding.beside(request))
                    response = b"".join(await finished(threads, None, cancellation, run))
                    if not has_worked:
                        # By itself, as gRPC would want to send it again with a status that follows an unread response.
                        await context.send_initial_metadata(())
                        has_worked = True
                    with self._giving(call, context, len(response)):
                        yield response
                    holding.release()
            except asyncio.CancelledError:
                if had_to_go:
                    raise slot_lost("streams", self._settings.max_streams) from None
                raise
            finally:
                self.streams.release(origin, call)
                following.cancel()

        return self._stream(method, work)

    def of_library(self, method: Method, handler: Any) -> Any:
        """Return the handler of a method of a library's servicer, which takes message objects; not client-streaming."""
        parse: Callable[[bytes], Any] = handler.request_deserializer
        write: Callable[[Any], bytes] = handler.response_serializer

        async def unary(call: Call, request: bytes, context: Context) -> bytes:
            counted = _CountedContext(context, partial(self._guards.end, call))
            response = write(await handler.unary_unary(parse(request), counted))
            self._end(call, context)
            return response

        async def server_stream(call: Call, context: Context) -> AsyncIterator[bytes]:
            request = parse(await self._request(call, context))
            async for response in handler.unary_stream(request, context):
                yield write(response)

        async def stream(call: Call, context: Context) -> AsyncIterator[bytes]:
            self._guards.admit(call)
            async for response in handler.stream_stream(self._parsed(call, context, parse), context):
                yield write(response)

        if not handler.response_streaming:
            return self._unary(method, unary)
        return self._stream(method, stream if handler.request_streaming else server_stream)

    def _unary(self, method: Method, work: Callable[[Call, bytes, Context], Awaitable[bytes]]) -> Any:
        async def handle(_: object, context: Context) -> bytes:
            metadata = context.invocation_metadata()
            call = self._begin(method, context, metadata)
            try:
                self._guards.identify(call, metadata)
                # No name for the request: grpcio keeps this frame with the error that ends a refused call.
                response = await work(call, await self._request(call, context), context)
                if call.language:
                    await context.send_initial_metadata(((CONTENT_LANGUAGE, call.language),))
                self._guards.end(call)
                return response
            except grpc.aio.AbortError:
                raise
            except Exception as error:
                refused: bytes = await self._refuse(call, context, error)
                return refused
            finally:
                self._guards.end(call, CANCELLED)

        return grpc.stream_unary_rpc_method_handler(handle)

    def _stream(self, method: Method, work: Callable[[Call, Context], AsyncIterator[bytes]]) -> Any:
        async def handle(_: object, context: Context) -> AsyncIterator[bytes]:
            metadata = context.invocation_metadata()
            call = self._begin(method, context, metadata)
            try:
                self._guards.identify(call, metadata)
                async for response in work(call, context):
                    yield response
                self._end(call, context)
            except grpc.aio.AbortError:
                raise
            except Exception as error:
                await self._refuse(call, context, error)
            finally:
                self._guards.end(call, CANCELLED)

        return grpc.stream_stream_rpc_method_handler(handle)

    def _begin(self, method: Method, context: Context, metadata: Metadata) -> Call:
        call = self._guards.begin(method, context.peer(), metadata)
        context.set_trailing_metadata(((REQUEST_ID, call.request_id),))
        return call

    def _end(self, call: Call, context: Context) -> None:
        # A library's method may have set a status.
        code = context.code()
        self._guards.end(call, *([] if code is None else [Status(code.value[0])]))

    async def _refuse(self, call: Call, context: Context, error: Exception) -> Any:
        # Raises AbortError.
        status = self._guards.refuse(call, error)
        details = ((DETAILS, status.details),) if status.details else ()
        await context.abort(CODES[status.code], status.message, (*details, (REQUEST_ID, call.request_id)))

    async def _request(self, call: Call, context: Context) -> bytes:
        """Read the request of a unary call, and admit the call. Raises Refusal.

        Like gRPC's own servers, this does not wait for the end of the client's stream: a second message is ignored.
        """
        task = asyncio.current_task()
        assert task is not None
        refusal: Refusal | None = None

        def end(refuse: Callable[[], Refusal]) -> None:
            nonlocal refusal
            # It may lose its slot when it has just become late.
            if refusal is None:
                refusal = refuse()
                task.cancel()

        origin = call.origin
        self.half_open.take(origin, call, partial(end, self._lost_slot))
        # asyncio.timeout takes four times as long.
        timer = task.get_loop().call_later(self._settings.request_timeout, end, self._late)
        try:
            request = await context.read()
        except asyncio.CancelledError:
            if refusal is None:
                raise
            task.uncancel()
            raise refusal from None
        finally:
            timer.cancel()
            self.half_open.release(origin, call)
        if request is grpc.aio.EOF:
            raise Refusal(ServiceReason.MALFORMED_REQUEST, "this method takes one request message", metadata={})
        self._guards.check_size(call, len(request))
        self._guards.admit(call)
        return bytes(request)

    @contextmanager
    def _giving(self, call: Call, context: Context, size: int) -> Iterator[None]:
        """Have a stream wait for its client inside: it is to take a response of `size` bytes."""
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        refusal: Refusal | None = None
        is_given = False

        def end_soon(given: Refusal) -> None:
            # In any thread. Whoever gets its slot needs the other one, too.
            self.streams.release(call.origin, call)
            loop.call_soon_threadsafe(end, given)

        def end(given: Refusal) -> None:
            nonlocal refusal
            if refusal is None:
                refusal = given
                loop.call_later(_LAST_SECONDS, cancel)

        def cancel() -> None:
            if refusal is None or is_given:
                return
            ending = loop.create_task(self._end_unread(call, context, refusal, 2 * size + _OF_CALL))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
            task.cancel()

        self._guards.wait(call, end_soon, has_worked=True)
        try:
            yield
        finally:
            is_given = True
        if not self._guards.go_on(call) or refusal is not None:
            raise refusal or slot_lost("streams", self._settings.max_streams)

    async def _end_unread(self, call: Call, context: Context, refusal: Refusal, size: int) -> None:
        # gRPC keeps the call until the client takes the response, and then the status, or leaves.
        kept = self._guards.holding(call)
        with suppress(Refusal):
            kept.hold(size)
        # It always raises: the call is aborted, or the client has left.
        with suppress(Exception):
            await self._refuse(call, context, refusal)
        kept.release()

    async def _next(self, call: Call, reading: asyncio.Future[Any], *, has_worked: bool) -> Any:
        """Return the next request of a stream, which waits for its client meanwhile, or EOF. Raises Refusal."""
        if reading.done():
            return reading.result()
        loop = asyncio.get_running_loop()
        refusal: Refusal | None = None

        def end_soon(given: Refusal) -> None:
            # In any thread. Whoever gets its slot needs the other one, too.
            self.streams.release(call.origin, call)
            loop.call_soon_threadsafe(end, given)

        def end(given: Refusal) -> None:
            nonlocal refusal
            refusal = given
            reading.cancel()

        self._guards.wait(call, end_soon, has_worked=has_worked)
        try:
            request = await reading
        except asyncio.CancelledError:
            if refusal is None:
                raise
            raise refusal from None
        if not self._guards.go_on(call):
            raise slot_lost("streams", self._settings.max_streams)
        return request

    async def _parsed(self, call: Call, context: Context, parse: Callable[[bytes], Any]) -> AsyncIterator[Any]:
        has_worked = False
        while True:
            request = await self._next(call, asyncio.ensure_future(context.read()), has_worked=has_worked)
            if request is grpc.aio.EOF:
                return
            has_worked = True
            self._guards.check_size(call, len(request))
            yield parse(request)

    def _lost_slot(self) -> Refusal:
        return slot_lost("calls", self._settings.max_calls)

    def _late(self) -> Refusal:
        return request_timeout(self._settings.request_timeout)

    def _until_taken(self, call: Call, context: Context) -> Holding:
        """Return the call's memory, released when the call ends: its response was taken, or it failed."""
        holding = self._guards.holding(call)
        context.add_done_callback(lambda _: holding.release())
        return holding

    def _seconds_of(self, context: Context) -> float | None:
        """Return the seconds that a unary call may take; None if its own deadline comes first."""
        remaining = context.time_remaining()
        if remaining is None:
            return self._settings.default_deadline
        return None if remaining <= self._settings.max_deadline else self._settings.max_deadline


class _CountedContext:
    """A call's context for a library's method: an aborted call is counted before its client learns of it."""

    def __init__(self, context: Context, end: Callable[[Status], None]) -> None:
        self._context = context
        self._end = end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def abort(self, code: grpc.StatusCode, details: str = "") -> None:
        self._end(Status(code.value[0]))
        await self._context.abort(code, details)
