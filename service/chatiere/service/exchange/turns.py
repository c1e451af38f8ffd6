"""The turns of clients in a loop. When there is more work than time, each client gets the same share of the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic

SHARE = 0.001
"""How long clients' work may take in one turn of the loop, in seconds. Then sockets and timers get their turn."""


class Turns:
    """The work of a loop. It is done immediately while there is time; otherwise the clients take turns."""

    def __init__(self, soon: Callable[[Callable[[], None]], object], now: Callable[[], float] = monotonic) -> None:
        """Create the turns, without work.

        Args:
            soon: A function that schedules work in the next turn of the loop.
            now: A function that returns the time in seconds.
        """
        self._soon, self._now = soon, now
        # The work of each client. The client whose turn is next is first.
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        # The time at which the share in this turn of the loop ends; None if no work has been done in this turn.
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
