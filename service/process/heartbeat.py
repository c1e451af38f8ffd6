"""Heartbeats: a worker tells its supervisor that it serves."""

import os
from contextlib import suppress

# Seconds between two beats at most, and how many there are at least before a worker counts as hanging.
_LONGEST, _FEWEST = 1.0, 5
BEAT = b"null"


class Heartbeat:
    """The beats of a worker's serving loop: while they come, calls are answered.

    `interval`: seconds from one to the next.
    """

    def __init__(self, descriptor: int, hang_timeout: float) -> None:
        """`descriptor`: of the pipe to the supervisor. `hang_timeout`: as in Settings."""
        self.interval = min(_LONGEST, hang_timeout / _FEWEST)
        self._descriptor = descriptor
        # A supervisor that does not read must not stop a worker.
        os.set_blocking(descriptor, False)

    def beat(self) -> None:
        """Tell that calls are answered: from the loop that answers them, never from beside it."""
        # A full pipe holds beats enough; without a supervisor the worker ends.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._descriptor, BEAT + b"\n")
