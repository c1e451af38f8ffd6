"""The port for browsers: its sockets and connections. It runs in the serving loop."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from email.utils import formatdate
from functools import partial

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import MethodOptions

from chatiere.service.base.files import WatchedFiles
from chatiere.service.base.settings import Settings, split_address
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.making import exchanges_of
from chatiere.service.exchange.methods import LARGE, BatchMethod, FeedMethod, Pool, SingleMethod
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.memory import look_regularly
from chatiere.service.guards.sizes import largest_request
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.asyncio_loop import AsyncioLoop
from chatiere.service.ports.listening import listening_sockets
from chatiere.service.ports.methods import BOT_SERVICE, GAME_SERVICE, TABLE_SERVICE, Methods
from chatiere.service.ports.tls import Certificates
from chatiere.service.ports.web.acceptor import Acceptor
from chatiere.service.ports.web.app import WebApp
from chatiere.service.ports.web.calls import Route
from chatiere.service.ports.web.connection import PortState
from chatiere.service.ports.web.json_form import JsonForm
from chatiere.service.ports.web.pages import Pages

# The time in seconds between two checks of the connections.
_LOOK = 1.0
# The time in seconds after the grace period in which clients can still receive output.
_LAST_SECONDS = 1.0
# The memory of a connection, including its buffers, in bytes.
_OF_CONNECTION = 32 * 1024
# A second copy of a large response stays in memory until the client has received the response.
_COST = Cost(small=LARGE, copies=2, of_call=0)
# The time in seconds for which clients may cache responses to GET.
_FRESH = 3600
_SERVICES = (GAME_SERVICE, BOT_SERVICE, TABLE_SERVICE)


class WebPort:
    """The port. It can be started and stopped once."""

    def __init__(
        self,
        settings: Settings,
        address: str,
        guards: Guards,
        methods: Methods,
        certificates: WatchedFiles[Certificates] | None,
        *,
        share_port: bool,
        connections: int,
    ) -> None:
        """Listen on an address. The port does not respond before `start`.

        Args:
            settings: The settings of the server.
            address: The address.
            guards: The guards of the worker.
            methods: The methods of the server.
            certificates: The certificates for new connections, or None for no TLS.
            share_port: True if other processes may also listen on the port.
            connections: The maximum number of connections.

        Raises:
            SettingError: For web_address or traces, if the setting cannot be used.
        """
        traces = CallTraces() if settings.traces else None
        self.door = Door(settings, guards, traces, _COST, lambda wire: wire.fault)
        """The state shared by the calls."""
        hosts = (split_address(address)[0].lower(), *settings.web_hosts)
        self._app = WebApp(
            AsyncioLoop(),
            _routes_of(self.door, methods),
            partial(methods.count_unknown, guards),
            Pages(frame_ancestors=settings.web_frame_ancestors),
            hosts,
            settings.web_origins,
        )
        self._state = PortState(self._app.serve, settings.request_timeout)
        listening = listening_sockets("web_address", address, share_port=share_port)
        self.port: int = listening[0].getsockname()[1]
        """The number of the port."""
        self._acceptor = Acceptor(
            self._state,
            listening,
            connections,
            lambda: None if certificates is None else certificates.current().context,
        )
        self._looking: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start to respond."""
        door = self.door
        look = look_regularly(lambda: door.look_at_memory(self._state.held), (door.half_open, door.streams))
        self._looking = [asyncio.create_task(self._look()), asyncio.create_task(look)]

    async def stop(self, grace: float | None) -> None:
        """Let calls in flight finish, and cancel calls that last longer than `grace` seconds. None means 0."""
        self._app.is_stopping = True
        self.door.drain()
        await self._acceptor.close()
        for connection in list(self._state.connections):
            connection.shut_down()
        if not await self._are_gone(grace or 0.0):
            for connection in list(self._state.connections):
                connection.cut()
            if not await self._are_gone(_LAST_SECONDS):
                for connection in list(self._state.connections):
                    connection.transport.abort()
        for task in self._looking:
            task.cancel()

    async def _are_gone(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._state.emptied()
        return not self._state.connections

    @property
    def known(self) -> int:
        """The memory of the port's connections and requests, in bytes."""
        return self._state.held + _OF_CONNECTION * self.connections

    @property
    def connections(self) -> int:
        """The number of the port's connections."""
        return len(self._state.connections)

    async def _look(self) -> None:
        while True:
            self._state.date = f"date: {formatdate(time.time(), usegmt=True)}\r\n"
            self._state.look()
            if not self._app.is_stopping:
                self._acceptor.accept()
            await asyncio.sleep(min(_LOOK, self.door.settings.request_timeout / 4))


def _routes_of(door: Door, methods: Methods) -> dict[str, Route]:
    batches = [each for each in methods.batches if each.method.service in _SERVICES]
    served: list[SingleMethod | BatchMethod | FeedMethod] = [*methods.singles, methods.check, *batches, *methods.feeds]
    return {each.path: _route(door, each, methods.pool) for each in served}


def _route(door: Door, served: SingleMethod | BatchMethod | FeedMethod, pool: Pool) -> Route:
    settings, method = door.settings, served.method
    described = descriptor_pool.Default().FindServiceByName(method.service).methods_by_name[method.name]
    kept = ""
    if described.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS:
        kept = f"{'public' if settings.tokens is None else 'private'}, max-age={_FRESH}"
    return Route(
        exchanges_of(door, served),
        JsonForm(described.input_type.full_name, described.output_type.full_name),
        largest_request(served.path, settings.max_message_bytes),
        None if isinstance(served, FeedMethod) else pool,
        kept,
    )
