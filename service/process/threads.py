"""Threads for what takes longer than a serving loop may wait."""

import threading
from concurrent.futures import ThreadPoolExecutor


def started_threads(name: str, count: int) -> ThreadPoolExecutor:
    """So many threads, all running: none has to be started later, when there may be no more.

    Raises RuntimeError where they cannot be had.
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
