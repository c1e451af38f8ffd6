"""A server in one process: its parts, and the serving loop."""

# This import is needed because some of gRPC's types can be subscripted only in annotations.
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

from chatiere.bots.tree import tree_bytes
from chatiere.service.base.files import WatchedFiles
from chatiere.service.base.heartbeat import Heartbeat
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings, unix_path
from chatiere.service.exchange.health import Health
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.connections import connections_of, open_files
from chatiere.service.guards.logs import DroppedLines
from chatiere.service.guards.memory import MemoryWatch
from chatiere.service.guards.sizes import MAX_METADATA
from chatiere.service.guards.traces import TraceInterceptor
from chatiere.service.ports.fast.port import FastPort
from chatiere.service.ports.fast.routes import create_fast_port
from chatiere.service.ports.grpc_handlers import Handlers
from chatiere.service.ports.listening import count_of, place_for
from chatiere.service.ports.methods import Methods, services_of
from chatiere.service.ports.tls import Certificates, server_credentials, watched_certificates
from chatiere.service.tables.keys import Keyring

if TYPE_CHECKING:
    from chatiere.service.ports.web.port import WebPort

_log = logging.getLogger(__name__)

# The time in seconds between two checks in the serving loop, unless the supervisor needs more frequent heartbeats.
_INTERVAL = 1.0
# With more connections, a thread counts the open files.
_FEW_CONNECTIONS = 200
# The maximum number of calls in flight on a connection, and of calls on all connections that gRPC has not reported.
_MAX_CALLS_OF_A_CONNECTION, _MAX_PENDING_REQUESTS = 256, 1_000_000
# The minimum time limit for a handshake in seconds, even if requests have a shorter limit. Then the time in
# milliseconds after which a connection without calls is closed.
_LEAST_HANDSHAKE, _IDLE = 1.0, 300_000
# The time in milliseconds without data after which a client is pinged, and within which it must respond to the ping.
_PING_AFTER, _PING_TIMEOUT = 60_000, 20_000
# The number of milliseconds that means no limit in gRPC.
_NO_LIMIT = 2**31 - 1
# The minimum interval in milliseconds between two pings from a client that receives no data, and the number of pings
# that may arrive earlier. A client may ping every second (docs/operations.md), but the network may deliver two pings
# closer together.
_LEAST_PING, _EARLY_PINGS = 500, 2
# The size of metadata in bytes above which gRPC itself refuses a call. Above MAX_METADATA, the handlers refuse it.
_MAX_METADATA = 4 * MAX_METADATA
# The memory of a TLS connection of gRPC, in bytes.
_OF_CONNECTION = 64 * 1024
# The memory of a stream or a follower at grpcio's port, in bytes. `make bench` measures it for rooms.
_OF_LASTING = 28 * 1024


class Server:
    """A gRPC server with health, the fast door and the web door. Its event loop runs in a separate thread.

    The methods that start and stop the server are like the methods of grpc.Server.
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
        """The RPC methods that the ports serve."""
        self.handlers: Handlers
        """The handlers of grpcio for all paths."""
        self._fast: FastPort | None = None
        self._web: WebPort | None = None
        # The estimated number of gRPC's connections.
        self._connections = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._stops: list[asyncio.Task[None]] = []
        self._ended = threading.Event()
        self._loop = uvloop.new_event_loop()
        threading.Thread(target=self._run, name="serving loop", daemon=True).start()
        try:
            self.port: int = self._do(self._build(share_port)).result()
            """The number of the port on which the server listens, or 1 for a Unix socket."""
        except BaseException:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._ended.wait()
            raise

    @property
    def fast_port(self) -> int | None:
        """The number of the port of `fast_address`, or None without that setting, or 0 for a Unix socket."""
        return None if self._fast is None else self._fast.port

    @property
    def web_port(self) -> int | None:
        """The number of the port of `web_address`, or None without that setting."""
        return None if self._web is None else self._web.port

    @property
    def known(self) -> int:
        """The size in bytes of connections, streams, followers, requests at the two other doors, rooms and searches."""
        lasting = _OF_LASTING * len(self.handlers.door.lasting)
        others = sum(door.known for door in (self._fast, self._web) if door is not None)
        rooms = 0 if self.methods.relay is None else self.methods.relay.size
        return _OF_CONNECTION * self._connections + lasting + others + rooms + tree_bytes()

    def start(self) -> None:
        """Start serving calls."""
        self._do(self._serve()).result()
        if self._fast is not None:
            self._fast.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Report NOT_SERVING, refuse new calls, and end calls in flight after a grace period.

        Args:
            grace: The grace period in seconds, or None for 0.

        Returns:
            An event that is set when all calls have ended.
        """
        if not self._ended.is_set():
            # End the health watches before the ports end the other calls.
            self._health.stop()
            fast_ended = None if self._fast is None else self._fast.stop(grace)
            # Ignore the error if the loop is just ending.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._begin_stop, grace, fast_ended)
        return self._ended

    def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until the server has stopped or failed. Return True if it still runs after `timeout` seconds."""
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
                # Without this option, two servers could share a port unnoticed.
                ("grpc.so_reuseport", int(share_port)),
                # Pings detect machines that have disappeared, so that their connections and streams are closed.
                ("grpc.keepalive_time_ms", _PING_AFTER),
                # This replaces grpc.keepalive_timeout_ms, because gRPC (1.85) does not apply it.
                ("grpc.http2.ping_timeout_ms", _PING_TIMEOUT),
                ("grpc.keepalive_permit_without_calls", 1),
                # By default, gRPC allows a client only one ping in five minutes.
                ("grpc.http2.min_ping_interval_without_data_ms", _LEAST_PING),
                ("grpc.http2.max_ping_strikes", _EARLY_PINGS),
                # gRPC applies this limit separately to each IP address on which it listens.
                ("grpc.max_allowed_incoming_connections", connections // count_of(settings.address)),
                ("grpc.server_handshake_timeout_ms", round(1000 * max(settings.request_timeout, _LEAST_HANDSHAKE))),
                ("grpc.max_connection_idle_ms", _IDLE),
                # gRPC varies the age by 10 %.
                ("grpc.max_connection_age_ms", _milliseconds(settings.max_connection_age)),
                ("grpc.max_connection_age_grace_ms", _milliseconds(settings.connection_age_grace)),
                # With a header compression table, a client could expand one byte to kilobytes of headers.
                ("grpc.http2.hpack_table_size.decoder", 0),
                # By default, gRPC randomly refuses calls whose metadata exceeds half of the limit.
                ("grpc.max_metadata_size", _MAX_METADATA),
                ("grpc.absolute_max_metadata_size", _MAX_METADATA),
                # Additional calls on a connection wait at the client, so that other connections get a turn soon.
                ("grpc.max_concurrent_streams", _MAX_CALLS_OF_A_CONNECTION),
                # By default, gRPC ends random calls of any client when many calls begin at the same time.
                ("grpc.server.max_pending_requests", _MAX_PENDING_REQUESTS),
                ("grpc.server.max_pending_requests_hard_limit", _MAX_PENDING_REQUESTS),
            ],
        )
        # gRPC's thread that passes events to loops. The set is empty if another server in this process started the
        # thread.
        self._pollers = set(threading.enumerate()) - before
        self.methods = Methods(settings, self._metrics, self._health, self._table_keys)
        self.handlers = Handlers(settings, self._metrics, self._guards, self.methods)
        self._server.add_generic_rpc_handlers((self.handlers,))
        certificates = watched_certificates(settings, self._metrics)
        port = _bind(self._server, settings, certificates)
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
                certificates,
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
            # The process is a worker, so all of its memory belongs to the server.
            door = self.handlers.door
            watch = MemoryWatch(
                self._guards.budget,
                self._settings.max_message_bytes,
                (door.half_open, door.streams),
                lambda: self.known,
            )
            work.append(watch.run())
        if self._settings.stream_idle_timeout:
            work.append(self._end_idle_streams())
        if self.methods.relay is not None:
            from chatiere.service.rooms.relay import announce_presence, look_after_rooms

            work += [look_after_rooms(self.methods.relay), announce_presence(self.methods.relay)]
        self._tasks = [asyncio.create_task(each) for each in work]

    async def _look_after_itself(self, idle: int) -> None:
        # `idle`: the number of files that are open without connections.
        interval = _INTERVAL if self._heartbeat is None else self._heartbeat.interval
        dropped = DroppedLines(self._metrics.log_lines_dropped)
        while all(poller.is_alive() for poller in self._pollers):
            # Send a heartbeat only if the fast door's loop also runs.
            if self._heartbeat is not None and (self._fast is None or self._fast.has_turned()):
                self._heartbeat.beat()
            ports = (self.handlers, self._fast, self._web)
            self._metrics.half_open.set(sum(len(port.door.half_open) for port in ports if port is not None))
            self._metrics.held_bytes.set(self._guards.budget.held)
            self._metrics.search_bytes.set(tree_bytes())
            dropped.update()
            self._metrics.tasks.set(len(asyncio.all_tasks()))
            # Estimate the number of gRPC's connections, because gRPC does not report it.
            is_long = self._connections > _FEW_CONNECTIONS
            files = await asyncio.to_thread(open_files) if is_long else open_files()
            others = sum(door.connections for door in (self._fast, self._web) if door is not None)
            self._connections = max(0, files - others - idle)
            await asyncio.sleep(interval)
        _log.error("gRPC's poller has ended: no more calls can be served")
        self._loop.stop()

    async def _end_idle_streams(self) -> None:
        idle = self.methods.streams.idle
        assert idle is not None
        while True:
            await asyncio.sleep(min(_INTERVAL, self._settings.stream_idle_timeout / 4))
            idle.end_late()

    async def _end_with_grpc(self) -> None:
        # Stop the loop if gRPC's server ends by itself because of a failure.
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
        # The batches in flight have already been cancelled.
        await asyncio.to_thread(self.methods.close)
        for task in self._tasks:
            task.cancel()
        self._loop.stop()


def _milliseconds(seconds: float) -> int:
    # Convert an age in seconds, where 0 means no limit, to gRPC's form.
    return min(max(round(1000 * seconds), 1), _NO_LIMIT) if seconds else _NO_LIMIT


def create_server(
    settings: Settings,
    registry: CollectorRegistry,
    *,
    share_port: bool = False,
    heartbeat: Heartbeat | None = None,
    table_key: bytes | None = None,
) -> tuple[Server, int]:
    """Create a server in this process, without starting it.

    Args:
        settings: The settings. `metrics_address`, `workers` and `log_…` apply only to the supervisor.
        registry: The registry for the server's metrics.
        share_port: True if other processes may also listen on the port.
        heartbeat: The heartbeat that the serving loop sends while it runs, or None for no heartbeat.
        table_key: The key of sealed tables (32 bytes) if the settings have no key file, or None for a random key.

    Returns:
        The server, and the port on which it listens.

    Raises:
        SettingError: If the settings cannot be applied.
    """
    server = Server(settings, registry, share_port=share_port, heartbeat=heartbeat, table_key=table_key)
    return server, server.port


def _web_port(
    settings: Settings,
    address: str,
    guards: Guards,
    methods: Methods,
    certificates: WatchedFiles[Certificates] | None,
    *,
    share_port: bool,
    connections: int,
) -> WebPort:
    try:
        from chatiere.service.ports.web.port import WebPort
    except ImportError as error:
        raise SettingError("web_address", f"missing packages: pip install 'chatiere[web]' ({error})") from error
    return WebPort(settings, address, guards, methods, certificates, share_port=share_port, connections=connections)


def _bind(server: grpc.aio.Server, settings: Settings, certificates: WatchedFiles[Certificates] | None) -> int:
    address = settings.address
    try:
        with place_for("address", address):
            if certificates is None:
                return server.add_insecure_port(address)
            return server.add_secure_port(address, server_credentials(settings, certificates))
    except RuntimeError as error:
        in_tcp = "the address is in use, or is not an address of this machine"
        in_unix = "its folder is missing or cannot be written to"
        reason = in_tcp if unix_path(address) is None else in_unix
        raise SettingError("address", f"cannot listen on {address}: {reason}") from error
