"""The checks of a sealed table that come before the game is opened, and of the secret that a caller shows."""

import hashlib
import hmac
import time

from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import NotAuthenticError, OpenedTable, open_table
from chatiere.v1 import table_service_pb2 as pb

SECRET_SIZE, HASH_SIZE = 16, 32


def authentic(keys: Keyring, data: bytes, field: str) -> OpenedTable:
    """Return a table that is authentic and has not expired. Raises Refusal."""
    if not data:
        raise missing(field, "a table")
    try:
        table = open_table(keys, data)
    except NotAuthenticError:
        raise Refusal(
            ServiceReason.INVALID_TABLE,
            "not a table that this service sealed, or changed since",
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
    """Return the seat of a secret. Raises Refusal (WRONG_SECRET)."""
    digest = hashlib.sha256(secret).digest()
    found = None
    # All are compared, each in constant time: the duration reveals nothing.
    for seat, each in enumerate(header.seats):
        # A bot's is empty.
        if hmac.compare_digest(each.secret_sha256, digest):
            found = seat
    if found is None or len(secret) != SECRET_SIZE:
        raise Refusal(ServiceReason.WRONG_SECRET, "the secret is of no seat at this table", field="secret", metadata={})
    return found


def missing(field: str, what: str) -> Refusal:
    """Return the refusal of a request without a field that it needs; `what`: the field in words."""
    return Refusal(ServiceReason.MISSING_FIELD, f"the request has no {field}: {what}", field=field, metadata={})
