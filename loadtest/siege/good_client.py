"""A well-behaved client: a few calls of each kind at a steady pace, and their durations."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from loadtest.siege.good_calls import Calls, GrpcCalls, SharedCalls, WebCalls, cause
from loadtest.siege.plan import SHARED

KINDS = {"game": 0.02, "batch": 0.05, "health": 0.05}
"""The period in seconds of each kind of call: to GameService and NewTable, to BatchService, and health checks."""
STREAM = "stream"
"""The kind of calls that use one stream of BatchService. The stream stays open."""
ROOM = "room"
"""The kind of calls that post in a room. Each post must reach a follower that stays connected."""
_PERIODS = KINDS | {STREAM: 1.0, ROOM: 0.1}


class Measured:
    """The durations and the failures of a client's calls.

    Attributes:
        seconds: The durations of the calls of each kind, in seconds. A duration begins at the time when the call was
            due.
        failures: The number of failures for each kind of call and cause.
    """

    def __init__(self) -> None:
        """Create a measurement without calls."""
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.failures: Counter[str] = Counter()

    def p99_ms(self, kind: str) -> float:
        """Return the 99th percentile of a kind of call's durations, in ms. Return infinity if there were no calls."""
        seconds = self.seconds[kind]
        return 1000 * float(np.percentile(seconds, 99, method="higher")) if seconds else float("inf")

    def longest_ms(self) -> float:
        """Return the duration of the longest call of any kind, in milliseconds, or infinity if there were no calls."""
        return 1000 * max((one for seconds in self.seconds.values() for one in seconds), default=float("inf"))


class GoodClient:
    """A well-behaved client. During a `with` statement, it makes calls of each kind in a separate thread.

    The calls use one of the server's ports, called a door. `kinds` lists the members of KINDS that the door supports.
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
        """Create a client. `pace` is a factor for the frequency of calls. For the other arguments see GrpcCalls."""
        self._calls: GrpcCalls | WebCalls
        if door == "web":
            self._calls = WebCalls(address, token, authority)
        else:
            kind = SharedCalls if door == SHARED else GrpcCalls
            self._calls = kind(address, token, authority, has_rooms=has_rooms)
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
        """Start a measurement. It lasts until the next measurement starts."""
        self._measured = Measured()
        return self._measured

    def _repeat(self, kind: str, period: float, calls: Callable[[], Calls]) -> None:
        # A call is due at its time even if the previous call has not ended. The delay is a part of its duration.
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
