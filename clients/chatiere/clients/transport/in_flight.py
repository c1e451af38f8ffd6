"""The requests in flight on a stream of BatchService."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from chatiere.clients.calls.batch_messages import Response, put_inner
from chatiere.clients.calls.batch_requests import BatchRequest, Result, reason_name
from chatiere.clients.calls.errors import ChatiereError, FieldViolation, TransportError, pause_before
from chatiere.clients.transport.shared_call import StepColumns
from chatiere.engine.wire import Buffer
from chatiere.v1.batch_service_pb2 import PlayRequest, PlayResponse, RequestRefusal

# The maximum number of times that a stream without a response is opened again.
_MAX_REPEATS = 5


class InFlight:
    """The requests of a stream that have no response yet, and the futures of their results."""

    def __init__(self) -> None:
        """Create an empty collection."""
        # The requests and futures for each tag, in the order of submission.
        self._requests: dict[int, tuple[BatchRequest[Any], Future[Any]]] = {}
        self._tag = 0
        self._repeats = 0

    def __bool__(self) -> bool:
        """Return True if there are requests."""
        return bool(self._requests)

    def add(self, request: BatchRequest[Result], future: Future[Result]) -> int:
        """Add a request and the future for its result. Return its tag."""
        self._tag += 1
        self._requests[self._tag] = request, future
        return self._tag

    def pause_before_repeat(self, end: ChatiereError, *, has_responded: bool = True) -> float | None:
        """Return the seconds to wait before sending the requests on another stream, or None if they must not be sent.

        Args:
            end: The error with which the stream ended.
            has_responded: True if a response arrived on the stream. If none arrived, the service may be restarting.
        """
        self._repeats += 1
        if self._repeats > _MAX_REPEATS:
            return None
        # The service cancels a stream that was idle and whose response was not read.
        if end.ended_idle or end.code is grpc.StatusCode.CANCELLED:
            return 0.0
        if end.code is grpc.StatusCode.UNAVAILABLE and not has_responded:
            return pause_before(self._repeats - 1, end)
        return None

    def tagged(self) -> list[tuple[int, BatchRequest[Any]]]:
        """Return all requests in flight with their tags, in order, to send them again."""
        return [(tag, request) for tag, (request, _) in self._requests.items()]

    def settle(self, data: Buffer | StepColumns) -> None:
        """Settle the future of the request that a PlayResponse, or the columns of a step, answers.

        Raises:
            TransportError: The response is malformed, or its request is not in flight.
        """
        with readable():
            response: Any = data if isinstance(data, StepColumns) else Response(PlayResponse, data)
            request, future = self._requests.pop(response.number("tag"))
        self._repeats = 0
        try:
            with readable():
                kind = response.which("response")
                if kind == "refusal":
                    raise _refusal_error(response.message("refusal"))
                if kind != request.field:
                    raise ValueError(f"a response to {kind}, not to {request.field}")
                result = request.read(response.inner(request.field))
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    def fail(self, error: ChatiereError) -> None:
        """Fail all requests, because the stream is over."""
        requests, self._requests = self._requests, {}
        for _, future in requests.values():
            future.set_exception(error)


def message_of(tag: int, request: BatchRequest[Any]) -> list[Buffer]:
    """Return a PlayRequest, in pieces."""
    field = PlayRequest.DESCRIPTOR.fields_by_name[request.field].number
    rest = PlayRequest(tag=tag, keep=request.keep, take=request.take, rows=request.rows)
    return [*put_inner(field, request.pieces), rest.SerializeToString()]


@contextmanager
def readable() -> Iterator[None]:
    """Turn the errors of reading a malformed response into TransportError."""
    try:
        yield
    except (ValueError, KeyError, DecodeError) as error:
        raise TransportError(grpc.StatusCode.INTERNAL, "unexpected response from the server") from error


def _refusal_error(refusal: RequestRefusal) -> ChatiereError:
    violations = (FieldViolation(refusal.field, refusal.message),) if refusal.field else ()
    return ChatiereError(
        grpc.StatusCode.INVALID_ARGUMENT,
        f"{refusal.field}: {refusal.message}" if refusal.field else refusal.message,
        reason_name(refusal.reason),
        dict(refusal.metadata),
        violations,
    )
