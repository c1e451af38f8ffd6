"""The port for browsers: its sockets and connections. It lives in the serving loop."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Executor
from contextlib import suppress
from email.utils import formatdate

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import MethodOptions
from uvicorn import Config

from chatiere.service.base.settings import Settings, split_address
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import LEAST_AGE, EndedCalls, most_of_parts
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.handlers import BatchHandler, SingleHandler
from chatiere.service.ports.listening import listening_sockets
from chatiere.service.ports.methods import BOT_SERVICE, GAME_SERVICE, TABLE_SERVICE, BatchMethod, Methods, SingleMethod
from chatiere.service.ports.tls import ServerContext
from chatiere.service.ports.web.acceptor import Acceptor
from chatiere.service.ports.web.app import WebApp
from chatiere.service.ports.web.calls import Door, Exchange, Route
from chatiere.service.ports.web.connection import PortState
from chatiere.service.ports.web.json_form import JsonForm
from chatiere.service.ports.web.pages import Pages

_log = logging.getLogger(__name__)

# uvicorn's logger tells of every request that is none; its errors are of interest.
logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
# Seconds that a connection may be without a request.
_IDLE = 75
# Seconds between two looks at the connections, and at the memory of requests that have come in part.
_LOOK, _MEMORY_LOOK = 1.0, 0.1
# A client that holds a smaller part of them loses no call.
_FEW = 16
# Bytes that a connection takes, its buffers included.
_OF_CONNECTION = 32 * 1024
_SERVICES = (GAME_SERVICE, BOT_SERVICE, TABLE_SERVICE)


class WebPort:
    """The port: start it, and stop it once."""

    def __init__(
        self,
        settings: Settings,
        address: str,
        guards: Guards,
        methods: Methods,
        *,
        share_port: bool,
        connections: int,
    ) -> None:
        """Listen on an address, without answering yet; `connections`: at a time.

        Raises SettingError: web_address, tls_…, traces.
        """
        self._context = ServerContext(settings) if settings.tls_certificate else None
        traces = CallTraces() if settings.traces else None
        self.half_open = CallSlots(settings.max_calls)
        """The calls whose request has not come whole."""
        door = Door(settings, guards, self.half_open, traces)
        hosts = (split_address(address)[0].lower(), *settings.web_hosts)
        self._app = WebApp(door, _routes_of(methods), methods.count_unknown, Pages(), hosts)
        config = Config(
            self._app,
            log_config=None,
            access_log=False,
            ws="none",
            lifespan="off",
            server_header=False,
            # Whoever is behind a proxy is not told by headers that anybody may send.
            proxy_headers=False,
            timeout_keep_alive=_IDLE,
        )
        config.load()
        self._state = PortState(config, self._app, settings.request_timeout)
        self._settings = settings
        listening = listening_sockets("web_address", address, share_port=share_port)
        self.port: int = listening[0].getsockname()[1]
        """The number of the port."""
        self._acceptor = Acceptor(
            self._state, listening, connections, lambda: None if self._context is None else self._context.current
        )
        self._looking: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to answer."""
        self._looking = [asyncio.create_task(self._look()), asyncio.create_task(self._look_at_memory())]

    async def stop(self, grace: float | None) -> None:
        """Let calls in flight finish, and cut those that last longer than `grace` seconds (None: 0)."""
        self._app.is_stopping = True
        await self._acceptor.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace or 0.0):
                await self._state.emptied()
        for task in list(self._state.tasks):
            task.cancel()
        if self._state.tasks:
            await asyncio.wait(list(self._state.tasks))
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in self._looking:
            task.cancel()

    @property
    def known(self) -> int:
        """The bytes of memory that its connections and requests take."""
        return self._held + _OF_CONNECTION * self.connections

    @property
    def connections(self) -> int:
        """The number of its connections."""
        return len(self._state.connections)

    @property
    def _held(self) -> int:
        return sum(exchange.received for exchange in self._app.exchanges)

    async def _look(self) -> None:
        while True:
            self._state.default_headers = [(b"date", formatdate(time.time(), usegmt=True).encode())]
            self._state.look()
            if self._context is not None:
                self._context.renew()
            if not self._app.is_stopping:
                self._acceptor.accept()
            await asyncio.sleep(min(_LOOK, self._settings.request_timeout / 4))

    async def _look_at_memory(self) -> None:
        most = most_of_parts(self._settings.max_message_bytes)
        ended = EndedCalls(_log, "requests under way")
        while True:
            await asyncio.sleep(_MEMORY_LOOK)
            if (held := self._held) > most:
                weight, client, calls = self.half_open.largest(LEAST_AGE, _received)
                if weight > most // _FEW:
                    self.half_open.end(client, calls)
                    ended.add(len(calls), held)
            ended.tell()


def _received(exchange: Exchange) -> int:
    return exchange.received


def _routes_of(methods: Methods) -> list[Route]:
    singles = [_route(each, methods.side_threads, each.handle, None) for each in methods.singles]
    batches = [each for each in methods.batches if each.method.service in _SERVICES]
    return singles + [_route(each, methods.batch_threads, None, each.handle) for each in batches]


def _route(
    found: SingleMethod | BatchMethod, threads: Executor, single: SingleHandler | None, batch: BatchHandler | None
) -> Route:
    method = found.method
    described = descriptor_pool.Default().FindServiceByName(method.service).methods_by_name[method.name]
    form = JsonForm(described.input_type.full_name, described.output_type.full_name)
    has_no_side_effects = described.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS
    return Route(found.path, method, form, threads, single, batch, has_no_side_effects)
