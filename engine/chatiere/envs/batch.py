"""Batches of games as NumPy arrays, returned by the environments that play many games at a time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatiere.engine.core import choices
from chatiere.v1.game_pb2 import GameInfo

# The value of `mask` in batches without a mask.
NO_MASK = np.zeros((0, 0), np.bool_)
NO_MASK.flags.writeable = False


class Positions(NamedTuple):
    """The positions of n games, as in chatiere.v1.Positions. Columns that were not requested are empty."""

    states: NDArray[np.uint8]
    """uint8 (n, packed_size): the packed states. Their format is opaque."""
    actors: NDArray[np.int8]
    """int8 (n,): the seat to decide, -1 at a chance event, -4 if the game is over, or -3 if the state is invalid."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): item i has legal_ids[legal_offsets[i]:legal_offsets[i + 1]]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): the dense ids of legal actions, or the outcomes of a chance event, ascending."""
    weights: NDArray[np.uint32]
    """uint32 (legal_offsets[n],): the weights of outcomes, and 1 for each action. Empty if no item is at a chance
    event."""
    totals: NDArray[np.int32]
    """int32 (n, players): each seat's score. Where a new game has begun, this is the score of the game that ended."""
    returns: NDArray[np.float32]
    """float32 (n, players): 0 until the game is over, then players / w - 1 for each of w winners and -1 for losers."""
    final: NDArray[np.bool_]
    """bool (n,): True if the game is over, or was over before a new game began in its place."""
    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): the observation of the seat to decide. Zeros if no seat has to decide."""
    final_observations: NDArray[np.uint8]
    """uint8 (r, players, observation_length): each seat's observation at the end of the r games that new games have
    replaced."""
    mask: NDArray[np.bool_] | NDArray[np.uint8] = NO_MASK
    """The mask of the legal actions, as in Batch. Empty unless the environment has made the mask."""


@dataclass(frozen=True)
class Ended:
    """The e games that the last actions ended."""

    envs: NDArray[np.intp]
    """intp (e,): the environments of the games."""
    game_numbers: NDArray[np.uint64]
    """uint64 (e,): the numbers of the games."""
    lengths: NDArray[np.uint32]
    """uint32 (e,): the number of decisions in each game."""
    returns: NDArray[np.float32]
    """float32 (e, players): players / w - 1 for each of w winners, and -1 for every other seat."""
    totals: NDArray[np.int32]
    """int32 (e, players): each seat's score, in the game's own points."""
    observations: NDArray[np.uint8]
    """uint8 (e, players, observation_length): each seat's observation at the end. Empty unless requested."""


@dataclass(frozen=True)
class Batch:
    """n positions at which to decide, and the games that ended since the previous batch.

    Where a game ended, the environment has begun the next game. The row then describes the next game, and `ended`
    describes the game that ended. Arrays may be views into larger arrays, for example a response of the service. Copy
    arrays that you keep.
    """

    info: GameInfo
    """The description of the game, with its pieces and the parts of an observation, as returned by ListGames."""
    seed: int
    """The seed of the games."""
    envs: NDArray[np.intp]
    """intp (n,): the environments, ascending."""
    game_numbers: NDArray[np.uint64]
    """uint64 (n,): the number of the game in each environment. All numbers are different."""
    decisions: NDArray[np.uint32]
    """uint32 (n,): the number of decisions in the game so far."""
    actors: NDArray[np.int8]
    """int8 (n,): the seat to decide."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): row i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): the dense ids of the legal actions, ascending in each row."""
    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): the actor's observation, in the layout of `info`. Empty unless requested."""
    mask: NDArray[np.bool_] | NDArray[np.uint8]
    """bool (n, num_actions): True for legal actions. If requested as bits, uint8 (n, ceil(num_actions / 8)), the lowest
    bit of each byte first. Empty unless requested."""
    features: NDArray[np.float32] | NDArray[np.float16] | NDArray[np.uint8]
    """(n, num_features): the actor's observation or its compact form, converted by ObservationLayout.features to the
    requested form. Empty unless requested."""
    states: NDArray[np.uint8]
    """uint8 (n, packed_size): the packed states. States include hidden cards, so they are meant for search and not for
    bots. Empty if the environment leaves the states on the service."""
    ended: Ended
    """The games ended by the last actions of this batch's environments."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Compute `ended` when it is first read. Only batches made by `batch_of` need this."""
            if name != "ended" or "_ended_later" not in vars(self):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            return vars(self).setdefault("ended", vars(self)["_ended_later"]())

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.actors)

    def legal_counts(self) -> NDArray[np.uint32]:
        """Return the number of legal actions of each position, 1 or more: uint32 (n,)."""
        return np.diff(self.legal_offsets)

    def legal_mask(self) -> NDArray[np.bool_]:
        """Return a mask that is True for legal actions: bool (n, info.num_actions)."""
        if self.mask.size and self.mask.dtype == np.bool_:
            return self.mask.view(np.bool_)
        return choices.legal_mask(self.legal_offsets, self.legal_ids, self.info.num_actions)

    def luck(self) -> NDArray[np.uint64]:
        """Return a random number for each position, uniform over 0 … 2**64 - 1: uint64 (n,).

        It depends only on the seed, the game number and the number of decisions so far, not on how games are batched.
        """
        return choices.luck_of(self.seed, self.game_numbers, self.decisions)

    def random_actions(self) -> NDArray[np.uint16]:
        """Choose a legal action for each position by its `luck`, uniformly to within 2**-32: uint16 (n,)."""
        return choices.random_actions(self.legal_offsets, self.legal_ids, self.luck())

    def best_actions(self, values: NDArray[np.generic]) -> NDArray[np.uint16]:
        """Return the legal action with the highest value for each position. Among equals, return the first.

        Args:
            values: A value for each of `legal_ids`.

        Returns:
            uint16 (n,).
        """
        return choices.best_actions(self.legal_offsets, self.legal_ids, values)


def observation_part(info: GameInfo, name: str) -> slice:
    """Return the slice of an observation that contains the part with a name.

    ObservationLayout splits an observation into all its parts, and converts each part by the kind of its numbers.

    Raises:
        KeyError: If no part has this name.
    """
    for part in info.observation:
        if part.name == name:
            return slice(part.offset, part.offset + math.prod(part.shape))
    raise KeyError(name)


def batch_of(ended_later: Callable[[], Ended], **columns: Any) -> Batch:
    """Return a batch with these columns. `ended_later` returns the value of `ended` when `ended` is first read."""
    batch = object.__new__(Batch)
    # Do not call the constructor, because a frozen dataclass's constructor is several times slower.
    vars(batch).update(columns, _ended_later=ended_later)
    return batch


def only(batch: Batch, rows: NDArray[np.bool_]) -> Batch:
    """Return a batch with the rows where `rows`, bool (n,), is True, and with all games that ended."""
    counts = batch.legal_counts()
    offsets = np.zeros(np.count_nonzero(rows) + 1, np.uint32)
    np.cumsum(counts[rows], out=offsets[1:])
    return replace(
        batch,
        envs=batch.envs[rows],
        game_numbers=batch.game_numbers[rows],
        decisions=batch.decisions[rows],
        actors=batch.actors[rows],
        legal_offsets=offsets,
        legal_ids=batch.legal_ids[np.repeat(rows, counts)],
        observations=batch.observations[rows] if batch.observations.size else batch.observations,
        mask=batch.mask[rows] if batch.mask.size else batch.mask,
        features=batch.features[rows] if batch.features.size else batch.features,
        states=batch.states[rows] if batch.states.size else batch.states,
    )


def joined(parts: Sequence[Ended]) -> Ended:
    """Concatenate several Ended objects into one."""
    return Ended(
        **{field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Ended)}
    )
