"""Streams of requests that are answered in order. Each request may take a long time."""

from __future__ import annotations

from functools import partial
from math import inf
from time import perf_counter
from typing import Any

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import CANCELLED, OK, STOPPING, Refusal, deadline_exceeded, slot_lost
from chatiere.service.calls.batch_messages import KeptStep
from chatiere.service.exchange.door import Door
from chatiere.service.exchange.exchange import Exchange
from chatiere.service.exchange.methods import BatchHandler, StreamMethod
from chatiere.service.exchange.wire import Wire
from chatiere.service.guards.memory import KeptBatches
from chatiere.v1.batch_service_pb2 import PlayRequest

# A time in seconds. If a request took longer, another thread handles the next request, so that the stream's loop can
# notice that the call was cancelled or is late. Other threads also handle all requests except steps. The time of a step
# depends on its size.
_SHORT = 0.02
_STEP = bytes([PlayRequest.STEP_FIELD_NUMBER << 3 | 2])


class StreamExchange(Exchange):
    """A stream. While it waits for its client, it may lose its slot to another stream."""

    __slots__ = ("_began", "_handler", "_kept", "_seconds", "_size")

    def __init__(self, door: Door, served: StreamMethod, wire: Wire) -> None:
        """See Exchange."""
        super().__init__(door, served, wire)
        # The duration and the size of the last request (size 0 before the first one), and the start time of the current
        # one.
        self._seconds, self._size, self._began = inf, 0, 0.0
        # The batches that the stream keeps between its requests, and the handler of its requests.
        self._kept: KeptBatches[Any] | None = None
        self._handler: BatchHandler | None = None

    def open(self) -> None:
        """Admit the call, and wait for its first request. Raises Refusal."""
        self._door.guards.admit(self)
        self.settle()

    def settle(self) -> None:
        """Take a slot, and proceed as far as the wire allows. The wire's loop must not change after this call."""
        wire, door = self.wire, self._door
        self._cancellation = self._served.pool.job(self.origin, wire.peer)
        self._kept = door.guards.kept_batches(self)
        self._handler = self._served.open(self._kept)
        if wire.timeout is not None:
            self._timer = wire.loop.after(wire.timeout, self._late)
        wire.watch = self.look
        door.streams.take(self.origin, self, lambda: self._end_soon(self._lost_slot()))
        door.lasting.add(self)
        self.look()

    def look(self) -> None:
        """Proceed as far as the wire allows."""
        wire = self.wire
        if self.is_over:
            self._look_at_delivery()
        elif wire.is_closed:
            self._stop()
            if self._future is None:
                self._end(CANCELLED)
        elif self._future is None and not wire.is_sending:
            self._release()
            self._next()

    def _next(self) -> None:
        wire, door = self.wire, self._door
        request = wire.take_buffer()
        if request is not None:
            if door.guards.go_on(self):
                self._handle(request)
            else:
                self._refuse(self._lost_slot())
        elif wire.fault:
            self._refuse(door.error_of(wire))
        elif wire.has_ended:
            self._end(OK)
        elif door.is_stopping and not wire.has_part:
            self._end(STOPPING)
        else:
            self._wait()

    def _wait(self) -> None:
        # Wait until the client has sent the next request or received the response.
        self._door.guards.wait(self, self._end_soon, has_worked=self._size > 0)

    # Work

    def _handle(self, request: Buffer | KeptStep) -> None:
        pool, job = self._served.pool, self._cancellation
        assert job is not None
        assert self._handler is not None
        try:
            work = partial(self._handler, request, job, self._memory().beside(request))
            is_short = self._is_short(request)
            self._size = len(request)
            self._began = perf_counter()
            if is_short and pool.begin_here():
                try:
                    pieces = work()
                finally:
                    pool.end_here()
                self._answer(pieces)
            else:
                self._await(pool.submit(job, work), self._done)
        except Exception as error:
            self._release()
            self._refuse(error)

    def _is_short(self, request: Buffer | KeptStep) -> bool:
        # Return True if the loop may handle the request itself, because a similar request was fast and no other call
        # uses the connection.
        return (
            self._seconds < _SHORT
            and self.wire.loop.is_own
            and (isinstance(request, KeptStep) or request[:1] == _STEP)
            and len(request) <= 2 * self._size
            and self.wire.is_alone
        )

    def _done(self) -> None:
        try:
            self._answer(self._result())
        except Exception as error:
            self._release()
            self._refuse(error)
        else:
            self.look()

    def _answer(self, pieces: list[Buffer]) -> None:
        self._seconds = perf_counter() - self._began
        self._hold_response(sum(map(len, pieces)))
        self.wire.send(pieces, "")
        self._wait()

    # The end

    def _late(self) -> None:
        self._end_with(deadline_exceeded())

    def _lost_slot(self) -> Refusal:
        return slot_lost("streams", self._door.settings.max_streams)

    def _end_soon(self, refusal: Refusal) -> None:
        # May be called from any thread. Release the slot of `streams` immediately, because the new stream needs it.
        self._door.streams.release(self.origin, self)
        self.wire.loop.post(partial(self._had_to_go, refusal))

    def _had_to_go(self, refusal: Refusal) -> None:
        if not self.is_over:
            self._end_with(refusal)

    def _end_with(self, refusal: Refusal) -> None:
        self._refusal = refusal
        self._stop()
        if self._future is None:
            self._refuse_now(refusal)

    def _leave(self) -> None:
        super()._leave()
        if self._kept is not None:
            self._handler = None
            self._kept.release()
        self._door.streams.release(self.origin, self)
        self._door.lasting.discard(self)
