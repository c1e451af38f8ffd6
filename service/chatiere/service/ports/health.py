"""Health checks: grpcio's own servicer, with watches that end when the server stops."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from grpc_health.v1 import health
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from chatiere.service.guards.limits import CallSlots, origin_of

HEALTH_SERVICE = health.SERVICE_NAME
# Health watches that a worker holds open; they need no token.
WATCHES = 256


class _Watch:
    """The context of a watch, as far as the library's servicer needs it."""

    def __init__(self) -> None:
        # None ends them.
        self.responses: asyncio.Queue[HealthCheckResponse | None] = asyncio.Queue()
        self._status = HealthCheckResponse.UNKNOWN

    async def write(self, response: HealthCheckResponse) -> None:
        self._status = response.status
        self.responses.put_nowait(response)

    def end(self) -> None:
        self.responses.put_nowait(None)

    def stop(self) -> None:
        # The library notifies its watches one after another, which may be too late.
        if self._status == HealthCheckResponse.SERVING:
            self.responses.put_nowait(HealthCheckResponse(status=HealthCheckResponse.NOT_SERVING))
        self.end()


class HealthServicer(health.aio.HealthServicer):  # type: ignore[misc]
    """The health service, with a bounded number of watches."""

    def __init__(self) -> None:
        """Know no service yet."""
        super().__init__()
        self._slots = CallSlots(WATCHES)
        self._watches: set[_Watch] = set()

    async def Watch(self, request: HealthCheckRequest, context: Any) -> AsyncIterator[HealthCheckResponse]:
        """Send the status of a service, and each change of it, until the server stops."""
        watch = _Watch()
        client = origin_of(context.peer())
        self._slots.take(client, watch, watch.end)
        self._watches.add(watch)
        watching = asyncio.create_task(super().Watch(request, watch))
        try:
            while (response := await watch.responses.get()) is not None:
                yield response
        finally:
            watching.cancel()
            self._watches.discard(watch)
            self._slots.release(client, watch)

    async def enter_graceful_shutdown(self) -> None:
        """Report NOT_SERVING for all services from now on, and end all watches."""
        await super().enter_graceful_shutdown()
        for watch in self._watches:
            watch.stop()
