"""What the subcommands share: options, errors, and the way to a server."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
import grpc
from prometheus_client import CollectorRegistry

from chatiere.clients import CHANNEL_OPTIONS, Client, TransportError
from chatiere.service.config import Settings, split_address
from chatiere.service.server import create_server

LOOPBACK = "127.0.0.1"

SEED = click.IntRange(0, 2**64 - 1)


class Refusal(click.ClickException):
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
        with Client(address) as client:
            try:
                yield client
            except TransportError as error:
                raise Refusal(f"no answer from a server at {address}: {error}") from error
        return
    server, port = create_server(Settings(address=f"{LOOPBACK}:0"), CollectorRegistry())
    server.start()
    try:
        # A proxy that the environment names cannot reach this process.
        options = (*CHANNEL_OPTIONS, ("grpc.enable_http_proxy", 0))
        with grpc.insecure_channel(f"{LOOPBACK}:{port}", options=options) as channel, Client(channel) as client:
            yield client
    finally:
        server.stop(grace=None).wait()
