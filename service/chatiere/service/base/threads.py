"""Thread pools for work that would block a serving loop for too long."""

import threading
from concurrent.futures import ThreadPoolExecutor


def started_threads(name: str, count: int, most: int | None = None) -> ThreadPoolExecutor:
    """Return a pool with `count` threads already running, so that they exist even if later starts fail.

    Args:
        name: The prefix of the threads' names.
        count: The number of threads to start.
        most: The maximum number of threads; None: `count`.

    Raises:
        RuntimeError: If the threads cannot be started.
    """
    pool = ThreadPoolExecutor(most or count, thread_name_prefix=name)
    together = threading.Barrier(count + 1)
    try:
        for _ in range(count):
            pool.submit(together.wait)
    except RuntimeError:
        together.abort()
        raise
    together.wait()
    return pool
