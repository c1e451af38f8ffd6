"""The methods of the services, by name: each hands its request to the handler of its name."""

from collections.abc import Callable

from chatiere import engine
from chatiere.service.calls import game_service
from chatiere.service.guards.metrics import Metrics

Handler = Callable[[bytes], bytes]


class GameServicer:
    """The methods of GameService, requests and responses in wire format; each takes some microseconds."""

    def __init__(self, metrics: Metrics) -> None:
        """`metrics`: where applied moves are counted."""
        self._moves = {game: metrics.moves_applied.labels(game.name) for game in engine.games()}

    def ListGames(self, request: bytes) -> bytes:
        """All games."""
        return game_service.list_games(request)

    def NewGame(self, request: bytes) -> bytes:
        """Begin a game."""
        return game_service.new_game(request)

    def ListLegalActions(self, request: bytes) -> bytes:
        """What may be done at a state."""
        return game_service.list_legal_actions(request)

    def Apply(self, request: bytes) -> bytes:
        """Make a move, or resolve a chance event."""
        response, game = game_service.apply(request)
        self._moves[game].inc()
        return response

    def GetScore(self, request: bytes) -> bytes:
        """The score at a state."""
        return game_service.get_score(request)

    def GetView(self, request: bytes) -> bytes:
        """What a seat, or a spectator, may know of a state."""
        return game_service.get_view(request)

    def Resample(self, request: bytes) -> bytes:
        """A state that a seat cannot tell from the given one."""
        return game_service.resample(request)
