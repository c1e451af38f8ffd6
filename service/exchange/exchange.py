"""Calls with one request: from their headers through the guards to their method, and back.

An exchange is a call's record and its state machine. It reads the state of its wire, and goes on as far as that allows
(`look`); nothing of it waits. All of it runs in its loop's thread, but for what slots, feeds and threads post there.

    headers ──begin──▶ half-open ──request──▶ handled, or at work in a thread ──response──▶ over ──delivered──▶ let go
                           └──────────────── late, cancelled, refused, no slot ───────────────▲
"""

from __future__ import annotations

from chatiere.service.exchange.door import Door
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod
from chatiere.service.exchange.wire import Form, Wire
from chatiere.service.guards.chain import Call


class Exchange(Call):
    """A call at a door. What it raises inside becomes its status; the guards count its end before the client learns it."""

    __slots__ = ("_door", "wire")

    def __init__(
        self, door: Door, served: SingleMethod | BatchMethod | FeedMethod | StreamMethod, wire: Wire
    ) -> None:
        """Count a call whose headers have come; `begin` must follow."""

    def begin(self) -> None:
        """Identify the client, and go on with the request: at once, if it has come whole."""

    def look(self) -> None:
        """Go on as far as the wire allows; it is the wire's `watch` while the exchange waits for something."""

    @property
    def held(self) -> int:
        """The bytes of its requests that have come and are not taken; from any thread, roughly."""
        return self.wire.held


class SingleExchange(Exchange):
    """A call of a unary method that takes microseconds."""

    def __init__(self, door: Door, served: SingleMethod, wire: Wire, form: Form | None = None) -> None:
        """`form`: of its messages; None: the wire format."""


class BatchExchange(Exchange):
    """A call of a unary method that may take long."""

    def __init__(self, door: Door, served: BatchMethod, wire: Wire, form: Form | None = None) -> None:
        """`form`: of its messages; None: the wire format."""


class FeedExchange(Exchange):
    """A call of a method that answers one request with responses as they come (see Feed)."""

    def __init__(self, door: Door, served: FeedMethod, wire: Wire, form: Form | None = None) -> None:
        """`form`: of its messages; None: the wire format."""


class StreamExchange(Exchange):
    """A stream of batches (see StreamMethod)."""

    def __init__(self, door: Door, served: StreamMethod, wire: Wire) -> None:
        """Count a call whose headers have come; `begin` must follow."""


def refuse_unknown(door: Door, wire: Wire) -> None:
    """Count and refuse a call of a method that the door does not have (UNIMPLEMENTED)."""
