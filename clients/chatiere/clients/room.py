"""The client of RoomService."""

import hashlib
import secrets
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import grpc

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of
from chatiere.clients.calls.room_contents import SILENCE, RoomContents, pause_before
from chatiere.clients.transport.channel import ClientOptions
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub

_SECRET_SIZE = 16


class Room(ChannelClient):
    """A room of people who play at sealed tables, and a person there; may be used from several threads.

        with Room("localhost:50051", room_id, secret=seat.secret) as room:
            room.post_name("Anna")
            room.post_table(table)
            for _ in room.follow():
                table = room.contents.newest()

    Whoever has the room's id is in it: keep it to those who play, and out of URLs that servers see. What is posted,
    everybody there is told; the service forgets it when nobody has used the room for a day, or when it stops. Then each
    Room that follows posts again what it knows, and the room goes on.

    Those that post take a `timeout` in seconds. All methods raise ChatiereError for the reasons that they list and for
    MISSING_FIELD, INVALID_ROOM and LIMIT_EXCEEDED, and TransportError, as those of Client do: with the code
    UNIMPLEMENTED where the service has no rooms. Use it in a `with` statement, or close it.
    """

    contents: RoomContents
    """The contents of the room, as far as `follow` received or this room posted them."""

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        room: bytes,
        *,
        secret: bytes | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Enter a room. `room`: its id, `new_room_id()` for a new one. For the rest see ChannelClient.

        `secret`: the person's, 16 bytes, which is `SealedSeat.secret` for who has a seat; None: one is made.
        """
        super().__init__(target, **options)
        self._stub = RoomServiceStub(self.channel)
        self._room, self._secret = room, secret or secrets.token_bytes(_SECRET_SIZE)
        self.contents = RoomContents(hashlib.sha256(self._secret).digest())
        self._is_closed = threading.Event()
        # Calls of Follow under way.
        self._following: set[Any] = set()

    @property
    def person(self) -> bytes:
        """The person, as the others see it: the SHA-256 of the secret, 32 bytes."""
        return self.contents.person

    def close(self) -> None:
        """Leave the room, which ends `follow`, and close the client's own channel."""
        self._is_closed.set()
        for call in list(self._following):
            call.cancel()
        super().close()

    def post_name(self, name: str, *, timeout: float | None = None) -> None:
        """Say what the person is called: 1 to 24 characters."""
        self._post(pb.PostRequest(name=name), timeout)
        self.contents.keep(pb.RoomEntry(name=pb.RoomName(person=self.person, name=name)))

    def post_reply(self, invitation: bytes, *, timeout: float | None = None) -> None:
        """Accept an invitation, by its id of 8 bytes."""
        self._post(pb.PostRequest(invitation=invitation), timeout)
        self.contents.keep(pb.RoomEntry(reply=pb.RoomReply(person=self.person, invitation=invitation)))

    def post_table(self, table: bytes, *, timeout: float | None = None) -> pb.PostResponse:
        """Show a table to all in the room; return whether it was taken, and the one that the room holds.

        Reasons: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET. Raises ForkError if another table of its ply was followed.
        """
        post = pb.PostRequest(table=table)
        response = self._post(post, timeout)
        # A room that has begun anew lacks tables until those who follow it have posted them again.
        if not response.taken and (lacking := self.contents.between(response.table, table)):
            for earlier in lacking:
                self._post_again(pb.PostRequest(table=earlier))
            response = self._post(post, timeout)
        self.contents.keep(pb.RoomEntry(table=response.table))
        return response

    def follow(self) -> Iterator[pb.FollowResponse]:
        """Yield what is new in the room, of which `contents` knows already, until the Room is closed.

        It follows again when the connection breaks or the service stops, for as long as it takes. Raises ChatiereError
        for other refusals, and ForkError for a second table of a ply.
        """
        cursor, attempt = b"", 0
        while not self._is_closed.is_set():
            request = pb.FollowRequest(room=self._room, secret=self._secret, cursor=cursor)
            call = self._stub.Follow(request, metadata=self._metadata.of_call())
            self._following.add(call)
            try:
                for response in _unless_silent(call):
                    for post in self.contents.take(response):
                        self._post_again(post)
                    cursor, attempt = response.cursor, 0
                    if response.entries or response.HasField("presence"):
                        yield response
            except (grpc.RpcError, TransportError) as found:
                error = error_of(found) if isinstance(found, grpc.RpcError) else found
                pause = pause_before(attempt, error)
                if self._is_closed.is_set():
                    return
                if pause is None:
                    raise error from found
                attempt += 1
                self._is_closed.wait(pause)
            finally:
                call.cancel()
                self._following.discard(call)

    def _post(self, post: pb.PostRequest, timeout: float | None) -> pb.PostResponse:
        request = pb.PostRequest(room=self._room, secret=self._secret)
        request.MergeFrom(post)
        response: pb.PostResponse = self._call(self._stub.Post, request, timeout)
        return response

    def _post_again(self, post: pb.PostRequest) -> None:
        try:
            self._post(post, None)
        except TransportError:
            raise
        except ChatiereError:
            # Such as a table that has expired: the room goes on without it.
            pass


def new_room_id() -> bytes:
    """Return the id of a new room: 16 random bytes."""
    return secrets.token_bytes(16)


def _unless_silent(call: Any) -> Iterator[pb.FollowResponse]:
    # The responses of a call, which is cancelled when none comes for too long.
    responses = iter(call)
    while True:
        timer = threading.Timer(SILENCE, call.cancel)
        timer.start()
        try:
            response = next(responses, None)
        finally:
            timer.cancel()
        if response is None:
            return
        yield response
