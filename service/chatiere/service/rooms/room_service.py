"""The methods of RoomService, whose requests and responses are in wire format.

They raise Refusal with field paths that begin in the request, and DecodeError for a request that cannot be parsed.
"""

import hashlib
from collections.abc import Callable

from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.calls.requests import parse
from chatiere.service.calls.table_checks import SECRET_SIZE, authentic, missing, seat_of
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.relay import Relay
from chatiere.service.rooms.room import CURSOR_SIZE, Named, Placed, Post, Replied
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import room_service_pb2 as pb

_ROOM_SIZE, _INVITATION_SIZE, _MAX_NAME_LENGTH = 16, 8, 24


class RoomService:
    """RoomService, with the rooms of a relay."""

    def __init__(self, relay: Relay, keys: Keyring) -> None:
        """Serve the rooms; tables are those sealed with `keys`."""
        self._relay, self._keys = relay, keys

    def post(self, client: str, data: bytes) -> bytes:
        """Handle a request of Post. `client`: as limits see it."""
        request = parse(pb.PostRequest, data)
        key = _key_of(request.room)
        if not request.HasField("secret"):
            raise missing("secret", "the person's secret")
        change = self._relay.post(client, key, self._read_post(request, _person_of(request.secret)))
        held = None if change.held is None else change.held.table
        return pb.PostResponse(taken=change.is_taken, table=held).SerializeToString()

    def follow(self, data: bytes, feed: Feed) -> Callable[[], None]:
        """Handle a request of Follow; see FeedHandler."""
        request = parse(pb.FollowRequest, data)
        key = _key_of(request.room)
        person = _person_of(request.secret) if request.HasField("secret") else None
        if len(request.cursor) > CURSOR_SIZE:
            raise _invalid("cursor", f"a cursor has at most {CURSOR_SIZE} bytes")
        return self._relay.follow(key, person, request.cursor, feed)

    def _read_post(self, request: pb.PostRequest, person: bytes) -> Post:
        kind = request.WhichOneof("post")
        if kind == "name":
            name = request.name
            if not (0 < len(name) <= _MAX_NAME_LENGTH and name.isprintable() and name == name.strip()):
                limits = f"a name has 1 to {_MAX_NAME_LENGTH} characters that can be printed, no spaces at the ends"
                raise _invalid("name", limits)
            return Named(person, name)
        if kind == "invitation":
            if len(request.invitation) != _INVITATION_SIZE:
                raise _invalid("invitation", f"an invitation's id has {_INVITATION_SIZE} bytes")
            return Replied(request.invitation, person)
        # Of what is hidden in it, nothing leaves this function.
        table = authentic(self._keys, request.table, "table")
        header = table.header
        if header.ply:
            seat_of(header, request.secret)
        return Placed(header.table_id, header.ply, header.parent, table.hash, request.table)


def _key_of(room: bytes) -> bytes:
    """Return the SHA-256 of a room's id. Raises Refusal."""
    if not room:
        raise missing("room", "the id of the room")
    if len(room) != _ROOM_SIZE:
        raise _invalid("room", f"a room's id has {_ROOM_SIZE} bytes")
    return hashlib.sha256(room).digest()


def _person_of(secret: bytes) -> bytes:
    """Return the SHA-256 of a person's secret. Raises Refusal."""
    if len(secret) != SECRET_SIZE:
        raise _invalid("secret", f"a secret has {SECRET_SIZE} bytes")
    return hashlib.sha256(secret).digest()


def _invalid(field: str, message: str) -> Refusal:
    return Refusal(ServiceReason.INVALID_ROOM, message, field=field, metadata={})
