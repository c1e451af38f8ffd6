"""Descriptions of games for people and programs. With a description, a program needs no table for each game."""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from chatiere.engine.core.errors import FaultText
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.observation_parts import ObservationPart, run_of

if TYPE_CHECKING:
    from chatiere.engine.core.position import Position

Say = Callable[[str, str], str]
"""A function that returns the text in another language for a key and an English text, for example a Catalogue."""


class OptionType(IntEnum):
    """The type of an option's value. The names and numbers are the same as in the API's OptionType."""

    FLAG = 1
    """A flag, represented by 1 (true) or 0 (false)."""
    NUMBER = 2
    """A number."""
    NUMBERS = 3
    """A list of a fixed number of numbers."""
    PIECES = 4
    """A set of pieces, by their numbers."""


class OptionRange(NamedTuple):
    """The values that an option can have with a number of players.

    Attributes:
        players: The number of players.
        lowest: The smallest number.
        highest: The largest number.
        length: The length of a list.
        default_values: The default: the number, or the numbers of the list. Empty if a chance event decides instead.
    """

    players: int
    lowest: int
    highest: int
    length: int
    default_values: tuple[int, ...]


@dataclass(frozen=True)
class Option:
    """An option of a game.

    Attributes:
        name: The name of the option in the rules file.
        title: A short title, in English.
        meaning: A description of the option, in English.
        type: The type of the value.
        lowest: The smallest number.
        highest: The largest number.
        default: A description of the default, in English.
        default_values: The default: the number, or the numbers of the list. Empty if a chance event decides instead, or
            if `defaults` has the numbers.
        defaults: A mapping of each number of players to the default, if the default depends on the number of players.
        length: The length of a list.
        piece_kind: The Piece.kind of the pieces to which the numbers refer, "seat" if they are seats, or "".
        index_kind: The Piece.kind of a list that has a number for each piece of this kind, in the order of the pieces.
            Empty for other lists.
        only_for: The numbers of players with which the option has an effect. Empty if the option always has an effect.
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

    @classmethod
    def first_seat(cls, meaning: str, seats: int) -> "Option":
        """Return the option `first_seat`. Every game has this option.

        Args:
            meaning: The meaning of the option, in English.
            seats: The largest number of players.
        """
        default = "a chance event, uniform over the seats"
        return cls("first_seat", "First seat", meaning, OptionType.NUMBER, 0, seats - 1, default, piece_kind="seat")

    def ranges(self, min_players: int, max_players: int) -> Iterator[OptionRange]:
        """Yield the option's range for each number of players with which the option has an effect."""
        for players in self.only_for or range(min_players, max_players + 1):
            highest = players - 1 if self.piece_kind == "seat" else self.highest
            yield OptionRange(
                players, self.lowest, highest, self.length, self.defaults.get(players, self.default_values)
            )

    def default_value(self, players: int) -> Any:
        """Return the default for a number of players, in the form that callers use. None if a chance event decides."""
        values = self.defaults.get(players, self.default_values)
        if self.type in (OptionType.NUMBERS, OptionType.PIECES):
            return list(values)
        if not values:
            return None
        return bool(values[0]) if self.type is OptionType.FLAG else values[0]

    def __str__(self) -> str:
        """Return a description of the option in one line."""
        return f"{self.name}, {self.lowest} to {self.highest}: {self.meaning} Default: {self.default}."


Template = str | Plural
"""An English text with the names of its arguments in braces. If the text depends on an argument, a Plural."""


@dataclass(frozen=True)
class ActionKind:
    """A kind of action.

    Attributes:
        name: The name of the kind.
        meaning: A description of the kind, in English.
        first_id: The first dense id of the kind.
        last_id: The last dense id of the kind.
        phrase: The label of most actions of the kind.
    """

    name: str
    meaning: str
    first_id: int
    last_id: int
    phrase: Template = ""

    def __str__(self) -> str:
        """Return a description of the kind in one line."""
        return f"{run_of(self.first_id, self.last_id)} {self.name}: {self.meaning}"


@dataclass(frozen=True)
class EventKind:
    """A kind of event.

    Attributes:
        phrase: The label of an event of this kind.
        values: The names of the fields of the game's Event message that have the event's values, in order.
        hidden: The label for viewers who may not see the values. Empty if the label is the same for all viewers.
    """

    phrase: Template
    values: tuple[str, ...] = ()
    hidden: Template = ""


class Name:
    """A name that can be translated: an English template, and the values of its places. A value may also be a Name."""

    def __init__(self, template: str, **places: "Name | str | int") -> None:
        """Initialize a name.

        Args:
            template: The English template, with its places in braces.
            **places: The value of each place.
        """
        self._template = template
        self._places = places

    def templates(self) -> Iterator[str]:
        """Yield the name's template, and the templates of the names in its places."""
        yield self._template
        for place in self._places.values():
            if isinstance(place, Name):
                yield from place.templates()

    def text(self, say: Say) -> str:
        """Return the name in the language to which `say` translates."""
        places = {name: each.text(say) if isinstance(each, Name) else each for name, each in self._places.items()}
        return say("name", self._template).format(**places)

    def __str__(self) -> str:
        """Return the name in English."""
        return self.text(lambda _, english: english)


@dataclass(frozen=True)
class Piece:
    """A piece in the game's box, for example a card or a space.

    Attributes:
        number: The number of the piece in the API. Each kind has separate numbers.
        name: The name of the piece.
        kind: The kind of the piece, one lower-case word.
    """

    number: int
    name: Name
    kind: str = "card"


class Limits(NamedTuple):
    """Bounds for all games with a given number of players, and with given options or any options.

    The names are the same as in OpenSpiel. The game package's `limits` documents which of the bounds are reached.
    """

    max_game_length: int
    """The maximum number of decisions in a game, 1 or more."""
    max_chance_nodes_in_history: int
    """The maximum number of chance events in a game, including the first seat and deals, 0 or more."""
    max_chance_outcomes: int
    """The maximum number of outcomes of a chance event, 1 or more."""
    min_utility: float
    """The lowest possible return of a seat: -1."""
    max_utility: float
    """The highest possible return of a seat: players - 1."""


class OptionsAndLabels(Protocol):
    """The part of a game's codec that converts options and returns labels."""

    @property
    def encode_options(self) -> Callable[[int, Mapping[str, Any]], bytes]:
        """A function that converts a number of players, and options by name, to the kernel's struct of options."""

    @property
    def options_of(self) -> Callable[["Position"], dict[str, Any]]:
        """A function that returns the options of a position that differ from their defaults, by name."""

    def action_label(self, position: "Position", action: int, language: str = "en") -> str:
        """Return the label of a dense id at a position where it is legal."""

    def outcome_label(self, position: "Position", outcome: int, language: str = "en") -> str:
        """Return the label of a chance outcome."""


@dataclass(frozen=True)
class Description:
    """All facts about a game that the core needs in addition to its operations.

    Attributes:
        name: The game's name in the API and in file names, for example "discat".
        package: The Python package that contains the game's catalogues.
        title: The title, in English.
        options: The options of the game.
        action_kinds: The kinds of actions, with their dense ids.
        outcomes: The meaning of the outcomes of chance events, in English.
        pieces: All pieces of the game.
        piece_details: The values of the fields of the game's Pieces message. Nested messages are mappings as well, and
            texts are Names.
        lowest_total_wins: True if totals are penalties, so that the lowest total wins.
        observation: The parts of an observation.
        faults: The texts of the kernel's error codes.
        ends: The names of the reasons why a game can be over, by the numbers of Position.end. They are the names in the
            game's EndKind enum, in lower case.
        encode_options: A function that converts a number of players, and options by name, to the kernel's struct of
            options. It refuses unknown and invalid options.
        options_of: A function that returns the options of a position that differ from their defaults, by name.
        action_label: A function that returns the label of a legal dense id at a position, in a language.
        outcome_label: A function that returns the label of an outcome at a position, in a language.
        events: A mapping of the kernel's kinds of events to their descriptions.
        end_phrases: A mapping of the kernel's ends to phrases for the reasons why a game can be over. The ends have the
            names of the game's EndKind enum. The argument of a phrase can be the seat.
        phrases: Further phrases for labels and prompts, by key (core/phrases.pyx).
        argument_kinds: A mapping of names of phrases' arguments to the Piece.kind of their numbers, or to "seat". Other
            arguments are plain numbers.
        lists: The names of those values of events that are lists. A list in the last place has all remaining values.
            Any other list has one value.
        min_players: The smallest number of players. The Game sets it from its operations.
        max_players: The largest number of players. The Game sets it from its operations.
    """

    name: str
    package: str
    title: str
    options: tuple[Option, ...]
    action_kinds: tuple[ActionKind, ...]
    outcomes: str
    pieces: tuple[Piece, ...]
    piece_details: Mapping[str, Any]
    lowest_total_wins: bool
    observation: tuple[ObservationPart, ...]
    faults: Mapping[int, FaultText]
    ends: Mapping[int, str] = field(default_factory=dict)
    encode_options: Callable[[int, Mapping[str, Any]], bytes] | None = None
    options_of: Callable[["Position"], dict[str, Any]] | None = None
    action_label: Callable[["Position", int, str], str] | None = None
    outcome_label: Callable[["Position", int, str], str] | None = None
    events: Mapping[IntEnum, EventKind] = field(default_factory=dict)
    end_phrases: Mapping[IntEnum, str] = field(default_factory=dict)
    phrases: Mapping[str, Template] = field(default_factory=dict)
    argument_kinds: Mapping[str, str] = field(default_factory=dict)
    lists: tuple[str, ...] = ()
    min_players: int = 0
    max_players: int = 0

    def __post_init__(self) -> None:
        """Set the names of the ends."""
        if self.end_phrases:
            object.__setattr__(self, "ends", {int(end): end.name.lower() for end in self.end_phrases})

    def defaults(self, players: int) -> dict[str, Any]:
        """Return the default of each option except `first_seat` for a number of players, in the form of callers."""
        return {option.name: option.default_value(players) for option in self.options if option.name != "first_seat"}

    def event_values(self) -> dict[int, tuple[str, ...]]:
        """Return a dict that maps each kind of event to the names of its values."""
        return {int(kind): event.values for kind, event in self.events.items()}

    def texts(self) -> set[tuple[str, str]]:
        """Return all texts of the description, each as its key in catalogues and the English text."""
        found = {("title", self.title), ("outcomes", self.outcomes)}
        for option in self.options:
            key = f"option.{option.name}"
            found |= {(f"{key}.title", option.title), (key, option.meaning), (f"{key}.default", option.default)}
        found |= {(f"action_kind.{kind.name}", kind.meaning) for kind in self.action_kinds}
        found |= {(f"observation.{part.name}", part.meaning) for part in self.observation}
        names = [piece.name for piece in self.pieces] + list(_names_in(self.piece_details))
        return found | {("name", template) for name in names for template in name.templates()}

    def __str__(self) -> str:
        """Return the description as text to print, with a line or a list for each field."""
        players = str(self.max_players)
        if self.min_players != self.max_players:
            players = f"{self.min_players} to {players}"
        lines = [f"{self.title} ({self.name}), {players} players"]
        for each in fields(self):
            value = getattr(self, each.name)
            title = each.name.replace("_", " ")
            if value is None or each.name in _HEADLINE or isinstance(value, Mapping) or callable(value):
                continue
            if each.name == "pieces":
                value = tuple(_pieces_by_kind(value))
            if isinstance(value, tuple):
                lines += [f"{title}:", *(_paragraph(f"  {entry}") for entry in value)]
            else:
                lines.append(_paragraph(f"{title}: {value}"))
        return "\n".join(lines)


# The fields in the first line of a description's text.
_HEADLINE = ("name", "package", "title", "lists", "min_players", "max_players")


def _names_in(value: Any) -> Iterator[Name]:
    # Yield the names among the values of a message.
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


def _pieces_by_kind(pieces: Iterable[Piece]) -> Iterable[str]:
    # Yield one line for each kind, because some kinds have a hundred pieces.
    for kind, group in groupby(pieces, lambda piece: piece.kind):
        members = list(group)
        names = dict.fromkeys((str(members[0].name), str(members[-1].name)))
        yield f"{kind} {run_of(members[0].number, members[-1].number)}: {' … '.join(names)}"
