"""chatiere serve."""

import click

from chatiere.command.common import Address
from chatiere.service.config import Settings
from chatiere.service.server import serve


@click.command("serve")
@click.option("--address", type=Address(), default=Settings().address, show_default=True, help="Where to serve gRPC.")
@click.option(
    "--metrics-address",
    type=Address(),
    default=Settings().metrics_address,
    show_default=True,
    help="Where to serve metrics for Prometheus.",
)
def command(address: str, metrics_address: str) -> None:
    """Serve the games over gRPC.

    On SIGTERM or Ctrl-C the server finishes the calls under way and stops. Port 0 takes a free port; the log
    says which.
    """
    serve(Settings(address=address, metrics_address=metrics_address))
