"""Limits on the calls of one client, of all clients together, and of calls whose request has not arrived."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from chatiere.service.calls.errors import limit_exceeded

# Seconds after which to try again: a client with too many calls at a time; any client when all have too many.
_RETRY, _RETRY_ALL = 0.1, 1.0
# Above this number of clients, those that have not called lately are forgotten.
_MANY = 10_000


class ClientLimits:
    """Counts the calls of clients. Only those with calls in flight or calls moments ago take memory."""

    def __init__(self, max_calls: int, max_rate: float) -> None:
        """Allow each client `max_calls` at a time and `max_rate` per second; 0: no limit."""
        self._max_calls = max_calls
        self._max_rate = max_rate
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        # The generic cell rate algorithm's theoretical arrival time of each client's next call, of time.monotonic.
        self._due: dict[str, float] = {}
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
        due = max(self._due.get(client, now), now)
        # A second's calls may come at once. Summed in this order, rounding leaves nothing over of a first call.
        wait = (due - now) + (share - max(1.0, share))
        if wait > 0:
            raise limit_exceeded("calls of one client a second", self._max_rate, wait)
        self._due[client] = due + share
        if len(self._due) > self._many:
            self._due = {each: arrival for each, arrival in self._due.items() if arrival > now}
            self._many = max(_MANY, 2 * len(self._due))


class CallLimit:
    """Counts the calls of one kind that all clients together have in flight."""

    def __init__(self, name: str, most: int) -> None:
        """Allow `most` calls; `name`: the limit in words, for refusals."""
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
    """Slots for calls that cost a client nothing to begin; to be used by one thread.

    When all are taken a new call still gets one: the client that holds most loses its oldest.
    """

    def __init__(self, slots: int) -> None:
        """Provide `slots` slots."""
        self._slots = slots
        self._free = slots
        # Calls by client, oldest first.
        self._held: dict[str, dict[object, _Slot]] = {}

    def __len__(self) -> int:
        """Return the number of slots taken."""
        return self._slots - self._free

    def take(self, client: str, call: object, end: Callable[[], None]) -> None:
        """Take a slot for a call; `release` must follow. `end` is called if the slot goes to another call."""
        if not self._free:
            largest = max(self._held, key=lambda each: len(self._held[each]))
            self._end(largest, next(iter(self._held[largest])))
        self._free -= 1
        self._held.setdefault(client, {})[call] = _Slot(end, time.monotonic())

    def end_largest(self, age: float) -> int:
        """End the calls at least `age` seconds old of the client that has most of them; return their number."""
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
        """Give a call's slot back, if it still has one."""
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
