"""Limits: of one client, of all together, and of those who have only begun to ask."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from chatiere.service.calls.errors import limit_exceeded

# Seconds after which a client that has too many calls at a time may try again; and one of too many clients.
_RETRY, _RETRY_ALL = 0.1, 1.0
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

    def begin(self, client: str) -> None:
        """Count a call of a client, which `end` must follow. Raises Refusal (LIMIT_EXCEEDED)."""
        with self._lock:
            if self._max_calls and self._running[client] >= self._max_calls:
                raise limit_exceeded("calls of one client at a time", self._max_calls, _RETRY)
            if self._max_rate:
                self._count(client)
            self._running[client] += 1

    def end(self, client: str) -> None:
        """Count the end of a call."""
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


class CallLimit:
    """Counts the calls of one kind that all clients have at a time."""

    def __init__(self, name: str, most: int) -> None:
        """`name`: the kind, in words."""
        self._name = name
        self._most = most
        self._lock = threading.Lock()
        self._calls = 0

    def begin(self) -> None:
        """Count a call, which `end` must follow. Raises Refusal (LIMIT_EXCEEDED)."""
        with self._lock:
            if self._calls >= self._most:
                raise limit_exceeded(self._name, self._most, _RETRY_ALL)
            self._calls += 1

    def end(self) -> None:
        """Count the end of a call."""
        with self._lock:
            self._calls -= 1


class _Slot(NamedTuple):
    end: Callable[[], None]
    since: float


class CallSlots:
    """A number of slots for calls that cost nothing to begin.

    When all are taken a newcomer gets one all the same: the client that holds most loses its oldest. All by one thread.
    """

    def __init__(self, slots: int) -> None:
        """See the class."""
        self._slots = slots
        self._free = slots
        # By client the calls in the order in which they came.
        self._held: dict[str, dict[object, _Slot]] = {}

    def __len__(self) -> int:
        """The number of slots that are taken."""
        return self._slots - self._free

    def take(self, client: str, call: object, end: Callable[[], None]) -> None:
        """Take a slot for a call, which `release` must follow; `end` is called if somebody else is to have it."""
        if not self._free:
            largest = max(self._held, key=lambda each: len(self._held[each]))
            self._end(largest, next(iter(self._held[largest])))
        self._free -= 1
        self._held.setdefault(client, {})[call] = _Slot(end, time.monotonic())

    def end_largest(self, age: float) -> int:
        """End the calls of one client that are so many seconds old, of the one that has most; how many these were."""
        begun = time.monotonic() - age
        old = {
            client: [call for call, slot in calls.items() if slot.since <= begun]
            for client, calls in self._held.items()
        }
        client, calls = max(old.items(), key=lambda item: len(item[1]), default=("", []))
        for call in calls:
            self._end(client, call)
        return len(calls)

    def release(self, client: str, call: object) -> None:
        """Give a slot back, if the call still has one."""
        calls = self._held.get(client)
        if calls is None or calls.pop(call, None) is None:
            return
        self._free += 1
        if not calls:
            del self._held[client]

    def _end(self, client: str, call: object) -> None:
        end = self._held[client][call].end
        self.release(client, call)
        end()
