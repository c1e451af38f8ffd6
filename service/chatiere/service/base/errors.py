"""Refusals, and the one mapping of refusals and failures to a status with details, whatever the port."""

import logging
import secrets
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from google.protobuf import any_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from chatiere.engine import EngineError
from chatiere.engine.core.batch import Cancelled
from chatiere.service.base.languages import ACCEPT_LANGUAGE, LanguageError, localized

DOMAIN = "chatiere"
# Messages may quote what a client sent; the status travels in headers, which clients accept up to 8 KiB.
_MAX_TEXT_LENGTH = 200

_log = logging.getLogger(__name__)


class ServiceReason(StrEnum):
    """The values of ErrorReason that are the service's own; all others are the engine's."""

    ACTION_MISMATCH = "ACTION_MISMATCH"
    MISSING_FIELD = "MISSING_FIELD"
    INTERNAL = "INTERNAL"
    MALFORMED_REQUEST = "MALFORMED_REQUEST"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    TIME_LIMIT = "TIME_LIMIT"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    INVALID_BOT = "INVALID_BOT"
    INVALID_LANGUAGE = "INVALID_LANGUAGE"
    INVALID_RANGE = "INVALID_RANGE"
    INVALID_TABLE = "INVALID_TABLE"
    TABLE_EXPIRED = "TABLE_EXPIRED"
    WRONG_SECRET = "WRONG_SECRET"
    NOT_ACKNOWLEDGED = "NOT_ACKNOWLEDGED"
    INVALID_TERMS = "INVALID_TERMS"
    INVALID_HISTORY = "INVALID_HISTORY"
    GAME_NOT_OVER = "GAME_NOT_OVER"
    INVALID_ROOM = "INVALID_ROOM"


# The codes of refusals whose cause is not in the request.
_CODES = {
    ServiceReason.INTERNAL: code_pb2.INTERNAL,
    ServiceReason.UNAUTHENTICATED: code_pb2.UNAUTHENTICATED,
    ServiceReason.LIMIT_EXCEEDED: code_pb2.RESOURCE_EXHAUSTED,
    ServiceReason.TIME_LIMIT: code_pb2.DEADLINE_EXCEEDED,
    ServiceReason.REQUEST_TIMEOUT: code_pb2.DEADLINE_EXCEEDED,
}


class Status(NamedTuple):
    """The end of a call: `code` and `message` of google.rpc.Status; `details` is that message in wire format.

    `reason`: the name of its ErrorReason; "" if it has none.
    """

    code: int
    reason: str = ""
    message: str = ""
    details: bytes = b""


# Seconds after which a client whose call lost its slot may try again.
_RETRY = 1.0
OK = Status(code_pb2.OK)
CANCELLED = Status(code_pb2.CANCELLED, message="the call was cancelled")


class Refusal(ValueError):
    """A call turned down for a reason of the service's own.

    `field` is a path that begins in the request; "" if no field is to blame. `retry_after`: seconds after which a retry
    may succeed; None if a retry does not help.
    """

    def __init__(
        self,
        reason: ServiceReason,
        message: str,
        *,
        field: str = "",
        metadata: dict[str, str],
        retry_after: float | None = None,
    ) -> None:
        """Refuse for `reason`; see the class for the rest."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = ""
        self.key = ""
        self.metadata = metadata
        self.retry_after = retry_after


class StatusError(Exception):
    """A call that ends with a status which no refusal stands for."""

    def __init__(self, status: Status) -> None:
        """End with `status`."""
        super().__init__(status.message)
        self.status = status


def limit_exceeded(limit: str, most: float, retry_after: float | None = None) -> Refusal:
    """Return the refusal of a call that exceeds a limit. `retry_after`: None if a retry does not help."""
    retry = "" if retry_after is None else f"; try again in {retry_after:.1f} s"
    return Refusal(
        ServiceReason.LIMIT_EXCEEDED,
        # All digits: {:g} alone keeps six.
        f"limit exceeded: {limit} (at most {most:.15g}){retry}",
        metadata={"limit": limit, "most": f"{most:.15g}"},
        retry_after=retry_after,
    )


def request_timeout(seconds: float) -> Refusal:
    """Return the refusal of a call whose request has not come whole within `seconds`."""
    return Refusal(
        ServiceReason.REQUEST_TIMEOUT,
        f"request timeout: the request did not arrive within {seconds:g} s",
        metadata={"seconds": f"{seconds:g}"},
    )


def deadline_exceeded(allowed: float | None = None) -> Refusal:
    """Return the refusal of a late call. `allowed`: the seconds that the server allows; None: its own deadline."""
    if allowed is None:
        return Refusal(ServiceReason.TIME_LIMIT, "deadline exceeded", metadata={})
    return Refusal(
        ServiceReason.TIME_LIMIT,
        f"deadline exceeded: the server allows {allowed:g} s",
        metadata={"seconds": f"{allowed:g}"},
    )


def slot_lost(kind: str, most: int) -> Refusal:
    """Return the refusal of a half-open call that had to give way to others. `kind`: "calls" or "streams"."""
    return limit_exceeded(f"{kind} whose request has not come whole", most, _RETRY)


def invalid_language(error: LanguageError) -> Refusal:
    """Return the refusal of a call whose accept-language cannot be understood."""
    return Refusal(
        ServiceReason.INVALID_LANGUAGE, f"{ACCEPT_LANGUAGE}: {error}", metadata={"metadata": ACCEPT_LANGUAGE}
    )


def status_of(error: Exception, request_id: str, language: str = "") -> Status:
    """Return the status of a call that raised `error`, with a message for people in `language`, if there is one.

    Anything but a refusal or a request that cannot be parsed is a failure of the service: it is logged under an
    incident id, and the client learns that id alone.
    """
    if isinstance(error, (EngineError, Refusal)):
        return _refusal(error, request_id, language)
    if isinstance(error, DecodeError):
        message = "the request cannot be parsed as the message of this method"
        refusal = Refusal(ServiceReason.MALFORMED_REQUEST, message, metadata={})
        return _refusal(refusal, request_id, language)
    if isinstance(error, StatusError):
        return error.status
    if isinstance(error, Cancelled):
        # The client no longer listens.
        return CANCELLED
    incident = secrets.token_hex(8)
    extra = {"incident": incident, "request_id": request_id}
    _log.error("incident %s of request %s", incident, request_id, exc_info=error, extra=extra)
    message = f"internal error: see incident {incident} in the server's log"
    failure = Refusal(ServiceReason.INTERNAL, message, metadata={"incident": incident})
    return _refusal(failure, request_id, language)


def _refusal(error: EngineError | Refusal, request_id: str, language: str) -> Status:
    metadata = error.metadata | ({"rule": error.rule} if error.rule else {})
    if error.key:
        metadata["rule_key"] = error.key
    details: list[Message] = [error_details_pb2.RequestInfo(request_id=request_id)]
    message = error.message
    if error.field:
        violation = error_details_pb2.BadRequest.FieldViolation(field=error.field, description=_clip(error.message))
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
        message = f"{error.field}: {error.message}"
    code = code_pb2.INVALID_ARGUMENT
    if isinstance(error, Refusal):
        code = _CODES.get(error.reason, code)
        if error.retry_after is not None:
            retry = error_details_pb2.RetryInfo()
            retry.retry_delay.FromTimedelta(timedelta(seconds=error.retry_after))
            details.append(retry)
    if language:
        text = localized(language, error.reason.value, error.message, error.metadata.get("game", ""), error.key)
        details.append(error_details_pb2.LocalizedMessage(locale=language, message=_clip(text)))
    return _status(code, error.reason, message, metadata, *details)


def _status(code: int, reason: StrEnum, message: str, metadata: dict[str, str], *details: Message) -> Status:
    clipped = {key: _clip(value) for key, value in metadata.items()}
    info = error_details_pb2.ErrorInfo(reason=reason.value, domain=DOMAIN, metadata=clipped)
    status = status_pb2.Status(code=code, message=_clip(message))
    for detail in (info, *details):
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    return Status(code, reason.value, status.message, status.SerializeToString())


def _unavailable(message: str) -> Status:
    status = status_pb2.Status(code=code_pb2.UNAVAILABLE, message=message)
    packed = status.details.add()
    packed.Pack(error_details_pb2.RetryInfo(retry_delay=timedelta(seconds=_RETRY)))
    return Status(code_pb2.UNAVAILABLE, message=message, details=status.SerializeToString())


STOPPING = _unavailable("the server stops: begin again, at another one")
"""The end of streams when the server stops, which says after how many seconds to come back."""
ROOMS_AWAY = _unavailable("rooms are not available at the moment: try again")
"""The end of calls of RoomService while the server cannot reach what keeps rooms."""


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[: _MAX_TEXT_LENGTH - 1]}…"
