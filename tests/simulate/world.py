"""A run of the simulation: workers, clients and faults from a seed, and the properties that must hold at the end."""

import hashlib
import logging
from contextlib import suppress
from typing import Any

from chatiere.service.base.settings import MEMORY, Settings
from chatiere.service.exchange.door import Cost
from chatiere.service.exchange.health import Health
from chatiere.v1 import room_service_pb2 as pb

from .clients import Call, Caller, Follower, Known, Person
from .clock import Broken, Loop, Run, simulated
from .network import Wire
from .redis_store import Relay, Store, redis_of
from .supervisors import Supervision
from .workers import METRICS, STREAM, WATCH, Memory, Worker

FAULTS = ("cuts", "slow", "parts", "deadlines", "memory", "slots", "rooms", "drains", "deaths", "relay")
"""The kinds of faults. Each run has some of them."""
# The share of runs that simulate a supervisor.
_SUPERVISORS = 0.2
_PEERS = tuple(f"ipv4:192.0.2.{number}:1234" for number in range(4))
# The number of seconds after the last fault within which all calls except followers' calls end, and the number of
# seconds within which a drain ends.
_HEALING, _DRAINING = 30.0, 1.0
# The number of seconds within which the calls of followers end after their room was dropped.
_LAST_SECONDS = 3.0


class World:
    """The workers and the clients of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        choices = run.choices
        self.faults = {fault for fault in FAULTS if choices.random() < 0.5}
        self.pause = choices.choice((0.3, 1.0, 3.0))
        """The longest pause of a client between two calls."""
        # False if followers may have to give way to each other.
        self._has_space = not self.faults & {"memory", "slots", "rooms"}
        self.has_redis = choices.random() < 0.4
        """True if two workers keep the rooms in Redis. False if one worker keeps them in memory."""
        self.is_healed = self.is_ending = False
        self.calls: dict[str, Call] = {}
        """The calls that have not ended at their clients."""
        self._numbers = 0
        self._known: dict[bytes, Known] = {}
        self._workers: list[Worker] = []
        self._settings, self._cost = self._drawn_settings(), self._drawn_cost()
        self._rooms = [bytes([number]) * 16 for number in range(choices.choice((1, 3)))]
        self._keys = {hashlib.sha256(room).digest(): room for room in self._rooms}
        self._followers = [
            Follower(self, choices.choice(self._rooms), number, choices.choice((None, bytes([number]) * 16)))
            for number in range(choices.randrange(1, 5))
        ]
        for number in range(choices.randrange(1, 4)):
            Person(self, choices.choice(self._rooms), number)
        for _ in range(choices.randrange(3)):
            Caller(self)
        run.note("settings", *sorted(self.faults))
        self._store = Store(run, self._dropped)
        for _ in range(1 + self.has_redis):
            self._start()
        run.check = self._check

    def _drawn_settings(self) -> Settings:
        choices, faults = self.run.choices, self.faults
        chosen: dict[str, Any] = {}
        if "slots" in faults:
            chosen |= {
                "max_calls": choices.randrange(1, 5),
                "max_streams": choices.randrange(1, 3),
                "max_followers": choices.randrange(4, 9),
                "max_calls_per_client": choices.choice((0, 4)),
                "max_rate_per_client": choices.choice((0.0, 2.0)),
            }
        if "memory" in faults:
            chosen |= {"max_undelivered_bytes": choices.choice((500, 5_000, 100_000))}
        if "rooms" in faults:
            chosen |= {
                "max_rooms": choices.choice((1, 2)),
                "max_room_bytes": choices.choice((5_000, 20_000)),
                "room_lifetime": choices.choice((3.0, 20.0)),
            }
        return Settings(
            relay="redis://redis" if self.has_redis else MEMORY,
            request_timeout=choices.choice((1.0, 5.0)),
            stream_idle_timeout=choices.choice((2.0, 10.0)),
            default_deadline=choices.choice((1.0, 10.0)),
            max_message_bytes=100_000,
            grace=choices.choice((2.0, 10.0)),
            **chosen,
        )

    def _drawn_cost(self) -> Cost:
        small = self.run.choices.choice((-1, -1, 64))
        return Cost(small=small, copies=self.run.choices.choice((1, 2)), of_call=100)

    # For clients

    def next_number(self) -> int:
        """Return a new number."""
        self._numbers += 1
        return self._numbers

    def known(self, room: bytes) -> Known:
        """Return what is known about a room."""
        return self._known.setdefault(room, Known())

    def worker(self) -> Worker | None:
        """Return a worker that accepts calls, or None if no worker does."""
        working = [worker for worker in self._workers if not (worker.is_dead or worker.is_draining)]
        return self.run.choices.choice(working) if working else None

    def wire(self, call: Call, worker: Worker) -> Wire:
        """Return the wire of a call to a worker."""
        choices = self.run.choices
        loop = worker.loop
        if call.path == STREAM and choices.random() < 0.5:
            loop = Loop(self.run, is_own=True)
        timeout = choices.choice((None, None, 0.0, 0.1, 3.0)) if "deadlines" in self.faults else None
        wire = Wire(self.run, loop, call, choices.choice(_PEERS), timeout)
        wire.worker = worker
        self.calls[call.name] = call
        return wire

    def presence(self, room: bytes) -> pb.RoomPresence:
        """Return the people and the number of onlookers who try to follow a room."""
        persons = [each.person for each in self._followers if each.room == room]
        people = sorted({person for person in persons if person is not None})
        return pb.RoomPresence(people=people, onlookers=persons.count(None))

    # Workers

    def _start(self) -> None:
        health = Health([])
        if self.has_redis:
            relay: Any = Relay(self.run, self._settings, METRICS, health)
        else:
            relay = Memory(self._settings, METRICS, lambda: self.run.now)
            relay.dropped = self._dropped
            for known in self._known.values():
                known.drop()
        worker = Worker(self.run, self._settings, self._cost, health, relay, self.next_number())
        self._workers = [each for each in self._workers if not (each.is_dead or each.has_ended)] + [worker]
        self.run.note(worker.name, "starts")

    def _dropped(self, key: bytes) -> None:
        self.run.note("a room is dropped")
        room = self._keys[key]
        self.known(room).drop()
        calls = [each.call for each in self._followers if each.room == room and each.is_following and each.call]
        # A slow client sees the end later.
        calls = [call for call in calls if self.is_prompt(call.wire)]
        if not self.has_redis:
            self.run.after(_LAST_SECONDS, lambda: self._check_ended(calls))

    def _check_ended(self, calls: list[Call]) -> None:
        # The followers of a dropped room no longer follow it.
        for call in calls:
            if not call.is_over:
                raise Broken(f"{call.name} follows a dropped room")

    def _kill(self) -> None:
        worker = self.worker()
        if worker is not None and not self.is_healed:
            worker.kill()
            if self.has_redis:
                self._store.cut_worker(worker.relay)
            self.run.soon(2.0, self._start)

    def _drain(self) -> None:
        worker = self.worker()
        if worker is not None and not self.is_healed:
            worker.drain()
            self.run.after(self._settings.grace + 6.0, self._start)

    def _disturb_redis(self) -> None:
        if self.is_healed:
            return
        run, store = self.run, self._store
        fault = run.choices.choice(("cut", "stop", "hang"))
        run.note("Redis:", fault)
        if fault == "cut":
            store.cut(one=True)
        elif fault == "stop":
            store.stop()
            run.soon(3.0, store.start)
        else:
            store.is_hanging = True
            run.soon(8.0, store.resume)
        run.soon(10.0, self._disturb_redis)

    # The run

    def play(self) -> None:
        """Let clients and faults do their work. Then end everything, and check the properties."""
        run, choices = self.run, self.run.choices
        for fault, happen in (("drains", self._drain), ("deaths", self._kill)):
            if fault in self.faults:
                run.soon(20.0, happen)
        if self.has_redis and "relay" in self.faults:
            run.soon(8.0, self._disturb_redis)
        run.pass_time(choices.choice((5.0, 20.0)))
        run.note("no more faults")
        self.is_healed = True
        self._store.start()
        self._store.resume()
        has_stale_parts, self.faults = self.has_redis and bool(self.faults & {"deaths", "relay"}), set()
        for call in self.calls.values():
            if call.wire is not None:
                call.wire.resume()
        # When a worker has died or lost its session, Redis still reports its followers as present for a while.
        run.pass_time(_HEALING * (1 + has_stale_parts))
        lasting = {id(each.call) for each in self._followers}
        late = [name for name, call in self.calls.items() if id(call) not in lasting and not name.startswith(WATCH)]
        if late:
            raise Broken(f"calls without an end: {late}")
        for follower in self._followers:
            if follower.is_following:
                follower.check_is_up_to_date()
            if self._has_space:
                follower.check_presence()
        self.is_ending = True
        for worker in self._workers:
            worker.drain()
        run.pass_time(_DRAINING)
        if self.calls:
            raise Broken(f"calls that a drain does not end: {list(self.calls)}")
        run.pass_time(self._settings.grace + 6.0)
        for worker in self._workers:
            if not worker.has_ended:
                raise Broken(f"{worker.name} does not end")

    def abandon(self) -> None:
        """End the rest of a run whose properties were broken."""
        self.run.check = lambda: None
        for worker in self._workers:
            if self.has_redis and not worker.has_ended:
                worker.is_dead = True
                self._store.cut_worker(worker.relay)
                with suppress(Exception, Broken):
                    self.run.pass_time(1.0)

    def is_prompt(self, wire: Wire | None) -> bool:
        """Return whether the client of a call reads responses as they arrive."""
        return wire is not None and not (wire.pause or wire.is_stuck)

    def _check(self) -> None:
        for worker in self._workers:
            if not (worker.is_dead or worker.has_ended):
                worker.check()


def simulate(seed: int) -> tuple[list[str], BaseException | None]:
    """Simulate the run of a seed.

    Returns:
        The trace of the run, and the exception that a broken property raised, or None if all properties held.
    """
    run = Run(seed)
    logging.disable()
    try:
        with simulated(run), redis_of(run):
            if run.choices.random() < _SUPERVISORS:
                Supervision(run).play()
                return run.trace, None
            world = World(run)
            try:
                world.play()
            finally:
                world.abandon()
    except (Exception, Broken) as broken:
        # Other exceptions are also faults of the service: no call may raise an exception into its loop.
        run.note("broken:", repr(broken))
        return run.trace, broken
    finally:
        logging.disable(logging.NOTSET)
    return run.trace, None
