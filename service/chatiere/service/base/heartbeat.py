"""Heartbeats, by which a worker's supervisor knows that it serves."""

import os
from contextlib import suppress

# The longest interval in seconds, and the least number of beats missed before a worker counts as hanging.
_MAX_INTERVAL, _MIN_BEATS = 1.0, 5
BEAT = b"null"


class Heartbeat:
    """The beats of a worker's serving loop: while they arrive, calls are served.

    `interval`: seconds from one to the next.
    """

    def __init__(self, descriptor: int, hang_timeout: float) -> None:
        """Beat into `descriptor`, the pipe to the supervisor. `hang_timeout`: as in Settings."""
        self.interval = min(_MAX_INTERVAL, hang_timeout / _MIN_BEATS)
        self._descriptor = descriptor
        # A supervisor that does not read must not stop a worker.
        os.set_blocking(descriptor, False)

    def beat(self) -> None:
        """Send a beat; to be called by the serving loop alone."""
        # A full pipe has enough beats; without a supervisor the worker ends.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._descriptor, BEAT + b"\n")
