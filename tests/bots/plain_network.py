"""A network in integers in plain NumPy, as net.h describes it, one position at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.network_file import NetworkFile, Weights
from chatiere.engine.core.description import ObservationKind
from chatiere.engine.core.observation import ObservationLayout


def inputs_of(file: NetworkFile, observation: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how often an observation adds each column, by the game's description alone."""
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
        start, row, group = weights.runs[weights.runs["first"] <= action].tolist()[-1]
        place = row + action - start
        logits.append(int(weights.rows[place] @ groups[group] + weights.rows_bias[place]))
    return logits, (weights.values @ groups[0] + weights.values_bias).tolist()
