"""The methods of RoomService, from requests to responses in wire format.

They raise EngineError and Refusal with field paths from the request, and DecodeError for a request that cannot be
parsed.
"""

import hashlib
import time
from collections.abc import Callable

from chatiere import engine
from chatiere.engine import EngineError
from chatiere.engine.wire import Reader, fill
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.names import is_visible
from chatiere.service.calls import conversion
from chatiere.service.calls.requests import parse
from chatiere.service.calls.table_checks import SECRET_SIZE, authentic, missing, seat_of
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.relay import Relay
from chatiere.service.rooms.room import CURSOR_SIZE, Named, Post, Replied, Settled, placed
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import info_of
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

_ROOM_SIZE, _INVITATION_SIZE, _MAX_NAME_LENGTH = 16, 8, 24
_MIN_SECONDS, _MAX_SECONDS = 10, 86400


class RoomService:
    """RoomService, with the rooms of a relay."""

    def __init__(self, relay: Relay, keys: Keyring, now: Callable[[], float] = time.time) -> None:
        """Create the service. `keys` open the tables. `now` is a function that returns the seconds since 1970."""
        self._relay, self._keys, self._now = relay, keys, now

    def post(self, client: str, data: bytes) -> bytes:
        """Handle a PostRequest. `client` identifies the client for limits."""
        request = parse(pb.PostRequest, data)
        key = _key_of(request.room)
        if not request.HasField("secret"):
            raise missing("secret", "the person's secret")
        person = _person_of(request.secret)
        if request.HasField("emote"):
            is_taken = self._relay.emote(key, pb.RoomEmote(person=person, emote=_checked_emote(request.emote)))
            return pb.PostResponse(taken=is_taken).SerializeToString()
        change = self._relay.post(client, key, self._read_post(request, person))
        response = pb.PostResponse(taken=change.is_taken)
        if change.held is not None:
            response.table = change.held.table
            response.info.CopyFrom(info_of(change.held.table))
        return response.SerializeToString()

    def follow(self, data: bytes, feed: Feed) -> Callable[[], None]:
        """Handle a FollowRequest. See FeedHandler."""
        request = parse(pb.FollowRequest, data)
        key = _key_of(request.room)
        person = _person_of(request.secret) if request.HasField("secret") else None
        if len(request.cursor) > CURSOR_SIZE:
            raise _invalid("cursor", f"a cursor has at most {CURSOR_SIZE} bytes")
        return self._relay.follow(key, person, request.cursor, feed)

    def _read_post(self, request: pb.PostRequest, person: bytes) -> Post:
        kind, now = request.WhichOneof("post"), int(1000 * self._now())
        if kind == "name":
            name = request.name
            if not (len(name) <= _MAX_NAME_LENGTH and is_visible(name) and name == name.strip()):
                limits = (
                    f"a name must have 1 to {_MAX_NAME_LENGTH} printable characters, one that can be seen, and no "
                    "spaces at its ends"
                )
                raise _invalid("name", limits)
            return Named(person, name, now)
        if kind == "invitation":
            if len(request.invitation) != _INVITATION_SIZE:
                raise _invalid("invitation", f"an invitation's id has {_INVITATION_SIZE} bytes")
            return Replied(request.invitation, person, now)
        if kind == "settings":
            return Settled(person, _checked_settings(request.settings, person), now)
        # The decrypted part of the table does not leave this function.
        table = authentic(self._keys, request.table, "table")
        header = table.header
        # The previous holder of a seat may also post the amended table that gives the seat to another holder.
        if header.ply and person != header.amendment.replacement.before.secret_sha256:
            seat_of(header, request.secret)
        return placed(header, table.hash, request.table, person, now)


def _checked_emote(emote: pb.Emote) -> pb.Emote:
    """Return the emote. Raises Refusal if it is unknown."""
    if emote == pb.EMOTE_UNSPECIFIED or emote not in pb.Emote.values():
        raise _invalid("emote", "unknown emote")
    return emote


def _checked_settings(wanted: pb.RoomSettings, person: bytes) -> bytes:
    """Check that a game can begin with the settings. Return them serialised, with the person. Raises EngineError."""
    options = Reader(wanted).inner(pb.RoomSettings.OPTIONS_FIELD_NUMBER)
    try:
        game = conversion.named_game(wanted.game, options)
        chosen = conversion.read_options(options, game)
        try:
            players = game.read_players(wanted.players)
            conversion.check_options(chosen, game, players)
        except EngineError as error:
            conversion.name_game(error, game)
            raise
    except EngineError as error:
        error.lies_below("settings")
        raise
    if wanted.acknowledgement not in tables_pb.Acknowledgement.values():
        raise _invalid("settings.acknowledgement", "unknown acknowledgement")
    if wanted.decision_seconds and not _MIN_SECONDS <= wanted.decision_seconds <= _MAX_SECONDS:
        raise _invalid("settings.decision_seconds", f"the time must be 0 or from {_MIN_SECONDS} to {_MAX_SECONDS} s")
    settings = pb.RoomSettings(game=game.name, players=players, acknowledgement=wanted.acknowledgement, person=person)
    settings.decision_seconds = wanted.decision_seconds
    if chosen:
        own = getattr(settings.options, game.name)
        own.SetInParent()
        fill(own, engine.codec(game.name).put_options, chosen)
    return settings.SerializeToString(deterministic=True)


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
