"""Momistigri."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.momistigri.codec import CODEC
from chatiere.engine.games.momistigri.kernel import OPERATIONS
from chatiere.engine.games.momistigri.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["CODEC", "GAME"]
