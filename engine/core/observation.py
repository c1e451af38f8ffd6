"""Observations as NumPy arrays, by what a game says of their numbers and nothing else.

layout = ObservationLayout(game("discat").description)
layout.arrays(position.observation(0))["own_hand"]
layout.features(batch.observations)
"""

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chatiere.engine.core.description import ObservationKind


class _Field(Protocol):
    # An ObservationField, or an ObservationFieldInfo of the API.
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> int: ...
    @property
    def largest(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def shape(self) -> Iterable[int]: ...
    @property
    def strides(self) -> Iterable[int]: ...
    @property
    def first_bit(self) -> int: ...
    @property
    def num_bits(self) -> int: ...


class _Part(Protocol):
    # An ObservationPart, or an ObservationPartInfo of the API.
    @property
    def shape(self) -> Iterable[int]: ...
    @property
    def fields(self) -> Iterable[_Field]: ...


class _Described(Protocol):
    # A Description, or a GameInfo of the API.
    @property
    def observation(self) -> Iterable[_Part]: ...


class _Numbers(NamedTuple):
    kind: int
    largest: int
    places: NDArray[np.intp]
    first_bit: np.uint8
    mask: np.uint8


class ObservationLayout:
    """Reads the observations of a game: of the same one at every number of players.

    An observation is `length` uint8: as an array, or as bytes. Of arrays the last axis is that long, and the axes
    before it (those of a batch) come first in all that is answered. Raises ValueError for anything else, and for
    numbers above what the game says is the largest.
    """

    def __init__(self, description: _Described) -> None:
        """Observations as `description` says: a game's Description, or the GameInfo of ListGames."""
        self.length = 0
        """The length of an observation in uint8s."""
        self._fields: dict[str, _Numbers] = {}
        for part in description.observation:
            self.length += math.prod(part.shape)
            for field in part.fields:
                places = np.full(tuple(field.shape), field.offset, np.intp)
                for axis, stride in enumerate(field.strides):
                    places += stride * np.indices(places.shape, sparse=True)[axis]
                first_bit, mask = np.uint8(field.first_bit), np.uint8((1 << field.num_bits) - 1)
                self._fields[field.name] = _Numbers(field.kind, field.largest, places, first_bit, mask)
        self.num_features = sum(math.prod(_plane_shape(numbers)) for numbers in self._fields.values())
        """The length of what `features` makes of an observation."""

    def arrays(self, observations: NDArray[np.uint8] | bytes) -> dict[str, NDArray[np.uint8]]:
        """uint8 (…, *field's shape): the numbers by the names of their fields, such as "seats.hand_size"."""
        if not isinstance(observations, np.ndarray):
            observations = np.frombuffer(observations, np.uint8)
        if observations.dtype != np.uint8 or observations.shape[-1:] != (self.length,):
            raise ValueError(
                f"observations are uint8 with {self.length} numbers on the last axis, "
                f"not {observations.dtype} {observations.shape}"
            )
        found = {}
        for name, numbers in self._fields.items():
            values = observations[..., numbers.places] >> numbers.first_bit & numbers.mask
            if values.max(initial=0) > numbers.largest:
                raise ValueError(f"{name} is {values.max()}, where {numbers.largest} is the largest")
            found[name] = values
        return found

    def planes(self, observations: NDArray[np.uint8] | bytes) -> dict[str, NDArray[np.float32]]:
        """float32 from 0 to 1, by the names of the fields, such as "seats.hand_size".

        A flag is 0 or 1; a count is divided by the largest. Both are (…, *field's shape). Categories are one-hot, bits
        are unpacked, on another axis at the end: of largest + 1, or of as many bits as the largest has.
        """
        return {name: _planes(self._fields[name], values) for name, values in self.arrays(observations).items()}

    def features(self, observations: NDArray[np.uint8] | bytes) -> NDArray[np.float32]:
        """float32 (…, num_features): all planes of an observation in a row, in the order of the fields."""
        rows = []
        for name, plane in self.planes(observations).items():
            shape = _plane_shape(self._fields[name])
            rows.append(plane.reshape(*plane.shape[: plane.ndim - len(shape)], math.prod(shape)))
        return np.concatenate(rows, axis=-1)


def _plane_shape(numbers: _Numbers) -> tuple[int, ...]:
    # Of one observation.
    if numbers.kind == ObservationKind.CATEGORY:
        return (*numbers.places.shape, numbers.largest + 1)
    if numbers.kind == ObservationKind.BITS:
        return (*numbers.places.shape, numbers.largest.bit_length())
    return numbers.places.shape


def _planes(numbers: _Numbers, values: NDArray[np.uint8]) -> NDArray[np.float32]:
    if numbers.kind == ObservationKind.CATEGORY:
        return np.eye(numbers.largest + 1, dtype=np.float32)[values]
    if numbers.kind == ObservationKind.BITS:
        width = numbers.largest.bit_length()
        return np.unpackbits(values[..., None], axis=-1, count=width, bitorder="little").astype(np.float32)
    return values.astype(np.float32) / np.float32(numbers.largest)
