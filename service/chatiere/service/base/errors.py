"""Errors of calls, and the conversion of every exception to a gRPC status with details, for all ports."""

import logging
import random
import secrets
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from google.protobuf import any_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from chatiere.engine import EngineError
from chatiere.engine.core.cancellation import Cancelled
from chatiere.service.base.languages import ACCEPT_LANGUAGE, LanguageError, localized

DOMAIN = "chatiere"
# The maximum length of a string in a status. Strings may quote the request. The status is sent in headers, and clients
# accept only 8 KiB of headers.
_MAX_TEXT_LENGTH = 200

_log = logging.getLogger(__name__)


class ServiceReason(StrEnum):
    """The values of ErrorReason that the service uses in addition to the engine's reasons."""

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


# The codes of errors that the request itself does not cause. The code of all other errors is INVALID_ARGUMENT.
_CODES = {
    ServiceReason.INTERNAL: code_pb2.INTERNAL,
    ServiceReason.UNAUTHENTICATED: code_pb2.UNAUTHENTICATED,
    ServiceReason.LIMIT_EXCEEDED: code_pb2.RESOURCE_EXHAUSTED,
    ServiceReason.TIME_LIMIT: code_pb2.DEADLINE_EXCEEDED,
    ServiceReason.REQUEST_TIMEOUT: code_pb2.DEADLINE_EXCEEDED,
}


class Status(NamedTuple):
    """The status of a call.

    Attributes:
        code: The `code` of google.rpc.Status.
        reason: The name of the ErrorReason, or "" if there is no reason.
        message: The `message` of google.rpc.Status.
        details: The whole google.rpc.Status in wire format.
    """

    code: int
    reason: str = ""
    message: str = ""
    details: bytes = b""


# The time in seconds after which a client may retry a call that lost its slot.
_RETRY = 1.0
# The shortest and the longest time in seconds after which a client may retry while rooms are not available.
_RETRY_ROOMS = 1.0, 5.0
ROOMS_AWAY = "rooms are not available at the moment: try again"
"""The message of `rooms_away`."""
OK = Status(code_pb2.OK)
CANCELLED = Status(code_pb2.CANCELLED, message="the call was cancelled")


class Refusal(ValueError):
    """The refusal of a call by the service, as opposed to an error of the engine.

    Attributes:
        field: The path of the faulty field, from the request. "" if no field is at fault.
        metadata: The metadata of google.rpc.ErrorInfo.
        retry_after: The time in seconds after which a retry may succeed. None if retrying does not help.
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
        """Create a refusal. See the class for the arguments."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = ""
        self.key = ""
        self.metadata = metadata
        self.retry_after = retry_after


class StatusError(Exception):
    """An exception that ends a call with a status, for which no Refusal exists."""

    def __init__(self, status: Status) -> None:
        """End the call with `status`."""
        super().__init__(status.message)
        self.status = status


def limit_exceeded(limit: str, most: float, retry_after: float | None = None) -> Refusal:
    """Return the refusal of a call that exceeds a limit. `retry_after` is None if retrying does not help."""
    retry = "" if retry_after is None else f"; try again in {retry_after:.1f} s"
    return Refusal(
        ServiceReason.LIMIT_EXCEEDED,
        # Use {:.15g}, because {:g} shows only six digits.
        f"limit exceeded: {limit} (at most {most:.15g}){retry}",
        metadata={"limit": limit, "most": f"{most:.15g}"},
        retry_after=retry_after,
    )


def request_timeout(seconds: float) -> Refusal:
    """Return the refusal of a call whose request did not arrive completely within `seconds`."""
    return Refusal(
        ServiceReason.REQUEST_TIMEOUT,
        f"request timeout: the request did not arrive within {seconds:g} s",
        metadata={"seconds": f"{seconds:g}"},
    )


def deadline_exceeded(allowed: float | None = None, most: float = 0.0) -> Refusal:
    """Return the refusal of a call that exceeded its deadline.

    Args:
        allowed: The server's time limit in seconds, if the call exceeded this limit, or None if the call exceeded the
            client's deadline.
        most: The longest deadline in seconds that the server allows a client to set.
    """
    if allowed is None:
        return Refusal(ServiceReason.TIME_LIMIT, "deadline exceeded", metadata={})
    longer = ""
    if allowed < most:
        longer = f"; for up to {most:g} s, set a deadline (connect-timeout-ms or gRPC's)"
    return Refusal(
        ServiceReason.TIME_LIMIT,
        f"deadline exceeded: the server allows {allowed:g} s{longer}",
        metadata={"seconds": f"{allowed:g}"},
    )


def slot_lost(kind: str, most: int) -> Refusal:
    """Return the refusal of an incomplete call that lost its slot to another call. `kind`: "calls" or "streams"."""
    return limit_exceeded(f"{kind} whose request has not arrived completely", most, _RETRY)


def invalid_language(error: LanguageError) -> Refusal:
    """Return the refusal of a call with an invalid accept-language."""
    return Refusal(
        ServiceReason.INVALID_LANGUAGE, f"{ACCEPT_LANGUAGE}: {error}", metadata={"metadata": ACCEPT_LANGUAGE}
    )


def status_of(error: Exception, request_id: str, language: str = "") -> Status:
    """Return the status of a call that raised `error`.

    The status also has a message in `language`, unless `language` is "". Exceptions other than refusals and parse
    errors are failures of the service. They are logged with an incident id, and the client receives only this id.
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
        # The client is no longer waiting.
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


def _unavailable(message: str, retry_after: float = _RETRY) -> Status:
    status = status_pb2.Status(code=code_pb2.UNAVAILABLE, message=message)
    packed = status.details.add()
    packed.Pack(error_details_pb2.RetryInfo(retry_delay=timedelta(seconds=retry_after)))
    return Status(code_pb2.UNAVAILABLE, message=message, details=status.SerializeToString())


STOPPING = _unavailable("the server is stopping: call again on another server")
"""The status of streams that end because the server stops. It includes the time after which to retry."""
NOT_ONE_REQUEST = Status(code_pb2.UNIMPLEMENTED, message="this method takes exactly one request message")
"""The status of calls of unary methods whose client does not send exactly one request."""
UNNAMED_COMPRESSION = Status(code_pb2.INTERNAL, message="a message is compressed, but no encoding is named")
"""The status of calls whose message has an unnamed compression. gRPC requires this code for the client's error."""


def rooms_away() -> StatusError:
    """Return the error of RoomService calls while the server cannot reach Redis. Redis stores the rooms.

    The time after which to retry is random, so that the clients of all rooms do not return at the same time.
    """
    return StatusError(_unavailable(ROOMS_AWAY, random.uniform(*_RETRY_ROOMS)))


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[: _MAX_TEXT_LENGTH - 1]}…"
