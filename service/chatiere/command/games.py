"""The options of games and the bots that subcommands play with."""

from collections.abc import Callable, Sequence
from typing import Any

import click
from google.protobuf import json_format

from chatiere import bots, engine
from chatiere.bots import Bot
from chatiere.command.common import CommandError
from chatiere.engine import Game
from chatiere.engine.core.description import OptionType
from chatiere.engine.wire import Reader
from chatiere.v1.game_pb2 import GameInfo, Options

_OPTION_FORMS = {
    OptionType.FLAG: "must be true or false",
    OptionType.NUMBER: "must be a whole number",
    OptionType.NUMBERS: "must be whole numbers separated by commas",
    OptionType.PIECES: "must be numbers of pieces separated by commas",
}
# A function that returns a bot for a spec, a game and a number of players, as bots.get does.
GetBot = Callable[[str, str, int], Bot]

game_option = click.option(
    "--option",
    "given_options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the game, such as first_seat=0; may be given several times. Lists use commas: 1,2,3,5.",
)
BOTS_HELP = (
    "Commas separate bots, and the parameters of a bot: flat:playouts=500,random is two bots. "
    'Double quotes keep a bot with other commas together, as in "cmd:COMMAND a,b",random. '
    "random, flat and ismcts play any game. net:FILE is a network made by chatiere train. FILE.py:CLASS, MODULE:CLASS "
    "and the program cmd:COMMAND are your own bots (see docs/bots.md)."
)


def player_count(info: Game | GameInfo, players: int | None) -> int:
    """Return `players`, or the game's minimum for None. Raises CommandError if the game does not allow the number."""
    seats = info.min_players if players is None else players
    if not info.min_players <= seats <= info.max_players:
        raise CommandError(f"{info.name} is for {info.min_players} to {info.max_players} players")
    return seats


def parse_options(game: Game, given: Sequence[str]) -> dict[str, Any]:
    """Parse options of a game.

    The value of a flag is true or false. The value of a list or a set of pieces consists of numbers separated by
    commas. The engine checks later whether the game allows the values.

    Args:
        game: The game.
        given: The options, as NAME=VALUE.

    Returns:
        The options in the form for `Game.new_game`.

    Raises:
        CommandError: If an option is unknown or malformed.
    """
    found: dict[str, Any] = engine.codec(game.name).read_options(
        Reader(getattr(options_message(game, given), game.name))
    )
    return found


def options_message(game: Game, given: Sequence[str]) -> Options:
    """Return the options as a message. The message is empty if there are no options. See parse_options."""
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
    return message


def _option_value(kind: OptionType, text: str) -> Any:
    if kind == OptionType.FLAG:
        return {"true": True, "false": False}.get(text, text)
    if kind == OptionType.NUMBER:
        return int(text)
    numbers = [int(number) for number in text.split(",")]
    # A set is a message with the field `cards`, so that an empty set differs from an absent one.
    return {"cards": numbers} if kind == OptionType.PIECES else numbers


def parse_bots(info: Game | GameInfo, players: int, specs: str, *, get: GetBot = bots.get) -> list[tuple[str, Bot]]:
    """Create the bots of a comma-separated list. Raises CommandError for unknown bots.

    Args:
        info: The game.
        players: The number of players.
        specs: The list.
        get: A function that returns a bot. For specs from untrusted sources, pass the `get` of a Registry.

    Returns:
        The bots, each with its spec.
    """
    try:
        return [(spec, get(spec, info.name, players)) for spec in bots.split(specs)]
    except ValueError as error:
        raise CommandError(str(error)) from error
