"""The base class of environments that play many games at a time. It manages game numbers, batches and new games."""

from abc import abstractmethod
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Self, SupportsIndex, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.engine.closing import Closing
from chatiere.engine.core.batch import MAX_ITEMS
from chatiere.engine.core.blocks import BlockPool
from chatiere.engine.core.compact import CompactObservations
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import column_of, require_integer, shown, unsigned
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs.batch import Batch, Ended, Positions, batch_of, joined, only
from chatiere.v1.game_pb2 import GameInfo

FeatureForm = Literal["float32", "float16", "packed"]

# The value of `features` in batches without features.
_NO_FEATURES = np.zeros((0, 0), np.float32)
_NO_FEATURES.flags.writeable = False

_ELEMENTS: dict[FeatureForm, Any] = {"float32": np.float32, "float16": np.float16, "packed": np.uint8}


# The header of a packed state, as docs/batch.md describes it.
_HEADER = np.dtype(
    {
        "names": ["is_sampled", "ply", "game_number"],
        "formats": ["u1", "<u4", "<u8"],
        "offsets": [2, 4, 16],
        "itemsize": 32,
    }
)

# The attributes of an environment that a copy makes anew.
_MADE_ANEW = ("_mask_memory", "_feature_memory", "_compact", "_layout")


class Rows(NamedTuple):
    """The environments of a batch before their actions are applied. The columns are as in Batch."""

    envs: NDArray[np.intp]
    game_numbers: NDArray[np.uint64]
    decisions: NDArray[np.uint32]


class BatchEnv(Closing):
    """`num_envs` environments, each of which plays one game after another, with sampled chance.

    The environments are split into `batches` batches, which are returned in turn. `step` receives the actions for the
    last batch and returns the next batch. The next batch has other environments than the last batch. With batches=1,
    there is only one batch.

    Environment e plays the games of the seed with the numbers first_game + e, first_game + e + num_envs, first_game +
    e + 2 × num_envs and so on. A game depends only on the seed, the game number and the actions. The same seed
    therefore gives the same games with any number of environments and batches.

    `games` limits the number of games. Games are numbered from `first_game` on. An environment without further games is
    removed from its batch, and after the last game `step` returns a batch without positions. Without `games`, the
    number of games is unlimited. To measure an average, play a fixed number of games, because the first games to end
    are shorter than average.

    Use an environment in a `with` statement, or close it.
    """

    info: GameInfo
    """The description of the game, with the parts of an observation, as returned by ListGames."""
    players: int
    """The number of players."""

    def __init__(
        self,
        num_envs: SupportsIndex,
        batches: SupportsIndex,
        games: SupportsIndex | None,
        first_game: SupportsIndex,
        seed: SupportsIndex,
        mask: bool | Literal["bits"],
        features: FeatureForm | None,
        compact: bool,
    ) -> None:
        """Check the arguments. Raises TypeError or ValueError with the name of an invalid argument."""
        if mask not in (False, True, "bits"):
            raise ValueError(f'mask must be False, True or "bits", not {shown(mask)}')
        if features not in (None, *get_args(FeatureForm)):
            raise ValueError(f"features must be None or one of {get_args(FeatureForm)}, not {shown(features)}")
        if compact and features is None:
            raise ValueError(f"compact requires features, one of {get_args(FeatureForm)}, not None")
        self._mask = mask
        self._features = features
        self._is_compact = bool(compact)
        self.num_envs = require_integer("num_envs", num_envs)
        self._batches = require_integer("batches", batches)
        self._games = None if games is None else require_integer("games", games)
        if not 1 <= self.num_envs <= MAX_ITEMS:
            raise ValueError(f"num_envs must be from 1 to {MAX_ITEMS}, not {self.num_envs}")
        if not 1 <= self._batches <= self.num_envs:
            raise ValueError(f"batches must be from 1 to num_envs ({self.num_envs}), not {self._batches}")
        if self._games is not None and self._games < 1:
            raise ValueError(f"games must be 1 or more, not {self._games}")
        self._first_game = unsigned("first_game", first_game, 64)
        if self._games is not None and self._first_game + self._games > 2**64:
            raise ValueError(f"first_game + games must not be above 2**64: {self._first_game} + {self._games}")
        # Each pending batch already has a mask.
        self._allocate()
        self._own_seed = self._seed = unsigned("seed", seed, 64)
        self._last: Batch | None = None
        self._is_closed = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickle: all attributes except memory, and objects made from `info`."""
        return {name: value for name, value in vars(self).items() if name not in _MADE_ANEW}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state, and make the other attributes anew."""
        vars(self).update(state)
        self._allocate()
        self._describe(self.info)

    def __copy__(self) -> Self:
        """Return an environment that continues independently, as copy.deepcopy does."""
        return deepcopy(self)

    def reset(self, seed: SupportsIndex | None = None, *, states: NDArray[np.uint8] | None = None) -> Batch:
        """Restart all environments, and return the first batch.

        Args:
            seed: The seed of the games, 0 … 2**64 - 1. None means the seed given to the constructor.
            states: uint8 (num_envs, packed_size), the packed states at which the environments begin. In each, a seat
                has to decide, and chance is sampled. None means new games. The games continue with the random streams
                of the states, which also determine `game_numbers` and the next games. `seed` then only determines
                `Batch.seed` and, with it, `luck`.

        Raises:
            EngineError: INVALID_BATCH or INVALID_STATE, if `states` has another shape or a state has no random stream.
                For a state in which no seat has to decide, the environment raises its own error: INVALID_STATE,
                UNSUPPORTED_RULES_VERSION, INVALID_PLAYERS, GAME_OVER or CHANCE_PENDING. No game has changed then.
        """
        self._require_open()
        headers = None if states is None else self._headers_of(states)
        self._prepare(seed)
        for envs in self._split(self.num_envs if self._games is None or states is not None else self._games):
            if states is None or headers is None:
                numbers = envs.astype(np.uint64) + np.uint64(self._first_game)
                rows = Rows(envs, numbers, np.zeros(len(envs), np.uint32))
                self._begin(rows, np.full(len(envs), self._seed, np.uint64))
            else:
                rows = Rows(envs, headers["game_number"][envs], headers["ply"][envs])
                self._place(rows, states[envs])
        return self._receive()

    def step(self, actions: ArrayLike) -> Batch:
        """Apply an action at each position of the last batch, and return the next batch.

        Args:
            actions: (n,), the dense ids of the actions.

        Raises:
            ValueError: If there are no positions to act at, or `actions` has another shape.
        """
        self._require_open()
        last, actions = self._last, np.asarray(actions)
        if last is None or not len(last):
            raise ValueError("no positions to act at: reset the environment")
        if actions.shape != (len(last),):
            raise ValueError(f"actions must have the shape {(len(last),)}, not {actions.shape}")
        self._move(last, column_of("actions", actions, 2))
        return self._receive()

    def close(self) -> None:
        """Release the environment's resources. The environment can no longer be used, but its batches can."""
        self._is_closed = True
        self._last = None

    @abstractmethod
    def resample(self, states: NDArray[np.uint8], seats: NDArray[np.int8], seed: SupportsIndex) -> NDArray[np.uint8]:
        """For each state, draw a state that the given seat cannot distinguish from the original.

        Args:
            states: uint8 (n, packed_size), the packed states. The states of a batch are always valid.
            seats: int8 (n,), a seat for each state.
            seed: The seed of the draws, 0 … 2**64 - 1.

        Returns:
            uint8 (n, packed_size).
        """

    @abstractmethod
    def _drop_batches(self) -> None:
        """Discard the batches that were not returned yet."""

    @abstractmethod
    def _begin(self, rows: Rows, seeds: NDArray[np.uint64]) -> None:
        """Begin the games of some environments. Their batch is returned after all pending batches."""

    @abstractmethod
    def _require_decisions(self, states: NDArray[np.uint8]) -> None:
        """Raise an error with the number of the item unless a seat has to decide in each state."""

    @abstractmethod
    def _place(self, rows: Rows, states: NDArray[np.uint8]) -> None:
        """Let some environments begin at states. Their batch is returned after all pending batches."""

    @abstractmethod
    def _move(self, batch: Batch, actions: memoryview) -> None:
        """Make moves in a batch's games, to be returned after all pending batches. `actions` is a uint16 column."""

    @abstractmethod
    def _next(self) -> tuple[Rows, Positions]:
        """Return the next pending batch: the rows with updated numbers of decisions, and the positions.

        Where a game has ended, the position belongs to the environment's next game.
        """

    @abstractmethod
    def _is_last(self) -> bool:
        """Return True if no further batch is pending."""

    def _allocate(self) -> None:
        self._mask_memory, self._feature_memory = BlockPool(3 + self._batches), BlockPool()

    def _describe(self, info: GameInfo) -> None:
        # Store the game's description. Raises ValueError if the game has no features of the requested form.
        self.info = info
        try:
            self._compact = CompactObservations(info) if self._is_compact else None
        except ValueError as error:
            raise ValueError(f"compact must be False for {info.name}: {error}") from None
        self._layout = ObservationLayout(self._compact or info)

    def _new_mask(self, rows: int) -> NDArray[np.bool_] | NDArray[np.uint8] | None:
        # Return an array for a mask, or None if no mask is requested.
        if not self._mask:
            return None
        is_bits = self._mask == "bits"
        width = -(-self.info.num_actions // 8) if is_bits else self.info.num_actions
        memory: Any = self._mask_memory.take(rows * width, writable=True)
        return np.ndarray((rows, width), np.uint8 if is_bits else np.bool_, memory)

    def _encoded(self, observations: NDArray[np.uint8]) -> NDArray[Any]:
        # Return the features of observations in the requested form.
        if self._features is None:
            return _NO_FEATURES
        width = self._layout.packed_size if self._features == "packed" else self._layout.num_features
        rows, element = len(observations), _ELEMENTS[self._features]
        memory: Any = self._feature_memory.take(rows * width * np.dtype(element).itemsize, writable=True)
        out: NDArray[Any] = np.ndarray((rows, width), element, memory)
        observations = observations.reshape(rows, self.info.observation_length)
        return self._layout.features(self._compact.crop(observations) if self._compact else observations, out)

    def _split(self, games: int) -> list[NDArray[np.intp]]:
        # Return the environments of each batch, if there are enough games for them.
        envs = min(self.num_envs, games)
        return np.array_split(np.arange(envs), min(self._batches, envs))

    def _headers_of(self, states: NDArray[np.uint8]) -> NDArray[np.void]:
        # Return the headers of the states at which the environments begin.
        shape = self.num_envs, self.info.packed_size
        if states.dtype != np.uint8 or states.shape != shape:
            message = f"states must be uint8 {shape}, a row for each environment, not {states.dtype} {states.shape}"
            raise EngineError(Reason.INVALID_BATCH, message, field="states")
        self._require_decisions(states)
        headers = np.frombuffer(states[:, : _HEADER.itemsize].tobytes(), _HEADER)
        for item in np.flatnonzero(headers["is_sampled"] == 0)[:1]:
            message = f"item {item}: the state has no random stream"
            raise EngineError(Reason.INVALID_STATE, message, field=f"states[{item}]")
        return headers

    def _prepare(self, seed: SupportsIndex | None) -> None:
        # Prepare `reset`.
        self._seed = self._own_seed if seed is None else unsigned("seed", seed, 64)
        self._last = None
        self._drop_batches()

    def _require_open(self) -> None:
        if self._is_closed:
            raise ValueError("the environment is closed")

    def _receive(self) -> Batch:
        # Return the next batch with positions, or a batch without positions if no further batch is pending.
        self._last = None
        ended: list[Ended] = []
        while True:
            batch = self._batch(*self._next())
            if len(batch) or self._is_last():
                break
            ended.append(batch.ended)
        if ended:
            batch = replace(batch, ended=joined([*ended, batch.ended]))
        self._last = batch
        return batch

    def _batch(self, rows: Rows, positions: Positions) -> Batch:
        envs, game_numbers, decisions = rows
        (over,) = positions.final.nonzero()
        ended_later = partial(_ended, over, envs, game_numbers, decisions[over], positions)
        if len(over):
            game_numbers = game_numbers.copy()
            game_numbers[over] += np.uint64(self.num_envs)
            decisions[over] = 0
        batch = batch_of(
            ended_later,
            info=self.info,
            seed=self._seed,
            envs=envs,
            game_numbers=game_numbers,
            decisions=decisions,
            actors=positions.actors,
            legal_offsets=positions.legal_offsets,
            legal_ids=positions.legal_ids,
            observations=positions.observations,
            mask=positions.mask,
            features=self._encoded(positions.observations),
            states=positions.states,
        )
        if len(over) and self._games is not None:
            # Game numbers wrap around after 2**64 - 1. The difference wraps around as well, so it is correct.
            going_on = game_numbers - np.uint64(self._first_game) < self._games
            if not going_on.all():
                return only(batch, going_on)
        return batch


def no_moves(count: int) -> NDArray[np.uint16]:
    """Return a column of moves that are no action of any game. A step with these moves returns the unchanged states."""
    return np.full(count, 2**16 - 1, np.uint16)


def _ended(
    over: NDArray[np.intp],
    envs: NDArray[np.intp],
    game_numbers: NDArray[np.uint64],
    lengths: NDArray[np.uint32],
    positions: Positions,
) -> Ended:
    # `over` has the rows of the games that ended, and `lengths` has the games' numbers of decisions.
    return Ended(
        envs=envs[over],
        game_numbers=game_numbers[over],
        lengths=lengths,
        # `take` selects rows faster than indexing does.
        returns=positions.returns.take(over, axis=0),
        totals=positions.totals.take(over, axis=0),
        observations=positions.final_observations,
    )
