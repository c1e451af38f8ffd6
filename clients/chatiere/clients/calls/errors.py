"""The exceptions of failed calls."""

from typing import NamedTuple

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, LocalizedMessage, RequestInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

# The limit for which idle streams end.
_IDLE_STREAMS = "streams whose request has not come whole"
_DOMAIN = "chatiere"


class FieldViolation(NamedTuple):
    """An invalid field of the request: its path ("action.discat.play.cards[1]") and what is wrong with it."""

    field: str
    description: str


class ChatiereError(Exception):
    """The service refused or failed a call. Nothing was changed, as nothing is stored.

    `code`: the gRPC status, INVALID_ARGUMENT for every error in the request.
    `message`: what is wrong and where, in English, for humans.
    `reason`: the name of a value of chatiere.v1.ErrorReason without its prefix, such as "ILLEGAL_ACTION"; "" in a
    TransportError.
    `metadata`: further facts by name, as ErrorReason lists them, such as "actor" and "rule"; may be empty.
    `violations`: the invalid fields of the request; may be empty.
    `request_id`: the id under which the service logged the call; "" if the service did not respond.
    `retry_after`: the seconds after which to try again (LIMIT_EXCEEDED, or a service that stops); None if the service
    does not say.
    `localized`: what is wrong, for players, in the client's language; "" if it asked for none.
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
        # Exception gets all arguments so that errors can be pickled, for instance by worker processes.
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
        """True if a stream ended because it waited for its client: for too long, or while others wanted its slot."""
        return self.reason == "REQUEST_TIMEOUT" or self.metadata.get("limit") == _IDLE_STREAMS


class TransportError(ChatiereError):
    """The service itself did not respond: it could not be reached, took too long, or gRPC refused the call.

    `code` tells these apart: UNAVAILABLE (after the retries), DEADLINE_EXCEEDED, UNIMPLEMENTED, RESOURCE_EXHAUSTED …
    """


def error_of(call: grpc.RpcError) -> ChatiereError:
    """Return the exception for a failed call of grpc or grpc.aio; their errors are calls too."""
    assert isinstance(call, grpc.Call | grpc.aio.AioRpcError)
    try:
        status = rpc_status.from_call(call)
    except ValueError:
        # The call was cancelled here while the service's status, another one, came.
        status = None
    return error_of_status(call.code(), call.details() or "", status)


def error_of_status(code: grpc.StatusCode, message: str, status: Status | None) -> ChatiereError:
    """Return the exception for a call that ended with this code and message; `status`: its details, if any."""
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
