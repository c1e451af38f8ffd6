"""The memory that calls hold: requests in flight, and responses until their clients have taken them."""

import gc
import logging
import threading
import time
from collections.abc import Callable, Sequence
from math import inf
from operator import itemgetter
from typing import Any

from chatiere.engine import memory
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import limit_exceeded
from chatiere.service.guards.limits import CallSlots

_log = logging.getLogger(__name__)


# Seconds after which a call that did not fit the budget may be tried again.
_RETRY = 1.0
# The largest small response, in bytes: a part of the budget is reserved for these.
_SMALL = 64 * 1024
# Memory is given back when the process is _MUCH bytes larger than when idle and calls have held at most _LITTLE bytes
# for _PAUSE seconds; where that was of no use, more than twice as long as before, up to _MAX_PAUSE: it takes a
# tenth of a second with thousands of connections.
_MUCH, _LITTLE, _PAUSE, _MAX_PAUSE = 32 * 1024 * 1024, 16 * 1024 * 1024, 2.0, 64.0
# The most of the time that may go to it: nobody is served meanwhile.
_SHARE = 0.001
# Seconds between two lines of the log about calls that were ended.
_BETWEEN_LINES = 10.0
# Bytes that partly received requests may take together; at least this many requests of the largest size.
_PARTS, _MAX_MESSAGES = 128 * 1024 * 1024, 2
# The least age, in seconds, of calls ended for exceeding that.
LEAST_AGE = 0.1
# The seconds for which a stream counts as used after a request.
_USED = 10.0


def most_of_parts(max_message_bytes: int) -> int:
    """Return the bytes that partly received requests may take together."""
    return max(_PARTS, _MAX_MESSAGES * max_message_bytes)


class MemoryBudget:
    """The bytes that all calls of a worker may hold together.

    A client may hold half of them; a quarter more is reserved for small responses. While all other calls together hold
    next to nothing (such as their requests), a call of any size passes.
    """

    def __init__(self, most: int) -> None:
        """Allow `most` bytes."""
        self._most = most
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        self._total = 0

    @property
    def held(self) -> int:
        """The bytes held."""
        return self._total

    def change(self, client: str, before: int, after: int) -> None:
        """Let a client's call hold `after` bytes instead of `before`. Raises Refusal (LIMIT_EXCEEDED)."""
        with self._lock:
            own = self._held.get(client, 0) - before + after
            total = self._total - before + after
            if after > before:
                most = self._most if after > _SMALL else self._most * 5 // 4
                # The limits' names, here and below, are metadata that clients may rely on.
                if total > most and total - after > _SMALL:
                    raise limit_exceeded("bytes of requests under way and answers not yet taken", self._most, _RETRY)
                if own > self._most // 2 and own - after > _SMALL:
                    raise limit_exceeded("bytes of one client's answers not yet taken", self._most // 2, _RETRY)
            if own:
                self._held[client] = own
            else:
                self._held.pop(client, None)
            self._total = total


class Holding:
    """The bytes of a budget that one call holds."""

    __slots__ = ("_budget", "_bytes", "_client")

    def __init__(self, budget: MemoryBudget, client: str) -> None:
        """Hold nothing so far."""
        self._budget = budget
        self._client = client
        self._bytes = 0

    def hold(self, size: int) -> None:
        """Hold `size` bytes, instead of those before. Raises Refusal (LIMIT_EXCEEDED)."""
        if size != self._bytes:
            self._budget.change(self._client, self._bytes, size)
            self._bytes = size

    def beside(self, request: Buffer) -> Callable[[int], None]:
        """Hold a request, and return a function that holds a number of bytes beside it."""
        self.hold(len(request))
        return lambda size: self.hold(len(request) + size)

    def release(self) -> None:
        """Stop holding anything."""
        self.hold(0)


class EndedCalls:
    """The calls that a door has ended because of their memory, told in the log now and then."""

    def __init__(self, logger: logging.Logger, whose: str) -> None:
        """Write to `logger`; `whose`: the memory in words."""
        self._logger, self._whose = logger, whose
        self._calls, self._size, self._last_line = 0, 0, -inf

    def add(self, calls: int, size: int) -> None:
        """Count calls, ended because of so many bytes."""
        self._calls += calls
        self._size = max(self._size, size)

    def tell(self) -> None:
        """Write of those not told yet, unless it was done a moment ago."""
        now = time.monotonic()
        if self._calls and now > self._last_line + _BETWEEN_LINES:
            self._logger.warning("%s take %d MiB: ended %d calls", self._whose, self._size >> 20, self._calls)
            self._calls, self._size, self._last_line = 0, 0, now


class MemoryWatch:
    """Watches the memory of a process that does nothing but serve.

    Only gRPC knows what partly received requests take: it is taken to be what nothing else accounts for. Of that only
    what is in use and resident counts: some allocate much more than they touch, and freed memory is kept for a while.
    """

    def __init__(
        self,
        budget: MemoryBudget,
        max_message_bytes: int,
        receiving: Sequence[CallSlots],
        known: Callable[[], int],
    ) -> None:
        """Measure the idle process.

        `receiving`: the calls whose requests have not arrived. `known`: returns the bytes of memory that are
        accounted for otherwise.
        """
        self._budget = budget
        self._most = most_of_parts(max_message_bytes)
        self._largest = max_message_bytes
        self._receiving = receiving
        self._known = known
        self._idle = memory.allocated_bytes() or 0
        self._idle_size = memory.resident_bytes()
        self._ended = EndedCalls(_log, "incomplete requests")
        self._is_above = False
        # When incomplete requests last took little, of time.perf_counter.
        self._calm = time.perf_counter()
        # The last time that calls held much, or memory was given back; the seconds until it is tried again.
        self._busy, self._pause = time.monotonic(), _PAUSE

    def look(self) -> None:
        """End calls whose incomplete requests take too much; give free memory back once little is held."""
        above = self._above()
        if above > self._most and not self._is_above:
            # gRPC's objects of a call are often part of a cycle.
            self._tidy_up()
            above = self._above()
        was_above, self._is_above = self._is_above, above > self._most
        if was_above and self._is_above:
            # Twice in a row, and again after calls were ended: what is just being freed does not count.
            self._is_above = not self._end_some(above)
        elif above < self._most // 2:
            self._calm = time.perf_counter()
        self._ended.tell()
        now = time.monotonic()
        if self._budget.held > _LITTLE:
            self._busy, self._pause = now, _PAUSE
        elif now > self._busy + self._pause and self._resident() > _MUCH:
            self._busy = now
            before, begun = memory.resident_bytes(), time.perf_counter()
            self._tidy_up()
            took = time.perf_counter() - begun
            was_of_use = memory.resident_bytes() < before - _MUCH // 2
            pause = _PAUSE if was_of_use else min(_PAUSE + 2 * self._pause, _MAX_PAUSE)
            self._pause = max(pause, took / _SHARE)

    def _end_some(self, above: int) -> bool:
        # As few calls as may bring it down: of the client that has most of those begun since there was little, then of
        # the client that has most, streams that are used last.
        needed = most = (above - self._most) // self._largest + 1
        for weight in (self._is_new, _is_unused, _is_any):
            while needed > 0:
                found = [(*slots.largest(LEAST_AGE, weight), slots) for slots in self._receiving]
                count, client, calls, slots = max(found, key=itemgetter(0))
                if not count:
                    break
                slots.end(client, calls)
                self._ended.add(count, above)
                needed -= count
        return needed < most

    def _is_new(self, call: Any) -> bool:
        return bool(call.start > self._calm) and _is_unused(call)

    def _above(self) -> int:
        # Bytes beyond the idle process's and those that calls hold.
        allocated = (memory.allocated_bytes() or 0) - self._idle - self._known()
        return min(allocated, self._resident()) - self._budget.held

    def _resident(self) -> int:
        # Beyond the idle process's and what is accounted for.
        return memory.resident_bytes() - self._idle_size - self._known()

    def _tidy_up(self) -> None:
        gc.collect()
        memory.give_back_freed_memory()


def _is_unused(call: Any) -> bool:
    return not call.worked or call.worked < time.perf_counter() - _USED


def _is_any(call: Any) -> bool:
    return True
