from collections.abc import Mapping
from typing import Any, NamedTuple

from _typeshed import ReadableBuffer
from typing_extensions import disjoint_base

from chatiere.engine.core.errors import Reason
from chatiere.engine.core.position import Game, Position

class Columns(NamedTuple):
    legal: bool = ...
    scores: bool = ...
    observations: bool = ...

class Restart(NamedTuple):
    options: Mapping[str, Any] | None = ...
    stride: int = ...

class Positions(NamedTuple):
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

class Playouts(NamedTuple):
    mean_returns: bytes
    wins: bytes
    moves: bytes

class Scores(NamedTuple):
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

class Faults(NamedTuple):
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
    def __init__(self, game: Game, players: int) -> None: ...
    def new_games(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        seeds: ReadableBuffer | None = None,
        game_numbers: ReadableBuffer | None = None,
        count: int = 0,
        columns: Columns = ...,
        max_bytes: int | None = None,
        cancellation: Cancellation | None = None,
    ) -> Positions: ...
    def step(
        self,
        states: ReadableBuffer,
        moves: ReadableBuffer,
        *,
        columns: Columns = ...,
        restart: Restart | None = None,
        overwrite_states: bool = False,
        max_bytes: int | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[Positions, Faults]: ...
    def playout(
        self,
        states: ReadableBuffer,
        count: int,
        *,
        seed: int,
        first_game_number: int = 0,
        cancellation: Cancellation | None = None,
    ) -> tuple[Playouts, Faults]: ...
    def score(self, states: ReadableBuffer, *, cancellation: Cancellation | None = None) -> tuple[Scores, Faults]: ...
    def resample(
        self,
        states: ReadableBuffer,
        seats: ReadableBuffer,
        *,
        seed: int,
        first_game_number: int = 0,
        cancellation: Cancellation | None = None,
    ) -> tuple[bytes, Faults]: ...
    def observe(
        self,
        states: ReadableBuffer,
        seats: ReadableBuffer,
        *,
        max_bytes: int | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[bytes, Faults]: ...
    def count_states(self, states: ReadableBuffer) -> int: ...
    def position(self, states: ReadableBuffer, item: int) -> Position: ...
    def check_position(self, position: Position) -> None: ...
