"""The client of TableService: a seat at a sealed table."""

import base64
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, SupportsIndex, Unpack

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError

from chatiere.clients.calls.game_requests import action_message
from chatiere.clients.transport.channel import ClientOptions
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.engine.core.integers import unsigned
from chatiere.v1 import table_service_pb2 as pb
from chatiere.v1.bot_service_pb2 import SuggestResponse
from chatiere.v1.game_pb2 import Action, Options, ViewerUpdate
from chatiere.v1.table_service_pb2_grpc import TableServiceStub

_SECRET_SIZE = 16
_ID_SIZE, _MAC_SIZE, _HASH_SIZE = 16, 16, 32
# The mover of a table at ply 0.
_NOBODY = -1


class ForkError(Exception):
    """A table of a ply of which this seat has acknowledged or made another one.

    Somebody has made two decisions at one ply, or shows different tables to different seats.
    """


class SealedSeat(ChannelClient):
    """A seat at one sealed table, or at several one after another; may be used from several threads.

    The seat is a file. It has the secret of the seat, made or taken with the file, and of every table that the seat has
    acknowledged or made under ACKNOWLEDGEMENT_NEXT which it was at which ply, so that it never acknowledges two of one
    ply, whatever happens between: neither two children of one parent nor two branches that others made together. Keep
    the file. It is locked (flock) until the SealedSeat is closed: another one that wants it meanwhile, in whatever
    process, would not know what this one acknowledges.

    The tables are bytes, as the service returns them: give the newest to the other players. Every method takes a
    `timeout` in seconds, and raises ChatiereError for the reasons that it lists and TransportError, as those of Client
    do. "Those of a table" are INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET, NOT_ACKNOWLEDGED and
    UNSUPPORTED_RULES_VERSION. While the service is UNAVAILABLE calls are repeated, which is safe: the same move on the
    same table gives the same bytes.

    Use it in a `with` statement, or close it.
    """

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        path: str | os.PathLike[str],
        *,
        secret: bytes | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Take a seat. `path`: its file, made if there is none. For the rest see ChannelClient.

        `secret`: that of the seat, 16 bytes, if the service made it (NewTableResponse.secrets); None: that of the file,
        or one made here.

        Raises ValueError for a file that is no seat's or has another secret, and for a secret of another size, and
        OSError: BlockingIOError while another SealedSeat has the file.
        """
        self._seat = _SeatFile(Path(path), secret)
        super().__init__(target, **options)
        self._stub = TableServiceStub(self.channel)

    def close(self) -> None:
        """Leave the seat to others, and close the client's own channel."""
        self._seat.close()
        super().close()

    @property
    def seat(self) -> pb.TableSeat:
        """The seat as a new table needs it: the SHA-256 of its secret, which may be shown to everybody."""
        return pb.TableSeat(secret_sha256=hashlib.sha256(self._seat.secret).digest())

    @property
    def secret(self) -> bytes:
        """The secret of the seat, 16 bytes: for `Room`, and for nobody but the service."""
        return self._seat.secret

    def new_table(
        self,
        game: str,
        seats: Sequence[pb.TableSeat],
        acknowledgement: pb.Acknowledgement,
        *,
        options: Options | None = None,
        lifetime: SupportsIndex | None = None,
        timeout: float | None = None,
    ) -> pb.NewTableResponse:
        """Begin a game at a new table.

        `seats`: who sits where, `seat` of each player's own client, or TableSeat(bot=…). `lifetime`: the seconds until
        the table expires, 60 … 31,536,000; None: 30 days.

        Returns the table and the secrets that the service made, for empty seats: give each to its player alone, who
        takes the seat with it.

        Reasons: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, INVALID_BOT, BATCH_TOO_LARGE, INVALID_TERMS,
        MISSING_FIELD.
        """
        request = pb.NewTableRequest(
            game=game,
            players=len(seats),
            options=options,
            seats=seats,
            acknowledgement=acknowledgement,
            lifetime=None if lifetime is None else Duration(seconds=unsigned("lifetime", lifetime, 32)),
        )
        response: pb.NewTableResponse = self._call(self._stub.NewTable, request, timeout)
        return response

    def look(self, table: bytes, *, as_spectator: bool = False, timeout: float | None = None) -> ViewerUpdate:
        """Look at an open table, with the events of its last decision.

        Reasons: those of a table.
        """
        request = pb.LookRequest(table=table, secret=None if as_spectator else self._seat.secret)
        update: ViewerUpdate = self._call(self._stub.Look, request, timeout).update
        return update

    def move(
        self, table: bytes, action: SupportsIndex | Action | None = None, *, timeout: float | None = None
    ) -> pb.MoveResponse:
        """Make a decision: the seat's own or, without an action, that of the bot whose turn it is.

        `action`: a dense id, or an Action. Returns the new table and, if it is open, what the seat sees of it.

        Reasons: those of a table, WRONG_TURN, GAME_OVER, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH,
        ILLEGAL_ACTION, INVALID_BOT, BATCH_TOO_LARGE. Raises ForkError if the seat made or acknowledged another table of
        the new one's ply.
        """
        request = pb.MoveRequest(
            table=table, secret=self._seat.secret, action=None if action is None else action_message(action)
        )
        response: pb.MoveResponse = self._call(self._stub.Move, request, timeout)
        self._keep(response.table)
        return response

    def acknowledge(self, table: bytes, *, timeout: float | None = None) -> bytes:
        """Acknowledge a table, unless another one of its ply was; return it with the acknowledgement.

        Reasons: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET. Raises ForkError.
        """
        request = pb.AcknowledgeRequest(table=table, secret=self._seat.secret)
        response: pb.AcknowledgeResponse = self._call(self._stub.Acknowledge, request, timeout)
        # Only what the service found authentic is kept, and nobody gets the acknowledgement before it is.
        self._keep(response.table)
        return response.table

    def suggest(
        self, table: bytes, bot: str, *, seed: SupportsIndex | None = None, timeout: float | None = None
    ) -> SuggestResponse:
        """Ask a bot what the seat should do, from what the seat may know; arguments as of Client.suggest.

        `bot`: one without a budget in milliseconds.

        Reasons: those of a table, WRONG_TURN, GAME_OVER, INVALID_BOT, BATCH_TOO_LARGE, MISSING_FIELD.
        """
        request = pb.SuggestMoveRequest(
            table=table,
            secret=self._seat.secret,
            bot=bot,
            seed=None if seed is None else unsigned("seed", seed, 64),
        )
        suggestion: SuggestResponse = self._call(self._stub.SuggestMove, request, timeout).suggestion
        return suggestion

    def get_record(self, tables: Sequence[bytes], *, timeout: float | None = None) -> pb.TableRecord:
        """Return the record of a game that is over. `tables`: those of all plies, in order.

        Reasons: INVALID_TABLE, TABLE_EXPIRED, NOT_ACKNOWLEDGED, UNSUPPORTED_RULES_VERSION, INVALID_HISTORY,
        GAME_NOT_OVER, MISSING_FIELD.
        """
        record: pb.TableRecord = self._call(self._stub.GetRecord, pb.GetRecordRequest(tables=tables), timeout).record
        return record

    def _keep(self, table: bytes) -> None:
        header = header_of(table)
        if header.acknowledgement == pb.ACKNOWLEDGEMENT_NEXT:
            self._seat.keep(header.table_id, header.ply, hash_of(table))


class _SeatFile:
    """The file of a seat, in JSON: its secret, and the hash of the table of each "table id, ply", in hexadecimal."""

    def __init__(self, path: Path, secret: bytes | None) -> None:
        if secret is not None and len(secret) != _SECRET_SIZE:
            raise ValueError(f"a secret has {_SECRET_SIZE} bytes, not {len(secret)}")
        self._path = path
        self._lock = threading.Lock()
        self._tables: dict[str, str] = {}
        # The file, locked; each time it is written, another one.
        self._file = self._open()
        if self._file is None:
            self.secret = secrets.token_bytes(_SECRET_SIZE) if secret is None else secret
            self._write()
            return
        try:
            self._read(self._file.read())
            if secret not in (None, self.secret):
                raise ValueError(f"{path} is the file of another seat")
        except ValueError:
            self.close()
            raise

    def keep(self, table_id: bytes, ply: int, table: bytes) -> None:
        """Remember a table by its hash before anybody gets it. Raises ForkError if another one is known."""
        with self._lock:
            known = self._tables.setdefault(f"{table_id.hex()} {ply}", table.hex())
            if known != table.hex():
                raise ForkError(f"table {table_id.hex()} has two tables of ply {ply}: {known} and {table.hex()}")
            self._write()

    def close(self) -> None:
        """Let another process have the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()

    def _open(self) -> IO[bytes] | None:
        # None if there is none.
        while True:
            try:
                file = self._path.open("rb")
            except FileNotFoundError:
                return None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                    return file
                # Whoever had it has just written another one in its place.
                file.close()
            except BlockingIOError:
                file.close()
                raise self._in_use() from None

    def _read(self, text: bytes) -> None:
        try:
            found: Any = json.loads(text)
            self.secret = bytes.fromhex(found["secret"])
            self._tables = dict(found["tables"])
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{self._path} is not the file of a seat") from None
        if len(self.secret) != _SECRET_SIZE:
            raise ValueError(f"{self._path} is not the file of a seat")

    def _write(self) -> None:
        # Whole or not at all, whenever the machine stops; for the owner alone; locked before anybody can open it.
        text = json.dumps({"secret": self.secret.hex(), "tables": self._tables}).encode()
        new = self._path.with_name(f"{self._path.name}.{secrets.token_hex(4)}")
        file = os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            fcntl.flock(file, fcntl.LOCK_EX)
            if self._file is None:
                os.link(new, self._path)
            else:
                os.replace(new, self._path)
                self._file.close()
        except FileExistsError:
            file.close()
            raise self._in_use() from None
        except BaseException:
            file.close()
            raise
        finally:
            new.unlink(missing_ok=True)
        self._file = file
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _in_use(self) -> BlockingIOError:
        return BlockingIOError(errno.EWOULDBLOCK, "the seat is in use by another SealedSeat", str(self._path))


def header_of(table: bytes) -> pb.TableHeader:
    """Return what everybody may know of a table; only the service can say whether it is authentic.

    Raises ValueError for bytes that are no table.
    """
    return _read(table)[1]


def hash_of(table: bytes) -> bytes:
    """Return a table's hash, 32 bytes: the SHA-256 of it without acknowledgements.

    It is `parent` in the headers of the tables that are made of it. Raises ValueError for bytes that are no table.
    """
    return hashlib.sha256(_content(_read(table)[0])).digest()


def text_of(table: bytes) -> str:
    """Return a table as text, for links and chats: base64url without padding."""
    return base64.urlsafe_b64encode(table).decode().rstrip("=")


def table_of(text: str) -> bytes:
    """Return the table that a text is, white space around it aside. Raises ValueError for another text."""
    stripped = text.strip()
    # Every fourth digit ends three bytes: one digit alone says nothing.
    if not re.fullmatch(r"[A-Za-z0-9_-]*", stripped) or len(stripped) % 4 == 1:
        raise ValueError("a table as text is base64url")
    return base64.urlsafe_b64decode(stripped + "=" * (-len(stripped) % 4))


def missing_seats(table: bytes) -> list[int]:
    """Return the seats that have still to acknowledge a table before it is open, ascending; none once it is.

    At ply 0 that is every human seat, later the next human seat to the left of the one that moved. What a bot made of
    an open table is open. Raises ValueError for bytes that are no table.
    """
    sealed, header = _read(table)
    mover, humans = header.mover, _human_seats(header)
    if header.acknowledgement != pb.ACKNOWLEDGEMENT_NEXT or mover not in (_NOBODY, *humans):
        return []
    needed = humans if mover == _NOBODY else [min(humans, key=lambda seat: (seat - mover - 1) % header.players)]
    acknowledged = {each.seat for each in sealed.acknowledgements}
    return [seat for seat in needed if seat not in acknowledged]


def awaited(table: bytes, turn: int | None = None) -> list[int]:
    """Return the seats that the game waits for.

    They are those whose acknowledgement is missing or, at an open table, the human seat to decide. None: the game is
    over, or it is a bot's turn, whose decision anybody may ask for.

    `turn`: the seat to decide, as looking at the table tells; None if none has to. Raises ValueError for bytes that are
    no table.
    """
    missing = missing_seats(table)
    if missing or turn is None:
        return missing
    return [turn] if turn in _human_seats(header_of(table)) else []


def merged(one: bytes, other: bytes) -> bytes:
    """Return a table with the acknowledgements of two copies of it.

    Raises ValueError for bytes that are no tables, or tables of different plies, and ForkError for two tables of one
    ply.
    """
    (first, header), (second, other_header) = _read(one), _read(other)
    if (header.table_id, header.ply) != (other_header.table_id, other_header.ply):
        raise ValueError("the tables are of different plies")
    if _content(first) != _content(second):
        raise ForkError(f"table {header.table_id.hex()} has two tables of ply {header.ply}")
    found = {each.seat: each for each in (*second.acknowledgements, *first.acknowledgements)}
    whole = pb.SealedTable(
        header=first.header, seal=first.seal, acknowledgements=[found[seat] for seat in sorted(found)]
    )
    return whole.SerializeToString()


class Sending(NamedTuple):
    """The tables that a client has to send, and the seats that need them."""

    seats: list[int]
    """Seats of others, ascending; none: nobody waits for it."""
    tables: list[bytes]
    """By ascending ply."""


def to_send(tables: Sequence[bytes], mine: Collection[int], turn: int | None = None) -> Sending:
    """Return what a client has to send when its player has acted, and to whom.

    That is the seats that are awaited or, where no seat has to decide, every human seat; without one's own. The tables
    are those that the others may lack: all since the last but one of one's own decisions. To send one again does no
    harm.

    `tables`: all that one has of a game, in any order; `mine`: one's own seats; `turn`: as for `awaited`. Raises
    ValueError for bytes that are no tables, or none.
    """
    if not tables:
        raise ValueError("there are no tables")
    known = sorted(((header_of(table), table) for table in tables), key=lambda each: each[0].ply)
    header, newest = known[-1]
    own = [each.ply for each, _ in known if each.mover in mine]
    first = own[-2] if len(own) > 1 else 0
    is_open = not missing_seats(newest)
    wanted = _human_seats(header) if is_open and turn is None else awaited(newest, turn)
    return Sending([seat for seat in wanted if seat not in mine], [table for each, table in known if each.ply >= first])


def _human_seats(header: pb.TableHeader) -> list[int]:
    return [seat for seat, each in enumerate(header.seats) if not each.HasField("bot")]


def _content(sealed: pb.SealedTable) -> bytes:
    return pb.SealedTable(header=sealed.header, seal=sealed.seal).SerializeToString()


def _read(table: bytes) -> tuple[pb.SealedTable, pb.TableHeader]:
    # Raises ValueError for bytes that are no table, by what can be known without its key.
    try:
        sealed = pb.SealedTable.FromString(table)
        header = pb.TableHeader.FromString(sealed.header)
    except DecodeError as error:
        raise ValueError("the bytes are no sealed table") from error
    seats = [each.seat for each in sealed.acknowledgements]
    is_sound = (
        sealed.seal != b""
        # One table has one form.
        and _content(sealed) + pb.SealedTable(acknowledgements=sealed.acknowledgements).SerializeToString() == table
        and all(len(each.mac) == _MAC_SIZE for each in sealed.acknowledgements)
        and seats == sorted({*seats})
        and max(seats, default=0) < header.players == len(header.seats)
        and len(header.table_id) == _ID_SIZE
        and len(header.parent) == _HASH_SIZE
        and (header.mover == _NOBODY if header.ply == 0 else 0 <= header.mover < header.players)
        and header.acknowledgement in (pb.ACKNOWLEDGEMENT_NONE, pb.ACKNOWLEDGEMENT_NEXT)
        and all(each.HasField("bot") or len(each.secret_sha256) == _HASH_SIZE for each in header.seats)
    )
    if not is_sound:
        raise ValueError("the bytes are no sealed table")
    return sealed, header
