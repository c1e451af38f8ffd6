"""Bots for Momistigri."""

from chatiere.bots.policy import PolicyBot


class DiscardingBot(PolicyBot):
    """A bot that plays by the game's playout policy."""

    title = "Discarding"
    description = "Discards the pair of the highest values, and gets rid of its highest cards."


BOTS = {"discarding": DiscardingBot}
SECONDS = {"flat": 0.002, "ismcts": 0.004}
PUCT = 1.0
