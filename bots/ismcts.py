"""The bot `ismcts`: information-set Monte Carlo tree search, without any knowledge of the game beyond its rules."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.search import read_exploration, read_simulations, search
from chatiere.engine import Game

# UCB1's constant of exploration, for returns that are scaled to 0 … 1.
EXPLORATION = 0.7
# Not more nodes than this are kept at a time: a few hundred megabytes.
_MOST_NODES = 2_000_000


class Decisions(Protocol):
    """The n positions in which a bot has to choose; `legal_offsets` and `legal_ids` are those of a batch."""

    game: Game
    players: int
    legal_offsets: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]
    luck: NDArray[np.uint64]

    def worlds(self, rows: NDArray[np.intp], count: int, first: int) -> NDArray[np.uint8]:
        """Return worlds `first` … `first + count - 1` of these positions, uint8 (len(rows), count, packed_size)."""


class Ismcts:
    """Chooses the action that a search has visited most; of equals the one with the best value, then the lowest."""

    def __init__(self, simulations: int = 1000, exploration: float = EXPLORATION) -> None:
        """Initialize the bot.

        `simulations`: their number for a decision, 1 … 1,000,000. `exploration`: the constant of UCB1, from 0 on.

        Raises EngineError: INVALID_BATCH.
        """
        self.simulations = read_simulations(simulations)
        self.exploration = read_exploration(exploration)

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """Return an action for each position, uint16 (n,). What is the only legal action is not searched."""
        offsets = decisions.legal_offsets
        actions = decisions.legal_ids[offsets[:-1]]
        rows = np.flatnonzero(np.diff(offsets) > 1)
        at_once = max(1, _MOST_NODES // self.simulations)
        for some in (rows[first : first + at_once] for first in range(0, len(rows), at_once)):
            actions[some] = self._search(decisions, some)
        return actions

    def _search(self, decisions: Decisions, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        drawn = 0

        def worlds(count: int) -> NDArray[np.uint8]:
            nonlocal drawn
            drawn += count
            return decisions.worlds(rows, count, drawn - count)

        found = search(
            decisions.game,
            decisions.players,
            decisions.luck[rows],
            worlds,
            simulations=self.simulations,
            exploration=self.exploration,
        )
        trees = np.repeat(np.arange(len(rows)), np.diff(found.legal_offsets))
        values = np.nan_to_num(found.values, nan=-1.0)
        # Each tree's actions stay together, the best of them first.
        best_first = np.lexsort((found.legal_ids, -values, -found.visits.astype(np.int64), trees))
        chosen: NDArray[np.uint16] = found.legal_ids[best_first[found.legal_offsets[:-1]]]
        return chosen
