"""Bots by name.

A bot and its budget are one text, such as "ismcts:simulations=500"; SuggestRequest.bot of the API has the grammar.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, SupportsIndex

from chatiere import engine
from chatiere.bots.bot import Bot
from chatiere.bots.flat import FlatBot
from chatiere.bots.games import GAME_BOTS, SECONDS
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.random import RandomBot
from chatiere.engine import Game


class Parameter(NamedTuple):
    """A whole number that a bot can be given: `lowest` … `highest`, both included; `default` may be None, for none.

    `counts_games`: it is the number of games that are played out for a decision. `title`, `description`: for people, in
    English.
    """

    name: str
    lowest: int
    highest: int
    default: int | None
    counts_games: bool
    title: str
    description: str


class _Entry(NamedTuple):
    # Called with the parameters by name.
    make: Callable[..., Bot]
    title: str
    description: str
    parameters: Sequence[Parameter] = ()


class BotInfo(NamedTuple):
    """What people and programs may want to know of a bot. `title`, `description`: in English.

    `seconds`: about how long a decision takes with the default of its parameters, midway through a game, on one core;
    None: less than a millisecond.
    """

    name: str
    title: str
    description: str
    parameters: Sequence[Parameter]
    seconds: float | None


def _entry(bot: type[Bot], *parameters: Parameter) -> _Entry:
    return _Entry(bot, bot.title, bot.description, parameters)


_FOR_ANY_GAME = {
    "random": _entry(RandomBot),
    "flat": _entry(
        FlatBot,
        Parameter(
            "playouts",
            1,
            1_000_000,
            1000,
            True,
            "Playouts",
            "Games played out for each decision, at least one for each legal action.",
        ),
    ),
    "ismcts": _entry(
        IsmctsBot,
        Parameter(
            "simulations",
            1,
            1_000_000,
            None,
            True,
            "Simulations",
            "Games played out for each decision: 1,000 if neither this nor the milliseconds are given.",
        ),
        Parameter(
            "milliseconds",
            1,
            600_000,
            None,
            False,
            "Milliseconds",
            "Time for each decision, instead of a number of simulations; choices then can't be repeated.",
        ),
    ),
}


def _entries(game: Game) -> dict[str, _Entry]:
    own = {name: _entry(bot) for name, bot in GAME_BOTS.get(game.name, {}).items()}
    return _FOR_ANY_GAME | own


def names(game: str | Game) -> list[str]:
    """Return the names of the bots that play a game: those for any game, then its own.

    Raises EngineError: UNKNOWN_GAME.
    """
    return list(_entries(_game(game)))


def infos(game: str | Game) -> list[BotInfo]:
    """Return what there is to know of the bots that play a game, in the order of `names`.

    Raises EngineError: UNKNOWN_GAME.
    """
    game = _game(game)
    seconds = SECONDS.get(game.name, {})
    return [
        BotInfo(name, entry.title, entry.description, entry.parameters, seconds.get(name))
        for name, entry in _entries(game).items()
    ]


def texts(info: BotInfo) -> Iterator[tuple[str, str]]:
    """Return all that is said of a bot: the keys of catalogues, and the English texts."""
    yield f"{info.name}.title", info.title
    yield info.name, info.description
    for parameter in info.parameters:
        yield f"{info.name}.{parameter.name}.title", parameter.title
        yield f"{info.name}.{parameter.name}", parameter.description


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
    name, lowest, highest = parameter[:3]
    # No number in range has more digits, and int() would take long for a million of them.
    if text.isascii() and text.isdecimal() and len(text) <= len(str(highest)) and lowest <= int(text) <= highest:
        return int(text)
    raise ValueError(f"bot {bot}: {name} must be a whole number from {lowest} to {highest}, not {text!r}")
