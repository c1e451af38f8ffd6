"""Faults of calls at the fast door: what the errors of HTTP/2 and gRPC's framing are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from google.rpc import code_pb2

from chatiere.service.base.errors import Refusal, ServiceReason, Status, StatusError, limit_exceeded

if TYPE_CHECKING:
    from chatiere.http2.server import Call

# As in http2/connection.h.
_MAX_WAITING, _MAX_HEADERS = 16384, 16 * 1024
_COMPRESSED = Status(code_pb2.UNIMPLEMENTED, message="compressed messages are not read at this door")
_WORDS = {
    "timeout": "invalid grpc-timeout",
    "prefix": "the prefix of a message is neither 0 nor 1",
    "breaks_off": "the last message breaks off",
}


def error_of(largest: Sequence[int], wire: Call) -> Exception:
    """Return the error that a call's fault stands for. `largest`: the bytes of the largest request of each path."""
    name = wire.fault
    if name == "compressed":
        return StatusError(_COMPRESSED)
    if name == "size":
        return limit_exceeded("bytes of a request", largest[wire.path])
    if name == "count":
        return limit_exceeded("requests ahead of their responses", _MAX_WAITING)
    if name == "headers":
        return limit_exceeded("bytes of metadata", _MAX_HEADERS)
    return Refusal(ServiceReason.MALFORMED_REQUEST, _WORDS[name], metadata={})
