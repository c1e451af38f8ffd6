"""The relay of a single process. It has all rooms in memory, with limits in total and per client."""

from __future__ import annotations

import heapq
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from chatiere.service.base.errors import Refusal, limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.followers import RETRY, Followers, half
from chatiere.service.rooms.presence import EmoteRate
from chatiere.service.rooms.room import EMOTE, OF_ROOM, Change, Placed, Post, Room, kind_of
from chatiere.v1 import room_service_pb2 as pb

# The number of outdated amounts that the heap may contain in addition to one per owner.
_SPARE = 64


class Owner:
    """The rooms that a client created."""

    def __init__(self) -> None:
        """Create an owner without rooms."""
        # The rooms with and without followers, least recently used first. An OrderedDict finds its first item quickly
        # even after many items have been removed.
        self._followed: OrderedDict[bytes, Room] = OrderedDict()
        self._unfollowed: OrderedDict[bytes, Room] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        """Return the number of rooms."""
        return len(self._followed) + len(self._unfollowed)

    def use(self, room: Room) -> None:
        """Add a room or move it to the end, after a use or a change in its followers."""
        self.remove(room)
        (self._followed if room.followers else self._unfollowed)[room.key] = room

    def remove(self, room: Room) -> None:
        """Remove a room."""
        self._followed.pop(room.key, None)
        self._unfollowed.pop(room.key, None)

    def first_but(self, room: Room) -> Room | None:
        """Return the first room to delete, other than `room`, or None if the owner has no other room."""
        for rooms in (self._unfollowed, self._followed):
            for each in rooms.values():
                if each is not room:
                    return each
        return None


class Largest:
    """A collection of owners with amounts. It finds the owner with the largest amount without visiting all owners."""

    def __init__(self) -> None:
        """Create an empty collection."""
        self._amounts: dict[str, int] = {}
        # A heap of the negatives of all current amounts and some earlier amounts.
        self._heap: list[tuple[int, str]] = []

    def set(self, owner: str, amount: int) -> None:
        """Set an owner's amount, or 0 to forget the owner."""
        if amount:
            self._amounts[owner] = amount
            heapq.heappush(self._heap, (-amount, owner))
        else:
            self._amounts.pop(owner, None)
        if len(self._heap) > 2 * len(self._amounts) + _SPARE:
            self._heap = [(-amount, owner) for owner, amount in self._amounts.items()]
            heapq.heapify(self._heap)

    def owner(self) -> str:
        """Return the owner with the largest amount. There must be at least one owner."""
        while self._amounts.get(self._heap[0][1]) != -self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][1]


class MemoryRelay:
    """A relay that stores rooms in memory. See Relay.

    A client may use half of the limits of rooms, bytes and followers. When rooms or bytes reach a limit, the relay
    deletes the least recently used room of the client that uses the most. Rooms without followers are deleted first.
    """

    def __init__(self, settings: Settings, metrics: Metrics, now: Callable[[], float] = time.monotonic) -> None:
        """Create an empty relay. `now`: a function that returns the time in seconds."""
        self._settings, self._metrics, self._now = settings, metrics, now
        # The lock is reentrant, because a feed may end and call `_forget` while the lock is held.
        self._lock = threading.RLock()
        # Least recently used first.
        self._rooms: OrderedDict[bytes, Room] = OrderedDict()
        self._owners: dict[str, Owner] = {}
        self._by_rooms, self._by_size = Largest(), Largest()
        self.size = 0
        """See Relay."""
        self._followers = Followers(settings, metrics, now)
        self._emotes = EmoteRate(now)

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """See Relay."""
        with self._lock:
            room = self._found(client, key)
            change = self._change(room, post)
            # The chain may have reached waiting tables. Ignore the refusal of a waiting table that would exceed a
            # limit.
            with suppress(Refusal):
                while isinstance(post, Placed) and (waiting := room.next_waiting(post.table_id)) is not None:
                    self._change(room, waiting)
            self._metrics.room_posts.labels(kind_of(post), "taken" if change.is_taken else "refused").inc()
            return change

    def emote(self, key: bytes, emote: pb.RoomEmote) -> bool:
        """See Relay."""
        with self._lock:
            room = self._rooms.get(key)
            is_taken = room is not None and emote.person in room.people
            if room is not None and is_taken:
                self._emotes.charge(key, emote.person)
                room.tell_emote(emote)
            self._metrics.room_posts.labels(EMOTE, "taken" if is_taken else "refused").inc()
            return is_taken

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """See Relay."""
        with self._lock:
            room = self._found(feed.origin, key)
            other = self._followers.check(feed.origin, room, person)
            self._followers.rate.charge(feed.origin)
            self._make_way(room, 0)
            self._use(room)
            if other is not None:
                self._followers.end(other)
            self._followers.add(feed, room, person, cursor)
            self._use(room)
            return partial(self._forget, feed)

    def announce(self) -> None:
        """See Relay."""
        with self._lock:
            self._followers.announcements.announce()

    def look(self) -> None:
        """See Relay."""
        with self._lock:
            self._followers.look()
            self._emotes.forget()
            begun = self._now() - self._settings.room_lifetime
            while self._rooms and (room := next(iter(self._rooms.values()))).used <= begun:
                if room.followers:
                    self._use(room)
                else:
                    self._drop(room, "idle")

    def close(self) -> None:
        """See Relay."""

    def _change(self, room: Room, post: Post) -> Change:
        change = room.change_by(post)
        if change.post is not None:
            self._make_way(room, change.growth)
        self._use(room)
        if change.post is not None:
            room.remove(change.gone)
            room.put(change.post)
            self._grow(room, change.growth)
            room.tell_post(change.post)
        return change

    def _forget(self, feed: Feed) -> None:
        with self._lock:
            if feed not in self._followers:
                return
            room = self._followers.remove(feed)
            if self._rooms.get(room.key) is room:
                self._use(room)
                if room.is_empty and not room.followers:
                    self._remove(room)

    # Rooms

    def _found(self, client: str, key: bytes) -> Room:
        # Return the room with a key, or a new room if it does not exist.
        return self._rooms.get(key) or Room(key, client, self._now())

    def _use(self, room: Room) -> None:
        """Store a room if it is new, and make it the most recently used one."""
        room.used = self._now()
        is_new = room.key not in self._rooms
        self._rooms[room.key] = room
        self._rooms.move_to_end(room.key)
        owner = self._owners.setdefault(room.owner, Owner())
        owner.use(room)
        if is_new:
            self._grow(room, OF_ROOM)
            self._by_rooms.set(room.owner, len(owner))
        self._metrics.rooms.set(len(self._rooms))

    def _grow(self, room: Room, size: int) -> None:
        owner = self._owners[room.owner]
        owner.size += size
        self._by_size.set(room.owner, owner.size)
        self.size += size

    def _make_way(self, room: Room, growth: int) -> None:
        """Delete other rooms until a room may grow by a number of bytes. Raises Refusal (LIMIT_EXCEEDED)."""
        settings = self._settings
        more = int(room.key not in self._rooms)
        growth += more * OF_ROOM
        while True:
            own = self._owners.get(room.owner) or Owner()
            if len(own) + more > half(settings.max_rooms):
                limit, most, owner = "rooms of one client", half(settings.max_rooms), own
            elif own.size + growth > half(settings.max_room_bytes):
                limit, most, owner = "bytes of one client's rooms", half(settings.max_room_bytes), own
            elif len(self._rooms) + more > settings.max_rooms:
                limit, most = "rooms at a time", settings.max_rooms
                owner = self._owners[self._by_rooms.owner()]
            elif self.size + growth > settings.max_room_bytes:
                limit, most = "bytes of all rooms", settings.max_room_bytes
                owner = self._owners[self._by_size.owner()]
            else:
                return
            found = owner.first_but(room)
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
        owner.remove(room)
        self._grow(room, -room.size)
        self._by_rooms.set(room.owner, len(owner))
        if not len(owner):
            del self._owners[room.owner]
        self._metrics.rooms.set(len(self._rooms))
