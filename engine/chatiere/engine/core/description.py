"""Descriptions of games, for people and for programs that should need no tables of their own."""

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from chatiere.engine.core.errors import FaultText

if TYPE_CHECKING:
    from chatiere.engine.core.position import Position

Say = Callable[[str, str], str]
"""A function that turns a key and an English text into a language, as a catalogue does."""


class OptionType(IntEnum):
    """What an option is; names and values are those of the API's OptionType."""

    FLAG = 1
    """True or false, as the numbers 1 and 0."""
    NUMBER = 2
    """A number."""
    NUMBERS = 3
    """A list of so many numbers."""
    PIECES = 4
    """A set of pieces, by their numbers."""


class OptionRange(NamedTuple):
    """What an option can be with a number of players.

    Numbers lie in `lowest` … `highest`, both included. `length`: of a list. `default_values`: the numbers (one, or
    those of a list) that an absent option stands for; empty if it stands for a chance event.
    """

    players: int
    lowest: int
    highest: int
    length: int
    default_values: tuple[int, ...]


@dataclass(frozen=True)
class Option:
    """An option of a game, as its rules file names it.

    Values lie in `lowest` … `highest`, both included; `default` says in words what an absent option means.
    `default_values`: the numbers (one, or those of a list) that an absent option stands for; empty if it stands for a
    chance event, or where `defaults` has them by number of players. `length`: the length of a list. `piece_kind`: the
    Piece.kind that its numbers name, or "seat"; empty if they name no pieces. `index_kind`: the Piece.kind for whose
    pieces, by number from 0, a list has its numbers; empty if for none. `only_for`: the numbers of players with which
    it has an effect; empty if with all.
    """

    name: str
    title: str
    meaning: str
    type: OptionType
    lowest: int
    highest: int
    default: str
    default_values: tuple[int, ...] = ()
    defaults: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    length: int = 0
    piece_kind: str = ""
    index_kind: str = ""
    only_for: tuple[int, ...] = ()

    def ranges(self, min_players: int, max_players: int) -> Iterator[OptionRange]:
        """Return what it can be with each number of players with which it has an effect."""
        for players in self.only_for or range(min_players, max_players + 1):
            highest = players - 1 if self.piece_kind == "seat" else self.highest
            yield OptionRange(
                players, self.lowest, highest, self.length, self.defaults.get(players, self.default_values)
            )

    def __str__(self) -> str:
        """Return the option as one line."""
        return f"{self.name}, {self.lowest} to {self.highest}: {self.meaning} Default: {self.default}."


def first_seat_option(meaning: str, seats: int) -> Option:
    """Return the `first_seat` option, which every game has; `seats`: the largest number of players."""
    return Option(
        "first_seat",
        "First seat",
        meaning,
        OptionType.NUMBER,
        0,
        seats - 1,
        "a chance event, uniform over the seats",
        piece_kind="seat",
    )


@dataclass(frozen=True)
class ActionKind:
    """A kind of action and its dense ids, `first_id` … `last_id`, both included."""

    name: str
    meaning: str
    first_id: int
    last_id: int

    def __str__(self) -> str:
        """Return the kind as one line."""
        return f"{_run(self.first_id, self.last_id)} {self.name}: {self.meaning}"


class Name:
    """A name in every language: an English template, and what stands in its places, names among it."""

    def __init__(self, template: str, **places: "Name | str | int") -> None:
        """Initialize with a template whose places are in braces, and what is in them."""
        self._template = template
        self._places = places

    def templates(self) -> Iterator[str]:
        """Return all templates that the name is made of."""
        yield self._template
        for place in self._places.values():
            if isinstance(place, Name):
                yield from place.templates()

    def text(self, say: Say) -> str:
        """Return the name in the language of `say`."""
        places = {name: each.text(say) if isinstance(each, Name) else each for name, each in self._places.items()}
        return say("name", self._template).format(**places)

    def __str__(self) -> str:
        """Return the name in English."""
        return self.text(lambda _, english: english)


@dataclass(frozen=True)
class Piece:
    """A card (or space …) of the box: its number in the API, and its name.

    `kind` is one lower-case word; each kind has its own numbers.
    """

    number: int
    name: Name
    kind: str = "card"


class ObservationKind(IntEnum):
    """The kind of an observation field's numbers; names and values are those of the API's ObservationKind."""

    FLAG = 1
    """0 or 1."""
    COUNT = 2
    """A number, an amount or a distance: 0 … largest."""
    CATEGORY = 3
    """One of `largest` + 1 things, in no meaningful order."""
    BITS = 4
    """A flag for each bit of `largest`, lowest bit first."""


@dataclass(frozen=True)
class ObservationField:
    """Numbers of one kind in an observation: an array of `shape` at `offset`, with `strides`, both counted in uint8.

    No number is above `largest`. Each is `num_bits` bits of its uint8, from bit `first_bit` on (usually all 8).
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

    `fields`: the same numbers, split by kind: one field with the part's name, or several ("seats.hand_size").
    """

    name: str
    meaning: str
    offset: int
    shape: tuple[int, ...]
    fields: tuple[ObservationField, ...]

    def __str__(self) -> str:
        """Return the part as one line, with the range of its numbers."""
        places = _run(self.offset, self.offset + math.prod(self.shape) - 1)
        shape = f" ({' x '.join(map(str, self.shape))})" if self.shape else ""
        return f"{places} {self.name}{shape}: {self.meaning}"


@dataclass(frozen=True)
class Numbers:
    """Numbers of one kind to lay out. Without a name they fill a whole part, in the part's own shape.

    With `first_bit` above 0 they share the uint8s of the numbers before them, whose bits end there.
    """

    kind: ObservationKind
    largest: int
    name: str = ""
    shape: tuple[int, ...] = ()
    first_bit: int = 0
    num_bits: int = 8


@dataclass(frozen=True)
class Each:
    """A sequence of numbers of several kinds, laid out `times` times."""

    times: int
    items: tuple[Numbers, ...]


def flag(name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Return Numbers that are 0 or 1."""
    return Numbers(ObservationKind.FLAG, 1, name, shape)


def count(largest: int, name: str = "", shape: tuple[int, ...] = (), *, first_bit: int = 0) -> Numbers:
    """Return Numbers that are amounts or distances, 0 … `largest`."""
    return Numbers(ObservationKind.COUNT, largest, name, shape, first_bit, 8 - first_bit)


def category(largest: int, name: str = "", shape: tuple[int, ...] = (), *, first_bit: int = 0) -> Numbers:
    """Return Numbers that each stand for one of `largest` + 1 things."""
    return Numbers(ObservationKind.CATEGORY, largest, name, shape, first_bit, 8 - first_bit)


def bits(width: int, name: str = "", shape: tuple[int, ...] = ()) -> Numbers:
    """Return Numbers that each hold `width` flags as bits."""
    return Numbers(ObservationKind.BITS, (1 << width) - 1, name, shape, 0, width)


def lay_out(
    parts: Iterable[tuple[str, str, tuple[int, ...], tuple[Numbers | Each, ...]]],
) -> tuple[ObservationPart, ...]:
    """Lay out parts, given as (name, meaning, shape, numbers), one after the other from offset 0.

    The numbers describe the whole part, or one row of it, where the first axes count the rows.
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
    # The fields of rows of items, `shape` rows in all.
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
    # The number of uint8s that it adds to those of the items before it.
    if isinstance(item, Each):
        return item.times * sum(map(_size, item.items))
    return math.prod(item.shape) if item.first_bit == 0 else 0


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class Limits(NamedTuple):
    """Bounds that hold for all games with a number of players, with given options or with any.

    The names are OpenSpiel's. The room's `limits` says which of the bounds are reached.
    """

    max_game_length: int
    """The largest number of decisions in a game, 1 or more."""
    max_chance_nodes_in_history: int
    """The largest number of chance events in a game, including first seat and deals; 0 or more."""
    max_chance_outcomes: int
    """The largest number of outcomes that a chance event lists, 1 or more."""
    min_utility: float
    """The lowest possible return of a seat: -1."""
    max_utility: float
    """The highest possible return of a seat: players - 1."""


@dataclass(frozen=True)
class Description:
    """Everything the core needs to know about a game besides its operations."""

    name: str
    # Where the catalogues are.
    package: str
    title: str
    options: tuple[Option, ...]
    action_kinds: tuple[ActionKind, ...]
    outcomes: str
    pieces: tuple[Piece, ...]
    # The values of the fields of the game's Pieces message; messages within it are mappings as well, texts are Names.
    piece_details: Mapping[str, Any]
    # True if totals are penalties.
    lowest_total_wins: bool
    observation: tuple[ObservationPart, ...]
    faults: Mapping[int, FaultText]
    # Why a game can be over: numbers of Position.end → names, those of the game's EndKind enum in lower case.
    ends: Mapping[int, str]
    # Options by name → the kernel's options struct; refuses unknown or invalid ones.
    encode_options: Callable[[int, Mapping[str, Any]], bytes]
    # A position's options by name; those left at their default are absent.
    options_of: Callable[["Position"], dict[str, Any]]
    # The label of a dense id at a position where it is legal, and of an outcome, in a language.
    action_label: Callable[["Position", int, str], str]
    outcome_label: Callable[["Position", int, str], str]
    # Filled in by the Game from its operations.
    min_players: int = 0
    max_players: int = 0

    def texts(self) -> set[tuple[str, str]]:
        """Return all that it says: the keys of catalogues, and the English texts."""
        found = {("title", self.title), ("outcomes", self.outcomes)}
        for option in self.options:
            key = f"option.{option.name}"
            found |= {(f"{key}.title", option.title), (key, option.meaning), (f"{key}.default", option.default)}
        found |= {(f"action_kind.{kind.name}", kind.meaning) for kind in self.action_kinds}
        found |= {(f"observation.{part.name}", part.meaning) for part in self.observation}
        names = [piece.name for piece in self.pieces] + list(_names_in(self.piece_details))
        return found | {("name", template) for name in names for template in name.templates()}

    def __str__(self) -> str:
        """Return the description as text to print: a line or a list for each field."""
        players = str(self.max_players)
        if self.min_players != self.max_players:
            players = f"{self.min_players} to {players}"
        lines = [f"{self.title} ({self.name}), {players} players"]
        for each in fields(self):
            value = getattr(self, each.name)
            title = each.name.replace("_", " ")
            if each.name in _HEADLINE or isinstance(value, Mapping) or callable(value):
                continue
            if each.name == "pieces":
                value = tuple(_pieces_by_kind(value))
            if isinstance(value, tuple):
                lines += [f"{title}:", *(_paragraph(f"  {entry}") for entry in value)]
            else:
                lines.append(_paragraph(f"{title}: {value}"))
        return "\n".join(lines)


# The fields in the first line of a description's text.
_HEADLINE = ("name", "package", "title", "min_players", "max_players")


def _names_in(value: Any) -> Iterator[Name]:
    # Those among the values of a message.
    if isinstance(value, Name):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _names_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _names_in(each)


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent="      ", break_on_hyphens=False)


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _pieces_by_kind(pieces: Iterable[Piece]) -> Iterable[str]:
    # One line for each kind: some have a hundred pieces.
    for kind, group in groupby(pieces, lambda piece: piece.kind):
        members = list(group)
        names = dict.fromkeys((str(members[0].name), str(members[-1].name)))
        yield f"{kind} {_run(members[0].number, members[-1].number)}: {' … '.join(names)}"
