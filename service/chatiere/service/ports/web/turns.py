"""Turns of the port for browsers: when there is more to do than time, each address gets its share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

SHARE = 0.001
"""Seconds of work in one turn of the loop: then it is the turn of other sockets, ports and timers."""


class Turns:
    """The work of connections: at once while there is time, or else in turn by address."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """Begin without work, in the running loop. `now`: returns the time, in seconds."""
        self._loop, self._now = asyncio.get_running_loop(), now
        # By origin, the one whose turn is next first.
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        # The end of the share in this turn of the loop; None: nothing has been done in it.
        self._end: float | None = None

    @property
    def has_time(self) -> bool:
        """True if nobody waits, and there is time in this turn of the loop."""
        if self._waiting:
            return False
        now = self._now()
        if self._end is None:
            self._begin(now)
        assert self._end is not None
        return now < self._end

    def take(self, origin: str, work: Callable[[], None]) -> None:
        """Have something done when it is an address's turn. `origin`: the client, as limits see it."""
        if self._end is None:
            self._begin(self._now())
        self._waiting.setdefault(origin, deque()).append(work)

    def _begin(self, now: float) -> None:
        self._end = now + SHARE
        self._loop.call_soon(self._go_on)

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
