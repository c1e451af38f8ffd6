"""The `chatiere` command line. Each subcommand has its own module."""

import os
from importlib import import_module
from typing import Any, NamedTuple

import click

from chatiere.command import streams


class _Subcommand(NamedTuple):
    # The first sentence of the subcommand's help, and the extra of the package that the subcommand needs, if any.
    help: str
    extra: str | None = None


# A subcommand is imported only when it is called, so that --help is fast and a subcommand needs only its own libraries.
_SUBCOMMANDS = {
    "analyse": _Subcommand("Judge the decisions of a record by a tree search.", "service"),
    "arena": _Subcommand("Let bots play a tournament, and report win rates, ratings and balance."),
    "bot": _Subcommand("Let the bot NAME play by the line protocol, for hosts that start it as a program."),
    "ladder": _Subcommand("Measure the ladder of GAME, the bots to play against by strength."),
    "mcp": _Subcommand("Let language models play, by the tools of an MCP server (see docs/mcp.md).", "mcp"),
    "perft": _Subcommand("Count the sequences of moves from a new game."),
    "play": _Subcommand("Watch bots play a game, move by move, or play against them.", "service"),
    "protos": _Subcommand("Write the definition of the API into DIR, to generate code for clients."),
    "puzzles": _Subcommand("Find puzzles of GAME: positions in which one action is much better than all others."),
    "replay": _Subcommand("Show records of games, or check the service against sample games.", "service"),
    "rules": _Subcommand("Show the rules of GAME as Markdown, for players or for authors.", "service"),
    "selfplay": _Subcommand("Let bots play many games against each other, and report who wins."),
    "serve": _Subcommand("Serve the games over gRPC.", "service"),
    "token": _Subcommand("Create a bearer token for a client.", "service"),
    "train": _Subcommand("Train a network for a game by self-play, for net:FILE.", "train"),
    "verify": _Subcommand("Verify the record of a game at a sealed table.", "service"),
    "verify-data": _Subcommand("Verify a data set of chatiere selfplay."),
    "web": _Subcommand("Play in the browser: serve the page on this machine.", "web"),
}


class _Group(click.Group):
    """A group that reports errors of the engine, the service and the connection as errors of the command."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command in this process, using its standard streams."""
        streams.prepare()
        return super().__call__(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUBCOMMANDS:
            return None
        try:
            module = import_module(f"chatiere.command.{cmd_name.replace('-', '_')}")
        except ModuleNotFoundError as error:
            extra = _SUBCOMMANDS[cmd_name].extra
            if extra is None or error.name is None or error.name.startswith("chatiere"):
                raise
            from chatiere.command.common import CommandError

            raise CommandError(f"{error.name} is not installed: pip install 'chatiere[{extra}]'") from error
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.help) for name, each in _SUBCOMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception as error:
            from chatiere.command.common import CommandError, description_of

            described = description_of(error)
            if described is None:
                raise
            raise CommandError(described) from error


@click.group(cls=_Group)
@click.version_option(package_name="chatiere", prog_name="chatiere")
@click.pass_context
def main(context: click.Context) -> None:
    """Chatière, a gRPC service for the rules of cat games: run it, watch it, check it."""
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        context.color = False
