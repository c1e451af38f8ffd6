"""The `chatiere` command line, one file per subcommand."""

import os

import click

from chatiere.bots import BotError
from chatiere.clients import ChatiereError
from chatiere.command import arena, perft, play, protos, replay, selfplay, serve, token, train, verify, verify_data, web
from chatiere.command.common import CommandError
from chatiere.engine import EngineError


class _Group(click.Group):
    """A group that prints errors of the engine, the service and the connection as errors of the command."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except EngineError as error:
            raise CommandError(f"{error.reason}: {error.message}") from error
        except (ChatiereError, BotError) as error:
            raise CommandError(str(error)) from error


@click.group(cls=_Group)
@click.version_option(package_name="chatiere", prog_name="chatiere")
@click.pass_context
def main(context: click.Context) -> None:
    """Chatière, a gRPC service for the rules of cat games: run it, watch it, check it."""
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        context.color = False


for _command in (
    web.command,
    serve.command,
    token.command,
    play.command,
    selfplay.command,
    arena.command,
    train.command,
    replay.command,
    perft.command,
    protos.command,
    verify.command,
    verify_data.command,
):
    main.add_command(_command)
