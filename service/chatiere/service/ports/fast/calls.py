"""Unary calls at the fast door: from their headers through the guards to their method, and back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import CANCELLED, OK, Refusal, deadline_exceeded, request_timeout, slot_lost
from chatiere.service.base.languages import speaking
from chatiere.service.guards.chain import Call, Method
from chatiere.service.ports.fast.endings import Door, finish, refuse, request_of
from chatiere.service.ports.fast.loop import Timer
from chatiere.service.ports.handlers import LARGE, BatchHandler, Hold, SingleHandler

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall

# Larger responses, in bytes, are counted until their client has taken them.
_LARGE_RESPONSE = 64 * 1024
# Bytes that a call takes beside its response.
_OF_CALL = 4096


class Single:
    """A unary method that takes microseconds."""

    def __init__(self, door: Door, method: Method, handle: SingleHandler, threads: Executor) -> None:
        """`threads` take its large requests."""
        self._door, self._method, self._handle, self._threads = door, method, handle, threads
        self._guards = door.guards

    def __call__(self, wire: WireCall) -> None:
        """Take a call."""
        take_unary(self._door, wire, self._door.begin(self._method, wire), self._answer)

    def _answer(self, wire: WireCall, call: Call) -> None:
        request = wire.request()
        if request is None:
            request = request_of(self._door, wire, wire.take)
        self._guards.admit(call)
        if len(request) > LARGE:
            _Work(self._door, wire, call, self._threads, self._handle_large, request)
            return
        response = speaking(call.language, self._handle)(request)
        if len(response) > _LARGE_RESPONSE or wire.is_behind:
            hold_until_delivered(self._door, wire, call, len(response))
        self._guards.end(call)
        wire.answer(response, call.request_id, call.language)

    def _handle_large(self, request: bytes, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        return [self._handle(request)]


class Batch:
    """A unary method that may take long, and stops when its call is cancelled or late."""

    def __init__(self, door: Door, method: Method, handle: BatchHandler, threads: Executor) -> None:
        """`threads` do the work."""
        self._door, self._method, self._handle, self._threads = door, method, handle, threads

    def __call__(self, wire: WireCall) -> None:
        """Take a call."""
        take_unary(self._door, wire, self._door.begin(self._method, wire), self._answer)

    def _answer(self, wire: WireCall, call: Call) -> None:
        request = request_of(self._door, wire, wire.take_buffer)
        self._door.guards.admit(call)
        _Work(self._door, wire, call, self._threads, self._handle, request)


def take_unary(door: Door, wire: WireCall, call: Call, answer: Callable[[WireCall, Call], None]) -> None:
    """Call `answer` once the request of a unary call has come, or something is wrong with it.

    What it raises becomes the status of the call.
    """
    try:
        door.guards.identify(call, wire.metadata)
        if wire.has_ended:
            answer(wire, call)
        else:
            _Awaited(door, wire, call, answer)
    except Exception as error:
        refuse(door, wire, call, error)


class _Awaited:
    """A unary call whose request has not come whole."""

    def __init__(self, door: Door, wire: WireCall, call: Call, then: Callable[[WireCall, Call], None]) -> None:
        self._door, self._wire, self._call, self._then = door, wire, call, then
        seconds = door.settings.request_timeout
        self._has_left = False
        self._is_deadline = wire.timeout is not None and wire.timeout < seconds
        self._timer = wire.loop.after(min(seconds, seconds if wire.timeout is None else wire.timeout), self._late)
        wire.watch = self._look
        door.port.half_open.take(call.origin, wire, lambda: wire.loop.post(self._had_to_go))
        self._look()

    def _look(self) -> None:
        if self._wire.is_closed:
            self._leave()
            self._door.guards.end(self._call, CANCELLED)
        elif self._wire.has_ended or self._wire.fault or self._wire.waiting > 1:
            self._leave()
            try:
                self._then(self._wire, self._call)
            except Exception as error:
                refuse(self._door, self._wire, self._call, error)

    def _leave(self) -> None:
        self._has_left = True
        self._wire.watch = None
        self._timer.cancel()
        self._door.port.half_open.release(self._call.origin, self._wire)

    def _late(self) -> None:
        self._leave()
        late = deadline_exceeded() if self._is_deadline else request_timeout(self._door.settings.request_timeout)
        refuse(self._door, self._wire, self._call, late)

    def _had_to_go(self) -> None:
        if self._has_left:
            # Its request has come meanwhile.
            return
        self._leave()
        refuse(self._door, self._wire, self._call, slot_lost("calls", self._door.settings.max_calls))


class _Work:
    """A unary call for which a thread works; it never outlasts the work."""

    def __init__(
        self, door: Door, wire: WireCall, call: Call, threads: Executor, handle: BatchHandler, request: Any
    ) -> None:
        self._door, self._wire, self._call = door, wire, call
        self._cancellation = Cancellation()
        self._refusal: Refusal | None = None
        self._holding = door.guards.holding(call)
        answer = speaking(call.language, handle)
        work = partial(answer, request, self._cancellation, self._holding.beside(request))
        self._future: Future[list[Buffer]] | None = threads.submit(work)
        wire.watch = self._look
        wire.loop.under_way += 1
        self._timer = self._set_deadline(call)
        self._future.add_done_callback(lambda _: wire.loop.post(self._done))

    def _set_deadline(self, call: Call) -> Timer:
        settings, timeout = self._door.settings, self._wire.timeout
        if timeout is not None and timeout <= settings.max_deadline:
            refusal, seconds = deadline_exceeded(), timeout
        else:
            seconds = settings.default_deadline if timeout is None else settings.max_deadline
            refusal = deadline_exceeded(seconds)
        timer: Timer = self._wire.loop.after(
            max(call.start + seconds - perf_counter(), 0.0), partial(self._late, refusal)
        )
        return timer

    def _late(self, refusal: Refusal) -> None:
        self._refusal = refusal
        self._stop()

    def _stop(self) -> None:
        # Running work stops soon; waiting work never begins.
        self._cancellation.cancel()
        if self._future is not None:
            self._future.cancel()

    def _look(self) -> None:
        if self._wire.is_closed:
            self._stop()
        if self._wire.is_delivered and self._future is None:
            self._leave()

    def _leave(self) -> None:
        self._holding.release()
        self._wire.watch = None

    def _done(self) -> None:
        self._wire.loop.under_way -= 1
        self._timer.cancel()
        # It would keep the response after it was delivered.
        future, self._future = self._future, None
        assert future is not None
        if self._wire.is_closed:
            self._door.guards.end(self._call, CANCELLED)
            self._leave()
            return
        try:
            if self._refusal is not None:
                raise self._refusal
            pieces = future.result()
            self._holding.hold(sum(map(len, pieces)))
        except Exception as error:
            self._leave()
            refuse(self._door, self._wire, self._call, error)
        else:
            self._door.guards.end(self._call)
            self._wire.send(pieces, self._call.language)
            finish(self._wire, self._call.request_id, OK)


def hold_until_delivered(door: Door, wire: WireCall, call: Call, size: int) -> None:
    """Reserve memory for a response of `size` bytes until it was delivered. Raises Refusal."""
    holding = door.guards.holding(call)
    holding.hold(size + _OF_CALL)

    def look() -> None:
        if wire.is_delivered:
            holding.release()
            wire.watch = None

    wire.watch = look
