"""Turns of a loop's connections and feeds. When there is more work than time, each client gets its share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic

SHARE = 0.001
"""Seconds of work in one turn of the loop, after which other sockets, ports and timers get their turn."""


class Turns:
    """Work of a loop: done immediately while there is time, otherwise in turn by client."""

    def __init__(self, soon: Callable[[Callable[[], None]], object], now: Callable[[], float] = monotonic) -> None:
        """Begin without work.

        Args:
            soon: A function that schedules work in the next turn of the loop.
            now: A function that returns the time in seconds.
        """
        self._soon, self._now = soon, now
        # By origin, the next one first.
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        # The end of the share in this turn of the loop; None if no work was done in it.
        self._end: float | None = None

    @property
    def has_time(self) -> bool:
        """True if no work waits and there is time left in this turn of the loop."""
        if self._waiting:
            return False
        now = self._now()
        if self._end is None:
            self._begin(now)
        assert self._end is not None
        return now < self._end

    def take(self, origin: str, work: Callable[[], None]) -> None:
        """Run `work` in a client's turn. `origin`: the client, as identified for limits."""
        if self._end is None:
            self._begin(self._now())
        self._waiting.setdefault(origin, deque()).append(work)

    def _begin(self, now: float) -> None:
        self._end = now + SHARE
        self._soon(self._go_on)

    def _go_on(self) -> None:
        self._end = None
        if not self._waiting:
            return
        now = self._now()
        self._begin(now)
        assert self._end is not None
        while self._waiting and now < self._end:
            origin = next(iter(self._waiting))
            waiting = self._waiting.pop(origin)
            work = waiting.popleft()
            if waiting:
                self._waiting[origin] = waiting
            work()
            now = self._now()
