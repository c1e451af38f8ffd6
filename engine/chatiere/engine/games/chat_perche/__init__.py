"""Chat perché."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.chat_perche.codec import CODEC
from chatiere.engine.games.chat_perche.kernel import OPERATIONS
from chatiere.engine.games.chat_perche.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["CODEC", "GAME"]
