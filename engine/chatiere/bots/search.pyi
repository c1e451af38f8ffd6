from collections.abc import Callable
from typing import Any, Final, NamedTuple, SupportsIndex

import numpy as np
from _typeshed import ReadableBuffer
from numpy.typing import ArrayLike, NDArray

from chatiere.bots.integer_network import IntegerNetwork
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.game import Game

MAX_SIMULATIONS: Final[int]
MAX_NODES: Final[int]

class Leaves(NamedTuple):
    observations: NDArray[np.uint8]
    actors: NDArray[np.int8]
    legal_offsets: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]

class SearchColumns(NamedTuple):
    legal_offsets: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]
    visits: NDArray[np.uint32]
    values: NDArray[np.float64]
    moves: NDArray[np.uint64]

def sure_win(players: int) -> float: ...
def read_exploration(value: Any) -> float: ...
def read_noise(value: Any) -> float: ...
def read_simulations(value: Any) -> int: ...
def search(
    game: Game,
    players: SupportsIndex,
    seeds: ReadableBuffer | NDArray[np.uint64],
    worlds: Callable[[int], ReadableBuffer | NDArray[np.uint8]],
    *,
    simulations: SupportsIndex,
    exploration: float,
    advised: bool = False,
    noise: float = 0.0,
    even: bool = False,
    evaluate: Callable[[Leaves], tuple[ArrayLike, ArrayLike]] | None = None,
    network: IntegerNetwork | None = None,
    milliseconds: float | None = None,
    max_nodes: SupportsIndex = ...,
    cancellation: Cancellation | None = None,
) -> SearchColumns: ...
