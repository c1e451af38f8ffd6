"""A room: a small log of posts. Each table, name and reply occurs once, in the order of the last changes."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from chatiere.service.base.errors import limit_exceeded
from chatiere.service.exchange.methods import Feed
from chatiere.service.tables.seal import info_of
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

EPOCH_SIZE, _NUMBER_SIZE = 8, 8
CURSOR_SIZE = EPOCH_SIZE + _NUMBER_SIZE
OF_ROOM, OF_ENTRY = 2048, 512
"""The size in bytes that an empty room counts for, and the minimum size that an entry counts for beyond its content."""
MAX_BYTES = 4 * 1024 * 1024
"""The maximum size of a room in bytes. By default, gRPC clients accept at most 4 MiB in one response."""
MAX_SPARE_BYTES = 1024 * 1024
"""The maximum size of a room's spare tables in bytes. The rest suffices for the longest game (2.4 MB of tables)."""
MAX_PEOPLE = 64
"""The maximum numbers: a room's followers, one person's replies, strangers' names, and strangers' replies."""

EMOTE = "emote"
"""The kind of emotes, as a label of metrics. A room does not keep them."""

# The kinds of entries, and the name of the room's part with the spare tables (see Room).
_NAMES, _REPLIES, _SETTINGS = "name", "reply", "settings"
_TABLES, _PROPOSALS, _WAITING, _SPARE = "table", "proposal", "waiting", "spare"

# The identity of an entry: its kind, and two parts that identify it within that kind.
Key = tuple[str, bytes, bytes | int]


class Placed(NamedTuple):
    """A post of a table, with the public part of its contents."""

    table_id: bytes
    ply: int
    parent: bytes
    hash: bytes
    table: bytes
    """The bytes of a SealedTable."""
    person: bytes
    """The first person who posted the table."""
    seats: tuple[bytes, ...] = ()
    """The persons with seats at the table."""
    is_own: bool = False
    """True for a table of one of the room's own games."""
    waits: bool = False
    """True for a table that the game's chain does not reach yet."""
    proposes: bool = False
    """True for an amended table that is not open yet."""
    time: int = 0
    """The time at which the room accepted the post, in milliseconds since 1970."""

    @property
    def key(self) -> Key:
        """The identity of the entry."""
        if self.proposes:
            return _PROPOSALS, self.table_id, 0
        return (_WAITING, self.table_id, self.hash) if self.waits else (_TABLES, self.table_id, self.ply)

    def entry(self) -> pb.RoomEntry:
        """Return the entry without `time` and `info`."""
        if self.proposes:
            return pb.RoomEntry(proposal=self.table, is_foreign=not self.is_own)
        return pb.RoomEntry(table=self.table, is_foreign=not self.is_own)


class Named(NamedTuple):
    """A person's name."""

    person: bytes
    name: str
    time: int = 0
    """The time at which the room accepted the post, in milliseconds since 1970."""

    @property
    def key(self) -> Key:
        """The identity of the entry."""
        return _NAMES, self.person, 0

    def entry(self) -> pb.RoomEntry:
        """Return the entry without `time` and `info`."""
        return pb.RoomEntry(name=pb.RoomName(person=self.person, name=self.name))


class Replied(NamedTuple):
    """A reply to an invitation."""

    invitation: bytes
    person: bytes
    time: int = 0
    """The time at which the room accepted the post, in milliseconds since 1970."""

    @property
    def key(self) -> Key:
        """The identity of the entry."""
        return _REPLIES, self.invitation, self.person

    def entry(self) -> pb.RoomEntry:
        """Return the entry without `time` and `info`."""
        return pb.RoomEntry(reply=pb.RoomReply(invitation=self.invitation, person=self.person))


class Settled(NamedTuple):
    """The settings of future games."""

    person: bytes
    settings: bytes
    """The bytes of a RoomSettings, with the person."""
    time: int = 0
    """The time at which the room accepted the post, in milliseconds since 1970."""

    @property
    def key(self) -> Key:
        """The identity of the entry."""
        return _SETTINGS, b"", 0

    def entry(self) -> pb.RoomEntry:
        """Return the entry without `time` and `info`."""
        return pb.RoomEntry(settings=pb.RoomSettings.FromString(self.settings))


Post = Placed | Named | Replied | Settled


class Change(NamedTuple):
    """The effect of a post."""

    is_taken: bool
    held: Placed | None
    """The table to return in PostResponse, if any."""
    post: Post | None = None
    """The entry to put into the room, or None if the room does not change."""
    gone: tuple[Key, ...] = ()
    """The entries to remove for the new entry."""
    growth: int = 0
    """The number of bytes by which the room grows. It is negative if the room shrinks."""


class _Entry(NamedTuple):
    number: int
    post: Post
    size: int


class Room:
    """A room. Its owner is the client that created the room, as identified for limits.

    The room's people are the first person who posted settings or a table, and the persons with seats at the room's own
    games. The room's own games are the games whose first table was posted by one of the room's people. All other
    persons are strangers.

    The tables of a game form a chain. It begins with the first table posted, and grows at both ends. The game's
    tables outside the chain wait, invisible to followers, until the chain reaches them. An amended table that follows
    the newest table is a proposal until it is open. Each game may have one proposal. It is not part of the chain.

    Waiting tables, and tables of games that are not the room's own, are *spare*. When spare tables reach their limit,
    other spare tables are removed, but no other entries. The same applies to names and replies of strangers. The person
    with the most of these entries loses entries first, beginning with those unchanged for longest.
    """

    def __init__(self, key: bytes, owner: str, now: float) -> None:
        """Create a room without entries. `key`: the SHA-256 of the room's id."""
        self.key, self.owner, self.used = key, owner, now
        self.followers: dict[Feed, bytes | None] = {}
        """The person of each follower, or None for an onlooker."""
        self.informed: set[Feed] = set()
        """The followers that have received the current presence."""
        self.clear(secrets.token_bytes(EPOCH_SIZE))

    def clear(self, epoch: bytes) -> None:
        """Remove everything except the followers. `epoch`: the new epoch of the room's cursors."""
        self.size = OF_ROOM
        self._spare_size = 0
        self._epoch = epoch
        self._number = 0
        # Both mappings are in the order of the last changes.
        self._entries: dict[Key, _Entry] = {}
        self._parts: dict[str, dict[Key, _Entry]] = {
            part: {} for part in (_NAMES, _REPLIES, _SETTINGS, _TABLES, _SPARE)
        }
        # The key of the waiting table for each table id and parent.
        self._waiting: dict[tuple[bytes, bytes], Key] = {}
        # For each table id, the lowest and the highest ply of the chain.
        self._chains: dict[bytes, tuple[int, int]] = {}
        self._own_games: set[bytes] = set()
        self.people: set[bytes] = set()
        """The persons who are the room's people."""

    @property
    def cursor(self) -> bytes:
        """The cursor after the last entry."""
        return self._epoch + self._number.to_bytes(_NUMBER_SIZE)

    @property
    def is_empty(self) -> bool:
        """True if the room has no entries."""
        return not self._entries

    # Changes

    def change_by(self, post: Post) -> Change:
        """Return the effect of a post without applying it. Raises Refusal (LIMIT_EXCEEDED)."""
        if isinstance(post, Placed):
            return self._change_by_table(post)
        if isinstance(post, Settled) and self.people and post.person not in self.people:
            return Change(False, None)
        return self._change_to(post, None)

    def put(self, post: Post, number: int | None = None) -> None:
        """Add an entry returned by `change_by`. `number`: the number of the entry, or None for the next number."""
        self._number = self._number + 1 if number is None else number
        self._forget(post.key)
        entry = _Entry(self._number, post._replace(seats=()) if isinstance(post, Placed) else post, _size_of(post))
        self._entries[post.key] = self._parts[_part_of(post)][post.key] = entry
        self._add_size(entry, 1)
        if isinstance(post, Settled):
            self.people.add(post.person)
        elif isinstance(post, Placed) and post.waits:
            self._waiting[post.table_id, post.parent] = post.key
        elif isinstance(post, Placed) and not post.proposes:
            lowest, newest = self._chains.get(post.table_id, (post.ply, post.ply))
            self._chains[post.table_id] = min(lowest, post.ply), max(newest, post.ply)
            if post.is_own:
                self._own_games.add(post.table_id)
                self.people.update(each for each in (post.person, *post.seats) if each)

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove entries. If one of them is a table of a chain, `keys` must contain all tables of the chain."""
        for key in keys:
            self._forget(key)
            kind, table_id, _ = key
            if kind == _TABLES:
                self._chains.pop(table_id, None)

    def next_waiting(self, table_id: bytes) -> Placed | None:
        """Return a waiting table that extends a game's chain, to be posted again, or None if no waiting table does."""
        chain = self._chains.get(table_id)
        if chain is None:
            return None
        lowest, newest = (self._table(table_id, ply) for ply in chain)
        for key in ((_WAITING, table_id, lowest.parent), self._waiting.get((table_id, newest.hash))):
            entry = self._entries.get(key) if key else None
            if entry is not None and isinstance(entry.post, Placed):
                found = entry.post._replace(waits=False)
                if self._extends_chain(found):
                    return found
        return None

    def _forget(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            del self._parts[_part_of(entry.post)][key]
            self._add_size(entry, -1)
            if isinstance(entry.post, Placed):
                parent = entry.post.table_id, entry.post.parent
                if self._waiting.get(parent) == key:
                    del self._waiting[parent]

    def _add_size(self, entry: _Entry, sign: int) -> None:
        self.size += sign * entry.size
        if _part_of(entry.post) == _SPARE:
            self._spare_size += sign * entry.size

    def _change_by_proposal(self, post: Placed) -> Change:
        chain = self._chains.get(post.table_id)
        if chain is None:
            return Change(False, None)
        newest = self._table(post.table_id, chain[1])
        if (post.ply, post.parent) != (newest.ply + 1, newest.hash):
            return Change(False, newest)
        before = self._entries.get(post.key)
        if before is not None and isinstance(before.post, Placed) and before.post.hash == post.hash:
            post = before.post._replace(table=merged_tables(before.post.table, post.table))
            if not info_of(post.table).missing:
                post = post._replace(seats=_seats_of(info_of(post.table).header), proposes=False)
        return self._change_to(post, post)

    def _change_by_table(self, post: Placed) -> Change:
        if post.proposes:
            return self._change_by_proposal(post)
        chain = self._chains.get(post.table_id)
        if chain is None or self._extends_chain(post):
            return self._change_to(post, post)
        lowest, newest = chain
        if lowest <= post.ply <= newest:
            held = self._table(post.table_id, post.ply)
            if held.hash != post.hash:
                return Change(False, held)
            merged = held._replace(table=merged_tables(held.table, post.table))
            return self._change_to(merged, merged)
        held = self._table(post.table_id, newest)
        if lowest - 1 <= post.ply <= newest + 1:
            return Change(False, held)
        waiting = post._replace(waits=True)
        before = self._entries.get(waiting.key)
        if before is not None and isinstance(before.post, Placed):
            waiting = before.post._replace(table=merged_tables(before.post.table, post.table))
        return self._change_to(waiting, held)._replace(is_taken=False)

    def _extends_chain(self, post: Placed) -> bool:
        chain = self._chains.get(post.table_id)
        if chain is None:
            return False
        lowest, newest = (self._table(post.table_id, ply) for ply in chain)
        follows = post.ply == newest.ply + 1 and post.parent == newest.hash
        precedes = post.ply == lowest.ply - 1 and post.hash == lowest.parent
        return follows or precedes

    def _change_to(self, post: Post, held: Placed | None) -> Change:
        reached: tuple[Key, ...] = ()
        if isinstance(post, Placed) and not post.waits:
            post = self._owned(post)
            if not post.proposes:
                reached = self._reached(post)
        before = self._entries.get(post.key)
        if before is not None and before.post.entry() == post.entry():
            return Change(True, held)
        gone = reached + self._giving_way(post)
        growth = _size_of(post) - sum(self._entries[key].size for key in {post.key, *gone} if key in self._entries)
        self._check_bounds(post, growth)
        return Change(True, held, post, gone, growth)

    def _reached(self, post: Placed) -> tuple[Key, ...]:
        # Return the key of a table's waiting copy, and the key of the proposal that the table replaces.
        waiting, proposal = post._replace(waits=True).key, post._replace(proposes=True).key
        found = [waiting] if waiting in self._entries else []
        proposed = self._entries.get(proposal)
        if proposed is not None and isinstance(proposed.post, Placed) and proposed.post.ply <= post.ply:
            found.append(proposal)
        return tuple(found)

    def _owned(self, post: Placed) -> Placed:
        # A person who adds missing tables to one of the room's own games does not become one of the room's people.
        if post.table_id in self._chains:
            is_own, is_known = post.table_id in self._own_games, post.person in self.people
            return post._replace(is_own=is_own, person=post.person if is_known or not is_own else b"")
        return post._replace(is_own=not self.people or post.person in self.people)

    def _check_bounds(self, post: Post, growth: int) -> None:
        part, most = _part_of(post), MAX_BYTES - MAX_SPARE_BYTES
        if part != _SPARE and self.size - self._spare_size + growth > most:
            raise limit_exceeded("bytes of a room", most)
        replies = self._parts[_REPLIES].values()
        is_persons = part == _REPLIES and post.person in self.people
        if is_persons and sum(each.post.person == post.person for each in replies) >= MAX_PEOPLE:
            raise limit_exceeded("replies of one person", MAX_PEOPLE)

    def _giving_way(self, post: Post) -> tuple[Key, ...]:
        """Return the keys of all entries to remove for a post."""
        part = _part_of(post)
        if part != _SPARE and (part in (_SETTINGS, _TABLES) or post.person in self.people):
            return ()
        own = _size_of(post) if part == _SPARE else 1
        if part == _SPARE and self._spare_size + own <= MAX_SPARE_BYTES:
            return ()
        # Free a quarter of the bytes at a time, because each call visits all entries.
        most = MAX_SPARE_BYTES * 3 // 4 if part == _SPARE else MAX_PEOPLE
        # Group the entries into units that are removed as a whole. The units are in the order of their last changes,
        # oldest first. The tables of a game form one unit.
        units: dict[Key | bytes, list[_Entry]] = {}
        for key, entry in self._parts[part].items():
            if key != post.key and (part == _SPARE or entry.post.person not in self.people):
                unit = entry.post.table_id if isinstance(entry.post, Placed) and not entry.post.waits else key
                units[unit] = units.pop(unit, [])
                units[unit].append(entry)

        def weight(entries: list[_Entry]) -> int:
            return sum(entry.size for entry in entries) if part == _SPARE else len(entries)

        loads = Counter({post.person: own})
        for entries in units.values():
            loads[entries[0].post.person] += weight(entries)
        gone: list[_Entry] = []
        total = loads.total()
        while total > most and units:
            unit, entries = max(units.items(), key=lambda each: loads[each[1][0].post.person])
            total -= weight(entries)
            loads[entries[0].post.person] -= weight(entries)
            gone += units.pop(unit)
        return tuple(entry.post.key for entry in gone)

    # Responses

    def since(self, cursor: bytes) -> pb.FollowResponse:
        """Return the entries after a cursor, or all entries if the cursor belongs to a different room or epoch."""
        is_own = len(cursor) == CURSOR_SIZE and cursor[:EPOCH_SIZE] == self._epoch
        number = int.from_bytes(cursor[EPOCH_SIZE:]) if is_own else 0
        later = [entry.post for entry in self._entries.values() if entry.number > number]
        entries = [told(post) for post in later if is_seen(post)]
        return pb.FollowResponse(entries=entries, cursor=self.cursor, is_whole=not is_own)

    def presence(self) -> pb.RoomPresence:
        """Return the presence: the people and the number of onlookers among the followers."""
        people = {person for person in self.followers.values() if person is not None}
        onlookers = sum(person is None for person in self.followers.values())
        return pb.RoomPresence(people=sorted(people), onlookers=onlookers)

    def tell_post(self, post: Post) -> None:
        """Send an entry to all followers, unless it is a waiting table."""
        if is_seen(post):
            self.tell(pb.FollowResponse(entries=[told(post)]))

    def tell_emote(self, emote: pb.RoomEmote) -> None:
        """Send an emote to all followers."""
        self.tell(pb.FollowResponse(emotes=[emote]))

    def tell(self, response: pb.FollowResponse) -> None:
        """Send a response to all followers, with the room's cursor."""
        response.cursor = self.cursor
        data = response.SerializeToString()
        for feed in self.followers:
            feed.send(data)

    def tell_presence(self) -> int:
        """Send the room's presence to all followers that have not received it. Return their number."""
        data = pb.FollowResponse(presence=self.presence(), cursor=self.cursor).SerializeToString()
        told = [feed for feed in self.followers if feed not in self.informed]
        for feed in told:
            feed.send(data)
        self.informed.update(told)
        return len(told)

    def _table(self, table_id: bytes, ply: int) -> Placed:
        post = self._entries[_TABLES, table_id, ply].post
        assert isinstance(post, Placed)
        return post


def merged_tables(one: bytes, other: bytes) -> bytes:
    """Return a table with the acknowledgements of two authentic copies of it, in the canonical encoding."""
    table = tables_pb.SealedTable.FromString(one)
    by_seat = {each.seat: each for each in tables_pb.SealedTable.FromString(other).acknowledgements}
    by_seat |= {each.seat: each for each in table.acknowledgements}
    kept = [by_seat[seat] for seat in sorted(by_seat)]
    del table.acknowledgements[:]
    table.acknowledgements.extend(kept)
    return table.SerializeToString(deterministic=True)


def kind_of(post: Post) -> str:
    """Return the kind of a post, as a label of metrics."""
    return _TABLES if isinstance(post, Placed) else post.key[0]


def told(post: Post) -> pb.RoomEntry:
    """Return the entry that followers receive."""
    entry = post.entry()
    entry.time.FromMilliseconds(post.time)
    if isinstance(post, Placed):
        entry.info.CopyFrom(info_of(post.table))
    return entry


def is_seen(post: Post) -> bool:
    """Return True if followers receive a post: it is not a waiting table."""
    return not (isinstance(post, Placed) and post.waits)


def placed(header: tables_pb.TableHeader, hash: bytes, table: bytes, person: bytes, time: int) -> Placed:
    """Return a person's post of a table. `header` and `hash` are the table's header and hash. `time`: see Placed."""
    proposes = header.HasField("amendment") and bool(info_of(table).missing)
    post = Placed(header.table_id, header.ply, header.parent, hash, table, person, time=time, proposes=proposes)
    return post._replace(seats=_seats_of(header))


def _seats_of(header: tables_pb.TableHeader) -> tuple[bytes, ...]:
    # Return the persons who have seats.
    return tuple(seat.secret_sha256 for seat in header.seats if seat.secret_sha256)


def _part_of(post: Post) -> str:
    is_spare = isinstance(post, Placed) and (post.waits or not post.is_own)
    return _SPARE if is_spare else kind_of(post)


def _size_of(post: Post) -> int:
    # An upper bound of the entry's size in a response.
    entry = post.entry().ByteSize()
    return entry + max(OF_ENTRY, told(post).ByteSize() - entry)
