"""Choices among the legal actions of many decisions, as NumPy arrays.

Everywhere `legal_offsets`, uint32 (n + 1,), and `legal_ids`, uint16 (legal_offsets[n],), list them: decision i has the
legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]], one or more, ascending.
"""

import numpy as np
from numpy.typing import NDArray


def legal_mask(legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], num_actions: int) -> NDArray[np.bool_]:
    """Return a mask that is True for legal actions: bool (n, num_actions)."""
    n = len(legal_offsets) - 1
    mask = np.zeros((n, num_actions), np.bool_)
    mask[np.repeat(np.arange(n), np.diff(legal_offsets)), legal_ids] = True
    return mask


def random_actions(
    legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], luck: NDArray[np.uint64]
) -> NDArray[np.uint16]:
    """Choose a legal action for each decision by its random number in `luck` (n,), uniformly to within 2**-32."""
    place = (luck >> np.uint64(32)) * np.diff(legal_offsets) >> np.uint64(32)
    return legal_ids.take(legal_offsets[:-1] + place)


def best_actions(
    legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], values: NDArray[np.generic]
) -> NDArray[np.uint16]:
    """Return the legal action of the highest value for each decision, the first of equal ones: uint16 (n,).

    `values`: one for each of `legal_ids`.
    """
    first = legal_offsets[:-1]
    best = np.maximum.reduceat(values, first)
    places = np.flatnonzero(values == np.repeat(best, np.diff(legal_offsets)))
    return legal_ids[places[np.searchsorted(places, first)]]


def scramble(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a step of SplitMix64 (https://prng.di.unimi.it/splitmix64.c) for each word; each result has one word."""
    # Unsigned numbers wrap around.
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
