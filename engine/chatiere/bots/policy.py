"""The game's playout policy as a bot. Each game's module in `games` names it."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, Decisions
from chatiere.bots.trials import policy_of


class PolicyBot(Bot):
    """A bot that takes the most likely action of the game's playout policy. Among equals, it takes the lowest id."""

    is_reproducible = True
    needs_worlds = True
    world_count = 1
    """The number of worlds over which the policy's probabilities are averaged."""

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        actions = decisions.legal_ids[decisions.legal_offsets[:-1]]
        rows = decisions.worth_a_search()
        for row, worlds in zip(rows, decisions.worlds(rows, self.world_count), strict=True):
            legal_ids = decisions.legal_ids[decisions.legal_offsets[row] : decisions.legal_offsets[row + 1]]
            actions[row] = legal_ids[policy_of(decisions.game, worlds, legal_ids).argmax()]
        return actions
