"""Momistigri."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.momistigri import codec
from chatiere.engine.games.momistigri.kernel import OPERATIONS
from chatiere.engine.games.momistigri.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["GAME", "codec"]
