"""Bots for Chat Cartonne."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, Decisions
from chatiere.bots.trials import policy_of


class BuilderBot(Bot):
    """A bot that chooses the most likely action of the game's playout policy. Among equals, it chooses the lowest id.

    The policy uses only facts known to the seat, so the choice is the same in every world.
    """

    title = "Builder"
    description = "Draws, forms joints, preferably with its own boxes, and lays a cat unless its box would cost points."
    is_reproducible = True
    needs_worlds = True

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        if not len(decisions):
            return decisions.legal_ids
        worlds = decisions.worlds(np.arange(len(decisions)), 1)
        legal = np.split(decisions.legal_ids, decisions.legal_offsets[1:-1])
        found = [policy_of(decisions.game, *each) for each in zip(worlds, legal, strict=True)]
        return decisions.best_actions(np.concatenate(found))


BOTS = {"builder": BuilderBot}
SECONDS = {"flat": 0.002, "ismcts": 0.004}
PUCT = 1.0
