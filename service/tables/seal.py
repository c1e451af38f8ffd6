"""Sealed tables as bytes: sealing, opening, acknowledging."""

import hashlib
import hmac
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from google.protobuf.message import DecodeError

from chatiere.service.tables.keys import NONCE_SIZE, TAG_SIZE, Keyring, TableKey
from chatiere.service.tables.roots import ROOT_SIZE
from chatiere.v1 import table_service_pb2 as pb

FORMAT = 1
NOBODY = -1
"""The mover of a table at ply 0."""
# Larger than any table, in bytes: what is longer is not looked at.
_LONGEST = 4096
# In the body instead of a decision, at ply 0.
_NONE = 0xFFFF
_DECISION_SIZE = 2


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
    return pb.SealedTable(header=text, seal=key.seal(text, hidden)).SerializeToString()


def open_table(keys: Keyring, table: bytes) -> OpenedTable:
    """Open a table. Raises NotAuthenticError, which does not say why."""
    sealed, header = _parsed(table)
    key = keys.find(header.key_id)
    if key is None:
        raise NotAuthenticError
    try:
        hidden = key.open(sealed.header, sealed.seal)
    except InvalidTag:
        raise NotAuthenticError from None
    acknowledgements = list(sealed.acknowledgements)
    del sealed.acknowledgements[:]
    content = sealed.SerializeToString()
    seats = [each.seat for each in acknowledgements]
    if seats != sorted(set(seats)) or (seats and seats[-1] >= header.players):
        raise NotAuthenticError
    for each in acknowledgements:
        if not hmac.compare_digest(key.acknowledgement(content, each.seat), each.mac):
            raise NotAuthenticError
    state = ROOT_SIZE + _DECISION_SIZE
    decision = int.from_bytes(hidden[ROOT_SIZE:state], "little")
    body = Body(hidden[:ROOT_SIZE], hidden[state:], None if decision == _NONE else decision)
    return OpenedTable(key, content, header, body, tuple(seats))


def _parsed(table: bytes) -> tuple[pb.SealedTable, pb.TableHeader]:
    if len(table) > _LONGEST:
        raise NotAuthenticError
    try:
        sealed = pb.SealedTable.FromString(table)
        header = pb.TableHeader.FromString(sealed.header)
    except DecodeError:
        raise NotAuthenticError from None
    # One table has one form: other bytes that mean the same would be a fork that is none.
    sealed.DiscardUnknownFields()
    if sealed.SerializeToString() != table:
        raise NotAuthenticError
    if header.format != FORMAT or len(sealed.seal) < NONCE_SIZE + TAG_SIZE + ROOT_SIZE + _DECISION_SIZE:
        raise NotAuthenticError
    return sealed, header


def acknowledged(table: OpenedTable, seat: int) -> bytes:
    """Return a table with the acknowledgement of one more seat."""
    seats = sorted({*table.acknowledged, seat})
    sealed = pb.SealedTable.FromString(table.content)
    for each in seats:
        sealed.acknowledgements.add(seat=each, mac=table.key.acknowledgement(table.content, each))
    return sealed.SerializeToString()


def hash_of(content: bytes) -> bytes:
    """Return the hash of a table without acknowledgements: 32 bytes."""
    return hashlib.sha256(content).digest()


def human_seats(header: pb.TableHeader) -> list[int]:
    """Return the seats that no bot has, ascending."""
    return [seat for seat, each in enumerate(header.seats) if each.WhichOneof("holder") != "bot"]


def missing_seats(header: pb.TableHeader, acknowledged: tuple[int, ...]) -> list[int]:
    """Return the seats that have still to acknowledge a table before it is open, ascending; none once it is."""
    if header.acknowledgement != pb.ACKNOWLEDGEMENT_NEXT:
        return []
    humans = human_seats(header)
    if header.mover == NOBODY:
        wanted = humans
    elif header.mover in humans:
        # Clockwise, so to the left; there are two human seats or more.
        wanted = [humans[(humans.index(header.mover) + 1) % len(humans)]]
    else:
        # A bot has one move only, and it was made of an open table.
        wanted = []
    return [seat for seat in wanted if seat not in acknowledged]
