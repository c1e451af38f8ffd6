"""The server's tools, called in process, and servers as clients start them."""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from mcp.client.stdio import StdioServerParameters

from chatiere import engine
from chatiere.mcp.backend import LocalBackend
from chatiere.mcp.tools import Result, Tools
from chatiere.service.base.settings import Settings

COMMAND = ("-c", "from chatiere.command import main; main(prog_name='chatiere')", "mcp")
RELAYS = ["memory", "none"]


def tools(relay: str = "memory") -> Tools:
    """Return the tools of a server in this process."""
    return _tools(relay)


@cache
def _tools(relay: str) -> Tools:
    return Tools(LocalBackend(Settings(relay=None if relay == "none" else relay)))


def succeeded(result: Result) -> Result:
    assert not result.is_error, result.text
    return result


def seats(players: int, *, seat: int = 0) -> list[str]:
    """Return the holders of the seats: me, and the weakest bots."""
    return ["me" if number == seat else "random" for number in range(players)]


def begun(game: str, players: int | None = None, relay: str = "memory", **arguments: Any) -> Result:
    """Begin a game against the weakest bots."""
    players = players or engine.game(game).max_players
    arguments = {"game": game, "seats": seats(players)} | arguments
    return succeeded(tools(relay).call("new_table", arguments))


def turns(name: str, players: int | None = None, relay: str = "memory", seed: int = 1) -> Iterator[Result]:
    """Play a game at random. Yield the result of each call."""
    choices, told = random.Random(seed), begun(name, players, relay)
    yield told
    while not told.data["over"]:
        action = choices.randint(1, told.data["legal_actions"])
        told = succeeded(tools(relay).call("move", {"handle": told.data["handle"], "action": action}))
        yield told


def stdio(*options: str) -> StdioServerParameters:
    """Return the command of a server for a client that starts it."""
    return StdioServerParameters(command=sys.executable, args=[*COMMAND, *options])


class Server:
    """A server over HTTP, in its own process."""

    def __init__(self, *options: str | Path) -> None:
        command = (sys.executable, *COMMAND, "--address", "127.0.0.1:0", *map(str, options))
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[2]

    def kill(self) -> None:
        with self._process:
            self._process.kill()


@contextmanager
def served(*options: str | Path) -> Iterator[Server]:
    """Serve over HTTP."""
    server = Server(*options)
    try:
        yield server
    finally:
        server.kill()
