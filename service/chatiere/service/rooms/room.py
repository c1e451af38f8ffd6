"""A room: a small log of what was posted, in which each table, name and reply stands once, where it last changed."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import NamedTuple

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.exchange.methods import Feed
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

EPOCH_SIZE, _NUMBER_SIZE = 8, 8
CURSOR_SIZE = EPOCH_SIZE + _NUMBER_SIZE
OF_ROOM, OF_ENTRY = 2048, 512
"""Bytes of memory that a room takes at least, and an entry beside its own bytes."""
MAX_BYTES = 4 * 1024 * 1024
"""Bytes of a room. The tables of the longest game that may be take 2.4 MB, and gRPC's clients take 4 MiB at once."""
MAX_PEOPLE = 64
"""Names, replies and followers of a room, at most so many of each."""

# What stands once in a room: the kind, and which of it.
Key = tuple[str, bytes, bytes | int]


class Placed(NamedTuple):
    """A table, of which the relay knows no more than everybody does."""

    table_id: bytes
    ply: int
    parent: bytes
    hash: bytes
    table: bytes
    """The bytes of a SealedTable."""

    @property
    def key(self) -> Key:
        """What it takes the place of."""
        return "table", self.table_id, self.ply

    def entry(self) -> pb.RoomEntry:
        """Return it as followers get it."""
        return pb.RoomEntry(table=self.table)


class Named(NamedTuple):
    """A person's name."""

    person: bytes
    name: str

    @property
    def key(self) -> Key:
        """What it takes the place of."""
        return "name", self.person, 0

    def entry(self) -> pb.RoomEntry:
        """Return it as followers get it."""
        return pb.RoomEntry(name=pb.RoomName(person=self.person, name=self.name))


class Replied(NamedTuple):
    """A reply to an invitation."""

    invitation: bytes
    person: bytes

    @property
    def key(self) -> Key:
        """What it takes the place of."""
        return "reply", self.invitation, self.person

    def entry(self) -> pb.RoomEntry:
        """Return it as followers get it."""
        return pb.RoomEntry(reply=pb.RoomReply(invitation=self.invitation, person=self.person))


Post = Placed | Named | Replied


class Change(NamedTuple):
    """The effect of a post."""

    is_taken: bool
    held: Placed | None
    """The table of which PostResponse tells; None: none."""
    post: Post | None
    """Goes in; None: nothing changes."""
    growth: int
    """Bytes that the room grows by."""


class _Entry(NamedTuple):
    number: int
    post: Post
    size: int


class Room:
    """A room; its owner is the client that began it, as limits see it."""

    def __init__(self, key: bytes, owner: str, now: float) -> None:
        """Begin without anything. `key`: the SHA-256 of its id."""
        self.key, self.owner, self.used = key, owner, now
        self.followers: dict[Feed, bytes | None] = {}
        """The person of each; None: an onlooker."""
        self.clear(secrets.token_bytes(EPOCH_SIZE))

    def clear(self, epoch: bytes) -> None:
        """Begin anew without anything but the followers. `epoch`: of its cursors."""
        self.size = OF_ROOM
        self._epoch = epoch
        self._number = 0
        # In the order of their last changes.
        self._entries: dict[Key, _Entry] = {}
        self._kinds: Counter[str] = Counter()
        # By table id, the lowest and the newest ply.
        self._plies: dict[bytes, tuple[int, int]] = {}

    @property
    def cursor(self) -> bytes:
        """Where the room stands."""
        return self._epoch + self._number.to_bytes(_NUMBER_SIZE)

    def change_by(self, post: Post) -> Change:
        """Return the effect that a post would have, and change nothing."""
        if isinstance(post, Placed):
            return self._change_by_table(post)
        return self._change_to(post, None)

    def check_bounds(self, post: Post, growth: int) -> None:
        """Check that the room may grow by a post. Raises Refusal (LIMIT_EXCEEDED)."""
        if self.size + growth > MAX_BYTES:
            raise limit_exceeded("bytes of a room", MAX_BYTES)
        is_another = not isinstance(post, Placed) and post.key not in self._entries
        if is_another and self._kinds[kind_of(post)] >= MAX_PEOPLE:
            raise limit_exceeded(f"posts of a room that are a {kind_of(post)}", MAX_PEOPLE)

    def put(self, post: Post, number: int | None = None) -> None:
        """Put something in that `change_by` has returned. `number`: of the entry; None: the next."""
        self._number = self._number + 1 if number is None else number
        entry = _Entry(self._number, post, _size_of(post))
        before = self._entries.pop(post.key, None)
        self._entries[post.key] = entry
        self.size += entry.size - (0 if before is None else before.size)
        self._kinds[kind_of(post)] += before is None
        if isinstance(post, Placed):
            lowest, newest = self._plies.get(post.table_id, (post.ply, post.ply))
            self._plies[post.table_id] = min(lowest, post.ply), max(newest, post.ply)

    def since(self, cursor: bytes) -> pb.FollowResponse:
        """Return what has changed since a cursor, or all if that is not one of this room."""
        is_own = len(cursor) == CURSOR_SIZE and cursor[:EPOCH_SIZE] == self._epoch
        number = int.from_bytes(cursor[EPOCH_SIZE:]) if is_own else 0
        entries = [entry.post.entry() for entry in self._entries.values() if entry.number > number]
        return pb.FollowResponse(entries=entries, cursor=self.cursor, is_whole=not is_own)

    def presence(self) -> pb.RoomPresence:
        """Return who is here."""
        people = {person for person in self.followers.values() if person is not None}
        onlookers = sum(person is None for person in self.followers.values())
        return pb.RoomPresence(people=sorted(people), onlookers=onlookers)

    def tell(self, response: pb.FollowResponse, but: Feed | None = None) -> None:
        """Send a response to all followers, with where the room stands. `but`: not to this one."""
        response.cursor = self.cursor
        data = response.SerializeToString()
        for feed in self.followers:
            if feed is not but:
                feed.send(data)

    def tell_presence(self, before: pb.RoomPresence, but: Feed | None = None) -> None:
        """Tell all followers who is here, if that is another than before. `but`: not this one."""
        presence = self.presence()
        if presence != before:
            self.tell(pb.FollowResponse(presence=presence), but)

    @property
    def is_empty(self) -> bool:
        """True if nothing was posted yet."""
        return not self._entries

    def _change_by_table(self, post: Placed) -> Change:
        plies = self._plies.get(post.table_id)
        if plies is None:
            return self._change_to(post, post)
        lowest, newest = (self._table(post.table_id, ply) for ply in plies)
        if lowest.ply <= post.ply <= newest.ply:
            held = self._table(post.table_id, post.ply)
            if held.hash != post.hash:
                return Change(False, held, None, 0)
            merged = post._replace(table=merged_tables(held.table, post.table))
            return self._change_to(merged, merged)
        follows = post.ply == newest.ply + 1 and post.parent == newest.hash
        precedes = post.ply == lowest.ply - 1 and post.hash == lowest.parent
        if follows or precedes:
            return self._change_to(post, post)
        return Change(False, newest, None, 0)

    def _change_to(self, post: Post, held: Placed | None) -> Change:
        before = self._entries.get(post.key)
        if before is not None and before.post == post:
            return Change(True, held, None, 0)
        return Change(True, held, post, _size_of(post) - (0 if before is None else before.size))

    def _table(self, table_id: bytes, ply: int) -> Placed:
        post = self._entries["table", table_id, ply].post
        assert isinstance(post, Placed)
        return post


def merged_tables(one: bytes, other: bytes) -> bytes:
    """Return a table with the acknowledgements of two authentic copies of it, in the one form that a table has."""
    table = tables_pb.SealedTable.FromString(one)
    by_seat = {each.seat: each for each in tables_pb.SealedTable.FromString(other).acknowledgements}
    by_seat |= {each.seat: each for each in table.acknowledgements}
    kept = [by_seat[seat] for seat in sorted(by_seat)]
    del table.acknowledgements[:]
    table.acknowledgements.extend(kept)
    return table.SerializeToString(deterministic=True)


def kind_of(post: Post) -> str:
    """Return what a post is, in a word."""
    return post.key[0]


def _size_of(post: Post) -> int:
    return OF_ENTRY + post.entry().ByteSize()
