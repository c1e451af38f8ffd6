"""Traces of calls, by OpenTelemetry's own instrumentation of gRPC; needs the extra `chatiere[traces]`.

Its environment variables say where traces go and which calls are traced: OTEL_EXPORTER_OTLP_ENDPOINT,
OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER …
"""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from chatiere.service.process.settings import SettingError


class TraceInterceptor(grpc.aio.ServerInterceptor):
    """A span for every call but health checks, in the trace that the client began if it tells of one."""

    def __init__(self) -> None:
        """Spans go to an OTLP collector. Raises SettingError if the packages are not installed."""
        self._instrumentation = _instrumentation("aio_server_interceptor")

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The instrumented handler."""
        found = await continuation(handler_call_details)
        if found is None:
            return None

        async def inner(_: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
            return found

        outer: grpc.RpcMethodHandler[Any, Any] = await self._instrumentation.intercept_service(
            inner, handler_call_details
        )
        return outer


class _CallDetails(grpc.HandlerCallDetails):
    # What instrumentation is told of a call on the port for streams.

    def __init__(self, path: str) -> None:
        self.method = path
        self.invocation_metadata = ()


def traced_stream(path: str, behaviour: Callable[..., Any]) -> Callable[..., Any]:
    """Put a span around each call of what answers streams in threads. Raises SettingError as TraceInterceptor does."""
    handler: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(behaviour)
    instrumentation = _instrumentation("server_interceptor")
    traced: Callable[..., Any] = instrumentation.intercept_service(lambda _: handler, _CallDetails(path)).stream_stream
    return traced


def _instrumentation(name: str) -> Any:
    # An interceptor of OpenTelemetry's.
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation import grpc as instrumentation
        from opentelemetry.instrumentation.grpc import filters
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingError("traces", f"needs packages: pip install 'chatiere[traces]' ({error})") from error
    # At the end of the process it sends what it still has.
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return getattr(instrumentation, name)(provider, filters.negate(filters.health_check()))
