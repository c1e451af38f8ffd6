"""What happens around every call, health checks and reflection too: parsing, errors, metrics, a line in the log."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from chatiere.service.errors import status_of
from chatiere.service.metrics import Metrics, code_label

_log = logging.getLogger(__name__)

# By whether requests and responses are streams: the type's name in metrics, the handler's attribute and its maker.
_KINDS: dict[tuple[bool, bool], tuple[str, str, Callable[..., grpc.RpcMethodHandler[Any, Any]]]] = {
    (False, False): ("unary", "unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("server_stream", "unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("client_stream", "stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("bidi_stream", "stream_stream", grpc.stream_stream_rpc_method_handler),
}
# How many streams (health watches, reflection) are answered at a time; more wait.
_STREAMS = 32
# What calls of methods that do not exist count as: their names are the client's, and without bound.
_UNKNOWN = ("unknown", "unknown", "unknown")


class _Call:
    """One call on its way through a method."""

    def __init__(self, metrics: Metrics, method: tuple[str, str, str], context: grpc.ServicerContext) -> None:
        self._metrics = metrics
        self._method = method
        self._context = context
        self._start = time.perf_counter()
        # What it counts as if it ends before it is answered.
        self._code = grpc.StatusCode.CANCELLED
        self._reason = ""
        metrics.started.labels(*method).inc()

    def answer(self) -> None:
        """Note that the method has answered: with the status that it has set, or OK."""
        self._code = self._context.code() or grpc.StatusCode.OK  # type: ignore[attr-defined]

    def refuse(self, error: Exception) -> grpc.Status:
        """Note that the method has raised `error`; the status to answer it with."""
        status, self._reason = status_of(error)
        self._code = status.code
        return status

    def end(self) -> None:
        """Count it and log it; to be called once."""
        _end_call(self._metrics, self._method, self._code, self._reason, self._start, self._context.peer())

    def end_if_heard(self) -> None:
        """The same, as cancelled if the client is gone already (or its deadline is over)."""
        if not self._context.is_active():
            self._code, self._reason = grpc.StatusCode.CANCELLED, ""
        self.end()


class CallInterceptor(grpc.ServerInterceptor):
    """Counts, times and logs the calls of all methods, and turns what they raise into a status.

    Counted are calls that reach a method, and those of unknown methods. A request above the size limit, or one that is
    cancelled before a worker is free for it, is gRPC's alone; channelz shows these.
    """

    def __init__(self, metrics: Metrics, threads: Mapping[str, ThreadPoolExecutor]) -> None:
        """`metrics`: where calls are counted. `threads`: of services (full names) that have threads of their own."""
        self._metrics = metrics
        self._threads = threads
        self._stream_threads = ThreadPoolExecutor(_STREAMS, thread_name_prefix="stream")
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The method's handler with all this around it; made once a method."""
        path = handler_call_details.method
        handler = self._handlers.get(path)
        if handler is None:
            found = continuation(handler_call_details)
            if found is None:
                self._metrics.started.labels(*_UNKNOWN).inc()
                now = time.perf_counter()
                _end_call(self._metrics, _UNKNOWN, grpc.StatusCode.UNIMPLEMENTED, "", now, "unknown")
                return None
            handler = self._handlers[path] = self._around(found, path)
        return handler

    def _around(self, handler: grpc.RpcMethodHandler[Any, Any], path: str) -> grpc.RpcMethodHandler[Any, Any]:
        kind, attribute, make_handler = _KINDS[handler.request_streaming, handler.response_streaming]
        service, _, name = path.removeprefix("/").partition("/")
        method = (kind, service, name)
        behaviour: Callable[..., Any] = getattr(handler, attribute)
        # Requests come as bytes and are parsed here: left to gRPC, one that cannot be parsed would never reach a method
        # and end as INTERNAL.
        parse: Callable[[Any], Any] = handler.request_deserializer or bytes

        def read(argument: Any) -> Any:
            return map(parse, argument) if handler.request_streaming else parse(argument)

        def answer(argument: Any, context: grpc.ServicerContext) -> Any:
            call = _Call(self._metrics, method, context)
            try:
                response = behaviour(read(argument), context)
                call.answer()
                return response
            except Exception as error:
                context.abort_with_status(call.refuse(error))
            finally:
                call.end_if_heard()

        def stream(argument: Any, context: grpc.ServicerContext) -> Any:
            call = _Call(self._metrics, method, context)
            if not context.add_callback(call.end):
                call.end()
            try:
                yield from behaviour(read(argument), context)
            except grpc.RpcError:
                # The client is gone.
                raise
            except Exception as error:
                context.abort_with_status(call.refuse(error))
            call.answer()

        # Where gRPC looks for the threads of a method. Streams last: they have their own, to leave the workers free.
        answer.experimental_thread_pool = self._threads.get(service)  # type: ignore[attr-defined]
        stream.experimental_thread_pool = self._threads.get(service, self._stream_threads)  # type: ignore[attr-defined]
        return make_handler(stream if handler.response_streaming else answer, None, handler.response_serializer)


def _end_call(
    metrics: Metrics, method: tuple[str, str, str], code: grpc.StatusCode, reason: str, start: float, peer: str
) -> None:
    seconds = time.perf_counter() - start
    metrics.handled.labels(*method, code_label(code)).inc()
    metrics.handling_seconds.labels(*method).observe(seconds)
    _log.info("%s/%s %s %s %.2f ms from %s", *method[1:], code.name, reason or "-", 1000 * seconds, peer)
