"""Observations as NumPy arrays. The game's description is sufficient to read them.

layout = ObservationLayout(game("discat").description)
layout.arrays(position.observation(0))["own_hand"]
layout.features(batch.observations)
layout.features(batch.observations, out=numpy.empty((len(batch), layout.num_features), numpy.float16))
"""

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from chatiere.engine.core.arrays import aligned_empty
from chatiere.engine.core.encoders import SPAN, TERM, Encoder
from chatiere.engine.core.observation_parts import ObservationKind

# The minimum length of a run of adjacent numbers that are encoded together.
_MIN_RUN = 4

_Feature = TypeVar("_Feature", np.float32, np.float16, np.uint8)


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
    def name(self) -> str: ...
    @property
    def shape(self) -> Iterable[int]: ...
    @property
    def fields(self) -> Iterable[_Field]: ...


class _Described(Protocol):
    # A Description, a GameInfo of the API, or CompactObservations.
    @property
    def observation(self) -> Iterable[_Part]: ...


# The types of objects that describe observations, and of their fields.
Described = _Described
DescribedField = _Field


class _Numbers(NamedTuple):
    kind: int
    largest: int
    places: NDArray[np.intp]
    first_bit: np.uint8
    mask: np.uint8


class SparseFeatures(NamedTuple):
    """The features of n observations that are not 0, in the form of PyTorch's EmbeddingBag.

    The order of a row's features is fixed for a game, but it is not the order of their numbers.
    """

    offsets: NDArray[np.int32]
    """int32 (n + 1,): row i has numbers[offsets[i]:offsets[i + 1]]."""
    numbers: NDArray[np.int32]
    """int32 (offsets[n],): the numbers of the features, 0 … num_features - 1."""
    values: NDArray[np.float32]
    """float32 (offsets[n],): the values of the features."""


class ObservationLayout:
    """A reader of a game's observations. Their layout is the same for every number of players.

    An observation has `length` uint8s: the items of a bytes object, or the last axis of an array. The other axes of the
    array (the axes of a batch) become the first axes of the results. The methods raise ValueError for any other
    argument, and for numbers that are larger than the description allows.
    """

    def __init__(self, description: Described) -> None:
        """Read the layout of a game's observations.

        Args:
            description: A game's Description, or the GameInfo of ListGames.
        """
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
        """The largest number allowed at each place of an observation, uint8 (length,)."""
        for numbers in self._fields.values():
            self.largest[numbers.places] |= np.uint8(numbers.largest) << numbers.first_bit
        self.num_features = sum(math.prod(_plane_shape(numbers)) for numbers in self._fields.values())
        """The length of the last axis of `features`."""
        self.num_counts = sum(
            numbers.places.size for numbers in self._fields.values() if numbers.kind == ObservationKind.COUNT
        )
        """The number of features that are counts. All other features are 0 or 1."""
        self.packed_size = self.num_counts + -(-(self.num_features - self.num_counts) // 8)
        """The length of the last axis of packed features: a byte for each count, a bit for each other feature."""
        # The largest number of features of an observation that are not 0.
        self._most = sum(
            numbers.places.size * (numbers.largest.bit_length() if numbers.kind == ObservationKind.BITS else 1)
            for numbers in self._fields.values()
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickle, without the encoder, which a copy makes anew."""
        return {name: value for name, value in vars(self).items() if name != "_encoder"}

    def arrays(self, observations: NDArray[np.uint8] | bytes) -> dict[str, NDArray[np.uint8]]:
        """Return the numbers of observations by the names of their fields, for example "seats.hand_size".

        Args:
            observations: uint8 (…, length), the observations, or the bytes of one.

        Returns:
            uint8 (…, *field's shape) for each field.

        Raises:
            ValueError: If `observations` has another shape or dtype, or has a number above the largest.
        """
        rows, shape = rows_of(observations, self.length)
        observations = rows.reshape(*shape, self.length)
        found = {}
        for name, numbers in self._fields.items():
            values = observations[..., numbers.places] >> numbers.first_bit & numbers.mask
            if values.max(initial=0) > numbers.largest:
                raise ValueError(f"{name} is {values.max()}, where {numbers.largest} is the largest")
            found[name] = values
        return found

    def planes(self, observations: NDArray[np.uint8] | bytes) -> dict[str, NDArray[np.float32]]:
        """Return the numbers of observations as float32 from 0 to 1, by the names of their fields.

        Flags stay 0 or 1, and counts are divided by the largest number allowed. Categories become one-hot, and bits are
        unpacked. Both add a last axis, of length largest + 1 for categories or the bit length of `largest` for bits.

        Args:
            observations: uint8 (…, length), the observations, or the bytes of one.

        Returns:
            float32 (…, *field's shape) for each field, or with the additional axis.

        Raises:
            ValueError: If `observations` has another shape or dtype, or has a number above the largest.
        """
        return {name: _planes(self._fields[name], values) for name, values in self.arrays(observations).items()}

    @overload
    def features(self, observations: NDArray[np.uint8] | bytes, out: None = None) -> NDArray[np.float32]: ...
    @overload
    def features(self, observations: NDArray[np.uint8] | bytes, out: NDArray[_Feature]) -> NDArray[_Feature]: ...
    def features(self, observations: NDArray[np.uint8] | bytes, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return all planes, flattened and concatenated in the order of the fields. This releases the GIL.

        Packed features begin with a byte for each count. Counts are not divided. A bit for each other feature follows,
        with the lowest bit of each byte first. Both groups are in the order of the fields, and unused bits of the last
        byte are 0. `unpacked` converts packed features to numbers.

        Args:
            observations: uint8 (…, length), the observations, or the bytes of one.
            out: The array to fill and return, in C order: float32 or float16 (…, num_features). For packed features,
                uint8 (…, packed_size). None means a new array of float32.

        Returns:
            The features, (…, num_features) or packed.

        Raises:
            ValueError: If `observations` has another shape or dtype or a number that is too large, or `out` has another
                form. Nothing is written then.
        """
        rows, shape = rows_of(observations, self.length)
        if out is None:
            out = aligned_empty((*shape, self.num_features), np.float32)
        if not (out.flags.c_contiguous and out.flags.aligned and out.shape[:-1] == shape):
            raise ValueError(f"out must be aligned and in C order, with {shape} rows, not {out.dtype} {out.shape}")
        self._encoder.encode(rows, out.reshape(len(rows), out.shape[-1]))
        return out

    def sparse(self, observations: NDArray[np.uint8]) -> SparseFeatures:
        """Return the features that are not 0. This releases the GIL.

        Args:
            observations: uint8 (n, length), the observations.

        Raises:
            ValueError: If `observations` has another shape or dtype or a number that is too large.
        """
        rows, _ = rows_of(observations, self.length)
        first, most = len(rows) + 1, len(rows) * self._most + 1
        out = np.empty(first + 2 * most, np.int32)
        self._encoder.nonzero(rows, out.view(np.uint8))
        offsets, numbers, values = np.split(out, [first, first + most])
        return SparseFeatures(offsets, numbers[: offsets[-1]], values[: offsets[-1]].view(np.float32))

    def unpacked(self, packed: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return packed features as numbers.

        Args:
            packed: uint8 (…, packed_size), the packed features.

        Returns:
            The features, float32 (…, num_features).

        Raises:
            ValueError: If `packed` has another shape or dtype.
        """
        if packed.dtype != np.uint8 or packed.shape[-1:] != (self.packed_size,):
            raise ValueError(f"packed features are uint8 (…, {self.packed_size}), not {packed.dtype} {packed.shape}")
        is_count = np.concatenate(
            [
                np.full(math.prod(_plane_shape(numbers)), numbers.kind == ObservationKind.COUNT)
                for numbers in self._fields.values()
            ]
        )
        largest = [
            np.full(numbers.places.size, numbers.largest, np.float32)
            for numbers in self._fields.values()
            if numbers.kind == ObservationKind.COUNT
        ]
        features = np.empty((*packed.shape[:-1], self.num_features), np.float32)
        features[..., is_count] = packed[..., : self.num_counts] / np.concatenate(largest)
        features[..., ~is_count] = np.unpackbits(
            packed[..., self.num_counts :], axis=-1, count=self.num_features - self.num_counts, bitorder="little"
        )
        return features

    @cached_property
    def _encoder(self) -> Encoder:
        terms: dict[int, list[NDArray[np.void]]] = {kind: [] for kind in ObservationKind}
        # Begin with an entry that is not used, because the table must not be empty even without counts.
        scaled = [np.zeros(1, np.float32)]
        first, counts, others = 0, 0, 8 * self.num_counts
        for name, numbers in self._fields.items():
            places = numbers.places.ravel()
            if (self.largest[places] & (1 << numbers.first_bit) - 1 != (1 << numbers.first_bit) - 1).any():
                raise ValueError(f"{name} shares its uint8s with numbers that do not use all of their bits")
            width = math.prod(_plane_shape(numbers)[numbers.places.ndim :])
            each = np.zeros(places.size, TERM)
            each["place"], each["count"], each["width"] = places, 1, width
            each["shift"], each["mask"] = numbers.first_bit, numbers.mask
            each["first"] = first + width * np.arange(places.size)
            first += width * places.size
            if numbers.kind == ObservationKind.COUNT:
                each["packed"] = counts + np.arange(places.size)
                counts += places.size
                each["scale"] = sum(map(len, scaled))
                scaled.append(np.arange(int(numbers.mask) + 1, dtype=np.float32) / np.float32(numbers.largest))
            else:
                each["packed"] = others + width * np.arange(places.size)
                others += width * places.size
            terms[numbers.kind].append(each)
        flag, count, category, bits = (np.concatenate([np.zeros(0, TERM), *found]) for found in terms.values())
        whole = (flag["shift"] == 0) & (flag["mask"] == 0xFF)
        runs, flags = _runs_of(flag[whole])
        return Encoder(
            self.largest,
            self.num_features,
            self._most,
            self.packed_size,
            np.concatenate(scaled),
            _spans_of(np.concatenate([category, bits])),
            runs,
            np.concatenate([flags, flag[~whole]]),
            *(np.concatenate(_runs_of(of_kind)) for of_kind in (count, category, bits)),
        )


def rows_of(observations: NDArray[np.uint8] | bytes, length: int) -> tuple[NDArray[np.uint8], tuple[int, ...]]:
    """Return observations as rows in C order.

    Args:
        observations: uint8 (…, length), the observations, or the bytes of one.
        length: The length of an observation in uint8s.

    Returns:
        The rows, uint8 (n, length), and the shape of the axes before the last one.

    Raises:
        ValueError: If `observations` has another shape or dtype.
    """
    if not isinstance(observations, np.ndarray):
        observations = np.frombuffer(observations, np.uint8)
    if observations.dtype != np.uint8 or observations.shape[-1:] != (length,):
        raise ValueError(
            f"observations are uint8 with {length} numbers on the last axis, "
            f"not {observations.dtype} {observations.shape}"
        )
    shape = observations.shape[:-1]
    return np.ascontiguousarray(observations).reshape(math.prod(shape), length), shape


def _runs_of(terms: NDArray[np.void]) -> tuple[NDArray[np.void], NDArray[np.void]]:
    # Join adjacent numbers into one term if there are enough of them to save time. Return the joined terms and all
    # other terms.
    runs, others = [terms[:0]], [terms[:0]]
    apart = (np.diff(terms["place"].astype(np.intp)) != 1) | (np.diff(terms["first"]) != terms["width"][1:])
    for same in ("width", "shift", "mask", "scale"):
        apart |= terms[same][1:] != terms[same][:-1]
    for found in np.split(terms, np.flatnonzero(apart) + 1):
        if len(found) >= _MIN_RUN:
            found[0]["count"] = len(found)
            runs.append(found[:1])
        else:
            others.append(found)
    return np.concatenate(runs), np.concatenate(others)


def _spans_of(terms: NDArray[np.void]) -> NDArray[np.void]:
    # Return the ranges of features of terms that have one number each.
    terms = np.sort(terms, order="first")
    ends = terms["first"] + terms["width"]
    begin = np.append(True, terms["first"][1:] != ends[:-1])[: len(terms)]
    spans = np.zeros(np.count_nonzero(begin), SPAN)
    spans["first"] = terms["first"][begin]
    spans["count"] = ends[np.roll(begin, -1)] - spans["first"]
    return spans


def _plane_shape(numbers: _Numbers) -> tuple[int, ...]:
    # Return the shape of a plane for one observation.
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
