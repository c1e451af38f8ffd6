"""What the subcommands share: options, errors, and the way to a server."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
import grpc
from prometheus_client import CollectorRegistry

from chatiere.clients import CHANNEL_OPTIONS, Client, TransportError, bot_names
from chatiere.command.local_server import LOOPBACK, local_server
from chatiere.service.config import Settings, split_address
from chatiere.service.server import create_server
from chatiere.v1.game_pb2 import GameInfo

SEED = click.IntRange(0, 2**64 - 1)


class CommandError(click.ClickException):
    """What was asked for cannot be done: printed as "Error: …", exit code 2."""

    exit_code = 2


class Address(click.ParamType[str]):
    """HOST:PORT."""

    name = "HOST:PORT"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value, if it has the form."""
        try:
            split_address(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value


address_option = click.option(
    "--address",
    type=Address(),
    help="A running server. Default: one of the command's own, on a free port of this machine.",
)


@contextmanager
def reach(address: str | None) -> Iterator[Client]:
    """A client of the server at that address; without one, of a server of its own in this process."""
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
        # The channel may still be closing; a server that is gone at once makes gRPC print of it.
        server.stop(grace=1.0).wait()


@contextmanager
def reach_for_batches(address: str | None) -> Iterator[tuple[grpc.Channel, str | None]]:
    """A channel to the server at that address; without one, to one in another process, and its play address."""
    if address is not None:
        with channel_to(address) as channel:
            yield channel, None
        return
    with local_server() as own, _local_channel(own.address) as channel:
        yield channel, own.play_address


@contextmanager
def channel_to(address: str) -> Iterator[grpc.Channel]:
    """A channel to the server at that address. Raises CommandError where that does not answer."""
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        try:
            yield channel
        except TransportError as error:
            raise CommandError(f"no answer from a server at {address}: {error}") from error


def _local_channel(address: str) -> grpc.Channel:
    # A proxy that the environment names cannot reach this machine's own addresses.
    return grpc.insecure_channel(address, options=(*CHANNEL_OPTIONS, ("grpc.enable_http_proxy", 0)))


def info_of(client: Client, game: str) -> GameInfo:
    """What the server tells of a game. Raises CommandError where it has none of that name."""
    games = {info.name: info for info in client.list_games()}
    if game not in games:
        raise CommandError(f"there is no game {game!r}; there are: {', '.join(games)}")
    return games[game]


def player_count(info: GameInfo, players: int | None) -> int:
    """How many seats: the smallest number that the game is for, if none is asked for. Raises CommandError."""
    seats = info.min_players if players is None else players
    if not info.min_players <= seats <= info.max_players:
        raise CommandError(f"{info.name} is for {info.min_players} to {info.max_players} players")
    return seats


def parse_bots(info: GameInfo, names: str) -> list[str]:
    """The names of bots, given with commas between them. Raises CommandError where a bot does not play the game."""
    known = bot_names(info.name)
    chosen = names.split(",")
    for name in chosen:
        if name not in known:
            raise CommandError(f"there is no bot {name!r} for {info.name}; there are: {', '.join(known)}")
    return chosen
