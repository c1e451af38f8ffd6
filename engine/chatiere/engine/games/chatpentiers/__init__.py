"""Chatpentiers."""

from chatiere.engine.core.game import Game

from .codec import CODEC
from .description import DESCRIPTION
from .kernel import OPERATIONS

GAME = Game(OPERATIONS, DESCRIPTION, CODEC)

__all__ = ["CODEC", "GAME"]
