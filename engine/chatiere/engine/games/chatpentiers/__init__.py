"""Chatpentiers."""

from chatiere.engine.core.position import Game
from chatiere.engine.games.chatpentiers.codec import CODEC
from chatiere.engine.games.chatpentiers.kernel import OPERATIONS
from chatiere.engine.games.chatpentiers.text import DESCRIPTION

GAME = Game(OPERATIONS, DESCRIPTION)

__all__ = ["CODEC", "GAME"]
