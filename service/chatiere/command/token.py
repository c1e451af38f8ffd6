"""chatiere token."""

import click

from chatiere.command.common import CommandError
from chatiere.service.guards.tokens import new_token


@click.command("token")
@click.argument("name")
def command(name: str) -> None:
    """Create a bearer token for a client.

    Prints the token and the line for it in the file of chatiere serve --tokens. The token is only for the client and
    cannot be recovered. The line does not reveal the token. NAME identifies the client in logs and limits.
    """
    try:
        token, line = new_token(name)
    except ValueError as error:
        raise CommandError(str(error)) from error
    click.echo(f"token: {token}")
    click.echo(f"line:  {line}")
