"""Bots for Chat perché."""

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, Decisions
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.games.chat_perche import state

# The types of cards that affect the player's own cats: a cat falls, a cat moves, or one or two cats move.
_OWN_CARDS = [3, *range(5, 14), *range(23, 32)]


class ClimberBot(Bot):
    """A bot that looks one action ahead. It maximises the number of its own cats in the tree minus the opponent's.

    It moves its own cats into the tree. It breaks branches that hold more cats of the opponent, and avoids moves that
    might break branches with more of the bot's own cats.
    """

    title = "Climber"
    description = "Looks one action ahead, and counts how many more cats than its opponent it would have in the tree."
    is_reproducible = True

    needs_observations = True

    def __init__(self) -> None:
        """Create a bot."""
        self._layout = ObservationLayout(engine.game("chat_perche").description)

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        ids = decisions.legal_ids.astype(np.intp)
        rows = np.repeat(np.arange(len(decisions)), decisions.legal_counts())
        seen = self._layout.arrays(decisions.observations)
        values = np.zeros(len(ids))
        moves = np.flatnonzero((ids >= state.FIRST_MOVE_ID) & (ids < state.STOP_ID))
        start, end = np.divmod(ids[moves] - state.FIRST_MOVE_ID, state.SPACES)
        own = seen["card"][:, _OWN_CARDS].max(axis=1).astype(np.intp)
        values[moves] = _lead_after(seen, rows[moves], start, end, 2 * own[rows[moves]] - 1)
        birds = np.flatnonzero(ids >= state.FIRST_BIRD_ID)
        beside = np.full(len(birds), state.SPACES)
        end = ids[birds] - state.FIRST_BIRD_ID + state.TRUNK_SPACES
        values[birds] = _lead_after(seen, rows[birds], beside, end, np.zeros(len(birds), np.intp))
        return decisions.best_actions(values)


def _lead_after(
    seen: dict[str, NDArray[np.uint8]],
    rows: NDArray[np.intp],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    side: NDArray[np.intp],
) -> NDArray[np.float64]:
    # Return the expected change in the lead when an animal moves from start to end. `side` is 1 for the bot's own cat,
    # -1 for the other seat's cat, and 0 for a bird.
    cats = seen["own_cats"].astype(np.intp) - seen["other_cats"]
    on_branches = cats[:, state.TRUNK_SPACES :].reshape(len(cats), state.BRANCHES, state.BRANCH_SPACES).sum(axis=2)
    climbs = end >= state.TRUNK_SPACES
    branch = np.where(climbs, (end - state.TRUNK_SPACES) // state.BRANCH_SPACES, 0)
    stays = (
        (start >= state.TRUNK_SPACES)
        & (start < state.SPACES)
        & ((start - state.TRUNK_SPACES) // state.BRANCH_SPACES == branch)
    )
    lead = on_branches[rows, branch] + np.where(stays, 0, side)
    animals = seen["branches.animals"][rows, branch] + np.where(stays, 0, 1)
    value = seen["branches.value"][rows, branch]
    # An unknown token is one of the tokens that the other seat has not shown. The token's value is at least the largest
    # number of animals that the branch has held, because the branch has not broken.
    tokens = seen["tokens.other"][rows].astype(np.float64)
    tokens *= np.arange(1, 5) >= seen["branches.most_animals"][rows, branch, None]
    weak = (tokens * (np.arange(1, 5) < animals[:, None])).sum(axis=1) / np.maximum(tokens.sum(axis=1), 1)
    breaks = np.where(climbs, np.where(value > 0, value < animals, weak), 0)
    found: NDArray[np.float64] = np.where(start == state.SPACES, side, 0) - breaks * lead
    return found


BOTS = {"climber": ClimberBot}
SECONDS = {"flat": 0.003, "ismcts": 0.006}
PUCT = 1.4
