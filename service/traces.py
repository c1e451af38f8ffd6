"""Traces of calls, by OpenTelemetry's own instrumentation of gRPC; needs the extra `chatiere[traces]`.

Its environment variables say where traces go and which calls are traced: OTEL_EXPORTER_OTLP_ENDPOINT,
OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER …
"""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from chatiere.service.config import SettingError


class TraceInterceptor(grpc.ServerInterceptor):
    """A span for every call but health checks, in the trace that the client began if it tells of one."""

    def __init__(self) -> None:
        """Spans go to an OTLP collector. Raises SettingError if the packages are not installed."""
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
            from opentelemetry.instrumentation.grpc import filters, server_interceptor
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise SettingError("traces", f"needs packages: pip install 'chatiere[traces]' ({error})") from error
        # At the end of the process it sends what it still has.
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        all_but_health = filters.negate(filters.health_check())
        self._instrumentation = server_interceptor(provider, all_but_health)  # type: ignore[no-untyped-call]

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The instrumented handler, which runs in the threads of the one that it stands around."""
        inner = continuation(handler_call_details)
        if inner is None:
            return None
        outer: grpc.RpcMethodHandler[Any, Any] = self._instrumentation.intercept_service(
            lambda _: inner, handler_call_details
        )
        _behaviour(outer).experimental_thread_pool = _behaviour(inner).experimental_thread_pool
        return outer


def _behaviour(handler: grpc.RpcMethodHandler[Any, Any]) -> Any:
    return handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
