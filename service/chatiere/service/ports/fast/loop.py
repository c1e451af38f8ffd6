"""A loop of the fast door: a thread with an endpoint of HTTP/2, timers, and what other threads want done."""

from __future__ import annotations

import heapq
import logging
from collections import deque
from collections.abc import Callable
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatiere.http2.server import Endpoint

# The longest wait, in seconds.
_MAX_WAIT = 60.0
# Above this number of timers, those that are cancelled are forgotten.
_MANY = 1000

_log = logging.getLogger(__name__)


class Timer:
    """Something to do at a time; `cancel` keeps it from being done."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        """See Loop.after."""
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        """Keep it from being done."""
        self.work = None


class Loop:
    """The loop; for its own thread, except `post`."""

    def __init__(self, *, is_own: bool) -> None:
        """`is_own`: it serves the connection of a stream alone, whose requests it may handle itself."""
        self.is_own = is_own
        self.under_way = 0
        """Calls that threads work for."""
        self.endpoint: Endpoint
        """Set before it runs."""
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._many = _MANY
        # A deque needs no lock.
        self._posted: deque[Callable[[], object]] = deque()
        self._has_ended = False

    def run(self, is_over: Callable[[], bool]) -> None:
        """Serve until `is_over` and nothing is under way."""
        now = monotonic()
        while self.under_way or not is_over():
            now = self.endpoint.turn(self._seconds_to_wait(now))
            self._do_posted()
            if self._timers and self._timers[0][0] <= now:
                self._do_due(now)

    def post(self, work: Callable[[], object]) -> None:
        """Have its thread do something; from any thread. Once it has ended, it is done at once."""
        self._posted.append(work)
        self.endpoint.wake()
        if self._has_ended:
            self._do_posted()

    def end(self) -> None:
        """Give up its connections, and do what is posted."""
        self.endpoint.close()
        self._has_ended = True
        self._do_posted()

    def _do_posted(self) -> None:
        while self._posted:
            try:
                work = self._posted.popleft()
            except IndexError:
                # Once the loop has ended, other threads do it, too.
                return
            _do(work)

    def after(self, seconds: float, work: Callable[[], None]) -> Timer:
        """Do something in so many seconds."""
        timer = Timer(work)
        heapq.heappush(self._timers, (monotonic() + seconds, next(self._numbers), timer))
        if len(self._timers) > self._many:
            # Most are cancelled long before they are due.
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
        # `now` is the last turn's time, which is near enough.
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
