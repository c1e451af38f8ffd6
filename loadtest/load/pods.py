"""Load on two servers: one of them is killed and replaced during the load, and the calls at each server are counted."""

import re
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import NamedTuple

from chatiere.clients.transport.channel import target_of
from loadtest.load.own_server import OwnServer, own_server

# The maximum age, in seconds, is so short that connections are renewed several times in each part of a run.
_ARGUMENTS = ("--max-connection-age", "5")
_LOOK = 0.1
_CALLS = re.compile(r'^grpc_server_handled_total\{.*grpc_service="chatiere\.v1\.GameService".*\} (\S+)$', re.MULTILINE)


class Phase(NamedTuple):
    """A part of a run. `calls` has the number of calls that each of the two servers handled in it."""

    name: str
    calls: tuple[int, int]

    @property
    def shares(self) -> tuple[float, float]:
        """The share of each server, from 0 to 1. Both are 0 if there were no calls."""
        total = max(1, sum(self.calls))
        return self.calls[0] / total, self.calls[1] / total

    def text(self) -> str:
        """Return a line of text that describes the part."""
        return f"{self.name}: {sum(self.calls)} calls, {' : '.join(f'{share:.1%}' for share in self.shares)}"

    def broken(self, min_share: float) -> list[str]:
        """Return a message if a server had a smaller share than `min_share`."""
        least = min(self.shares)
        return [f"{self.name}: a server had {least:.1%} of the calls, less than {min_share:.1%}"] * (least < min_share)


def replacing_one(
    door: str, seconds: float, load: Callable[[str], int], tell: Callable[[str], None]
) -> tuple[int, list[Phase]]:
    """Load two servers. During the load, kill the second one with SIGKILL, and start another server at its address.

    Args:
        door: The door to load.
        seconds: The minimum number of seconds before the kill.
        load: A function that is called in a thread with a gRPC target for both addresses, and returns an exit code.
        tell: A function that is called with progress messages.

    Returns:
        The exit code, and two phases: before the kill, and after the new server's first calls.
    """
    # Give grpcio's port a free address even if it is not loaded, because both servers cannot use the default address.
    doors = list(dict.fromkeys([door, "grpcio"]))
    with ThreadPoolExecutor(1) as executor, ExitStack() as servers:
        first, second = (servers.enter_context(own_server(*_ARGUMENTS, doors=doors)) for _ in range(2))
        both = [each.addresses[door] for each in (first, second)]
        loading = executor.submit(load, target_of(both))
        _await_calls(second, loading)
        wait([loading], seconds)
        before = Phase("before a server is killed", (_calls(first), _calls(second)))
        second.kill()
        tell("a server is killed")
        replacement = servers.enter_context(own_server(*_ARGUMENTS, doors=doors, first_address=both[1]))
        tell("another server starts at its address")
        _await_calls(replacement, loading)
        earlier = _calls(first), _calls(replacement)
        tell("it is called")
        code = loading.result()
        after = Phase("after it is replaced", (_calls(first) - earlier[0], _calls(replacement) - earlier[1]))
    return code, [before, after]


def _await_calls(server: OwnServer, loading: "Future[int]") -> None:
    while not _calls(server) and not loading.done():
        wait([loading], _LOOK)


def _calls(server: OwnServer) -> int:
    with urllib.request.urlopen(f"http://{server.addresses['metrics']}/metrics", timeout=5.0) as response:
        return sum(int(float(number)) for number in _CALLS.findall(response.read().decode()))
