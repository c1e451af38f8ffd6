"""Chat perché."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.chat_perche import codec
from chatiere.engine.games.chat_perche.kernel import OPERATIONS
from chatiere.engine.games.chat_perche.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["GAME", "codec"]
