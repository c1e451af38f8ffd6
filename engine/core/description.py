"""What a game says of itself, for people and for programs that should need no table of their own."""

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from typing import TYPE_CHECKING, Any

from chatiere.engine.core.errors import FaultText

if TYPE_CHECKING:
    from chatiere.engine.core.position import Position
    from chatiere.engine.core.wire import Writer


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


@dataclass(frozen=True)
class ObservationPart:
    """A run of an observation's numbers, from `offset`, shaped `shape` in C order."""

    name: str
    meaning: str
    offset: int
    shape: tuple[int, ...]

    def __str__(self) -> str:
        """The part in a line, with the places of its numbers."""
        places = _run(self.offset, self.offset + math.prod(self.shape) - 1)
        shape = f" ({' x '.join(map(str, self.shape))})" if self.shape else ""
        return f"{places} {self.name}{shape}: {self.meaning}"


def lay_out(parts: Iterable[tuple[str, str, tuple[int, ...]]]) -> tuple[ObservationPart, ...]:
    """Parts given as (name, meaning, shape), one after the other from offset 0."""
    placed = []
    offset = 0
    for name, meaning, shape in parts:
        placed.append(ObservationPart(name, meaning, offset, shape))
        offset += math.prod(shape)
    return tuple(placed)


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
    observation: tuple[ObservationPart, ...]
    faults: Mapping[int, FaultText]
    # Options by name → the kernel's options struct; refuses what is unknown or invalid.
    encode_options: Callable[[int, Mapping[str, Any]], bytes]
    # The options that a position was begun with, by name; those left at their default are absent.
    options_of: Callable[["Position"], dict[str, Any]]
    # Plain English for a dense id at a position where it is legal, as a piece of a text, and for an outcome.
    put_action_label: Callable[["Writer", "Position", int], None]
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
