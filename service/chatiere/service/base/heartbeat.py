"""The heartbeats by which a worker shows the supervisor that it is able to serve calls."""

import os
from contextlib import suppress

# The maximum interval between two beats in seconds, and the minimum number of missed beats after which a worker counts
# as hanging.
_MAX_INTERVAL, _MIN_BEATS = 1.0, 5
BEAT = b"null"


class Heartbeat:
    """The heartbeats of a worker. Its serving loop sends them, so they stop if the loop hangs.

    Attributes:
        interval: The time in seconds between two beats.
    """

    def __init__(self, descriptor: int, hang_timeout: float) -> None:
        """Write beats to `descriptor`, the pipe to the supervisor. For `hang_timeout` see Settings."""
        self.interval = min(_MAX_INTERVAL, hang_timeout / _MIN_BEATS)
        self._descriptor = descriptor
        # A supervisor that does not read must not block a worker.
        os.set_blocking(descriptor, False)

    def beat(self) -> None:
        """Send a beat. To be called only by the serving loop."""
        # Ignore a full pipe: it already contains enough beats. Ignore a closed pipe, because a worker without a
        # supervisor ends by itself.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._descriptor, BEAT + b"\n")
