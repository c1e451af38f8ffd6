"""A client's knowledge of a room, updated by each response of Follow; without a channel."""

import math
import threading
from collections.abc import Iterable, Iterator

import grpc

from chatiere.clients.calls.errors import ChatiereError, TransportError
from chatiere.clients.sealed_seat import header_of, merged
from chatiere.v1 import room_service_pb2 as pb

SILENCE = 45.0
"""Seconds without a response after which the connection counts as broken: the service sends one every 15."""
# Seconds before a room is followed again, which double from the first to the second.
_FIRST_PAUSE, _MAX_PAUSE = 0.1, 5.0
# What a call ends with when its connection does.
_BROKEN = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
}


class RoomContents:
    """The contents of a room, as far as one person knows them; a person is the SHA-256 of a secret, 32 bytes.

    `names`: of persons. `replies`: the persons who accept an invitation, by its id, in the order in which they came.
    `tables`: by table id and ply. `people`, `onlookers`: who is here.
    """

    def __init__(self, person: bytes) -> None:
        """Know nothing. `person`: who knows it."""
        self.person = person
        self.names: dict[bytes, str] = {}
        self.replies: dict[bytes, list[bytes]] = {}
        self.tables: dict[bytes, dict[int, bytes]] = {}
        self.people: frozenset[bytes] = frozenset()
        self.onlookers = 0
        self._lock = threading.Lock()

    def newest(self, table_id: bytes | None = None) -> bytes | None:
        """Return the table of the newest ply; None if there is none. `table_id`: None: of the game that came last."""
        with self._lock:
            if table_id is None:
                table_id = next(reversed(self.tables), b"")
            plies = self.tables.get(table_id, {})
            return plies[max(plies)] if plies else None

    def between(self, held: bytes, table: bytes) -> list[bytes]:
        """Return the known tables between two of a game, in order: what a room lacks that holds only the first."""
        first, last = header_of(held), header_of(table)
        with self._lock:
            known = self.tables.get(last.table_id, {})
            return [known[ply] for ply in range(first.ply + 1, last.ply) if ply in known]

    def keep(self, entry: pb.RoomEntry) -> None:
        """Take an entry into account. Raises ForkError for another table of a known ply."""
        with self._lock:
            self._keep(entry)

    def _keep(self, entry: pb.RoomEntry) -> None:
        kind = entry.WhichOneof("entry")
        if kind == "name":
            self.names[entry.name.person] = entry.name.name
        elif kind == "reply":
            persons = self.replies.setdefault(entry.reply.invitation, [])
            if entry.reply.person not in persons:
                persons.append(entry.reply.person)
        elif kind == "table":
            header = header_of(entry.table)
            known = self.tables.setdefault(header.table_id, {})
            known[header.ply] = merged(known.get(header.ply, entry.table), entry.table)

    def take(self, response: pb.FollowResponse) -> list[pb.PostRequest]:
        """Take a response into account; return what the person has to post again, without room and secret.

        Raises ForkError.
        """
        with self._lock:
            for entry in response.entries:
                self._keep(entry)
            if response.HasField("presence"):
                self.people = frozenset(response.presence.people)
                self.onlookers = response.presence.onlookers
            return list(self._missing_in(response.entries)) if response.is_whole else []

    def _missing_in(self, entries: Iterable[pb.RoomEntry]) -> Iterator[pb.PostRequest]:
        there = {entry.SerializeToString() for entry in entries}
        name = self.names.get(self.person)
        if name is not None and _is_missing(pb.RoomEntry(name=pb.RoomName(person=self.person, name=name)), there):
            yield pb.PostRequest(name=name)
        for invitation, persons in self.replies.items():
            reply = pb.RoomEntry(reply=pb.RoomReply(invitation=invitation, person=self.person))
            if self.person in persons and _is_missing(reply, there):
                yield pb.PostRequest(invitation=invitation)
        held = [header_of(entry.table) for entry in entries if entry.WhichOneof("entry") == "table"]
        for table_id, known in self.tables.items():
            seats = header_of(next(iter(known.values()))).seats
            if all(seat.secret_sha256 != self.person for seat in seats):
                continue
            # A room's tables are a chain, which grows at both ends.
            lowest = min((header.ply for header in held if header.table_id == table_id), default=0)
            above = sorted(ply for ply in known if ply >= lowest)
            below = sorted(ply for ply in known if ply < lowest)
            plies = [*above, *reversed(below)]
            for ply in plies:
                if _is_missing(pb.RoomEntry(table=known[ply]), there):
                    yield pb.PostRequest(table=known[ply])


def pause_before(attempt: int, error: ChatiereError) -> float | None:
    """Return the seconds until a room can be followed again; None: the error is final. `attempt`: from 0."""
    if error.retry_after is None and not (isinstance(error, TransportError) and error.code in _BROKEN):
        return None
    return max(error.retry_after or 0.0, min(math.ldexp(_FIRST_PAUSE, attempt), _MAX_PAUSE))


def _is_missing(entry: pb.RoomEntry, there: set[bytes]) -> bool:
    return entry.SerializeToString() not in there
