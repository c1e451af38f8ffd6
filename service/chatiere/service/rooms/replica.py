"""A process's copy of a room that Redis stores, and the encoding of posts in Redis."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Iterable
from typing import NamedTuple

from chatiere.service.rooms.redis_session import Entries, Put
from chatiere.service.rooms.room import (
    EPOCH_SIZE,
    Change,
    Key,
    Named,
    Placed,
    Post,
    Replied,
    Room,
    Settled,
    is_seen,
    placed,
    told,
)
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

# An entry begins with a byte of flags, the hash of the table, and the person who posted the table. All of these are
# zero for other entries. The time follows, and then the RoomEntry.
_OWN, _WAITS = 1, 2
_HASH_SIZE, _TIME_SIZE = 32, 8
_TIME = 1 + 2 * _HASH_SIZE
_HEAD_SIZE = _TIME + _TIME_SIZE


class _Part(NamedTuple):
    # The presence of another process's followers, and the time of its last report.
    presence: pb.RoomPresence
    time: float


class Replica(Room):
    """A local copy of a room in Redis, for one session with Redis. It may lack the newest entries."""

    def __init__(self, key: bytes, run: bytes) -> None:
        """Create a copy without entries. `key`: the SHA-256 of the room's id. `run`: Redis's run id."""
        self.name, self._run = key.hex(), run
        super().__init__(key, "", 0.0)
        # The id in Redis of each entry.
        self._ids: dict[Key, bytes] = {}
        self._others: dict[bytes, _Part] = {}
        self.told = b""
        """The presence of this process's followers that was last sent to the other processes."""
        self.opening: asyncio.Task[None] | None = None
        """The task that first brings the copy up to date, or None if the copy is used only for a post."""
        self.waiting = 0
        """The number of calls that wait for `opening`."""
        self.begin(b"")

    # Entries

    @property
    def number(self) -> int:
        """The number of the last entry."""
        return self._number

    def begin(self, epoch: bytes) -> None:
        """Remove all entries. `epoch`: the epoch of the stream in Redis, or b"" if the stream does not exist yet."""
        # Include the run id in the cursors' epoch. If Redis restarts with an older state, clients then post the lost
        # entries again.
        self.clear(hashlib.sha256(self._run + epoch).digest()[:EPOCH_SIZE])
        self.epoch, self.last = epoch, b""
        self._ids = {}

    def next(self, change: Change) -> Put | None:
        """Return the new entry of a change in the form for Redis, or None if the change has no new entry."""
        if change.post is None:
            return None
        id = f"{self._number + 1}-{secrets.randbits(32)}".encode()
        gone = b",".join(self._ids[key] for key in change.gone)
        return Put(id, self._ids.get(change.post.key, b""), gone, _written(change.post), change.growth)

    def take(self, entries: Entries, gone: Iterable[bytes] = ()) -> pb.FollowResponse:
        """Add entries from Redis, in order.

        Args:
            entries: The entries.
            gone: The ids of the entries that were removed for them.

        Returns:
            The response with these entries.
        """
        self._remove(set(gone))
        response = pb.FollowResponse()
        for id, data in entries:
            post = _read(data)
            self.put(post, number_of(id))
            self._ids[post.key] = self.last = id
            if is_seen(post):
                response.entries.append(told(post))
        return response

    def catch_up(self, entries: Entries) -> pb.FollowResponse:
        """Bring the copy up to date with all entries of the room in Redis. Return the new entries as a response."""
        new = [each for each in entries if number_of(each[0]) > self._number]
        replaced = {_read(data).key for _, data in new}
        gone = {id for key, id in self._ids.items() if key not in replaced} - {id for id, _ in entries}
        return self.take(new, gone)

    def _remove(self, gone: set[bytes]) -> None:
        keys = [key for key, id in self._ids.items() if id in gone] if gone else []
        self.remove(keys)
        for key in keys:
            del self._ids[key]

    # Presence

    def presence(self) -> pb.RoomPresence:
        """Return the presence in the room, of the followers of all processes."""
        own = super().presence()
        people = set(own.people).union(*(part.presence.people for part in self._others.values()))
        onlookers = own.onlookers + sum(part.presence.onlookers for part in self._others.values())
        return pb.RoomPresence(people=sorted(people), onlookers=onlookers)

    def part(self) -> bytes:
        """Return the serialised presence of this process's followers, or b"" if it has no followers."""
        data: bytes = super().presence().SerializeToString()
        return data

    def hear_part(self, worker: bytes, part: bytes, time: float) -> bool:
        """Update the presence of another process's followers. Return True if the presence in the room has changed."""
        before = self.presence()
        self._others[worker] = _Part(pb.RoomPresence.FromString(part), time)
        return self.presence() != before

    def forget_parts(self, until: float) -> list[bytes]:
        """Remove the presence of processes that have sent no report since `until`, and return these processes."""
        silent = [worker for worker, part in self._others.items() if part.time < until]
        for worker in silent:
            del self._others[worker]
        return silent


def number_of(id: bytes) -> int:
    """Return the number of the entry with an id in Redis."""
    return int(id.partition(b"-")[0])


def _written(post: Post) -> bytes:
    data: bytes = post.time.to_bytes(_TIME_SIZE) + post.entry().SerializeToString()
    if not isinstance(post, Placed):
        return bytes(_TIME) + data
    flags = _OWN * post.is_own + _WAITS * post.waits
    return bytes([flags]) + post.hash + post.person.ljust(_HASH_SIZE, b"\0") + data


def _read(data: bytes) -> Post:
    flags, hash, person = data[0], data[1 : 1 + _HASH_SIZE], data[1 + _HASH_SIZE : _TIME]
    time = int.from_bytes(data[_TIME:_HEAD_SIZE])
    entry = pb.RoomEntry.FromString(data[_HEAD_SIZE:])
    kind = entry.WhichOneof("entry")
    if kind == "name":
        return Named(entry.name.person, entry.name.name, time)
    if kind == "reply":
        return Replied(entry.reply.invitation, entry.reply.person, time)
    if kind == "settings":
        return Settled(entry.settings.person, entry.settings.SerializeToString(deterministic=True), time)
    poster = person if any(person) else b""
    table = entry.proposal or entry.table
    header = tables_pb.TableHeader.FromString(tables_pb.SealedTable.FromString(table).header)
    found = placed(header, hash, table, poster, time)
    return found._replace(is_own=bool(flags & _OWN), waits=bool(flags & _WAITS))
