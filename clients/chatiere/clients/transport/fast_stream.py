"""The stream of BatchService by libnghttp2."""

import time
from concurrent.futures import Future
from contextlib import suppress

import grpc

from chatiere.clients.calls.batch_requests import BatchRequest, Result
from chatiere.clients.calls.errors import ChatiereError, TransportError
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.fast_call import FastCall
from chatiere.clients.transport.in_flight import InFlight
from chatiere.engine.closing import Closing
from chatiere.engine.memory import keep_freed_memory

# Seconds without a response after which a stream may have ended meanwhile.
_PAUSE = 1.0


class FastStream(Closing):
    """A BatchStream at less than half of the client's processor time, for one thread.

        with FastStream("127.0.0.1:50052") as stream:
            first = stream.submit(batch_requests.step(table, states, moves))

    It goes to either port of a server; at the one of `chatiere serve --fast-address` the server's share of a batch is
    little more than half, too. For a service nearby, on a network that you trust: it goes to one server, nothing is
    encrypted, and nothing is tried again but what the service ended because the stream was idle. Responses are read
    while a future's `result` or `exception` waits, and at no other time: other ways to wait for futures wait for ever.
    At gRPC's port a stream that nobody waits at for a minute or two breaks, because the service takes its client for
    gone.

    Like BatchClient, it lets malloc keep large blocks that are freed.
    """

    def __init__(self, address: str, *, timeout: float = DEFAULT_TIMEOUT, token: str | None = None) -> None:
        """Open a stream to the service at "HOST:PORT" or "unix:/PATH", best at its fast address.

        `timeout`: seconds that connecting may take, and handing on to the system what the service is ready to take.
        `token`: the bearer token, if the service requires one. Raises TransportError: UNAVAILABLE; ImportError if the
        package was built without libnghttp2.
        """
        self._address, self._timeout, self._token = address, timeout, token
        self._call = self._open()
        keep_freed_memory()
        self._in_flight = InFlight()
        self.has_answered = False
        """True once a response has come."""
        self._used = time.monotonic()
        self._is_closed = False

    @property
    def is_over(self) -> bool:
        """True once the stream has ended or broken: requests submitted now fail."""
        return self._call.is_over

    def submit(self, request: BatchRequest[Result]) -> Future[Result]:
        """Send a request; see BatchStream.submit."""
        future: Future[Result] = _Awaited(self)
        future.set_running_or_notify_cancel()
        if not self._in_flight and time.monotonic() > self._used + _PAUSE:
            self._look_for_the_end()
        self._call.send(self._in_flight.add(request, future))
        return future

    def close(self) -> None:
        """End the stream; requests in flight fail."""
        self._is_closed = True
        self._call.close()
        self._in_flight.fail(TransportError(grpc.StatusCode.CANCELLED, "the stream was closed"))

    def wait_for(self, future: Future[Result], timeout: float | None) -> None:
        """Settle the futures whose responses come, up to this one, or all if the stream ends. Raise TimeoutError."""
        end = None if timeout is None else time.monotonic() + timeout
        while not future.done():
            try:
                response = self._call.receive(None if end is None else max(end - time.monotonic(), 0))
                self.has_answered = True
                self._used = time.monotonic()
                self._in_flight.settle(response)
            except ChatiereError as error:
                self._go_on_after(error)

    def _open(self) -> FastCall:
        return FastCall(self._address, f"/{BATCH_SERVICE}/Play", self._timeout, self._token)

    def _look_for_the_end(self) -> None:
        # Later the connection may have ended, too, and nobody could say why.
        with suppress(TimeoutError):
            try:
                self._call.receive(0)
            except ChatiereError as error:
                if error.ended_idle or error.code is grpc.StatusCode.CANCELLED:
                    self._go_on_after(error)

    def _go_on_after(self, end: ChatiereError) -> None:
        self._call.close()
        if self._is_closed or not self._in_flight.may_repeat(end):
            self._in_flight.fail(end)
            return
        try:
            self._call = self._open()
        except TransportError as error:
            self._in_flight.fail(error)
            return
        for message in self._in_flight.messages():
            self._call.send(message)


class _Awaited(Future[Result]):
    # Whoever asks for the result reads for it.

    def __init__(self, stream: FastStream) -> None:
        super().__init__()
        self._stream = stream

    def result(self, timeout: float | None = None) -> Result:
        self._stream.wait_for(self, timeout)
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._stream.wait_for(self, timeout)
        return super().exception(0)
