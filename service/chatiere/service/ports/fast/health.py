"""The health service at the fast door."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from google.rpc import code_pb2
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from chatiere.service.base.errors import CANCELLED, OK, Status
from chatiere.service.guards.chain import Call, Method
from chatiere.service.guards.limits import CallSlots
from chatiere.service.ports.fast.calls import hold_until_delivered, take_unary
from chatiere.service.ports.fast.endings import Door, finish, request_of
from chatiere.service.ports.health import WATCHES

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall


_LATE = Status(code_pb2.DEADLINE_EXCEEDED, message="deadline exceeded")


class Health:
    """The health service's methods; the status of a service is SERVING until the server stops."""

    def __init__(self, door: Door, check: Method, watch: Method, services: frozenset[str]) -> None:
        """Know these services, and the server as a whole, ""."""
        self._door, self._check, self._watch = door, check, watch
        self._services = services | {""}
        self._slots = CallSlots(WATCHES)
        self._open: dict[WireCall, tuple[Call, Callable[[], None]]] = {}

    def check(self, wire: WireCall) -> None:
        """Take a call of Check."""
        call = self._door.guards.begin(self._check, wire.peer, wire.metadata)
        take_unary(self._door, wire, call, self._answer_check)

    def _answer_check(self, wire: WireCall, call: Call) -> None:
        service = HealthCheckRequest.FromString(request_of(self._door, wire, wire.take)).service
        if wire.is_behind:
            hold_until_delivered(self._door, wire, call, 0)
        if service not in self._services:
            status = Status(code_pb2.NOT_FOUND, message="unknown service")
            self._door.guards.end(call, status)
            finish(wire, call.request_id, status)
            return
        self._door.guards.end(call)
        wire.answer(self._status_of(service), call.request_id)

    def watch(self, wire: WireCall) -> None:
        """Take a call of Watch."""
        call = self._door.guards.begin(self._watch, wire.peer, wire.metadata)
        take_unary(self._door, wire, call, self._begin_watch)

    def _begin_watch(self, wire: WireCall, call: Call) -> None:
        service = HealthCheckRequest.FromString(request_of(self._door, wire, wire.take)).service
        tell = partial(wire.loop.post, partial(self._tell_stop, wire))
        self._open[wire] = call, tell
        self._slots.take(call.origin, wire, lambda: wire.loop.post(partial(self._end_watch, wire, OK)))
        self._door.port.on_stop.add(tell)
        wire.watch = partial(self._look, wire)
        if wire.timeout is not None:
            wire.loop.after(wire.timeout, partial(self._end_watch, wire, _LATE))
        wire.send([self._status_of(service)])
        if self._door.port.is_stopping:
            self._end_watch(wire, OK)

    def _look(self, wire: WireCall) -> None:
        if wire.is_closed:
            self._end_watch(wire, CANCELLED)

    def _tell_stop(self, wire: WireCall) -> None:
        if wire in self._open:
            wire.send([_response(HealthCheckResponse.NOT_SERVING)])
            self._end_watch(wire, OK)

    def _end_watch(self, wire: WireCall, status: Status) -> None:
        if wire not in self._open:
            return
        call, tell = self._open.pop(wire)
        self._slots.release(call.origin, wire)
        self._door.port.on_stop.discard(tell)
        wire.watch = None
        self._door.guards.end(call, status)
        finish(wire, call.request_id, status)

    def _status_of(self, service: str) -> bytes:
        status = HealthCheckResponse.SERVING
        if service not in self._services:
            status = HealthCheckResponse.SERVICE_UNKNOWN
        elif self._door.port.is_stopping:
            status = HealthCheckResponse.NOT_SERVING
        return _response(status)


def _response(status: HealthCheckResponse.ServingStatus) -> bytes:
    data: bytes = HealthCheckResponse(status=status).SerializeToString()
    return data
