"""A process's copy of a room that Redis keeps, and the form in which Redis has what was posted."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from typing import NamedTuple

from chatiere.service.rooms.redis_session import Entries, Put
from chatiere.service.rooms.room import EPOCH_SIZE, Change, Key, Named, Placed, Post, Replied, Room
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

# Before an entry, the hash of its table; of other entries zeros.
_HASH_SIZE = 32


class _Part(NamedTuple):
    # The followers that another process has told of, and when.
    presence: pb.RoomPresence
    time: float


class Replica(Room):
    """A copy, which is up to date to some entry; of one session with Redis."""

    def __init__(self, key: bytes, run: bytes) -> None:
        """Begin with nothing. `key`: the SHA-256 of the room's id. `run`: the id of the run of Redis."""
        self.name, self._run = key.hex(), run
        super().__init__(key, "", 0.0)
        # The ids that entries have in Redis.
        self._ids: dict[Key, bytes] = {}
        self._others: dict[bytes, _Part] = {}
        self.told = b""
        """The part of who is here that the other processes know of."""
        self.opening: asyncio.Task[None] | None = None
        """The task that brings it up to date at first; None: nobody follows it."""
        self.waiting = 0
        """The calls that wait for that."""
        self.begin(b"")

    # Entries

    @property
    def number(self) -> int:
        """The number of the last entry."""
        return self._number

    def begin(self, epoch: bytes) -> None:
        """Begin anew without entries. `epoch`: of the stream in Redis; b"": there is none yet."""
        # Of the run, too: what Redis loses at its end is told again, even if it comes back with an older state.
        self.clear(hashlib.sha256(self._run + epoch).digest()[:EPOCH_SIZE])
        self.epoch, self.last = epoch, b""
        self._ids = {}

    def next(self, change: Change) -> Put | None:
        """Return a change as Redis takes it."""
        if change.post is None:
            return None
        id = f"{self._number + 1}-{secrets.randbits(32)}".encode()
        return Put(id, self._ids.get(change.post.key, b""), _written(change.post), change.growth)

    def take(self, entries: Entries) -> pb.FollowResponse:
        """Put in entries that Redis has, in order; return the response that tells of them."""
        response = pb.FollowResponse()
        for id, data in entries:
            post = _read(data)
            self.put(post, number_of(id))
            self._ids[post.key] = self.last = id
            response.entries.append(post.entry())
        return response

    # Presence

    def presence(self) -> pb.RoomPresence:
        """Return who is here, at all processes."""
        own = super().presence()
        people = set(own.people).union(*(part.presence.people for part in self._others.values()))
        onlookers = own.onlookers + sum(part.presence.onlookers for part in self._others.values())
        return pb.RoomPresence(people=sorted(people), onlookers=onlookers)

    def part(self) -> bytes:
        """Return this process's part of who is here, for the others; b"": nobody."""
        data: bytes = super().presence().SerializeToString()
        return data

    def hear_part(self, worker: bytes, part: bytes, time: float) -> None:
        """Take into account, and tell, what another process has told."""
        before = self.presence()
        self._others[worker] = _Part(pb.RoomPresence.FromString(part), time)
        self.tell_presence(before)

    def forget_parts(self, until: float) -> list[bytes]:
        """Forget the processes that have told nothing since, and tell it; return them."""
        before = self.presence()
        silent = [worker for worker, part in self._others.items() if part.time < until]
        for worker in silent:
            del self._others[worker]
        self.tell_presence(before)
        return silent


def number_of(id: bytes) -> int:
    """Return the number of the entry with an id in Redis."""
    return int(id.partition(b"-")[0])


def _written(post: Post) -> bytes:
    data: bytes = post.entry().SerializeToString()
    return (post.hash if isinstance(post, Placed) else bytes(_HASH_SIZE)) + data


def _read(data: bytes) -> Post:
    entry = pb.RoomEntry.FromString(data[_HASH_SIZE:])
    kind = entry.WhichOneof("entry")
    if kind == "name":
        return Named(entry.name.person, entry.name.name)
    if kind == "reply":
        return Replied(entry.reply.invitation, entry.reply.person)
    header = tables_pb.TableHeader.FromString(tables_pb.SealedTable.FromString(entry.table).header)
    return Placed(header.table_id, header.ply, header.parent, data[:_HASH_SIZE], entry.table)
