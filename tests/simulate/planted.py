"""Faults, planted in the service's sources, that the simulation has to find: `python -m simulate.planted` in tests/.

Each fault is planted in a separate process. The process imports the service with the changed source, and simulates
seeds one after another until a property is broken. Then it simulates this seed again, and the traces have to be equal.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

SEEDS = 300
"""The number of seeds within which every fault has to be found."""
_SERVICE = "chatiere.service"


class Fault(NamedTuple):
    """A fault: a string in a module's source, and its replacement."""

    module: str
    before: str
    after: str


FAULTS = {
    "a half-open call's slot not given back": Fault(
        "exchange.exchange", "            self._door.half_open.release(self.origin, self)\n", ""
    ),
    "a stream's slot not given back": Fault(
        "exchange.streams",
        "            self._kept.release()\n        self._door.streams.release(self.origin, self)\n",
        "            self._kept.release()\n",
    ),
    "a stream's turn in its own loop not given back": Fault("exchange.streams", "pool.end_here()", "pass"),
    "a turn not given back": Fault(
        "exchange.fair_queue",
        "        if job.stage is not Stage.ENDING:\n            self._end_turn",
        "        if not job:\n            self._end_turn",
    ),
    "a call in progress not counted down": Fault(
        "exchange.fair_queue",
        "        if job.stage is Stage.RUNNING:\n            self._leave_progress(job)\n",
        "",
    ),
    "a cancelled call that is not woken": Fault(
        "exchange.fair_queue",
        "            self._leave_progress(job)\n            job.stage = Stage.ENDING\n            return True",
        "            self._leave_progress(job)\n            job.stage = Stage.ENDING\n            return False",
    ),
    "a slot given back twice": Fault(
        "guards.limits",
        "        self.release(client, call)\n",
        "        self.release(client, call)\n        self._free += 1\n",
    ),
    "an idle stream that lost its slot counted twice": Fault(
        "guards.chain", "call.is_admitted = idle.remove(call.origin, call)", "idle.remove(call.origin, call)"
    ),
    "a client's calls counted after their end": Fault(
        "guards.limits", "self._running[client] = running - 1", "self._running[client] = running"
    ),
    "memory given back before delivery": Fault(
        "exchange.exchange", "self._holding is not None and not self.wire.is_delivered", "self._holding is None"
    ),
    "work not counted down": Fault("exchange.exchange", "        self.wire.loop.under_way -= 1\n", ""),
    "a timer not cancelled": Fault("exchange.exchange", "            self._timer.cancel()", "            pass"),
    "a wake-up lost at the drain": Fault("exchange.door", "each.wire.loop.post(each.look)", "pass"),
    "a wake-up lost after work in a thread": Fault(
        "exchange.exchange",
        "self._future.add_done_callback(lambda _: loop.post(done))",
        "self._future.add_done_callback(lambda future: future.cancelled() or loop.post(done))",
    ),
    "idle streams that never end": Fault("guards.idle", "each.since <= begun", "each.since < begun - 1e6"),
    "a wake-up lost by a response that waits for its turn": Fault(
        "exchange.feeds", "        self._is_due = False\n        while", "        while"
    ),
    "an end without a hint": Fault("exchange.feeds", "_MAX_UNTAKEN, _RETRY)", "_MAX_UNTAKEN)"),
    "a cursor that leaves out an entry": Fault("rooms.room", "entry.number > number]", "entry.number > number + 1]"),
    "a cursor that repeats an entry": Fault("rooms.room", "entry.number > number]", "entry.number >= number]"),
    "a post told twice, before it is put in and afterwards": Fault(
        "rooms.memory_relay",
        "room.remove(change.gone)\n",
        "room.remove(change.gone)\n            room.tell_post(change.post)\n",
    ),
    "followers of a dropped room that stay": Fault(
        "rooms.memory_relay", "        for feed in list(room.followers):\n", "        for feed in []:\n"
    ),
    "a post acknowledged that Redis has not taken": Fault(
        "rooms.redis_relay",
        "self._catch_up(room, found)\n                continue\n",
        "self._catch_up(room, found)\n                if change is not None:\n                    return change\n",
    ),
    "a copy that takes its last entry again": Fault(
        "rooms.replica", "number_of(each[0]) > self._number]", "number_of(each[0]) >= self._number]"
    ),
    "followers that stay when Redis is lost": Fault(
        "rooms.redis_relay", "        for room in rooms:\n            self._cut(room)\n", ""
    ),
    "presence that is not announced": Fault(
        "rooms.presence", "self._pausing[room][0], True", "self._pausing[room][0], False"
    ),
    "a worker killed after the supervisor was suspended": Fault(
        "process.supervisor", "                        place.process.forgive()", "                        pass"
    ),
    "a second worker at a place that hangs and is not killed": Fault(
        "process.supervisor", "        place.is_killed = False\n", ""
    ),
    "a pause between starts that does not grow": Fault(
        "process.supervisor", "max(2 * place.pause, shortest)", "shortest"
    ),
    "a stop that takes too long": Fault(
        "process.supervisor", "self._settings.grace + _SLACK", "self._settings.grace + 60"
    ),
    "a pipe that is not forgotten": Fault("process.worker_process", "            self._events.forget(pipe)\n", ""),
    "a follower that is not forgotten": Fault("exchange.feeds", "            self._forget()\n", ""),
    "a client's followers counted after their end": Fault(
        "rooms.followers", "        self._by_client[feed.origin] -= 1\n", ""
    ),
    "a health watch's slot not given back": Fault(
        "exchange.health", "        self._slots.release(feed.origin, feed)\n", ""
    ),
}


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, fault: Fault) -> None:
        super().__init__(name, path)
        self._fault = fault

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = Path(path).read_text(encoding="utf-8")
        if fullname == f"{_SERVICE}.{self._fault.module}":
            if source.count(self._fault.before) != 1:
                raise ValueError(f"{path} has this text {source.count(self._fault.before)} times: {self._fault.before}")
            source = source.replace(self._fault.before, self._fault.after)
        return compile(source, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the sources of the service's modules, including compiled modules, and plants a fault."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = fullname.rpartition(".")[2]
        for folder in path or () if fullname.startswith(f"{_SERVICE}.") else ():
            place = Path(folder) / f"{name}.py"
            if place.exists():
                return spec_from_file_location(fullname, place, loader=_Loader(fullname, str(place), self._fault))
        return None


def find(fault: Fault) -> str:
    """Return a line about how the simulation finds a fault. It is "" if it does not, or if the replay differs."""
    sys.meta_path.insert(0, _Finder(fault))
    from .world import simulate

    for seed in range(1, SEEDS + 1):
        trace, broken = simulate(seed)
        if broken is not None:
            return f"seed {seed}: {broken!r}" if simulate(seed)[0] == trace else ""
    return ""


def _find_in_child(name: str) -> bool:
    child = os.fork()
    if not child:
        status = 1
        try:
            found = find(FAULTS[name])
            print(f"{name}: {found or 'NOT FOUND'}", flush=True)
            status = int(not found)
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def main() -> None:
    """Plant all faults, and report how each is found. Ends with status 1 unless all faults are found."""
    # These modules are imported once for all faults. Each process imports the service itself, with its fault.
    for name in ("chatiere.engine.wire", "chatiere.v1.room_service_pb2"):
        import_module(name)
    found = [_find_in_child(name) for name in sys.argv[1:] or FAULTS]
    raise SystemExit(not all(found))


if __name__ == "__main__":
    main()
