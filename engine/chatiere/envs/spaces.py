"""Gymnasium's spaces for a seat's observations. Every environment uses the same spaces."""

import numpy as np
from gymnasium.spaces import Box, Dict

from chatiere.engine import Game
from chatiere.engine.core.observation import ObservationLayout


# Quote the type, because Box accepts no type argument before Gymnasium 1.4.
def observation_space(game: Game) -> "Box[np.uint8]":
    """Return the space of observations, uint8 (observation_length,), each number from 0 to its largest value."""
    largest = ObservationLayout(game.description).largest
    return Box(np.zeros_like(largest), largest, dtype=np.uint8)


def masked_observation_space(game: Game) -> Dict:
    """Return the space of dicts with `observation`, as above, and `action_mask`, int8 (num_distinct_actions,)."""
    mask = Box(0, 1, (game.num_distinct_actions,), np.int8)
    return Dict(observation=observation_space(game), action_mask=mask)
