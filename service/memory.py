"""The memory that calls hold: requests under way, and answers until their clients have taken them."""

import ctypes
import threading
from collections import Counter
from collections.abc import Callable

from chatiere.service.errors import limit_exceeded

# Seconds after which a call that found no room may be tried again.
_RETRY = 1.0
# Bytes of an answer that is small: for these a part of the budget is kept free.
_SMALL = 64 * 1024
# Bytes that must have been held for memory to be given back to the system afterwards, and below which that is done.
_MUCH, _LITTLE = 64 * 1024 * 1024, 16 * 1024 * 1024


class Budget:
    """Bytes that all calls of a worker may hold together.

    A client may hold half of them; a quarter more is there for small answers alone. Whatever its size, a call passes
    while no other holds anything.
    """

    def __init__(self, most: int) -> None:
        """See the class."""
        self._most = most
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._total = self._peak = 0

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
            self._peak = max(self._peak, total)

    def give_back(self) -> bool:
        """Return freed memory to the system where much was held and no longer is; whether that was so."""
        with self._lock:
            if self._peak < _MUCH or self._total > _LITTLE:
                return False
            self._peak = self._total
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        return True


class Holding:
    """What one call holds of a budget."""

    __slots__ = ("_budget", "_bytes", "_client")

    def __init__(self, budget: Budget, client: str) -> None:
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
