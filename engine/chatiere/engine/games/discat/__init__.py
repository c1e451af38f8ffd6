"""Discat."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.discat.codec import CODEC
from chatiere.engine.games.discat.kernel import OPERATIONS
from chatiere.engine.games.discat.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["CODEC", "GAME"]
