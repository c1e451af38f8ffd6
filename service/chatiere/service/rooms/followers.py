"""The followers that a process has, of any room: how many are a client's, and whose heartbeat is due."""

from __future__ import annotations

from collections import Counter
from itertools import count

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.room import MAX_PEOPLE, Room
from chatiere.v1 import room_service_pb2 as pb

HEARTBEAT = 15
"""Looks between two heartbeats of a follower: proxies end connections on which nothing comes for a minute."""
RETRY = 1.0
"""Seconds after which to try again what too much is kept for."""


class Followers:
    """The followers of all rooms; whoever calls has them for itself."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Begin without any."""
        self._most, self._metrics = half(settings.max_followers), metrics
        self._by_client: Counter[str] = Counter()
        # Those that get their heartbeats at the same look.
        self._turns: list[dict[Feed, Room]] = [{} for _ in range(HEARTBEAT)]
        self._looks, self._numbers = count(), count()
        self._turn_of: dict[Feed, dict[Feed, Room]] = {}

    def __contains__(self, feed: Feed) -> bool:
        """Return True if a feed is one of them."""
        return feed in self._turn_of

    def check(self, client: str, room: Room) -> None:
        """Check that a room may have another follower of a client's. Raises Refusal (LIMIT_EXCEEDED)."""
        if self._by_client[client] >= self._most:
            raise limit_exceeded("followers of one client", self._most, RETRY)
        if len(room.followers) >= MAX_PEOPLE:
            raise limit_exceeded("followers of a room", MAX_PEOPLE, RETRY)

    def add(self, feed: Feed, room: Room, person: bytes | None, cursor: bytes) -> None:
        """Tell a feed of a room, from a cursor on, and the others of the person (None: an onlooker)."""
        before = room.presence()
        room.followers[feed] = person
        self._turn_of[feed] = turn = self._turns[next(self._numbers) % HEARTBEAT]
        turn[feed] = room
        self._by_client[feed.origin] += 1
        self._metrics.room_followers.inc()
        first = room.since(cursor)
        first.presence.CopyFrom(room.presence())
        feed.send(first.SerializeToString())
        room.tell_presence(before, but=feed)

    def remove(self, feed: Feed) -> Room:
        """Forget a follower, and tell the others of its room; return that."""
        room = self._turn_of.pop(feed).pop(feed)
        before = room.presence()
        del room.followers[feed]
        self._by_client[feed.origin] -= 1
        if not self._by_client[feed.origin]:
            del self._by_client[feed.origin]
        self._metrics.room_followers.dec()
        room.tell_presence(before)
        return room

    def look(self) -> None:
        """Send the heartbeats that are due."""
        for feed, room in self._turns[next(self._looks) % HEARTBEAT].items():
            feed.send(pb.FollowResponse(cursor=room.cursor).SerializeToString())


def half(most: int) -> int:
    """Return how much of something one client may have."""
    return (most + 1) // 2
