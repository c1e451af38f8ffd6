"""The interface between a port and the exchanges of its calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Status
from chatiere.service.exchange.turns import Turns


class Timer(Protocol):
    """A scheduled function."""

    def cancel(self) -> object:
        """Cancel the function. Has no effect after it has run."""


class Loop(Protocol):
    """The event loop of a thread that serves calls. Only `post` may be called from other threads."""

    under_way: int
    """The number of calls whose work runs in other threads. The loop does not end before this work is done."""
    turns: Turns
    """The turns in which the responses of feeds are sent to clients."""

    @property
    def is_own(self) -> bool:
        """True if the loop serves only one stream's connection. It may then handle the stream's requests itself."""

    def after(self, seconds: float, work: Callable[[], Any]) -> Timer:
        """Call `work` after a number of seconds."""

    def post(self, work: Callable[[], Any]) -> object:
        """Call `work` soon, in the order of posting. May be called from any thread."""


class Wire(Protocol):
    """A call as a port transports it. Only the thread of its loop may use it, except that any thread may read `held`.

    The port creates the wire when the headers have been received, creates an exchange for the wire, and calls the
    exchange's `begin`. From then on, the port keeps the properties up to date and calls `watch` after each change; it
    may also call `watch` without a change. Responses passed to the wire after the end of the call are dropped.
    """

    watch: Callable[[], None] | None
    """A function, set by the exchange, to call after input, after delivery and at the end; None for no calls."""

    # Input

    @property
    def loop(self) -> Loop:
        """The loop of the call. It must not change once the exchange has begun."""

    @property
    def peer(self) -> str:
        """The client's address, in gRPC's notation."""

    @property
    def metadata(self) -> Sequence[tuple[str, Any]]:
        """The client's metadata, with names in lower case."""

    @property
    def timeout(self) -> float | None:
        """The client's time limit in seconds, counted from the headers; None for no deadline."""

    @property
    def waiting(self) -> int:
        """The number of complete requests that wait to be taken."""

    @property
    def has_part(self) -> bool:
        """True if part of another request has been received."""

    @property
    def has_ended(self) -> bool:
        """True once all requests have been received: the client has finished, or the port has stopped reading."""

    @property
    def fault(self) -> object:
        """A true value once the input cannot be read further; see `Door.error_of`.

        Requests received before the fault can still be taken.
        """

    @property
    def is_closed(self) -> bool:
        """True once the call is closed: it has ended, or its client has left or was disconnected."""

    @property
    def held(self) -> int:
        """The number of received bytes of requests that were not taken. Approximate when read by another thread."""

    def request(self) -> bytes | None:
        """Take the request of a unary call; None if it is incomplete or faulty, or if there is not exactly one."""

    def take_buffer(self) -> Any:
        """Take the first received request, as a buffer; None if no request waits."""

    # Output

    @property
    def is_alone(self) -> bool:
        """True if there are no other calls on the call's connection."""

    @property
    def is_behind(self) -> bool:
        """True if the client is slow to receive the responses on the call's connection."""

    @property
    def is_sending(self) -> bool:
        """True while a response waits for the client to receive it."""

    @property
    def is_delivered(self) -> bool:
        """True once the call is closed and the memory of its responses is free again."""

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        """End the call with one response and status OK. `language`: the response's language; "" to omit it."""

    def send(self, pieces: list[Buffer], language: str) -> None:
        """Send a response, given as pieces to be joined; the call continues. For `language` see `answer`."""

    def finish(self, status: Status, request_id: str) -> None:
        """End the call with a status, after the responses that are being sent."""

    def reset(self) -> None:
        """End the call although its client has not received the responses before the status. The status may be lost."""


class Form(Protocol):
    """A format of a method's messages other than the wire format, such as JSON. Any thread may use it."""

    memory: int
    """The maximum memory, in bytes per byte of a request, for reading; writing a response takes half of it."""

    def read(self, text: bytes) -> bytes:
        """Convert a request to wire format. Raises Refusal."""

    def write(self, data: bytes) -> bytes:
        """Convert a response from wire format."""
