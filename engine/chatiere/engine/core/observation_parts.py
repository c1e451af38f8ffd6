"""The parts of observations, and the functions with which a game's description lays them out."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum


class ObservationKind(IntEnum):
    """The kind of the numbers in an observation field, with the names and values of the API's ObservationKind."""

    FLAG = 1
    """A flag, 0 or 1."""
    COUNT = 2
    """An amount or a distance, 0 … `largest`."""
    CATEGORY = 3
    """One of `largest` + 1 categories. The order of the categories has no meaning."""
    BITS = 4
    """A set of flags: one for each bit of `largest`, the lowest bit first."""


@dataclass(frozen=True)
class ObservationField:
    """Numbers of one kind in an observation.

    Attributes:
        name: The name of the field.
        kind: The kind of the numbers.
        largest: The largest number allowed.
        offset: The place of the first number, counted in uint8.
        shape: The shape of the array of numbers.
        strides: The strides of the array, counted in uint8.
        first_bit: The first bit of each number in its uint8.
        num_bits: The number of bits of each number, usually all 8.
    """

    name: str
    kind: ObservationKind
    largest: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    first_bit: int = 0
    num_bits: int = 8


@dataclass(frozen=True)
class ObservationPart:
    """Consecutive numbers of an observation.

    Attributes:
        name: The name of the part.
        meaning: A description of the part, in English.
        offset: The place of the first number, counted in uint8.
        shape: The shape of the array of numbers, in C order.
        fields: The fields of the part, each with numbers of one kind: one field with the part's name, or several fields
            ("seats.hand_size").
    """

    name: str
    meaning: str
    offset: int
    shape: tuple[int, ...]
    fields: tuple[ObservationField, ...]

    def __str__(self) -> str:
        """Return a description of the part in one line, with the range of its places."""
        places = run_of(self.offset, self.offset + math.prod(self.shape) - 1)
        shape = f" ({' x '.join(map(str, self.shape))})" if self.shape else ""
        return f"{places} {self.name}{shape}: {self.meaning}"


@dataclass(frozen=True)
class Numbers:
    """Numbers of one kind that are to be laid out.

    Attributes:
        kind: The kind of the numbers.
        largest: The largest number allowed.
        name: The name of the field. Without a name, the numbers fill a whole part and have its shape.
        shape: The shape of the array of numbers.
        first_bit: The first bit of each number in its uint8. If above 0, the numbers share the uint8s of the preceding
            numbers. The bits of the preceding numbers end before `first_bit`.
        num_bits: The number of bits of each number.
    """

    kind: ObservationKind
    largest: int
    name: str = ""
    shape: tuple[int, ...] = ()
    first_bit: int = 0
    num_bits: int = 8


@dataclass(frozen=True)
class Each:
    """A repeated sequence of numbers of several kinds.

    Attributes:
        times: The number of times that the sequence is laid out.
        items: The numbers of the sequence.
    """

    times: int
    items: tuple[Numbers, ...]


def flag(name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Return Numbers that are 0 or 1."""
    return Numbers(ObservationKind.FLAG, 1, name, shape)


def count(largest: int, name: str = "", shape: tuple[int, ...] = (), *, first_bit: int = 0) -> Numbers:
    """Return Numbers that are amounts or distances, 0 … `largest`."""
    return Numbers(ObservationKind.COUNT, largest, name, shape, first_bit, 8 - first_bit)


def category(largest: int, name: str = "", shape: tuple[int, ...] = (), *, first_bit: int = 0) -> Numbers:
    """Return Numbers that each represent one of `largest` + 1 categories."""
    return Numbers(ObservationKind.CATEGORY, largest, name, shape, first_bit, 8 - first_bit)


def bits(width: int, name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Return Numbers that each have `width` flags as bits."""
    return Numbers(ObservationKind.BITS, (1 << width) - 1, name, shape, 0, width)


def lay_out(
    parts: Iterable[tuple[str, str, tuple[int, ...], tuple[Numbers | Each, ...]]],
) -> tuple[ObservationPart, ...]:
    """Lay out parts in order, from offset 0 and without gaps.

    Args:
        parts: (name, meaning, shape, numbers) for each part. The numbers describe the whole part, or one row of the
            part if the first axes of its shape count rows.
    """
    placed = []
    offset = 0
    for name, meaning, shape, items in parts:
        fields = tuple(_fields(name, offset, shape, items))
        placed.append(ObservationPart(name, meaning, offset, shape, fields))
        offset += math.prod(shape)
    return tuple(placed)


def _fields(
    part: str, offset: int, shape: tuple[int, ...], items: tuple[Numbers | Each, ...]
) -> Iterator[ObservationField]:
    first = items[0]
    if isinstance(first, Numbers) and not first.name:
        yield _field(first, part, offset, shape, _strides(shape))
        return
    row = sum(map(_size, items))
    axes = next(axes for axes in range(len(shape) + 1) if math.prod(shape[axes:]) == row)
    yield from _row(f"{part}.", offset, shape[:axes], _strides(shape)[:axes], items)


def _row(
    prefix: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], items: tuple[Numbers | Each, ...]
) -> Iterator[ObservationField]:
    # Return the fields of items that are repeated in rows. `shape` is the shape of the array of rows.
    for item in items:
        if isinstance(item, Each):
            stride = sum(map(_size, item.items))
            yield from _row(prefix, offset, (*shape, item.times), (*strides, stride), item.items)
        else:
            start = offset if item.first_bit == 0 else offset - math.prod(item.shape)
            strides_of_item = (*strides, *_strides(item.shape))
            yield _field(item, prefix + item.name, start, (*shape, *item.shape), strides_of_item)
        offset += _size(item)


def _field(
    numbers: Numbers, name: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> ObservationField:
    return ObservationField(
        name, numbers.kind, numbers.largest, offset, shape, strides, numbers.first_bit, numbers.num_bits
    )


def _size(item: Numbers | Each) -> int:
    # Return the number of uint8s that an item needs.
    if isinstance(item, Each):
        return item.times * sum(map(_size, item.items))
    return math.prod(item.shape) if item.first_bit == 0 else 0


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def run_of(first: int, last: int) -> str:
    """Return the numbers first … last as text."""
    return str(first) if first == last else f"{first}-{last}"
