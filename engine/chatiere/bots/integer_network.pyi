from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

FIELD: Final[np.dtype[np.void]]
MAX_FIRST: Final[int]
MAX_SECOND: Final[int]
MAX_SLOTS: Final[int]
ONE: Final[int]
OUTPUT_ONE: Final[int]
OWN_ROW: Final[int]
PLAY: Final[int]
RUN: Final[np.dtype[np.void]]
SLOT: Final[int]

@disjoint_base
class IntegerNetwork:
    def __init__(
        self,
        fields: NDArray[np.void],
        places: NDArray[np.uint32],
        hand: tuple[int, int],
        columns: NDArray[np.int16],
        first_bias: NDArray[np.int32],
        second: NDArray[np.int16],
        second_bias: NDArray[np.int32],
        runs: NDArray[np.void],
        rows: NDArray[np.int16],
        rows_bias: NDArray[np.int32],
        values: NDArray[np.int16],
        values_bias: NDArray[np.int32],
        num_actions: int,
    ) -> None: ...
    def evaluate(
        self, observations: NDArray[np.uint8], legal_offsets: NDArray[np.uint32], legal_ids: NDArray[np.uint16]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
