"""The client of RoomService."""

import hashlib
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, SupportsIndex, Unpack

import grpc

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of, pause_before
from chatiere.clients.calls.room_contents import SILENCE, RoomContents
from chatiere.clients.transport.channel import ClientOptions
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.game_pb2 import Options
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub
from chatiere.v1.table_service_pb2 import ACKNOWLEDGEMENT_UNSPECIFIED, Acknowledgement

_SECRET_SIZE = 16


class Room(ChannelClient):
    """A thread-safe client for one person in a room. People in a room play at sealed tables.

        with Room("localhost:50051", room_id, secret=seat.secret) as room:
            room.post_name("Anna")
            room.post_table(table)
            for _ in room.follow():
                table = room.contents.newest()

    Anyone who has the room's id can enter the room. Share the id only with the players, and keep it out of URLs that
    are sent to servers. The service sends all posts to everyone who follows the room. It forgets a room that has not
    been used for a day, and all rooms when it stops. Every Room that follows the room then posts its contents again.

    Methods that post have an argument `timeout` in seconds. All methods raise ChatiereError with one of the listed
    reasons or MISSING_FIELD, INVALID_ROOM or LIMIT_EXCEEDED. They raise TransportError as the methods of Client do,
    with the code UNIMPLEMENTED if the service has no rooms. Use the room in a `with` statement, or close it.
    """

    _not_pickled = "it follows the room; enter the room again with its id and secret"
    contents: RoomContents
    """The contents of the room, as received by `follow` or posted by this Room."""

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        room: bytes,
        *,
        secret: bytes | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Enter a room.

        Args:
            target: See ChannelClient.
            room: The room's id, 16 bytes. `new_room_id()` returns the id of a new room.
            secret: The person's secret, 16 bytes. The holder of a seat passes `SealedSeat.secret`. None means a new
                secret.
            options: See ChannelClient.
        """
        super().__init__(target, **options)
        self._stub = RoomServiceStub(self.channel)
        self._room, self._secret = room, secret or secrets.token_bytes(_SECRET_SIZE)
        self.contents = RoomContents(hashlib.sha256(self._secret).digest())
        self._is_closed = threading.Event()
        # The calls in progress. `close` cancels them, and no call begins while it copies this set.
        self._calls: set[Any] = set()
        self._beginning = threading.Lock()

    @property
    def person(self) -> bytes:
        """The person as other people see them: the SHA-256 of the secret, 32 bytes."""
        return self.contents.person

    def close(self) -> None:
        """End `follow` and all other calls in flight, leave the room, and close the client's own channel."""
        with self._beginning:
            self._is_closed.set()
        for call in list(self._calls):
            call.cancel()
        super().close()

    def post_name(self, name: str, *, timeout: float | None = None) -> None:
        """Post the person's name, 1 to 24 characters."""
        self._post(pb.PostRequest(name=name), timeout)
        self.contents.keep(pb.RoomEntry(name=pb.RoomName(person=self.person, name=name)))

    def post_reply(self, invitation: bytes, *, timeout: float | None = None) -> None:
        """Accept an invitation, given by its id of 8 bytes."""
        self._post(pb.PostRequest(invitation=invitation), timeout)
        self.contents.keep(pb.RoomEntry(reply=pb.RoomReply(person=self.person, invitation=invitation)))

    def post_settings(
        self,
        game: str,
        players: SupportsIndex,
        *,
        options: Options | None = None,
        acknowledgement: Acknowledgement = ACKNOWLEDGEMENT_UNSPECIFIED,
        timeout: float | None = None,
    ) -> bool:
        """Post the settings of the next games, so that people see the settings before they take seats.

        In a new room, anyone may post settings. After the first settings or table, only the person who posted them and
        the people who play in the room's games may post settings.

        Args:
            game: GameInfo.name.
            players: The number of players.
            options: The options. None means all defaults.
            acknowledgement: The condition under which tables are open, if it is already decided.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            False if the room did not accept the settings.

        Raises:
            ChatiereError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION.
        """
        settings = self.contents.settings_of(game, players, options, acknowledgement)
        response = self._post(pb.PostRequest(settings=settings), timeout)
        if response.taken:
            self.contents.keep(pb.RoomEntry(settings=settings))
        return response.taken

    def post_table(self, table: bytes, *, timeout: float | None = None) -> pb.PostResponse:
        """Post a table.

        An amended table that is not open yet is a proposal. `contents.proposals` has the proposals.

        Returns:
            The response, which states whether the room accepted the table and contains the table that the room holds.

        Raises:
            ChatiereError: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET.
            ForkError: This client already received another table of the same ply.
        """
        post = pb.PostRequest(table=table)
        response = self._post(post, timeout)
        # If the service forgot the room and created it again, tables are missing until the followers have posted their
        # tables.
        if (
            response.HasField("table")
            and not response.taken
            and (lacking := self.contents.between(response.table, table))
        ):
            for earlier in lacking:
                self._post_again(pb.PostRequest(table=earlier))
            response = self._post(post, timeout)
        if response.HasField("table"):
            self.contents.keep(pb.RoomEntry(table=response.table))
        return response

    def follow(self) -> Iterator[pb.FollowResponse]:
        """Yield the changes in the room, after adding them to `contents`, until the Room is closed.

        If the connection breaks or the service stops, the method reconnects, without a time limit.

        Raises:
            ChatiereError: The service refused the call for any other reason.
            ForkError: Two different tables of the same ply were received.
        """
        cursor, attempt = b"", 0
        while not self._is_closed.is_set():
            request = pb.FollowRequest(room=self._room, secret=self._secret, cursor=cursor)
            try:
                with self._begun(self._stub.Follow, request) as call:
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

    @contextmanager
    def _begun(self, method: Any, request: Any, **options: Any) -> Iterator[Any]:
        # Start a call, and cancel it at the end of the `with` statement. `close` also cancels it.
        with self._beginning:
            if self._is_closed.is_set():
                raise _closed()
            call = method(request, metadata=self._metadata.of_call(), **options)
            self._calls.add(call)
        try:
            yield call
        finally:
            call.cancel()
            self._calls.discard(call)

    def _post(self, post: pb.PostRequest, timeout: float | None) -> pb.PostResponse:
        request = pb.PostRequest(room=self._room, secret=self._secret)
        request.MergeFrom(post)
        limit = self._timeout if timeout is None else timeout
        try:
            with self._begun(self._stub.Post.future, request, timeout=limit) as call:
                response: pb.PostResponse = call.result()
                return response
        except grpc.FutureCancelledError as error:
            raise _closed() from error
        except grpc.RpcError as error:
            raise error_of(error) from error

    def _post_again(self, post: pb.PostRequest) -> None:
        try:
            self._post(post, None)
        except TransportError:
            raise
        except ChatiereError:
            # Ignore a refused post, for example of an expired table.
            pass


def new_room_id() -> bytes:
    """Return the id of a new room: 16 random bytes."""
    return secrets.token_bytes(16)


def _closed() -> TransportError:
    return TransportError(grpc.StatusCode.CANCELLED, "the room was closed")


def _unless_silent(call: Any) -> Iterator[pb.FollowResponse]:
    # Yield the responses of a call. Cancel the call if no response arrives within SILENCE seconds.
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
