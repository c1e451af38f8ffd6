"""The client of RoomService for asyncio."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Any, Unpack

import grpc

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of
from chatiere.clients.calls.room_contents import SILENCE, RoomContents, pause_before
from chatiere.clients.transport.aio_channel_client import AsyncChannelClient
from chatiere.clients.transport.channel import ClientOptions
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub

_SECRET_SIZE = 16


class AsyncRoom(AsyncChannelClient):
    """`Room` with await: the same methods, arguments, results and errors.

    Create it in a running event loop, and use it in an `async with` statement or close it.
    """

    contents: RoomContents
    """See Room."""

    def __init__(
        self,
        target: str | Sequence[str] | grpc.aio.Channel,
        room: bytes,
        *,
        secret: bytes | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        """Enter a room; arguments as of Room, with a channel of grpc.aio."""
        super().__init__(target, **options)
        self._stub = RoomServiceStub(self.channel)
        self._room, self._secret = room, secret or secrets.token_bytes(_SECRET_SIZE)
        self.contents = RoomContents(hashlib.sha256(self._secret).digest())

    @property
    def person(self) -> bytes:
        """See Room.person."""
        return self.contents.person

    async def post_name(self, name: str, *, timeout: float | None = None) -> None:
        """See Room.post_name."""
        await self._post(pb.PostRequest(name=name), timeout)
        self.contents.keep(pb.RoomEntry(name=pb.RoomName(person=self.person, name=name)))

    async def post_reply(self, invitation: bytes, *, timeout: float | None = None) -> None:
        """See Room.post_reply."""
        await self._post(pb.PostRequest(invitation=invitation), timeout)
        self.contents.keep(pb.RoomEntry(reply=pb.RoomReply(person=self.person, invitation=invitation)))

    async def post_table(self, table: bytes, *, timeout: float | None = None) -> pb.PostResponse:
        """See Room.post_table."""
        post = pb.PostRequest(table=table)
        response = await self._post(post, timeout)
        # See Room.
        if not response.taken and (lacking := self.contents.between(response.table, table)):
            for earlier in lacking:
                await self._post_again(pb.PostRequest(table=earlier))
            response = await self._post(post, timeout)
        self.contents.keep(pb.RoomEntry(table=response.table))
        return response

    async def follow(self) -> AsyncIterator[pb.FollowResponse]:
        """Yield what is new in the room, as Room.follow does, until its task is cancelled."""
        cursor, attempt = b"", 0
        while True:
            request = pb.FollowRequest(room=self._room, secret=self._secret, cursor=cursor)
            call = self._stub.Follow(request, metadata=self._metadata.of_call())
            try:
                async for response in _unless_silent(call):
                    for post in self.contents.take(response):
                        await self._post_again(post)
                    cursor, attempt = response.cursor, 0
                    if response.entries or response.HasField("presence"):
                        yield response
            except (grpc.RpcError, TransportError) as found:
                error = error_of(found) if isinstance(found, grpc.RpcError) else found
                pause = pause_before(attempt, error)
                if pause is None:
                    raise error from found
                attempt += 1
                await asyncio.sleep(pause)
            finally:
                call.cancel()

    async def _post(self, post: pb.PostRequest, timeout: float | None) -> pb.PostResponse:
        request = pb.PostRequest(room=self._room, secret=self._secret)
        request.MergeFrom(post)
        response: pb.PostResponse = await self._call(self._stub.Post, request, timeout)
        return response

    async def _post_again(self, post: pb.PostRequest) -> None:
        try:
            await self._post(post, None)
        except TransportError:
            raise
        except ChatiereError:
            # See Room.
            pass


async def _unless_silent(call: Any) -> AsyncIterator[pb.FollowResponse]:
    # The responses of a call, until none comes for too long.
    while True:
        try:
            async with asyncio.timeout(SILENCE):
                response = await call.read()
        except TimeoutError:
            return
        if response is grpc.aio.EOF:
            # Raises the error that ended it.
            await call
            return
        yield response
