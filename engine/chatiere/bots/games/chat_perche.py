"""Bots for Chat perché."""

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, Decisions
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.games.chat_perche.words import IDS, SIZES

# Types of cards about the own cats: one falls, one moves, one or two move.
_OWN_CARDS = [3, *range(5, 14), *range(23, 32)]


class ClimberBot(Bot):
    """A bot that looks one action ahead, at how many more cats than the other seat it would have in the tree.

    It brings its cats up, keeps them off branches that might break, and breaks those that hold more of the other's.
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
        moves = np.flatnonzero((ids >= IDS.first_move) & (ids < IDS.stop))
        start, end = np.divmod(ids[moves] - IDS.first_move, SIZES.spaces)
        own = seen["card"][:, _OWN_CARDS].max(axis=1).astype(np.intp)
        values[moves] = _lead_after(seen, rows[moves], start, end, 2 * own[rows[moves]] - 1)
        birds = np.flatnonzero(ids >= IDS.first_bird)
        beside = np.full(len(birds), SIZES.spaces)
        end = ids[birds] - IDS.first_bird + SIZES.trunk_spaces
        values[birds] = _lead_after(seen, rows[birds], beside, end, np.zeros(len(birds), np.intp))
        return decisions.best_actions(values)


def _lead_after(
    seen: dict[str, NDArray[np.uint8]],
    rows: NDArray[np.intp],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    side: NDArray[np.intp],
) -> NDArray[np.float64]:
    # How much an animal that goes from start to end is expected to add to the lead. `side`: 1 for an own cat, -1 for
    # the other seat's, 0 for a bird.
    cats = seen["own_cats"].astype(np.intp) - seen["other_cats"]
    on_branches = cats[:, SIZES.trunk_spaces :].reshape(len(cats), SIZES.branches, SIZES.branch_spaces).sum(axis=2)
    climbs = end >= SIZES.trunk_spaces
    branch = np.where(climbs, (end - SIZES.trunk_spaces) // SIZES.branch_spaces, 0)
    stays = (
        (start >= SIZES.trunk_spaces)
        & (start < SIZES.spaces)
        & ((start - SIZES.trunk_spaces) // SIZES.branch_spaces == branch)
    )
    lead = on_branches[rows, branch] + np.where(stays, 0, side)
    animals = seen["branches.animals"][rows, branch] + np.where(stays, 0, 1)
    value = seen["branches.value"][rows, branch]
    # An unknown token is one of those that the other seat has not shown and that bore the most animals so far.
    tokens = seen["tokens.other"][rows].astype(np.float64)
    tokens *= np.arange(1, 5) >= seen["branches.most_animals"][rows, branch, None]
    weak = (tokens * (np.arange(1, 5) < animals[:, None])).sum(axis=1) / np.maximum(tokens.sum(axis=1), 1)
    breaks = np.where(climbs, np.where(value > 0, value < animals, weak), 0)
    found: NDArray[np.float64] = np.where(start == SIZES.spaces, side, 0) - breaks * lead
    return found


BOTS = {"climber": ClimberBot}
SECONDS = {"flat": 0.003, "ismcts": 0.006}
