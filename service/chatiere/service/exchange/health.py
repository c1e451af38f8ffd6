"""The health service, for all doors of a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial

from google.rpc import code_pb2
from grpc_health.v1.health import SERVICE_NAME
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from chatiere.service.base.errors import Status, StatusError
from chatiere.service.exchange.methods import Feed
from chatiere.service.guards.limits import CallSlots

HEALTH_SERVICE: str = SERVICE_NAME
# The maximum number of health watches of a worker. Health watches need no token.
WATCHES = 256

# gRPC's clients take this code to mean that the service is healthy, and do not retry. After any other code, they retry
# immediately.
_CROWDED = Status(code_pb2.UNIMPLEMENTED, message=f"too many health watches (at most {WATCHES}): use Check")
_UNKNOWN = Status(code_pb2.NOT_FOUND, message="unknown service")


class Health:
    """The status of each service, and of the server as a whole (""). All methods may be called from any thread."""

    def __init__(self, services: Iterable[str]) -> None:
        """Create the statuses of services, all SERVING."""
        self._statuses = dict.fromkeys((*services, ""), HealthCheckResponse.SERVING)
        self._slots = CallSlots(WATCHES)
        # The lock is reentrant, because a feed that has already ended calls `_forget` immediately.
        self._lock = threading.RLock()
        self._watches: dict[Feed, str] = {}
        self._is_stopping = False

    def check(self, request: bytes) -> bytes:
        """Handle a Check request. Raises StatusError (NOT_FOUND)."""
        status = self._statuses.get(_service_in(request))
        if status is None:
            raise StatusError(_UNKNOWN)
        return _response(status)

    def watch(self, request: bytes, feed: Feed) -> Callable[[], None]:
        """Send the status of a service, and its changes, until the server stops or another watch needs the slot."""
        service = _service_in(request)
        with self._lock:
            self._watches[feed] = service
            feed.send(_response(self._statuses.get(service, HealthCheckResponse.SERVICE_UNKNOWN)))
            if self._is_stopping:
                feed.end()
        self._slots.take(feed.origin, feed, partial(feed.cut, StatusError(_CROWDED)))
        return partial(self._forget, feed)

    def set(self, service: str, status: HealthCheckResponse.ServingStatus) -> None:
        """Change the status of a service, unless the server is stopping."""
        with self._lock:
            if not self._is_stopping:
                self._set(service, status)

    def stop(self) -> None:
        """Report NOT_SERVING for all services from now on, and end all watches."""
        with self._lock:
            for service in self._statuses:
                self._set(service, HealthCheckResponse.NOT_SERVING)
            self._is_stopping = True
            for feed in list(self._watches):
                feed.end()

    def _set(self, service: str, status: HealthCheckResponse.ServingStatus) -> None:
        if self._statuses.get(service) == status:
            return
        self._statuses[service] = status
        for feed, watched in list(self._watches.items()):
            if watched == service:
                feed.send(_response(status))

    def _forget(self, feed: Feed) -> None:
        with self._lock:
            self._watches.pop(feed, None)
        self._slots.release(feed.origin, feed)


def _service_in(request: bytes) -> str:
    service: str = HealthCheckRequest.FromString(request).service
    return service


def _response(status: HealthCheckResponse.ServingStatus) -> bytes:
    data: bytes = HealthCheckResponse(status=status).SerializeToString()
    return data
