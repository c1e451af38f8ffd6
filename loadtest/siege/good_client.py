"""A well-behaved client: a few calls of each kind at a steady pace, and their durations."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from loadtest.siege.good_calls import Calls, GrpcCalls, WebCalls, cause

KINDS = {"game": 0.02, "batch": 0.05, "health": 0.05}
"""Kinds of calls (of GameService and NewTable, of BatchService, health checks), each with its period in seconds."""
STREAM = "stream"
"""The kind of calls on a stream of BatchService that stays open."""
ROOM = "room"
"""The kind of posts in a room, each of which must reach a follower that stays connected."""
_PERIODS = KINDS | {STREAM: 1.0, ROOM: 0.1}


class Measured:
    """The seconds from the due time of each call to its end, by kind, and the number of failures, by cause."""

    def __init__(self) -> None:
        """Create a measurement without calls."""
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.failures: Counter[str] = Counter()

    def p99_ms(self, kind: str) -> float:
        """Return the 99th percentile of the durations of a kind of call in milliseconds; infinity without calls."""
        seconds = self.seconds[kind]
        return 1000 * float(np.percentile(seconds, 99, method="higher")) if seconds else float("inf")

    def longest_ms(self) -> float:
        """Return the duration of the longest call in milliseconds, or infinity without calls."""
        return 1000 * max((one for seconds in self.seconds.values() for one in seconds), default=float("inf"))


class GoodClient:
    """A client of a door that makes calls of each kind in a thread, during a `with` statement.

    `kinds` has the kinds of calls that the door supports, except the calls on a stream.
    """

    def __init__(
        self,
        door: str,
        address: str,
        token: str | None,
        authority: bytes | None,
        *,
        pace: float = 1.0,
        has_rooms: bool = False,
    ) -> None:
        """Create a client. `pace` is a factor for the frequency of calls; for other arguments see GrpcCalls."""
        self._calls = (
            WebCalls(address, token, authority)
            if door == "web"
            else GrpcCalls(address, token, authority, has_rooms=has_rooms)
        )
        self.kinds = [kind for kind in self._calls.kinds if kind in KINDS]
        self._measured = Measured()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(kind, _PERIODS[kind] / pace, calls), daemon=True)
            for kind, calls in self._calls.kinds.items()
        ]

    def __enter__(self) -> "GoodClient":
        """Start the calls."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop after the calls in flight."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._calls.close()

    def measure(self) -> Measured:
        """Start a measurement, which lasts until the next one."""
        self._measured = Measured()
        return self._measured

    def _repeat(self, kind: str, period: float, calls: Callable[[], Calls]) -> None:
        # Calls are due even if the last one has not ended. A call that waits delays the next ones.
        due = time.perf_counter()
        while True:
            for call in calls():
                if self._stopping.wait(max(0.0, due - time.perf_counter())):
                    return
                measured = self._measured
                try:
                    call()
                except Exception as error:
                    measured.failures[f"{kind}: {cause(error)}"] += 1
                measured.seconds[kind].append(time.perf_counter() - due)
                due += period
