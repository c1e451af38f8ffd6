"""What a client raises where a call has no result."""

from typing import NamedTuple

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RequestInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from chatiere.v1 import errors_pb2

_DOMAIN = errors_pb2.DESCRIPTOR.package


class FieldViolation(NamedTuple):
    """A field of the request that is to blame: its path ("action.discat.play.cards[1]") and what is wrong with it."""

    field: str
    description: str


class ChatiereError(Exception):
    """The service refused a call, or failed at it; nothing was changed, as nothing is stored.

    `code`: the gRPC status, INVALID_ARGUMENT for every fault of the request.
    `message`: what is wrong and where, in English, for people.
    `reason`: the name of a value of chatiere.v1.ErrorReason without its prefix, such as "ILLEGAL_ACTION"; "" in a
    TransportError.
    `metadata`: further facts by name, as ErrorReason lists them, such as "actor" and "rule"; may be empty.
    `violations`: the fields of the request that are to blame; empty where none is.
    `request_id`: the id under which the service's log has the call; "" if it did not answer.
    `retry_after`: seconds after which another try may do (LIMIT_EXCEEDED); None where the service says nothing of it.
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
    ) -> None:
        """See the class."""
        # All arguments go to Exception, so that errors can be pickled (from worker processes, say).
        super().__init__(code, message, reason, metadata, violations, request_id, retry_after)
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata = metadata or {}
        self.violations = violations
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        """The reason (or the status) and the message."""
        return f"{self.reason or self.code.name}: {self.message}"


class TransportError(ChatiereError):
    """The call got no answer of the service's own: it could not be reached, took too long, or gRPC refused the call.

    `code` says which: UNAVAILABLE (after the retries), DEADLINE_EXCEEDED, UNIMPLEMENTED, RESOURCE_EXHAUSTED …
    """


def error_of(call: grpc.RpcError) -> ChatiereError:
    """What a failed call means; takes the errors of grpc and of grpc.aio, which are calls too."""
    assert isinstance(call, grpc.Call | grpc.aio.AioRpcError)
    return error_of_status(call.code(), call.details() or "", rpc_status.from_call(call))


def error_of_status(code: grpc.StatusCode, message: str, status: Status | None) -> ChatiereError:
    """What a call that ends like this means; `status`: its details, if it has any."""
    info, request, problems, retry = ErrorInfo(), RequestInfo(), BadRequest(), RetryInfo()
    for detail in status.details if status is not None else ():
        for kind in info, request, problems, retry:
            detail.Unpack(kind)
    if info.domain != _DOMAIN:
        return TransportError(code, message)
    return ChatiereError(
        code,
        message,
        info.reason.removeprefix("ERROR_REASON_"),
        dict(info.metadata),
        tuple(FieldViolation(each.field, each.description) for each in problems.field_violations),
        request.request_id,
        retry.retry_delay.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None,
    )
