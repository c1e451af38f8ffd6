"""Descriptions of methods for exchanges: the handlers, and the threads for work that takes a long time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple, Protocol, TypeVar

from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import OK, Status
from chatiere.service.guards.chain import Method
from chatiere.service.guards.memory import KeptBatches

# A function that reserves a number of bytes of memory in addition to the request's memory. A reservation replaces the
# previous one. Raises Refusal.
Hold = Callable[[int], None]
# A function that handles a call that may take a long time. Its arguments are the request (a Buffer), the cancellation
# and a Hold. It returns the response in pieces to be joined.
BatchHandler = Callable[[Any, Cancellation, Hold], list[Buffer]]

_Result = TypeVar("_Result")

# The size in bytes above which a message of a fast method may take too long to read or write in a loop.
LARGE = 16 * 1024


class Feed(Protocol):
    """The responses of a call with one request. All methods may be called from any thread at any time."""

    @property
    def origin(self) -> str:
        """The client, as identified for limits."""

    @property
    def language(self) -> str:
        """The language that the client requested; "" if it requested none."""

    def send(self, response: bytes) -> None:
        """Send a response after the earlier responses. Has no effect once the call is over."""

    def end(self, status: Status = OK) -> None:
        """End the call after the earlier responses. Has no effect once the call is over."""

    def cut(self, error: Exception) -> None:
        """End the call with an error, even if the client has not received earlier responses."""


# A function that handles a call with a feed, without blocking. Its arguments are the request and the feed. It returns a
# function that the loop calls at the end of the call.
FeedHandler = Callable[[bytes, Feed], Callable[[], None]]


class SingleMethod(NamedTuple):
    """A unary method that takes microseconds. `threads` handle large requests, or all requests if the method waits."""

    path: str
    method: Method
    handle: Callable[..., bytes]
    threads: Executor
    takes_client: bool = False
    """True if the first argument of `handle` is the client, as identified for limits, and the second the request."""
    waits: bool = False
    """True if `handle` waits for another server."""


class Pool(Protocol):
    """Threads for calls that may take a long time. The calls take turns on the processor."""

    def job(self, client: str, connection: str) -> Any:
        """Return the Cancellation of a call's work, for `submit`. A call may submit one piece of work after another."""

    def submit(self, job: Any, work: Callable[[], _Result]) -> Future[_Result]:
        """Run `work` in a thread. It must use the job as its Cancellation."""

    def begin_here(self) -> bool:
        """Return True if the caller may run short work in its own thread; `end_here` must then be called."""

    @property
    def is_contended(self) -> bool:
        """True if other calls wait for the processor."""

    def end_here(self) -> None:
        """End work that ran in the thread of its caller."""


class BatchMethod(NamedTuple):
    """A unary method that may take a long time. `pool` handles calls, and stops a call that is cancelled or late."""

    path: str
    method: Method
    handle: BatchHandler
    pool: Pool


class StreamMethod(NamedTuple):
    """A stream of requests, answered in order. A request may take a long time.

    Attributes:
        open: A function that is called for each stream and returns the handler of the stream's requests. Its argument
            stores the batches that the stream keeps between requests.
        pool: The threads that handle requests. A stream's loop may handle short requests itself, if the pool allows it.
    """

    path: str
    method: Method
    open: Callable[[KeptBatches[Any]], BatchHandler]
    pool: Pool


class FeedMethod(NamedTuple):
    """A method that answers one request with any number of responses, without a time limit."""

    path: str
    method: Method
    handle: FeedHandler


class UnknownMethod(NamedTuple):
    """All methods that a door does not serve."""

    method: Method
