"""The interface of a port to the exchanges of its calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Status


class Timer(Protocol):
    """Something to do at a time."""

    def cancel(self) -> object:
        """Keep it from being done; afterwards, and again: for nothing."""


class Loop(Protocol):
    """The loop of one thread, which serves calls; for that thread, but for `post`."""

    under_way: int
    """Calls that other threads work for: until they are done, it does not end."""

    @property
    def is_own(self) -> bool:
        """True if it serves the connection of one stream alone, whose requests it may handle itself."""

    def after(self, seconds: float, work: Callable[[], Any]) -> Timer:
        """Do something in so many seconds."""

    def post(self, work: Callable[[], Any]) -> object:
        """Do something soon, in the order in which it is posted; from any thread."""


class Wire(Protocol):
    """One call, as its port carries it; for its loop's thread, but for `held`.

    The port makes it when the headers have come, then an exchange for it, and calls `begin` of that. From then on it
    keeps the properties true and calls `watch` after each change of them; it may do so at any time, also for nothing.
    What is given to it after the end of the call is dropped.
    """

    watch: Callable[[], None] | None
    """Set by the exchange: called when something has come, was taken by the client, or ended. None: nobody listens."""

    # What the client sends

    @property
    def loop(self) -> Loop:
        """Its loop, which must not change once the exchange has begun."""

    @property
    def peer(self) -> str:
        """The client's address, in gRPC's notation."""

    @property
    def metadata(self) -> Sequence[tuple[str, Any]]:
        """The client's metadata, names in lower case."""

    @property
    def timeout(self) -> float | None:
        """The seconds that the client allows, from the headers on; None: it sets no deadline."""

    @property
    def waiting(self) -> int:
        """The number of requests that can be taken."""

    @property
    def has_part(self) -> bool:
        """True while a request has come in part."""

    @property
    def has_ended(self) -> bool:
        """True once all requests have come: the client sends no more, or the port reads no more."""

    @property
    def fault(self) -> object:
        """True in a boolean context once what the client sends cannot be read on; see `Door.error_of`.

        Requests that came before it can still be taken.
        """

    @property
    def is_closed(self) -> bool:
        """True once nothing more is sent or received: the call has ended, the client has left, or was cut off."""

    @property
    def held(self) -> int:
        """The bytes of requests that have come, in part or whole, and were not taken; from any thread, roughly."""

    def request(self) -> bytes | None:
        """Take the only request of a call whose requests have all come; None: it is not exactly one, or has a fault."""

    def take_buffer(self) -> Any:
        """Take the first request that has come, as a buffer; None: there is none."""

    # What it gets

    @property
    def is_alone(self) -> bool:
        """True if its connection has no other call."""

    @property
    def is_behind(self) -> bool:
        """True if the client is slow to take the responses of its connection."""

    @property
    def is_sending(self) -> bool:
        """True while a response waits for the client to take it."""

    @property
    def is_delivered(self) -> bool:
        """True once it is closed, and the memory of its responses is free again."""

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        """End the call with one response and status OK. `language`: of the response; "": none to tell."""

    def send(self, pieces: list[Buffer], language: str) -> None:
        """Send a response, whose bytes are in `pieces`, one after another; the call goes on.

        `language`: as in `answer`.
        """

    def finish(self, status: Status, request_id: str) -> None:
        """End the call with a status, after the responses that are being sent."""

    def reset(self) -> None:
        """End the call although its client has not taken what lies before the status; it need not be told why."""


class Form(Protocol):
    """A form of a method's messages other than the wire format, such as JSON; for any thread."""

    memory: int
    """Bytes of memory that a byte of a request takes at most while it is read; of a response: half of it."""

    def read(self, text: bytes) -> bytes:
        """Return a request in wire format. Raises Refusal."""

    def write(self, data: bytes) -> bytes:
        """Return a response, given in wire format, in this form."""
