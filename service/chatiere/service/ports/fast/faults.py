"""The errors of calls at the fast door that violate HTTP/2, gRPC's framing or the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from google.rpc import code_pb2

from chatiere.service.base.errors import (
    UNNAMED_COMPRESSION,
    Refusal,
    ServiceReason,
    Status,
    StatusError,
    limit_exceeded,
)
from chatiere.service.guards.sizes import MAX_METADATA
from chatiere.service.ports.fast.shared import SharedConnection

if TYPE_CHECKING:
    from chatiere.http2.server import Call

# The maximum number of requests of a call that wait, as in http2/connection.h.
_MAX_WAITING = 16384
_ENCODED = Status(code_pb2.UNIMPLEMENTED, message="compressed messages are not supported at this door")
_WORDS = {
    "timeout": "invalid grpc-timeout",
    "prefix": "the prefix of a message is neither 0 nor 1",
    "breaks_off": "the last message is incomplete",
}


def error_of(largest: Sequence[int], wire: Call | SharedConnection) -> Exception:
    """Return the error for a call's fault. `largest`: the maximum size of requests in bytes, for each path."""
    if isinstance(wire, SharedConnection):
        assert wire.fault is not None
        return wire.fault
    name = wire.fault
    if name == "encoding":
        return StatusError(_ENCODED)
    if name == "compressed":
        return StatusError(UNNAMED_COMPRESSION)
    if name == "size":
        return limit_exceeded("bytes of a request", largest[wire.path])
    if name == "count":
        return limit_exceeded("requests ahead of their responses", _MAX_WAITING)
    if name == "headers":
        return limit_exceeded("bytes of metadata", MAX_METADATA)
    return Refusal(ServiceReason.MALFORMED_REQUEST, _WORDS[name], metadata={})
