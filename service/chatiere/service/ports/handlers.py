"""The functions that handle requests, as the ports call them, and how a port's loop waits for one in a thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from chatiere.engine.core.batch import Cancellation, Cancelled
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import deadline_exceeded

# A reservation of memory, in bytes, beside the request. Raises Refusal.
Hold = Callable[[int], None]
# Methods that take microseconds: request → response.
SingleHandler = Callable[[bytes], bytes]
# Methods that may take long: request (a Buffer), cancellation, reservation → response, in pieces to be joined.
BatchHandler = Callable[[Any, Cancellation, Hold], list[Buffer]]

# Larger requests of GameService, in bytes, may take longer to read than a port's loop should wait.
LARGE = 16 * 1024


async def finished(
    threads: Executor, seconds: float | None, cancellation: Cancellation, work: Callable[[], Any]
) -> Any:
    """Run `work` in a thread and return its result; it never outlasts this call. Raises Refusal after `seconds`."""
    submitted = threads.submit(work)
    working = asyncio.wrap_future(submitted)
    try:
        done, _ = await asyncio.wait([working], timeout=seconds)
        if done:
            return working.result()
    finally:
        if not working.done():
            # Running work stops soon; waiting work never begins.
            cancellation.cancel()
            if not submitted.cancel():
                await asyncio.wait([working])
                # Nobody else may ask, and then asyncio would log it.
                working.exception()
    try:
        return working.result()
    except (Cancelled, asyncio.CancelledError):
        raise deadline_exceeded(seconds) from None
