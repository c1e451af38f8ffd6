"""All rooms of a process, in memory: who is told what, and how much is kept, of a client and in all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import count

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.room import MAX_PEOPLE, OF_ROOM, Change, Post, Room, kind_of
from chatiere.v1 import room_service_pb2 as pb

LOOK = 1.0
"""Seconds between two looks at the rooms."""
HEARTBEAT = 15
"""Looks between two heartbeats of a follower: proxies end connections on which nothing comes for a minute."""
# Seconds after which to try again what too much is kept for.
_RETRY = 1.0


class Owner:
    """The rooms that a client began, the one that is unused for longest first, and its followers of any room."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rooms: dict[bytes, Room] = {}
        self.size = self.followers = 0


class Relay:
    """The rooms; for any thread.

    A client may have half of all rooms, bytes and followers. When rooms or bytes are short, the client that has most
    loses a room: the one that is unused for longest, of those that nobody follows if there are any.
    """

    def __init__(self, settings: Settings, metrics: Metrics, now: Callable[[], float] = time.monotonic) -> None:
        """Begin without rooms. `now`: returns the time, in seconds."""
        self._settings, self._metrics, self._now = settings, metrics, now
        # Entered again by feeds that end at once.
        self._lock = threading.RLock()
        # The one that is unused for longest first.
        self._rooms: dict[bytes, Room] = {}
        self._owners: dict[str, Owner] = {}
        self.size = 0
        """Bytes of memory that all rooms take."""
        # The followers that get their heartbeats at the same look.
        self._turns: list[dict[Feed, Room]] = [{} for _ in range(HEARTBEAT)]
        self._looks, self._numbers = count(), count()

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """Put something into a room and tell its followers; return what it did. Raises Refusal (LIMIT_EXCEEDED).

        `key`: the SHA-256 of the room's id.
        """
        with self._lock:
            room = self._found(client, key)
            change = room.change_by(post)
            if change.post is not None:
                room.check_bounds(change.post, change.growth)
                self._make_way(room, change.growth)
            self._use(room)
            if change.post is not None:
                room.put(change.post)
                self._grow(room, change.growth)
                self._tell(room, pb.FollowResponse(entries=[change.post.entry()]))
            self._metrics.room_posts.labels(kind_of(post), "taken" if change.is_taken else "refused").inc()
            return change

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """Tell a feed of a room, from a cursor on. Return what to call at its end. Raises Refusal (LIMIT_EXCEEDED).

        `person`: the SHA-256 of the person's secret; None: an onlooker.
        """
        with self._lock:
            most = _half(self._settings.max_followers)
            if feed.origin in self._owners and self._owners[feed.origin].followers >= most:
                raise limit_exceeded("followers of one client", most, _RETRY)
            room = self._found(feed.origin, key)
            if len(room.followers) >= MAX_PEOPLE:
                raise limit_exceeded("followers of a room", MAX_PEOPLE, _RETRY)
            self._make_way(room, 0)
            self._use(room)
            before = room.presence()
            room.followers[feed] = person
            turn = self._turns[next(self._numbers) % HEARTBEAT]
            turn[feed] = room
            self._owners.setdefault(feed.origin, Owner()).followers += 1
            self._metrics.room_followers.inc()
            first = room.since(cursor)
            first.presence.CopyFrom(room.presence())
            feed.send(first.SerializeToString())
            self._tell_presence(room, before, but=feed)
            return partial(self._forget, room, feed, turn)

    def look(self) -> None:
        """Send the heartbeats that are due, and forget rooms that nobody has used for long; to be called each LOOK."""
        with self._lock:
            for feed, room in self._turns[next(self._looks) % HEARTBEAT].items():
                feed.send(pb.FollowResponse(cursor=room.cursor).SerializeToString())
            begun = self._now() - self._settings.room_lifetime
            for room in list(self._rooms.values()):
                if room.used > begun:
                    break
                if room.followers:
                    self._use(room)
                else:
                    self._drop(room, "idle")

    # Followers

    def _forget(self, room: Room, feed: Feed, turn: dict[Feed, Room]) -> None:
        with self._lock:
            before = room.presence()
            del room.followers[feed], turn[feed]
            owner = self._owners[feed.origin]
            owner.followers -= 1
            self._forget_owner(feed.origin, owner)
            self._metrics.room_followers.dec()
            if self._rooms.get(room.key) is not room:
                return
            self._use(room)
            if room.is_empty and not room.followers:
                self._remove(room)
            else:
                self._tell_presence(room, before)

    def _tell_presence(self, room: Room, before: pb.RoomPresence, but: Feed | None = None) -> None:
        presence = room.presence()
        if presence != before:
            self._tell(room, pb.FollowResponse(presence=presence), but)

    def _tell(self, room: Room, response: pb.FollowResponse, but: Feed | None = None) -> None:
        response.cursor = room.cursor
        data = response.SerializeToString()
        for feed in room.followers:
            if feed is not but:
                feed.send(data)

    # Rooms

    def _found(self, client: str, key: bytes) -> Room:
        # The room with a key, or one that is not kept yet.
        return self._rooms.get(key) or Room(key, client, self._now())

    def _use(self, room: Room) -> None:
        """Keep a room, as the last one that was used."""
        room.used = self._now()
        if self._rooms.pop(room.key, None) is None:
            self._grow(room, OF_ROOM)
        self._rooms[room.key] = room
        rooms = self._owners[room.owner].rooms
        rooms.pop(room.key, None)
        rooms[room.key] = room
        self._metrics.rooms.set(len(self._rooms))

    def _grow(self, room: Room, size: int) -> None:
        self._owners.setdefault(room.owner, Owner()).size += size
        self.size += size

    def _make_way(self, room: Room, growth: int) -> None:
        """Drop others until a room may be kept, and grow by so many bytes. Raises Refusal (LIMIT_EXCEEDED)."""
        settings = self._settings
        more = int(room.key not in self._rooms)
        growth += more * OF_ROOM
        while True:
            own = self._owners.get(room.owner) or Owner()
            if len(own.rooms) + more > _half(settings.max_rooms):
                limit, most, owner = "rooms of one client", _half(settings.max_rooms), own
            elif own.size + growth > _half(settings.max_room_bytes):
                limit, most, owner = "bytes of one client's rooms", _half(settings.max_room_bytes), own
            elif len(self._rooms) + more > settings.max_rooms:
                limit, most = "rooms at a time", settings.max_rooms
                owner = max(self._owners.values(), key=lambda each: len(each.rooms))
            elif self.size + growth > settings.max_room_bytes:
                limit, most = "bytes of all rooms", settings.max_room_bytes
                owner = max(self._owners.values(), key=lambda each: each.size)
            else:
                return
            others = [each for each in owner.rooms.values() if each is not room]
            if not others:
                raise limit_exceeded(limit, most, _RETRY)
            self._drop(next((each for each in others if not each.followers), others[0]), "full")

    def _drop(self, room: Room, reason: str) -> None:
        self._remove(room)
        self._metrics.rooms_dropped.labels(reason).inc()
        for feed in list(room.followers):
            feed.cut(limit_exceeded("rooms at a time", self._settings.max_rooms, _RETRY))

    def _remove(self, room: Room) -> None:
        del self._rooms[room.key]
        owner = self._owners[room.owner]
        del owner.rooms[room.key]
        self._grow(room, -room.size)
        self._forget_owner(room.owner, owner)
        self._metrics.rooms.set(len(self._rooms))

    def _forget_owner(self, client: str, owner: Owner) -> None:
        if not (owner.rooms or owner.followers):
            del self._owners[client]


def _half(most: int) -> int:
    return (most + 1) // 2
