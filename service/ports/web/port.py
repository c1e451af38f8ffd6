"""The port for browsers: its sockets and connections. It lives in the serving loop."""

from __future__ import annotations

import asyncio
import logging
import resource
import ssl
import time
from asyncio import AbstractServer
from concurrent.futures import Executor
from contextlib import suppress
from email.utils import formatdate

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import MethodOptions
from uvicorn import Config

from chatiere.service.guards.chain import Guards
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import LEAST_AGE, most_of_parts
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.handlers import BatchHandler, SingleHandler
from chatiere.service.ports.listening import listening_sockets
from chatiere.service.ports.methods import BOT_SERVICE, GAME_SERVICE, TABLE_SERVICE, BatchMethod, Methods, SingleMethod
from chatiere.service.ports.tls import ServerContext
from chatiere.service.ports.web.app import WebApp
from chatiere.service.ports.web.calls import Door, Exchange, Route
from chatiere.service.ports.web.connection import Connection, PortState
from chatiere.service.ports.web.json_form import JsonForm
from chatiere.service.ports.web.pages import Pages
from chatiere.service.process.settings import Settings

_log = logging.getLogger(__name__)

# uvicorn's logger tells of every request that is none; its errors are of interest.
logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
# Connections of a worker at a time, as far as it may open so many files: when there are more, the address that has most
# loses its oldest.
_CONNECTIONS = 10_000
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

    def __init__(self, settings: Settings, address: str, guards: Guards, methods: Methods, *, share_port: bool) -> None:
        """Listen on an address, without answering yet. Raises SettingError: web_address, tls_…, traces."""
        self._context = ServerContext(settings) if settings.tls_certificate else None
        traces = CallTraces() if settings.traces else None
        self.half_open = CallSlots(settings.max_calls)
        """The calls whose request has not come whole."""
        door = Door(settings, guards, self.half_open, traces)
        self._app = WebApp(door, _routes_of(methods), methods.count_unknown, Pages())
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
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        slots = CallSlots(min(_CONNECTIONS, files // 2))
        self._state = PortState(config, self._app, slots, settings.request_timeout)
        self._settings = settings
        self._listening = listening_sockets("web_address", address, share_port=share_port)
        self.port: int = self._listening[0].getsockname()[1]
        """The number of the port."""
        self._servers: list[AbstractServer] = []
        self._looking: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to answer."""
        self._looking = [asyncio.create_task(self._look()), asyncio.create_task(self._look_at_memory())]
        self._servers = await self._serve(None if self._context is None else self._context.current)

    async def stop(self, grace: float | None) -> None:
        """Let calls in flight finish, and cut those that last longer than `grace` seconds (None: 0)."""
        self._app.is_stopping = True
        for server in self._servers:
            server.close()
        for listening in self._listening:
            listening.close()
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
        return self._held + _OF_CONNECTION * len(self._state.connections)

    @property
    def _held(self) -> int:
        return sum(exchange.received for exchange in self._app.exchanges)

    async def _serve(self, context: ssl.SSLContext | None) -> list[AbstractServer]:
        # Each server gets sockets of its own, so that another one may take over.
        loop = asyncio.get_running_loop()
        timeout = None if context is None else self._settings.request_timeout
        return [
            await loop.create_server(
                lambda: Connection(self._state), sock=each.dup(), ssl=context, ssl_handshake_timeout=timeout
            )
            for each in self._listening
        ]

    async def _look(self) -> None:
        while True:
            self._state.default_headers = [(b"date", formatdate(time.time(), usegmt=True).encode())]
            self._state.look()
            if self._context is not None and self._context.has_changed():
                before, self._servers = self._servers, await self._serve(self._context.current)
                for server in before:
                    server.close()
            await asyncio.sleep(min(_LOOK, self._settings.request_timeout / 4))

    async def _look_at_memory(self) -> None:
        most = most_of_parts(self._settings.max_message_bytes)
        while True:
            await asyncio.sleep(_MEMORY_LOOK)
            if (held := self._held) > most:
                weight, client, calls = self.half_open.largest(LEAST_AGE, _received)
                if weight > most // _FEW:
                    self.half_open.end(client, calls)
                    _log.warning("requests under way take %d MiB: ended %d calls", held >> 20, len(calls))


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
