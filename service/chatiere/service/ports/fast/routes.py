"""The methods that the fast door has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from chatiere.service.base.settings import Settings
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.fast.calls import Batch, Single
from chatiere.service.ports.fast.endings import Door, unknown
from chatiere.service.ports.fast.health import Health
from chatiere.service.ports.fast.port import FastPort
from chatiere.service.ports.fast.streams import Streams
from chatiere.service.ports.health import HEALTH_SERVICE
from chatiere.service.ports.methods import SERVICES, Methods

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall


def create_fast_port(
    settings: Settings, address: str, guards: Guards, methods: Methods, *, share_port: bool, connections: int
) -> FastPort:
    """Return the port for a server's methods, listening but not started. Raises SettingError: fast_address, traces."""
    port = FastPort(settings, address, share_port=share_port, connections=connections)
    door = Door(port, guards, settings, CallTraces() if settings.traces else None)
    port.route(_routes_of(door, methods), unknown(door, methods.unknown))
    return port


def _routes_of(door: Door, methods: Methods) -> dict[str, Callable[[WireCall], None]]:
    routes: dict[str, Callable[[WireCall], None]] = {}
    for single in methods.singles:
        routes[single.path] = Single(door, single.method, single.handle, methods.side_threads)
    for batch in methods.batches:
        routes[batch.path] = Batch(door, batch.method, batch.handle, methods.batch_threads)
    play = methods.play
    routes[play.path] = Streams(door, play.method, play.handle, methods.stream_threads)
    health = Health(door, methods.health_method("Check"), methods.health_method("Watch"), frozenset(SERVICES))
    return routes | {f"/{HEALTH_SERVICE}/Check": health.check, f"/{HEALTH_SERVICE}/Watch": health.watch}
