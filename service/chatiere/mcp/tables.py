"""A seat at a sealed table, as its handle names it.

Where the service has rooms, each game has a room, which keeps the game's tables. The handle is then the room's id and
the seat's secret. Otherwise the handle is the seat's secret and the newest table itself, and nothing is kept. If the
game has other names, the handle ends with a full stop and the seed of these names.
"""

import base64
import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from chatiere import engine
from chatiere.engine import EngineError
from chatiere.mcp.backend import Backend
from chatiere.text import Obfuscation
from chatiere.text.obfuscation import MAX_SEED
from chatiere.text.reading import LANGUAGES
from chatiere.v1 import room_service_pb2 as rooms_pb
from chatiere.v1 import table_service_pb2 as pb
from chatiere.v1.bot_service_pb2 import SuggestResponse
from chatiere.v1.game_pb2 import Options, ViewerUpdate
from chatiere.v1.record_pb2 import GameRecord

MAX_HANDLE = 8192
"""The maximum length of a handle."""
_ID_SIZE = 16
_HANDLE = re.compile(r"([A-Za-z0-9_-]+)(?:\.(\d{1,10}))?")
# The number of digits of a handle that names a room.
_ROOM_DIGITS = 43
_obfuscation = lru_cache(Obfuscation)


class ToolError(Exception):
    """An error that a model can correct.

    Attributes:
        reason: A name of the API's ErrorReason, or INVALID_ARGUMENT.
        message: The error, and the way to correct it.
    """

    def __init__(self, reason: str, message: str) -> None:
        """See the class."""
        super().__init__(f"{reason}: {message}")
        self.reason, self.message = reason, message


class _Names(NamedTuple):
    """The content of a handle."""

    secret: bytes
    room: bytes
    """The room's id, or b"" if the handle contains the table."""
    table: bytes
    seed: int | None
    """The seed of the other names, or None if the game has its original names."""

    @property
    def text(self) -> str:
        named = self.room + self.secret if self.room else self.secret + self.table
        text = base64.urlsafe_b64encode(named).decode().rstrip("=")
        return text if self.seed is None else f"{text}.{self.seed}"


class Seat:
    """A seat at a table. Methods raise ChatiereError and ToolError."""

    def __init__(self, backend: Backend, handle: str, language: str = "en") -> None:
        """Find the seat's game, and let bots decide until a person's turn.

        Args:
            backend: The service.
            handle: The handle.
            language: The language of labels: "en" or "fr".

        Raises:
            ToolError: The handle is not one, or the service keeps no game of this handle.
        """
        self._backend, self._language = backend, language
        self._names = _read(handle)
        self.names: dict[bytes, str] = {}
        """The names that people gave themselves, by the SHA-256 of their secrets. Show them only in quotation marks."""
        self._tables = self._find() if self._names.room else [self._names.table]
        response = self._look(self._tables[-1])
        self.update: ViewerUpdate = response.update
        """The newest table, as far as the seat may know it."""
        self._headers = [_header(each) for each in self._tables[:-1]] + [response.info.header]
        # The events of each table after the tables that were found.
        self._later: list[list[str]] = []
        self._let_bots_decide()

    @property
    def handle(self) -> str:
        """The handle of the newest table."""
        return self._names._replace(table=self._tables[-1]).text

    @property
    def header(self) -> pb.TableHeader:
        """The header of the newest table."""
        return self._headers[-1]

    @property
    def seat(self) -> int:
        """The number of the seat."""
        return self.update.seat

    @property
    def obfuscation(self) -> Obfuscation | None:
        """The other names of the game, or None if the game has its original names."""
        return None if self._names.seed is None else _obfuscation(self.header.game, self._names.seed)

    def renamed(self, text: str) -> str:
        """Return a text with the names that are used at this table."""
        return text if self.obfuscation is None else self.obfuscation.text(text)

    @property
    def is_to_decide(self) -> bool:
        """True if it is the seat's turn."""
        turn = self.update.view.turn
        return turn.HasField("seat") and turn.seat == self.seat

    def events(self) -> list[str]:
        """Return the texts of all known events since the seat's last decision, and of this decision."""
        own = [place for place, header in enumerate(self._headers) if header.mover == self.seat]
        first, found = own[-1] if own else 0, len(self._tables) - len(self._later)
        told: list[str] = []
        for table in self._tables[first:found]:
            told += _labels(self._look(table).update, self._language)
        for events in self._later[max(0, first - found) :]:
            told += events
        return told

    def legal_actions(self) -> dict[int, list[str]]:
        """Return the labels of the legal actions in both languages, the own language first, by ascending dense id."""
        other = "en" if self._language == "fr" else "fr"
        told = self._look(self._tables[-1], other).update.legal_actions
        pairs = zip(self.update.legal_actions, told, strict=True)
        return {one.id: [one.label, translated.label] for one, translated in pairs}

    def any_actions(self) -> dict[int, list[str]]:
        """Return the labels of all actions that have some, legal or not, in both languages, by ascending dense id."""
        header = self.header
        game = engine.game(header.game)
        world = self._backend.world(self._tables[-1], self.seat)
        if world is None:
            # In a new game, only labels that name cards of the seat's own hand are unknown or different.
            world = game.new_game(header.players, {"first_seat": self.seat}, seed=0)
        found: dict[int, list[str]] = {}
        for action in range(game.num_distinct_actions):
            with suppress(EngineError):
                found[action] = [world.action_label(action, language) for language in LANGUAGES]
        if self.obfuscation is not None:
            return {action: list(map(self.obfuscation.label, labels)) for action, labels in found.items()}
        return found

    def decide(self, action: int) -> None:
        """Make a decision, given by its dense id, and let bots decide until a person's turn."""
        request = self._move()
        request.action.id = action
        self._put(self._backend.call(request, self._language))
        self._let_bots_decide()

    def require_legal(self, action: int) -> None:
        """Raise ChatiereError if an action is not legal. Nothing changes."""
        request = self._move()
        request.action.id = action
        self._backend.call(request, self._language)

    def suggest(self, bot: str) -> SuggestResponse:
        """Return a bot's suggestion, which depends only on the information of the seat."""
        header = self.header
        # Both parts of the seed are public.
        seed = hashlib.sha256(header.table_id + header.ply.to_bytes(4, "little")).digest()[:8]
        request = pb.SuggestMoveRequest(
            table=self._tables[-1], secret=self._names.secret, bot=bot, seed=int.from_bytes(seed, "little")
        )
        suggestion: SuggestResponse = self._backend.call(request, self._language).suggestion
        return suggestion

    def record(self) -> GameRecord:
        """Return the record of a game that is over."""
        if not self._names.room and self.header.ply:
            raise ToolError("INVALID_HISTORY", "this server keeps no tables, so it has no record (see --relay)")
        record: GameRecord = self._backend.call(pb.GetRecordRequest(tables=self._tables)).record.record
        return record

    def _find(self) -> list[bytes]:
        # Return the tables of the newest of the room's own games, and read the names of its people.
        if not self._backend.keeps_rooms:
            raise _unknown_handle("this server keeps no games (see --relay)")
        games: dict[bytes, dict[int, bytes]] = {}
        for entry in self._backend.tables_in(self._names.room):
            if entry.HasField("name"):
                self.names[entry.name.person] = entry.name.name
            if entry.HasField("table") and not entry.is_foreign:
                header = entry.info.header
                games.setdefault(header.table_id, {})[header.ply] = entry.table
        if not games:
            raise _unknown_handle("no game is kept for this handle: it was mistyped, or not used for too long")
        tables = list(games.values())[-1]
        return [tables[ply] for ply in sorted(tables)]

    def _look(self, table: bytes, language: str | None = None) -> pb.LookResponse:
        request = pb.LookRequest(table=table, secret=self._names.secret)
        response: pb.LookResponse = self._backend.call(request, language or self._language)
        self._rename(response)
        return response

    def _rename(self, response: pb.LookResponse | pb.MoveResponse) -> None:
        # Replace the names in a response.
        if self._names.seed is not None:
            _obfuscation(response.info.header.game, self._names.seed).update(response.update)

    def _move(self) -> pb.MoveRequest:
        return pb.MoveRequest(table=self._tables[-1], secret=self._names.secret)

    def _let_bots_decide(self) -> None:
        while (turn := self.update.view.turn).HasField("seat") and self.header.seats[turn.seat].bot:
            self._put(self._backend.call(self._move(), self._language))

    def _put(self, response: pb.MoveResponse) -> None:
        if self._names.room:
            post(self._backend, self._names.room, self._names.secret, response.table)
        self._rename(response)
        self._tables.append(response.table)
        self._headers.append(response.info.header)
        self._later.append(_labels(response.update, self._language))
        self.update = response.update


def new_game(
    backend: Backend,
    game: str,
    holders: Sequence[str | None],
    options: Options | None,
    name: str,
    me: int,
    seed: int | None = None,
) -> dict[int, str]:
    """Begin a game at a new table. Return the handle of each seat without a bot. Raises ChatiereError.

    Args:
        backend: The service.
        game: The name of the game.
        holders: The bot of each seat, or None for a person.
        options: The options, or None for the defaults.
        name: The name of the person at seat `me`, for other people in the room; or "".
        me: The seat of the person who begins the game.
        seed: The seed of other names for the game, or None for the original names.
    """
    kept = {seat: secrets.token_bytes(_ID_SIZE) for seat, bot in enumerate(holders) if bot is None}
    seats = [
        pb.TableSeat(secret_sha256=hashlib.sha256(kept[seat]).digest()) if bot is None else pb.TableSeat(bot=bot)
        for seat, bot in enumerate(holders)
    ]
    request = pb.NewTableRequest(
        game=game, players=len(seats), options=options, seats=seats, acknowledgement=pb.ACKNOWLEDGEMENT_NONE
    )
    table = backend.call(request).table
    room = secrets.token_bytes(_ID_SIZE) if backend.keeps_rooms else b""
    if room:
        post(backend, room, kept[me], table)
        if name:
            backend.call(rooms_pb.PostRequest(room=room, secret=kept[me], name=name))
    return {seat: _Names(secret, room, table, seed).text for seat, secret in kept.items()}


def post(backend: Backend, room: bytes, secret: bytes, table: bytes) -> None:
    """Put a table into a room. Raises ToolError if another player has just decided."""
    if not backend.call(rooms_pb.PostRequest(room=room, secret=secret, table=table)).taken:
        raise ToolError("WRONG_TURN", "another player has decided in the meantime: call look")


def _read(handle: str) -> _Names:
    found = _HANDLE.fullmatch(handle.strip())
    text, seed = (found[1], seed_of(handle)) if found else ("", None)
    if len(text) % 4 == 1 or len(text) < _ROOM_DIGITS or (seed is not None and seed > MAX_SEED):
        raise _unknown_handle(f"a handle has {_ROOM_DIGITS} or more letters, digits, - and _")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(text) == _ROOM_DIGITS:
        return _Names(data[_ID_SIZE:], data[:_ID_SIZE], b"", seed)
    return _Names(data[:_ID_SIZE], b"", data[_ID_SIZE:], seed)


def seed_of(handle: str) -> int | None:
    """Return the seed at the end of a handle, or None if the handle has no seed."""
    found = _HANDLE.fullmatch(handle.strip())
    return int(found[2]) if found and found[2] else None


def _unknown_handle(message: str) -> ToolError:
    return ToolError("INVALID_TABLE", message)


def _header(table: bytes) -> pb.TableHeader:
    return pb.TableHeader.FromString(pb.SealedTable.FromString(table).header)


def _labels(update: ViewerUpdate, language: str) -> list[str]:
    # Return the texts of the events of a decision. Equal texts, such as the texts of dealt cards, occur once.
    counts = Counter(event.label for event in update.events)
    times = "fois" if language == "fr" else "times"
    return [label if count == 1 else f"{label} ({count} {times})" for label, count in counts.items()]
