"""How calls of browsers end: statuses as errors of Connect, and what connectrpc finds wrong as refusals."""

from __future__ import annotations

from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from google.protobuf import any_pb2
from google.rpc import code_pb2, status_pb2

from chatiere.engine import EngineError
from chatiere.service.base.errors import (
    CANCELLED,
    Refusal,
    ServiceReason,
    Status,
    deadline_exceeded,
    limit_exceeded,
)
from chatiere.service.guards.chain import Call, Guards
from chatiere.service.ports.web.json_form import message_type

# By number of google.rpc.Code, which spells one of them otherwise.
_CODES = {number: Code[name.replace("CANCELLED", "CANCELED")] for name, number in code_pb2.Code.items() if name != "OK"}
_NUMBERS = {code: number for number, code in _CODES.items()}


def ended(guards: Guards, call: Call, error: Exception, most: int) -> ConnectError:
    """End a call that raised an error; return the error to send. `most`: the bytes of the largest request."""
    cause = error.__cause__
    if isinstance(error, ConnectError):
        if isinstance(cause, (EngineError, Refusal)):
            # Raised while connectrpc read the request.
            error = cause
        elif error.code is Code.DEADLINE_EXCEEDED:
            error = deadline_exceeded()
        elif error.code is Code.RESOURCE_EXHAUSTED:
            error = limit_exceeded("bytes of a request", most)
        elif error.code is Code.INVALID_ARGUMENT:
            error = Refusal(ServiceReason.MALFORMED_REQUEST, error.message, metadata={})
        else:
            status = CANCELLED if error.code is Code.CANCELED else Status(_NUMBERS[error.code], message=error.message)
            guards.end(call, status)
            return error
    return _error_of(guards.refuse(call, error))


def _error_of(status: Status) -> ConnectError:
    details = status_pb2.Status.FromString(status.details).details
    return ConnectError(_CODES[status.code], status.message, map(_detail_of, details))


def _detail_of(packed: any_pb2.Any) -> ErrorDetail:
    # JSON shows a detail readably if it was made of its message.
    return ErrorDetail(message_type(packed.TypeName()).from_binary(packed.value))
