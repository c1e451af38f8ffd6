"""The followers of all rooms in a process: limits per client, heartbeats, and announcements of presence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.presence import Announcements, EntryRate
from chatiere.service.rooms.room import MAX_PEOPLE, Room
from chatiere.v1 import room_service_pb2 as pb

HEARTBEAT = 10
"""The number of calls of `look`, one per second, between two heartbeats of a follower.

Clients are promised a heartbeat every 15 seconds, and a worker may be late.
"""
RETRY = 1.0
"""The time in seconds after which a client may retry if a limit on rooms is exceeded."""


class Followers:
    """The followers of all rooms. The caller must prevent concurrent use."""

    def __init__(self, settings: Settings, metrics: Metrics, now: Callable[[], float]) -> None:
        """Create an empty collection. `now`: a function that returns the time in seconds."""
        self._most, self._metrics = half(settings.max_followers), metrics
        self._by_client: Counter[str] = Counter()
        # Each element has the followers that receive their heartbeats in the same call of `look`.
        self._turns: list[dict[Feed, Room]] = [{} for _ in range(HEARTBEAT)]
        self._looks, self._numbers = count(), count()
        self._turn_of: dict[Feed, dict[Feed, Room]] = {}
        self.announcements = Announcements(now)
        """The rooms whose presence has changed."""
        self.rate = EntryRate(self._most, now)
        """The rate at which clients may add followers."""

    def __contains__(self, feed: Feed) -> bool:
        """Return True if a feed is a follower."""
        return feed in self._turn_of

    def check(self, client: str, room: Room, person: bytes | None) -> Feed | None:
        """Check that a client may add a follower to a room.

        In a full room, a stranger is removed for one of the room's people. A stranger is also removed for a follower
        whose client has fewer followers in the room than the stranger's client.

        Args:
            client: The client.
            room: The room.
            person: The SHA-256 of the person's secret, or None for an onlooker.

        Returns:
            The follower to remove, or None if the room is not full.

        Raises:
            Refusal: If a limit is exceeded (LIMIT_EXCEEDED).
        """
        if self._by_client[client] >= self._most:
            raise limit_exceeded("followers of one client", self._most, RETRY)
        if len(room.followers) < MAX_PEOPLE:
            return None
        strangers = [feed for feed, each in room.followers.items() if each not in room.people]
        by_client = Counter(feed.origin for feed in strangers)
        other = max(strangers, key=lambda feed: by_client[feed.origin], default=None)
        if other is None or not (person in room.people or by_client[other.origin] > by_client[client] + 1):
            raise limit_exceeded("followers of a room", MAX_PEOPLE, RETRY)
        return other

    def end(self, feed: Feed) -> None:
        """Remove a follower and end its call, so that another follower can be added."""
        self.remove(feed)
        feed.cut(limit_exceeded("followers of a room", MAX_PEOPLE, RETRY))

    def add(self, feed: Feed, room: Room, person: bytes | None, cursor: bytes) -> None:
        """Add a follower to a room.

        The feed receives the room's entries after a cursor. The other followers receive the changed presence.

        Args:
            feed: The follower's feed.
            room: The room.
            person: The SHA-256 of the person's secret, or None for an onlooker.
            cursor: The cursor.
        """
        before = room.presence()
        room.followers[feed] = person
        self._turn_of[feed] = turn = self._turns[next(self._numbers) % HEARTBEAT]
        turn[feed] = room
        self._by_client[feed.origin] += 1
        self._metrics.room_followers.inc()
        first = room.since(cursor)
        first.presence.CopyFrom(room.presence())
        first.time.GetCurrentTime()
        feed.send(first.SerializeToString())
        if first.presence != before:
            self.announcements.add(room)
        room.informed.add(feed)

    def remove(self, feed: Feed) -> Room:
        """Remove a follower, and return its room. The other followers of the room receive the changed presence."""
        room = self._turn_of.pop(feed).pop(feed)
        before = room.presence()
        del room.followers[feed]
        room.informed.discard(feed)
        self._by_client[feed.origin] -= 1
        if not self._by_client[feed.origin]:
            del self._by_client[feed.origin]
        self._metrics.room_followers.dec()
        if room.presence() != before:
            self.announcements.add(room)
        return room

    def look(self) -> None:
        """Send the heartbeats that are due."""
        self.rate.forget()
        for feed, room in self._turns[next(self._looks) % HEARTBEAT].items():
            feed.send(pb.FollowResponse(cursor=room.cursor).SerializeToString())


def half(most: int) -> int:
    """Return the part of a limit that one client may use."""
    return (most + 1) // 2
