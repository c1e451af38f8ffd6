"""Bots for Discat."""

from chatiere.bots.policy import PolicyBot


class LargestBot(PolicyBot):
    """A bot that plays by the game's playout policy."""

    title = "Largest group"
    description = "Plays large groups, and single cards that form no group."


BOTS = {"largest": LargestBot}
SECONDS = {"flat": 0.003, "ismcts": 0.005}
PUCT = None
