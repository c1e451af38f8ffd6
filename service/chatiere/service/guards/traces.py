"""Traces of calls, with OpenTelemetry's instrumentation of gRPC. Needs the extra `chatiere[traces]`.

OpenTelemetry's environment variables determine where traces are sent and which calls are traced:
OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER …
"""

# This import is needed because some of gRPC's types can be subscripted only in annotations.
from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from google.rpc import code_pb2

from chatiere.service.base.errors import Status
from chatiere.service.base.settings import SettingError
from chatiere.service.guards.chain import Call, Metadata

_HEALTH = "grpc.health.v1.Health"


class TraceInterceptor(grpc.aio.ServerInterceptor):
    """Creates a span for every call except health checks, in the client's trace if the client sends one."""

    def __init__(self) -> None:
        """Send spans to an OTLP collector. Raises SettingError if the packages are not installed."""
        self._instrumentation = _instrumentation()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the instrumented handler."""
        found = await continuation(handler_call_details)
        if found is None:
            return None

        async def inner(_: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
            return found

        outer: grpc.RpcMethodHandler[Any, Any] = await self._instrumentation.intercept_service(
            inner, handler_call_details
        )
        return outer


class CallTraces:
    """Creates spans for the calls of the project's own doors, like TraceInterceptor."""

    def __init__(self) -> None:
        """Send spans to an OTLP collector. Raises SettingError if the packages are not installed."""
        self._tracer = _provider().get_tracer(__name__)
        from opentelemetry import propagate, trace

        self._extract, self._kind = propagate.extract, trace.SpanKind.SERVER
        self._error = trace.StatusCode.ERROR

    def begin(self, call: Call, metadata: Metadata) -> None:
        """Begin the span of a call. It ends with the call."""
        method = call.method
        if method.service == _HEALTH:
            return
        family, _, place = call.peer.partition(":")
        host, _, port = place.rpartition(":")
        # Use the attribute names of OpenTelemetry's instrumentation of gRPC.
        attributes = {
            "rpc.system": "grpc",
            "rpc.service": method.service,
            "rpc.method": method.name,
        }
        if family != "unix":
            attributes |= {"net.peer.ip": host, "net.peer.port": port}
        span = self._tracer.start_span(
            f"/{method.service}/{method.name}",
            context=self._extract(dict(metadata)),
            kind=self._kind,
            attributes=attributes,
        )

        def end(status: Status) -> None:
            span.set_attribute("rpc.grpc.status_code", status.code)
            if status.code:
                span.set_status(self._error, f"{code_pb2.Code.Name(status.code)}: {status.message}")
            span.end()

        call.on_end = end


def _provider() -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise _missing(error) from error
    # The provider sends the remaining spans at the end of the process.
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _missing(error: ImportError) -> SettingError:
    return SettingError("traces", f"missing packages: pip install 'chatiere[traces]' ({error})")


def _instrumentation() -> Any:
    # Return OpenTelemetry's interceptor for grpc.aio.
    try:
        from opentelemetry.instrumentation import grpc as instrumentation
        from opentelemetry.instrumentation.grpc import filters
    except ImportError as error:
        raise _missing(error) from error
    interceptor: Any = instrumentation.aio_server_interceptor
    return interceptor(_provider(), filters.negate(filters.health_check()))
