"""A bot that judges actions by random playouts of worlds."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, Decisions
from chatiere.engine import Columns, Table
from chatiere.engine.core.choices import scramble

# Playouts at a time: enough to keep the engine busy, few enough for a few MiB of states.
_AT_ONCE = 4096
_STATES_ALONE = Columns(legal=False, scores=False, observations=False)


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
        offsets = decisions.legal_offsets
        values = np.zeros(len(decisions.legal_ids))
        for row in np.flatnonzero(decisions.legal_counts() > 1):
            values[offsets[row] : offsets[row + 1]] = self._returns(decisions, row)
        return decisions.best_actions(values)

    def _returns(self, decisions: Decisions, row: np.intp) -> NDArray[np.float64]:
        # The summed returns of a decision's legal actions.
        legal = decisions.legal_ids[decisions.legal_offsets[row] : decisions.legal_offsets[row + 1]]
        table = Table(decisions.game, decisions.players)
        seed = int(scramble(~decisions.luck[row, None])[0])
        worlds, at_once = max(1, self.playouts // len(legal)), max(1, _AT_ONCE // len(legal))
        sums = np.zeros(len(legal))
        for first in range(0, worlds, at_once):
            drawn = decisions.worlds([row], min(at_once, worlds - first), first)[0]
            states, moves = np.repeat(drawn, len(legal), axis=0), np.tile(legal, len(drawn)).astype("<u2").tobytes()
            stepped, _ = table.step(states.data, moves, columns=_STATES_ALONE)
            played, _ = table.playout(stepped.states, 1, seed=seed, first_game_number=first * len(legal))
            returns = np.frombuffer(played.mean_returns).reshape(len(drawn), len(legal), decisions.players)
            sums += returns[:, :, decisions.actors[row]].sum(axis=0)
        return sums
