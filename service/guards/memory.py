"""The memory that calls hold: requests under way, and answers until their clients have taken them."""

import gc
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from chatiere.engine import memory
from chatiere.service.calls.errors import limit_exceeded
from chatiere.service.guards.limits import CallSlots

_log = logging.getLogger(__name__)


# Seconds after which a call that found no room may be tried again.
_RETRY = 1.0
# Bytes of an answer that is small: for these a part of the budget is kept free.
_SMALL = 64 * 1024
# Memory is given back when the process is so many bytes larger than when idle, and calls have held fewer than the
# second number for so many seconds.
_MUCH, _LITTLE, _PAUSE = 32 * 1024 * 1024, 16 * 1024 * 1024, 2.0
# Bytes that requests which have come in part may take together, and how many of the largest that is at least.
_PARTS, _LARGEST = 128 * 1024 * 1024, 2
# Seconds that calls are old at least which are ended for that.
_AGE = 0.1


class MemoryBudget:
    """Bytes that all calls of a worker may hold together.

    A client may hold half of them; a quarter more is there for small answers alone. Whatever its size, a call passes
    while no other holds anything.
    """

    def __init__(self, most: int) -> None:
        """See the class."""
        self._most = most
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._total = 0

    @property
    def held(self) -> int:
        """Bytes that are held."""
        return self._total

    def change(self, client: str, before: int, after: int) -> None:
        """Let a client's call hold `after` bytes in place of `before`. Raises Refusal (LIMIT_EXCEEDED)."""
        with self._lock:
            own = self._held[client] - before + after
            total = self._total - before + after
            if after > before:
                most = self._most if after > _SMALL else self._most * 5 // 4
                if total > most and total > after:
                    raise limit_exceeded("bytes of requests under way and answers not yet taken", self._most, _RETRY)
                if own > self._most // 2 and own > after:
                    raise limit_exceeded("bytes of one client's answers not yet taken", self._most // 2, _RETRY)
            self._held[client] = own
            if not own:
                del self._held[client]
            self._total = total


class Holding:
    """The bytes of a budget that one call holds."""

    __slots__ = ("_budget", "_bytes", "_client")

    def __init__(self, budget: MemoryBudget, client: str) -> None:
        """Nothing so far."""
        self._budget = budget
        self._client = client
        self._bytes = 0

    def hold(self, size: int) -> None:
        """Hold so many bytes, in place of those before. Raises Refusal (LIMIT_EXCEEDED)."""
        if size != self._bytes:
            self._budget.change(self._client, self._bytes, size)
            self._bytes = size

    def beside(self, request: bytes) -> Callable[[int], None]:
        """Hold a request, and return what holds so many bytes beside it."""
        self.hold(len(request))
        return lambda size: self.hold(len(request) + size)

    def release(self) -> None:
        """Hold nothing any more."""
        self.hold(0)


class MemoryWatch:
    """Looks at the memory of a process that does nothing but serve.

    What requests take that have come in part only gRPC knows: it is what nothing else accounts for.
    """

    def __init__(self, budget: MemoryBudget, max_message_bytes: int, receiving: Sequence[CallSlots]) -> None:
        """`receiving`: the calls whose requests are still to come. The process should be as it is when idle."""
        self._budget = budget
        self._most = max(_PARTS, _LARGEST * max_message_bytes)
        self._receiving = receiving
        self._idle = memory.allocated_bytes() or 0
        self._idle_size = memory.resident_bytes()
        self._is_above = False
        # When calls last held much, or memory was given back.
        self._busy = time.monotonic()

    def look(self) -> None:
        """End calls whose requests take too much without coming; give back what is free once little is held."""
        above = self._above()
        if above > self._most:
            # What gRPC keeps of a call is often part of a cycle.
            gc.collect()
            above = self._above()
        was_above, self._is_above = self._is_above, above > self._most
        if was_above and self._is_above:
            # It is no moment's: answers that are just being freed are nobody's request.
            ended = sum(slots.end_largest(_AGE) for slots in self._receiving)
            _log.warning("requests that do not come take %d MiB: ended %d calls", above >> 20, ended)
        now = time.monotonic()
        if self._budget.held > _LITTLE:
            self._busy = now
        elif now > self._busy + _PAUSE and memory.resident_bytes() > self._idle_size + _MUCH:
            self._busy = now
            gc.collect()
            memory.give_back_freed_memory()

    def _above(self) -> int:
        # Bytes that neither the idle process has nor calls hold.
        return (memory.allocated_bytes() or 0) - self._idle - self._budget.held
