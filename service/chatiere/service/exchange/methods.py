"""Methods as exchanges call them: what handles their requests, and the threads for what takes long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple, Protocol

from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import OK, Status
from chatiere.service.guards.chain import Method

# A reservation of memory, in bytes, beside the request; it replaces the one before. Raises Refusal.
Hold = Callable[[int], None]
# Methods that may take long: request (a Buffer), cancellation, reservation → response, in pieces to be joined.
BatchHandler = Callable[[Any, Cancellation, Hold], list[Buffer]]

# Larger messages of methods that take microseconds, in bytes, may take longer to read or write than a loop should wait.
LARGE = 16 * 1024


class Feed(Protocol):
    """The responses of a call that gets many for one request; from any thread, and at any time."""

    @property
    def origin(self) -> str:
        """The client as limits see it."""

    @property
    def language(self) -> str:
        """The language that the client asks for; "" if it asks for none."""

    def send(self, response: bytes) -> None:
        """Send a response, after those before; for nothing once the call is over."""

    def end(self, status: Status = OK) -> None:
        """End the call, after the responses before; for nothing once it is over."""

    def cut(self, error: Exception) -> None:
        """End the call with an error, whether the client takes the responses before or not."""


# Methods that answer one request with responses as they come: request, feed → what to call at the end of the call, in
# its loop. It does not wait.
FeedHandler = Callable[[bytes, Feed], Callable[[], None]]


class SingleMethod(NamedTuple):
    """A unary method that takes microseconds; `threads` take its large requests, or all of one that waits."""

    path: str
    method: Method
    handle: Callable[..., bytes]
    threads: Executor
    takes_client: bool = False
    """True if `handle` takes the client, as limits see it, before the request."""
    waits: bool = False
    """True if `handle` waits for another server."""


class BatchMethod(NamedTuple):
    """A unary method that may take long; `threads` do its work, and stop when a call is cancelled or late."""

    path: str
    method: Method
    handle: BatchHandler
    threads: Executor


class StreamMethod(NamedTuple):
    """A stream of requests that may each take long, answered in order.

    `open` is called for each stream, and returns what handles its requests; it is given a reservation of memory for as
    long as the stream lasts, beside those of its requests. `threads` do the work; as many loops of streams do it
    themselves at a time, for which there is `own`.
    """

    path: str
    method: Method
    open: Callable[[Hold], BatchHandler]
    threads: Executor
    own: threading.Semaphore


class FeedMethod(NamedTuple):
    """A method that answers one request with responses as they come, for as long as it likes."""

    path: str
    method: Method
    handle: FeedHandler


class UnknownMethod(NamedTuple):
    """All methods that a door does not have."""

    method: Method
