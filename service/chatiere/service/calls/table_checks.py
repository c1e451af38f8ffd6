"""Checks of a sealed table, before its game is opened, and of the caller's secret."""

import hashlib
import hmac
import time

from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import NotAuthenticError, OpenedTable, open_table
from chatiere.v1 import table_service_pb2 as pb

SECRET_SIZE, HASH_SIZE = 16, 32


def authentic(keys: Keyring, data: bytes, field: str) -> OpenedTable:
    """Open a table. Raises Refusal if the table is missing, is not authentic or has expired."""
    if not data:
        raise missing(field, "a table")
    try:
        table = open_table(keys, data)
    except NotAuthenticError:
        raise Refusal(
            ServiceReason.INVALID_TABLE,
            "not a table sealed by this service, or modified since",
            field=field,
            metadata={},
        ) from None
    expires = table.header.expires
    if time.time() >= expires.seconds:
        raise Refusal(
            ServiceReason.TABLE_EXPIRED,
            "the table has expired",
            field=field,
            metadata={"expired": expires.ToJsonString()},
        )
    return table


def seat_of(header: pb.TableHeader, secret: bytes) -> int:
    """Return the seat to which a secret belongs. Raises Refusal (WRONG_SECRET)."""
    digest = hashlib.sha256(secret).digest()
    found = None
    # Compare all hashes, each in constant time, so that the duration reveals nothing about them.
    for seat, each in enumerate(header.seats):
        # The hash of a bot's seat is empty, and equals no digest.
        if hmac.compare_digest(each.secret_sha256, digest):
            found = seat
    if found is None or len(secret) != SECRET_SIZE:
        message = "the secret belongs to no seat at this table"
        raise Refusal(ServiceReason.WRONG_SECRET, message, field="secret", metadata={})
    return found


def missing(field: str, what: str) -> Refusal:
    """Return the refusal of a request without a required field. `what`: a description of the field."""
    return Refusal(ServiceReason.MISSING_FIELD, f"the request has no {field}: {what}", field=field, metadata={})
