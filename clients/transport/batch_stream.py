"""The stream of BatchService over gRPC's channel."""

import queue
import threading
from concurrent.futures import Future
from typing import Any

import grpc

from chatiere.clients.calls.batch_requests import BatchRequest, Result
from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.closing import Closing
from chatiere.clients.transport.in_flight import InFlight


class BatchStream(Closing):
    """A stream (Play) with several requests in flight: the service works on one while you use the response to another.

        with client.stream() as stream:
            first = stream.submit(batch_requests.step(table, states, moves))
            second = stream.submit(batch_requests.step(table, other_states, other_moves))
            stepped = first.result(timeout=10)

    Responses come in the order of the requests. A request that is refused as a whole does not end the stream. A stream
    that breaks is not retried once a response has come: every request in flight, and every one submitted later, fails
    with TransportError. Nothing is lost, as you have the states: open another stream.
    """

    def __init__(self, channel: grpc.Channel, metadata: tuple[tuple[str, str], ...]) -> None:
        """Open the stream; see BatchClient.stream."""
        # As bytes: requests are serialised by the thread that submits them.
        play: Any = channel.stream_stream(f"/{BATCH_SERVICE}/Play")
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._in_flight = InFlight()
        self._end: ChatiereError | None = None
        self._lock = threading.Lock()
        self._call = play(iter(self._requests.get, None), metadata=metadata)
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
        with self._lock:
            if self._end is not None:
                future.set_exception(self._end)
                return future
            self._requests.put(b"".join(self._in_flight.add(request, future)))
        return future

    def close(self) -> None:
        """End the stream; requests in flight fail."""
        self._call.cancel()
        self._requests.put(None)
        self._reader.join()

    def _read(self) -> None:
        end: ChatiereError = TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
        try:
            for response in self._call:
                self._in_flight.settle(response)
        except grpc.RpcError as error:
            end = error_of(error)
        except TransportError as error:
            end = error
            self._call.cancel()
        with self._lock:
            self._end = end
        self._requests.put(None)
        self._in_flight.fail(end)
