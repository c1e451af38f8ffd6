"""Asyncio clients of RoomService that post and follow in many rooms, at grpcio's port and at the web door."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any, Protocol

import grpc

from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub
from loadtest.bench.servers import CHANNEL_OPTIONS

# The number of followers on a connection to grpcio's port. The port accepts 256 calls on each connection.
_FOLLOWERS = 200
_HEAD = (
    "POST /chatiere.v1.RoomService/%s HTTP/1.1\r\nhost: localhost\r\n"
    "content-type: application/%s\r\ncontent-length: %d\r\n\r\n"
)


class RoomClients(Protocol):
    """All clients at one door."""

    async def post(self, request: pb.PostRequest) -> pb.PostResponse:
        """Call Post. Raise an error if the call is refused."""

    def follow(self, request: pb.FollowRequest) -> AsyncIterator[pb.FollowResponse]:
        """Call Follow and yield the responses. Raise an error when the call ends."""

    async def close(self) -> None:
        """Close the connections."""


class GrpcClients:
    """Clients at grpcio's port, with one channel for all posts and additional channels for followers."""

    def __init__(self, address: str) -> None:
        """Create the clients. They connect at their first call."""
        self._address = address
        self._channels = [self._connect()]
        self._post = RoomServiceStub(self._channels[0]).Post
        self._followers = 0

    def _connect(self) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(self._address, options=CHANNEL_OPTIONS)

    async def post(self, request: pb.PostRequest) -> pb.PostResponse:
        """See RoomClients."""
        response: pb.PostResponse = await self._post(request)
        return response

    async def follow(self, request: pb.FollowRequest) -> AsyncIterator[pb.FollowResponse]:
        """See RoomClients."""
        if self._followers % _FOLLOWERS == 0:
            self._channels.append(self._connect())
        self._followers += 1
        async for response in RoomServiceStub(self._channels[-1]).Follow(request):
            yield response
        raise ConnectionResetError("a follower's call has ended")

    async def close(self) -> None:
        """See RoomClients."""
        for channel in self._channels:
            await channel.close()


class WebClients:
    """Clients at the web door. They use the Connect protocol, with a separate connection for each follower."""

    def __init__(self, address: str) -> None:
        """Create the clients. They connect at their first call."""
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*self._address)
        self._writers.append(writer)
        return reader, writer

    async def post(self, request: pb.PostRequest) -> pb.PostResponse:
        """See RoomClients."""
        reader, writer = self._idle.pop() if self._idle else await self._connect()
        body = request.SerializeToString()
        writer.write((_HEAD % ("Post", "proto", len(body))).encode() + body)
        content = await reader.readexactly(_length(await _head(reader)))
        self._idle.append((reader, writer))
        return pb.PostResponse.FromString(content)

    async def follow(self, request: pb.FollowRequest) -> AsyncIterator[pb.FollowResponse]:
        """See RoomClients."""
        reader, writer = await self._connect()
        body = request.SerializeToString()
        framed = b"\0" + len(body).to_bytes(4) + body
        writer.write((_HEAD % ("Follow", "connect+proto", len(framed))).encode() + framed)
        await _head(reader)
        left = bytearray()
        while size := int(await reader.readline(), 16):
            left += (await reader.readexactly(size + 2))[:size]
            while len(left) >= 5 and len(left) >= (end := 5 + int.from_bytes(left[1:5])):
                message = bytes(left[5:end])
                if left[0]:
                    raise ConnectionResetError(f"a follower's call has ended: {message.decode()}")
                del left[:end]
                yield pb.FollowResponse.FromString(message)

    async def close(self) -> None:
        """See RoomClients."""
        for writer in self._writers:
            writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ConnectionRefusedError((head + await reader.readexactly(_length(head))).decode())
    return head


def _length(head: bytes) -> int:
    found: Any = re.search(rb"(?i)^content-length: (\d+)", head, re.MULTILINE)
    return int(found[1])
