"""GameService over gRPC: each method hands its request to the handler of its name."""

import grpc

from chatiere.service import handlers
from chatiere.service.metrics import Metrics
from chatiere.v1 import game_service_pb2, game_service_pb2_grpc


class GameServicer(game_service_pb2_grpc.GameServiceServicer):
    """The methods; their errors are turned into a status by the interceptor."""

    def __init__(self, metrics: Metrics) -> None:
        """`metrics`: where applied moves are counted."""
        self._metrics = metrics

    def ListGames(
        self, request: game_service_pb2.ListGamesRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.ListGamesResponse:
        """All games."""
        return handlers.list_games(request)

    def NewGame(
        self, request: game_service_pb2.NewGameRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.NewGameResponse:
        """Begin a game."""
        return handlers.new_game(request)

    def ListLegalActions(
        self, request: game_service_pb2.ListLegalActionsRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.ListLegalActionsResponse:
        """What may be done at a state."""
        return handlers.list_legal_actions(request)

    def Apply(
        self, request: game_service_pb2.ApplyRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.ApplyResponse:
        """Make a move, or resolve a chance event."""
        response = handlers.apply(request)
        self._metrics.moves_applied.labels(request.state.WhichOneof("game")).inc()
        return response

    def GetScore(
        self, request: game_service_pb2.GetScoreRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.GetScoreResponse:
        """The score at a state."""
        return handlers.get_score(request)

    def GetView(
        self, request: game_service_pb2.GetViewRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.GetViewResponse:
        """What a seat, or a spectator, may know of a state."""
        return handlers.get_view(request)

    def Resample(
        self, request: game_service_pb2.ResampleRequest, context: grpc.ServicerContext
    ) -> game_service_pb2.ResampleResponse:
        """A state that a seat cannot tell from the given one."""
        return handlers.resample(request)
