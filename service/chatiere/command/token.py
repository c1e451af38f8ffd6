"""chatiere token."""

import click

from chatiere.command.common import CommandError
from chatiere.service.guards.tokens import new_token


@click.command("token")
@click.argument("name")
def command(name: str) -> None:
    """Create a bearer token for a client.

    The command prints the token, and a line for the file of chatiere serve --tokens. Give the token only to the client.
    It cannot be recovered, and the line does not reveal it. NAME identifies the client in logs and limits.
    """
    try:
        token, line = new_token(name)
    except ValueError as error:
        raise CommandError(str(error)) from error
    click.echo(f"token: {token}")
    click.echo(f"line:  {line}")
