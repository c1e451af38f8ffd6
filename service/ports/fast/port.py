"""The fast door: gRPC over HTTP/2 by libnghttp2, for single calls and streams, without TLS.

One thread serves all connections. It takes calls through the guards and calls the methods of GameService itself; what
may take longer goes to threads, whose results it sends.
"""

from __future__ import annotations

import heapq
import logging
import resource
import threading
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from chatiere.service.guards.limits import CallSlots
from chatiere.service.ports.listening import listening_sockets
from chatiere.service.process.settings import SettingError, Settings

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall

_log = logging.getLogger(__name__)

# Calls of one connection at a time. Connections of a worker at a time, as far as it may open so many files: when there
# are more, the address that has most loses one.
_CALLS_OF_A_CONNECTION, _CONNECTIONS = 1000, 10_000
# Seconds between two looks at the memory of requests that have come in part, and the least age of calls that are ended
# for it.
_LOOK, _AGE = 0.1, 0.1
# Bytes that such requests may take together; at least this many of the largest.
_PARTS, _LARGEST = 128 * 1024 * 1024, 2
# HTTP's status for what is no call of gRPC.
_NOT_GRPC = {"http_method": b"405", "content_type": b"415"}
# The longest wait, in seconds.
_LONGEST_WAIT = 60.0
# Above this number of timers, those that are cancelled are forgotten.
_MANY = 1000


class Timer:
    """Something to do at a time; `cancel` keeps it from being done."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        """See FastPort.after."""
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        """Keep it from being done."""
        self.work = None


class FastPort:
    """The port: start it, and stop it once."""

    def __init__(self, settings: Settings, address: str, *, share_port: bool) -> None:
        """Listen on an address, without answering yet. Raises SettingError: fast_address."""
        try:
            from chatiere.http2.server import Endpoint
        except ImportError as error:
            raise SettingError(
                "fast_address",
                "built without libnghttp2: install libnghttp2-dev (Debian), libnghttp2-devel (Fedora) or libnghttp2 "
                "(Homebrew), with pkg-config, and build again",
            ) from error
        self._settings = settings
        self._endpoint_of = Endpoint
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
        """Called by its thread when it begins to stop."""
        self.under_way = 0
        """Calls that threads work for."""
        self._routes: list[Callable[[WireCall], None]] = []
        self._paths: list[bytes] = []
        self._unknown: Callable[[WireCall], None]
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._many = _MANY
        # What other threads want done: a deque needs no lock.
        self._posted: deque[Callable[[], None]] = deque()
        self._has_turned = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="fast door", daemon=True)

    def route(self, routes: Mapping[str, Callable[[WireCall], None]], unknown: Callable[[WireCall], None]) -> None:
        """Set what takes the calls of each path ("/SERVICE/METHOD"), and those of other paths. Once, before `start`."""
        self._paths, self._routes, self._unknown = [path.encode() for path in routes], list(routes.values()), unknown
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._endpoint = self._endpoint_of(
            [each.detach() for each in self._listening],
            self._paths,
            longest=self._settings.max_message_bytes,
            streams=_CALLS_OF_A_CONNECTION,
            connections=min(_CONNECTIONS, soft // 2),
            greeting=self._settings.request_timeout,
        )
        self._listening = []

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Let calls under way finish, and cut those that last longer than `grace` seconds (None: 0).

        Returns an event that is set when all have ended.
        """
        if not self._thread.is_alive() and not self._ended.is_set():
            # It has never begun.
            self._thread.start()
        self.post(lambda: self._begin_stop(grace or 0.0))
        return self._ended

    @property
    def held(self) -> int:
        """The bytes of requests that have come, in part or whole, and that nobody works on."""
        return self._endpoint.held

    def has_turned(self) -> bool:
        """Return whether its thread has come round since the last time it was asked; ask it to."""
        turned = self._has_turned.is_set() or (self.is_stopping and self._ended.is_set())
        self._has_turned.clear()
        self.post(self._has_turned.set)
        return turned

    def post(self, work: Callable[[], None]) -> None:
        """Have its thread do something; from any thread."""
        self._posted.append(work)
        self._endpoint.wake()

    def after(self, seconds: float, work: Callable[[], None]) -> Timer:
        """Do something in so many seconds; for its own thread."""
        timer = Timer(work)
        heapq.heappush(self._timers, (monotonic() + seconds, next(self._numbers), timer))
        if len(self._timers) > self._many:
            # Most are cancelled long before they are due.
            self._timers = [each for each in self._timers if each[2].work is not None]
            heapq.heapify(self._timers)
            self._many = max(_MANY, 2 * len(self._timers))
        return timer

    def _serve(self) -> None:
        try:
            self.after(_LOOK, self._look_at_memory)
            while not self._is_over():
                self._endpoint.turn(self._seconds_to_wait(), self._begin)
                self._do_posted()
                self._do_due()
        except Exception:
            _log.exception("the fast door has failed")
        finally:
            self._endpoint.close()
            self._ended.set()

    def _is_over(self) -> bool:
        return self.is_stopping and not self._endpoint.connections and not self.under_way

    def _begin(self, wire: WireCall) -> None:
        status = _NOT_GRPC.get(wire.fault)
        try:
            if status is not None:
                wire.refuse(status)
            elif wire.path < 0:
                self._unknown(wire)
            else:
                self._routes[wire.path](wire)
        except Exception:
            _log.exception("a call at the fast door failed")
            wire.reset(2)

    def _do_posted(self) -> None:
        while self._posted:
            self._posted.popleft()()

    def _do_due(self) -> None:
        if not self._timers:
            return
        now = monotonic()
        while self._timers and self._timers[0][0] <= now:
            _, _, timer = heapq.heappop(self._timers)
            if timer.work is not None:
                timer.work()

    def _seconds_to_wait(self) -> float:
        if self._posted:
            return 0.0
        while self._timers and self._timers[0][2].work is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return _LONGEST_WAIT
        return min(max(self._timers[0][0] - monotonic(), 0.0), _LONGEST_WAIT)

    def _look_at_memory(self) -> None:
        most = max(_PARTS, _LARGEST * self._settings.max_message_bytes)
        if self._endpoint.held > most:
            ended = self.half_open.end_largest(_AGE) + self.streams.end_largest(_AGE)
            _log.warning("requests under way take %d MiB: ended %d calls", self._endpoint.held >> 20, ended)
        if trouble := self._endpoint.trouble:
            _log.warning("connections could not be taken: errno %d", trouble)
        self.after(_LOOK, self._look_at_memory)

    def _begin_stop(self, grace: float) -> None:
        if not self.is_stopping:
            self.is_stopping = True
            self._endpoint.drain()
            for each in list(self.on_stop):
                each()
        self.after(grace, self._endpoint.cut)
