"""The games of a data set on a Ray cluster: a task plays a shard. Needs the extra `chatiere[ray]`.

The tasks bring their shards to the caller, who writes them: the cluster needs no common disk.
"""

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from chatiere.bots.loading import file_modules
from chatiere.selfplay.shard_file import GameRange

ATTEMPTS = 4
"""How often a range of games is tried."""
PER_CPU = 2
"""The tasks at a time for each CPU of the cluster: one that runs, and one that waits."""


class TaskError(Exception):
    """A range of games could not be played, however often it was tried."""


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Connect to a Ray cluster, and leave it at the end.

    `address`: "HOST:PORT", or "ray://HOST:PORT" through Ray's client; "auto": the one that runs on this machine;
    "local": a new one on this machine. Ray sends no usage statistics. Raises ImportError without ray, ConnectionError
    if no cluster responds.
    """
    # Read by Ray when it starts a cluster; and when tasks fail that nobody waits for any more.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_IGNORE_UNHANDLED_ERRORS"] = "1"
    try:
        import ray
    except ImportError as error:
        raise ImportError("Ray is not installed: pip install 'chatiere[ray]'") from error
    if address == "local":
        ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    else:
        if address != "auto":
            _require_listener(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield
    finally:
        ray.shutdown()


def play_on_ray(play: Callable[[GameRange], bytes], ranges: Iterable[GameRange]) -> Iterator[tuple[GameRange, bytes]]:
    """Play ranges of games as tasks of the cluster that this process is connected to.

    `play`: plays a range and returns it; its code has to be installed on all nodes, but for that of bots in files of
    their own, which goes along. Yields each range with what came of it, in the order in which they end. A range whose
    worker or node dies is played again. Raises TaskError, which names the range, after the fourth attempt.
    """
    import ray
    from ray.cloudpickle import register_pickle_by_value
    from ray.exceptions import RayError

    for module in file_modules():
        register_pickle_by_value(module)
    # Once for all tasks: bots may be large.
    sent = ray.put(play)
    resources: Callable[[], dict[str, float]] = ray.cluster_resources
    # Attempts are counted here: Ray would try forever where memory runs out.
    task: Any = ray.remote(max_retries=0)(_run)
    waiting = iter(ranges)
    running: dict[Any, tuple[GameRange, int]] = {}
    while True:
        while len(running) < max(1, int(resources().get("CPU", 1) * PER_CPU)):
            games = next(waiting, None)
            if games is None:
                break
            running[task.remote(sent, games)] = games, 1
        if not running:
            return
        (done,), _ = ray.wait(list(running), num_returns=1)
        games, attempt = running.pop(done)
        try:
            file = ray.get(done)
        except RayError as error:
            if attempt == ATTEMPTS:
                # What the task itself raised comes wrapped.
                cause = getattr(error, "cause", None) or error
                message = f"{games} failed {ATTEMPTS} times, at last with: {type(cause).__name__}: {cause}"
                raise TaskError(message) from error
            running[task.remote(sent, games)] = games, attempt + 1
        else:
            yield games, file


def _run(play: Callable[[GameRange], bytes], games: GameRange) -> bytes:
    return play(games)


def _require_listener(address: str) -> None:
    # Ray would try for minutes.
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) < 2**16):
        raise ConnectionError(
            f"the address of a Ray cluster is HOST:PORT, ray://HOST:PORT, auto or local, not {address}"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise ConnectionError(f"no Ray cluster responds at {address}: {error}") from error
