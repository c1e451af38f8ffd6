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
# The value of TableHeader.mover in a table of ply 0 and in an amended table.
_NOBODY = -1


class ForkError(Exception):
    """A seat received a table although it already made or acknowledged a different table of the same ply.

    Either a player made two decisions at one ply, or a player showed different tables to different seats.
    """


class SealedSeat(ChannelClient):
    """A thread-safe client for a seat at one sealed table, or at several in succession.

    A file stores the seat's secret. It also stores the ply and the hash of each table that the seat made or
    acknowledged under ACKNOWLEDGEMENT_NEXT. Therefore the seat never acknowledges two different tables of the same ply,
    even after a restart. This rule covers two children of one parent as well as two branches that other players made
    together. Keep the file. A SealedSeat locks its file (flock) until the SealedSeat is closed, because a second
    SealedSeat could not know which tables the first acknowledges.

    Tables are bytes, as returned by the service. Send the newest table to the other players. Every method has an
    argument `timeout` in seconds. Methods raise ChatiereError with one of the listed reasons, and TransportError as the
    methods of Client do. "Table errors" are INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET, NOT_ACKNOWLEDGED and
    UNSUPPORTED_RULES_VERSION. Calls are retried while the service is UNAVAILABLE. This is safe because the same move at
    the same table gives the same bytes.

    Use the seat in a `with` statement, or close it:

        >>> from chatiere.clients import SealedSeat
        >>> from chatiere.v1.table_service_pb2 import ACKNOWLEDGEMENT_NONE, TableSeat
        >>> with SealedSeat(address, folder / "my-seat.json") as me:  # such as "127.0.0.1:50051"
        ...     made = me.new_table("discat", [me.seat, TableSeat(bot="random")], ACKNOWLEDGEMENT_NONE)
        ...     look = me.look(made.table)
        >>> look.seat, look.view.ply
        (0, 0)
    """

    _not_pickled = "it locks its file; close it and open the file again"

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        path: str | os.PathLike[str],
        *,
        secret: bytes | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Open the file of a seat, or create it.

        Args:
            target: See ChannelClient.
            path: The file.
            secret: The seat's secret, 16 bytes, if the service generated it (NewTableResponse.secrets). None means the
                secret in the file. A new file gets a new secret.
            options: See ChannelClient.

        Raises:
            ValueError: The file is not the file of a seat or contains another secret, or the secret has a wrong length.
            BlockingIOError: Another SealedSeat is using the file.
            OSError: The file cannot be read or written.
        """
        self._seat = _SeatFile(Path(path), secret)
        super().__init__(target, **options)
        self._stub = TableServiceStub(self.channel)

    def close(self) -> None:
        """Unlock the file of the seat, and close the client's own channel."""
        self._seat.close()
        super().close()

    @property
    def seat(self) -> pb.TableSeat:
        """The seat as needed for a new table. It contains only the SHA-256 of the secret, so it may be public."""
        return pb.TableSeat(secret_sha256=hashlib.sha256(self._seat.secret).digest())

    @property
    def secret(self) -> bytes:
        """The secret of the seat, 16 bytes. Use it for `Room`, and send it only to the service."""
        return self._seat.secret

    def new_table(
        self,
        game: str,
        seats: Sequence[pb.TableSeat],
        acknowledgement: pb.Acknowledgement,
        *,
        options: Options | None = None,
        lifetime: SupportsIndex | None = None,
        allows_replacement: bool = False,
        timeout: float | None = None,
    ) -> pb.NewTableResponse:
        """Start a game at a new table.

        Args:
            game: GameInfo.name.
            seats: The holders of the seats, in seat order: `seat` of each player's own client, or TableSeat(bot=…). For
                an empty TableSeat the service generates a secret.
            acknowledgement: The condition under which tables are open.
            options: The options. None means all defaults.
            lifetime: The time in seconds until the table expires, 60 … 31,536,000. None means 30 days.
            allows_replacement: True if the other players together may replace the holder of a seat. They can then see
                that seat's cards.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The table and the secrets that the service generated. Give each secret only to its player. The player passes
            the secret to SealedSeat.

        Raises:
            ChatiereError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, INVALID_BOT, BATCH_TOO_LARGE, INVALID_TERMS,
                MISSING_FIELD.
        """
        request = pb.NewTableRequest(
            game=game,
            players=len(seats),
            options=options,
            seats=seats,
            acknowledgement=acknowledgement,
            lifetime=None if lifetime is None else Duration(seconds=unsigned("lifetime", lifetime, 32)),
            allows_replacement=allows_replacement,
        )
        response: pb.NewTableResponse = self._call(self._stub.NewTable, request, timeout)
        return response

    def look(self, table: bytes, *, as_spectator: bool = False, timeout: float | None = None) -> ViewerUpdate:
        """Return the view of an open table and the events of its last decision.

        Raises:
            ChatiereError: Table errors.
        """
        request = pb.LookRequest(table=table, secret=None if as_spectator else self._seat.secret)
        update: ViewerUpdate = self._call(self._stub.Look, request, timeout).update
        return update

    def move(
        self, table: bytes, action: SupportsIndex | Action | None = None, *, timeout: float | None = None
    ) -> pb.MoveResponse:
        """Make a decision for this seat. Without an action, let a bot make its decision.

        Args:
            table: The table.
            action: A dense id, or an Action. None at a bot's turn.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The new table. If the table is open, also the seat's view of it.

        Raises:
            ChatiereError: Table errors, WRONG_TURN, GAME_OVER, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH,
                ILLEGAL_ACTION, INVALID_BOT, BATCH_TOO_LARGE.
            ForkError: The seat already made or acknowledged another table of the new table's ply.
        """
        request = pb.MoveRequest(
            table=table, secret=self._seat.secret, action=None if action is None else action_message(action)
        )
        response: pb.MoveResponse = self._call(self._stub.Move, request, timeout)
        self._keep(response.table)
        return response

    def acknowledge(self, table: bytes, *, timeout: float | None = None) -> bytes:
        """Acknowledge a table, unless the seat acknowledged another table of the same ply.

        Returns:
            The table with the acknowledgement.

        Raises:
            ChatiereError: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET.
            ForkError: The seat already made or acknowledged another table of this ply.
        """
        request = pb.AcknowledgeRequest(table=table, secret=self._seat.secret)
        response: pb.AcknowledgeResponse = self._call(self._stub.Acknowledge, request, timeout)
        # Only a table that the service accepted as authentic is stored, and it is stored before the acknowledgement is
        # returned.
        self._keep(response.table)
        return response.table

    def replace(
        self, table: bytes, seat: SupportsIndex, holder: pb.TableSeat, *, timeout: float | None = None
    ) -> bytes:
        """Give a seat to another person or to a bot.

        Args:
            table: The table.
            seat: This seat's own number, to resign. At a table that allows replacement, it may also be another seat.
            holder: TableSeat(bot=…), or `seat` of the person's client.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The amended table, which the other seats have to acknowledge.

        Raises:
            ChatiereError: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET, NOT_ACKNOWLEDGED, INVALID_TERMS, INVALID_BOT,
                BATCH_TOO_LARGE, MISSING_FIELD.
            ForkError: See `move`.
        """
        replacement = pb.TableReplacement(seat=unsigned("seat", seat, 32), holder=holder)
        return self._amend(pb.AmendRequest(table=table, replacement=replacement), timeout)

    def take_back(self, tables: Sequence[bytes], *, timeout: float | None = None) -> bytes:
        """Take decisions back, so that the game continues from the position of an earlier table.

        Args:
            tables: The earlier table and all tables after it, from the oldest to the newest; at most 129 tables. The
                game must have ACKNOWLEDGEMENT_NONE.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The amended table, which the other seats have to acknowledge.

        Raises:
            ChatiereError: Table errors, INVALID_TERMS, GAME_OVER, INVALID_HISTORY, MISSING_FIELD.
            ValueError: There are no tables, or some bytes are not a table.
        """
        if not tables:
            raise ValueError("no tables were given")
        *earlier, newest = tables
        taken_back = pb.TableTakeBack(ply=header_of(tables[0]).ply)
        return self._amend(pb.AmendRequest(table=newest, take_back=taken_back, earlier=earlier), timeout)

    def _amend(self, request: pb.AmendRequest, timeout: float | None) -> bytes:
        request.secret = self._seat.secret
        response: pb.AmendResponse = self._call(self._stub.Amend, request, timeout)
        self._keep(response.table)
        return response.table

    def suggest(
        self, table: bytes, bot: str, *, seed: SupportsIndex | None = None, timeout: float | None = None
    ) -> SuggestResponse:
        """Return a bot's suggestion for this seat, based only on information that the seat may know.

        For arguments see Client.suggest. The bot's budget must not be in milliseconds.

        Raises:
            ChatiereError: Table errors, WRONG_TURN, GAME_OVER, INVALID_BOT, BATCH_TOO_LARGE, MISSING_FIELD.
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
        """Return the record of a game that is over.

        Args:
            tables: The tables of all plies, in order.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: INVALID_TABLE, TABLE_EXPIRED, NOT_ACKNOWLEDGED, UNSUPPORTED_RULES_VERSION, INVALID_HISTORY,
                GAME_NOT_OVER, MISSING_FIELD.
        """
        record: pb.TableRecord = self._call(self._stub.GetRecord, pb.GetRecordRequest(tables=tables), timeout).record
        return record

    def _keep(self, table: bytes) -> None:
        header = header_of(table)
        if header.acknowledgement == pb.ACKNOWLEDGEMENT_NEXT:
            self._seat.keep(header.table_id, header.ply, hash_of(table))


class _SeatFile:
    """A seat's JSON file. It contains the secret, and the hash of one table for each table id and ply."""

    def __init__(self, path: Path, secret: bytes | None) -> None:
        if secret is not None and len(secret) != _SECRET_SIZE:
            raise ValueError(f"a secret has {_SECRET_SIZE} bytes, not {len(secret)}")
        self._path = path
        self._lock = threading.Lock()
        self._tables: dict[str, str] = {}
        # The locked file. Each write replaces it with a new file.
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
        """Store the hash of a table. Raise ForkError if a different table of the same ply is stored."""
        with self._lock:
            known = self._tables.setdefault(f"{table_id.hex()} {ply}", table.hex())
            if known != table.hex():
                raise ForkError(f"table {table_id.hex()} has two tables of ply {ply}: {known} and {table.hex()}")
            self._write()

    def close(self) -> None:
        """Unlock the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()

    def _open(self) -> IO[bytes] | None:
        # Return None if the file does not exist.
        while True:
            try:
                file = self._path.open("rb")
            except FileNotFoundError:
                return None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                    return file
                # The previous user of the file has just replaced it with a new file.
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
        # Write the file atomically: if the machine crashes, either the old or the new content remains. Only the owner
        # can read the file. It is locked before another process can open it.
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
    """Return the public part of a table. Only the service can verify that the table is authentic.

    Raises:
        ValueError: The bytes are not a table.
    """
    return _read(table)[1]


def hash_of(table: bytes) -> bytes:
    """Return a table's hash, 32 bytes: the SHA-256 of the table without acknowledgements.

    Tables made from this table have the hash as `parent` in their headers.

    Raises:
        ValueError: The bytes are not a table.
    """
    return hashlib.sha256(_content(_read(table)[0])).digest()


def text_of(table: bytes) -> str:
    """Return a table as text, for links and chats: base64url without padding."""
    return base64.urlsafe_b64encode(table).decode().rstrip("=")


def table_of(text: str) -> bytes:
    """Return the table that a string represents, ignoring white space around the string.

    Raises:
        ValueError: The text is not base64url.
    """
    stripped = text.strip()
    # Four digits encode three bytes. A single remaining digit encodes no byte.
    if not re.fullmatch(r"[A-Za-z0-9_-]*", stripped) or len(stripped) % 4 == 1:
        raise ValueError("a table as text is base64url")
    return base64.urlsafe_b64decode(stripped + "=" * (-len(stripped) % 4))


def missing_seats(table: bytes) -> list[int]:
    """Return the seats that still have to acknowledge a table before it is open, in ascending order.

    The list is empty if the table is open. All human seats have to acknowledge a table of ply 0 and an amended table.
    Any other table has to be acknowledged by the next human seat to the left of the seat that moved. A table that a bot
    made from an open table is open.

    Raises:
        ValueError: The bytes are not a table.
    """
    sealed, header = _read(table)
    mover, humans = header.mover, _human_seats(header)
    is_asked = header.acknowledgement == pb.ACKNOWLEDGEMENT_NEXT or header.HasField("amendment")
    if not is_asked or mover not in (_NOBODY, *humans):
        return []
    needed = humans if mover == _NOBODY else [min(humans, key=lambda seat: (seat - mover - 1) % header.players)]
    acknowledged = {each.seat for each in sealed.acknowledgements}
    return [seat for seat in needed if seat not in acknowledged]


def awaited(table: bytes, turn: int | None = None) -> list[int]:
    """Return the seats that the game waits for.

    These are the seats whose acknowledgement is missing or, at an open table, the human seat whose turn it is. The list
    is empty if the game is over, and at a bot's turn, because any client may request a bot's move.

    Args:
        table: The table.
        turn: The deciding seat, as returned by looking at the table. None if no seat has to decide.

    Raises:
        ValueError: The bytes are not a table.
    """
    missing = missing_seats(table)
    if missing or turn is None:
        return missing
    return [turn] if turn in _human_seats(header_of(table)) else []


def merged(one: bytes, other: bytes) -> bytes:
    """Return a table with the acknowledgements of both of its copies.

    Raises:
        ValueError: The bytes are not tables, or the tables have different plies.
        ForkError: The tables have the same ply but differ.
    """
    (first, header), (second, other_header) = _read(one), _read(other)
    if (header.table_id, header.ply) != (other_header.table_id, other_header.ply):
        raise ValueError("the tables have different plies")
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
    """The seats of other players, in ascending order. Empty if no seat needs the tables."""
    tables: list[bytes]
    """The tables, by ascending ply."""


def to_send(tables: Sequence[bytes], mine: Collection[int], turn: int | None = None) -> Sending:
    """Return the tables that a client has to send after its player has acted, and the seats that need the tables.

    The seats are those that the game waits for. If no seat has to decide, they are all human seats. The player's own
    seats are left out. The tables are those that these seats may lack: all tables since the player's second-to-last
    decision, or all known tables if an amendment since then gave a seat to a person. Sending a table again does no
    harm.

    Args:
        tables: All known tables of a game, in any order.
        mine: The player's own seats.
        turn: See `awaited`.

    Raises:
        ValueError: There are no tables, or some bytes are not a table.
    """
    if not tables:
        raise ValueError("no tables were given")
    known = sorted(((header_of(table), table) for table in tables), key=lambda each: each[0].ply)
    header, newest = known[-1]
    own = [each.ply for each, _ in known if each.mover in mine]
    first = own[-2] if len(own) > 1 else 0
    if any(each.ply >= first and each.amendment.replacement.holder.secret_sha256 for each, _ in known):
        first = 0
    is_open = not missing_seats(newest)
    wanted = _human_seats(header) if is_open and turn is None else awaited(newest, turn)
    return Sending([seat for seat in wanted if seat not in mine], [table for each, table in known if each.ply >= first])


def _human_seats(header: pb.TableHeader) -> list[int]:
    return [seat for seat, each in enumerate(header.seats) if not each.HasField("bot")]


def _content(sealed: pb.SealedTable) -> bytes:
    return pb.SealedTable(header=sealed.header, seal=sealed.seal).SerializeToString()


def _read(table: bytes) -> tuple[pb.SealedTable, pb.TableHeader]:
    # Raise ValueError for bytes that are not a table, as far as this can be checked without the key.
    try:
        sealed = pb.SealedTable.FromString(table)
        header = pb.TableHeader.FromString(sealed.header)
    except DecodeError as error:
        raise ValueError("the bytes are not a sealed table") from error
    seats = [each.seat for each in sealed.acknowledgements]
    is_sound = (
        sealed.seal != b""
        # Each table has a single encoding.
        and _content(sealed) + pb.SealedTable(acknowledgements=sealed.acknowledgements).SerializeToString() == table
        and all(len(each.mac) == _MAC_SIZE for each in sealed.acknowledgements)
        and seats == sorted({*seats})
        and max(seats, default=0) < header.players == len(header.seats)
        and len(header.table_id) == _ID_SIZE
        and len(header.parent) == _HASH_SIZE
        and _NOBODY <= header.mover < header.players
        and (header.mover == _NOBODY) == (header.ply == 0 or header.HasField("amendment"))
        and header.acknowledgement in (pb.ACKNOWLEDGEMENT_NONE, pb.ACKNOWLEDGEMENT_NEXT)
        and all(each.HasField("bot") or len(each.secret_sha256) == _HASH_SIZE for each in header.seats)
    )
    if not is_sound:
        raise ValueError("the bytes are not a sealed table")
    return sealed, header
