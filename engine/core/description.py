"""What a game says of itself, for people and for programs that should need no table of their own."""

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from chatiere.engine.core.errors import FaultText

if TYPE_CHECKING:
    from chatiere.engine.core.position import Position


@dataclass(frozen=True)
class Option:
    """An option of a game, as its rules file names it.

    Values lie in `lowest` … `highest`, both included; `default` says in words what an absent option means.
    `default_values`: the numbers (one, or those of a list) that an absent option stands for, where they do not depend
    on the number of players; else empty.
    """

    name: str
    meaning: str
    lowest: int
    highest: int
    default: str
    default_values: tuple[int, ...] = ()

    def __str__(self) -> str:
        """The option in a line."""
        return f"{self.name}, {self.lowest} to {self.highest}: {self.meaning} Default: {self.default}."


def first_seat_option(meaning: str, seats: int) -> Option:
    """The option that every game has; `seats`: of the largest number of players."""
    return Option("first_seat", meaning, 0, seats - 1, "a chance event, uniform over the seats")


@dataclass(frozen=True)
class ActionKind:
    """A kind of action and its dense ids, `first_id` … `last_id`, both included."""

    name: str
    meaning: str
    first_id: int
    last_id: int

    def __str__(self) -> str:
        """The kind in a line."""
        return f"{_run(self.first_id, self.last_id)} {self.name}: {self.meaning}"


@dataclass(frozen=True)
class Piece:
    """A card (or space …) of the box: the number that the API knows it by, and its names.

    Pieces of another kind, one lower-case word, have numbers of their own.
    """

    number: int
    english: str
    french: str
    kind: str = "card"


class ObservationKind(IntEnum):
    """The kind of an observation field's numbers, with the names and numbers of the API's ObservationKind."""

    FLAG = 1
    """0 or 1."""
    COUNT = 2
    """A number, an amount or a distance: 0 … largest."""
    CATEGORY = 3
    """Which one of `largest` + 1 things: no number is nearer to another than to a third."""
    BITS = 4
    """A flag for each bit of `largest`, the lowest bit first."""


@dataclass(frozen=True)
class ObservationField:
    """Numbers of one kind in an observation: an array of `shape`, from `offset`, with `strides`, counted in uint8.

    No number is above `largest`. Each is `num_bits` bits of its uint8 from bit `first_bit` on (mostly all 8).
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
    """A run of an observation's numbers, from `offset`, shaped `shape` in C order.

    `fields`: the same numbers by kinds. One field of the part's name, or several: "seats.hand_size" of "seats".
    """

    name: str
    meaning: str
    offset: int
    shape: tuple[int, ...]
    fields: tuple[ObservationField, ...]

    def __str__(self) -> str:
        """The part in a line, with the places of its numbers."""
        places = _run(self.offset, self.offset + math.prod(self.shape) - 1)
        shape = f" ({' x '.join(map(str, self.shape))})" if self.shape else ""
        return f"{places} {self.name}{shape}: {self.meaning}"


@dataclass(frozen=True)
class Numbers:
    """Numbers of one kind to lay out. Without a name they are all of a part, in the part's own shape.

    With `first_bit` above 0 they stand in the same uint8s as the numbers before them, whose bits end there.
    """

    kind: ObservationKind
    largest: int
    name: str = ""
    shape: tuple[int, ...] = ()
    first_bit: int = 0
    num_bits: int = 8


@dataclass(frozen=True)
class Each:
    """Several kinds of numbers to lay out in turn, `times` times."""

    times: int
    items: tuple[Numbers, ...]


def flag(name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Numbers that are 0 or 1."""
    return Numbers(ObservationKind.FLAG, 1, name, shape)


def count(largest: int, name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Numbers that say how many, how much or how far."""
    return Numbers(ObservationKind.COUNT, largest, name, shape)


def category(largest: int, name: str = "", shape: tuple[int, ...] = (), *, first_bit: int = 0) -> Numbers:
    """Numbers that say which one of `largest` + 1 things."""
    return Numbers(ObservationKind.CATEGORY, largest, name, shape, first_bit, 8 - first_bit)


def bits(width: int, name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Numbers that are flags together, as many as `width` says."""
    return Numbers(ObservationKind.BITS, (1 << width) - 1, name, shape, 0, width)


def lay_out(
    parts: Iterable[tuple[str, str, tuple[int, ...], tuple[Numbers | Each, ...]]],
) -> tuple[ObservationPart, ...]:
    """Parts given as (name, meaning, shape, what the numbers are), one after the other from offset 0.

    What the numbers are is told of all of them, or of a row of them: what the first axes count.
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
    # Of `shape` rows, each of these items one after the other.
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
    # In uint8s that no item before it has.
    if isinstance(item, Each):
        return item.times * sum(map(_size, item.items))
    return math.prod(item.shape) if item.first_bit == 0 else 0


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class Limits(NamedTuple):
    """Bounds of all games for a number of players, with certain options or with any.

    The names are OpenSpiel's. A bound: whether some game reaches it is in the room's `limits`.
    """

    max_game_length: int
    """The most decisions that a game has, 1 or more."""
    max_chance_nodes_in_history: int
    """The most chance events that a game has, with explicit chance, first seat and deals among them; 0 or more."""
    max_chance_outcomes: int
    """The most outcomes that a chance event lists, 1 or more."""
    min_utility: float
    """The lowest return that a seat can have: -1."""
    max_utility: float
    """The highest return that a seat can have: players - 1."""


@dataclass(frozen=True)
class Description:
    """All that the core needs to know of a game beside its table of operations."""

    name: str
    english_title: str
    french_title: str
    options: tuple[Option, ...]
    action_kinds: tuple[ActionKind, ...]
    outcomes: str
    pieces: tuple[Piece, ...]
    # Totals are penalties.
    lowest_total_wins: bool
    observation: tuple[ObservationPart, ...]
    faults: Mapping[int, FaultText]
    # Options by name → the kernel's options struct; refuses what is unknown or invalid.
    encode_options: Callable[[int, Mapping[str, Any]], bytes]
    # The options that a position was begun with, by name; those left at their default are absent.
    options_of: Callable[["Position"], dict[str, Any]]
    # Plain English for a dense id at a position where it is legal, and for an outcome.
    action_label: Callable[["Position", int], str]
    outcome_label: Callable[["Position", int], str]
    # Of the table of operations: filled in by the Game that is made of both.
    min_players: int = 0
    max_players: int = 0

    def __str__(self) -> str:
        """All that it tells people, as text to print: a line or a list for each field."""
        players = str(self.max_players)
        if self.min_players != self.max_players:
            players = f"{self.min_players} to {players}"
        lines = [f"{self.english_title} ({self.name}), {players} players"]
        for field in fields(self):
            value = getattr(self, field.name)
            title = field.name.replace("_", " ")
            if field.name in _HEADLINE or isinstance(value, Mapping) or callable(value):
                continue
            if field.name == "pieces":
                value = tuple(_pieces_by_kind(value))
            if isinstance(value, tuple):
                lines += [f"{title}:", *(_paragraph(f"  {entry}") for entry in value)]
            else:
                lines.append(_paragraph(f"{title}: {value}"))
        return "\n".join(lines)


# The fields that the first line of a description's text has.
_HEADLINE = ("name", "english_title", "min_players", "max_players")


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent="      ", break_on_hyphens=False)


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _pieces_by_kind(pieces: Iterable[Piece]) -> Iterable[str]:
    # Each kind in a line: there may be a hundred of one.
    for kind, group in groupby(pieces, lambda piece: piece.kind):
        members = list(group)
        names = dict.fromkeys((members[0].english, members[-1].english))
        yield f"{kind} {_run(members[0].number, members[-1].number)}: {' … '.join(names)}"
