"""The stream of BatchService over gRPC's channel."""

import queue
import threading
from concurrent.futures import Future
from typing import Any

import grpc

from chatiere.clients.calls.batch_requests import BatchRequest, Result
from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.in_flight import InFlight
from chatiere.engine.closing import Closing


class BatchStream(Closing):
    """A stream (Play) with several requests in flight: the service works on one while you use the response to another.

        with client.stream() as stream:
            first = stream.submit(batch_requests.step(table, states, moves))
            second = stream.submit(batch_requests.step(table, other_states, other_moves))
            stepped = first.result(timeout=10)

    Responses come in the order of the requests. A request that is refused as a whole does not end the stream. If the
    service ends it because it was idle, it is opened again for the next request. A stream that breaks is not retried
    once a response has come: every request in flight, and every one submitted later, fails with TransportError. Nothing
    is lost, as you have the states: open another stream.
    """

    def __init__(self, channel: grpc.Channel, metadata: tuple[tuple[str, str], ...]) -> None:
        """Open the stream; see BatchClient.stream."""
        # As bytes: requests are serialised by the thread that submits them.
        self._play: Any = channel.stream_stream(f"/{BATCH_SERVICE}/Play")
        self._metadata = metadata
        self._in_flight = InFlight()
        self._end: ChatiereError | None = None
        self._is_closed = False
        self._changed = threading.Condition()
        self._open()
        self._reader = threading.Thread(target=self._read, name="stream", daemon=True)
        self._reader.start()

    @property
    def is_over(self) -> bool:
        """True once the stream has ended or broken: requests submitted now fail."""
        return self._end is not None

    def submit(self, request: BatchRequest[Result]) -> Future[Result]:
        """Send a request of `batch_requests`.

        The future has its result, or the ChatiereError that it fails with. Its `result(timeout)` raises TimeoutError if
        there is none in time.
        """
        future: Future[Result] = Future()
        # A request in flight cannot be cancelled by itself.
        future.set_running_or_notify_cancel()
        with self._changed:
            if self._end is not None:
                future.set_exception(self._end)
                return future
            self._requests.put(b"".join(self._in_flight.add(request, future)))
            self._changed.notify()
        return future

    def close(self) -> None:
        """End the stream; requests in flight fail."""
        with self._changed:
            self._is_closed = True
            self._call.cancel()
            self._changed.notify()
        self._reader.join()

    def _open(self) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for message in self._in_flight.messages():
            self._requests.put(b"".join(message))
        self._call = self._play(iter(self._requests.get, None), metadata=self._metadata)

    def _read(self) -> None:
        is_over = False
        while not is_over:
            end = self._read_to_its_end()
            with self._changed:
                self._requests.put(None)
                is_over = not self._in_flight.may_repeat(end)
                if not is_over:
                    # Opened at once it would take a slot for nothing.
                    self._changed.wait_for(lambda: self._in_flight or self._is_closed)
                    is_over = self._is_closed
                if is_over:
                    self._end = end
                else:
                    self._open()
        self._in_flight.fail(end)

    def _read_to_its_end(self) -> ChatiereError:
        try:
            for response in self._call:
                self._in_flight.settle(response)
        except grpc.RpcError as error:
            return error_of(error)
        except TransportError as error:
            self._call.cancel()
            return error
        return TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
