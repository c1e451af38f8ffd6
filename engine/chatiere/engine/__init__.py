"""The compiled rules of the games, as a library that does not depend on gRPC or the service."""

from chatiere.engine.core.batch import Table
from chatiere.engine.core.codec import Codec
from chatiere.engine.core.columns import Columns, Restart
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.events import Event, EventLog
from chatiere.engine.core.game import Game
from chatiere.engine.core.game_package import GamePackage
from chatiere.engine.core.position import CHANCE_PLAYER, INVALID_PLAYER, TERMINAL_PLAYER, Position
from chatiere.engine.games import PACKAGES

_PACKAGES = {package.GAME.name: package for package in sorted(PACKAGES, key=lambda package: package.GAME.name)}


def games() -> tuple[Game, ...]:
    """Return all games, sorted by name."""
    return tuple(package.GAME for package in _PACKAGES.values())


def game(name: str) -> Game:
    """Return a game.

    Args:
        name: The name of the game, for example "discat".

    Raises:
        EngineError: UNKNOWN_GAME.
    """
    return _package(name).GAME


def codec(name: str) -> Codec:
    """Return the codec for the messages of a game's own protobuf file.

    Args:
        name: The name of the game, for example "discat".

    Raises:
        EngineError: UNKNOWN_GAME.
    """
    return _package(name).CODEC


def _package(name: str) -> GamePackage:
    try:
        return _PACKAGES[name]
    except KeyError:
        names = ", ".join(_PACKAGES)
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"unknown game {name!r}; known games: {names}",
            field="game",
            metadata={"games": names},
        ) from None


__all__ = [
    "CHANCE_PLAYER",
    "INVALID_PLAYER",
    "TERMINAL_PLAYER",
    "Codec",
    "Columns",
    "EngineError",
    "Event",
    "EventLog",
    "Game",
    "Position",
    "Reason",
    "Restart",
    "Table",
    "codec",
    "game",
    "games",
]
