"""A server in one process: what it is made of."""

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import CollectorRegistry

from chatiere.service.config import SettingError, Settings
from chatiere.service.interceptors import CallInterceptor
from chatiere.service.metrics import Metrics
from chatiere.service.servicer import BatchServicer, GameServicer
from chatiere.v1 import batch_service_pb2, batch_service_pb2_grpc, game_service_pb2, game_service_pb2_grpc

GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].full_name
_CHANNELZ = "grpc.channelz.v1.Channelz"


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


def create_server(settings: Settings, registry: CollectorRegistry, *, share_port: bool = False) -> tuple[Server, int]:
    """A server in this process, not yet started, and the port that it listens on.

    Its metrics are registered in `registry`; `metrics_address`, `workers` and `log_…` are settings for `supervisor`.
    `share_port`: whether other processes may listen on the port, too. Raises SettingError where the settings cannot be
    followed.
    """
    metrics = Metrics(registry)
    batch_threads = ThreadPoolExecutor(settings.batch_threads, thread_name_prefix="batch")
    server = grpc.server(
        ThreadPoolExecutor(settings.threads, thread_name_prefix="call"),
        interceptors=[CallInterceptor(metrics, {BATCH_SERVICE: batch_threads})],
        options=[
            ("grpc.max_receive_message_length", settings.max_message_bytes),
            # Unasked, two servers could share a port without anybody noticing.
            ("grpc.so_reuseport", int(share_port)),
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


def _bind(server: grpc.Server, address: str) -> int:
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise SettingError("address", f"cannot listen on {address}: it is in use, or not this machine's") from error
