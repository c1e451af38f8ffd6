"""The connections of subcommands to servers."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
import grpc
from prometheus_client import CollectorRegistry

from chatiere.clients import CHANNEL_OPTIONS, Client, TransportError
from chatiere.command.common import LOOPBACK, CommandError, ServerAddress
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1.game_pb2 import GameInfo

address_option = click.option(
    "--address",
    type=ServerAddress(),
    help="A running server. Default: the command starts its own server on a free local port.",
)


@contextmanager
def reach(address: str | None, language: str | None = None) -> Iterator[Client]:
    """Connect a client to a server at an address or, without an address, to a server started in this process.

    For `language` see ClientOptions.
    """
    if address is not None:
        with channel_to(address) as channel, Client(channel, language=language) as client:
            yield client
        return
    server, port = create_server(Settings(address=f"{LOOPBACK}:0"), CollectorRegistry())
    server.start()
    try:
        with _local_channel(f"{LOOPBACK}:{port}") as channel, Client(channel, language=language) as client:
            yield client
    finally:
        # Allow some time: the channel may still be closing, and gRPC would print a message.
        server.stop(grace=1.0).wait()


@contextmanager
def channel_to(address: str) -> Iterator[grpc.Channel]:
    """Open a channel to the server at an address. Raises CommandError if it does not respond."""
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel, responding(address):
        yield channel


@contextmanager
def responding(address: str) -> Iterator[None]:
    """Raise CommandError if the server at an address does not respond inside the context."""
    try:
        yield
    except TransportError as error:
        raise CommandError(f"no response from a server at {address}: {error}") from error


def _local_channel(address: str) -> grpc.Channel:
    # Ignore the environment's proxies, because they could not reach this machine's loopback addresses.
    return grpc.insecure_channel(address, options=(*CHANNEL_OPTIONS, ("grpc.enable_http_proxy", 0)))


def info_of(client: Client, game: str) -> GameInfo:
    """Return the server's description of a game. Raises CommandError if the server does not have the game."""
    games = {info.name: info for info in client.list_games()}
    if game not in games:
        raise CommandError(f"unknown game {game!r}; known games: {', '.join(games)}")
    return games[game]
