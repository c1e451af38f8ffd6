"""The methods that the fast door serves."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import limit_exceeded
from chatiere.service.base.settings import MAX_PATH, Settings, unix_path
from chatiere.service.calls.batch_messages import KeptStep
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.making import exchanges_of
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod, UnknownMethod
from chatiere.service.exchange.streams import StreamExchange
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.memory import LastingHolding
from chatiere.service.guards.sizes import largest_request
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.fast.faults import error_of
from chatiere.service.ports.fast.loop import Loop
from chatiere.service.ports.fast.port import FastPort, Route
from chatiere.service.ports.fast.shared import SharedConnection
from chatiere.service.ports.listening import SHARED
from chatiere.service.ports.methods import Methods

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall

# The maximum time in seconds that a stream in shared memory handles steps before its loop does other work.
_TURN = 0.005
# The time in seconds after which a client may retry a stream for which there was no loop.
_RETRY = 1.0
# A response is not copied. It stays where the method wrote it until the client has received the response.
_COST = Cost(small=64 * 1024, copies=1, of_call=4096)
_OneRequest = SingleMethod | BatchMethod | FeedMethod


def create_fast_port(
    settings: Settings, address: str, guards: Guards, methods: Methods, *, share_port: bool, connections: int
) -> FastPort:
    """Create the port for a server's methods, without starting it. Raises SettingError for fast_address or traces."""
    one_request: list[_OneRequest] = [*methods.singles, *methods.batches, methods.check, *methods.feeds]
    return fast_port(
        settings,
        address,
        guards,
        one_request,
        methods.play,
        methods.unknown,
        share_port=share_port,
        connections=connections,
    )


def fast_port(
    settings: Settings,
    address: str,
    guards: Guards,
    methods: Sequence[_OneRequest],
    play: StreamMethod,
    unknown: UnknownMethod,
    *,
    share_port: bool,
    connections: int,
) -> FastPort:
    """Create a port for the given methods. See create_fast_port."""
    largest = [largest_request(each.path, settings.max_message_bytes) for each in (*methods, play)]
    door = Door(settings, guards, CallTraces() if settings.traces else None, _COST, partial(error_of, largest))
    port = FastPort(settings, address, door, share_port=share_port, connections=connections)
    routes = {each.path: _route(door, each) for each in methods}
    path = unix_path(address)
    if path is not None and len(path) + len(SHARED) <= MAX_PATH:
        port.share_memory(address, partial(_take_shared, port, play, largest[-1]))
    port.route(routes | {play.path: partial(_take_stream, port, play)}, largest, _route(door, unknown))
    return port


def _route(door: Door, served: _OneRequest | UnknownMethod) -> Route:
    make = exchanges_of(door, served)

    def take(wire: WireCall) -> None:
        make(wire).begin()

    return take


def _take_stream(port: FastPort, play: StreamMethod, wire: WireCall) -> None:
    _Stream(port, play, wire).begin()


def _take_shared(port: FastPort, play: StreamMethod, largest: int, connected: socket.socket, hello: bytes) -> None:
    loop = Loop(is_own=True)
    try:
        loop.endpoint = wire = SharedConnection(loop, connected, hello, largest)
    except OSError:
        # There are no descriptors.
        connected.close()
        return
    stream = _SharedStream(port, play, wire)
    stream.begin()
    if not stream.has_place:
        loop.end()


class _SharedStream(StreamExchange):
    """A stream of batches in shared memory. It begins before its loop runs."""

    __slots__ = ("_lasting", "_port", "has_place")
    wire: SharedConnection

    def __init__(self, port: FastPort, play: StreamMethod, wire: SharedConnection) -> None:
        super().__init__(port.door, play, wire)
        self._port = port
        self._lasting: LastingHolding | None = None
        self.has_place = False
        """True once the port runs the stream's loop."""

    def settle(self) -> None:
        port, guards = self._port, self._door.guards
        start = port.share_loop(self.wire.loop, partial(guards.end_idle, self, port.most_shared))
        if start is None:
            raise limit_exceeded("streams in shared memory", port.most_shared, _RETRY)
        self.has_place = True
        self.wire.holding = guards.holding(self)
        try:
            super().settle()
        finally:
            start()

    def _memory(self) -> LastingHolding:
        if self._lasting is None:
            self._lasting = self._holding = LastingHolding(self._door.guards.budget, self.origin)
        return self._lasting

    def _leave(self) -> None:
        super()._leave()
        if self._lasting is not None:
            self._lasting.end()

    def _handle(self, request: Buffer | KeptStep) -> None:
        if isinstance(request, KeptStep) and self._is_short(request) and self._served.pool.begin_here():
            try:
                self._step(request)
            except Exception as error:
                self._refuse(error)
        else:
            super()._handle(request)

    def _step(self, first: KeptStep) -> None:
        # Handle steps as long as the client sends one after the other and no other call waits for the processor.
        pool, wire, job, handler = self._served.pool, self.wire, self._cancellation, self._handler
        assert job is not None
        assert handler is not None
        hold = self._memory().hold
        now = perf_counter()
        end = now + _TURN
        step: KeptStep | None = first
        try:
            while step is not None:
                began = now
                wire.send(handler(step, job, hold), "")
                now = perf_counter()
                self._seconds, self._size = now - began, len(step)
                step = wire.next_step() if now < end and not pool.is_contended else None
        finally:
            pool.end_here()
        self._wait()


class _Stream(StreamExchange):
    """A stream of batches. It gets its own loop if there are no other calls on its connection."""

    __slots__ = ("_port",)
    wire: WireCall

    def __init__(self, port: FastPort, play: StreamMethod, wire: WireCall) -> None:
        super().__init__(port.door, play, wire)
        self._port = port

    def settle(self) -> None:
        own = self._port.loop_for(self.wire)
        try:
            super().settle()
        finally:
            if own is not None:
                own()
