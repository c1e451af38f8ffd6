"""Chat Cartonne."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.chat_cartonne.codec import CODEC
from chatiere.engine.games.chat_cartonne.kernel import OPERATIONS
from chatiere.engine.games.chat_cartonne.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["CODEC", "GAME"]
