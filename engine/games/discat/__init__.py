"""Discat."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.discat import codec
from chatiere.engine.games.discat.kernel import OPERATIONS
from chatiere.engine.games.discat.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["GAME", "codec"]
