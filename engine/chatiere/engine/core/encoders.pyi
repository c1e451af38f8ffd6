from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

MAX_SIDE: Final[int]
OUTSIDE: Final[np.dtype[np.void]]
RUN: Final[np.dtype[np.void]]
SPAN: Final[np.dtype[np.void]]
TERM: Final[np.dtype[np.void]]

@disjoint_base
class Encoder:
    def __init__(
        self,
        largest: NDArray[np.uint8],
        num_features: int,
        most: int,
        packed_size: int,
        scaled: NDArray[np.float32],
        sparse: NDArray[np.void],
        runs: NDArray[np.void],
        flags: NDArray[np.void],
        counts: NDArray[np.void],
        categories: NDArray[np.void],
        bits: NDArray[np.void],
    ) -> None: ...
    def encode(self, observations: NDArray[np.uint8], out: NDArray[Any]) -> None: ...
    def nonzero(self, observations: NDArray[np.uint8], out: NDArray[np.uint8]) -> None: ...

@disjoint_base
class Cropper:
    def __init__(
        self,
        largest: NDArray[np.uint8],
        side: int,
        window: int,
        boards: NDArray[np.void],
        rest: NDArray[np.void],
        outside: NDArray[np.void],
        corner: int,
        length: int,
    ) -> None: ...
    def crop(self, observations: NDArray[np.uint8], out: NDArray[np.uint8]) -> None: ...
