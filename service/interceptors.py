"""What happens around every call: threads, who may call and how much, parsing, deadlines, errors, metrics, log."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc

from chatiere.http2.connection import Buffer
from chatiere.service.config import Settings
from chatiere.service.deadlines import Deadlines
from chatiere.service.errors import Refusal, ServiceReason, limit_exceeded, status_of
from chatiere.service.limits import ClientLimits
from chatiere.service.metrics import Metrics, code_label
from chatiere.service.threads import Threads
from chatiere.service.tokens import Tokens

_log = logging.getLogger(__name__)

# By whether requests and responses are streams: the type's name in metrics, the handler's attribute and its maker.
_KINDS: dict[tuple[bool, bool], tuple[str, str, Callable[..., grpc.RpcMethodHandler[Any, Any]]]] = {
    (False, False): ("unary", "unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("server_stream", "unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("client_stream", "stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("bidi_stream", "stream_stream", grpc.stream_stream_rpc_method_handler),
}
# What calls of methods that do not exist count as: their names are the client's, and without bound.
_UNKNOWN = ("unknown", "unknown", "unknown")
_HEALTH = "/grpc.health."
# Threads for what must be answered at once however busy the service is: checks of the health, refusals.
_SIDE_THREADS = 2
# Seconds after which a client may try again when there are too many calls of all clients together.
_RETRY = 1.0
# gRPC tells many more seconds for a call without a deadline.
_NO_DEADLINE = 1e12
# An id that a client gives its call, for both logs. Anything else could forge lines.
REQUEST_ID = "x-request-id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


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
        self.request_id = _request_id(context)
        self.client = ""
        metrics.started.labels(*method).inc()
        metrics.in_flight.labels(method[0]).inc()
        context.set_trailing_metadata(((REQUEST_ID, self.request_id),))

    def answer(self) -> None:
        """Note that the method has answered: with the status that it has set, or OK."""
        self._code = self._context.code() or grpc.StatusCode.OK  # type: ignore[attr-defined]

    def refuse(self, error: Exception) -> None:
        """Note that the method has raised `error`, and end the call with what that means; raises what gRPC wants."""
        status, self._reason = status_of(error, self.request_id)
        self._code = status.code
        # Beside abort_with_status, because OpenTelemetry looks at these.
        self._context.set_code(status.code)
        self._context.set_details(status.details)
        metadata = (*status.trailing_metadata, (REQUEST_ID, self.request_id))
        self._context.abort_with_status(status._replace(trailing_metadata=metadata))  # type: ignore[attr-defined]

    def end(self) -> None:
        """Count it and log it; to be called once."""
        self._metrics.in_flight.labels(self._method[0]).dec()
        _end_call(self._metrics, self._method, self._code, self._reason, self._start, self)

    def end_if_heard(self) -> None:
        """The same, as cancelled if the client is gone already (or its deadline is over)."""
        if not self._context.is_active():
            self._code, self._reason = grpc.StatusCode.CANCELLED, ""
        self.end()

    @property
    def peer(self) -> str:
        """Where it comes from."""
        return self._context.peer()


class CallInterceptor(grpc.ServerInterceptor):
    """Stands around the methods of all services.

    Every method: its calls are counted, timed and logged; what it raises is turned into a status. All but the health
    need a token, where there are tokens. Chatière's own: limits, and deadlines for the unary ones.

    Counted are calls that reach a method, and those of unknown methods. A request above the size limit, or one that is
    cancelled before a thread is free for it, is gRPC's alone; channelz shows these.
    """

    def __init__(self, settings: Settings, metrics: Metrics, threads: Mapping[str, Threads]) -> None:
        """`threads`: where the unary calls of Chatière's own services run, by their full names.

        Raises SettingError for a tokens file that is wrong.
        """
        self._settings = settings
        self._metrics = metrics
        self._threads = threads
        # Streams have their own, to leave the others free; a thread each, as long as they are open.
        self._stream_threads = Threads("streams at a time", settings.max_streams, settings.max_streams)
        self._side_threads = Threads("side", _SIDE_THREADS)
        self._tokens = None if settings.tokens is None else Tokens(settings.tokens)
        self._limits = ClientLimits(settings.max_calls_per_client, settings.max_rate_per_client)
        self._deadlines = Deadlines()
        self._handlers: dict[str, tuple[Threads, grpc.RpcMethodHandler[Any, Any], grpc.RpcMethodHandler[Any, Any]]] = {}

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The method's handler with all this around it; made once a method."""
        path = handler_call_details.method
        if path not in self._handlers:
            found = continuation(handler_call_details)
            if found is None:
                self._metrics.started.labels(*_UNKNOWN).inc()
                _end_call(self._metrics, _UNKNOWN, grpc.StatusCode.UNIMPLEMENTED, "", time.perf_counter(), None)
                return None
            self._handlers[path] = self._around(found, path)
        threads, handler, busy = self._handlers[path]
        return busy if threads.is_full() else handler

    def _around(
        self, handler: grpc.RpcMethodHandler[Any, Any], path: str
    ) -> tuple[Threads, grpc.RpcMethodHandler[Any, Any], grpc.RpcMethodHandler[Any, Any]]:
        # The threads for a method, its handler, and the one for when the threads have enough calls.
        kind, attribute, make_handler = _KINDS[handler.request_streaming, handler.response_streaming]
        service, _, name = path.removeprefix("/").partition("/")
        method = (kind, service, name)
        behaviour: Callable[..., Any] = getattr(handler, attribute)
        is_own = service in self._threads
        is_health = path.startswith(_HEALTH)
        # Requests come as bytes and are parsed here: left to gRPC, one that cannot be parsed would never reach a method
        # and end as INTERNAL.
        parse: Callable[[Any], Any] = handler.request_deserializer or (lambda request: request)
        serialize: Callable[[Any], bytes] = handler.response_serializer or bytes

        def read(argument: Any) -> Any:
            return map(parse, argument) if handler.request_streaming else parse(argument)

        def written(response: Any) -> Any:
            # Our own methods write their responses themselves, those of streams in pieces.
            return response if isinstance(response, (bytes, list)) else serialize(response)

        def answer(argument: Any, context: grpc.ServicerContext) -> Any:
            call = _Call(self._metrics, method, context)
            try:
                with self._admitted(call, context, is_own, is_health), self._in_time(context, is_own) as limited:
                    response = written(behaviour(read(argument), limited))
                call.answer()
                return response
            except Exception as error:
                call.refuse(error)
            finally:
                call.end_if_heard()

        def stream(argument: Any, context: grpc.ServicerContext) -> Any:
            call = _Call(self._metrics, method, context)
            if not context.add_callback(call.end):
                call.end()
            try:
                with self._admitted(call, context, is_own, is_health):
                    yield from map(written, behaviour(read(argument), context))
            except grpc.RpcError:
                # The client is gone.
                raise
            except Exception as error:
                call.refuse(error)
            call.answer()

        def refuse(argument: Any, context: grpc.ServicerContext) -> Any:
            call = _Call(self._metrics, method, context)
            try:
                call.refuse(limit_exceeded(threads.name, threads.limit, _RETRY))
            finally:
                call.end()

        body = stream if handler.response_streaming else answer
        threads = self._stream_threads if handler.response_streaming else self._threads.get(service, self._side_threads)
        # Where gRPC looks for the threads of a method.
        body.experimental_thread_pool = threads  # type: ignore[attr-defined]
        refuse.experimental_thread_pool = self._side_threads  # type: ignore[attr-defined]
        return (
            threads,
            make_handler(body, None, _joined),
            # As a stream, so that gRPC does not wait for the request.
            grpc.stream_stream_rpc_method_handler(refuse),
        )

    @contextmanager
    def _admitted(self, call: _Call, context: grpc.ServicerContext, is_own: bool, is_health: bool) -> Iterator[None]:
        # While a call runs. Raises Refusal.
        if self._tokens is not None and not is_health:
            call.client = _client_of(context, self._tokens)
        if not is_own:
            yield
            return
        # An address without its port, which each connection has another of.
        with self._limits.call_of(call.client or context.peer().rpartition(":")[0]):
            yield

    @contextmanager
    def _in_time(self, context: grpc.ServicerContext, is_own: bool) -> Iterator[Any]:
        # While a call runs; gives the context for it, which tells if its time is over. Raises Refusal then.
        remaining = context.time_remaining()
        has_deadline = remaining < _NO_DEADLINE
        if not is_own or remaining <= self._settings.max_deadline:
            yield context
            return
        seconds = self._settings.max_deadline if has_deadline else self._settings.default_deadline
        with self._deadlines.cut_after(seconds, context) as limited:
            try:
                yield limited
            finally:
                if limited.is_cut:
                    raise Refusal(
                        ServiceReason.TIME_LIMIT,
                        f"the call has had its time: {seconds:g} s",
                        metadata={"seconds": f"{seconds:g}"},
                    )


def _joined(response: bytes | list[Buffer]) -> bytes:
    # What gRPC is given to send.
    return response if isinstance(response, bytes) else b"".join(response)


def _metadata(context: grpc.ServicerContext, name: str) -> list[str]:
    return [str(value) for key, value in context.invocation_metadata() if key == name]


def _request_id(context: grpc.ServicerContext) -> str:
    # The client's, or one of our own.
    given = _metadata(context, REQUEST_ID)
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]):
        return given[0]
    return secrets.token_hex(8)


def _client_of(context: grpc.ServicerContext, tokens: Tokens) -> str:
    # The name of the call's token. Raises Refusal.
    given = _metadata(context, "authorization")
    kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if kind.lower() != "bearer":
        message = "this service needs a token: metadata `authorization: Bearer …`, once"
        raise Refusal(ServiceReason.UNAUTHENTICATED, message, metadata={})
    client = tokens.client_of(token.strip())
    if client is None:
        raise Refusal(ServiceReason.UNAUTHENTICATED, "the token is none that this service knows", metadata={})
    return client


def _end_call(
    metrics: Metrics,
    method: tuple[str, str, str],
    code: grpc.StatusCode,
    reason: str,
    start: float,
    call: _Call | None,
) -> None:
    # Count a call and log it; None for one of an unknown method, of which gRPC tells no more.
    seconds = time.perf_counter() - start
    metrics.handled.labels(*method, code_label(code)).inc()
    metrics.handling_seconds.labels(*method).observe(seconds)
    if not _log.isEnabledFor(logging.INFO):
        return
    _, service, name = method
    about = {
        "service": service,
        "method": name,
        "code": code.name,
        "reason": reason,
        "milliseconds": round(1000 * seconds, 2),
        "peer": call.peer if call else "",
        "request_id": call.request_id if call else "",
        "client": call.client if call else "",
    }
    values = [value or "-" for value in about.values()]
    _log.info("%s/%s %s %s %s ms from %s request %s client %s", *values, extra=about)
