"""The rules of the games, compiled: a library of its own, which knows nothing of gRPC or the service."""

from chatiere.engine.core.batch import Columns, Restart, Table
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.position import CHANCE_PLAYER, INVALID_PLAYER, TERMINAL_PLAYER, Event, Game, Position
from chatiere.engine.core.room import Codec, Room
from chatiere.engine.games import ROOMS

_ROOMS = {room.GAME.name: room for room in sorted(ROOMS, key=lambda room: room.GAME.name)}


def games() -> tuple[Game, ...]:
    """All games, by name."""
    return tuple(room.GAME for room in _ROOMS.values())


def game(name: str) -> Game:
    """The game of that name. Raises EngineError: UNKNOWN_GAME."""
    return _room(name).GAME


def codec(name: str) -> Codec:
    """What fills and reads the message objects of that game's own protobuf file.

    Raises EngineError: UNKNOWN_GAME.
    """
    return _room(name).codec


def _room(name: str) -> Room:
    try:
        return _ROOMS[name]
    except KeyError:
        names = ", ".join(_ROOMS)
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"there is no game {name!r}; there are: {names}",
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
    "Game",
    "Position",
    "Reason",
    "Restart",
    "Table",
    "codec",
    "game",
    "games",
]
