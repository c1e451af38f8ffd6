"""A bot that plays at random."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, Decisions


class RandomBot(Bot):
    """A bot for any game that chooses uniformly among the legal actions."""

    title = "Random"
    description = "Chooses among the legal actions with equal probability."
    is_reproducible = True

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return decisions.random_actions()
