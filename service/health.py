"""Health checks: gRPC's own servicer, with watches that end when the server stops."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from grpc_health.v1 import health
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from chatiere.service.limits import Room

HEALTH_SERVICE = health.SERVICE_NAME
# Watches of the health that a worker holds open: they need no token.
_WATCHES = 256


class HealthServicer(health.aio.HealthServicer):  # type: ignore[misc]
    """The health of the services."""

    def __init__(self) -> None:
        """No service yet."""
        super().__init__()
        self._room = Room(_WATCHES)

    async def Watch(self, request: HealthCheckRequest, context: Any) -> AsyncIterator[HealthCheckResponse]:
        """Tell the status of a service, and each change of it; the last one is NOT_SERVING."""
        told: asyncio.Queue[HealthCheckResponse | None] = asyncio.Queue()

        class Told:
            async def write(self, response: HealthCheckResponse) -> None:
                told.put_nowait(response)

        watching = asyncio.create_task(super().Watch(request, Told()))
        client = context.peer().rpartition(":")[0]
        self._room.enter(client, watching, lambda: told.put_nowait(None))
        try:
            while (response := await told.get()) is not None:
                yield response
                if response.status == HealthCheckResponse.NOT_SERVING:
                    return
        finally:
            self._room.leave(client, watching)
            watching.cancel()
