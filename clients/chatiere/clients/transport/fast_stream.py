"""The stream of BatchService over libnghttp2."""

import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NoReturn

import grpc

from chatiere.clients.calls.batch_requests import BatchRequest, Result
from chatiere.clients.calls.errors import ChatiereError, TransportError, pause_before
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.fast_call import FastCall
from chatiere.clients.transport.in_flight import InFlight, message_of
from chatiere.clients.transport.shared_call import PREFIX, SharedCall
from chatiere.engine.closing import Closing
from chatiere.engine.memory import keep_freed_memory

# The number of seconds without a response after which `submit` checks whether the stream has ended.
_PAUSE = 1.0


class FastStream(Closing):
    """A stream like BatchStream for a single thread. The client uses less than half as much processor time.

        with FastStream("127.0.0.1:50052") as stream:
            first = stream.submit(batch_requests.step(table, states, moves))

    It can connect to either port of a server. At the port of `chatiere serve --fast-address`, the server needs little
    more than half the processor time of its gRPC port. Use it for a nearby service on a trusted network, because the
    stream connects to one server without encryption. It repeats requests only if the service ended the stream for being
    idle. Responses are read only while a future's `result` or `exception` waits. Other ways to wait for futures never
    return. The stream breaks if a future has waited for 30 seconds and nothing has arrived, not even the response to a
    ping. At the gRPC port, the stream also breaks if no future waits for a minute or two, because the service then
    assumes that the client is gone.

    Like BatchClient, it makes malloc keep large freed blocks.
    """

    def __init__(self, address: str, *, timeout: float = DEFAULT_TIMEOUT, token: str | None = None) -> None:
        """Open a stream to a service.

        Args:
            address: "HOST:PORT" or "unix:/PATH", preferably the fast address of the service. "shm:/PATH", with the path
                of the Unix socket of its fast address, for a service on the same Linux machine: the messages then lie
                in shared memory.
            timeout: The maximum number of seconds for connecting, and for sending data that the service is ready to
                receive.
            token: The bearer token, if the service requires one.

        Raises:
            TransportError: UNAVAILABLE.
            ImportError: The package was built without libnghttp2.
        """
        self._address, self._timeout, self._token = address, timeout, token
        self._call = self._open()
        keep_freed_memory()
        self._in_flight = InFlight()
        self.has_answered = False
        """True once a response has arrived."""
        self._used = time.monotonic()
        self._is_closed = False

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("FastStream cannot be pickled; open one in each process")

    @property
    def is_over(self) -> bool:
        """True once the stream has ended or broken. Further requests then fail."""
        return self._call.is_over

    def submit(self, request: BatchRequest[Result]) -> Future[Result]:
        """Send a request; see BatchStream.submit."""
        future: Future[Result] = _Awaited(self)
        future.set_running_or_notify_cancel()
        if not self._in_flight and time.monotonic() > self._used + _PAUSE:
            self._look_for_the_end()
        self._send(self._in_flight.add(request, future), request)
        return future

    def close(self) -> None:
        """End the stream. Requests in flight fail."""
        self._is_closed = True
        self._call.close()
        self._in_flight.fail(TransportError(grpc.StatusCode.CANCELLED, "the stream was closed"))

    def wait_for(self, future: Future[Result], timeout: float | None) -> None:
        """Receive responses and settle their futures until this future is settled, or all futures if the stream ends.

        Raises:
            TimeoutError: There is no response to this request in time.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not future.done():
            try:
                response = self._call.receive(None if end is None else max(end - time.monotonic(), 0))
                self.has_answered = True
                self._used = time.monotonic()
                self._in_flight.settle(response)
            except ChatiereError as error:
                self._go_on_after(error)

    def _open(self) -> FastCall | SharedCall:
        if self._address.startswith(PREFIX):
            return SharedCall(self._address, self._timeout, self._token)
        return FastCall(self._address, f"/{BATCH_SERVICE}/Play", self._timeout, self._token)

    def _send(self, tag: int, request: BatchRequest[Any]) -> None:
        step = request.kept_step
        if step is not None and isinstance(self._call, SharedCall):
            self._call.send_step(tag, request.keep, *step)
        else:
            self._call.send(message_of(tag, request))

    def _look_for_the_end(self) -> None:
        # Check now whether the stream has ended, because the reason is lost once the connection has also ended.
        with suppress(TimeoutError):
            try:
                self._call.receive(0)
            except ChatiereError as error:
                if error.ended_idle or error.code is grpc.StatusCode.CANCELLED:
                    self._go_on_after(error)

    def _go_on_after(self, end: ChatiereError) -> None:
        self._call.close()
        if self._is_closed or self._in_flight.pause_before_repeat(end) is None:
            self._in_flight.fail(end)
            return
        try:
            self._call = self._open()
        except TransportError as error:
            self._in_flight.fail(error)
            return
        for tag, request in self._in_flight.tagged():
            self._send(tag, request)


class RepeatedStream(Closing):
    """A FastStream for one request at a time of any thread. It repeats requests if the service is unavailable."""

    def __init__(self, address: str, token: str | None) -> None:
        """Use a service. For the arguments see FastStream."""
        self._address, self._token = address, token
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._stream: FastStream | None = None

    def call(self, request: BatchRequest[Result], timeout: float) -> Result:
        """Return the result of a request.

        Args:
            request: The request.
            timeout: The maximum number of seconds, including repetitions.

        Raises:
            ChatiereError: See BatchClient.
        """
        end, attempt = time.monotonic() + timeout, 0
        if not self._lock.acquire(timeout=timeout):
            raise _late(timeout)
        try:
            while True:
                try:
                    if self._closing.is_set():
                        raise TransportError(grpc.StatusCode.CANCELLED, "the client is closed")
                    if self._stream is None:
                        left = max(end - time.monotonic(), 0)
                        self._stream = FastStream(self._address, timeout=left, token=self._token)
                    return self._stream.submit(request).result(max(end - time.monotonic(), 0))
                except TimeoutError:
                    self._leave()
                    raise _late(timeout) from None
                except ChatiereError as error:
                    if self._stream is None or self._stream.is_over:
                        self._leave()
                    pause = pause_before(attempt, error) if error.code is grpc.StatusCode.UNAVAILABLE else None
                    if pause is None or time.monotonic() + pause > end or self._closing.wait(pause):
                        raise
                    attempt += 1
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the stream after the request in flight."""
        self._closing.set()
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _late(timeout: float) -> TransportError:
    return TransportError(grpc.StatusCode.DEADLINE_EXCEEDED, f"no response within {timeout:g} s")


class _Awaited(Future[Result]):
    # A future that reads responses while a caller waits for its result.

    def __init__(self, stream: FastStream) -> None:
        super().__init__()
        self._stream = stream

    def result(self, timeout: float | None = None) -> Result:
        self._stream.wait_for(self, timeout)
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._stream.wait_for(self, timeout)
        return super().exception(0)
