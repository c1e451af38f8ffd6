"""How a port's loop waits for work in a thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from chatiere.engine.core.batch import Cancellation, Cancelled
from chatiere.service.calls.errors import deadline_exceeded


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
