"""The options and errors that subcommands share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from chatiere import bots
from chatiere.engine import EngineError
from chatiere.service.base.settings import split_address, unix_path

SEED = click.IntRange(0, 2**64 - 1)
LOOPBACK = "127.0.0.1"
# The errors of bots and of the client, by module.
_ERRORS = (("chatiere.bots.bot", "BotError"), ("chatiere.clients.calls.errors", "ChatiereError"))


class CommandError(click.ClickException):
    """An error of the command: printed as "Error: …", exit code 2."""

    exit_code = 2


def description_of(error: Exception) -> str | None:
    """Return the text of an error of the engine, a bot, the service or the connection, or None for other errors."""
    if isinstance(error, EngineError):
        return f"{error.reason}: {error.message}"
    # These errors can occur only if their modules were imported.
    kinds = [getattr(sys.modules[module], name) for module, name in _ERRORS if module in sys.modules]
    return str(error) if isinstance(error, tuple(kinds)) else None


class Address(click.ParamType[str]):
    """The type of a parameter HOST:PORT."""

    name = "HOST:PORT"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is well-formed."""
        try:
            split_address(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value


class ServerAddress(Address):
    """The type of a parameter HOST:PORT or unix:/PATH."""

    name = "HOST:PORT|unix:/PATH"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is well-formed."""
        try:
            if unix_path(value) is not None:
                return value
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


class Several(click.ParamType["tuple[str, ...]"]):
    """The type of a list whose items are separated by commas."""

    def __init__(self, item: str) -> None:
        """Create the type. `item`: a description of an item, for --help."""
        self.name = f"{item},…"

    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the items."""
        if isinstance(value, tuple):
            return value
        return tuple(each.strip() for each in value.split(",") if each.strip())


class AddedBots(click.ParamType["tuple[str, ...]"]):
    """The type of a list of bots, with the names that callers use."""

    name = "NAME[=BOT],…"

    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the items."""
        if isinstance(value, tuple):
            return value
        return tuple(bots.split(value)) if value else ()


@contextmanager
def progress(length: int, label: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error if it is a terminal. Yields a function that adds completed units."""
    with click.progressbar(length=length, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield bar.update
