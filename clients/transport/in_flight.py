"""What the streams of BatchService share: calls under way, and whose answer is whose."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from chatiere.clients.calls.batch_messages import Response, put_inner
from chatiere.clients.calls.batch_requests import BatchRequest, Result, reason_name
from chatiere.clients.calls.errors import ChatiereError, FieldViolation, TransportError
from chatiere.http2.connection import Buffer
from chatiere.v1.batch_service_pb2 import PlayRequest, PlayResponse, RequestRefusal


class InFlight:
    """The calls of a stream that have no answer yet."""

    def __init__(self) -> None:
        """None."""
        # By tag, in the order of submission.
        self._requests: dict[int, tuple[BatchRequest[Any], Future[Any]]] = {}
        self._tag = 0

    def add(self, request: BatchRequest[Result], future: Future[Result]) -> list[Buffer]:
        """One more, whose result will be the future's: its PlayRequest, in pieces."""
        self._tag += 1
        self._requests[self._tag] = request, future
        field = PlayRequest.DESCRIPTOR.fields_by_name[request.field].number
        return [*put_inner(field, request.pieces), PlayRequest(tag=self._tag).SerializeToString()]

    def settle(self, data: Buffer) -> None:
        """A PlayResponse has come. Raises TransportError if there is no telling whose answer it is."""
        with readable():
            response = Response(PlayResponse, data)
            request, future = self._requests.pop(response.number("tag"))
        try:
            with readable():
                answered = response.which("response")
                if answered == "refusal":
                    raise _refusal_error(response.message("refusal"))
                if answered != request.field:
                    raise ValueError(f"an answer to {answered}, not to {request.field}")
                result = request.read(response.inner(request.field))
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    def fail(self, error: ChatiereError) -> None:
        """The stream is over."""
        requests, self._requests = self._requests, {}
        for _, future in requests.values():
            future.set_exception(error)


@contextmanager
def readable() -> Iterator[None]:
    """While an answer is read. Raises TransportError where it is none that the service gives."""
    try:
        yield
    except (ValueError, KeyError, DecodeError) as error:
        raise TransportError(grpc.StatusCode.INTERNAL, "the answer is none that the service gives") from error


def _refusal_error(refusal: RequestRefusal) -> ChatiereError:
    violations = (FieldViolation(refusal.field, refusal.message),) if refusal.field else ()
    return ChatiereError(
        grpc.StatusCode.INVALID_ARGUMENT,
        f"{refusal.field}: {refusal.message}" if refusal.field else refusal.message,
        reason_name(refusal.reason),
        dict(refusal.metadata),
        violations,
    )
