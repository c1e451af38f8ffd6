"""The contents of a room as a client knows them, updated by each response of Follow."""

import threading
from collections.abc import Iterable, Iterator
from typing import SupportsIndex, TypeVar

from chatiere.clients.sealed_seat import hash_of, header_of, merged, missing_seats
from chatiere.engine.core.integers import unsigned
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.game_pb2 import Options
from chatiere.v1.table_service_pb2 import Acknowledgement, TableHeader

SILENCE = 45.0
"""The number of seconds without a response after which the connection is considered broken. The service sends a
response every 15 seconds."""
# The maximum number of strangers' names and of strangers' replies, and the maximum number of games that are not the
# room's own.
_MAX_STRANGERS, _MAX_FOREIGN_GAMES = 1000, 64

_Key = TypeVar("_Key")


class RoomContents:
    """The contents of a room as known to one person. A person is identified by the SHA-256 of a secret, 32 bytes.

    Some contents are limited to the newest ones. These are 64 games that are not the room's own, and 1,000 names and
    1,000 replies of persons without a seat in the room's own games.

    Attributes:
        person: The person.
        names: The name of each person.
        replies: For the id of each invitation, the persons who accepted the invitation, in chronological order.
        tables: For each table id, the table of each ply.
        proposals: For each table id, the amended table of the next ply, if one still needs acknowledgements.
        times: For each table id and ply, the time when the room first accepted the table, in milliseconds since 1970.
        settings: The settings of the next games. None if no settings have been posted.
        people: The persons who follow the room.
        onlookers: The number of followers without a secret.
    """

    def __init__(self, person: bytes) -> None:
        """Create empty contents for a person."""
        self.person = person
        self.names: dict[bytes, str] = {}
        self.replies: dict[bytes, list[bytes]] = {}
        self.tables: dict[bytes, dict[int, bytes]] = {}
        self.proposals: dict[bytes, bytes] = {}
        self.times: dict[bytes, dict[int, int]] = {}
        self.settings: pb.RoomSettings | None = None
        self.people: frozenset[bytes] = frozenset()
        self.onlookers = 0
        # The ids of the room's own games, and the replies in chronological order.
        self._own_games: set[bytes] = set()
        self._replies: dict[tuple[bytes, bytes], None] = {}
        self._lock = threading.Lock()

    def settings_of(
        self, game: str, players: SupportsIndex, options: Options | None, acknowledgement: Acknowledgement
    ) -> pb.RoomSettings:
        """Return settings for the person to post; see Room.post_settings."""
        return pb.RoomSettings(
            game=game,
            players=unsigned("players", players, 32),
            options=options,
            acknowledgement=acknowledgement,
            person=self.person,
        )

    def newest(self, table_id: bytes | None = None) -> bytes | None:
        """Return the table of the newest ply of a game, or None if the game has no table.

        Args:
            table_id: The id of the game's tables. None means the newest of the room's own games, or the newest of all
                games if the room has no own games.
        """
        with self._lock:
            if table_id is None:
                games = [*reversed(self.tables), b""]
                table_id = next((each for each in games if each in self._own_games), games[0])
            plies = self.tables.get(table_id, {})
            return plies[max(plies)] if plies else None

    def between(self, held: bytes, table: bytes) -> list[bytes]:
        """Return the known tables of the plies between two tables of a game, in order."""
        first, last = header_of(held), header_of(table)
        with self._lock:
            known = self.tables.get(last.table_id, {})
            return [known[ply] for ply in range(first.ply + 1, last.ply) if ply in known]

    def keep(self, entry: pb.RoomEntry) -> None:
        """Add an entry.

        Raises:
            ForkError: Another table of the same ply is known.
        """
        with self._lock:
            self._keep(entry)

    def _keep(self, entry: pb.RoomEntry) -> None:
        kind = entry.WhichOneof("entry")
        if kind == "name":
            self.names.pop(entry.name.person, None)
            self.names[entry.name.person] = entry.name.name
            for person in self._excess((person, person) for person in self.names):
                del self.names[person]
        elif kind == "reply":
            self._keep_reply(entry.reply.invitation, entry.reply.person)
        elif kind in ("table", "proposal"):
            self._keep_table(entry)
        elif kind == "settings":
            self.settings = entry.settings

    def _keep_reply(self, invitation: bytes, person: bytes) -> None:
        persons = self.replies.setdefault(invitation, [])
        if person not in persons:
            persons.append(person)
            self._replies[invitation, person] = None
        for reply in self._excess((reply, reply[1]) for reply in self._replies):
            del self._replies[reply]
            self.replies[reply[0]].remove(reply[1])
            if not self.replies[reply[0]]:
                del self.replies[reply[0]]

    def _keep_table(self, entry: pb.RoomEntry) -> None:
        table = entry.proposal or entry.table
        header = header_of(table)
        if header.HasField("amendment") and missing_seats(table):
            self._keep_proposal(header, table)
            return
        proposal = self.proposals.get(header.table_id)
        if proposal is not None and header_of(proposal).ply <= header.ply:
            del self.proposals[header.table_id]
        known = self.tables.setdefault(header.table_id, {})
        known[header.ply] = merged(known.get(header.ply, table), table)
        if entry.HasField("time"):
            # Keep the first time. The service sends a later time if it forgot the room and created the room again.
            self.times.setdefault(header.table_id, {}).setdefault(header.ply, entry.time.ToMilliseconds())
        if not entry.is_foreign:
            self._own_games.add(header.table_id)
        foreign = [each for each in self.tables if each not in self._own_games]
        for table_id in foreign[:-_MAX_FOREIGN_GAMES]:
            del self.tables[table_id]
            self.times.pop(table_id, None)
            self.proposals.pop(table_id, None)

    def _keep_proposal(self, header: TableHeader, table: bytes) -> None:
        known = self.proposals.get(header.table_id)
        if header.ply == max(self.tables.get(header.table_id, ()), default=-1) + 1:
            is_same = known is not None and hash_of(known) == hash_of(table)
            self.proposals[header.table_id] = merged(known, table) if known is not None and is_same else table

    def _excess(self, persons: Iterable[tuple[_Key, bytes]]) -> list[_Key]:
        # Return the keys of the strangers' items, except the newest _MAX_STRANGERS of them.
        keys = list(persons)
        if len(keys) <= _MAX_STRANGERS:
            return []
        games = [header_of(next(iter(self.tables[table_id].values()))) for table_id in self._own_games]
        seated = {self.person, *(seat.secret_sha256 for header in games for seat in header.seats)}
        return [key for key, person in keys if person not in seated][:-_MAX_STRANGERS]

    def take(self, response: pb.FollowResponse) -> list[pb.PostRequest]:
        """Add the contents of a response.

        Returns:
            The contents that the person has to post again, as requests without room and secret.

        Raises:
            ForkError: See `keep`.
        """
        with self._lock:
            for entry in response.entries:
                self._keep(entry)
            if response.HasField("presence"):
                self.people = frozenset(response.presence.people)
                self.onlookers = response.presence.onlookers
            return list(self._missing_in(response.entries)) if response.is_whole else []

    def _can_post(self, header: TableHeader) -> bool:
        # A table may be posted by the holder of a seat, and by the person whom the table's amendment replaces.
        seats = (*header.seats, header.amendment.replacement.before)
        return any(seat.secret_sha256 == self.person for seat in seats)

    def _missing_in(self, entries: Iterable[pb.RoomEntry]) -> Iterator[pb.PostRequest]:
        names = {(entry.name.person, entry.name.name) for entry in entries if entry.HasField("name")}
        replies = {(entry.reply.invitation, entry.reply.person) for entry in entries if entry.HasField("reply")}
        there = {entry.table for entry in entries if entry.HasField("table")}
        proposed = {entry.proposal for entry in entries if entry.HasField("proposal")}
        name = self.names.get(self.person)
        if name is not None and (self.person, name) not in names:
            yield pb.PostRequest(name=name)
        for invitation, persons in self.replies.items():
            if self.person in persons and (invitation, self.person) not in replies:
                yield pb.PostRequest(invitation=invitation)
        for table_id, known in self.tables.items():
            if table_id not in self._own_games:
                continue
            # Check each table, because amendments can give the person a seat or take it away.
            own = [ply for ply, table in known.items() if self._can_post(header_of(table))]
            # A room shows only a chain of tables with consecutive plies. The chain grows at both ends. In the following
            # order, each table extends the chain, so the room shows it immediately.
            held = [header.ply for header in map(header_of, there) if header.table_id == table_id]
            lowest = min(held, default=0)
            above = sorted(ply for ply in own if ply >= lowest)
            below = sorted((ply for ply in own if ply < lowest), reverse=True)
            yield from (pb.PostRequest(table=known[ply]) for ply in (*above, *below) if known[ply] not in there)
            proposal = self.proposals.get(table_id)
            if proposal is not None and proposal not in proposed and self._can_post(header_of(proposal)):
                yield pb.PostRequest(table=proposal)
        are_settings_there = any(entry.HasField("settings") for entry in entries)
        if self.settings is not None and self.settings.person == self.person and not are_settings_there:
            # Post the settings last. If a table is the first post, all its players become the room's people. If the
            # settings are the first post, only the host does.
            yield pb.PostRequest(settings=self.settings)
