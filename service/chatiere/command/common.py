"""Options, errors and connections to servers, for the subcommands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
import grpc
from prometheus_client import CollectorRegistry

from chatiere import bots
from chatiere.bots import Bot
from chatiere.clients import CHANNEL_OPTIONS, Client, TransportError
from chatiere.command.local_server import LOOPBACK
from chatiere.engine import Game
from chatiere.service.base.settings import Settings, split_address
from chatiere.service.ports.server import create_server
from chatiere.v1.game_pb2 import GameInfo

SEED = click.IntRange(0, 2**64 - 1)
# A function of spec, game and players, as bots.get.
GetBot = Callable[[str, str, int], Bot]


class CommandError(click.ClickException):
    """An error of the command: printed as "Error: …", exit code 2."""

    exit_code = 2


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


address_option = click.option(
    "--address",
    type=Address(),
    help="A running server. Default: the command starts its own, on a free local port.",
)


@contextmanager
def reach(address: str | None) -> Iterator[Client]:
    """Connect a client to the server at an address or, without one, to a server started in this process."""
    if address is not None:
        with channel_to(address) as channel, Client(channel) as client:
            yield client
        return
    server, port = create_server(Settings(address=f"{LOOPBACK}:0"), CollectorRegistry())
    server.start()
    try:
        with _local_channel(f"{LOOPBACK}:{port}") as channel, Client(channel) as client:
            yield client
    finally:
        # The channel may still be closing: if the server stopped at once, gRPC would print a message.
        server.stop(grace=1.0).wait()


@contextmanager
def channel_to(address: str) -> Iterator[grpc.Channel]:
    """Open a channel to the server at an address. Raise CommandError if it does not respond."""
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        try:
            yield channel
        except TransportError as error:
            raise CommandError(f"no response from a server at {address}: {error}") from error


def _local_channel(address: str) -> grpc.Channel:
    # A proxy from the environment could not reach this machine's own addresses.
    return grpc.insecure_channel(address, options=(*CHANNEL_OPTIONS, ("grpc.enable_http_proxy", 0)))


BOTS_HELP = (
    "A comma separates bots, and the parameters of one bot: flat:playouts=500,random is two bots. "
    "random, flat and ismcts play any game; FILE.py:CLASS or MODULE:CLASS is one of your own (see docs/bots.md)."
)


def info_of(client: Client, game: str) -> GameInfo:
    """Return the server's description of a game. Raise CommandError if it has no such game."""
    games = {info.name: info for info in client.list_games()}
    if game not in games:
        raise CommandError(f"unknown game {game!r}; known games: {', '.join(games)}")
    return games[game]


def player_count(info: Game | GameInfo, players: int | None) -> int:
    """Return the number of players, by default the smallest one. Raise CommandError if the game is not for it."""
    seats = info.min_players if players is None else players
    if not info.min_players <= seats <= info.max_players:
        raise CommandError(f"{info.name} is for {info.min_players} to {info.max_players} players")
    return seats


def parse_bots(info: Game | GameInfo, players: int, specs: str, *, get: GetBot = bots.get) -> list[tuple[str, Bot]]:
    """Make the bots of a list of them, each with its spec. Raise CommandError for one that there is not.

    `get`: for specs that others wrote, that of a Registry.
    """
    try:
        return [(spec, get(spec, info.name, players)) for spec in bots.split(specs)]
    except ValueError as error:
        raise CommandError(str(error)) from error
