"""The compiled rules of the games: a library of its own, independent of gRPC and the service."""

from chatiere.engine.core.batch import Table
from chatiere.engine.core.codec import Codec
from chatiere.engine.core.columns import Columns, Restart
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.events import Event, EventLog
from chatiere.engine.core.position import CHANCE_PLAYER, INVALID_PLAYER, TERMINAL_PLAYER, Game, Position
from chatiere.engine.core.room import Room
from chatiere.engine.games import ROOMS

_ROOMS = {room.GAME.name: room for room in sorted(ROOMS, key=lambda room: room.GAME.name)}


def games() -> tuple[Game, ...]:
    """Return all games, sorted by name."""
    return tuple(room.GAME for room in _ROOMS.values())


def game(name: str) -> Game:
    """Return the game with this name. Raises EngineError: UNKNOWN_GAME."""
    return _room(name).GAME


def codec(name: str) -> Codec:
    """Return the codec for the messages of this game's own protobuf file. Raises EngineError: UNKNOWN_GAME."""
    return _room(name).CODEC


def _room(name: str) -> Room:
    try:
        return _ROOMS[name]
    except KeyError:
        names = ", ".join(_ROOMS)
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
