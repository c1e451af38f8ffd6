"""The exceptions that failed calls raise."""

import math
import random
from typing import NamedTuple

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, LocalizedMessage, RequestInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

# The name of the limit that ends idle streams.
_IDLE_STREAMS = "streams whose request has not arrived completely"
_DOMAIN = "chatiere"
# The pause in seconds before a stream is opened again: the first pause, and the maximum. The pause doubles each time.
_FIRST_PAUSE, _MAX_PAUSE = 0.1, 5.0
# The upper limit of the random factor, from 1, by which a pause is multiplied.
_LONGER = 1.5
# The codes of calls whose connection broke or is silent.
_BROKEN = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
}


class FieldViolation(NamedTuple):
    """An invalid field of the request: its path ("action.discat.play.cards[1]") and a description of the error."""

    field: str
    description: str


class ChatiereError(Exception):
    """The service refused a call, or failed. Because the service is stateless, nothing has changed.

    Attributes:
        code: The gRPC status; INVALID_ARGUMENT for every error in the request.
        message: An English description of the error for humans.
        reason: The name of a value of chatiere.v1.ErrorReason without the prefix, for example "ILLEGAL_ACTION". "" in a
            TransportError.
        metadata: Additional facts by name, for example "actor" and "rule"; may be empty. ErrorReason documents the
            facts.
        violations: The invalid fields of the request; may be empty.
        request_id: The id under which the service logged the call. "" if the service did not respond.
        retry_after: The time in seconds after which to try again (LIMIT_EXCEEDED, or a service that is stopping). None
            if the service does not specify the time.
        localized: A description of the error for players in the client's language. "" if the client did not request a
            language.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        reason: str = "",
        metadata: dict[str, str] | None = None,
        violations: tuple[FieldViolation, ...] = (),
        request_id: str = "",
        retry_after: float | None = None,
        localized: str = "",
    ) -> None:
        """See the class."""
        # Pass all arguments to Exception, so that errors can be pickled, for instance by worker processes.
        super().__init__(code, message, reason, metadata, violations, request_id, retry_after, localized)
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata = metadata or {}
        self.violations = violations
        self.request_id = request_id
        self.retry_after = retry_after
        self.localized = localized

    def __str__(self) -> str:
        """Return the reason (or the status) and the message."""
        return f"{self.reason or self.code.name}: {self.message}"

    @property
    def ended_idle(self) -> bool:
        """True if a stream ended because it was idle too long, or was idle when another client needed a stream."""
        return self.reason == "REQUEST_TIMEOUT" or self.metadata.get("limit") == _IDLE_STREAMS

    @property
    def lost_batch(self) -> bool:
        """True if a stream refused a request because the stream does not keep the batch that the request takes."""
        return self.reason == "INVALID_BATCH" and any(each.field == "take" for each in self.violations)


class TransportError(ChatiereError):
    """The service did not respond: it could not be reached or took too long, or gRPC refused the call.

    `code` distinguishes these cases: UNAVAILABLE (after the retries), DEADLINE_EXCEEDED, UNIMPLEMENTED,
    RESOURCE_EXHAUSTED …
    """


def error_of(call: grpc.RpcError) -> ChatiereError:
    """Return the exception for a failed call of grpc or grpc.aio, given the error that the call raised."""
    assert isinstance(call, grpc.Call | grpc.aio.AioRpcError)
    try:
        status = rpc_status.from_call(call)
    except ValueError:
        # The client cancelled the call while a different status from the service arrived.
        status = None
    return error_of_status(call.code(), call.details() or "", status)


def error_of_status(code: grpc.StatusCode, message: str, status: Status | None) -> ChatiereError:
    """Return the exception for a call that ended with this code and message. `status` has the details, if any."""
    info, request, problems, retry = ErrorInfo(), RequestInfo(), BadRequest(), RetryInfo()
    localized = LocalizedMessage()
    for detail in status.details if status is not None else ():
        for kind in info, request, problems, retry, localized:
            detail.Unpack(kind)
    retry_after = retry.retry_delay.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None
    if info.domain != _DOMAIN:
        return TransportError(code, message, retry_after=retry_after)
    return ChatiereError(
        code,
        message,
        info.reason,
        dict(info.metadata),
        tuple(FieldViolation(each.field, each.description) for each in problems.field_violations),
        request.request_id,
        retry_after,
        localized.message,
    )


def pause_before(attempt: int, error: ChatiereError) -> float | None:
    """Return the seconds to wait before opening a stream or sending a batch again, or None if the error is final.

    The time is partly random, so that the clients of a service do not all return at the same time.

    Args:
        attempt: The number of earlier attempts.
        error: The error of the stream or of the request.
    """
    is_broken = isinstance(error, TransportError) and error.code in _BROKEN
    if error.retry_after is None and not is_broken and not error.lost_batch:
        return None
    pause = max(error.retry_after or 0.0, min(math.ldexp(_FIRST_PAUSE, attempt), _MAX_PAUSE))
    return pause * random.uniform(1.0, _LONGER)
