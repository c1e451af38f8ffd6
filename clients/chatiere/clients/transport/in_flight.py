"""The requests in flight on a stream of BatchService."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from chatiere.clients.calls.batch_messages import Response, put_inner
from chatiere.clients.calls.batch_requests import BatchRequest, Result, reason_name
from chatiere.clients.calls.errors import ChatiereError, FieldViolation, TransportError
from chatiere.engine.wire import Buffer
from chatiere.v1.batch_service_pb2 import PlayRequest, PlayResponse, RequestRefusal

# A stream is opened again no more often than this without a response.
_MAX_REPEATS = 5


class InFlight:
    """The requests of a stream that have no response yet, and the futures of their results."""

    def __init__(self) -> None:
        """Begin with no requests."""
        # By tag, in the order of submission.
        self._requests: dict[int, tuple[BatchRequest[Any], Future[Any]]] = {}
        self._tag = 0
        self._repeats = 0

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._requests)

    def add(self, request: BatchRequest[Result], future: Future[Result]) -> list[Buffer]:
        """Add a request, whose result the future will have. Return its PlayRequest, in pieces."""
        self._tag += 1
        self._requests[self._tag] = request, future
        return _message(self._tag, request)

    def may_repeat(self, end: ChatiereError) -> bool:
        """Return whether the requests may go over another stream, because of how theirs ended."""
        self._repeats += 1
        # Cancelled by the service: it was idle, with a response that was not taken.
        return (end.ended_idle or end.code is grpc.StatusCode.CANCELLED) and self._repeats <= _MAX_REPEATS

    def messages(self) -> list[list[Buffer]]:
        """Return the PlayRequests of all requests again, in order."""
        return [_message(tag, request) for tag, (request, _) in self._requests.items()]

    def settle(self, data: Buffer) -> None:
        """Settle the future of the request that a PlayResponse is for. Raise TransportError if it is for none."""
        with readable():
            response = Response(PlayResponse, data)
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
        """Fail all requests: the stream is over."""
        requests, self._requests = self._requests, {}
        for _, future in requests.values():
            future.set_exception(error)


def _message(tag: int, request: BatchRequest[Any]) -> list[Buffer]:
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
