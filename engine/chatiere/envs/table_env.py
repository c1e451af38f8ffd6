"""An environment that plays many games at a time in this process. Positions are NumPy arrays.

with TableEnv("discat", 2, num_envs=1024, observations=True) as env:
    batch = env.reset(seed=7)
    while learning:
        batch = env.step(batch.random_actions())
"""

from collections import deque
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.engine import Columns, EngineError, Game, Reason, Restart, Table
from chatiere.engine.core.columns import PositionColumns
from chatiere.engine.core.game_info import game_info, observation_info
from chatiere.engine.core.integers import shown
from chatiere.engine.wire import Reader
from chatiere.envs.batch import NO_MASK, Batch, Positions
from chatiere.envs.batch_env import BatchEnv, FeatureForm, Rows, no_moves
from chatiere.v1.game_pb2 import GameInfo, Options

# The column of outcomes' weights is empty, because chance is sampled and no position is at a chance event.
_NO_WEIGHTS = np.zeros(0, np.uint32)

_Element = TypeVar("_Element", bound=np.generic)


class TableEnv(BatchEnv):
    """A BatchEnv that plays in this process. This is the fastest way to play.

    The same code also runs on `chatiere.clients.VectorEnv`, which plays over a service. With it, the same seed and
    actions give the same games, row for row. Later steps do not change the arrays of a batch, because the memory of an
    array is reused only once nothing refers to the array. Arrays that the engine returned are read-only.

    Errors are EngineErrors, a subclass of ValueError. The constructor raises UNKNOWN_GAME, INVALID_PLAYERS and
    INVALID_OPTION. `step` raises ILLEGAL_ACTION, INVALID_ACTION and INVALID_BATCH. If `step` raises an error, no game
    has changed, and `step` can be called again with other actions.

        >>> from chatiere.envs import TableEnv
        >>> with TableEnv("discat", 2, num_envs=8, observations=True) as env:
        ...     batch = env.reset(seed=7)
        ...     for _ in range(100):
        ...         batch = env.step(batch.random_actions())
        >>> batch.actors.shape, len(batch.observations)
        ((8,), 8)
    """

    def __init__(
        self,
        game: str,
        players: SupportsIndex,
        num_envs: SupportsIndex = 1024,
        *,
        options: Mapping[str, Any] | Options | None = None,
        seed: SupportsIndex = 0,
        games: SupportsIndex | None = None,
        first_game: SupportsIndex = 0,
        batches: SupportsIndex = 1,
        observations: bool = False,
        mask: bool | Literal["bits"] = False,
        features: FeatureForm | None = None,
        compact: bool = False,
        num_threads: SupportsIndex = 1,
    ) -> None:
        """Prepare the environments. `reset` begins their games.

        Args:
            game: The name of the game, for example "discat".
            players: The number of players.
            num_envs: The total number of environments in all batches, 1 … 524,288.
            options: The options of all games, by name as in `Game.new_game` or as a message as for VectorEnv. Options
                that are not set have their defaults.
            seed: The seed that `reset` uses if it is called without a seed.
            games: The number of games to play. None means no limit.
            first_game: The number of the first game.
            batches: The number of batches, 1 … num_envs.
            observations: True to get observations.
            mask: True to get a mask of the legal actions, "bits" to get the mask as bits.
            features: "float32", "float16" or "packed" to get observations and their features in this form.
            compact: True to get the features of compact observations (CompactObservations), for games with large
                boards.
            num_threads: The number of threads that share the work of a step, 1 … 256. It has no effect on games.
        """
        super().__init__(num_envs, batches, games, first_game, seed, mask, features, compact)
        if not isinstance(game, str):
            raise TypeError(f"game must be a string, not {shown(game)}")
        self._game = engine.game(game)
        self._options = _options_by_name(self._game, options)
        self._num_threads = num_threads
        # Each batch has its own table, because a table keeps the memory of the states that it returned last.
        self._tables = [Table(self._game, players, reuse_memory=True) for _ in range(self._batches)]
        self.players = self._tables[0].players
        # This call checks the arguments.
        self._tables[0].new_games(self._options, count=0, num_threads=num_threads)
        self._describe(GameInfo(**game_info(self._game), **observation_info(self._game)))
        self._columns = Columns(legal=True, observations=bool(observations) or features is not None, final_scores=True)
        self._restart = Restart(self._options, self.num_envs)
        self._due: deque[_Played] = deque()
        self._played: _Played | None = None

    def resample(self, states: NDArray[np.uint8], seats: NDArray[np.int8], seed: SupportsIndex) -> NDArray[np.uint8]:
        """See BatchEnv.resample. Raises EngineError."""
        drawn, faults = Table(self._game, self.players).resample(states.data, seats.data, seed=seed)
        if faults.items:
            fault = faults.items[0]
            raise EngineError(fault.reason, f"item {fault.item}: {fault.message}", field=f"states[{fault.item}]")
        return np.frombuffer(drawn, np.uint8).reshape(len(states), -1)

    def oracle(self, batch: Batch) -> NDArray[np.uint8]:
        """Return the observations of all seats at each position: uint8 (n, players, observation_length).

        The seats are in clockwise order from the seat whose turn it is. Together, their observations determine the
        position except for cards still to be drawn. The observations are meant for a critic that judges positions while
        a policy learns. A policy must not read the observations, because they contain hidden cards. Environments over a
        service do not have this method.
        """
        table, states = Table(self._game, self.players), batch.states.tobytes()
        rows = np.empty((len(batch), self.players, self.info.observation_length), np.uint8)
        for distance in range(self.players):
            observed, _ = table.observe(states, (batch.actors + distance) % self.players)
            rows[:, distance] = np.frombuffer(observed, np.uint8).reshape(rows[:, 0].shape)
        return rows

    def close(self) -> None:
        """Release the games. The environment can no longer be used, but its batches can."""
        super().close()
        self._drop_batches()
        self._tables.clear()

    def _require_decisions(self, states: NDArray[np.uint8]) -> None:
        table = Table(self._game, self.players)
        positions, _ = table.step(states, no_moves(len(states)), num_threads=self._num_threads)
        for item in np.flatnonzero(np.frombuffer(positions.actors, np.int8) < 0)[:1]:
            try:
                table.position(states, item).require_decision()
            except EngineError as error:
                raise EngineError(error.reason, f"item {item}: {error.message}", field=f"states[{item}]") from None

    def _drop_batches(self) -> None:
        self._due.clear()
        self._played = None

    def _begin(self, rows: Rows, seeds: NDArray[np.uint64]) -> None:
        table = self._tables[len(self._due)]
        mask = self._new_mask(len(seeds))
        positions = table.new_games(
            self._options,
            seeds=seeds.tobytes(),
            game_numbers=rows.game_numbers.tobytes(),
            columns=self._columns,
            mask=mask,
            num_threads=self._num_threads,
        )
        self._due.append(_Played(rows, table, positions, mask))

    def _place(self, rows: Rows, states: NDArray[np.uint8]) -> None:
        table = self._tables[len(self._due)]
        mask = self._new_mask(len(states))
        positions, _ = table.step(
            states, no_moves(len(states)), columns=self._columns, mask=mask, num_threads=self._num_threads
        )
        self._due.append(_Played(rows, table, positions, mask))

    def _move(self, batch: Batch, actions: memoryview) -> None:
        assert self._played is not None
        _, table, before, _ = self._played
        mask = self._new_mask(len(batch))
        positions, faults = table.step(
            before.states if len(before.actors) == len(batch) else batch.states.tobytes(),
            actions,
            columns=self._columns,
            restart=self._restart,
            mask=mask,
            num_threads=self._num_threads,
        )
        if faults.items:
            fault = faults.items[0]
            raise EngineError(
                fault.reason,
                f"item {fault.item}: {fault.message}",
                field=f"actions[{fault.item}]",
                rule=fault.rule,
                metadata={"item": str(fault.item)},
            )
        rows = Rows(batch.envs, batch.game_numbers, batch.decisions + np.uint32(1))
        self._due.append(_Played(rows, table, positions, mask))

    def _next(self) -> tuple[Rows, Positions]:
        self._played = self._due.popleft()
        rows, _, columns, mask = self._played
        count = len(columns.actors)
        length = self._game.observation_length if self._columns.observations else 1
        observed = len(columns.final_observations) // (self.players * length)
        return rows, Positions(
            _rows(columns.states, np.uint8, count, self._game.packed_size),
            np.frombuffer(columns.actors, np.int8),
            np.frombuffer(columns.legal_offsets, np.uint32),
            np.frombuffer(columns.legal_ids, np.uint16),
            _NO_WEIGHTS,
            _rows(columns.totals, np.int32, count, self.players),
            _rows(columns.returns, np.float32, count, self.players),
            np.frombuffer(columns.final, np.bool_),
            _rows(columns.observations, np.uint8, count, length),
            np.ndarray((observed, self.players, length), np.uint8, columns.final_observations),
            NO_MASK if mask is None else mask,
        )

    def _is_last(self) -> bool:
        return not self._due


class _Played(NamedTuple):
    rows: Rows
    table: Table
    positions: PositionColumns
    mask: NDArray[np.bool_] | NDArray[np.uint8] | None


def _options_by_name(game: Game, options: Mapping[str, Any] | Options | None) -> Mapping[str, Any] | None:
    if isinstance(options, Mapping):
        # Copy the options, because later games also use the options and the caller may change the original.
        return dict(options)
    if not isinstance(options, Options):
        return options
    name = options.WhichOneof("game")
    if name is None:
        return None
    if name != game.name:
        raise EngineError(Reason.INVALID_OPTION, f"{name} options for a {game.name} game", field=f"options.{name}")
    found: dict[str, Any] = engine.codec(name).read_options(Reader(getattr(options, name)))
    return found


def _rows(column: bytes | memoryview, dtype: type[_Element], count: int, width: int) -> NDArray[_Element]:
    # A column that was not requested is empty.
    return np.ndarray((count, width) if len(column) else (0, 0), dtype, column)
