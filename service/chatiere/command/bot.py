"""chatiere bot."""

import sys

import click

from chatiere.bots.line_player import play_lines
from chatiere.command.common import CommandError


@click.command("bot")
@click.argument("name")
def command(name: str) -> None:
    """Let the bot NAME play by the line protocol, for hosts that start it as a program.

    Standard input has the host's lines, and standard output the bot's. docs/bot_protocol.md describes both.
    """
    try:
        for line in play_lines(name, sys.stdin.buffer):
            click.echo(line)
    except ValueError as error:
        raise CommandError(str(error)) from error
