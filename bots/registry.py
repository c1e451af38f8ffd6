"""Bots by name."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, SupportsIndex

from chatiere import engine
from chatiere.bots.bot import Bot
from chatiere.bots.flat import FlatBot
from chatiere.bots.games import GAME_BOTS
from chatiere.bots.random import RandomBot
from chatiere.engine import Game


class Parameter(NamedTuple):
    """A whole number that a bot can be given: `lowest` … `highest`, both included."""

    name: str
    lowest: int
    highest: int
    default: int


class _Entry(NamedTuple):
    # Called with the parameters by name.
    make: Callable[..., Bot]
    parameters: Sequence[Parameter] = ()


_FOR_ANY_GAME = {
    "random": _Entry(RandomBot),
    "flat": _Entry(FlatBot, [Parameter("playouts", 1, 1_000_000, 1000)]),
}


def _entries(game: Game) -> dict[str, _Entry]:
    own = {name: _Entry(make) for name, make in GAME_BOTS.get(game.name, {}).items()}
    return _FOR_ANY_GAME | own


def names(game: str | Game) -> list[str]:
    """Return the names of the bots that play a game: those for any game, then its own.

    Raises EngineError: UNKNOWN_GAME.
    """
    return list(_entries(_game(game)))


def get(spec: str, game: str | Game, players: SupportsIndex) -> Bot:
    """Return the bot that `spec` describes, for a game (or its name) and a number of players.

    `spec`: the bot's name, one of `names`, or NAME:PARAMETER=NUMBER[,PARAMETER=NUMBER…]: "flat:playouts=500".
    Parameters that are not given have their defaults.

    Raises ValueError for a bot or parameter that there is not and a number out of range, and EngineError: UNKNOWN_GAME,
    INVALID_PLAYERS.
    """
    game = _game(game)
    game.read_players(players)
    name, colon, given = spec.partition(":")
    entries = _entries(game)
    if name not in entries:
        raise ValueError(f"unknown bot {name!r} for {game.name}; known bots: {', '.join(entries)}")
    entry = entries[name]
    numbers = {parameter.name: parameter.default for parameter in entry.parameters}
    numbers |= _read(name, entry.parameters, given) if colon else {}
    return entry.make(**numbers)


def split(specs: str) -> list[str]:
    """Split a list of bots at its commas, except those between the parameters of one bot.

    A bot begins after each comma, unless what follows is a parameter: it has "=" and no ":" before the next comma.
    """
    found: list[str] = []
    for part in specs.split(","):
        if found and "=" in part and ":" not in part:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def _game(game: str | Game) -> Game:
    return engine.game(game) if isinstance(game, str) else game


def _read(bot: str, parameters: Sequence[Parameter], text: str) -> dict[str, int]:
    known = {parameter.name: parameter for parameter in parameters}
    numbers: dict[str, int] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"bot {bot}: {part!r} is not PARAMETER=NUMBER")
        if name not in known:
            has = f"known parameters: {', '.join(known)}" if known else "it has none"
            raise ValueError(f"bot {bot}: unknown parameter {name!r}; {has}")
        if name in numbers:
            raise ValueError(f"bot {bot}: {name} is given twice")
        numbers[name] = _number(bot, known[name], value)
    return numbers


def _number(bot: str, parameter: Parameter, text: str) -> int:
    name, lowest, highest, _ = parameter
    # No number in range has more digits, and int() would take long for a million of them.
    if text.isascii() and text.isdecimal() and len(text) <= len(str(highest)) and lowest <= int(text) <= highest:
        return int(text)
    raise ValueError(f"bot {bot}: {name} must be a whole number from {lowest} to {highest}, not {text!r}")
