"""Streams of batches at the fast door."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future
from functools import partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import CANCELLED, OK, Refusal, Status, deadline_exceeded, slot_lost
from chatiere.service.guards.chain import Call, Method
from chatiere.service.ports.fast.endings import STOPPING, Door, fault_of, finish, refuse
from chatiere.service.ports.handlers import BatchHandler
from chatiere.v1.batch_service_pb2 import PlayRequest

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall


# Seconds: after a longer request the next is left to a thread, so that the stream's loop sees if its call is cancelled
# or late. So are all but steps, whose time depends on their size.
_SHORT = 0.02
# HTTP/2's error for a stream that is not wanted any more.
_CANCEL = 8
_STEP = bytes([PlayRequest.STEP_FIELD_NUMBER << 3 | 2])


class Streams:
    """Play: streams of batches, answered in order."""

    def __init__(self, door: Door, method: Method, handle: BatchHandler, threads: Executor) -> None:
        """`threads` do the work; as many loops of streams do it themselves at a time."""
        self._own = threading.BoundedSemaphore(door.settings.batch_threads)
        self._door, self._method, self._handle, self._threads = door, method, handle, threads

    def __call__(self, wire: WireCall) -> None:
        """Take a call."""
        call = self._door.begin(self._method, wire)
        try:
            self._door.guards.identify(call, wire.metadata)
            self._door.guards.admit(call)
            start = None if wire.loop.is_own else self._door.port.give_own_loop(wire)
            try:
                _Stream(self._door, wire, call, self._handle, self._threads, self._own)
            finally:
                if start is not None:
                    start()
        except Exception as error:
            refuse(self._door, wire, call, error)


class _Stream:
    """A stream of batches."""

    def __init__(
        self,
        door: Door,
        wire: WireCall,
        call: Call,
        handle: BatchHandler,
        threads: Executor,
        own: threading.BoundedSemaphore,
    ) -> None:
        self._door, self._wire, self._call = door, wire, call
        self._handle, self._threads, self._own = handle, threads, own
        self._cancellation = Cancellation()
        self._holding = door.guards.holding(call)
        # How long the last request took and its size (0 before the first), and when the present one began.
        self._seconds, self._size, self._began = inf, 0, 0.0
        self._future: Future[list[Buffer]] | None = None
        self._refusal: Refusal | None = None
        self._timer = None if wire.timeout is None else wire.loop.after(wire.timeout, self._late)
        wire.watch = self._look
        door.port.streams.take(call.origin, wire, lambda: self._end_soon(self._lost_slot()))
        self._on_stop = lambda: wire.loop.post(self._look)
        door.port.on_stop.add(self._on_stop)
        self._look()

    def _look(self) -> None:
        # Go on, as far as what has come and what was delivered allow.
        if self._wire.is_closed:
            self._cancellation.cancel()
            if self._future is None:
                self._end(CANCELLED)
        if self._future is None and not self._wire.is_sending:
            self._holding.release()
            if self._call.is_over:
                self._wire.watch = None
            else:
                self._next()

    def _next(self) -> None:
        request = self._wire.take_buffer()
        if self._refusal is not None:
            self._refuse(self._refusal)
        elif request is not None:
            if self._door.guards.go_on(self._call):
                self._begin(request)
            else:
                self._refuse(self._lost_slot())
        elif self._wire.fault:
            self._refuse(fault_of(self._door, self._wire))
        elif self._wire.has_ended:
            self._end(OK)
        elif self._door.port.is_stopping and not self._wire.has_part:
            self._end(STOPPING)
        else:
            self._wait()

    def _wait(self) -> None:
        # For the client, to send the next request or to take the response.
        self._door.guards.wait(self._call, self._end_soon, has_worked=self._size > 0)

    def _begin(self, request: memoryview) -> None:
        try:
            work = partial(self._handle, request, self._cancellation, self._holding.beside(request))
            is_short = self._is_short(request)
            self._size = len(request)
            self._began = perf_counter()
            if is_short and self._own.acquire(blocking=False):
                try:
                    pieces = work()
                finally:
                    self._own.release()
                self._seconds = perf_counter() - self._began
                self._answer(pieces)
                return
            self._future = self._threads.submit(work)
        except Exception as error:
            self._refuse(error)
            return
        self._wire.loop.under_way += 1
        self._future.add_done_callback(lambda _: self._wire.loop.post(self._done))

    def _is_short(self, request: memoryview) -> bool:
        # Whether a loop may do it itself, because it is like one that took little, and no other call waits for it.
        return (
            self._seconds < _SHORT
            and self._wire.loop.is_own
            and request[:1] == _STEP
            and len(request) <= 2 * self._size
            and self._wire.is_alone
        )

    def _done(self) -> None:
        self._wire.loop.under_way -= 1
        self._seconds = perf_counter() - self._began
        future, self._future = self._future, None
        assert future is not None
        if self._wire.is_closed:
            self._end(CANCELLED)
            self._holding.release()
            return
        try:
            if self._refusal is not None:
                raise self._refusal
            self._answer(future.result())
        except Exception as error:
            self._refuse(error)
        else:
            self._look()

    def _answer(self, pieces: list[Buffer]) -> None:
        self._holding.hold(sum(map(len, pieces)))
        self._wire.send(pieces)
        self._wait()

    def _late(self) -> None:
        self._stop(deadline_exceeded())

    def _lost_slot(self) -> Refusal:
        return slot_lost("streams", self._door.settings.max_streams)

    def _end_soon(self, refusal: Refusal) -> None:
        # In any thread. Whoever gets its slot needs the other one, too.
        self._door.port.streams.release(self._call.origin, self._wire)
        self._wire.loop.post(partial(self._had_to_go, refusal))

    def _had_to_go(self, refusal: Refusal) -> None:
        if self._call.is_over:
            return
        is_sending = self._wire.is_sending
        self._stop(refusal)
        if is_sending:
            # The client may never take what lies before the refusal.
            self._wire.reset(_CANCEL)

    def _stop(self, refusal: Refusal) -> None:
        self._refusal = refusal
        self._cancellation.cancel()
        if self._future is None:
            self._refuse(refusal)

    def _refuse(self, error: Exception) -> None:
        self._leave()
        refuse(self._door, self._wire, self._call, error)

    def _end(self, status: Status) -> None:
        self._leave()
        self._door.guards.end(self._call, status)
        finish(self._wire, self._call.request_id, status)

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._door.port.streams.release(self._call.origin, self._wire)
        self._door.port.on_stop.discard(self._on_stop)
