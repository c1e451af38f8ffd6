"""The port of the fast door: its sockets and its loops.

One loop serves all connections. It checks calls with the guards, and calls the methods of GameService itself. Longer
work runs in other threads, and the loop sends the results. A connection with a stream of batches gets its own loop:
switching threads twice would take a tenth of a batch's time.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.exchange.door import Door
from chatiere.service.guards.memory import IDLE_LOOK, MEMORY_LOOK
from chatiere.service.ports.fast.loop import Loop, Timer
from chatiere.service.ports.fast.shared import SharedConnection, SharedDoor
from chatiere.service.ports.listening import listening_sockets

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall
    from chatiere.http2.server import Endpoint

_log = logging.getLogger(__name__)

# The maximum number of concurrent calls on a connection.
_CALLS_OF_A_CONNECTION = 1000
# The number of separate loops is at most 1/_PART of that of the door's file descriptors. Each of them needs
# _OF_OWN_LOOP descriptors. A stream in shared memory needs _OF_SHARED: a socket, an event and two areas.
_PART, _OF_OWN_LOOP, _OF_SHARED = 4, 3, 4
# The memory that libnghttp2 uses for a connection, in bytes.
_OF_CONNECTION = 32 * 1024
# The time in seconds after which a connection without calls is closed. The second, shorter time is for connections with
# their own loop, because another stream may need the loop.
_IDLE, _OWN_IDLE = 300.0, 10.0
# The HTTP status of requests that are not gRPC calls.
_NOT_GRPC = {"http_method": b"405", "content_type": b"415"}
# The HTTP/2 error code of an error in the server.
_INTERNAL_ERROR = 2
# A function that receives the calls to a path.
Route = Callable[["WireCall"], None]


class FastPort:
    """The port. It can be started and stopped once."""

    def __init__(self, settings: Settings, address: str, door: Door, *, share_port: bool, connections: int) -> None:
        """Listen on an address. The port does not respond before `start`.

        Args:
            settings: The settings of the server.
            address: The address.
            door: The door of the calls.
            share_port: True if other processes may also listen on the port.
            connections: The maximum number of file descriptors, mainly of connections. At the limit, a connection from
                the address with the most connections is ended.

        Raises:
            SettingError: For fast_address, if the address cannot be used.
        """
        try:
            from chatiere.http2.server import Accounts, Endpoint
        except ImportError as error:
            raise SettingError(
                "fast_address",
                "built without libnghttp2: install libnghttp2-dev (Debian), libnghttp2-devel (Fedora) or libnghttp2 "
                "(Homebrew), with pkg-config, and rebuild; the service runs only on Linux",
            ) from error
        self._settings = settings
        self._connections = connections
        self.most_shared = 0
        """The maximum number of streams in shared memory."""
        self._endpoint_type = Endpoint
        self._accounts = Accounts(settings.max_fast_cost, settings.max_fast_debt)
        self._listening = listening_sockets("fast_address", address, share_port=share_port)
        name = self._listening[0].getsockname()
        self.port: int = name[1] if isinstance(name, tuple) else 0
        """The number of the port, or 0 for a Unix socket."""
        self.door = door
        self._routes: dict[bytes, Route] = {}
        self._takers: tuple[Route, ...] = ()
        self._largest: tuple[int, ...] = ()
        self._unknown: Route
        self._loop = Loop(is_own=False)
        self._receiving = (door.half_open, door.streams)
        # The timer of the next check of the memory, and True if it is the longer one.
        self._next_look: Timer
        self._looks_rarely = False
        self._endpoint: Endpoint
        self._own_loops: set[Loop] = set()
        self._shared_loops: set[Loop] = set()
        self._shared: SharedDoor | None = None
        # The lock for changes to the two sets and to the state that depends on them.
        self._changing = threading.Lock()
        self._is_stopping = False
        self._has_turned = threading.Event()
        self._has_turned.set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="fast door", daemon=True)

    def route(self, routes: Mapping[str, Route], largest: Sequence[int], unknown: Route) -> None:
        """Set the functions that receive the calls of each path. Must be called once, before `start`.

        Args:
            routes: The functions by path ("/SERVICE/METHOD").
            largest: The maximum size of requests in bytes, for each path in the order of `routes`.
            unknown: The function that receives the calls to all paths that are not in `routes`.
        """
        self._routes, self._unknown = {path.encode(): route for path, route in routes.items()}, unknown
        self._takers, self._largest = tuple(routes.values()), tuple(largest)
        self._loop.endpoint = self._endpoint = self._endpoint_of(
            self._loop, [each.detach() for each in self._listening]
        )
        self._next_look = self._loop.after(MEMORY_LOOK, self._look)
        for slots in self._receiving:
            slots.on_first = self._begun

    def share_memory(self, address: str, take: Callable[[socket.socket, bytes], None]) -> None:
        """Serve also clients with shared memory; see SharedDoor. Must be called before `route`.

        Shared memory gets half of the port's file descriptors, so that other connections cannot use them.
        """
        self._shared = SharedDoor(
            address,
            take,
            resume=lambda connection: self._start_own(connection.loop),
            forget=lambda connection: self._forget_own(connection.loop),
            max_cost=self._settings.max_fast_cost,
        )
        self._connections //= 2
        self.most_shared = min(self._settings.max_streams, self._connections // _OF_SHARED)

    def start(self) -> None:
        """Start to respond."""
        self._thread.start()
        if self._shared is not None:
            self._shared.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Let calls in flight finish, and end the calls that last longer than a grace period.

        Args:
            grace: The grace period in seconds, or None for 0.

        Returns:
            An event that is set when all calls have ended.
        """
        if self._thread.ident is None:
            # The port was never started.
            self._thread.start()
        with self._changing:
            is_first, self._is_stopping = not self._is_stopping, True
            loops = self._loops()
        if is_first and self._shared is not None:
            self._shared.stop()
        for loop in loops:
            if is_first:
                loop.post(loop.endpoint.drain)
            loop.post(partial(loop.after, grace or 0.0, loop.endpoint.cut))
        if is_first:
            self.door.drain()
        return self._ended

    @property
    def held(self) -> int:
        """The number of bytes of requests, complete or in part, that were received and are not being handled."""
        with self._changing:
            return sum(loop.endpoint.held for loop in self._loops())

    @property
    def known(self) -> int:
        """The memory of the port's connections and requests, in bytes, without shared memory, which is not malloc's."""
        with self._changing:
            endpoints = [loop.endpoint for loop in self._shared_loops]
        areas = sum(each.areas for each in endpoints if isinstance(each, SharedConnection))
        return self.held + _OF_CONNECTION * self.connections - areas

    @property
    def connections(self) -> int:
        """The number of the port's connections."""
        with self._changing:
            return sum(loop.endpoint.connections for loop in self._loops())

    def has_turned(self) -> bool:
        """Return True if the loop has run since the last call, and start the next check."""
        turned = self._has_turned.is_set() or (self._is_stopping and self._ended.is_set())
        self._has_turned.clear()
        self._loop.post(self._has_turned.set)
        return turned

    def loop_for(self, wire: WireCall) -> Callable[[], None] | None:
        """Move a new stream and its connection to a separate loop.

        Returns:
            A function that starts the loop. None if the stream is not moved: the stream may already have its own loop
            or share its connection, or too many loops or files are open.
        """
        if wire.loop.is_own:
            return None
        loop = Loop(is_own=True)
        with self._changing:
            if self._is_stopping or self._is_full():
                return None
            try:
                loop.endpoint = endpoint = self._endpoint_of(loop, ())
            except OSError:
                return None
            if not wire.move(endpoint):
                endpoint.close()
                return None
            self._own_loops.add(loop)
            self._share()
        return partial(self._start_own, loop)

    def share_loop(self, loop: Loop, end_idle: Callable[[], bool]) -> Callable[[], None] | None:
        """Take the loop of a stream in shared memory. If there are too many streams, an idle one gives way.

        Args:
            loop: The loop.
            end_idle: A function that ends an idle stream in shared memory. It returns False if none is idle.

        Returns:
            A function that starts the loop. None if the port is stopping, or no stream is idle.
        """
        with self._changing:
            streams = [loop.endpoint for loop in self._shared_loops]
        # Streams that have just ended do not count.
        open_streams = sum(isinstance(each, SharedConnection) and not each.is_leaving for each in streams)
        if open_streams >= self.most_shared and not end_idle():
            return None
        with self._changing:
            if self._is_stopping:
                return None
            self._shared_loops.add(loop)
        return partial(self._start_own, loop)

    def _is_full(self) -> bool:
        # Return True if no more separate loops for HTTP/2 are possible.
        loops = len(self._own_loops)
        files = self._endpoint.connections + _OF_OWN_LOOP * (loops + 1)
        return files > self._connections or loops >= min(self._settings.max_streams, self._connections // _PART)

    def _loops(self) -> list[Loop]:
        return [self._loop, *self._own_loops, *self._shared_loops]

    def _endpoint_of(self, loop: Loop, listening: Sequence[int]) -> Endpoint:
        return self._endpoint_type(
            loop,
            listening,
            self._routes,
            self._take_other,
            _fail,
            self._accounts,
            max_sizes=self._largest,
            streams=_CALLS_OF_A_CONNECTION,
            connections=self._connections,
            greeting=self._settings.request_timeout,
            idle=_OWN_IDLE if loop.is_own else _IDLE,
            max_age=self._settings.max_connection_age or inf,
            age_grace=self._settings.connection_age_grace or inf,
        )

    def _serve(self) -> None:
        try:
            self._loop.run(self._is_over)
        except Exception:
            _log.exception("the fast door has failed")
        finally:
            self._loop.end()
            self._ended.set()

    def _is_over(self) -> bool:
        return self._is_stopping and not self._endpoint.connections and len(self._loops()) == 1

    def _start_own(self, loop: Loop) -> None:
        try:
            threading.Thread(target=self._serve_own, args=(loop,), name="fast door's stream", daemon=True).start()
        except RuntimeError as error:
            _log.warning("a stream could not be served: %s", error)
            self._forget_own(loop)

    def _serve_own(self, loop: Loop) -> None:
        endpoint = loop.endpoint
        try:
            if isinstance(endpoint, SharedConnection) and self._shared is not None:
                endpoint.is_quiet = False
                loop.run(lambda: not endpoint.connections or (endpoint.is_quiet and not loop.has_timers))
                if endpoint.connections and self._shared.rest(endpoint):
                    return
            loop.run(lambda: not endpoint.connections)
        except Exception:
            _log.exception("a stream at the fast door has failed")
        self._forget_own(loop)

    def _forget_own(self, loop: Loop) -> None:
        loop.end()
        with self._changing:
            self._own_loops.discard(loop)
            self._shared_loops.discard(loop)
            self._share()
        self._endpoint.wake()

    def _share(self) -> None:
        # The connections of the main loop may use the descriptors that separate loops do not use.
        self._endpoint.max_connections = self._connections - _OF_OWN_LOOP * len(self._own_loops)

    def _take_other(self, wire: WireCall) -> None:
        # Handle a call without a route, or with a fault.
        if wire.fault in _NOT_GRPC:
            wire.refuse(_NOT_GRPC[wire.fault])
        elif wire.path < 0:
            self._unknown(wire)
        else:
            self._takers[wire.path](wire)

    def _begun(self) -> None:
        # A call receives data. This function may be called from any thread.
        if self._looks_rarely:
            self._looks_rarely = False
            self._loop.post(self._look_soon)

    def _look_soon(self) -> None:
        self._next_look.cancel()
        self._next_look = self._loop.after(MEMORY_LOOK, self._look)

    def _look(self) -> None:
        self.door.look_at_memory(self.held)
        if trouble := self._endpoint.trouble:
            _log.warning("connections could not be accepted: %s", os.strerror(trouble))
        # Other threads may call `_begun` at any time, so it must take effect before the calls are counted.
        self._looks_rarely = True
        self._looks_rarely = not any(self._receiving)
        self._next_look = self._loop.after(IDLE_LOOK if self._looks_rarely else MEMORY_LOOK, self._look)


def _fail(wire: WireCall, error: Exception) -> None:
    _log.error("a call at the fast door failed", exc_info=error)
    wire.reset(_INTERNAL_ERROR)
