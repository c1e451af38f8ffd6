"""A bot that judges actions by random playouts of worlds."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, Decisions
from chatiere.engine import Table


class FlatBot(Bot):
    """A bot for any game that draws worlds, tries each legal action in each of them, and plays out at random.

    It chooses the action of the highest mean return for its seat, the one of the lowest dense id if there are several.
    """

    needs_worlds = True

    def __init__(self, playouts: int) -> None:
        """Create a bot. `playouts`: for each decision, 1 or more, but at least one playout for each legal action."""
        self.playouts = playouts

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        table = Table(decisions.game, decisions.players)
        offsets, counts = decisions.legal_offsets, decisions.legal_counts()
        values = np.zeros(len(decisions.legal_ids))
        for row in np.flatnonzero(counts > 1):
            # One at a time, as the seed of a call is for all its items. Worlds of a world are those of the true state.
            worlds = max(1, self.playouts // int(counts[row]))
            judged, _ = table.evaluate(decisions.drawn[row].data, worlds, 1, seed=int(decisions.luck[row]))
            values[offsets[row] : offsets[row + 1]] = np.frombuffer(judged.mean_returns)
        return decisions.best_actions(values)
