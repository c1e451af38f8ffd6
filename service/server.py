"""A server in one process: what it is made of."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import grpc
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import CollectorRegistry

from chatiere.service.config import SettingError, Settings
from chatiere.service.interceptors import CallInterceptor
from chatiere.service.metrics import Metrics
from chatiere.service.play_port import Behaviour, PlayPort
from chatiere.service.servicer import BatchServicer, GameServicer
from chatiere.service.threads import Threads
from chatiere.service.tls import server_credentials
from chatiere.service.traces import TraceInterceptor
from chatiere.v1 import batch_service_pb2, game_service_pb2

GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].full_name
_CHANNELZ = "grpc.channelz.v1.Channelz"


class Server:
    """A gRPC server, its health and its port for streams: as grpc.Server has them, the methods to start and stop."""

    def __init__(self, server: grpc.Server, health_servicer: health.HealthServicer, play: PlayPort | None) -> None:
        """See create_server."""
        self._server = server
        self._health = health_servicer
        self._play = play

    @property
    def play_port(self) -> int | None:
        """The port of `play_address`."""
        return None if self._play is None else self._play.port

    def start(self) -> None:
        """Begin to answer calls."""
        self._server.start()
        if self._play is not None:
            self._play.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Say NOT_SERVING, refuse new calls, and end those in flight after `grace` seconds (None: at once).

        Returns an event that is set when all calls have ended.
        """
        self._health.enter_graceful_shutdown()
        stopped = [self._server.stop(grace)]
        if self._play is not None:
            stopped.append(self._play.stop(grace))
        return _All(stopped)

    def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until the server has stopped; whether it has not after `timeout` seconds."""
        return self._server.wait_for_termination(timeout)


class _All(threading.Event):
    """Is set when all of some events are."""

    def __init__(self, events: list[threading.Event]) -> None:
        super().__init__()
        self._events = events
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        for event in self._events:
            event.wait()
        self.set()


class _CallDetails(grpc.HandlerCallDetails):
    """What interceptors are told of a call on the port for streams."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.invocation_metadata = ()


def create_server(settings: Settings, registry: CollectorRegistry, *, share_port: bool = False) -> tuple[Server, int]:
    """A server in this process, not yet started, and the port that it listens on.

    Its metrics are registered in `registry`; `metrics_address`, `workers` and `log_…` are settings for `supervisor`.
    `share_port`: whether other processes may listen on the port, too. Raises SettingError where the settings cannot be
    followed.
    """
    metrics = Metrics(registry)
    # Single calls never wait for batches.
    threads = {
        GAME_SERVICE: Threads("calls at a time", settings.threads, settings.max_calls),
        BATCH_SERVICE: Threads("batches at a time", settings.batch_threads, settings.max_calls),
    }
    calls = CallInterceptor(settings, metrics, threads)
    interceptors: list[grpc.ServerInterceptor] = [TraceInterceptor(), calls] if settings.traces else [calls]
    server = grpc.server(
        # Which threads a method has is said by the interceptor.
        threads[GAME_SERVICE],
        interceptors=interceptors,
        options=[
            ("grpc.max_receive_message_length", settings.max_message_bytes),
            # Unasked, two servers could share a port without anybody noticing.
            ("grpc.so_reuseport", int(share_port)),
            # A connection whose other end is gone without a word is closed, and its streams with it.
            ("grpc.keepalive_time_ms", 60_000),
            ("grpc.keepalive_timeout_ms", 20_000),
            ("grpc.keepalive_permit_without_calls", 1),
            # More of one connection wait at the client: the answers of calls that are never read take memory.
            ("grpc.max_concurrent_streams", 2 * settings.max_calls + settings.max_streams),
        ],
    )
    GameServicer(metrics).add_to(server)
    batches = BatchServicer(settings, metrics)
    batches.add_to(server)
    # Its non-blocking way to watch can deadlock: it sends under a lock that the end of another watch needs, too.
    health_servicer = health.HealthServicer(experimental_non_blocking=False)
    for service in (GAME_SERVICE, BATCH_SERVICE):
        health_servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    names = [GAME_SERVICE, BATCH_SERVICE, health.SERVICE_NAME]
    if settings.channelz:
        channelz.add_channelz_servicer(server)
        names.append(_CHANNELZ)
    if settings.reflection:
        reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    port = _bind(server, settings)
    play = None
    if settings.play_address is not None:
        handlers: dict[str, Any] = {f"/{BATCH_SERVICE}/Play": grpc.stream_stream_rpc_method_handler(batches.Play)}
        play = PlayPort(settings, settings.play_address, _behaviours(handlers, interceptors), share_port=share_port)
    return Server(server, health_servicer, play), port


def _behaviours(
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]], interceptors: Sequence[grpc.ServerInterceptor]
) -> Callable[[str], Behaviour | None]:
    """What answers a stream, by its path, with the interceptors around it."""

    def find(details: grpc.HandlerCallDetails) -> Any:
        return handlers.get(details.method)

    for interceptor in reversed(interceptors):
        find = partial(interceptor.intercept_service, find)

    def behaviour_of(path: str) -> Behaviour | None:
        handler = find(_CallDetails(path))
        return None if handler is None else handler.stream_stream

    return behaviour_of


def _bind(server: grpc.Server, settings: Settings) -> int:
    credentials = server_credentials(settings)
    address = settings.address
    try:
        if credentials is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise SettingError("address", f"cannot listen on {address}: it is in use, or not this machine's") from error
