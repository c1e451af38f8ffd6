"""A bot that judges actions by random playouts of worlds."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Decisions, Judgement, SearchBot
from chatiere.engine import Table


class FlatBot(SearchBot):
    """A bot for any game that draws worlds, tries each legal action in each of them, and plays out at random.

    It chooses the action of the highest mean return for its seat, the one of the lowest dense id if there are several.
    """

    title = "Playouts"
    description = "Tries each legal action in many games that end at random, and takes the one that does best."
    is_reproducible = True

    def __init__(self, playouts: int) -> None:
        """Create a bot. `playouts`: for each decision, 1 or more, but at least one playout for each legal action."""
        self.budget = playouts

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge. What is the only legal action is not tried, unless that is hidden."""
        offsets, counts = decisions.legal_offsets, decisions.legal_counts()
        values = np.full(len(decisions.legal_ids), np.nan)
        for row in decisions.worth_a_search():
            values[offsets[row] : offsets[row + 1]] = self._mean_returns(decisions, row)
        actions = decisions.best_actions(np.nan_to_num(values, nan=0.0))
        return Judgement(actions, values, np.repeat(1 / counts, counts))

    def _mean_returns(self, decisions: Decisions, row: np.intp) -> NDArray[np.float64]:
        # One at a time, as the seed of a call is for all its items. Worlds of a world are those of the true state.
        found, _ = Table(decisions.game, decisions.players).evaluate(
            decisions.drawn[row].data,
            max(1, self.budget // int(decisions.legal_counts()[row])),
            1,
            seed=int(decisions.luck[row]),
            cancellation=decisions.cancellation,
        )
        return np.frombuffer(found.mean_returns)
