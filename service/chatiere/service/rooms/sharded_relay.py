"""The relay over several instances of Redis. Each instance stores a part of the rooms."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from grpc_health.v1.health_pb2 import HealthCheckResponse

from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.redis_relay import SERVER, RedisRelay
from chatiere.service.rooms.redis_session import pool_of, shown
from chatiere.service.rooms.room import Change, Post
from chatiere.v1 import room_service_pb2 as pb

_UP, _AWAY = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


class ShardedRelay:
    """A relay with a RedisRelay for each instance. See Relay.

    Rendezvous hashing assigns each room to the instance with the highest hash of instance and room. When an instance is
    added, some rooms therefore move to it, and all other rooms remain where they are.
    """

    def __init__(self, settings: Settings, metrics: Metrics, health: Health) -> None:
        """Start to connect to all instances. Raises SettingError for invalid addresses."""
        by_name = {}
        for address in settings.redis_addresses:
            own = replace(settings, relay=address)
            pool_of(own)
            by_name[shown(address)] = own
        if len(by_name) < len(settings.redis_addresses):
            raise SettingError("relay", "names an instance of Redis twice")
        self._health, self._lock = health, threading.Lock()
        self._count = len(by_name)
        # For each service, the instances that report it as available.
        self._up: dict[str, set[str]] = defaultdict(set)
        self._relays = {name: RedisRelay(own, metrics, partial(self._report, name)) for name, own in by_name.items()}

    @property
    def size(self) -> int:
        """See Relay."""
        return sum(relay.size for relay in self._relays.values())

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """See Relay."""
        return self._relay_of(key).post(client, key, post)

    def emote(self, key: bytes, emote: pb.RoomEmote) -> bool:
        """See Relay."""
        return self._relay_of(key).emote(key, emote)

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """See Relay."""
        return self._relay_of(key).follow(key, person, cursor, feed)

    def announce(self) -> None:
        """See Relay."""
        for relay in self._relays.values():
            relay.announce()

    def look(self) -> None:
        """See Relay."""
        for relay in self._relays.values():
            relay.look()

    def close(self) -> None:
        """See Relay."""
        for relay in self._relays.values():
            relay.close()

    def _relay_of(self, key: bytes) -> RedisRelay:
        return self._relays[instance_of(key, self._relays)]

    def _report(self, instance: str, service: str, status: HealthCheckResponse.ServingStatus) -> None:
        with self._lock:
            up = self._up[service]
            (up.add if status == _UP else up.discard)(instance)
            # The server becomes ready when it has reached all instances. Rooms are considered available while any
            # instance is available.
            is_up = len(up) == self._count if service == SERVER else bool(up)
            self._health.set(service, _UP if is_up else _AWAY)


def instance_of(key: bytes, instances: Iterable[str]) -> str:
    """Return the instance to which a room belongs, regardless of the order of the instances.

    Args:
        key: The SHA-256 of the room's id.
        instances: The addresses of all instances, without user names and passwords.
    """
    return max(instances, key=lambda instance: hashlib.sha256(key + instance.encode()).digest())
