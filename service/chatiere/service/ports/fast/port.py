"""The port of the fast door: its sockets and its loops.

One loop serves all connections. It takes calls through the guards and calls the methods of GameService itself; what
may take longer goes to threads, whose results it sends. A connection with a stream of batches gets a loop of its own,
because of a batch two changes of threads would take a tenth of the time.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.exchange.door import MEMORY_LOOK, Door
from chatiere.service.ports.fast.loop import Loop
from chatiere.service.ports.listening import listening_sockets

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall
    from chatiere.http2.server import Endpoint

_log = logging.getLogger(__name__)

# Calls of one connection at a time.
_CALLS_OF_A_CONNECTION = 1000
# The part of the door's descriptors by which loops of connections' own are counted, and the descriptors of each.
_PART, _OF_OWN_LOOP = 4, 3
# Bytes that libnghttp2 takes for a connection.
_OF_CONNECTION = 32 * 1024
# Seconds that a connection may be without a call; if it has a loop of its own, others may want one.
_IDLE, _OWN_IDLE = 300.0, 10.0
# HTTP's status for what is no call of gRPC.
_NOT_GRPC = {"http_method": b"405", "content_type": b"415"}
# HTTP/2's error for a fault of the server.
_INTERNAL_ERROR = 2
# What takes the calls of a path.
Route = Callable[["WireCall"], None]


class FastPort:
    """The port: start it, and stop it once."""

    def __init__(self, settings: Settings, address: str, door: Door, *, share_port: bool, connections: int) -> None:
        """Listen on an address, without answering yet. Raises SettingError: fast_address.

        `connections`: at a time, and what else has a descriptor; when there are more, the address that has most loses
        one.
        """
        try:
            from chatiere.http2.server import Accounts, Endpoint
        except ImportError as error:
            raise SettingError(
                "fast_address",
                "built without libnghttp2: install libnghttp2-dev (Debian), libnghttp2-devel (Fedora) or libnghttp2 "
                "(Homebrew), with pkg-config, and build again; the service itself runs on Linux",
            ) from error
        self._settings = settings
        self._connections = connections
        self._most_own_loops = min(settings.max_streams, connections // _PART)
        self._endpoint_type = Endpoint
        self._accounts = Accounts(settings.max_fast_cost, settings.max_fast_debt)
        self._listening = listening_sockets("fast_address", address, share_port=share_port)
        name = self._listening[0].getsockname()
        self.port: int = name[1] if isinstance(name, tuple) else 0
        """The number of the port; 0: a Unix socket."""
        self.door = door
        self._routes: dict[bytes, Route] = {}
        self._takers: tuple[Route, ...] = ()
        self._largest: tuple[int, ...] = ()
        self._unknown: Route
        self._loop = Loop(is_own=False)
        self._own_loops: set[Loop] = set()
        # For the sets and what they say of each other.
        self._changing = threading.Lock()
        self._is_stopping = False
        self._has_turned = threading.Event()
        self._has_turned.set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="fast door", daemon=True)

    def route(self, routes: Mapping[str, Route], largest: Sequence[int], unknown: Route) -> None:
        """Set what takes the calls of each path ("/SERVICE/METHOD"), and those of other paths. Once, before `start`.

        `largest`: the bytes of the largest request, in the order of the paths.
        """
        self._routes, self._unknown = {path.encode(): route for path, route in routes.items()}, unknown
        self._takers, self._largest = tuple(routes.values()), tuple(largest)
        self._loop.endpoint = self._endpoint_of(self._loop, [each.detach() for each in self._listening])
        self._loop.after(MEMORY_LOOK, self._look)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Let calls under way finish, and cut those that last longer than `grace` seconds (None: 0).

        Returns an event that is set when all have ended.
        """
        if self._thread.ident is None:
            # It has not begun.
            self._thread.start()
        with self._changing:
            is_first, self._is_stopping = not self._is_stopping, True
            loops = [self._loop, *self._own_loops]
        for loop in loops:
            if is_first:
                loop.post(loop.endpoint.drain)
            loop.post(partial(loop.after, grace or 0.0, loop.endpoint.cut))
        if is_first:
            self.door.drain()
        return self._ended

    @property
    def held(self) -> int:
        """The bytes of requests that have come, in part or whole, and that nobody works on."""
        with self._changing:
            return sum(loop.endpoint.held for loop in (self._loop, *self._own_loops))

    @property
    def known(self) -> int:
        """The bytes of memory that its connections and requests take."""
        return self.held + _OF_CONNECTION * self.connections

    @property
    def connections(self) -> int:
        """The number of its connections."""
        with self._changing:
            return sum(loop.endpoint.connections for loop in (self._loop, *self._own_loops))

    def has_turned(self) -> bool:
        """Return whether its loop has come round since the last time it was asked; ask it to."""
        turned = self._has_turned.is_set() or (self._is_stopping and self._ended.is_set())
        self._has_turned.clear()
        self._loop.post(self._has_turned.set)
        return turned

    def loop_for(self, wire: WireCall) -> Callable[[], None] | None:
        """Move a stream that has just begun, and its connection, to a loop of its own; return what starts that.

        None: it stays, because it has one, others share its connection, or there are too many loops or files.
        """
        if wire.loop.is_own:
            return None
        loop = Loop(is_own=True)
        with self._changing:
            is_full = self._loop.endpoint.connections + _OF_OWN_LOOP * (len(self._own_loops) + 1) > self._connections
            if self._is_stopping or is_full or len(self._own_loops) >= self._most_own_loops:
                return None
            try:
                loop.endpoint = self._endpoint_of(loop, ())
            except OSError:
                return None
            if not wire.move(loop.endpoint):
                loop.endpoint.close()
                return None
            self._own_loops.add(loop)
            self._share()
        return partial(self._start_own, loop)

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
        return self._is_stopping and not self._loop.endpoint.connections and not self._own_loops

    def _start_own(self, loop: Loop) -> None:
        try:
            threading.Thread(target=self._serve_own, args=(loop,), name="fast door's stream", daemon=True).start()
        except RuntimeError as error:
            _log.warning("a stream could not be served: %s", error)
            self._forget_own(loop)

    def _serve_own(self, loop: Loop) -> None:
        try:
            loop.run(lambda: not loop.endpoint.connections)
        except Exception:
            _log.exception("a stream at the fast door has failed")
        finally:
            self._forget_own(loop)

    def _forget_own(self, loop: Loop) -> None:
        loop.end()
        with self._changing:
            self._own_loops.discard(loop)
            self._share()
        self._loop.endpoint.wake()

    def _share(self) -> None:
        # What loops of their own do not take is for the other connections.
        self._loop.endpoint.max_connections = self._connections - _OF_OWN_LOOP * len(self._own_loops)

    def _take_other(self, wire: WireCall) -> None:
        # A call without a route, or with a fault.
        if wire.fault in _NOT_GRPC:
            wire.refuse(_NOT_GRPC[wire.fault])
        elif wire.path < 0:
            self._unknown(wire)
        else:
            self._takers[wire.path](wire)

    def _look(self) -> None:
        self.door.look_at_memory(self.held)
        if trouble := self._loop.endpoint.trouble:
            _log.warning("connections could not be taken: %s", os.strerror(trouble))
        self._loop.after(MEMORY_LOOK, self._look)


def _fail(wire: WireCall, error: Exception) -> None:
    _log.error("a call at the fast door failed", exc_info=error)
    wire.reset(_INTERNAL_ERROR)
