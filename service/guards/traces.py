"""Traces of calls, by OpenTelemetry's own instrumentation of gRPC; needs the extra `chatiere[traces]`.

OpenTelemetry's environment variables set where traces go and which calls are traced: OTEL_EXPORTER_OTLP_ENDPOINT,
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
    """Makes a span for every call but health checks, in the client's trace if it sends one."""

    def __init__(self) -> None:
        """Send spans to an OTLP collector. Raises SettingError if the packages are not installed."""
        self._instrumentation = _instrumentation("aio_server_interceptor")

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


def _instrumentation(name: str) -> Any:
    # Make one of OpenTelemetry's interceptors.
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation import grpc as instrumentation
        from opentelemetry.instrumentation.grpc import filters
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingError("traces", f"missing packages: pip install 'chatiere[traces]' ({error})") from error
    # At the end of the process it sends the remaining spans.
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return getattr(instrumentation, name)(provider, filters.negate(filters.health_check()))
