"""A game as text, for language models and other readers of text: the view of a seat, and its choice in words.

from chatiere import engine, text

position = engine.game("discat").new_game(2, seed=1)
print(text.describe(position, position.current_player()))
position.apply(text.read_action("play 15", position))
"""

from chatiere.text.describing import describe, legal_lines
from chatiere.text.legends import legend
from chatiere.text.obfuscation import Obfuscation
from chatiere.text.reading import UnclearActionError, read_action

__all__ = ["Obfuscation", "UnclearActionError", "describe", "legal_lines", "legend", "read_action"]
