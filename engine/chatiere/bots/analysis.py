"""Analysis of finished games. A tree search judges each decision, using only the knowledge of the seat that decided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Decisions
from chatiere.bots.hosting import decisions_at, judge, luck
from chatiere.bots.ismcts import IsmctsBot
from chatiere.engine import Position
from chatiere.engine.core.cancellation import Cancellation

SIMULATIONS = 1000
"""The default number of simulations for a decision."""
# The maximum number of simulations of all decisions that are searched together. Their trees use about 10 MB.
_AT_ONCE = 100_000


@dataclass(frozen=True)
class Tried:
    """A legal action, with the search's judgement of it."""

    id: int
    """The dense id of the action."""
    value: float | None
    """The return that the deciding seat can expect after the action, -1 … players - 1. None if the action was not
    tried."""
    visits: int
    """The number of simulations that tried the action."""


@dataclass(frozen=True)
class AnalysedDecision:
    """A decision, with the search's judgement of it."""

    ply: int
    """The number of decisions made before this decision."""
    seat: int
    """The seat that decided."""
    actions: Sequence[Tried]
    """The legal actions. The choice of `ismcts` comes first. The others are sorted by visits, values and dense ids."""
    played: Tried
    """The action that was played, one of `actions`."""

    @property
    def value(self) -> float:
        """The value of the best action: the return that the seat could expect before the decision."""
        value = self.actions[0].value
        # The best action has a value, because it is the most visited action or a sure win.
        assert value is not None
        return value

    @property
    def loss(self) -> float | None:
        """The value of the best action minus that of the played action, 0 or more. None if the latter was not tried."""
        return None if self.played.value is None else max(0.0, self.value - self.played.value)


class Analysis:
    """An analysis of decisions in a game. Decisions are added one by one.

    The analysis of a decision depends only on the seat's knowledge at that time, the seed, the ply and the number of
    simulations. Hidden information, later chance outcomes and other decisions have no effect on the analysis.
    """

    def __init__(self, simulations: int, seed: int, cancellation: Cancellation) -> None:
        """Create an analysis without decisions.

        Args:
            simulations: The number of simulations for each decision, 1 … 1,000,000.
            seed: The seed of the searches, 0 … 2**64 - 1.
            cancellation: A handle for other threads to cancel `run`.

        Raises:
            EngineError: INVALID_BATCH.
            ValueError: If a number is out of range.
        """
        self._bot = IsmctsBot(simulations=simulations)
        self._seed = seed
        self._cancellation = cancellation
        self._plies: list[int] = []
        self._played: list[int] = []
        self._decisions: list[Decisions] = []

    def add(self, position: Position, ply: int, played: int) -> None:
        """Add a decision: its position, and the legal action that was played there."""
        number = int(luck(self._seed, [0], [ply])[0])
        # Search forced decisions as well, because they also need a value.
        self._decisions.append(decisions_at(position, self._bot, number, hides_forced=True))
        self._plies.append(ply)
        self._played.append(played)

    def _rows_at_once(self) -> int:
        return max(1, _AT_ONCE // self._bot.budget)

    def run(self) -> list[AnalysedDecision]:
        """Run the search and return all decisions, in the order in which they were added. Raises Cancelled."""
        found = []
        for first in range(0, len(self._decisions), self._rows_at_once()):
            rows = slice(first, first + self._rows_at_once())
            decisions = _joined(self._decisions[rows], self._cancellation)
            judgement = judge(self._bot, decisions)
            visits = np.rint(judgement.shares * self._bot.budget).astype(np.int64)
            for row, (ply, played) in enumerate(zip(self._plies[rows], self._played[rows], strict=True)):
                legal = slice(decisions.legal_offsets[row], decisions.legal_offsets[row + 1])
                tried = _best_first(
                    int(judgement.actions[row]), decisions.legal_ids[legal], judgement.values[legal], visits[legal]
                )
                (own,) = (each for each in tried if each.id == played)
                found.append(AnalysedDecision(ply, int(decisions.actors[row]), tried, own))
        return found


def _joined(several: Sequence[Decisions], cancellation: Cancellation) -> Decisions:
    # Join several Decisions of one row each into one.
    return replace(
        several[0],
        actors=np.concatenate([each.actors for each in several]),
        legal_offsets=np.cumsum([0, *(len(each.legal_ids) for each in several)], dtype=np.uint32),
        legal_ids=np.concatenate([each.legal_ids for each in several]),
        luck=np.concatenate([each.luck for each in several]),
        drawn=np.concatenate([each.drawn for each in several]),
        cancellation=cancellation,
    )


def _best_first(
    best: int, ids: NDArray[np.uint16], values: NDArray[np.float64], visits: NDArray[np.int64]
) -> list[Tried]:
    order = np.lexsort((ids, -np.nan_to_num(values), -visits, ids != best))
    return [
        Tried(int(ids[place]), float(values[place]) if visits[place] else None, int(visits[place])) for place in order
    ]
