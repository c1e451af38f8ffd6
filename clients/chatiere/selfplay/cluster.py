"""Play the games of a data set on a Ray cluster, with one task per shard. Needs the extra `chatiere[ray]`.

The tasks return shards, and the caller writes the shards to files, so the cluster needs no shared disk.
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
"""The maximum number of attempts to play a range of games."""
PER_CPU = 2
"""The number of submitted tasks for each CPU of the cluster: one that runs and one that waits."""


class TaskError(Exception):
    """All attempts to play a range of games failed."""


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Connect to a Ray cluster, and disconnect at the end.

    Args:
        address: "HOST:PORT", or "ray://HOST:PORT" to use Ray's client. "auto" connects to the cluster that runs on this
            machine, and "local" starts a new cluster on this machine. Ray sends no usage statistics.

    Raises:
        ImportError: Ray is not installed.
        ConnectionError: No cluster responds.
    """
    # The first variable disables usage statistics when Ray starts a cluster. The second variable suppresses messages
    # about failed tasks whose results are no longer needed.
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
    """Play ranges of games as tasks on the connected cluster.

    If the worker or node that plays a range dies, the range is played again.

    Args:
        play: A function that plays a range and returns the result. Its code must be installed on all nodes. Bots in
            separate files are sent with the function.
        ranges: The ranges.

    Yields:
        Each range with its result, in the order of completion.

    Raises:
        TaskError: The fourth attempt at a range failed. The message names the range.
    """
    import ray
    from ray.cloudpickle import register_pickle_by_value
    from ray.exceptions import RayError

    for module in file_modules():
        register_pickle_by_value(module)
    # Send the function only once for all tasks, because bots may be large.
    sent = ray.put(play)
    resources: Callable[[], dict[str, float]] = ray.cluster_resources
    # Attempts are counted here, because Ray would retry without limit if memory runs out.
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
                # Ray wraps exceptions raised by the task itself.
                cause = getattr(error, "cause", None) or error
                message = f"{games} failed {ATTEMPTS} times, at last with: {type(cause).__name__}: {cause}"
                raise TaskError(message) from error
            running[task.remote(sent, games)] = games, attempt + 1
        else:
            yield games, file


def _run(play: Callable[[GameRange], bytes], games: GameRange) -> bytes:
    return play(games)


def _require_listener(address: str) -> None:
    # Check first whether the cluster responds, because Ray would try to connect for minutes.
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) < 2**16):
        raise ConnectionError(
            f"the address of a Ray cluster is HOST:PORT, ray://HOST:PORT, auto or local, not {address}"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise ConnectionError(f"no Ray cluster responds at {address}: {error}") from error
