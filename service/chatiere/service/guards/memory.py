"""The memory that calls hold: requests in flight, and responses until their clients have received them."""

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Callable, Sequence, Sized
from contextlib import suppress
from math import inf
from operator import attrgetter, itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from chatiere.engine import memory
from chatiere.service.base.errors import limit_exceeded
from chatiere.service.guards.limits import CallSlots

_log = logging.getLogger(__name__)


# The time in seconds after which a client may retry a call that exceeded the budget.
_RETRY = 1.0
# The maximum size in bytes of a small call. It is enough for a single position or view at every door, and for
# ListGames.
_SMALL = 1024 * 1024
# Free memory is returned to the system when the process is _MUCH bytes larger than when it was idle, and calls have
# held at most _LITTLE bytes for _PAUSE seconds. If this does not help, the pause is more than doubled each time, up to
# _MAX_PAUSE. Returning memory takes a tenth of a second with thousands of connections.
_MUCH, _LITTLE, _PAUSE, _MAX_PAUSE = 32 * 1024 * 1024, 16 * 1024 * 1024, 2.0, 64.0
# The maximum fraction of time to spend on returning memory to the system, because no calls are served in this time.
_SHARE = 0.001
# The minimum number of seconds between two log lines about ended calls.
_BETWEEN_LINES = 10.0
MEMORY_LOOK = 0.1
"""The number of seconds between two checks of the memory. In this time, the network can deliver only little data."""
IDLE_LOOK = 1.0
"""The number of seconds between two checks of the memory while no call can receive data."""
# The limit on the total size of partly received requests is _PARTS bytes, or the size of _MAX_MESSAGES requests of the
# maximum size if that is more.
_PARTS, _MAX_MESSAGES = 128 * 1024 * 1024, 2
# The minimum age, in seconds, of calls that are ended because this limit is exceeded.
LEAST_AGE = 0.1
# The time in seconds after a request during which a stream is considered in use.
_USED = 10.0


def most_of_parts(max_message_bytes: int) -> int:
    """Return the limit on the total bytes of partly received requests."""
    return max(_PARTS, _MAX_MESSAGES * max_message_bytes)


_Batch = TypeVar("_Batch")


class _Account:
    """The numbers of bytes held, in total and by each client."""

    def __init__(self) -> None:
        """Create an empty account."""
        self.total = 0
        self._by_client: dict[str, int] = {}

    def of(self, client: str) -> int:
        """Return the bytes held by a client."""
        return self._by_client.get(client, 0)

    def add(self, client: str, size: int) -> None:
        """Add to the bytes held by a client."""
        self.total += size
        own = self.of(client) + size
        if own:
            self._by_client[client] = own
        else:
            self._by_client.pop(client, None)

    def largest(self) -> str:
        """Return the client that holds the most bytes, or "" if no bytes are held."""
        return max(self._by_client, key=self._by_client.__getitem__, default="")


class MemoryBudget:
    """A limit on the bytes held by all calls of a worker. One client may hold half of these bytes.

    In addition, a quarter of this size is reserved for small calls, so that large calls cannot exclude them. One client
    may use half of the reserve. A large call of any size is allowed while there is no other large call.

    The batches that streams keep use the memory that calls do not need, up to three quarters of the budget, and count
    towards their client's half. When calls of any client need the memory, batches are dropped, first a batch of the
    client that keeps the most.
    """

    def __init__(self, most: int) -> None:
        """Allow `most` bytes."""
        self._most = most
        self._lock = threading.Lock()
        self._small, self._large, self._kept = _Account(), _Account(), _Account()
        # For each client, its streams that keep batches.
        self._keepers: dict[str, set[KeptBatches[Any]]] = {}

    @property
    def held(self) -> int:
        """The bytes held."""
        return self._small.total + self._large.total + self._kept.total

    def change(self, client: str, before: int, after: int) -> None:
        """Change the bytes held by a client's call from `before` to `after`. Raises Refusal (LIMIT_EXCEEDED)."""
        small, large = self._small, self._large
        with self._lock:
            held = small if before <= _SMALL else large
            held.add(client, -before)
            if after > before:
                # Do not change the names of limits: they are metadata, and clients may rely on them.
                refusal = None
                if not _fits(small.total, large.total, after, self._most):
                    name = "bytes of requests under way and answers not yet taken"
                    refusal = limit_exceeded(name, self._most, _RETRY)
                elif not self._fits_client(client, after):
                    refusal = limit_exceeded("bytes of one client's answers not yet taken", self._most // 2, _RETRY)
                if refusal is not None:
                    held.add(client, before)
                    raise refusal
            (small if after <= _SMALL else large).add(client, after)
            while self._kept.total and self.held > self._most:
                self._drop_one(self._kept.largest())

    def change_kept(self, stream: "KeptBatches[_Batch]", batches: Callable[[], dict[int, "_Sized[_Batch]"]]) -> None:
        """Replace the batches that a stream keeps.

        Args:
            stream: The stream.
            batches: A function that returns the new batches by number. It is called while the lock is held.

        Raises:
            Refusal: If the new batches do not fit (LIMIT_EXCEEDED).
        """
        with self._lock:
            after = batches()
            size = sum(each.size for each in after.values())
            if size > stream.size:
                self._make_way(stream, size)
            self._set_kept(stream, after, size)

    def _make_way(self, stream: "KeptBatches[Any]", size: int) -> None:
        # Drop batches of other clients so that a stream can keep `size` bytes. Raises Refusal.
        client, kept = stream.client, self._kept
        own = kept.of(client) - stream.size + size
        if self._small.of(client) + self._large.of(client) + own > self._most // 2:
            raise limit_exceeded("bytes of one client's answers not yet taken", self._most // 2, _RETRY)
        most = min(self._most - self._most // 4, self._most - self._small.total - self._large.total)
        while kept.total - stream.size + size > most:
            largest = kept.largest()
            # Do not drop batches of clients that keep less than this client would keep.
            if largest == client or kept.of(largest) <= own:
                raise limit_exceeded("bytes of states kept on streams", self._most - self._most // 4, _RETRY)
            self._drop_one(largest)

    def _drop_one(self, client: str) -> None:
        # Drop the largest batch of a client that keeps batches.
        stream = max(self._keepers[client], key=attrgetter("size"))
        after = dict(stream.batches)
        largest = after.pop(max(after, key=lambda number: after[number].size))
        self._set_kept(stream, after, stream.size - largest.size)

    def _set_kept(self, stream: "KeptBatches[_Batch]", batches: dict[int, "_Sized[_Batch]"], size: int) -> None:
        client = stream.client
        self._kept.add(client, size - stream.size)
        stream.batches, stream.size = batches, size
        keepers = self._keepers.setdefault(client, set())
        (keepers.add if size else keepers.discard)(stream)
        if not keepers:
            del self._keepers[client]

    def _fits_client(self, client: str, size: int) -> bool:
        # Return True if a call of a client may hold `size` bytes within the client's half.
        small, large, kept = self._small.of(client), self._large.of(client), self._kept.of(client)
        if kept <= _SMALL:
            small += kept
        else:
            large += kept
        return _fits(small, large, size, self._most // 2)


def _fits(small: int, large: int, size: int, most: int) -> bool:
    # Return True if a call may hold `size` bytes, given the bytes of other small calls, of other large calls, and the
    # limit.
    reserve = most // 4
    if size <= _SMALL:
        return small + size <= max(reserve, most - large) or not (small or large)
    return (not large and small <= reserve) or small + large + size <= most


class Holding:
    """The bytes of a budget that one call holds."""

    __slots__ = ("_budget", "_bytes", "_client")

    def __init__(self, budget: MemoryBudget, client: str) -> None:
        """Create a holding of no bytes."""
        self._budget = budget
        self._client = client
        self._bytes = 0

    def hold(self, size: int) -> None:
        """Change the number of held bytes to `size`. Raises Refusal (LIMIT_EXCEEDED)."""
        if size != self._bytes:
            self._budget.change(self._client, self._bytes, size)
            self._bytes = size

    def beside(self, request: Sized) -> Callable[[int], None]:
        """Hold a request's bytes. Return a function that holds a number of bytes in addition to the request."""
        self.hold(len(request))
        return lambda size: self.hold(len(request) + size)

    def release(self) -> None:
        """Hold no bytes."""
        self.hold(0)


class LastingHolding(Holding):
    """A holding that only grows, until `end`, because changing it for each request would take too long."""

    __slots__ = ()

    def hold(self, size: int) -> None:
        """Hold at least `size` bytes. Raises Refusal (LIMIT_EXCEEDED)."""
        if size > self._bytes:
            super().hold(size)

    def release(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Hold no bytes."""
        super().hold(0)


class _Sized(NamedTuple, Generic[_Batch]):
    # A batch, and its size in bytes.
    batch: _Batch
    size: int


class KeptBatches(Generic[_Batch]):
    """The batches that one stream keeps, each under a number. The budget drops batches when calls need the memory."""

    __slots__ = ("_budget", "batches", "client", "size")

    def __init__(self, budget: MemoryBudget, client: str) -> None:
        """Create an empty store."""
        self._budget = budget
        self.client = client
        """The client of the stream."""
        # Only the budget changes these attributes. It may do so from any thread.
        self.batches: dict[int, _Sized[_Batch]] = {}
        """The batches with their sizes."""
        self.size = 0
        """The total size of all batches in bytes."""

    def get(self, number: int) -> _Batch | None:
        """Return the batch of this number, or None."""
        found = self.batches.get(number)
        return None if found is None else found.batch

    def replace(self, taken: int, number: int, batch: _Batch, size: int) -> None:
        """Discard the batch `taken`, and store a batch of `size` bytes under `number`, unless `number` is 0.

        Raises:
            Refusal: If the batch does not fit (LIMIT_EXCEEDED). The stream's batches are then unchanged.
        """
        new = {number: _Sized(batch, size)} if number else {}
        self._budget.change_kept(
            self, lambda: {each: sized for each, sized in self.batches.items() if each != taken} | new
        )

    def release(self) -> None:
        """Discard all batches."""
        self._budget.change_kept(self, dict)


class EndedCalls:
    """The calls that a door has ended because of their memory. They are logged at most every ten seconds."""

    def __init__(self, logger: logging.Logger, whose: str) -> None:
        """Create an empty record. Ended calls are logged with `logger`.

        `whose` names the requests that use the memory. Log lines begin with this name: "<whose> take 70 MiB: ended 3
        calls".
        """
        self._logger, self._whose = logger, whose
        self._calls, self._size, self._last_line = 0, 0, -inf

    def add(self, calls: int, size: int) -> None:
        """Count ended calls. `size`: the number of bytes that were held."""
        self._calls += calls
        self._size = max(self._size, size)

    def tell(self) -> None:
        """Log the ended calls that were not reported yet, unless a line was logged recently."""
        now = time.monotonic()
        if self._calls and now > self._last_line + _BETWEEN_LINES:
            self._logger.warning("%s take %d MiB: ended %d calls", self._whose, self._size >> 20, self._calls)
            self._calls, self._size, self._last_line = 0, 0, now


async def look_regularly(
    look: Callable[[], None], receiving: Sequence[CallSlots], held: Callable[[], int] = lambda: 0
) -> None:
    """Call `look` ten times a second while calls receive data or hold memory, and otherwise once a second.

    Args:
        look: The function to call.
        receiving: The calls that receive data. They have to begin in the thread of this coroutine.
        held: A function that returns the bytes that calls hold.
    """
    begun = asyncio.Event()
    for slots in receiving:
        slots.on_first = begun.set
    while True:
        begun.clear()
        with suppress(TimeoutError):
            if not held() and not any(receiving):
                await asyncio.wait_for(begun.wait(), IDLE_LOOK)
            await asyncio.sleep(MEMORY_LOOK)
        look()


class MemoryWatch:
    """Watches the memory of a process that only serves calls.

    Only gRPC knows the memory of partly received requests. This memory is estimated as the memory of the process
    minus all known uses. Only memory that is both allocated and resident counts: some code allocates much more memory
    than it uses, and freed memory stays resident for some time.
    """

    def __init__(
        self,
        budget: MemoryBudget,
        max_message_bytes: int,
        receiving: Sequence[CallSlots],
        known: Callable[[], int],
    ) -> None:
        """Measure the memory of the process. The process must be idle.

        Args:
            budget: The memory held by calls.
            max_message_bytes: The maximum size of a request, in bytes.
            receiving: The calls whose requests have not arrived.
            known: A function that returns the bytes of the known uses, without the budget.
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
        # The time (time.perf_counter) when incomplete requests last used little memory.
        self._calm = time.perf_counter()
        # The last time when calls held much memory or free memory was returned, and the time in seconds until the next
        # attempt to return memory.
        self._busy, self._pause = time.monotonic(), _PAUSE

    async def run(self) -> None:
        """Look regularly. Calls have to begin in the thread of this coroutine."""
        await look_regularly(self.look, self._receiving, lambda: self._budget.held)

    def look(self) -> None:
        """End calls if incomplete requests use too much memory. Return free memory when calls hold little."""
        above = self._above()
        if above > self._most and not self._is_above:
            # Collect garbage first, because gRPC's call objects are often part of reference cycles.
            self._tidy_up()
            above = self._above()
        was_above, self._is_above = self._is_above, above > self._most
        if was_above and self._is_above:
            # End calls only after two measurements in a row, so that memory that is just being freed does not count.
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
        # End as few calls as may suffice. First end new unused calls of the client with the most of them, then unused
        # calls of the client with the most of them, and finally streams in use.
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
        # Return the bytes of the process minus the bytes of the idle process, the known uses, and the budget.
        allocated = (memory.allocated_bytes() or 0) - self._idle - self._known()
        return min(allocated, self._resident()) - self._budget.held

    def _resident(self) -> int:
        # Return the resident bytes minus the bytes of the idle process and the known uses.
        return memory.resident_bytes() - self._idle_size - self._known()

    def _tidy_up(self) -> None:
        gc.collect()
        memory.give_back_freed_memory()


def _is_unused(call: Any) -> bool:
    return not call.worked or call.worked < time.perf_counter() - _USED


def _is_any(call: Any) -> bool:
    return True
