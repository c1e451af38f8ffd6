"""How much one client may ask for."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from chatiere.service.errors import limit_exceeded

# Seconds after which a client that has too many calls at a time may try again.
_RETRY = 0.1
# From how many clients on those that have not called lately are forgotten.
_MANY = 10_000


class ClientLimits:
    """Counts the calls of clients. Only those that are calling, or have called in the last moments, take memory."""

    def __init__(self, max_calls: int, max_rate: float) -> None:
        """`max_calls` at a time and `max_rate` a second for each client; 0: no limit."""
        self._max_calls = max_calls
        self._max_rate = max_rate
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        # Until when a client's calls so far take if each takes its share of a second (the generic cell rate algorithm);
        # of time.monotonic.
        self._taken: dict[str, float] = {}
        self._many = _MANY

    @contextmanager
    def call_of(self, client: str) -> Iterator[None]:
        """While a call of a client runs. Raises Refusal (LIMIT_EXCEEDED)."""
        with self._lock:
            if self._max_calls and self._running[client] >= self._max_calls:
                raise limit_exceeded("calls of one client at a time", self._max_calls, _RETRY)
            if self._max_rate:
                self._count(client)
            self._running[client] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[client] -= 1
                if not self._running[client]:
                    del self._running[client]

    def _count(self, client: str) -> None:
        now = time.monotonic()
        share = 1 / self._max_rate
        taken = max(self._taken.get(client, now), now)
        # A second's calls may come at once. In this order nothing is left over of a first call's sum, by rounding.
        wait = (taken - now) + (share - max(1.0, share))
        if wait > 0:
            raise limit_exceeded("calls of one client a second", self._max_rate, wait)
        self._taken[client] = taken + share
        if len(self._taken) > self._many:
            self._taken = {each: until for each, until in self._taken.items() if until > now}
            self._many = max(_MANY, 2 * len(self._taken))
