"""The rules of a game as Markdown: the rule sheet for players and the specification for authors.

The rule sheet consists of texts of the page. Both documents end with the options that differ from their defaults.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from google.protobuf.message import Message

from chatiere.engine import Game
from chatiere.engine.core.description import Option, OptionRange, OptionType
from chatiere.engine.core.languages import CORE, catalogue
from chatiere.engine.core.phrases import COMMON
from chatiere.service.base.scripts import words_in
from chatiere.v1.game_pb2 import Options

_PAGE = "chatiere.web"
# The sections of a rule sheet, in the same order as in the page's lessons/sheet.js.
_SECTIONS = ("aim", "turn", "specials", "end", "score")
_SEAT = "argument.seat"


@cache
def specification(game: Game) -> str:
    """Return the specification of a game, in English."""
    return resources.files(game.description.package).joinpath("rules.md").read_text("utf-8")


@cache
def sheet(game: Game, language: str) -> str:
    """Return the rule sheet of a game, without its pictures and its example. `language` is one of LANGUAGES.

    If the game has no sheet yet, returns the specification instead.
    """
    if not resources.files(_PAGE).joinpath("lessons", game.name).is_dir():
        return specification(game)
    shared, texts = _words("lessons", language), _words(f"lessons/{game.name}", language)
    title = catalogue(game.description.package, language)("title", game.description.title)
    parts = ["# " + shared["sheet"].format(game=title)]
    for section in _SECTIONS:
        found = sorted(key for key in texts if re.fullmatch(rf"{section}-\d", key))
        parts += [f"## {shared[section]}", *(texts[key] for key in found)]
    return "\n\n".join(parts) + "\n"


def options_section(game: Game, players: int, options: Options, language: str, *, by_name: bool) -> str:
    """Return the section about the options that differ from their defaults, or "" if no option differs.

    Args:
        game: The game.
        players: The number of players, or 0 for any number.
        options: Valid options of the game; may be empty.
        language: One of LANGUAGES.
        by_name: True for authors: the section shows the field names of options and the numbers of seats. False for
            players: the section shows the titles of options, and counts players from 1.
    """
    lines = list(_lines(game, players, getattr(options, game.name), language, by_name=by_name))
    return "\n".join(("", f"## {_words('words', language)['options']}", "", *lines, "")) if lines else ""


@cache
def _words(folder: str, language: str) -> Mapping[str, str]:
    # Return the texts in a folder of the page, by their keys.
    return words_in(resources.files(_PAGE).joinpath(folder, "words.js").read_text("utf-8"))[language]


def _lines(game: Game, players: int, options: Message, language: str, *, by_name: bool) -> Iterator[str]:
    # Yield a line for each option that differs from its default.
    say, words = catalogue(game.description.package, language), _words("words", language)
    for option in game.description.options:
        numbers = _numbers(option, options)
        ranges = [each for each in option.ranges(game.min_players, game.max_players) if players in (0, each.players)]
        if numbers is None or all(numbers == each.default_values for each in ranges):
            continue
        title = f"`{option.name}`" if by_name else f"**{say(f'option.{option.name}.title', option.title)}**"
        if option.type is not OptionType.FLAG:
            values = _values(game, option, numbers, ranges, language, by_name=by_name)
            title = words["option-is"].format(title=title, value=", ".join(values) or words["option-none"])
        yield f"- {title}. {say(f'option.{option.name}', option.meaning)}"


def _numbers(option: Option, options: Message) -> tuple[int, ...] | None:
    # Return the numbers of an option in a message, or None if the option is absent.
    field = options.DESCRIPTOR.fields_by_name[option.name]
    value: Any = getattr(options, option.name)
    if field.is_repeated:
        return tuple(value) or None
    if not options.HasField(option.name):
        return None
    if field.message_type is None:
        return (int(value),)
    # An option that is a set is a message with one list.
    return tuple(getattr(value, field.message_type.fields[0].name))


def _values(
    game: Game, option: Option, numbers: Sequence[int], ranges: Sequence[OptionRange], language: str, *, by_name: bool
) -> Iterator[str]:
    # Yield the values of an option as text. For a list indexed by pieces, yield only the values that differ from the
    # default.
    words = _words("words", language)
    if option.piece_kind == "seat" and not by_name:
        # For players, seats are counted from 1.
        yield from (f"{words['player']} {number + 1}" for number in numbers)
        return
    if not option.index_kind:
        yield from (_name(game, option.piece_kind, number, language) for number in numbers)
        return
    for index, number in enumerate(numbers):
        if any(each.default_values[index] != number for each in ranges):
            title = _name(game, option.index_kind, index, language)
            yield words["option-is"].format(title=title, value=number)


def _name(game: Game, kind: str, number: int, language: str) -> str:
    # Return the name of a piece or seat. If `kind` is empty, return the number.
    if kind == "seat":
        return catalogue(CORE, language)(_SEAT, COMMON[_SEAT]).format(number=number)
    if not kind:
        return str(number)
    say = catalogue(game.description.package, language)
    return next(each.name.text(say) for each in game.description.pieces if (each.kind, each.number) == (kind, number))
