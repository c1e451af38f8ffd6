from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

_Mask = TypeVar("_Mask", bound=NDArray[np.bool_] | NDArray[np.uint8])

@overload
def legal_mask(
    legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], num_actions: int, out: None = None
) -> NDArray[np.bool_]: ...
@overload
def legal_mask(
    legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], num_actions: int, out: _Mask
) -> _Mask: ...
def random_actions(
    legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], luck: NDArray[np.uint64]
) -> NDArray[np.uint16]: ...
def random_masked_actions(
    mask: NDArray[np.bool_] | NDArray[np.uint8], luck: NDArray[np.uint64], num_actions: int
) -> NDArray[np.uint16]: ...
def best_actions(
    legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16], values: NDArray[np.generic]
) -> NDArray[np.uint16]: ...
def scramble(words: NDArray[np.uint64]) -> NDArray[np.uint64]: ...
def luck_of(seed: int, game_numbers: NDArray[np.uint64], decisions: NDArray[np.uint32]) -> NDArray[np.uint64]: ...
