"""The client of RoomService for asyncio."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, SupportsIndex, Unpack

import grpc

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of, pause_before
from chatiere.clients.calls.room_contents import SILENCE, RoomContents
from chatiere.clients.transport.aio_channel_client import AsyncChannelClient
from chatiere.clients.transport.channel import ClientOptions
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.game_pb2 import Options
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub
from chatiere.v1.table_service_pb2 import ACKNOWLEDGEMENT_UNSPECIFIED, Acknowledgement

_SECRET_SIZE = 16


class AsyncRoom(AsyncChannelClient):
    """The asyncio version of `Room`. Methods, arguments, results and errors are the same.

    Create it in a running event loop. Use it in an `async with` statement, or close it.
    """

    _not_pickled = "it follows the room; enter the room again with its id and secret"
    contents: RoomContents
    """See Room.contents."""

    def __init__(
        self,
        target: str | Sequence[str] | grpc.aio.Channel,
        room: bytes,
        *,
        secret: bytes | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Enter a room. Arguments are as for Room, except that a channel must be a grpc.aio channel."""
        super().__init__(target, **options)
        self._stub = RoomServiceStub(self.channel)
        self._room, self._secret = room, secret or secrets.token_bytes(_SECRET_SIZE)
        self.contents = RoomContents(hashlib.sha256(self._secret).digest())
        self._is_closed = asyncio.Event()
        # The calls in progress. `close` cancels them.
        self._calls: set[Any] = set()

    @property
    def person(self) -> bytes:
        """See Room.person."""
        return self.contents.person

    async def close(self) -> None:
        """See Room.close."""
        self._is_closed.set()
        for call in list(self._calls):
            call.cancel()
        await super().close()

    async def post_name(self, name: str, *, timeout: float | None = None) -> None:
        """See Room.post_name."""
        await self._post(pb.PostRequest(name=name), timeout)
        self.contents.keep(pb.RoomEntry(name=pb.RoomName(person=self.person, name=name)))

    async def post_reply(self, invitation: bytes, *, timeout: float | None = None) -> None:
        """See Room.post_reply."""
        await self._post(pb.PostRequest(invitation=invitation), timeout)
        self.contents.keep(pb.RoomEntry(reply=pb.RoomReply(person=self.person, invitation=invitation)))

    async def post_settings(
        self,
        game: str,
        players: SupportsIndex,
        *,
        options: Options | None = None,
        acknowledgement: Acknowledgement = ACKNOWLEDGEMENT_UNSPECIFIED,
        timeout: float | None = None,
    ) -> bool:
        """See Room.post_settings."""
        settings = self.contents.settings_of(game, players, options, acknowledgement)
        response = await self._post(pb.PostRequest(settings=settings), timeout)
        if response.taken:
            self.contents.keep(pb.RoomEntry(settings=settings))
        return response.taken

    async def post_table(self, table: bytes, *, timeout: float | None = None) -> pb.PostResponse:
        """See Room.post_table."""
        post = pb.PostRequest(table=table)
        response = await self._post(post, timeout)
        # The reason is the same as in Room.post_table.
        if (
            response.HasField("table")
            and not response.taken
            and (lacking := self.contents.between(response.table, table))
        ):
            for earlier in lacking:
                await self._post_again(pb.PostRequest(table=earlier))
            response = await self._post(post, timeout)
        if response.HasField("table"):
            self.contents.keep(pb.RoomEntry(table=response.table))
        return response

    async def follow(self) -> AsyncIterator[pb.FollowResponse]:
        """Yield the changes in the room until the room is closed or the task is cancelled. See Room.follow."""
        cursor, attempt = b"", 0
        while not self._is_closed.is_set():
            request = pb.FollowRequest(room=self._room, secret=self._secret, cursor=cursor)
            try:
                with self._begun(self._stub.Follow, request) as call:
                    async for response in _unless_silent(call):
                        for post in self.contents.take(response):
                            await self._post_again(post)
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
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._is_closed.wait()

    @contextmanager
    def _begun(self, method: Any, request: Any, **options: Any) -> Iterator[Any]:
        # Start a call, and cancel it at the end of the `with` statement, as Room does.
        if self._is_closed.is_set():
            raise _closed()
        call = method(request, metadata=self._metadata.of_call(), **options)
        self._calls.add(call)
        try:
            yield call
        except asyncio.CancelledError as error:
            # grpc.aio raises CancelledError for a cancelled call as well as in a cancelled task.
            task = asyncio.current_task()
            if not self._is_closed.is_set() or (task is not None and task.cancelling()):
                raise
            raise _closed() from error
        finally:
            call.cancel()
            self._calls.discard(call)

    async def _post(self, post: pb.PostRequest, timeout: float | None) -> pb.PostResponse:
        request = pb.PostRequest(room=self._room, secret=self._secret)
        request.MergeFrom(post)
        limit = self._timeout if timeout is None else timeout
        try:
            with self._begun(self._stub.Post, request, timeout=limit) as call:
                response: pb.PostResponse = await call
                return response
        except grpc.RpcError as error:
            raise error_of(error) from error

    async def _post_again(self, post: pb.PostRequest) -> None:
        try:
            await self._post(post, None)
        except TransportError:
            raise
        except ChatiereError:
            # Ignore a refused post, as Room does.
            pass


def _closed() -> TransportError:
    return TransportError(grpc.StatusCode.CANCELLED, "the room was closed")


async def _unless_silent(call: Any) -> AsyncIterator[pb.FollowResponse]:
    # Yield the responses of a call. Return if no response arrives within SILENCE seconds.
    while True:
        try:
            async with asyncio.timeout(SILENCE):
                response = await call.read()
        except TimeoutError:
            return
        if response is grpc.aio.EOF:
            # Raise the error that ended the call.
            await call
            return
        yield response
