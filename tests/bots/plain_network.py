"""Integer networks as described by net.h, evaluated in plain NumPy one position at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.integer_network import OWN_ROW, SLOT
from chatiere.bots.network_file import NetworkFile, Weights
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.core.observation_parts import ObservationKind


def inputs_of(file: NetworkFile, observation: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how often an observation adds each column. This is computed only from the game's description."""
    description = file.game.description
    layout = ObservationLayout(description)
    arrays, planes = layout.arrays(observation), layout.planes(observation)
    found: list[NDArray[Any]] = []
    for field in (field for part in description.observation for field in part.fields):
        if field.kind == ObservationKind.COUNT:
            found.append(arrays[field.name].ravel())
        elif field.kind == ObservationKind.CATEGORY:
            found.append(planes[field.name][..., 1:].ravel())
        else:
            found.append(planes[field.name].ravel())
    return np.concatenate(found).astype(np.int64)


def rows_of(file: NetworkFile, observation: NDArray[np.uint8], run: Any, action: int) -> list[int]:
    """Return the numbers of the rows that are added up for the logit of an action."""
    first, row, _, kind, size = run.tolist()
    action -= first
    if kind == OWN_ROW:
        return [row + action]
    held = ObservationLayout(file.game.description).arrays(observation)["own_hand"]
    hand = dict(enumerate(np.flatnonzero(held)[:8].tolist()))
    if kind == SLOT:
        return [row + hand[action]] if action in hand else []
    top, mask = divmod(action, 2 ** (size - 1))
    beside = [slot for slot in range(size) if slot != top]
    others = [slot for bit, slot in enumerate(beside) if mask >> bit & 1]
    cards = [row + hand[top]] if top in hand else []
    cards += [row + len(held) + hand[slot] for slot in others if slot in hand]
    return [*cards, row + 2 * len(held) + len(others)]


def evaluate(
    file: NetworkFile, observation: NDArray[np.uint8], legal: NDArray[np.uint16]
) -> tuple[list[int], list[int]]:
    """Return the logits of the legal actions and the values."""
    wide: list[Any] = [array if array.dtype.names else array.astype(np.int64) for array in file.weights]
    weights = Weights(*wide)
    first = np.clip(inputs_of(file, observation) @ weights.columns + weights.first_bias >> 5, 0, 127)
    groups = np.clip(weights.second @ first + weights.second_bias >> 12, 0, 127)
    logits = []
    for action in legal.tolist():
        run = weights.runs[weights.runs["first"] <= action][-1]
        added = rows_of(file, observation, run, action)
        logits.append(int(sum(weights.rows[row] @ groups[run["group"]] + weights.rows_bias[row] for row in added)))
    return logits, (weights.values @ groups[0] + weights.values_bias).tolist()
