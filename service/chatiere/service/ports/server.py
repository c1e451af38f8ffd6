"""A server in one process: its parts, and the loop that serves."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import uvloop
from prometheus_client import CollectorRegistry

from chatiere.service.base.heartbeat import Heartbeat
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings, unix_path
from chatiere.service.exchange.health import Health
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.connections import connections_of, open_files
from chatiere.service.guards.logs import DroppedLines
from chatiere.service.guards.memory import MemoryWatch
from chatiere.service.guards.traces import TraceInterceptor
from chatiere.service.ports.fast.port import FastPort
from chatiere.service.ports.fast.routes import create_fast_port
from chatiere.service.ports.grpc_handlers import Handlers
from chatiere.service.ports.listening import count_of, place_for
from chatiere.service.ports.methods import Methods, services_of
from chatiere.service.ports.tls import server_credentials
from chatiere.service.rooms.relay import LOOK, Relay
from chatiere.service.tables.keys import Keyring

if TYPE_CHECKING:
    from chatiere.service.ports.web.port import WebPort

_log = logging.getLogger(__name__)

# Seconds between two checks of the loop by itself, where no supervisor asks for more.
_INTERVAL = 1.0
# Calls that one connection may have in flight, and calls of all connections that gRPC has not reported yet.
_MAX_CALLS_OF_A_CONNECTION, _MAX_PENDING_REQUESTS = 256, 1_000_000
# Seconds for a handshake at least, however short the time for a request is; milliseconds that a connection may be
# without a call.
_LEAST_HANDSHAKE, _IDLE = 1.0, 300_000
# Seconds between two checks of the memory: what a network can bring in that time must not matter.
_MEMORY_INTERVAL = 0.1
# Bytes of memory that a connection of gRPC's with TLS takes.
_OF_CONNECTION = 64 * 1024
# Bytes of memory that a stream or a follower takes at grpcio's port: the bench's row of rooms measures it.
_OF_LASTING = 28 * 1024


class Server:
    """A gRPC server, its health, its fast door and that for browsers, served by a loop in a thread of its own.

    Its methods to start and stop are those of grpc.Server.
    """

    def __init__(
        self,
        settings: Settings,
        registry: CollectorRegistry,
        *,
        share_port: bool,
        heartbeat: Heartbeat | None,
        table_key: bytes | None,
    ) -> None:
        """See create_server."""
        self._settings = settings
        self._heartbeat = heartbeat
        self._metrics = Metrics(registry)
        self._guards = Guards(settings, self._metrics)
        rejected = self._metrics.rejected_files.labels("table_keys") if settings.table_keys else None
        self._table_keys = Keyring(settings.table_keys, table_key, rejected)
        self._health = Health(services_of(settings))
        self.methods: Methods
        """The methods of all ports."""
        self.handlers: Handlers
        """grpcio's handlers by path."""
        self._fast: FastPort | None = None
        self._web: WebPort | None = None
        # gRPC's.
        self._connections = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._stops: list[asyncio.Task[None]] = []
        self._ended = threading.Event()
        self._loop = uvloop.new_event_loop()
        threading.Thread(target=self._run, name="serving loop", daemon=True).start()
        try:
            self.port: int = self._do(self._build(share_port)).result()
            """The number of the port that it listens on; 1: a Unix socket."""
        except BaseException:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._ended.wait()
            raise

    @property
    def fast_port(self) -> int | None:
        """The number of the port of `fast_address`; None without one; 0: a Unix socket."""
        return None if self._fast is None else self._fast.port

    @property
    def web_port(self) -> int | None:
        """The number of the port of `web_address`; None without one."""
        return None if self._web is None else self._web.port

    @property
    def known(self) -> int:
        """The bytes of memory that connections, streams, followers, requests of the other doors, and rooms take."""
        lasting = _OF_LASTING * len(self.handlers.door.lasting)
        others = sum(door.known for door in (self._fast, self._web) if door is not None)
        rooms = 0 if self.methods.relay is None else self.methods.relay.size
        return _OF_CONNECTION * self._connections + lasting + others + rooms

    def start(self) -> None:
        """Start to serve calls."""
        self._do(self._serve()).result()
        if self._fast is not None:
            self._fast.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Report NOT_SERVING, refuse new calls, and end those in flight after `grace` seconds (None: at once).

        Returns an event that is set when all calls have ended.
        """
        if not self._ended.is_set():
            # Watches of the health end before ports end what is under way.
            self._health.stop()
            fast_ended = None if self._fast is None else self._fast.stop(grace)
            # The loop may be ending at this moment.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._begin_stop, grace, fast_ended)
        return self._ended

    def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until the server has stopped or failed; return True if it has not after `timeout` seconds."""
        return not self._ended.wait(timeout)

    def _do(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()
            self._ended.set()

    # In the loop

    async def _build(self, share_port: bool) -> int:
        settings = self._settings
        before = set(threading.enumerate())
        others = [each for each in (settings.fast_address, settings.web_address) if each is not None]
        connections = connections_of(1 + len(others))
        self._server = grpc.aio.server(
            interceptors=[TraceInterceptor()] if settings.traces else [],
            options=[
                ("grpc.max_receive_message_length", settings.max_message_bytes),
                # By default two servers could share a port unnoticed.
                ("grpc.so_reuseport", int(share_port)),
                # A connection whose peer has vanished is closed, and its streams with it.
                ("grpc.keepalive_time_ms", 60_000),
                ("grpc.keepalive_timeout_ms", 20_000),
                ("grpc.keepalive_permit_without_calls", 1),
                # gRPC counts by IP address that it listens on, and ends nobody for a new one.
                ("grpc.max_allowed_incoming_connections", connections // count_of(settings.address)),
                ("grpc.server_handshake_timeout_ms", round(1000 * max(settings.request_timeout, _LEAST_HANDSHAKE))),
                ("grpc.max_connection_idle_ms", _IDLE),
                # Without a table of header compression, no byte stands for kilobytes of headers.
                ("grpc.http2.hpack_table_size.decoder", 0),
                # Further calls of a connection wait at the client, so that others soon have a turn.
                ("grpc.max_concurrent_streams", _MAX_CALLS_OF_A_CONNECTION),
                # Otherwise gRPC ends random calls of any client when many begin at once.
                ("grpc.server.max_pending_requests", _MAX_PENDING_REQUESTS),
                ("grpc.server.max_pending_requests_hard_limit", _MAX_PENDING_REQUESTS),
            ],
        )
        # gRPC's thread that hands events to loops; in a process with other servers it may have started before.
        self._pollers = set(threading.enumerate()) - before
        self.methods = Methods(settings, self._metrics, self._health, self._table_keys)
        self.handlers = Handlers(settings, self._metrics, self._guards, self.methods)
        self._server.add_generic_rpc_handlers((self.handlers,))
        port = _bind(self._server, settings, self._metrics)
        if settings.fast_address is not None:
            self._fast = create_fast_port(
                settings,
                settings.fast_address,
                self._guards,
                self.methods,
                share_port=share_port,
                connections=connections,
            )
        if settings.web_address is not None:
            self._web = _web_port(
                settings,
                settings.web_address,
                self._guards,
                self.methods,
                share_port=share_port,
                connections=connections,
            )
        return port

    async def _serve(self) -> None:
        await self._server.start()
        if self._web is not None:
            await self._web.start()
        work = [self._look_after_itself(open_files()), self._end_with_grpc()]
        if self._heartbeat is not None:
            # The process is a worker: all of its memory is the server's.
            work.append(self._look_after_memory())
        if self._settings.stream_idle_timeout:
            work.append(self._end_idle_streams())
        if self.methods.relay is not None:
            work.append(_look_after_rooms(self.methods.relay))
        self._tasks = [asyncio.create_task(each) for each in work]

    async def _look_after_itself(self, idle: int) -> None:
        # `idle`: the files that are open without connections.
        interval = _INTERVAL if self._heartbeat is None else self._heartbeat.interval
        dropped = DroppedLines(self._metrics.log_lines_dropped)
        while all(poller.is_alive() for poller in self._pollers):
            # The door's thread has to be alive, too.
            if self._heartbeat is not None and (self._fast is None or self._fast.has_turned()):
                self._heartbeat.beat()
            ports = (self.handlers, self._fast, self._web)
            self._metrics.half_open.set(sum(len(port.door.half_open) for port in ports if port is not None))
            self._metrics.held_bytes.set(self._guards.budget.held)
            dropped.update()
            self._metrics.tasks.set(len(asyncio.all_tasks()))
            # gRPC does not tell how many connections it has.
            files = await asyncio.to_thread(open_files)
            others = sum(door.connections for door in (self._fast, self._web) if door is not None)
            self._connections = max(0, files - others - idle)
            await asyncio.sleep(interval)
        _log.error("gRPC's poller has ended: calls cannot be served any more")
        self._loop.stop()

    async def _look_after_memory(self) -> None:
        door = self.handlers.door
        watch = MemoryWatch(
            self._guards.budget,
            self._settings.max_message_bytes,
            (door.half_open, door.streams),
            lambda: self.known,
        )
        while True:
            await asyncio.sleep(_MEMORY_INTERVAL)
            watch.look()

    async def _end_idle_streams(self) -> None:
        idle = self.methods.streams.idle
        assert idle is not None
        while True:
            await asyncio.sleep(min(_INTERVAL, self._settings.stream_idle_timeout / 4))
            idle.end_late()

    async def _end_with_grpc(self) -> None:
        # gRPC's server ends by itself if it fails.
        try:
            await self._server.wait_for_termination()
        except Exception:
            _log.exception("gRPC's server has failed")
            self._loop.stop()

    def _begin_stop(self, grace: float | None, fast_ended: threading.Event | None) -> None:
        self._stops.append(self._loop.create_task(self._stop(grace, fast_ended)))

    async def _stop(self, grace: float | None, fast_ended: threading.Event | None) -> None:
        self.handlers.door.drain()
        web_stopped = None if self._web is None else asyncio.create_task(self._web.stop(grace))
        await self._server.stop(grace)
        if web_stopped is not None:
            await web_stopped
        if fast_ended is not None:
            await asyncio.to_thread(fast_ended.wait)
        # Batches in flight were cancelled.
        await asyncio.to_thread(self.methods.close)
        for task in self._tasks:
            task.cancel()
        self._loop.stop()


async def _look_after_rooms(relay: Relay) -> None:
    while True:
        await asyncio.sleep(LOOK)
        relay.look()


def create_server(
    settings: Settings,
    registry: CollectorRegistry,
    *,
    share_port: bool = False,
    heartbeat: Heartbeat | None = None,
    table_key: bytes | None = None,
) -> tuple[Server, int]:
    """Return a server in this process, not yet started, and the port that it listens on.

    Its metrics are registered in `registry`; `metrics_address`, `workers` and `log_…` are settings for `supervisor`.
    `share_port`: let other processes listen on the port too. `heartbeat`: beaten by the serving loop while it runs.
    `table_key`: of sealed tables, 32 bytes, where the settings have no file of keys; None: a random one.
    Raises SettingError if the settings cannot be applied.
    """
    server = Server(settings, registry, share_port=share_port, heartbeat=heartbeat, table_key=table_key)
    return server, server.port


def _web_port(
    settings: Settings, address: str, guards: Guards, methods: Methods, *, share_port: bool, connections: int
) -> WebPort:
    try:
        from chatiere.service.ports.web.port import WebPort
    except ImportError as error:
        raise SettingError("web_address", f"missing packages: pip install 'chatiere[web]' ({error})") from error
    return WebPort(settings, address, guards, methods, share_port=share_port, connections=connections)


def _bind(server: grpc.aio.Server, settings: Settings, metrics: Metrics) -> int:
    credentials = server_credentials(settings, metrics)
    address = settings.address
    try:
        with place_for("address", address):
            if credentials is None:
                return server.add_insecure_port(address)
            return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        in_tcp, in_unix = "address in use, or not of this machine", "its folder is missing or cannot be written to"
        reason = in_tcp if unix_path(address) is None else in_unix
        raise SettingError("address", f"cannot listen on {address}: {reason}") from error
