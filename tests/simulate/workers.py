"""A worker of the service without its ports: guards, a door, methods, rooms, and periodic work."""

from collections.abc import Callable
from itertools import count
from typing import Any

from prometheus_client import CollectorRegistry

from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal, ServiceReason, Status, StatusError
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import MEMORY, Settings
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.exchange import Exchange
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.making import exchanges_of
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod, UnknownMethod
from chatiere.service.guards.chain import Guards, Method
from chatiere.service.guards.idle import IdleStreams
from chatiere.service.guards.limits import CallLimit
from chatiere.service.guards.memory import KeptBatches
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.service.rooms.relay import LOOK
from chatiere.service.rooms.room import Room
from chatiere.service.rooms.room_service import RoomService
from chatiere.service.tables.keys import Keyring
from chatiere.v1.batch_service_pb2 import PlayRequest

from .clock import Broken, Loop, Pool, Run, Threads
from .network import Wire

METRICS = Metrics(CollectorRegistry())
# A status with a code that exchanges do not use otherwise.
_BROKEN = StatusError(Status(15, message="broken"))
# The numbers of seconds between looks at the memory, and between announcements of presence. They are longer than at the
# ports, to save time.
_MEMORY_LOOK, _ANNOUNCE = 0.5, 0.25
SINGLE, BATCH, STREAM, POST, FOLLOW, WATCH, UNKNOWN = "Single", "Batch", "Stream", "Post", "Follow", "Watch", "Unknown"
FAILS = b"\1"
"""The second byte of requests at which the simulated methods fail."""
STEP = PlayRequest.STEP_FIELD_NUMBER << 3 | 2
"""The first byte of those requests that streams may handle in their loops."""


def response_to(request: bytes) -> bytes:
    """Return the response of the simulated methods to a request. The request's first byte determines the length."""
    return b"re: " + bytes(request) * (1 + request[0] % 8)


def _answer(request: bytes) -> bytes:
    if request[1:2] == b"\0":
        raise Refusal(ServiceReason.INVALID_RANGE, "invalid", metadata={})
    if request[1:2] == FAILS:
        raise ZeroDivisionError
    return response_to(request)


def _answer_long(request: Any, cancellation: Cancellation, hold: Callable[[int], None]) -> list[Any]:
    cancellation.check()
    hold(10 * len(request))
    return [_answer(request)]


class Memory(MemoryRelay):
    """The rooms of a worker. This relay reports the rooms that it drops."""

    dropped: Callable[[bytes], None]

    def _drop(self, room: Room, reason: str) -> None:
        self.dropped(room.key)
        super()._drop(room, reason)


class Worker:
    """A worker."""

    def __init__(self, run: Run, settings: Settings, cost: Cost, health: Health, relay: Any, number: int) -> None:
        self.run, self.settings, self.name = run, settings, f"worker {number}"
        self.guards = Guards(settings, METRICS)
        self.door = Door(settings, self.guards, None, cost, lambda _: _BROKEN)
        # The calls are kept in the order of their arrival, because the order of a set would differ between runs.
        self.door.lasting = _Ordered()  # type: ignore[assignment]
        self.loop = Loop(run)
        self.loops = [self.loop]
        self.wires: list[Wire] = []
        self._exchanges: dict[Wire, Exchange] = {}
        self.untaken = 0
        """The number of bytes of responses that clients have not read."""
        self.is_dead = self.is_draining = self.has_ended = False
        self.health, self.relay = health, relay
        # A single large call may exceed the limit. In addition, a quarter of the limit is reserved for small calls.
        self._most_held = settings.max_undelivered_bytes * 5 // 4 + 20 * settings.max_message_bytes
        self._sizes = count()
        self._threads, self.pool = Threads(run, 2), Pool(run)
        self._add_methods()
        for seconds, look in (
            (_MEMORY_LOOK, self._look_at_memory),
            (_ANNOUNCE, self._announce_presence),
            (LOOK, self._look_at_rooms),
            (LOOK, self._end_idle_streams),
        ):
            self._repeat(seconds, look)

    def _add_methods(self) -> None:
        settings, threads = self.settings, self._threads
        calls = CallLimit("calls at a time", settings.max_calls)
        self.streams = CallLimit("streams at a time", settings.max_streams, IdleStreams(settings.stream_idle_timeout))
        self.followers = CallLimit("followers at a time", settings.max_followers, IdleStreams(0.0))
        self.limits = [calls, self.streams, self.followers]

        def method(name: str, limit: CallLimit | None = None) -> Method:
            return Method(METRICS, "simulated", f"/simulated/{name}", limit=limit, counts_clients=True)

        rooms = RoomService(self.relay, Keyring(None), lambda: self.run.now)
        waits = settings.relay != MEMORY
        served: dict[str, Any] = {
            SINGLE: SingleMethod(SINGLE, method(SINGLE, calls), _answer, threads),
            BATCH: BatchMethod(BATCH, method(BATCH, calls), _answer_long, self.pool),
            STREAM: StreamMethod(STREAM, method(STREAM, self.streams), self._open, self.pool),
            POST: SingleMethod(POST, method(POST, calls), rooms.post, threads, takes_client=True, waits=waits),
            FOLLOW: FeedMethod(FOLLOW, method(FOLLOW, self.followers), rooms.follow),
            WATCH: FeedMethod(WATCH, method(WATCH), self.health.watch),
            UNKNOWN: UnknownMethod(method(UNKNOWN)),
        }
        self._makes = {name: exchanges_of(self.door, each) for name, each in served.items()}

    def _open(self, kept: KeptBatches[bytes]) -> Callable[..., list[Any]]:
        numbers = count(1)

        def answer(request: Any, cancellation: Cancellation, hold: Callable[[int], None]) -> list[Any]:
            response = _answer_long(request, cancellation, hold)
            number = next(numbers)
            taken = number - 2 if number % 3 else 0
            batch = kept.get(taken)
            if batch not in (None, b"batch %d" % taken):
                raise Broken(f"{self.name}: a stream keeps another batch than {taken}")
            # Each stream keeps another number of bytes, so that addresses do not determine which one gives way.
            kept.replace(taken, number, b"batch %d" % number, 100 + next(self._sizes))
            return response

        return answer

    def call(self, name: str, wire: Wire) -> None:
        """Receive the headers of a call."""
        wire.worker = self
        self.wires.append(wire)
        if wire.loop not in self.loops:
            self.loops.append(wire.loop)
        self._exchanges[wire] = exchange = self._makes[name](wire)
        exchange.begin()

    # Periodic work

    def _repeat(self, seconds: float, look: Callable[[], None]) -> None:
        def again() -> None:
            if not (self.is_dead or self.has_ended):
                look()
                self.run.after(seconds, again)

        self.run.after(seconds * self.run.choices.random(), again)

    def _look_at_memory(self) -> None:
        self.wires = [wire for wire in self.wires if not (wire.is_closed and wire.is_delivered)]
        self._exchanges = {wire: self._exchanges[wire] for wire in self.wires}
        self.door.look_at_memory(sum(wire.held for wire in self.wires))

    def _look_at_rooms(self) -> None:
        self.relay.look()

    def _announce_presence(self) -> None:
        self.relay.announce()

    def _end_idle_streams(self) -> None:
        idle = self.streams.idle
        if self.settings.stream_idle_timeout and idle is not None:
            idle.end_late()

    # The end

    def drain(self) -> None:
        """Stop like a port: accept no calls, end idle streams, and end all calls after the grace period."""
        self.run.note(self.name, "drains")
        self.is_draining = True
        self.health.stop()
        self.door.drain()
        self.run.after(self.settings.grace, self._stop)

    def _stop(self) -> None:
        if self.is_dead:
            return
        for wire in self.wires:
            exchange = self._exchanges[wire]
            is_idle = not (
                exchange._is_half_open or exchange._future or wire.is_sending or wire.has_part or wire.waiting
            )
            if is_idle and not exchange.is_over:
                raise Broken(f"{self.name}: its drain does not end {exchange.request_id}")
            if not wire.is_closed:
                wire.cut()
        self.run.after(5.0, self._close)

    def _close(self) -> None:
        if not self.is_dead:
            self.relay.close()
            self.run.after(1.0, self._end)

    def _end(self) -> None:
        if not self.is_dead:
            self.check_nothing_is_left()
            self.has_ended = True

    def kill(self) -> None:
        """End like a process that is killed: its connections are lost, and it does nothing more."""
        self.run.note(self.name, "dies")
        self.is_dead = True
        for loop in self.loops:
            loop.is_dead = True
        for wire in self.wires:
            wire.cut()

    # Properties

    def check(self) -> None:
        """Check the properties that hold at every moment."""
        held, door = self.guards.budget.held, self.door
        if self.untaken > held and door.cost.small < 0:
            raise Broken(f"{self.name}: {self.untaken} bytes of responses wait, but only {held} are counted")
        if held > self._most_held:
            raise Broken(f"{self.name}: {held} bytes are held")
        if len(door.half_open) > self.settings.max_calls or len(door.streams) > self.settings.max_streams:
            raise Broken(f"{self.name}: more calls than slots")
        for limit in self.limits:
            if not 0 <= limit.calls <= limit.most:
                raise Broken(f"{self.name}: {limit.calls} {limit.name}")

    def check_nothing_is_left(self) -> None:
        """Check that every slot and every account is empty. All calls must be over."""
        budget = self.guards.budget
        left = {
            "half-open calls": len(self.door.half_open),
            "streams": len(self.door.streams),
            "lasting calls": len(self.door.lasting),
            "bytes held": budget.held,
            "bytes by client": {**budget._small._by_client, **budget._large._by_client, **budget._kept._by_client},
            "streams that keep batches": len(budget._keepers),
            "running calls": self.guards._limits._running,
            "work in threads": sum(loop.under_way for loop in self.loops),
            "rooms with followers": sum(bool(room.followers) for room in self.relay._rooms.values()),
            "timers": sum(loop.timers for loop in self.loops),
            "watches": len(self.health._slots) + len(self.health._watches),
            "followers of rooms": len(self.relay._followers._turn_of),
            "followers by client": dict(self.relay._followers._by_client),
            "calls with turns or in the queue": self.pool.left,
            **{limit.name: limit.calls for limit in self.limits},
            **{f"idle {limit.name}": len(limit.idle or ()) for limit in self.limits},
        }
        left = {what: count for what, count in left.items() if count}
        if left:
            raise Broken(f"{self.name}: after the last call there are left: {left}")


class _Ordered(dict[Any, None]):
    """A set that keeps the order in which its items were added."""

    def add(self, item: Any) -> None:
        self[item] = None

    def discard(self, item: Any) -> None:
        self.pop(item, None)
