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
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import LEAST_AGE, EndedCalls, most_of_parts
from chatiere.service.guards.sizes import largest_request
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
# Seconds between two looks at the memory of requests that have come in part.
_LOOK = 0.1
# A client that holds a smaller part of them loses no call.
_FEW = 16
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

    def __init__(self, settings: Settings, address: str, *, share_port: bool, connections: int) -> None:
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
        self._ended_calls = EndedCalls(_log, "requests under way")
        self._endpoint_type = Endpoint
        self._accounts = Accounts(settings.max_fast_cost, settings.max_fast_debt)
        self._listening = listening_sockets("fast_address", address, share_port=share_port)
        self.port: int = self._listening[0].getsockname()[1]
        """The number of the port."""
        self.half_open = CallSlots(settings.max_calls)
        """The unary calls whose request has not come whole."""
        self.streams = CallSlots(settings.max_streams)
        """The streams of batches."""
        self.is_stopping = False
        """True once no more calls are to begin; streams end."""
        self.on_stop: set[Callable[[], None]] = set()
        """Called when it begins to stop, by the thread of `stop`."""
        self._routes: dict[bytes, Route] = {}
        self._takers: tuple[Route, ...] = ()
        self._largest: tuple[int, ...] = ()
        self._unknown: Route
        self._loop = Loop(is_own=False)
        self._own_loops: set[Loop] = set()
        # For the sets and what they say of each other.
        self._changing = threading.Lock()
        self._has_turned = threading.Event()
        self._has_turned.set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="fast door", daemon=True)

    def route(self, routes: Mapping[str, Route], unknown: Route) -> None:
        """Set what takes the calls of each path ("/SERVICE/METHOD"), and those of other paths. Once, before `start`."""
        self._routes, self._unknown = {path.encode(): route for path, route in routes.items()}, unknown
        self._takers = tuple(routes.values())
        self._largest = tuple(largest_request(path, self._settings.max_message_bytes) for path in routes)
        self._loop.endpoint = self._endpoint_of(self._loop, [each.detach() for each in self._listening])
        self._loop.after(_LOOK, self._look_at_memory)

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
            is_first, self.is_stopping = not self.is_stopping, True
            loops, told = [self._loop, *self._own_loops], list(self.on_stop)
        for loop in loops:
            if is_first:
                loop.post(loop.endpoint.drain)
            loop.post(partial(loop.after, grace or 0.0, loop.endpoint.cut))
        if is_first:
            for tell in told:
                tell()
        return self._ended

    def largest(self, wire: WireCall) -> int:
        """Return the bytes of the largest request of a call's method, which must be one of the door's."""
        return self._largest[wire.path]

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
        turned = self._has_turned.is_set() or (self.is_stopping and self._ended.is_set())
        self._has_turned.clear()
        self._loop.post(self._has_turned.set)
        return turned

    def give_own_loop(self, wire: WireCall) -> Callable[[], None] | None:
        """Move a call that has just begun, and its connection, to a loop of its own; return what starts that.

        None: it stays, because others share its connection, or there are too many loops or files.
        """
        loop = Loop(is_own=True)
        with self._changing:
            is_full = self._loop.endpoint.connections + _OF_OWN_LOOP * (len(self._own_loops) + 1) > self._connections
            if self.is_stopping or is_full or len(self._own_loops) >= self._most_own_loops:
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
        return self.is_stopping and not self._loop.endpoint.connections and not self._own_loops

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

    def _look_at_memory(self) -> None:
        most = most_of_parts(self._settings.max_message_bytes)
        if (held := self.held) > most:
            # Of the client whose requests take most.
            found = [(*slots.largest(LEAST_AGE, attrgetter("held")), slots) for slots in (self.half_open, self.streams)]
            weight, client, calls, slots = max(found, key=itemgetter(0))
            if weight > most // _FEW:
                slots.end(client, calls)
                self._ended_calls.add(len(calls), held)
        self._ended_calls.tell()
        if trouble := self._loop.endpoint.trouble:
            _log.warning("connections could not be taken: %s", os.strerror(trouble))
        self._loop.after(_LOOK, self._look_at_memory)


def _fail(wire: WireCall, error: Exception) -> None:
    _log.error("a call at the fast door failed", exc_info=error)
    wire.reset(_INTERNAL_ERROR)
