"""A loop of asyncio, as exchanges use it."""

import asyncio


class AsyncioLoop:
    """The running loop; see exchange.wire.Loop."""

    is_own = False

    def __init__(self) -> None:
        """Use the running loop."""
        loop = asyncio.get_running_loop()
        self.after, self.post = loop.call_later, loop.call_soon_threadsafe
        self.under_way = 0
