"""The services over gRPC: each method hands its request to the handler of its name."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from chatiere import engine
from chatiere.engine.core.batch import Cancellation
from chatiere.http2.connection import Buffer
from chatiere.service import handlers
from chatiere.service.batch import Batches
from chatiere.service.config import Settings
from chatiere.service.metrics import Metrics
from chatiere.v1 import batch_service_pb2, game_service_pb2

_GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"]
_BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"]
# By whether requests and responses are streams.
_HANDLERS: dict[bool, Any] = {False: grpc.unary_unary_rpc_method_handler, True: grpc.stream_stream_rpc_method_handler}


class GameServicer:
    """The methods of GameService, requests and responses in wire format; the interceptor turns errors into a status."""

    def __init__(self, metrics: Metrics) -> None:
        """`metrics`: where applied moves are counted."""
        self._moves = {game: metrics.moves_applied.labels(game.name) for game in engine.games()}

    def add_to(self, server: grpc.Server) -> None:
        """Register them."""
        _register(_GAME_SERVICE, self, server)

    def ListGames(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """All games."""
        return handlers.list_games(request)

    def NewGame(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Begin a game."""
        return handlers.new_game(request)

    def ListLegalActions(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """What may be done at a state."""
        return handlers.list_legal_actions(request)

    def Apply(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Make a move, or resolve a chance event."""
        response, game = handlers.apply(request)
        self._moves[game].inc()
        return response

    def GetScore(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """The score at a state."""
        return handlers.get_score(request)

    def GetView(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """What a seat, or a spectator, may know of a state."""
        return handlers.get_view(request)

    def Resample(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """A state that a seat cannot tell from the given one."""
        return handlers.resample(request)


class BatchServicer:
    """The methods of BatchService, requests and responses in wire format.

    They stop soon after their call is cancelled or has expired.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """`settings`: for the limits of batches. `metrics`: where they are counted."""
        self._batches = Batches(settings, metrics)

    def add_to(self, server: grpc.Server) -> None:
        """Register them."""
        _register(_BATCH_SERVICE, self, server)

    def NewGames(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Begin games."""
        return self._batches.answer("new_games", request, _cancelled_with(context))

    def Step(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Make a move in each game."""
        return self._batches.answer("step", request, _cancelled_with(context))

    def Playout(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Play each state to its end, many times, with random moves."""
        return self._batches.answer("playout", request, _cancelled_with(context))

    def Score(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """The scores at states."""
        return self._batches.answer("score", request, _cancelled_with(context))

    def Resample(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """For each state one that a seat cannot tell from it."""
        return self._batches.answer("resample", request, _cancelled_with(context))

    def Observe(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """What seats know, as numbers."""
        return self._batches.answer("observe", request, _cancelled_with(context))

    def Convert(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Typed states for packed ones, and the reverse."""
        return self._batches.answer("convert", request, _cancelled_with(context))

    def Play(self, requests: Iterator[Buffer], context: grpc.ServicerContext) -> Iterator[list[Buffer]]:
        """The same calls on one stream; each response in pieces to be joined."""
        cancellation = _cancelled_with(context)
        for request in requests:
            yield self._batches.play(request, cancellation)


def _register(service: ServiceDescriptor, servicer: object, server: grpc.Server) -> None:
    """Register a service's methods, as generated code does, but without parsers."""
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        method.name: _HANDLERS[method.client_streaming](getattr(servicer, method.name)) for method in service.methods
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, methods),))
    server.add_registered_method_handlers(service.full_name, methods)


def _cancelled_with(context: grpc.ServicerContext) -> Cancellation:
    """What is cancelled when the call is, or when it has expired."""
    cancellation = Cancellation()
    if not context.add_callback(cancellation.cancel):
        cancellation.cancel()
    return cancellation
