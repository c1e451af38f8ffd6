"""The methods of a server, by path: its own, and those of gRPC's libraries (health, reflection, channelz)."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.rpc import code_pb2
from grpc_channelz.v1 import channelz, channelz_pb2_grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Status
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.base.threads import started_threads
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.bot_service import BotService
from chatiere.service.calls.game_service import GameService
from chatiere.service.calls.replay_service import ReplayService
from chatiere.service.calls.table_service import TableService
from chatiere.service.guards.chain import Guards, Method
from chatiere.service.guards.idle import IdleStreams
from chatiere.service.guards.limits import CallLimit
from chatiere.service.ports.grpc_handlers import HandlerFactory
from chatiere.service.ports.handlers import BatchHandler, SingleHandler
from chatiere.service.ports.health import HEALTH_SERVICE, HealthServicer
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, table_service_pb2

_GAME = game_service_pb2.DESCRIPTOR.services_by_name["GameService"]
_BATCH = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"]
_BOT = bot_service_pb2.DESCRIPTOR.services_by_name["BotService"]
_TABLE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
GAME_SERVICE, BATCH_SERVICE, BOT_SERVICE = _GAME.full_name, _BATCH.full_name, _BOT.full_name
TABLE_SERVICE = _TABLE.full_name
SERVICES = (GAME_SERVICE, BATCH_SERVICE, BOT_SERVICE, TABLE_SERVICE)
PLAY = f"/{BATCH_SERVICE}/Play"
REPLAY = f"/{GAME_SERVICE}/Replay"
_CHANNELZ = "grpc.channelz.v1.Channelz"
# Threads for large requests of GameService.
_SIDE_THREADS = 2
# By whether requests and responses are streams: the label grpc_type.
_KINDS = {
    (False, False): "unary",
    (False, True): "server_stream",
    (True, True): "bidi_stream",
}


class SingleMethod(NamedTuple):
    """A unary method that takes microseconds."""

    path: str
    method: Method
    handle: SingleHandler


class BatchMethod(NamedTuple):
    """A method that may take long, unary or a stream."""

    path: str
    method: Method
    handle: BatchHandler


class Methods(grpc.GenericRpcHandler):
    """The server's methods, for all its ports, and grpcio's handlers by path."""

    def __init__(
        self, settings: Settings, metrics: Metrics, guards: Guards, health: HealthServicer, table_keys: Keyring
    ) -> None:
        """Make the handlers. Raises SettingError if the threads cannot be started."""
        self._metrics = metrics
        self._guards = guards
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        # Calls of unknown methods count together: clients choose the names, and there is no end of them.
        self.unknown = Method(metrics, "unknown", "/unknown/unknown", needs_token=False)
        self._pools: list[ThreadPoolExecutor] = []
        self.factory = HandlerFactory(settings, guards)
        self.streams = CallLimit("streams at a time", settings.max_streams, IdleStreams(settings.stream_idle_timeout))
        self.singles = self._single_methods(settings)
        """The methods of GameService but Replay."""
        service = BatchService(settings, metrics)
        limit = CallLimit("batches at a time", settings.max_calls)
        tables = TableService(settings, metrics, table_keys)
        replay = Method(metrics, "unary", REPLAY, limit=limit, counts_clients=True)
        self.batches = [
            BatchMethod(REPLAY, replay, ReplayService(settings, metrics).replay),
            *self._batch_methods(_BATCH, service.answer, limit),
            *self._batch_methods(_BOT, BotService(settings).answer, limit),
            *self._batch_methods(_TABLE, tables.answer, limit, needs_token=not settings.open_tables),
        ]
        """Replay, and the unary methods of BatchService, BotService and TableService."""
        play = Method(metrics, "bidi_stream", PLAY, limit=self.streams, counts_clients=True)
        self.play = BatchMethod(PLAY, play, service.play)
        """The streams of batches."""
        try:
            self.side_threads = self._threads("side", _SIDE_THREADS)
            self.batch_threads = self._threads("batches", settings.batch_threads)
            self.stream_threads = self._threads("streams", settings.batch_threads)
        except RuntimeError as error:
            self.close()
            raise SettingError("batch_threads", f"cannot start the threads: {error}") from error
        self._add_own()
        self._add_libraries(settings, health)

    def _add_own(self) -> None:
        for single in self.singles:
            self._handlers[single.path] = self.factory.single(single.method, single.handle, self.side_threads)
        for batch in self.batches:
            self._handlers[batch.path] = self.factory.batch(batch.method, batch.handle, self.batch_threads)
        self._handlers[PLAY] = self.factory.play(self.play.method, self.play.handle, self.stream_threads)

    def health_method(self, name: str) -> Method:
        """Return a method of the health service as the guards know it."""
        kind = "unary" if name == "Check" else "server_stream"
        return Method(self._metrics, kind, f"/{HEALTH_SERVICE}/{name}", needs_token=False)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the handler of a call's path; None if there is no such method."""
        handler = self._handlers.get(handler_call_details.method)
        if handler is None:
            self.count_unknown()
        return handler

    def count_unknown(self) -> None:
        """Count a call of an unknown method."""
        call = self._guards.begin(self.unknown, "", ())
        self._guards.end(call, Status(code_pb2.UNIMPLEMENTED))

    def close(self) -> None:
        """Wait until the threads have finished their work."""
        for pool in self._pools:
            pool.shutdown()

    def _threads(self, name: str, count: int) -> ThreadPoolExecutor:
        self._pools.append(started_threads(name, count))
        return self._pools[-1]

    def _single_methods(self, settings: Settings) -> list[SingleMethod]:
        servicer = GameService(settings, self._metrics)
        limit = CallLimit("calls at a time", settings.max_calls)
        found = []
        for each in _GAME.methods:
            path = f"/{GAME_SERVICE}/{each.name}"
            if path != REPLAY:
                method = Method(self._metrics, "unary", path, limit=limit, counts_clients=True)
                found.append(SingleMethod(path, method, getattr(servicer, each.name)))
        return found

    def _batch_methods(
        self,
        service: ServiceDescriptor,
        answer: Callable[..., list[Buffer]],
        limit: CallLimit,
        *,
        needs_token: bool = True,
    ) -> list[BatchMethod]:
        found = []
        for each in service.methods:
            path = f"/{service.full_name}/{each.name}"
            if path != PLAY:
                method = Method(self._metrics, "unary", path, needs_token=needs_token, limit=limit, counts_clients=True)
                found.append(BatchMethod(path, method, partial(answer, _snake_case(each.name))))
        return found

    def _add_libraries(self, settings: Settings, health: HealthServicer) -> None:
        health_pb2_grpc.add_HealthServicer_to_server(health, self)
        names = [*SERVICES, HEALTH_SERVICE]
        if settings.channelz:
            channelz_pb2_grpc.add_ChannelzServicer_to_server(channelz.aio.ChannelzServicer(), self)
            names.append(_CHANNELZ)
        if settings.reflection:
            servicer = reflection.aio.ReflectionServicer((*names, reflection.SERVICE_NAME))
            reflection_pb2_grpc.add_ServerReflectionServicer_to_server(servicer, self)

    # Called by generated code, to add a servicer to a server

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Do nothing: `add_registered_method_handlers` gets the same methods."""

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, grpc.RpcMethodHandler[Any, Any]]
    ) -> None:
        """Add the methods of a library's service."""
        for name, handler in method_handlers.items():
            path = f"/{service_name}/{name}"
            kind = _KINDS[handler.request_streaming, handler.response_streaming]
            # Health watches have a limit of their own.
            is_health = service_name == HEALTH_SERVICE
            limit = self.streams if handler.response_streaming and not is_health else None
            method = Method(self._metrics, kind, path, needs_token=not is_health, limit=limit)
            self._handlers[path] = self.factory.of_library(method, handler)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
