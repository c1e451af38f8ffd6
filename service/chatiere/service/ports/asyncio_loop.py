"""An asyncio loop with the interface that exchanges use."""

import asyncio

from chatiere.service.exchange.turns import Turns


class AsyncioLoop:
    """The running asyncio loop. See exchange.wire.Loop."""

    is_own = False

    def __init__(self) -> None:
        """Use the running loop."""
        loop = asyncio.get_running_loop()
        self.after, self.post = loop.call_later, loop.call_soon_threadsafe
        self.under_way = 0
        self.turns = Turns(loop.call_soon)
