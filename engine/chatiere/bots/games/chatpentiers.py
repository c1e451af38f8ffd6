"""Bots for Chatpentiers."""

from chatiere.bots.policy import PolicyBot


class FittingBot(PolicyBot):
    """A bot that plays by the game's playout policy."""

    title = "Fitting"
    description = "Plays its highest card of the colour led, and takes the card that brings its board the most points."


BOTS = {"fitting": FittingBot}
SECONDS = {"flat": 0.005, "ismcts": 0.008}
PUCT = None
