"""Streams that wait for their clients. They may lose their slots to new calls, and are ended after a time limit."""

import threading
import time
from collections.abc import Callable
from itertools import takewhile
from math import inf
from typing import NamedTuple

from chatiere.service.base.errors import Refusal, request_timeout

# A request is recent for this time in seconds. Streams without a recent request are ended first.
_LATELY = 10.0


class Waiting(NamedTuple):
    """A stream that waits for its client."""

    end: Callable[[Refusal], None]
    """A function that ends the stream. It may be called from any thread, and does not block."""
    client: str | None
    """The client whose limits apply, or None if no limits apply."""
    since: float
    until: float
    """The time (time.monotonic) before which streams without a recent request are ended first."""


class IdleStreams:
    """The streams of a worker that wait for their clients to send a request or to receive a response."""

    def __init__(self, seconds: float, name: str = "streams whose request has not arrived completely") -> None:
        """Limit the waiting time to `seconds`; 0 for no limit. `name`: a description of the streams, for refusals."""
        self._seconds = seconds
        self.name = name
        self._lock = threading.Lock()
        # The waiting streams of each origin, in the order in which they began to wait.
        self._held: dict[str, dict[object, Waiting]] = {}

    def __len__(self) -> int:
        """Return the number of waiting streams."""
        with self._lock:
            return sum(map(len, self._held.values()))

    def add(
        self, origin: str, stream: object, client: str | None, end: Callable[[Refusal], None], *, has_worked: bool
    ) -> None:
        """Add a stream. `origin`: its client's address or token. `has_worked`: True if it has had a request."""
        now = time.monotonic()
        with self._lock:
            waiting = Waiting(end, client, now, now + _LATELY if has_worked else now)
            self._held.setdefault(origin, {})[stream] = waiting

    def remove(self, origin: str, stream: object) -> bool:
        """Remove a stream. Return False if `give_up_one` has already removed it."""
        with self._lock:
            return self._pop(origin, stream) is not None

    def give_up_one(self, kind: type[object] = object) -> Waiting | None:
        """Remove and return a stream whose slot a new call needs, or None if no stream of this type waits.

        The method chooses the stream that has waited longest at the origin with the most streams. It chooses a stream
        that recently handled a request only if all streams did.
        """
        with self._lock:
            for until in (time.monotonic(), inf):
                first_to_go = {
                    origin: [one for one, each in streams.items() if isinstance(one, kind) and each.until <= until]
                    for origin, streams in self._held.items()
                }
                origin = max(first_to_go, key=lambda each: len(first_to_go[each]), default="")
                if first_to_go.get(origin):
                    return self._pop(origin, first_to_go[origin][0])
            return None

    def end_late(self) -> None:
        """End the streams that have waited for too long. A stream is removed when it has ended."""
        begun = time.monotonic() - self._seconds
        with self._lock:
            late = [
                waiting
                for streams in self._held.values()
                for waiting in takewhile(lambda each: each.since <= begun, streams.values())
            ]
        for waiting in late:
            waiting.end(request_timeout(self._seconds))

    def _pop(self, origin: str, stream: object) -> Waiting | None:
        streams = self._held.get(origin, {})
        found = streams.pop(stream, None)
        if found is not None and not streams:
            del self._held[origin]
        return found
