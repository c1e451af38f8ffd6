"""The `chatiere` command line: one file a subcommand."""

import os

import click

from chatiere.clients import ChatiereError
from chatiere.command import perft, play, replay, selfplay, serve, token
from chatiere.command.common import CommandError
from chatiere.engine import EngineError


class _Group(click.Group):
    """Prints what the engine, the service or the way to it refuses as an error of the command."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except EngineError as error:
            raise CommandError(f"{error.reason}: {error.message}") from error
        except ChatiereError as error:
            raise CommandError(str(error)) from error


@click.group(cls=_Group)
@click.version_option(package_name="chatiere", prog_name="chatiere")
@click.pass_context
def main(context: click.Context) -> None:
    """Chatière, a gRPC service that knows the rules of the cats' games: serve it, watch it, check it."""
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        context.color = False


for _command in (serve.command, token.command, play.command, selfplay.command, replay.command, perft.command):
    main.add_command(_command)
