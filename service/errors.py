"""Refusals, and how they and failures look to a client: one mapping to a gRPC status with details."""

import logging
import secrets
from enum import StrEnum

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from chatiere.engine import EngineError
from chatiere.engine.core.batch import Cancelled

DOMAIN = "chatiere.v1"
# What a client sent may come back in a message; the status travels in headers, which clients accept up to 8 KiB.
_LONGEST_TEXT = 200

_log = logging.getLogger(__name__)


class ServiceReason(StrEnum):
    """The reasons of ErrorReason that are the service's own; all others are the engine's."""

    ACTION_MISMATCH = "ACTION_MISMATCH"
    MISSING_FIELD = "MISSING_FIELD"
    INTERNAL = "INTERNAL"
    MALFORMED_REQUEST = "MALFORMED_REQUEST"


class Refusal(ValueError):
    """What the service refuses for a reason of its own; `field` is a path from the request on."""

    def __init__(self, reason: ServiceReason, message: str, *, field: str, metadata: dict[str, str]) -> None:
        """See the class."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = ""
        self.metadata = metadata


def status_of(error: Exception) -> tuple[grpc.Status, str]:
    """The status that a call which raised `error` ends with, and its reason ("" for none).

    Anything but a refusal or a request that cannot be parsed is a failure of the service: it is logged under an id,
    which is all that the client learns of it.
    """
    if isinstance(error, (EngineError, Refusal)):
        return _refusal(error), error.reason.value
    if isinstance(error, DecodeError):
        info = _info(ServiceReason.MALFORMED_REQUEST, {})
        message = "the request cannot be parsed: it is not the message of this method"
        return _status(code_pb2.INVALID_ARGUMENT, message, info), ServiceReason.MALFORMED_REQUEST.value
    if isinstance(error, Cancelled):
        # Nobody is there to hear it any more.
        return _status(code_pb2.CANCELLED, "the call was cancelled"), ""
    incident = secrets.token_hex(8)
    _log.error("incident %s", incident, exc_info=error)
    info = _info(ServiceReason.INTERNAL, {"incident": incident})
    return _status(
        code_pb2.INTERNAL, f"the service failed; its log has incident {incident}", info
    ), ServiceReason.INTERNAL.value


def _refusal(error: EngineError | Refusal) -> grpc.Status:
    metadata = error.metadata | ({"rule": error.rule} if error.rule else {})
    info = _info(error.reason, metadata)
    if not error.field:
        return _status(code_pb2.INVALID_ARGUMENT, error.message, info)
    violation = error_details_pb2.BadRequest.FieldViolation(field=error.field, description=_clip(error.message))
    bad_request = error_details_pb2.BadRequest(field_violations=[violation])
    return _status(code_pb2.INVALID_ARGUMENT, f"{error.field}: {error.message}", info, bad_request)


def _info(reason: StrEnum, metadata: dict[str, str]) -> error_details_pb2.ErrorInfo:
    clipped = {key: _clip(value) for key, value in metadata.items()}
    return error_details_pb2.ErrorInfo(reason=f"ERROR_REASON_{reason.value}", domain=DOMAIN, metadata=clipped)


def _status(code: int, message: str, *details: Message) -> grpc.Status:
    status = status_pb2.Status(code=code, message=_clip(message))
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    answer: grpc.Status = rpc_status.to_status(status)
    return answer


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
