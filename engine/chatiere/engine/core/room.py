"""The interface of every room, engine/games/<game>."""

from typing import Protocol

from chatiere.engine.core.codec import Codec
from chatiere.engine.core.position import Game


class Room(Protocol):
    """A game and its codec."""

    GAME: Game
    CODEC: Codec
