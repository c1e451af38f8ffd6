from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, SupportsIndex

from _typeshed import ReadableBuffer, WriteableBuffer
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from chatiere.engine.core.errors import Reason
from chatiere.engine.core.position import Game, Position

_Column = ReadableBuffer | NDArray[Any] | Sequence[SupportsIndex]
_States = ReadableBuffer | NDArray[Any] | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]]

MAX_FAULTS_TOLD: Final[int]
MAX_ITEMS: Final[int]

class Columns(NamedTuple):
    legal: bool = ...
    scores: bool = ...
    observations: bool = ...
    final_scores: bool = ...

class Restart(NamedTuple):
    options: Mapping[str, Any] | None = ...
    stride: SupportsIndex = ...

class PositionColumns(NamedTuple):
    states: bytes | memoryview
    actors: bytes
    legal_offsets: bytes
    legal_ids: bytes
    weights: bytes
    totals: bytes
    returns: bytes
    final: bytes
    observations: bytes
    final_observations: bytes

class PlayoutColumns(NamedTuple):
    mean_returns: bytes
    wins: bytes
    decisions: bytes

class EvaluationColumns(NamedTuple):
    actors: bytes
    legal_offsets: bytes
    legal_ids: bytes
    mean_returns: bytes
    counts: bytes

class ScoreColumns(NamedTuple):
    totals: bytes
    final: bytes
    ranks: bytes
    returns: bytes

class ItemFault(NamedTuple):
    item: int
    reason: Reason
    message: str
    field: str
    rule: str

class FaultColumns(NamedTuple):
    reasons: bytes
    items: tuple[ItemFault, ...]

class Cancelled(Exception): ...

@disjoint_base
class Cancellation:
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def moves(self) -> int: ...

@disjoint_base
class Table:
    game: Game
    players: int
    rules_version: int
    def __init__(self, game: Game, players: SupportsIndex, rules_version: SupportsIndex | None = None) -> None: ...
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
