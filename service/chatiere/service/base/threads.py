"""Threads for work that takes longer than a serving loop may wait."""

import threading
from concurrent.futures import ThreadPoolExecutor


def started_threads(name: str, count: int) -> ThreadPoolExecutor:
    """Return a pool of `count` threads, all running: none has to be started later, when that might fail.

    Raises RuntimeError if they cannot be started.
    """
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    together = threading.Barrier(count + 1)
    try:
        for _ in range(count):
            pool.submit(together.wait)
    except RuntimeError:
        together.abort()
        raise
    together.wait()
    return pool
