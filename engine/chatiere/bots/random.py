"""A bot that plays at random."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, Decisions


class RandomBot(Bot):
    """A bot for any game that chooses uniformly among the legal actions."""

    title = "Random"
    description = "Plays any legal action, each as often as the others."
    is_reproducible = True

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return decisions.random_actions()
