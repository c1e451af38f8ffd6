"""Observations as NumPy arrays, read by the game's description alone.

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
    """A reader of a game's observations, whose layout is the same for every number of players.

    An observation is `length` uint8, as bytes or as the last axis of an array; the axes before it (those of a batch)
    also come first in the results. The methods raise ValueError for anything else, and for numbers above the largest
    that the description gives.
    """

    def __init__(self, description: _Described) -> None:
        """Read the layout from `description`: a game's Description, or the GameInfo of ListGames."""
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
        self.largest = np.zeros(self.length, np.uint8)
        """The largest number that each place of an observation can hold, uint8 (length,)."""
        for numbers in self._fields.values():
            self.largest[numbers.places] |= np.uint8(numbers.largest) << numbers.first_bit
        self.num_features = sum(math.prod(_plane_shape(numbers)) for numbers in self._fields.values())
        """The length of the last axis of `features`."""

    def arrays(self, observations: NDArray[np.uint8] | bytes) -> dict[str, NDArray[np.uint8]]:
        """Return the numbers, uint8 (…, *field's shape), by the names of their fields, such as "seats.hand_size"."""
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
        """Return the numbers as float32 from 0 to 1, by the names of their fields, such as "seats.hand_size".

        Flags stay 0 or 1, counts are divided by the largest; both are (…, *field's shape). Categories become one-hot
        and bits are unpacked, on an additional last axis of length largest + 1, or of the bit length of the largest.
        """
        return {name: _planes(self._fields[name], values) for name, values in self.arrays(observations).items()}

    def features(self, observations: NDArray[np.uint8] | bytes) -> NDArray[np.float32]:
        """Return all planes, flattened and concatenated in the order of the fields: float32 (…, num_features)."""
        rows = []
        for name, plane in self.planes(observations).items():
            shape = _plane_shape(self._fields[name])
            rows.append(plane.reshape(*plane.shape[: plane.ndim - len(shape)], math.prod(shape)))
        return np.concatenate(rows, axis=-1)


def _plane_shape(numbers: _Numbers) -> tuple[int, ...]:
    # The shape for one observation.
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
