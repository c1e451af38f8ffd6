from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.game import Game

def policy_of(game: Game, worlds: NDArray[np.uint8], legal_ids: NDArray[np.uint16]) -> NDArray[np.int64]: ...
def sums_of_returns(
    game: Game,
    worlds: NDArray[np.uint8],
    legal_ids: NDArray[np.uint16],
    seed: SupportsIndex,
    first: SupportsIndex,
    cancellation: Cancellation | None = None,
) -> NDArray[np.float64]: ...
