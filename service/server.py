"""Making a server, and running one until it is told to stop."""

import logging
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from wsgiref.simple_server import WSGIServer

import grpc
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server

from chatiere.engine.memory import keep_freed_memory
from chatiere.service.config import Settings, split_address
from chatiere.service.interceptors import CallInterceptor
from chatiere.service.logs import configure_logging
from chatiere.service.metrics import Metrics
from chatiere.service.servicer import BatchServicer, GameServicer
from chatiere.v1 import batch_service_pb2, batch_service_pb2_grpc, game_service_pb2, game_service_pb2_grpc

GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].full_name
_CHANNELZ = "grpc.channelz.v1.Channelz"
_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}

_log = logging.getLogger(__name__)


class AddressError(OSError):
    """An address cannot be listened on."""


class Server:
    """A gRPC server with its health: as grpc.Server has them, the methods to start, stop and wait."""

    def __init__(self, server: grpc.Server, health_servicer: health.HealthServicer) -> None:
        """See create_server."""
        self._server = server
        self._health = health_servicer

    def start(self) -> None:
        """Begin to answer calls."""
        self._server.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Say NOT_SERVING, refuse new calls, and end those in flight after `grace` seconds (None: at once).

        Returns an event that is set when all calls have ended.
        """
        self._health.enter_graceful_shutdown()
        return self._server.stop(grace)

    def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until the server has stopped; whether it has not after `timeout` seconds."""
        return self._server.wait_for_termination(timeout)


def create_server(settings: Settings, registry: CollectorRegistry) -> tuple[Server, int]:
    """A server, not yet started, and the port that it listens on; its metrics are registered in `registry`.

    Raises AddressError.
    """
    metrics = Metrics(registry)
    batch_threads = ThreadPoolExecutor(settings.batch_workers, thread_name_prefix="batch")
    server = grpc.server(
        ThreadPoolExecutor(settings.workers, thread_name_prefix="call"),
        interceptors=[CallInterceptor(metrics, {BATCH_SERVICE: batch_threads})],
        options=[
            ("grpc.max_receive_message_length", settings.max_message_bytes),
            # Else two servers could share a port without anybody noticing.
            ("grpc.so_reuseport", 0),
        ],
    )
    game_service_pb2_grpc.add_GameServiceServicer_to_server(GameServicer(metrics), server)  # type: ignore[no-untyped-call]
    batch_service_pb2_grpc.add_BatchServiceServicer_to_server(BatchServicer(settings, metrics), server)  # type: ignore[no-untyped-call]
    # Its non-blocking way to watch can deadlock: it sends under a lock that the end of another watch needs, too.
    health_servicer = health.HealthServicer(experimental_non_blocking=False)
    for service in (GAME_SERVICE, BATCH_SERVICE):
        health_servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    channelz.add_channelz_servicer(server)
    reflection.enable_server_reflection(
        (GAME_SERVICE, BATCH_SERVICE, health.SERVICE_NAME, _CHANNELZ, reflection.SERVICE_NAME), server
    )
    return Server(server, health_servicer), _bind(server, settings.address)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then let calls in flight finish; a second signal ends the process at once.

    To be called in the main thread, before the process has others. Raises SystemExit if an address cannot be listened
    on.
    """
    # Threads inherit this, so that the signals wait for sigwait: Python's own handlers can miss one under load.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    keep_freed_memory()
    configure_logging()
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    try:
        server, port = create_server(settings, registry)
        metrics_server = _serve_metrics(settings.metrics_address, registry)
    except AddressError as error:
        raise SystemExit(str(error)) from error
    server.start()
    _log.info("serving %s on %s", GAME_SERVICE, _with_port(settings.address, port))
    signal.sigwait(_STOP_SIGNALS)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
    _log.info("stopping: calls in flight have %g seconds", settings.grace)
    server.stop(settings.grace).wait()
    if metrics_server is not None:
        metrics_server.shutdown()
        metrics_server.server_close()
    _log.info("stopped")


def _bind(server: grpc.Server, address: str) -> int:
    _split(address)
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise AddressError(f"cannot listen on {address}: it is in use, or not this machine's") from error


def _serve_metrics(address: str | None, registry: CollectorRegistry) -> WSGIServer | None:
    if address is None:
        return None
    host, port = _split(address)
    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as error:
        raise AddressError(f"cannot serve metrics on {address}: {error.strerror}") from error
    _log.info("metrics on http://%s/metrics", _with_port(address, server.server_port))
    return server


def _split(address: str) -> tuple[str, int]:
    try:
        return split_address(address)
    except ValueError as error:
        raise AddressError(str(error)) from error


def _with_port(address: str, port: int) -> str:
    return f"{address.rpartition(':')[0]}:{port}"
