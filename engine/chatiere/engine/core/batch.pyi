from collections.abc import Mapping, Sequence
from typing import Any, Final, SupportsIndex

from _typeshed import ReadableBuffer, WriteableBuffer
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.columns import (
    Columns,
    EvaluationColumns,
    FaultColumns,
    PlayoutColumns,
    PositionColumns,
    Restart,
    ScoreColumns,
)
from chatiere.engine.core.game import Game
from chatiere.engine.core.position import Position

_Column = ReadableBuffer | NDArray[Any] | Sequence[SupportsIndex]
_States = ReadableBuffer | NDArray[Any] | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]]

MAX_ITEMS: Final[int]

@disjoint_base
class Table:
    game: Game
    players: int
    rules_version: int
    def __init__(
        self,
        game: Game,
        players: SupportsIndex,
        rules_version: SupportsIndex | None = None,
        *,
        reuse_memory: bool = False,
    ) -> None: ...
    def new_games(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        seeds: _Column | None = None,
        game_numbers: _Column | None = None,
        count: SupportsIndex | None = None,
        columns: Columns = ...,
        mask: WriteableBuffer | NDArray[Any] | None = None,
        max_bytes: SupportsIndex | None = None,
        num_threads: SupportsIndex = 1,
        cancellation: Cancellation | None = None,
    ) -> PositionColumns: ...
    def step(
        self,
        states: _States,
        moves: _Column,
        *,
        columns: Columns = ...,
        restart: Restart | None = None,
        overwrite_states: bool = False,
        mask: WriteableBuffer | NDArray[Any] | None = None,
        max_bytes: SupportsIndex | None = None,
        num_threads: SupportsIndex = 1,
        cancellation: Cancellation | None = None,
    ) -> tuple[PositionColumns, FaultColumns]: ...
    def playout(
        self,
        states: _States,
        playouts: SupportsIndex,
        *,
        seed: SupportsIndex,
        first_game_number: SupportsIndex = 0,
        cancellation: Cancellation | None = None,
    ) -> tuple[PlayoutColumns, FaultColumns]: ...
    def evaluate(
        self,
        states: _States,
        worlds: SupportsIndex,
        playouts: SupportsIndex,
        *,
        seed: SupportsIndex,
        first_game_number: SupportsIndex = 0,
        max_playouts: SupportsIndex | None = None,
        max_bytes: SupportsIndex | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[EvaluationColumns, FaultColumns]: ...
    def score(
        self, states: _States, *, cancellation: Cancellation | None = None
    ) -> tuple[ScoreColumns, FaultColumns]: ...
    def resample(
        self,
        states: _States,
        seats: _Column,
        *,
        seed: SupportsIndex | None = None,
        first_game_number: SupportsIndex = 0,
        seeds: _Column | None = None,
        game_numbers: _Column | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[bytes, FaultColumns]: ...
    def observe(
        self,
        states: _States,
        seats: _Column,
        *,
        max_bytes: SupportsIndex | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[bytes, FaultColumns]: ...
    def count_states(self, states: _States) -> int: ...
    def position(self, states: _States, item: SupportsIndex) -> Position: ...
    def check_position(self, position: Position) -> None: ...
