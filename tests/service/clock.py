"""An event loop for which time passes without waiting."""

import asyncio
import selectors


class Clock(selectors.SelectSelector):
    """The selector and the clock of an event loop. Instead of waiting, the time jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)

    def loop(self) -> asyncio.SelectorEventLoop:
        """Return a new event loop that has this clock."""
        loop = asyncio.SelectorEventLoop(self)
        loop.time = lambda: self.now  # type: ignore[method-assign]
        return loop
