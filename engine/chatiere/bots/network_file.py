"""Files of networks in integers: the weights, and the game and number of players for which they were trained.

A file is little-endian. It has a header (`_HEADER`), the arrays of `Weights` in the order of its fields, and the
SHA-256 of both. net.h describes the computation of a network.
"""

import hashlib
import math
import struct
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import BotError
from chatiere.bots.integer_network import (
    FIELD,
    MAX_FIRST,
    MAX_SECOND,
    MAX_SLOTS,
    ONE,
    OWN_ROW,
    PLAY,
    RUN,
    SLOT,
    IntegerNetwork,
)
from chatiere.engine import EngineError, Game
from chatiere.engine.core.description import Description
from chatiere.engine.core.observation_parts import ObservationField, ObservationKind

_MAGIC = b"chatnet\0"
_FORMAT = 2
# The header begins with the magic bytes, the format version, the rules version, the game's name, and the digest of the
# observation's layout. The numbers of players, units in the first layer, units in a group of the second layer, groups,
# runs, rows, actions and columns follow.
_HEADER = struct.Struct("<8sHH32s32s5H3I")
_DIGEST_SIZE = 32
_KINDS = {
    ObservationKind.FLAG: 0,
    ObservationKind.CATEGORY: 0,
    ObservationKind.COUNT: 1,
    ObservationKind.BITS: 2,
}


class NetworkFileError(ValueError):
    """A file that is not a network, is damaged, or does not match this version of its game."""


class Weights(NamedTuple):
    """The weights of a network: n columns and f units in the first layer, g groups of s units, and r rows of actions.

    net.h describes the units in which weights are expressed.
    """

    columns: NDArray[np.int16]
    """int16 (n, f): the columns of the first layer, in the order of `fields_of`."""
    first_bias: NDArray[np.int32]
    """int32 (f,)."""
    second: NDArray[np.int16]
    """int16 (g, s, f)."""
    second_bias: NDArray[np.int32]
    """int32 (g, s)."""
    runs: NDArray[np.void]
    """The runs of actions, of dtype RUN, ascending from action 0."""
    rows: NDArray[np.int16]
    """int16 (r, s)."""
    rows_bias: NDArray[np.int32]
    """int32 (r,)."""
    values: NDArray[np.int16]
    """int16 (players, s): the returns of the seats, clockwise from the actor."""
    values_bias: NDArray[np.int32]
    """int32 (players,)."""


class NetworkFile(NamedTuple):
    """A network, and the game and number of players for which it was trained."""

    game: Game
    players: int
    weights: Weights

    def to_bytes(self) -> bytes:
        """Return the file's content. Raises NetworkFileError for weights that are too large or have wrong shapes."""
        _check(self)
        weights = self.weights
        groups, second, first = weights.second.shape
        header = _HEADER.pack(
            _MAGIC,
            _FORMAT,
            self.game.rules_version,
            self.game.name.encode(),
            layout_digest(self.game),
            self.players,
            first,
            second,
            groups,
            len(weights.runs),
            len(weights.rows),
            self.game.num_distinct_actions,
            len(weights.columns),
        )
        body = header + b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in weights)
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: bytes) -> "NetworkFile":
        """Read a file's content. Raises NetworkFileError."""
        if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEADER.size + _DIGEST_SIZE:
            raise NetworkFileError("it is not a network in integers")
        body, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
        _, number, rules_version, name, layout, players, *sizes = _HEADER.unpack_from(body)
        if number != _FORMAT:
            raise NetworkFileError(f"its format is {number}; this version reads format {_FORMAT}")
        if hashlib.sha256(body).digest() != digest:
            raise NetworkFileError("it is damaged: its SHA-256 does not match")
        try:
            game = engine.game(name.rstrip(b"\0").decode())
        except (EngineError, UnicodeDecodeError) as error:
            raise NetworkFileError(f"its game {name!r} is unknown") from error
        if rules_version != game.rules_version:
            raise NetworkFileError(
                f"it plays rules_version {rules_version} of {game.name}; this version plays {game.rules_version}"
            )
        if layout != layout_digest(game):
            raise NetworkFileError(f"it was trained on another layout of {game.name}'s observations")
        first, second, groups, runs, rows, actions, columns = sizes
        if actions != game.num_distinct_actions:
            raise NetworkFileError(f"{game.name} has {game.num_distinct_actions} actions, and the network {actions}")
        shapes = {
            "columns": (columns, first),
            "first_bias": (first,),
            "second": (groups, second, first),
            "second_bias": (groups, second),
            "runs": (runs,),
            "rows": (rows, second),
            "rows_bias": (rows,),
            "values": (players, second),
            "values_bias": (players,),
        }
        arrays, place = {}, _HEADER.size
        for part, shape in shapes.items():
            dtype = RUN if part == "runs" else np.dtype(np.int32 if part.endswith("_bias") else np.int16)
            size = math.prod(shape) * dtype.itemsize
            if place + size > len(body):
                raise NetworkFileError("it is too short for the sizes of its layers")
            raw = np.frombuffer(body, dtype.newbyteorder("<"), math.prod(shape), place)
            arrays[part] = raw.astype(dtype).reshape(shape)
            place += size
        if place != len(body):
            raise NetworkFileError("it is too long for the sizes of its layers")
        found = cls(game, players, Weights(**arrays))
        _check(found)
        return found

    @classmethod
    def read(cls, path: str | Path) -> "NetworkFile":
        """Read a file.

        Raises:
            NetworkFileError: If the file is not a network.
            OSError: If the file cannot be read.
        """
        return cls.from_bytes(Path(path).read_bytes())

    def require(self, game: Game, players: int) -> None:
        """Raise BotError unless the network plays a game with this number of players."""
        if (game.name, players) != (self.game.name, self.players):
            raise BotError(
                f"the network plays {self.game.name} with {self.players} players, not {game.name} with {players}"
            )

    def network(self) -> IntegerNetwork:
        """Return the network for evaluation. Raises NetworkFileError in the same cases as `to_bytes`."""
        _check(self)
        fields, places, _ = fields_of(self.game)
        return IntegerNetwork(fields, places, hand_of(self.game), *self.weights, self.game.num_distinct_actions)


@cache
def fields_of(game: Game) -> tuple[NDArray[np.void], NDArray[np.uint32], int]:
    """Return the fields and columns by which a network reads the observations of a game.

    Columns have the order of the description's fields and, within a field, of its numbers. A flag or a count has one
    column, a category one column for each value except 0, and a bit set one column for each bit.

    Returns:
        Three items: the fields, an array of dtype FIELD; the places of the fields, uint32 (observation_length + 1,);
        and the number of columns. Byte i of an observation has fields[places[i]:places[i + 1]].
    """
    found: list[tuple[int, tuple[int, ...]]] = []
    column = 0
    for field in _described(game.description):
        many = {ObservationKind.CATEGORY: field.largest, ObservationKind.BITS: field.largest.bit_length()}
        for index in np.ndindex(*field.shape):
            place = field.offset + sum(map(math.prod, zip(index, field.strides, strict=True)))
            mask = (1 << field.num_bits) - 1
            found.append((place, (column, _KINDS[field.kind], field.first_bit, mask, field.largest)))
            column += many.get(field.kind, 1)
    found.sort()
    fields = np.array([field for _, field in found], FIELD)
    places = np.searchsorted([place for place, _ in found], np.arange(game.observation_length + 1)).astype(np.uint32)
    # The result is cached and shared by all callers, so it must not be changed.
    fields.flags.writeable = places.flags.writeable = False
    return fields, places, column


@cache
def hand_of(game: Game) -> tuple[int, int]:
    """Return the offset and the number of the hand's flags in a seat's observation, or (0, 0) if there are no flags."""
    for field in _described(game.description):
        if field.name == "own_hand" and field.kind == ObservationKind.FLAG:
            return field.offset, math.prod(field.shape)
    return 0, 0


def rows_of_run(game: Game, kind: int, size: int, length: int) -> tuple[int, int]:
    """Return the number of rows of a run with `length` actions, and the largest number of rows in an action's sum.

    Raises:
        NetworkFileError: If the kind cannot have that size.
    """
    _, cards = hand_of(game)
    slots = min(size, MAX_SLOTS) if cards else 0
    if kind == OWN_ROW and size == 0:
        return length, 1
    if kind == SLOT and length <= slots == size:
        return cards, 1
    if kind == PLAY and slots == size >= 1 and length <= slots << slots - 1:
        return 2 * cards + slots, slots + 1
    raise NetworkFileError(
        f"a run of {length} actions has the kind {kind} and the size {size}, which do not go together"
    )


def layout_digest(game: Game) -> bytes:
    """Return the SHA-256 of the layout of the game's observations."""
    lines = [
        f"{field.name} {field.kind.name} {field.largest} {field.offset} {field.shape} {field.strides} "
        f"{field.first_bit} {field.num_bits}\n"
        for field in _described(game.description)
    ]
    return hashlib.sha256("".join(lines).encode()).digest()


def _described(description: Description) -> list[ObservationField]:
    return [field for part in description.observation for field in part.fields]


def _check(file: NetworkFile) -> None:
    # Raises NetworkFileError for weights with which net.c could read beyond its arrays or exceed the range of int32.
    game, players, weights = file
    fields, _, columns = fields_of(game)
    groups, second, first = weights.second.shape
    if not game.min_players <= players <= game.max_players:
        raise NetworkFileError(f"{game.name} is for {game.min_players} to {game.max_players} players, not {players}")
    if not (1 <= first <= MAX_FIRST and 1 <= second <= MAX_SECOND and groups >= 1):
        raise NetworkFileError(f"its layers have {first} and {second} units; at most {MAX_FIRST} and {MAX_SECOND}")
    if len(weights.columns) != columns:
        raise NetworkFileError(f"{game.name}'s observations have {columns} columns, and the network {len(weights[0])}")
    runs = weights.runs.astype([(name, np.int64) for name in RUN.names or ()])
    ends = np.append(runs["first"][1:], game.num_distinct_actions)
    lengths = ends - runs["first"]
    if not (len(runs) and runs["first"][0] == 0 and (lengths > 0).all()):
        raise NetworkFileError(f"its runs of actions do not go from 0 to {game.num_distinct_actions - 1}")
    found = [
        rows_of_run(game, *run)
        for run in zip(runs["kind"].tolist(), runs["size"].tolist(), lengths.tolist(), strict=True)
    ]
    if (runs["row"] + [rows for rows, _ in found] > len(weights.rows)).any() or (runs["group"] >= groups).any():
        raise NetworkFileError("its runs of actions refer to rows or groups that do not exist")
    # The largest possible sum of the columns of each field.
    fields = np.sort(fields, order="first")
    magnitudes, starts = np.abs(weights.columns.astype(np.int64)), fields["first"].astype(np.intp)
    times = np.where(fields["kind"] == 1, fields["largest"], 1)[:, None].astype(np.int64)
    is_category = (fields["kind"] == 0)[:, None]
    of_fields = np.where(
        is_category, np.maximum.reduceat(magnitudes, starts), times * np.add.reduceat(magnitudes, starts)
    )
    _check_sums(of_fields.sum(axis=0), weights.first_bias)
    for layer, bias in (
        (weights.second, weights.second_bias),
        (weights.values, weights.values_bias),
    ):
        _check_sums(np.abs(layer.astype(np.int64)).sum(axis=-1) * ONE, bias)

    most = max(added for _, added in found)
    _check_sums(
        most * np.abs(weights.rows.astype(np.int64)).sum(axis=-1) * ONE,
        most * np.abs(weights.rows_bias.astype(np.int64)),
    )


def _check_sums(largest: NDArray[np.int64], bias: NDArray[np.int64] | NDArray[np.int32]) -> None:
    if (largest + np.abs(bias.astype(np.int64))).max(initial=0) >= 2**31:
        raise NetworkFileError("its weights are too large: a sum could leave the range of int32")
