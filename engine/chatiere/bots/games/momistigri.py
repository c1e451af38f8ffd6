"""Bots for Momistigri."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, Decisions
from chatiere.engine.games.momistigri import state


class DiscardingBot(Bot):
    """A bot that discards the pair with the highest values whenever it can, and always uses the pair's effect.

    The bot gives away, hands out, names and swaps out the highest card possible. The Momistigri counts as the highest
    of all cards. In a swap, it takes the lowest card.
    """

    title = "Discarding"
    description = "Discards the pair of the highest values, and gets rid of its highest cards."
    is_reproducible = True

    def __init__(self) -> None:
        """Create a bot."""
        # The value of each dense id. The bot prefers higher values.
        self._values = np.zeros(engine.game("momistigri").num_distinct_actions)
        for kind in engine.game("momistigri").description.action_kinds:
            ids = np.arange(kind.first_id, kind.last_id + 1)
            self._values[ids] = _VALUES[kind.name](ids - kind.first_id)

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return decisions.best_actions(self._values[decisions.legal_ids])


def _value(kind: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.where(kind == state.MOMISTIGRI, 10.0, kind % state.VALUES + 1)


def _pair(number: NDArray[np.int_]) -> NDArray[np.float64]:
    # The pair of the kinds a <= b has the number b x (b + 1) / 2 + a.
    higher = (np.sqrt(8 * number + 1).astype(int) - 1) // 2
    return _value(higher) + _value(number - higher * (higher + 1) // 2)


# For each kind of action, a function that returns the values of actions from an array of their ids. The ids are counted
# from the kind's first id.
_VALUES: dict[str, Callable[[NDArray[np.int_]], NDArray[np.float64]]] = {
    "discard_pair": _pair,
    "pass_turn": np.zeros_like,
    "stop": np.zeros_like,
    "main": np.ones_like,
    "reverse": np.zeros_like,
    "name_card": _value,
    "give": lambda number: _value(number % state.KINDS),
    "hand_out": _value,
    "swap_out": _value,
    "swap_in": lambda number: -_value(number),
}


BOTS = {"discarding": DiscardingBot}
SECONDS = {"flat": 0.002, "ismcts": 0.004}
PUCT = 1.0
