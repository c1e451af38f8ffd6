"""The services over gRPC: each method hands its request to the handler of its name."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

from collections.abc import Iterator

import grpc

from chatiere import engine
from chatiere.engine.core.batch import Cancellation
from chatiere.service import handlers
from chatiere.service.batch import Batches
from chatiere.service.config import Settings
from chatiere.service.metrics import Metrics
from chatiere.v1 import batch_service_pb2, batch_service_pb2_grpc, game_service_pb2, game_service_pb2_grpc


class GameServicer(game_service_pb2_grpc.GameServiceServicer):
    """The methods; the interceptor takes their responses in wire format, and turns their errors into a status."""

    def __init__(self, metrics: Metrics) -> None:
        """`metrics`: where applied moves are counted."""
        self._moves = {game.name: metrics.moves_applied.labels(game.name) for game in engine.games()}

    def ListGames(self, request: game_service_pb2.ListGamesRequest, context: grpc.ServicerContext) -> bytes:
        """All games."""
        return handlers.list_games(request)

    def NewGame(self, request: game_service_pb2.NewGameRequest, context: grpc.ServicerContext) -> bytes:
        """Begin a game."""
        return handlers.new_game(request)

    def ListLegalActions(
        self, request: game_service_pb2.ListLegalActionsRequest, context: grpc.ServicerContext
    ) -> bytes:
        """What may be done at a state."""
        return handlers.list_legal_actions(request)

    def Apply(self, request: game_service_pb2.ApplyRequest, context: grpc.ServicerContext) -> bytes:
        """Make a move, or resolve a chance event."""
        response = handlers.apply(request)
        self._moves[request.state.WhichOneof("game")].inc()
        return response

    def GetScore(self, request: game_service_pb2.GetScoreRequest, context: grpc.ServicerContext) -> bytes:
        """The score at a state."""
        return handlers.get_score(request)

    def GetView(self, request: game_service_pb2.GetViewRequest, context: grpc.ServicerContext) -> bytes:
        """What a seat, or a spectator, may know of a state."""
        return handlers.get_view(request)

    def Resample(self, request: game_service_pb2.ResampleRequest, context: grpc.ServicerContext) -> bytes:
        """A state that a seat cannot tell from the given one."""
        return handlers.resample(request)


class BatchServicer(batch_service_pb2_grpc.BatchServiceServicer):
    """The methods of BatchService; they stop soon after their call is cancelled or has expired."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """`settings`: for the limits of batches. `metrics`: where they are counted."""
        self._batches = Batches(settings, metrics)

    def NewGames(
        self, request: batch_service_pb2.NewGamesRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.NewGamesResponse:
        """Begin games."""
        response = batch_service_pb2.NewGamesResponse()
        self._batches.new_games(request, response, _cancelled_with(context))
        return response

    def Step(
        self, request: batch_service_pb2.StepRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.StepResponse:
        """Make a move in each game."""
        response = batch_service_pb2.StepResponse()
        self._batches.step(request, response, _cancelled_with(context))
        return response

    def Playout(
        self, request: batch_service_pb2.PlayoutRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.PlayoutResponse:
        """Play each state to its end, many times, with random moves."""
        response = batch_service_pb2.PlayoutResponse()
        self._batches.playout(request, response, _cancelled_with(context))
        return response

    def Score(
        self, request: batch_service_pb2.ScoreRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.ScoreResponse:
        """The scores at states."""
        response = batch_service_pb2.ScoreResponse()
        self._batches.score(request, response, _cancelled_with(context))
        return response

    def Resample(
        self, request: batch_service_pb2.BatchServiceResampleRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.BatchServiceResampleResponse:
        """For each state one that a seat cannot tell from it."""
        response = batch_service_pb2.BatchServiceResampleResponse()
        self._batches.resample(request, response, _cancelled_with(context))
        return response

    def Observe(
        self, request: batch_service_pb2.ObserveRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.ObserveResponse:
        """What seats know, as numbers."""
        response = batch_service_pb2.ObserveResponse()
        self._batches.observe(request, response, _cancelled_with(context))
        return response

    def Convert(
        self, request: batch_service_pb2.ConvertRequest, context: grpc.ServicerContext
    ) -> batch_service_pb2.ConvertResponse:
        """Typed states for packed ones, and the reverse."""
        response = batch_service_pb2.ConvertResponse()
        self._batches.convert(request, response, _cancelled_with(context))
        return response

    def Play(
        self, requests: Iterator[batch_service_pb2.PlayRequest], context: grpc.ServicerContext
    ) -> Iterator[batch_service_pb2.PlayResponse]:
        """The same calls on one stream."""
        cancellation = _cancelled_with(context)
        for request in requests:
            response = batch_service_pb2.PlayResponse()
            self._batches.play(request, response, cancellation)
            yield response


def _cancelled_with(context: grpc.ServicerContext) -> Cancellation:
    """What is cancelled when the call is, or when it has expired."""
    cancellation = Cancellation()
    if not context.add_callback(cancellation.cancel):
        cancellation.cancel()
    return cancellation
