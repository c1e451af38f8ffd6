"""Limits on the calls of one client, on the calls of all clients, and on calls whose request has not arrived."""

import ipaddress
import threading
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.guards.idle import IdleStreams

# Two times in seconds after which to retry: if one client has too many calls at a time, and if all clients together
# have too many calls.
_RETRY, RETRY_ALL = 0.1, 1.0
# The number of clients above which clients without recent calls are forgotten.
_MANY = 10_000


def origin_of(peer: str) -> str:
    """Return the origin of an address in gRPC's notation. The origin identifies the client for limits.

    The origin is the address without its port. The origin of an IPv6 address is its /64 network, because one client may
    own the whole network. The origin of an IPv4-mapped address is the IPv4 address. The address of a Unix socket is
    unix:UID:PID at the fast door, and only "unix:" from gRPC.
    """
    address = peer.rpartition(":")[0]
    return _ipv6_origin(address) if address.startswith("ipv6:") else address


@lru_cache(_MANY)
def _ipv6_origin(address: str) -> str:
    text = unquote(address.removeprefix("ipv6:")).strip("[]").partition("%")[0]
    try:
        found = ipaddress.IPv6Address(text)
    except ValueError:
        return address
    if found.ipv4_mapped is not None:
        return f"ipv4:{found.ipv4_mapped}"
    return f"ipv6:{ipaddress.IPv6Network((found, 64), strict=False)}"


class CallLimit:
    """A limit on the calls of one kind in flight, of all clients together. `Limits` counts these calls."""

    def __init__(self, name: str, most: int, idle: IdleStreams | None = None) -> None:
        """Allow `most` calls. `name`: a description for refusals. `idle`: waiting streams that new calls may end."""
        self.name = name
        self.idle = idle
        self.most = most
        self.calls = 0


class Limits:
    """The numbers of calls, in total and of each client. A client is forgotten shortly after its last call."""

    def __init__(self, max_calls: int, max_rate: float) -> None:
        """Allow each client `max_calls` at a time and `max_rate` per second, or 0 for no limit."""
        self._max_calls = max_calls
        self._max_rate = max_rate
        self._counts_clients = bool(max_calls or max_rate)
        # The time in seconds between two calls at the maximum rate, and the negative of the time in seconds by which a
        # call may be early. A client may make the calls of one second in a burst.
        self._share = 1 / max_rate if max_rate else 0.0
        self._early = self._share - max(1.0, self._share)
        self._lock = threading.Lock()
        self._running: dict[str, int] = {}
        # The theoretical arrival time (time.monotonic) of each client's next call, in the generic cell rate algorithm.
        self._due: dict[str, float] = {}
        self._many = _MANY

    def begin(self, limit: CallLimit, client: str | None) -> None:
        """Count a call. `end` must be called afterwards. If an idle stream is ended for the call, it no longer counts.

        Args:
            limit: The limit of the call's kind.
            client: The client, or None if the limits per client do not apply.

        Raises:
            Refusal: If a limit is exceeded (LIMIT_EXCEEDED). The call is then not counted.
        """
        replaced = None
        with self._lock:
            if limit.calls >= limit.most and not limit.idle:
                raise limit_exceeded(limit.name, limit.most, RETRY_ALL)
            if client is not None and self._counts_clients:
                running = self._running.get(client, 0)
                if self._max_calls and running >= self._max_calls:
                    raise limit_exceeded("calls of one client at a time", self._max_calls, _RETRY)
                if self._max_rate:
                    self._count(client)
            if limit.calls >= limit.most:
                replaced = None if limit.idle is None else limit.idle.give_up_one()
                if replaced is None:
                    raise limit_exceeded(limit.name, limit.most, RETRY_ALL)
                self._end(limit, replaced.client)
            if client is not None and self._counts_clients:
                self._running[client] = self._running.get(client, 0) + 1
            limit.calls += 1
        if replaced is not None and limit.idle is not None:
            replaced.end(limit_exceeded(limit.idle.name, limit.most, RETRY_ALL))

    def end(self, limit: CallLimit, client: str | None) -> None:
        """Count the end of a call."""
        with self._lock:
            self._end(limit, client)

    def _end(self, limit: CallLimit, client: str | None) -> None:
        limit.calls -= 1
        if client is not None and self._counts_clients:
            running = self._running[client]
            if running > 1:
                self._running[client] = running - 1
            else:
                del self._running[client]

    def _count(self, client: str) -> None:
        now = time.monotonic()
        due = self._due.get(client, now)
        if due < now:
            due = now
        # With this order of operations, rounding errors cannot delay a first call.
        wait = (due - now) + self._early
        if wait > 0:
            raise limit_exceeded("calls of one client a second", self._max_rate, wait)
        self._due[client] = due + self._share
        if len(self._due) > self._many:
            self._due = {each: arrival for each, arrival in self._due.items() if arrival > now}
            self._many = max(_MANY, 2 * len(self._due))


class CallSlots:
    """Slots for calls that cost a client nothing to begin.

    When all slots are taken, a new call still gets a slot, because the oldest call of the client with the most slots is
    ended.
    """

    def __init__(self, slots: int) -> None:
        """Provide `slots` slots."""
        self._slots = slots
        self._free = slots
        # The lock is reentrant, because the `end` function of a call may release other calls.
        self._lock = threading.RLock()
        # The calls of each client, oldest first. Each call has the function that ends it, and the time when it got its
        # slot.
        self._held: dict[str, dict[object, tuple[Callable[[], object], float]]] = {}
        self.on_first: Callable[[], object] | None = None
        """A function that is called after a slot was taken, if all slots were free before."""

    def __len__(self) -> int:
        """Return the number of slots taken."""
        return self._slots - self._free

    def take(self, client: str, call: object, end: Callable[[], object]) -> None:
        """Take a slot for a call. `release` must be called afterwards.

        `end` is called if the slot is given to another call. It may be called from any thread.
        """
        with self._lock:
            is_first = not self._held
            if not self._free:
                largest = max(self._held, key=lambda each: len(self._held[each]))
                self._end(largest, next(iter(self._held[largest])))
            self._free -= 1
            self._held.setdefault(client, {})[call] = (end, time.monotonic())
            if is_first and self.on_first is not None:
                self.on_first()

    def largest(self, age: float, weight: Callable[[Any], int] = lambda call: 1) -> tuple[int, str, list[object]]:
        """Find the client whose calls have the largest total weight. Only calls of at least `age` seconds count.

        Returns:
            The weight, the client, and its counted calls with a nonzero weight.
        """
        begun = time.monotonic() - age
        with self._lock:
            old = [
                (client, [call for call, (_, since) in calls.items() if since <= begun])
                for client, calls in self._held.items()
            ]
        weighed = [(client, [(call, weight(call)) for call in calls]) for client, calls in old]
        weights = [
            (sum(number for _, number in calls), client, [call for call, number in calls if number])
            for client, calls in weighed
        ]
        return max(weights, key=lambda found: found[0], default=(0, "", []))

    def end(self, client: str, calls: Iterable[object]) -> None:
        """End calls of a client, except calls that have lost their slots."""
        with self._lock:
            for call in calls:
                if call in self._held.get(client, ()):
                    self._end(client, call)

    def release(self, client: str, call: object) -> None:
        """Return a call's slot, if it still has one."""
        with self._lock:
            calls = self._held.get(client)
            if calls is None or calls.pop(call, None) is None:
                return
            self._free += 1
            if not calls:
                del self._held[client]

    def _end(self, client: str, call: object) -> None:
        end, _ = self._held[client][call]
        self.release(client, call)
        end()
