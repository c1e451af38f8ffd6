"""Bots for Chat Cartonne."""

from chatiere.bots.policy import PolicyBot


class BuilderBot(PolicyBot):
    """A bot that plays by the game's playout policy."""

    title = "Builder"
    description = "Draws, forms joints, preferably with its own boxes, and lays a cat unless its box would cost points."


BOTS = {"builder": BuilderBot}
SECONDS = {"flat": 0.002, "ismcts": 0.004}
PUCT = 1.0
