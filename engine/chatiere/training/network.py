"""The network of net.h in real numbers for training with JAX, and the conversion to integers."""

from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
import optax
from jax import numpy as jnp
from numpy.typing import NDArray

from chatiere.bots.integer_network import MAX_SLOTS, OWN_ROW, PLAY, RUN, SLOT
from chatiere.bots.network_file import NetworkFile, Weights, fields_of, hand_of, rows_of_run
from chatiere.engine import Game
from chatiere.engine.core.compact import is_board
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.core.observation_parts import ObservationKind

FIRST, SECOND = 128, 32
# A network's columns are padded to a multiple of this number, because JAX compiles each number of columns separately.
_COLUMNS_AT_ONCE = 256
_MAX_GRADIENT = 0.5
_OPTIMIZER = optax.chain(optax.clip_by_global_norm(_MAX_GRADIENT), optax.scale_by_adam())

# Activations range from 0 to REACH. REACH corresponds to 1 in net.h. With a range of 0 to 1, most units would soon be
# saturated for all inputs, and would stop learning.
REACH = 8
# A count at its maximum has the same effect as this number of flags.
COUNT = 12

# _UNITS maps each layer to the integer that represents 1 (see net.h). _HALVES has the number that is added to each bias
# in order to round activations instead of truncating them. It is half of the range that a shift cuts off.
_UNITS = {
    "columns": 2**12 // REACH,
    "first_bias": 2**12 // REACH,
    "second": 2**12,
    "second_bias": 2**19 // REACH,
    "rows": 2**10 * REACH,
    "rows_bias": 2**17,
    "values": 2**10 * REACH,
    "values_bias": 2**17,
}
_HALVES = {"first_bias": 2**4, "second_bias": 2**11}

Parameters = dict[str, Any]
"""The weights and biases of a network's layers, with the names and shapes of the fields of `Weights` except `runs`."""


class Columns(NamedTuple):
    """Columns of the first layer. Each is multiplied by a number of the features: (byte >> shift & mask) × scale."""

    numbers: NDArray[np.intp]
    bytes: NDArray[np.intp]
    shifts: NDArray[np.uint8]
    masks: NDArray[np.uint8]
    scales: NDArray[np.float32]


class _Span(NamedTuple):
    # The length of a run of actions, and the other fields of the RUN.
    length: int
    row: int
    group: int
    kind: int
    size: int


class Network:
    """The shape of a network. It depends on the game and the number of players."""

    def __init__(self, game: Game, players: int) -> None:
        """Determine the sizes of the layers."""
        self.game, self.players = game, players
        self.runs, self.num_rows = runs_of(game)
        self.num_groups = int(self.runs["group"].max()) + 1
        self._columns = _columns_of(game)
        ends = [*self.runs["first"][1:].tolist(), game.num_distinct_actions]
        self._spans = [_Span(end - run[0], *run[1:]) for run, end in zip(self.runs.tolist(), ends, strict=True)]
        self._hand = self._hand_columns()

    def new_parameters(self, seed: int) -> Parameters:
        """Return an untrained network: equal logits for all actions, and an expected return of 0."""
        random = np.random.default_rng(seed)

        def drawn(scale: float, *shape: int) -> jax.Array:
            return jnp.asarray(random.normal(scale=scale, size=shape), jnp.float32)

        return {
            # The scale is suitable for a sum of about a hundred columns.
            "columns": drawn(0.05, len(self._columns.numbers), FIRST),
            "first_bias": jnp.full(FIRST, 0.25),
            "second": drawn(0.1, self.num_groups, SECOND, FIRST),
            "second_bias": jnp.full((self.num_groups, SECOND), 0.25),
            "rows": jnp.zeros((self.num_rows, SECOND)),
            "rows_bias": jnp.zeros(self.num_rows),
            "values": jnp.zeros((self.players, SECOND)),
            "values_bias": jnp.zeros(self.players),
        }

    def parameters_of(self, weights: Weights) -> tuple[Parameters, NDArray[np.uint8]]:
        """Return the parameters that correspond to weights in integers, and packed features that use all columns.

        Raises:
            ValueError: If the layers have other sizes.
        """
        every = self._columns
        found = {
            name: np.asarray((getattr(weights, name) - _HALVES.get(name, 0)) / unit, np.float32)
            for name, unit in _UNITS.items()
        }
        if {name: array.shape for name, array in found.items()} != {
            name: array.shape for name, array in self.new_parameters(0).items()
        }:
            raise ValueError("its layers do not have the sizes of networks that are trained")
        found["columns"] /= every.scales[:, None]
        used = np.flatnonzero(weights.columns.any(axis=1))
        features = np.zeros(ObservationLayout(self.game.description).packed_size, np.uint8)
        np.bitwise_or.at(features, every.bytes[used], every.masks[used] << every.shifts[used])
        return {name: jnp.asarray(array) for name, array in found.items()}, features

    def seen(self, features: NDArray[np.uint8]) -> Columns:
        """Return the columns that features use. All other columns would add zero.

        The result is padded with columns whose scale is 0.

        Args:
            features: uint8 (packed_size,), the packed features of any positions, combined by bitwise or.
        """
        used = np.flatnonzero(self._is_seen(features))
        found: list[Any] = [np.pad(column[used], (0, -len(used) % _COLUMNS_AT_ONCE)) for column in self._columns]
        return Columns(*found)

    def _is_seen(self, features: NDArray[np.uint8]) -> NDArray[np.uint8]:
        every = self._columns
        seen: NDArray[np.uint8] = features[every.bytes] >> every.shifts & every.masks
        return seen

    def forward(
        self, parameters: Parameters, columns: Columns, features: Any, legal: Any
    ) -> tuple[jax.Array, jax.Array]:
        """Return the logarithms of actions' probabilities, and the expected returns.

        Args:
            parameters: The parameters of the network.
            columns: The columns to use, from `seen`.
            features: uint8 (n, packed_size), packed features.
            legal: uint8 (n, ⌈num_actions / 8⌉), a mask of the legal actions as bits. Other actions get probability 0.

        Returns:
            The logarithms, (n, num_actions), and the seats' returns, (n, players), clockwise from the actor.
        """
        numbers = features[:, columns.bytes] >> columns.shifts & columns.masks
        inputs = numbers.astype(jnp.float32) * columns.scales
        first = jnp.clip(inputs @ parameters["columns"][columns.numbers] + parameters["first_bias"], 0, REACH)
        second = jnp.clip(
            jnp.einsum("nf,gsf->gns", first, parameters["second"]) + parameters["second_bias"][:, None], 0, REACH
        )
        hand = self._slots(features)
        logits = jnp.concatenate(
            [self._logits(parameters, second[span.group], hand, span) for span in self._spans], axis=1
        )
        ids = np.arange(self.game.num_distinct_actions)
        is_legal = legal[:, ids >> 3] >> (ids & 7).astype(np.uint8) & 1
        values = second[0] @ parameters["values"].T + parameters["values_bias"]
        # Use a finite number instead of -inf, because the entropy would otherwise contain 0 × infinity, and would be
        # NaN.
        return jax.nn.log_softmax(jnp.where(is_legal, logits, -1e9)), values

    def _slots(self, features: Any) -> tuple[jax.Array, jax.Array]:
        # Return the numbers of the hand's cards, ascending, (n, MAX_SLOTS), and a mask of the slots that have a card.
        held = features[:, self._hand.bytes] >> self._hand.shifts & self._hand.masks
        cards = held.shape[1]
        found, _ = jax.lax.top_k(held.astype(jnp.int32) * np.arange(cards, 0, -1), min(MAX_SLOTS, cards))
        return jnp.where(found > 0, cards - found, 0), found > 0

    def _logits(
        self, parameters: Parameters, second: jax.Array, hand: tuple[jax.Array, jax.Array], span: "_Span"
    ) -> jax.Array:
        # Return the logits of a run's actions, as net.h describes.
        length, row, _, kind, size = span
        rows, _ = rows_of_run(self.game, kind, size, length)
        found: jax.Array = second @ parameters["rows"][row : row + rows].T + parameters["rows_bias"][row : row + rows]
        if kind == OWN_ROW:
            return found
        ids = np.arange(length)
        numbers, are_there = hand
        cards = len(self._hand.numbers)
        tops: jax.Array = jnp.take_along_axis(found, numbers, axis=1) * are_there
        if kind == SLOT:
            return tops[:, :length]
        others = jnp.take_along_axis(found[:, cards:], numbers, axis=1) * are_there
        added = _others_of_plays(size)[:length]
        numbers_of_others = added.sum(axis=1).astype(int)
        sums: jax.Array = others[:, :size] @ added.T + tops[:, ids >> (size - 1)]
        return sums + found[:, 2 * cards + numbers_of_others]

    def _hand_columns(self) -> Columns:
        # Return the columns of the flags for the hand's cards.
        fields = [field for part in self.game.description.observation for field in part.fields]
        _, cards = hand_of(self.game)
        first = 0
        for field in fields if cards else ():
            if field.name == "own_hand":
                break
            many = {ObservationKind.CATEGORY: field.largest, ObservationKind.BITS: field.largest.bit_length()}
            first += int(np.prod(field.shape, dtype=int)) * many.get(field.kind, 1)
        found: list[Any] = [column[first : first + cards] for column in self._columns]
        return Columns(*found)

    def in_integers(self, parameters: Parameters, features: NDArray[np.uint8]) -> NetworkFile:
        """Return the network in integers: weights are rounded, and clipped to the range of int16.

        Args:
            parameters: The parameters of the network.
            features: See `seen`. Columns that the features do not use become 0.
        """
        found = {}
        for name, unit in _UNITS.items():
            real = np.asarray(parameters[name], np.float64)
            if name == "columns":
                # The network in integers adds a column k times for a count of k, so apply the scale to the column.
                real = real * np.where(self._is_seen(features), self._columns.scales, 0)[:, None]
            rounded = np.rint(real * unit)
            if name.endswith("_bias"):
                found[name] = np.clip(rounded + _HALVES.get(name, 0), -(2**30), 2**30).astype(np.int32)
            else:
                found[name] = np.clip(rounded, -(2**15) + 1, 2**15 - 1).astype(np.int16)
        weights = Weights(**found, runs=self.runs)
        return NetworkFile(self.game, self.players, weights)


# For each game, the kinds of actions whose logits are sums of several rows, each with the kind and size of its run (see
# net.h).
_SIZES = {
    "discat": {"play": (PLAY, 6), "exchange": (SLOT, 6)},
}


def _others_of_plays(slots: int) -> NDArray[np.float32]:
    # For each play of a run, return a mask of the slots of the cards next to the top, (slots << slots - 1, slots).
    tops, masks = np.divmod(np.arange(slots << slots - 1), 1 << slots - 1)
    found = np.zeros((len(tops), slots), np.float32)
    for slot in range(slots):
        found[:, slot] = (slot != tops) & (masks >> slot - (slot > tops) & 1)
    return found


def runs_of(game: Game) -> tuple[NDArray[np.void], int]:
    """Return how a game's actions are divided into runs.

    If observations have a board, a kind of action with k actions for each cell has k runs over all cells. These runs
    share one row for each cell, and each run has its own group of units. Kinds whose logits are sums have group 1. All
    other actions have separate rows, and group 0.

    Returns:
        The runs, an array of dtype RUN, and the number of rows.
    """
    cells = {part.shape[0] ** 2 for part in game.description.observation if is_board(tuple(part.shape))}
    sizes = _SIZES.get(game.name, {})
    found: list[tuple[int, int, int, int, int]] = []
    rows, groups = 0, 2 if sizes else 1
    by_cell = []
    for kind in game.description.action_kinds:
        count = kind.last_id + 1 - kind.first_id
        if kind.name in sizes:
            found.append((kind.first_id, rows, 1, *sizes[kind.name]))
            rows += rows_of_run(game, *sizes[kind.name], count)[0]
        elif cells and count % max(cells) == 0:
            for first in range(kind.first_id, kind.last_id + 1, max(cells)):
                by_cell.append((first, groups))
                groups += 1
        else:
            if not found or found[-1][3] != OWN_ROW or found[-1][0] - found[-1][1] != kind.first_id - rows:
                found.append((kind.first_id, rows, 0, OWN_ROW, 0))
            rows += count
    found += [(first, rows, group, OWN_ROW, 0) for first, group in by_cell]
    return np.array(sorted(found), RUN), rows + (max(cells) if by_cell else 0)


def new_state(parameters: Parameters) -> Any:
    """Return the optimizer's state before the first update."""
    return _OPTIMIZER.init(parameters)


@partial(jax.jit, static_argnums=0)
def update(loss: Any, parameters: Parameters, state: Any, rate: float, *examples: Any) -> tuple[Parameters, Any]:
    """Take a gradient step for `loss(parameters, *examples)`, and return new parameters and a new optimizer state."""
    steps, state = _OPTIMIZER.update(jax.grad(loss)(parameters, *examples), state, parameters)
    return {name: parameters[name] - rate * step for name, step in steps.items()}, state


def minibatches(count: int, size: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows 0 … count - 1 in random order, (k, size). Repeated rows fill up the last minibatch."""
    return np.resize(random.permutation(count), (-(-count // size), size))


def _columns_of(game: Game) -> Columns:
    # Return all columns in the order of `fields_of`. Packed features begin with a byte for each count.
    layout = ObservationLayout(game.description)
    found: list[tuple[int, int, int, float]] = []
    counts, bits = 0, 8 * layout.num_counts
    for field in (field for part in game.description.observation for field in part.fields):
        many = int(np.prod(field.shape, dtype=int))
        if field.kind == ObservationKind.COUNT:
            found += [(counts + place, 0, 0xFF, COUNT / field.largest) for place in range(many)]
            counts += many
            continue
        is_category = field.kind == ObservationKind.CATEGORY
        width = field.largest + 1 if is_category else field.largest.bit_length()
        # The number 0 of a category has no column.
        features = (bits + width * place + each for place in range(many) for each in range(is_category, width))
        found += [(feature >> 3, feature & 7, 1, 1.0) for feature in features]
        bits += width * many
    assert len(found) == fields_of(game)[2]
    places, shifts, masks, scales = zip(*found, strict=True)
    return Columns(
        np.arange(len(found)),
        np.array(places, np.intp),
        np.array(shifts, np.uint8),
        np.array(masks, np.uint8),
        np.array(scales, np.float32),
    )
