"""Sealed tables as bytes: sealing, opening, acknowledging."""

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
"""The mover of a table at ply 0."""
NO_PARENT = bytes(32)
"""The parent of a table at ply 0."""
# Larger than any table, in bytes: what is longer is not looked at.
_MAX_SIZE = 4096
# In the body instead of a decision, at ply 0.
_NONE = 0xFFFF
_DECISION_SIZE = 2
# Where the state begins in a body.
_STATE = ROOT_SIZE + _DECISION_SIZE
_HEADER, _SEAL = pb.SealedTable.HEADER_FIELD_NUMBER, pb.SealedTable.SEAL_FIELD_NUMBER
# The acknowledgement of each seat without its code, which ends it.
_ACKNOWLEDGED_BY = [
    pb.SealedTable(acknowledgements=[pb.TableAcknowledgement(seat=seat, mac=bytes(MAC_SIZE))])
    .SerializeToString()
    .removesuffix(bytes(MAC_SIZE))
    for seat in range(max(game.max_players for game in engine.games()))
]


class Body(NamedTuple):
    """What is hidden in a table; in bytes of one length for a game."""

    root: bytes
    state: bytes
    """The packed state before the last decision; at ply 0 the first."""
    decision: int | None
    """The dense id of that decision; None at ply 0."""


class OpenedTable(NamedTuple):
    """A table that was authentic."""

    key: TableKey
    content: bytes
    """Its bytes without acknowledgements."""
    hash: bytes
    """The SHA-256 of these: 32 bytes."""
    header: pb.TableHeader
    body: Body
    acknowledged: tuple[int, ...]
    """The seats that have acknowledged it, ascending."""


class NotAuthenticError(ValueError):
    """Bytes that are no table sealed with one of the keys."""


def seal(key: TableKey, header: pb.TableHeader, body: Body) -> bytes:
    """Return a table without acknowledgements. Header and body always give the same bytes."""
    text = header.SerializeToString(deterministic=True)
    decision = _NONE if body.decision is None else body.decision
    hidden = body.root + decision.to_bytes(_DECISION_SIZE, "little") + body.state
    return _content(text, key.seal(text, hidden))


def open_table(keys: Keyring, table: bytes) -> OpenedTable:
    """Open a table. Raises NotAuthenticError, which does not say why."""
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
    # One table has one form: other bytes that mean the same would be a fork that is none.
    if not hmac.compare_digest(content + _acknowledgements(key, table_hash, seats), table):
        raise NotAuthenticError
    decision = int.from_bytes(hidden[ROOT_SIZE:_STATE], "little")
    body = Body(hidden[:ROOT_SIZE], hidden[_STATE:], None if decision == _NONE else decision)
    return OpenedTable(key, content, table_hash, header, body, seats)


def acknowledged(table: OpenedTable, seat: int) -> bytes:
    """Return a table with the acknowledgement of one more seat."""
    return table.content + _acknowledgements(table.key, table.hash, sorted({*table.acknowledged, seat}))


def _content(header: bytes, seal: bytes) -> bytes:
    # A SealedTable without acknowledgements.
    return b"".join((head(_HEADER, len(header)), header, head(_SEAL, len(seal)), seal))


def _acknowledgements(key: TableKey, table_hash: bytes, seats: Iterable[int]) -> bytes:
    # The last field of a SealedTable. Message objects would take longer than all codes.
    return b"".join([_ACKNOWLEDGED_BY[seat] + key.acknowledgement(table_hash, seat) for seat in seats])


def human_seats(header: pb.TableHeader) -> list[int]:
    """Return the seats that no bot has, ascending."""
    return [seat for seat, each in enumerate(header.seats) if not each.bot]


def missing_seats(header: pb.TableHeader, acknowledged: tuple[int, ...]) -> list[int]:
    """Return the seats that have still to acknowledge a table before it is open, ascending; none once it is."""
    if header.acknowledgement != pb.ACKNOWLEDGEMENT_NEXT:
        return []
    mover, humans = header.mover, human_seats(header)
    if mover == NOBODY:
        wanted = humans
    elif mover in humans:
        # Clockwise, so to the left; there are two human seats or more.
        wanted = [humans[(humans.index(mover) + 1) % len(humans)]]
    else:
        # A bot has one move only, and it was made of an open table.
        wanted = []
    return [seat for seat in wanted if seat not in acknowledged]
