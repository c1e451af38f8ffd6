"""Options and errors of the subcommands."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from google.protobuf import json_format

from chatiere import bots, engine
from chatiere.bots import Bot, BotError
from chatiere.engine import EngineError, Game
from chatiere.engine.core.description import OptionType
from chatiere.engine.wire import Reader
from chatiere.service.base.settings import split_address, unix_path
from chatiere.v1.game_pb2 import GameInfo, Options

SEED = click.IntRange(0, 2**64 - 1)
LOOPBACK = "127.0.0.1"
_OPTION_FORMS = {
    OptionType.FLAG: "must be true or false",
    OptionType.NUMBER: "must be a whole number",
    OptionType.NUMBERS: "must be whole numbers with commas between them",
    OptionType.PIECES: "must be numbers of pieces with commas between them",
}
# A function of spec, game and players, as bots.get.
GetBot = Callable[[str, str, int], Bot]


class CommandError(click.ClickException):
    """An error of the command: printed as "Error: …", exit code 2."""

    exit_code = 2


def description_of(error: Exception) -> str | None:
    """Return the words of an error of the engine, of a bot, or of the service or the way there; None for any other."""
    if isinstance(error, EngineError):
        return f"{error.reason}: {error.message}"
    # The client is an extra: only who has imported it gets its errors.
    client = sys.modules.get("chatiere.clients.calls.errors")
    if isinstance(error, BotError) or (client is not None and isinstance(error, client.ChatiereError)):
        return str(error)
    return None


class Address(click.ParamType[str]):
    """The type of a parameter HOST:PORT."""

    name = "HOST:PORT"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is well-formed."""
        try:
            split_address(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value


class ServerAddress(Address):
    """The type of a parameter HOST:PORT or unix:/PATH."""

    name = "HOST:PORT|unix:/PATH"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is well-formed."""
        try:
            if unix_path(value) is not None:
                return value
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


class Several(click.ParamType["tuple[str, ...]"]):
    """The type of a list, with commas between its items."""

    def __init__(self, item: str) -> None:
        """`item`: an item, for --help."""
        self.name = f"{item},…"

    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the items."""
        if isinstance(value, tuple):
            return value
        return tuple(each.strip() for each in value.split(",") if each.strip())


class AddedBots(click.ParamType["tuple[str, ...]"]):
    """The type of a list of bots with the names that others may call them by."""

    name = "NAME[=BOT],…"

    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the items."""
        if isinstance(value, tuple):
            return value
        return tuple(bots.split(value)) if value else ()


game_option = click.option(
    "--option",
    "given_options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the game, such as first_seat=0; may be given several times. Lists have commas: 1,2,3,5.",
)
BOTS_HELP = (
    "A comma separates bots, and the parameters of one bot: flat:playouts=500,random is two bots. "
    "random, flat and ismcts play any game; net:FILE is a network that chatiere train made, FILE.py:CLASS or "
    "MODULE:CLASS a bot of your own (see docs/bots.md)."
)


@contextmanager
def progress(length: int, label: str) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error, if that is a terminal. Yield what is called with how many more games are done."""
    with click.progressbar(length=length, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield bar.update


def player_count(info: Game | GameInfo, players: int | None) -> int:
    """Return the number of players, by default the smallest one. Raise CommandError if the game is not for it."""
    seats = info.min_players if players is None else players
    if not info.min_players <= seats <= info.max_players:
        raise CommandError(f"{info.name} is for {info.min_players} to {info.max_players} players")
    return seats


def parse_options(game: Game, given: Sequence[str]) -> dict[str, Any]:
    """Return the options of a game, each given as NAME=VALUE, as `Game.new_game` takes them. Raise CommandError.

    The value of a flag is true or false, that of a list or a set of pieces numbers with commas between them. Whether a
    game can have the values the engine says.
    """
    known = {option.name: option for option in game.description.options}
    message = Options()
    own = getattr(message, game.name)
    named = set()
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise CommandError(f"--option {each}: must be NAME=VALUE")
        if name not in known:
            raise CommandError(
                f"--option {each}: {game.name} has no option {name!r}; its options are {', '.join(known)}"
            )
        if name in named:
            raise CommandError(f"--option {each}: {name} is given twice")
        named.add(name)
        try:
            json_format.ParseDict({name: _option_value(known[name].type, value)}, own)
        except (ValueError, json_format.ParseError) as error:
            raise CommandError(f"--option {each}: {_OPTION_FORMS[known[name].type]}") from error
    found: dict[str, Any] = engine.codec(game.name).read_options(Reader(own))
    return found


def _option_value(kind: OptionType, text: str) -> Any:
    if kind == OptionType.FLAG:
        return {"true": True, "false": False}.get(text, text)
    if kind == OptionType.NUMBER:
        return int(text)
    numbers = [int(number) for number in text.split(",")]
    # A set that may be empty is a message of its own.
    return {"cards": numbers} if kind == OptionType.PIECES else numbers


def parse_bots(info: Game | GameInfo, players: int, specs: str, *, get: GetBot = bots.get) -> list[tuple[str, Bot]]:
    """Make the bots of a list of them, each with its spec. Raise CommandError for one that there is not.

    `get`: for specs that others wrote, that of a Registry.
    """
    try:
        return [(spec, get(spec, info.name, players)) for spec in bots.split(specs)]
    except ValueError as error:
        raise CommandError(str(error)) from error
