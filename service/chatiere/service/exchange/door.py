"""The state shared by all exchanges of a port."""

from __future__ import annotations

import logging
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, Protocol

from chatiere.service.base.settings import Settings
from chatiere.service.exchange.wire import Wire
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import LEAST_AGE, EndedCalls, most_of_parts
from chatiere.service.guards.traces import CallTraces

_log = logging.getLogger(__name__)

# A client whose requests take less than 1/_FEW of the limit does not lose any calls.
_FEW = 16


class Cost(NamedTuple):
    """The memory that a response takes at a port until its client has received it."""

    small: int
    """Responses of at most this number of bytes are not counted while the client reads fast enough."""
    copies: int
    """The number of copies of a response in memory."""
    of_call: int
    """The size of the call's own memory, in bytes."""


class Lasting(Protocol):
    """The interface through which a door uses an exchange without a time limit."""

    @property
    def wire(self) -> Wire:
        """The carrier of the call."""

    def look(self) -> None:
        """Continue as far as the wire and the door allow. Must be called in the thread of the wire's loop."""


class Door:
    """The state shared by all exchanges of a port."""

    def __init__(
        self,
        settings: Settings,
        guards: Guards,
        traces: CallTraces | None,
        cost: Cost,
        error_of: Callable[[Any], Exception],
    ) -> None:
        """Create the state, without calls.

        Args:
            settings: The settings of the server.
            guards: The guards of the worker.
            traces: Creates spans; None for no traces.
            cost: The memory cost of responses.
            error_of: A function that returns, for a wire with a `fault`, the error to pass to `Guards.refuse`.
        """
        self.settings, self.guards, self.traces, self.cost, self.error_of = settings, guards, traces, cost, error_of
        self.half_open = CallSlots(settings.max_calls)
        """The unary calls whose request has not arrived completely."""
        self.streams = CallSlots(settings.max_streams)
        """The streams of requests."""
        self.is_stopping = False
        """True once no more calls may begin and streams must end."""
        self.lasting: set[Lasting] = set()
        """The exchanges without a time limit. They are notified when the server stops."""
        self._ended_calls = EndedCalls(_log, "requests in flight")

    def drain(self) -> None:
        """End streams as soon as they are idle. May be called from any thread."""
        self.is_stopping = True
        for each in list(self.lasting):
            each.wire.loop.post(each.look)

    def look_at_memory(self, held: int) -> None:
        """End calls of the client with the largest requests if requests take too much memory. Must be called regularly.

        Args:
            held: The total size in bytes of the requests, and parts of requests, that were received and are not being
                handled.
        """
        most = most_of_parts(self.settings.max_message_bytes)
        if held > most:
            found = [(*slots.largest(LEAST_AGE, attrgetter("held")), slots) for slots in (self.half_open, self.streams)]
            weight, client, calls, slots = max(found, key=itemgetter(0))
            if weight > most // _FEW:
                slots.end(client, calls)
                self._ended_calls.add(len(calls), held)
        self._ended_calls.tell()
