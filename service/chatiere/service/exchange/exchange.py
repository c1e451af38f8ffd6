# cython: annotation_typing=False
"""The exchange of a call: the base class of all exchanges, and the exchanges of unary calls.

An exchange is the record and the state machine of a call, from its headers through the guards to its method and back.
The wire is the port's side of the call. The method `look` reads the state of the wire, and proceeds as far as this
state allows. No method blocks. All methods run in the thread of the exchange's loop, except the functions that slots,
feeds and threads call. These functions post to the loop.

    headers ──▶ half-open ──▶ at work ──▶ over ──▶ delivered
      │             │           │          ▲
      │             └───────────┴──────────┤ late, cancelled, refused
      └────────────────────────────────────┘ handled immediately if the request came with the headers; or not admitted
"""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from time import perf_counter
from typing import Any

from google.rpc import code_pb2

from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import (
    CANCELLED,
    NOT_ONE_REQUEST,
    OK,
    Status,
    StatusError,
    deadline_exceeded,
    request_timeout,
    slot_lost,
)
from chatiere.service.base.languages import speaking
from chatiere.service.exchange.door import Door
from chatiere.service.exchange.methods import LARGE
from chatiere.service.exchange.wire import Form, Timer, Wire
from chatiere.service.guards.chain import Call
from chatiere.service.guards.memory import Holding

_NO_METHOD = Status(code_pb2.UNIMPLEMENTED, message="no such method at this door")


class Exchange(Call):
    """A call to a method at a door. The call ends once, and the guards count its end before the client is notified.

    Exceptions of the method, or of a step of the exchange, become the call's status.
    """

    def __init__(self, door: Door, served: Any, wire: Wire, form: Form | None = None) -> None:
        """Count a call whose headers have been received. `begin` must be called afterwards.

        Args:
            door: The door that received the call.
            served: The method.
            wire: The connection to the client.
            form: The format of the messages if the call has one request; None for protobuf's wire format.
        """
        self._start(served.method, wire.peer, wire.metadata)
        self._door, self._guards, self.wire, self._form = door, door.guards, wire, form
        self._served = served
        self._is_half_open = False
        self._timer: Timer | None = None
        # For work in another thread: an object that cancels it, the future of its result, and the error to report,
        # instead of the result, once the work has stopped.
        self._cancellation: Cancellation | None = None
        self._future: Future[list[Buffer]] | None = None
        self._refusal: Exception | None = None
        # The memory that the call holds; None if it has not held any.
        self._holding: Holding | None = None
        self._guards.begin(self)
        if door.traces is not None:
            door.traces.begin(self, wire.metadata)

    @property
    def held(self) -> int:
        """The number of received bytes of requests that wait to be handled. Approximate when read by another thread."""
        return self.wire.held

    def begin(self) -> None:
        """Identify the client, and call `open`."""
        try:
            self._guards.identify(self, self.wire.metadata)
            self.open()
        except Exception as error:
            self._refuse(error)

    def open(self) -> None:
        """Start the call after its headers were received. Raises Refusal, and the exceptions of methods."""

    def look(self) -> None:
        """Proceed as far as the wire allows. The wire calls this method, as its `watch`, while the exchange waits."""
        self._look_at_delivery()

    # The end

    def _refuse(self, error: Exception) -> None:
        self._leave()
        self._finish(self._guards.refuse(self, error))

    def _refuse_now(self, error: Exception) -> None:
        """Refuse the call without waiting for a client that does not read.

        The client receives the status if it has already received the responses, or can receive them immediately.
        """
        is_sending = self.wire.is_sending
        self._refuse(error)
        if is_sending:
            # In its next turn, the loop first sends as much as the client can receive.
            self.wire.loop.after(0.0, self._reset_if_sending)

    def _reset_if_sending(self) -> None:
        if self.wire.is_sending:
            self.wire.reset()

    def _end(self, status: Status) -> None:
        self._leave()
        self._guards.end(self, status)
        self._finish(status)

    def _finish(self, status: Status) -> None:
        self.wire.finish(status, self.request_id)
        self._look_at_delivery()

    def _leave(self) -> None:
        """Release the resources that the call needs only until it is over."""
        if self._timer is not None:
            self._timer.cancel()

    def _look_at_delivery(self) -> None:
        """Release the memory of a call that is over if its client has received the whole response."""
        if self._holding is not None and not self.wire.is_delivered:
            self.wire.watch = self.look
        else:
            self._release()
            self.wire.watch = None

    # Memory

    def _memory(self) -> Holding:
        if self._holding is None:
            self._holding = self._guards.holding(self)
        return self._holding

    def _hold_response(self, size: int) -> None:
        """Hold memory for a response of `size` bytes, in place of the memory held for the request.

        For a small response, no memory is held if the client reads fast enough.

        Raises:
            Refusal: If the response does not fit into the memory budget (LIMIT_EXCEEDED).
        """
        small, copies, of_call = self._door.cost
        if size > small or self.wire.is_behind:
            self._memory().hold(copies * size + of_call)
        else:
            self._release()

    def _release(self) -> None:
        if self._holding is not None:
            self._holding.release()

    # Work in another thread; it ends before the call ends

    def _await(self, work: Future[list[Buffer]], done: Callable[[], None]) -> None:
        """When work in another thread has ended, call `done` in the loop's thread. `done` must call `_result`."""
        loop = self.wire.loop
        self._future = work
        loop.under_way += 1
        self._future.add_done_callback(lambda _: loop.post(done))

    def _stop(self) -> None:
        """Stop the work in the other thread soon, or prevent it from starting."""
        if self._cancellation is not None:
            self._cancellation.cancel()
        if self._future is not None:
            self._future.cancel()

    def _result(self) -> list[Buffer]:
        """Return the result of the work, or raise the exception that becomes the call's status."""
        # Drop the future, because it would keep the response in memory after delivery.
        future, self._future = self._future, None
        self.wire.loop.under_way -= 1
        if self.wire.is_closed:
            raise StatusError(CANCELLED)
        if self._refusal is not None:
            raise self._refusal
        assert future is not None
        return future.result()


class UnaryExchange(Exchange):
    """A call with one request. The request must arrive in time."""

    def open(self) -> None:
        """Handle the request, or wait until it has arrived completely. For errors see Exchange.open."""
        if self.wire.has_ended:
            self._take()
        else:
            self._wait_for_request()

    def look(self) -> None:
        """Proceed as far as the wire allows."""
        wire = self.wire
        if self.is_over:
            self._look_at_delivery()
        elif not self._is_half_open:
            if wire.is_closed:
                self._stop()
        elif wire.is_closed:
            self._end(CANCELLED)
        elif wire.has_ended or wire.fault or wire.waiting > 1:
            self._leave()
            try:
                self._take()
            except Exception as error:
                self._refuse(error)

    def _take(self) -> None:
        """Handle the request, here or in another thread. Raises Refusal, and the exceptions of methods."""

    # Until the request has arrived

    def _wait_for_request(self) -> None:
        wire, door = self.wire, self._door
        seconds, timeout = door.settings.request_timeout, wire.timeout
        self._is_half_open = True
        self._timer = wire.loop.after(seconds if timeout is None else min(seconds, timeout), self._late)
        wire.watch = self.look
        door.half_open.take(self.origin, self, lambda: wire.loop.post(self._lose_slot))
        self.look()

    def _leave(self) -> None:
        # This is faster than `super`.
        Exchange._leave(self)
        if self._is_half_open:
            self._is_half_open = False
            self.wire.watch = None
            self._door.half_open.release(self.origin, self)

    def _lose_slot(self) -> None:
        # Do nothing if the request has arrived in the meantime.
        if self._is_half_open:
            self._refuse(slot_lost("calls", self._door.settings.max_calls))

    def _admit(self) -> None:
        timeout = self.wire.timeout
        if timeout is not None and timeout <= 0:
            raise deadline_exceeded()
        self._guards.admit(self)

    def _fault(self) -> Exception:
        """Return the error of a call whose request cannot be handled."""
        if self.wire.fault:
            return self._door.error_of(self.wire)
        return StatusError(NOT_ONE_REQUEST)

    # Until the response is ready

    def _work_in_time(self, size: int, submit: Callable[[], Future[list[Buffer]]]) -> None:
        """Create the response in another thread, within the deadline.

        Args:
            size: The memory in bytes to hold during the work.
            submit: A function that starts the work in another thread.

        Raises:
            Refusal: If there is not enough memory.
        """
        self._memory().hold(size)
        self._await(submit(), self._done)
        self.wire.watch = self.look
        seconds, _ = self._allowed()
        self._timer = self.wire.loop.after(max(self.start + seconds - perf_counter(), 0.0), self._late)

    def _late(self) -> None:
        settings, timeout = self._door.settings, self.wire.timeout
        if self._is_half_open:
            is_own = timeout is not None and timeout < settings.request_timeout
            self._refuse(deadline_exceeded() if is_own else request_timeout(settings.request_timeout))
        else:
            self._refusal = deadline_exceeded(self._allowed()[1], settings.max_deadline)
            self._stop()

    def _allowed(self) -> tuple[float, float | None]:
        # Return the call's time limit in seconds, and the server's limit that determines it; None if the client's
        # deadline does.
        settings, timeout = self._door.settings, self.wire.timeout
        if timeout is not None and timeout <= settings.max_deadline:
            return timeout, None
        seconds = settings.default_deadline if timeout is None else settings.max_deadline
        return seconds, seconds

    def _done(self) -> None:
        try:
            pieces = self._result()
            self._hold_response(sum(map(len, pieces)))
        except Exception as error:
            self._release()
            self._refuse(error)
        else:
            self._leave()
            self._guards.end(self)
            self.wire.send(pieces, self.language)
            self._finish(OK)

    # Methods that convert messages, and may be called from any thread

    def _size_of(self, request: Buffer) -> int:
        return len(request) if self._form is None else self._form.memory * len(request)

    def _written(self, pieces: list[Buffer]) -> list[Buffer]:
        if self._form is None:
            return pieces
        response = b"".join(pieces)
        self._memory().hold(self._form.memory // 2 * len(response))
        return [self._form.write(response)]


class SingleExchange(UnaryExchange):
    """A call to a unary method that takes microseconds."""

    def _take(self) -> None:
        wire, form = self.wire, self._form
        request = wire.request()
        if request is None:
            raise self._fault()
        self._admit()
        if len(request) > LARGE or self._served.waits:
            work = partial(self._handle_in_thread, request)
            self._work_in_time(self._size_of(request), partial(self._served.threads.submit, work))
            return
        handle = self._handler()
        if form is None:
            response = handle(request)
        else:
            response = handle(form.read(request))
            if len(response) > LARGE:
                write = partial(self._written, [response])
                self._work_in_time(len(response), partial(self._served.threads.submit, write))
                return
            response = form.write(response)
        if len(response) > self._door.cost.small or wire.is_behind:
            self._hold_response(len(response))
        self._guards.end(self)
        wire.answer(response, self.request_id, self.language)
        if self._holding is not None:
            # Release the memory now if the client has already received the response.
            self._look_at_delivery()

    def _handle_in_thread(self, request: bytes) -> list[Buffer]:
        data = request if self._form is None else self._form.read(request)
        return self._written([self._handler()(data)])

    def _handler(self) -> Callable[[bytes], bytes]:
        served = self._served
        handle = partial(served.handle, self.origin) if served.takes_client else served.handle
        return speaking(self.language, handle) if self.language else handle


class BatchExchange(UnaryExchange):
    """A call to a unary method that may take a long time. Its work stops when the call is cancelled or late."""

    def _take(self) -> None:
        wire = self.wire
        request = wire.take_buffer()
        if request is None or wire.fault or wire.waiting:
            raise self._fault()
        self._admit()
        pool = self._served.pool
        self._cancellation = job = pool.job(self.origin, wire.peer)
        work = partial(self._handle, request, job)
        self._work_in_time(self._size_of(request), partial(pool.submit, job, work))

    def _handle(self, request: Buffer, cancellation: Cancellation) -> list[Buffer]:
        data = request if self._form is None else self._form.read(bytes(request))
        handle = speaking(self.language, self._served.handle)
        return self._written(handle(data, cancellation, self._memory().beside(data)))


class UnknownExchange(Exchange):
    """A call to a method that the door does not serve."""

    def open(self) -> None:
        """Refuse the call (UNIMPLEMENTED)."""
        raise StatusError(_NO_METHOD)
