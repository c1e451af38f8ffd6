"""The parts that all exchanges of a port share."""

from __future__ import annotations

import logging
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from chatiere.service.base.settings import Settings
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import LEAST_AGE, EndedCalls, most_of_parts
from chatiere.service.guards.traces import CallTraces

if TYPE_CHECKING:
    from chatiere.service.exchange.exchange import Exchange

_log = logging.getLogger(__name__)

# A client whose requests hold a smaller part of what all may hold loses no call.
_FEW = 16
MEMORY_LOOK = 0.1
"""Seconds between two looks at the memory of requests that have come in part."""


class Cost(NamedTuple):
    """The memory that a response takes at a port until its client has it."""

    small: int
    """Responses of at most so many bytes are not counted while the client keeps up."""
    copies: int
    """The number of times that a response lies in memory."""
    of_call: int
    """Bytes that the call takes beside."""


class Door:
    """The parts that all exchanges of a port share."""

    def __init__(
        self,
        settings: Settings,
        guards: Guards,
        traces: CallTraces | None,
        cost: Cost,
        error_of: Callable[[Any], Exception],
    ) -> None:
        """Begin without calls.

        `traces`: None if none are made. `cost`: of responses. `error_of`: returns the error, for `Guards.refuse`, that
        a wire's `fault` stands for.
        """
        self.settings, self.guards, self.traces, self.cost, self.error_of = settings, guards, traces, cost, error_of
        self.half_open = CallSlots(settings.max_calls)
        """The calls whose one request has not come whole."""
        self.streams = CallSlots(settings.max_streams)
        """The streams of requests, whose next request may be coming."""
        self.is_stopping = False
        """True once no more calls are to begin; streams end."""
        self.lasting: set[Exchange[Any]] = set()
        """The exchanges that may last for ever, and are told when the server stops."""
        self._ended_calls = EndedCalls(_log, "requests under way")

    def drain(self) -> None:
        """Have streams end as soon as nothing of them is under way; from any thread."""
        self.is_stopping = True
        for each in list(self.lasting):
            each.wire.loop.post(each.look)

    def look_at_memory(self, held: int) -> None:
        """End calls of the client whose requests take most, if requests take too much; to be called now and then.

        `held`: bytes of requests of all calls that have come, in part or whole, and that nobody works on.
        """
        most = most_of_parts(self.settings.max_message_bytes)
        if held > most:
            found = [(*slots.largest(LEAST_AGE, attrgetter("held")), slots) for slots in (self.half_open, self.streams)]
            weight, client, calls, slots = max(found, key=itemgetter(0))
            if weight > most // _FEW:
                slots.end(client, calls)
                self._ended_calls.add(len(calls), held)
        self._ended_calls.tell()
