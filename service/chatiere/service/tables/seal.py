"""Functions that seal, open and acknowledge tables. A table is a bytes object."""

import hashlib
import hmac
from collections.abc import Iterable
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from google.protobuf.message import DecodeError

from chatiere import engine
from chatiere.engine.wire import head
from chatiere.service.tables.keys import MAC_SIZE, NONCE_SIZE, TAG_SIZE, Keyring, TableKey
from chatiere.service.tables.roots import ROOT_SIZE
from chatiere.v1 import table_service_pb2 as pb

FORMAT = 1
NOBODY = -1
"""The mover of a table at ply 0, and of a table created by an amendment."""
NO_PARENT = bytes(32)
"""The parent of a table at ply 0."""
# An upper bound of a table's size in bytes. Longer input is rejected without being parsed.
_MAX_SIZE = 4096
# The value of the decision in the body of a table at ply 0. This table has no last decision.
_NONE = 0xFFFF
_DECISION_SIZE = 2
# The offset of the state in a body.
_STATE = ROOT_SIZE + _DECISION_SIZE
_HEADER, _SEAL = pb.SealedTable.HEADER_FIELD_NUMBER, pb.SealedTable.SEAL_FIELD_NUMBER
# The serialized acknowledgement of each seat, without the authentication code at its end.
_ACKNOWLEDGED_BY = [
    pb.SealedTable(acknowledgements=[pb.TableAcknowledgement(seat=seat, mac=bytes(MAC_SIZE))])
    .SerializeToString()
    .removesuffix(bytes(MAC_SIZE))
    for seat in range(max(game.max_players for game in engine.games()))
]


class Body(NamedTuple):
    """The encrypted part of a table. All bodies of a game have the same length."""

    root: bytes
    state: bytes
    """The packed state before the last decision, or the initial state at ply 0."""
    decision: int | None
    """The dense id of the last decision, or None at ply 0."""


class OpenedTable(NamedTuple):
    """An authenticated and decrypted table."""

    key: TableKey
    content: bytes
    """The table's bytes without acknowledgements."""
    hash: bytes
    """The SHA-256 of `content`: 32 bytes."""
    header: pb.TableHeader
    body: Body
    acknowledged: tuple[int, ...]
    """The seats that have acknowledged the table, in ascending order."""


class NotAuthenticError(ValueError):
    """The bytes are not a table sealed with one of the keys."""


def seal(key: TableKey, header: pb.TableHeader, body: Body) -> bytes:
    """Return a sealed table without acknowledgements. Equal arguments give equal bytes."""
    text = header.SerializeToString(deterministic=True)
    decision = _NONE if body.decision is None else body.decision
    hidden = body.root + decision.to_bytes(_DECISION_SIZE, "little") + body.state
    return _content(text, key.seal(text, hidden))


def open_table(keys: Keyring, table: bytes) -> OpenedTable:
    """Open a table. Raises NotAuthenticError without a reason."""
    if len(table) > _MAX_SIZE:
        raise NotAuthenticError
    try:
        sealed = pb.SealedTable.FromString(table)
        header = pb.TableHeader.FromString(sealed.header)
    except DecodeError:
        raise NotAuthenticError from None
    key = keys.find(header.key_id)
    if key is None or header.format != FORMAT or len(sealed.seal) < NONCE_SIZE + TAG_SIZE + _STATE:
        raise NotAuthenticError
    try:
        hidden = key.open(sealed.header, sealed.seal)
    except InvalidTag:
        raise NotAuthenticError from None
    content = _content(sealed.header, sealed.seal)
    table_hash = hashlib.sha256(content).digest()
    seats = tuple(each.seat for each in sealed.acknowledgements)
    if seats and (max(seats) >= header.players or list(seats) != sorted(set(seats))):
        raise NotAuthenticError
    # Only the canonical encoding is accepted: other bytes with the same meaning would look like a different table.
    if not hmac.compare_digest(content + _acknowledgements(key, table_hash, seats), table):
        raise NotAuthenticError
    decision = int.from_bytes(hidden[ROOT_SIZE:_STATE], "little")
    body = Body(hidden[:ROOT_SIZE], hidden[_STATE:], None if decision == _NONE else decision)
    return OpenedTable(key, content, table_hash, header, body, seats)


def acknowledged(table: OpenedTable, seat: int) -> bytes:
    """Return the table with the acknowledgement of one more seat."""
    return table.content + _acknowledgements(table.key, table.hash, sorted({*table.acknowledged, seat}))


def _content(header: bytes, seal: bytes) -> bytes:
    # Serialize a SealedTable without acknowledgements.
    return b"".join((head(_HEADER, len(header)), header, head(_SEAL, len(seal)), seal))


def _acknowledgements(key: TableKey, table_hash: bytes, seats: Iterable[int]) -> bytes:
    # Serialize the last field of a SealedTable. Message objects would take longer than computing the codes.
    return b"".join([_ACKNOWLEDGED_BY[seat] + key.acknowledgement(table_hash, seat) for seat in seats])


def info_of(table: bytes) -> pb.TableInfo:
    """Return the public part of an authentic table."""
    sealed = pb.SealedTable.FromString(table)
    header = pb.TableHeader.FromString(sealed.header)
    acknowledged = tuple(each.seat for each in sealed.acknowledgements)
    return pb.TableInfo(
        header=header,
        hash=hashlib.sha256(_content(sealed.header, sealed.seal)).digest(),
        acknowledged=acknowledged,
        missing=missing_seats(header, acknowledged),
    )


def human_seats(header: pb.TableHeader) -> list[int]:
    """Return the seats that no bot plays, in ascending order."""
    return [seat for seat, each in enumerate(header.seats) if not each.bot]


def decisions_of(header: pb.TableHeader) -> int:
    """Return the number of decisions that led to a table's position."""
    return header.decisions if header.HasField("decisions") else header.ply


def missing_seats(header: pb.TableHeader, acknowledged: tuple[int, ...]) -> list[int]:
    """Return the seats that must still acknowledge a table before it is open, in ascending order."""
    if header.acknowledgement != pb.ACKNOWLEDGEMENT_NEXT and not header.HasField("amendment"):
        return []
    mover, humans = header.mover, human_seats(header)
    if mover == NOBODY:
        wanted = humans
    elif mover in humans:
        # The next human seat clockwise (to the left). If only one human seat is left, it is the mover's own seat.
        wanted = [humans[(humans.index(mover) + 1) % len(humans)]]
    else:
        # A bot's move is determined by an open table, so no acknowledgement is needed.
        wanted = []
    return [seat for seat in wanted if seat not in acknowledged]
