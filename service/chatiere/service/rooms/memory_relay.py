"""The relay of one process: all rooms in its memory, and how much is kept, of a client and in all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.followers import RETRY, Followers, half
from chatiere.service.rooms.room import OF_ROOM, Change, Post, Room, kind_of
from chatiere.v1 import room_service_pb2 as pb


class Owner:
    """The rooms that a client began, the one that is unused for longest first."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rooms: dict[bytes, Room] = {}
        self.size = 0


class MemoryRelay:
    """The rooms; see Relay.

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
        """See Relay."""
        self._followers = Followers(settings, metrics)

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """See Relay."""
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
                room.tell(pb.FollowResponse(entries=[change.post.entry()]))
            self._metrics.room_posts.labels(kind_of(post), "taken" if change.is_taken else "refused").inc()
            return change

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """See Relay."""
        with self._lock:
            room = self._found(feed.origin, key)
            self._followers.check(feed.origin, room)
            self._make_way(room, 0)
            self._use(room)
            self._followers.add(feed, room, person, cursor)
            return partial(self._forget, feed)

    def look(self) -> None:
        """See Relay."""
        with self._lock:
            self._followers.look()
            begun = self._now() - self._settings.room_lifetime
            for room in list(self._rooms.values()):
                if room.used > begun:
                    break
                if room.followers:
                    self._use(room)
                else:
                    self._drop(room, "idle")

    def close(self) -> None:
        """See Relay."""

    def _forget(self, feed: Feed) -> None:
        with self._lock:
            room = self._followers.remove(feed)
            if self._rooms.get(room.key) is room:
                self._use(room)
                if room.is_empty and not room.followers:
                    self._remove(room)

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
            if len(own.rooms) + more > half(settings.max_rooms):
                limit, most, owner = "rooms of one client", half(settings.max_rooms), own
            elif own.size + growth > half(settings.max_room_bytes):
                limit, most, owner = "bytes of one client's rooms", half(settings.max_room_bytes), own
            elif len(self._rooms) + more > settings.max_rooms:
                limit, most = "rooms at a time", settings.max_rooms
                owner = max(self._owners.values(), key=lambda each: len(each.rooms))
            elif self.size + growth > settings.max_room_bytes:
                limit, most = "bytes of all rooms", settings.max_room_bytes
                owner = max(self._owners.values(), key=lambda each: each.size)
            else:
                return
            # The first that will do: of thousands of rooms, all are looked at only if all are followed.
            found = next((each for each in owner.rooms.values() if each is not room and not each.followers), None)
            found = found or next((each for each in owner.rooms.values() if each is not room), None)
            if found is None:
                raise limit_exceeded(limit, most, RETRY)
            self._drop(found, "full")

    def _drop(self, room: Room, reason: str) -> None:
        self._remove(room)
        self._metrics.rooms_dropped.labels(reason).inc()
        for feed in list(room.followers):
            feed.cut(limit_exceeded("rooms at a time", self._settings.max_rooms, RETRY))

    def _remove(self, room: Room) -> None:
        del self._rooms[room.key]
        owner = self._owners[room.owner]
        del owner.rooms[room.key]
        self._grow(room, -room.size)
        if not owner.rooms:
            del self._owners[room.owner]
        self._metrics.rooms.set(len(self._rooms))
