"""Bots by name.

A string such as "ismcts:simulations=500" names a bot and its budget. SuggestRequest.bot of the API has the grammar. The
function `get` also accepts strings that name code to load, and is meant for command lines and programs. A Registry
loads no code, and is meant for strings in requests.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, SupportsIndex

from chatiere import engine
from chatiere.bots import loading
from chatiere.bots.bot import Bot
from chatiere.bots.flat import FlatBot
from chatiere.bots.games import GAME_BOTS, SECONDS
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.network import IntegerNetworkBot
from chatiere.bots.network_file import NetworkFile, NetworkFileError
from chatiere.bots.random import RandomBot
from chatiere.bots.temperature import MAX_TEMPERATURE
from chatiere.bots.trained import TRAINED, is_trained, network_of, trained
from chatiere.bots.version import BOTS_VERSION
from chatiere.engine import Game


class OtherVersionError(ValueError):
    """This release does not have the requested version of a bot."""


class Parameter(NamedTuple):
    """A parameter of a bot, a whole number.

    Attributes:
        name: The name of the parameter.
        lowest: The smallest value.
        highest: The largest value.
        default: The value of a parameter that is not given. None means that there is no default.
        bound: The limited quantity that the parameter sets: "playouts" for the number of playouts per decision,
            "milliseconds" for the time per decision, or "" if the parameter sets neither. A service may limit both
            quantities.
        title: The displayed name, in English.
        description: The displayed description, in English.
    """

    name: str
    lowest: int
    highest: int
    default: int | None
    bound: str
    title: str
    description: str


class _Entry(NamedTuple):
    # A function that makes the bot. The parameters are passed as keyword arguments.
    make: Callable[..., Bot]
    title: str
    description: str
    parameters: Sequence[Parameter] = ()
    # True if the bot also accepts a network as net=NAME.
    takes_network: bool = False
    # The first BOTS_VERSION in which the bot chooses as it does now. `before` is the bot as it was before that version,
    # or None if this release does not have it.
    since: int = 1
    before: "_Entry | None" = None

    def of(self, version: int) -> "_Entry | None":
        """Return the bot as it was in a version, or None if this release no longer has it."""
        entry: _Entry | None = self
        while entry is not None and entry.since > version:
            entry = entry.before
        return entry


class BotInfo(NamedTuple):
    """A description of a bot: the names, the parameters, and the time for a decision.

    Attributes:
        name: The name of the bot.
        title: The displayed name, in English.
        description: The displayed description, in English.
        parameters: The bot's parameters.
        seconds: The approximate time of a decision midway through a game with default parameters, on one core. None
            means less than a millisecond.
    """

    name: str
    title: str
    description: str
    parameters: Sequence[Parameter]
    seconds: float | None


def _entry(bot: type[Bot], *parameters: Parameter, takes_network: bool = False, since: int = 1) -> _Entry:
    return _Entry(bot, bot.title, bot.description, parameters, takes_network, since)


_TEMPERATURE = Parameter(
    "temperature",
    0,
    MAX_TEMPERATURE,
    0,
    "",
    "Temperature",
    "Hundredths of a return that make an action half as likely as the best one; 0: always the best one.",
)
_FOR_ANY_GAME = {
    "random": _entry(RandomBot),
    "flat": _entry(
        FlatBot,
        Parameter(
            "playouts",
            1,
            1_000_000,
            1000,
            "playouts",
            "Playouts",
            "Games played out for each decision, at least one for each action that it tries.",
        ),
        _TEMPERATURE,
        since=2,
    ),
    "ismcts": _entry(
        IsmctsBot,
        Parameter(
            "simulations",
            1,
            1_000_000,
            None,
            "playouts",
            "Simulations",
            "Games played out for each decision: 1,000 if neither this nor a time is given.",
        ),
        Parameter(
            "milliseconds",
            1,
            600_000,
            None,
            "milliseconds",
            "Milliseconds",
            "Time for each decision; with a number of simulations too, the first limit reached ends the search. "
            "Choices are then not reproducible.",
        ),
        Parameter(
            "noise",
            0,
            100,
            0,
            "",
            "Noise",
            "Percentage of noise in the search's initial preferences, which makes games to learn from more varied.",
        ),
        _TEMPERATURE,
        takes_network=True,
        since=2,
    ),
}
# The first version of the package's bots in which the games' own bots choose as they do now.
_OWN_SINCE = 2
# The form of a string that names a program with its time limit.
_PROGRAM = re.compile(r"cmd:(.+?)(?::seconds=([0-9]+(?:\.[0-9]+)?))?", re.DOTALL)
# The form of the names that operators may give to bots.
_NAME = re.compile(r"[a-z][a-z0-9_]*")
# An item of a list of bots and the comma after it: an item between double quotes, or any other item.
_ITEM = re.compile(r'(?:"((?:[^"]|"")*)"|([^,]*)),')


def _entries(game: Game) -> dict[str, _Entry]:
    own = {name: _entry(bot, since=_OWN_SINCE) for name, bot in GAME_BOTS.get(game.name, {}).items()}
    return _FOR_ANY_GAME | own


def read_added(text: str) -> tuple[str, str]:
    """Split NAME=BOT or NAME into the name and the bot, without loading it. Raises ValueError for an invalid name."""
    name, equals, bot = text.partition("=")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"the name of a bot to add must be of lower-case letters, digits and _, not {name!r}; wanted is NAME=BOT"
        )
    return name, bot if equals else name


def _is_packaged(name: str) -> bool:
    return name == TRAINED or any(name in _entries(game) for game in engine.games())


class Registry:
    """Look up bots by name: the package's bots and the bots that an operator added.

    A Registry is safe for strings from clients, because no string makes it load code.
    """

    def __init__(self, added: Sequence[str] = ()) -> None:
        """Load the bots that an operator adds, and make each of them once.

        Several threads may use a Registry at the same time.

        Args:
            added: The bots to add. Each is either NAME=BOT, where BOT is a custom bot in the syntax of the function
                `get`, or the NAME of an entry point.

        Raises:
            ValueError: If a name is taken or malformed, or a bot is invalid (see the function `get`).
        """
        self._added: dict[str, _Entry] = {}
        for each in added:
            name, text = read_added(each)
            if name in self._added or _is_packaged(name):
                raise ValueError(f"there is already a bot {name!r}")
            bot = _load(text)
            if bot is None:
                wanted = (
                    "NAME=FILE.py:CLASS, NAME=MODULE:CLASS, NAME=net:FILE, NAME=onnx:FILE or the NAME of an entry point"
                )
                raise ValueError(f"a bot to add must be {wanted}, not {each!r}")
            self._added[name] = _Entry(lambda bot=bot: bot, bot.title or name, bot.description)

    def is_added(self, name: str) -> bool:
        """Return True if an operator has added a bot with this name and has thereby chosen its parameters."""
        return name in self._added

    def names(self, game: str | Game) -> list[str]:
        """Return the names of the bots that play a game: bots for any game, the game's own bots, then added bots.

        Raises:
            EngineError: UNKNOWN_GAME.
        """
        return list(self._entries(_game(game)))

    def infos(self, game: str | Game) -> list[BotInfo]:
        """Return the descriptions of the bots that play a game, in the order of `names`.

        Raises:
            EngineError: UNKNOWN_GAME.
        """
        game = _game(game)
        seconds = SECONDS.get(game.name, {})
        return [
            BotInfo(name, entry.title, entry.description, entry.parameters, seconds.get(name))
            for name, entry in self._entries(game).items()
        ]

    def get(self, spec: str, game: str | Game, players: SupportsIndex, version: int | None = None) -> Bot:
        """Return the bot that `spec` describes.

        Args:
            spec: One of `names`, or NAME:PARAMETER=NUMBER[,PARAMETER=NUMBER…]. Parameters that are not given have their
                defaults. ismcts also accepts net=NAME for a network in integers. NAME is `trained` for the package's
                network, or the name of a network that an operator added.
            game: The game, or its name.
            players: The number of players.
            version: The BOTS_VERSION that determines the bot's choices. None means the newest. Bots and networks that
                an operator added have no versions.

        Raises:
            ValueError: If the bot or a parameter is unknown, a number is out of range, or a network is unknown or plays
                other games.
            OtherVersionError: If this release does not have the bot of that version. This error is a ValueError.
            EngineError: UNKNOWN_GAME, INVALID_PLAYERS.
        """
        game = _game(game)
        seats = game.read_players(players)
        name, colon, given = spec.partition(":")
        entries = self._entries(game)
        if name not in entries:
            raise _unknown(name, game, entries)
        wanted = BOTS_VERSION if version is None else version
        entry = entries[name].of(wanted)
        if entry is None or (wanted > BOTS_VERSION and not self.is_added(name)):
            raise OtherVersionError(f"this release does not have the bot {name} of version {wanted}")
        values: dict[str, int | NetworkFile | None] = {each.name: each.default for each in entry.parameters}
        if colon:
            parts = given.split(",")
            networks = [part for part in parts if entry.takes_network and part.startswith("net=")]
            if len(networks) > 1:
                raise ValueError(f"bot {name}: net is given twice")
            values |= _read(name, entry.parameters, [part for part in parts if part not in networks])
            for part in networks:
                values["net"] = network = self._network(name, part.removeprefix("net="), game, seats)
                network.require(game, seats)
        return entry.make(**values)

    def _network(self, bot: str, name: str, game: Game, players: int) -> NetworkFile:
        # Return the package's network, or a network that an operator added as a bot.
        if name == TRAINED:
            return trained(game, players)
        networks = {
            name: found.file
            for name, entry in self._added.items()
            if isinstance(found := entry.make(), IntegerNetworkBot)
        }
        if name not in networks:
            known = ", ".join([TRAINED] * is_trained(game, players) + list(networks))
            raise ValueError(f"bot {bot}: unknown network {name!r}; known networks: {known or 'none'}")
        return networks[name]

    def _entries(self, game: Game) -> dict[str, _Entry]:
        return _entries(game) | self._added


class _WithFiles(Registry):
    # A Registry for command lines and programs, where NAME in net=NAME is the path of a file.

    def _network(self, bot: str, name: str, game: Game, players: int) -> NetworkFile:
        try:
            return network_of(name, game, players)
        except (NetworkFileError, OSError) as error:
            raise ValueError(f"bot {bot}: the network {name} cannot be read: {error}") from error


_PACKAGED = _WithFiles()


def versions() -> list[int]:
    """Return the versions of which this release has all the package's bots, ascending. The last is BOTS_VERSION."""
    entries = [entry for game in engine.games() for entry in _entries(game).values()]
    return [version for version in range(1, BOTS_VERSION + 1) if all(entry.of(version) for entry in entries)]


def names(game: str | Game) -> list[str]:
    """Return the names of the bots that play a game: bots for any game, the game's own bots, then entry points.

    Raises:
        EngineError: UNKNOWN_GAME.
    """
    return list(dict.fromkeys([*_PACKAGED.names(game), *loading.entry_point_names()]))


def infos(game: str | Game) -> list[BotInfo]:
    """Return the descriptions of the package's bots that play a game: bots for any game, then the game's own bots.

    Raises:
        EngineError: UNKNOWN_GAME.
    """
    return _PACKAGED.infos(game)


def get(spec: str, game: str | Game, players: SupportsIndex) -> Bot:
    """Return the bot that `spec` describes.

    Some specs run code and read files, so use a Registry for strings from clients.

    Args:
        spec: A bot's name from `names`, or NAME:PARAMETER=NUMBER[,PARAMETER=NUMBER…], such as "flat:playouts=500".
            Parameters that are not given have their defaults. ismcts also accepts net=FILE for a network in integers,
            or net=trained for the package's network. A spec can also name a class, as FILE.py:CLASS[:PARAMETER=VALUE,…]
            or MODULE:CLASS[:PARAMETER=VALUE,…]. It can also name a network, as net:FILE[:PARAMETER=VALUE,…],
            net:trained[…] or onnx:FILE[…], or a program, as cmd:COMMAND[:seconds=NUMBER].
        game: The game, or its name.
        players: The number of players.

    Raises:
        ValueError: If the bot or a parameter is unknown, a number is out of range, or the code does not load.
        EngineError: UNKNOWN_GAME, INVALID_PLAYERS.
    """
    game = _game(game)
    packaged = _PACKAGED.names(game)
    if spec.partition(":")[0] in packaged:
        return _PACKAGED.get(spec, game, players)
    seats = game.read_players(players)
    if found := _PROGRAM.fullmatch(spec):
        from chatiere.bots.process import ProcessBot

        command, seconds = found.groups(default="60")
        return ProcessBot(command, game, seats, float(seconds))
    bot = _load(spec, (game, seats))
    if bot is None:
        unknown = _unknown(spec.partition(":")[0], game, names(game))
        raise ValueError(f"{unknown}; one of your own is FILE.py:CLASS or MODULE:CLASS")
    return bot


def _load(text: str, table: tuple[Game, int] | None = None) -> Bot | None:
    # Return the custom bot that a string describes, or None if the string has a different form.
    if loading.names_network(text):
        return loading.network_bot(text, table)
    name, colon, given = text.partition(":")
    if name in loading.entry_point_names() and not _is_packaged(name):
        return loading.make(text, loading.class_behind(name), given if colon else None)
    own = loading.OwnBot.parse(text)
    return None if own is None else own.make()


def _unknown(name: str, game: Game, known: Iterable[str]) -> ValueError:
    return ValueError(f"unknown bot {name!r} for {game.name}; known bots: {', '.join(known)}")


def texts(info: BotInfo) -> Iterator[tuple[str, str]]:
    """Yield all texts about a bot, each as its key in catalogues and the English text."""
    yield f"{info.name}.title", info.title
    yield info.name, info.description
    for parameter in info.parameters:
        yield f"{info.name}.{parameter.name}.title", parameter.title
        yield f"{info.name}.{parameter.name}", parameter.description


def split(specs: str) -> list[str]:
    """Split a list of bots at its commas, except for commas between the parameters of one bot.

    A comma separates bots unless a parameter follows it. A parameter is text that contains "=" but no ":" up to the
    next comma. A bot that contains other commas is written between double quotes, as in CSV.
    """
    found: list[str] = []
    for quoted, part in _ITEM.findall(f"{specs},"):
        if found and "=" in part and ":" not in part:
            found[-1] += f",{part}"
        else:
            found.append(quoted.replace('""', '"') or part)
    return found


def _game(game: str | Game) -> Game:
    return engine.game(game) if isinstance(game, str) else game


def _read(bot: str, parameters: Sequence[Parameter], parts: Sequence[str]) -> dict[str, int]:
    known = {parameter.name: parameter for parameter in parameters}
    numbers: dict[str, int] = {}
    for part in parts:
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
    # Check the length first, because int() would take a long time for a million digits.
    if text.isascii() and text.isdecimal() and len(text) <= len(str(highest)) and lowest <= int(text) <= highest:
        return int(text)
    raise ValueError(f"bot {bot}: {name} must be a whole number from {lowest} to {highest}, not {text!r}")
