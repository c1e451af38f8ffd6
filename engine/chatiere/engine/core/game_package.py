"""The interface of every game package, engine/games/<game>."""

from typing import Protocol

from chatiere.engine.core.codec import Codec
from chatiere.engine.core.game import Game


class GamePackage(Protocol):
    """A game and its codec."""

    GAME: Game
    CODEC: Codec
