"""chatiere verify-data."""

from pathlib import Path

import click

from chatiere.command.common import CommandError
from chatiere.selfplay.dataset import DataSetError, verify


@click.command("verify-data")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(directory: Path) -> None:
    """Verify a data set of chatiere selfplay. Needs chatiere[data].

    DIR is the directory given as --output. The command checks that every shard is present, has the right checksum and
    matches the manifest. It prints each error, and then exits with 1. It exits with 2 if DIR cannot be read. It does
    not load the bots that the manifest names.
    """
    try:
        decisions, games_hash = verify(directory)
    except DataSetError as error:
        click.echo(str(error), err=True)
        raise click.exceptions.Exit(1) from error
    except (ImportError, OSError) as error:
        raise CommandError(str(error)) from error
    click.echo(f"{directory}: {decisions:,} decisions, all unchanged; the games' hash is {games_hash}")
