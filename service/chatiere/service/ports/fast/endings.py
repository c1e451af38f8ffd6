"""How calls at the fast door end: their statuses as trailers, and what is wrong with requests."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote

from google.rpc import code_pb2

from chatiere.service.base.errors import Refusal, ServiceReason, Status, limit_exceeded
from chatiere.service.base.settings import Settings
from chatiere.service.guards.chain import REQUEST_ID, Call, Guards, Method
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.fast.port import FastPort

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall

_Request = TypeVar("_Request", bytes, memoryview)

# As in http2/connection.h.
_MOST_WAITING, _MOST_HEADERS = 16384, 16 * 1024
STOPPING = Status(code_pb2.UNAVAILABLE, message="the server stops: begin again, at another one")
_NO_METHOD = Status(code_pb2.UNIMPLEMENTED, message="no such method at this door")
_COMPRESSED = Status(code_pb2.UNIMPLEMENTED, message="compressed messages are not read at this door")
_WORDS = {
    "timeout": "invalid grpc-timeout",
    "prefix": "the prefix of a message is neither 0 nor 1",
    "breaks_off": "the last message breaks off",
}


class Door(NamedTuple):
    """The parts that all calls of the door share; `traces`: None if none are made."""

    port: FastPort
    guards: Guards
    settings: Settings
    traces: CallTraces | None = None

    def begin(self, method: Method, wire: WireCall) -> Call:
        """Take a call to the guards."""
        call: Call = self.guards.begin(method, wire.peer, wire.metadata)
        if self.traces is not None:
            self.traces.begin(call, wire.metadata)
        return call


class _Compressed(Exception):
    """A message is compressed, which this door does not read."""


def refuse(door: Door, wire: WireCall, call: Call, error: Exception) -> None:
    """End a call that raised an error."""
    if isinstance(error, _Compressed):
        door.guards.end(call, _COMPRESSED)
        finish(wire, call.request_id, _COMPRESSED, ("grpc-accept-encoding", "identity"))
    else:
        finish(wire, call.request_id, door.guards.refuse(call, error))


def finish(wire: WireCall, request_id: str, status: Status, *more: tuple[str, str]) -> None:
    """Send the end of a call, with `more` trailers."""
    trailers = [("grpc-status", str(status.code)), (REQUEST_ID, request_id), *more]
    if status.message:
        trailers.append(("grpc-message", quote(status.message, safe=" ,;:=()'!/")))
    if status.details:
        trailers.append(("grpc-status-details-bin", base64.b64encode(status.details).decode().rstrip("=")))
    wire.finish(trailers)


def unknown(door: Door, method: Method) -> Callable[[WireCall], None]:
    """Return what takes the calls of paths that the door does not have, which `method` counts."""

    def take(wire: WireCall) -> None:
        call = door.guards.begin(method, wire.peer, wire.metadata)
        door.guards.end(call, _NO_METHOD)
        finish(wire, call.request_id, _NO_METHOD)

    return take


def request_of(door: Door, wire: WireCall, take: Callable[[], _Request | None]) -> _Request:
    """Take the request of a unary call. Raises Refusal if it is not exactly one."""
    request = take()
    if wire.fault:
        raise fault_of(door, wire)
    if request is None or wire.waiting:
        raise Refusal(ServiceReason.MALFORMED_REQUEST, "this method takes one request message", metadata={})
    return request


def fault_of(door: Door, wire: WireCall) -> Exception:
    """Return what is wrong with a call, as an error for `refuse`."""
    name = wire.fault
    if name == "compressed":
        return _Compressed()
    if name == "size":
        return limit_exceeded("bytes of a request", door.port.largest(wire))
    if name == "count":
        return limit_exceeded("requests ahead of their responses", _MOST_WAITING)
    if name == "headers":
        return limit_exceeded("bytes of metadata", _MOST_HEADERS)
    return Refusal(ServiceReason.MALFORMED_REQUEST, _WORDS[name], metadata={})
