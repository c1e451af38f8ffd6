"""Mistakes of bots: actions are drawn by their estimated values, so that small mistakes are the most frequent.

The computation uses only integers, comparisons and the basic operations of IEEE 754. These operations are the same on
every processor.
"""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Decisions
from chatiere.engine.core.choices import scramble

MAX_TEMPERATURE = 1000
# For 0 to 3 quarters, 2**16 × 2**(-quarters / 4), rounded.
_WEIGHTS = np.array([65536, 55109, 46341, 38968])
# The number of quarters from which the weight is 0, because a weight loses one bit every four quarters.
_NEVER = 68
# The number of the random stream for mistakes. Exploration (`chatiere.arena.matches`) and worlds have other streams.
_OF_MISTAKES = np.uint64(3)


def read_temperature(value: int) -> int:
    """Return a temperature, 0 … MAX_TEMPERATURE. Raises ValueError."""
    if not 0 <= value <= MAX_TEMPERATURE:
        raise ValueError(f"temperature must be from 0 to {MAX_TEMPERATURE}, not {value}")
    return value


def draw_actions(
    decisions: Decisions, actions: NDArray[np.uint16], values: NDArray[np.float64], temperature: int
) -> NDArray[np.uint16]:
    """Draw an action for each decision, with a probability that falls with the action's loss.

    The loss of an action is the difference between its value and the best value. The probability is halved for each
    `temperature` hundredths of a return in the loss. Losses are rounded down to quarters of the temperature. Actions
    whose probability would be halved 17 times or more are not drawn.

    Args:
        decisions: The decisions.
        actions: uint16 (n,), the best actions. They are returned if the temperature is 0, and for decisions where no
            action has a value.
        values: The values of the legal actions, as returns. An action with the value NaN is not drawn.
        temperature: 0 … MAX_TEMPERATURE, in hundredths of a return.

    Returns:
        uint16 (n,).
    """
    if temperature == 0:
        return actions
    offsets, counts = decisions.legal_offsets.astype(np.intp), decisions.legal_counts()
    losses = np.repeat(np.fmax.reduceat(values, offsets[:-1]), counts) - values
    quarters = np.minimum(np.nan_to_num(losses * 400 / temperature, nan=_NEVER), _NEVER).astype(np.int64)
    sums = np.concatenate([[0], (_WEIGHTS[quarters % 4] >> quarters // 4).cumsum()])
    starts, totals = sums[offsets[:-1]], np.diff(sums[offsets])
    luck = (scramble(decisions.luck + _OF_MISTAKES) >> np.uint64(32)).astype(np.int64)
    places = np.searchsorted(sums[1:], starts + (luck * totals >> 32), side="right")
    return np.where(totals > 0, decisions.legal_ids[np.minimum(places, len(values) - 1)], actions)
