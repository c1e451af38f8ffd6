"""A loop of the fast door: a thread with an endpoint, timers, and work posted by other threads."""

from __future__ import annotations

import heapq
import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from chatiere.service.exchange.turns import Turns

if TYPE_CHECKING:
    from chatiere.http2.server import Endpoint
    from chatiere.service.ports.fast.shared import SharedConnection

# The maximum time that the loop waits for events, in seconds.
_MAX_WAIT = 60.0
# The number of timers above which cancelled timers are removed.
_MANY = 1000

_log = logging.getLogger(__name__)


class Timer:
    """A scheduled function. `cancel` cancels it."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        """See Loop.after."""
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        """Cancel the function."""
        self.work = None


class Loop:
    """A loop that runs in its own thread. Only `post` may be called from other threads."""

    def __init__(self, *, is_own: bool) -> None:
        """Create a loop without work. For `is_own` see exchange.wire.Loop."""
        self.is_own = is_own
        self.under_way = 0
        """The number of calls whose work runs in other threads."""
        self.endpoint: Endpoint | SharedConnection
        """The connections of clients. They must be set before the loop runs."""
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._many = _MANY
        # A deque is thread-safe without a lock.
        self._posted: deque[Callable[[], object]] = deque()
        self._has_ended = False
        self.turns = Turns(partial(self.after, 0.0))
        """See exchange.wire.Loop."""

    def run(self, is_over: Callable[[], bool]) -> None:
        """Serve until `is_over` returns True and no work runs in other threads."""
        now = monotonic()
        self._do_posted()
        while self.under_way or not is_over():
            now = self.endpoint.turn(self._seconds_to_wait(now))
            self._do_posted()
            if self._timers and self._timers[0][0] <= now:
                self._do_due(now)

    def post(self, work: Callable[[], object]) -> None:
        """Call `work` in the loop's thread, or immediately if the loop has ended. May be called from any thread."""
        self._posted.append(work)
        self.endpoint.wake()
        if self._has_ended:
            self._do_posted()

    def end(self) -> None:
        """Close all connections, and run the posted work."""
        self.endpoint.close()
        self._has_ended = True
        self._do_posted()

    @property
    def has_timers(self) -> bool:
        """True if functions are scheduled."""
        return bool(self._timers)

    def _do_posted(self) -> None:
        while self._posted:
            try:
                work = self._posted.popleft()
            except IndexError:
                # After the end of the loop, other threads may also have taken posted work.
                return
            _do(work)

    def after(self, seconds: float, work: Callable[[], None]) -> Timer:
        """Call `work` after a number of seconds."""
        timer = Timer(work)
        heapq.heappush(self._timers, (monotonic() + seconds, next(self._numbers), timer))
        if len(self._timers) > self._many:
            # Remove cancelled timers. Most timers are cancelled long before they are due.
            self._timers = [each for each in self._timers if each[2].work is not None]
            heapq.heapify(self._timers)
            self._many = max(_MANY, 2 * len(self._timers))
        return timer

    def _do_due(self, now: float) -> None:
        while self._timers and self._timers[0][0] <= now:
            _, _, timer = heapq.heappop(self._timers)
            if timer.work is not None:
                _do(timer.work)

    def _seconds_to_wait(self, now: float) -> float:
        # `now` is the time of the last turn. This is accurate enough.
        if self._posted:
            return 0.0
        while self._timers and self._timers[0][2].work is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return _MAX_WAIT
        return min(max(self._timers[0][0] - now, 0.0), _MAX_WAIT)


def _do(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:
        _log.exception("an error in the loop of the fast door")
