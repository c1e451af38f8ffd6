"""The stream of BatchService over a gRPC channel."""

import queue
import threading
from concurrent.futures import Future
from typing import Any, NoReturn

import grpc

from chatiere.clients.calls.batch_requests import BatchRequest, Result
from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.in_flight import InFlight, message_of
from chatiere.engine.closing import Closing

# The time in seconds that `close` waits for the reader thread to end.
_PATIENCE = 1.0


class BatchStream(Closing):
    """A stream (Play) with several requests in flight. The service works on one while you use the response to another.

        with client.stream() as stream:
            first = stream.submit(batch_requests.step(table, states, moves))
            second = stream.submit(batch_requests.step(table, other_states, other_moves))
            stepped = first.result(timeout=10)

    Responses arrive in the order of the requests. A request that is refused as a whole does not end the stream. If the
    service ends the stream because it was idle, the stream is opened again for the next request. A stream that has not
    received a response is opened again up to five times, over three seconds, while the service is UNAVAILABLE. A stream
    that breaks after a response is not opened again: all requests in flight and all later requests fail with
    TransportError. Open another stream then. No state is lost, because the client has the states.
    """

    def __init__(self, channel: grpc.Channel, metadata: tuple[tuple[str, str], ...]) -> None:
        """Open the stream; see BatchClient.stream."""
        # This method accepts bytes, because the thread that submits a request serialises it.
        self._play: Any = channel.stream_stream(f"/{BATCH_SERVICE}/Play")
        self._metadata = metadata
        self._in_flight = InFlight()
        self._end: ChatiereError | None = None
        self._is_closed = False
        self._changed = threading.Condition()
        self._open()
        self._reader = threading.Thread(target=self._read, name="stream", daemon=True)
        self._reader.start()

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("BatchStream cannot be pickled; open one in each process")

    @property
    def is_over(self) -> bool:
        """True once the stream has ended or broken. Further requests then fail."""
        return self._end is not None

    def submit(self, request: BatchRequest[Result]) -> Future[Result]:
        """Send a request built by `batch_requests`.

        Returns:
            A future for the result. If the request fails, the exception of the future is a ChatiereError.
            `result(timeout)` raises TimeoutError if there is no response in time.
        """
        future: Future[Result] = Future()
        # Requests in flight cannot be cancelled individually.
        future.set_running_or_notify_cancel()
        with self._changed:
            if self._end is not None:
                future.set_exception(self._end)
                return future
            self._requests.put(b"".join(message_of(self._in_flight.add(request, future), request)))
            self._changed.notify()
        return future

    def close(self) -> None:
        """End the stream. Requests in flight fail."""
        with self._changed:
            self._is_closed = True
            self._call.cancel()
            self._changed.notify()
        self._reader.join(_PATIENCE)
        self._in_flight.fail(TransportError(grpc.StatusCode.CANCELLED, "the stream was closed"))

    def _open(self) -> None:
        self._has_responded = False
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for tag, request in self._in_flight.tagged():
            self._requests.put(b"".join(message_of(tag, request)))
        self._call = self._play(iter(self._requests.get, None), metadata=self._metadata)

    def _read(self) -> None:
        is_over = False
        while not is_over:
            end = self._read_to_its_end()
            with self._changed:
                self._requests.put(None)
                pause = self._in_flight.pause_before_repeat(end, has_responded=self._has_responded)
                if pause is not None:
                    self._changed.wait_for(lambda: self._is_closed, pause)
                    # Wait for a request, because an open stream occupies one of the service's slots for streams.
                    self._changed.wait_for(lambda: self._in_flight or self._is_closed)
                is_over = pause is None or self._is_closed
                if not is_over:
                    try:
                        self._open()
                    except ValueError as error:
                        # The channel is closed.
                        end = TransportError(grpc.StatusCode.CANCELLED, str(error))
                        is_over = True
                if is_over:
                    self._end = end
        self._in_flight.fail(end)

    def _read_to_its_end(self) -> ChatiereError:
        try:
            for response in self._call:
                self._has_responded = True
                self._in_flight.settle(response)
        except grpc.RpcError as error:
            return error_of(error)
        except TransportError as error:
            self._call.cancel()
            return error
        return TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
