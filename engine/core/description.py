"""What a game says of itself, for people and for programs that should need no table of their own."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
