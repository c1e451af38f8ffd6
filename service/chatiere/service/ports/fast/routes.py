"""The methods that the fast door serves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from chatiere.service.base.settings import Settings
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.making import exchanges_of
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod, UnknownMethod
from chatiere.service.exchange.streams import StreamExchange
from chatiere.service.guards.chain import Guards
from chatiere.service.guards.sizes import largest_request
from chatiere.service.guards.traces import CallTraces
from chatiere.service.ports.fast.faults import error_of
from chatiere.service.ports.fast.port import FastPort, Route
from chatiere.service.ports.methods import Methods

if TYPE_CHECKING:
    from chatiere.http2.server import Call as WireCall

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
    port.route(routes | {play.path: partial(_take_stream, port, play)}, largest, _route(door, unknown))
    return port


def _route(door: Door, served: _OneRequest | UnknownMethod) -> Route:
    make = exchanges_of(door, served)

    def take(wire: WireCall) -> None:
        make(wire).begin()

    return take


def _take_stream(port: FastPort, play: StreamMethod, wire: WireCall) -> None:
    _Stream(port, play, wire).begin()


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
