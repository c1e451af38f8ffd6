"""Rooms called in process, without a port: a service with a clock that a test moves, and its followers."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from tables.support import secret_of

from chatiere.service.base.errors import OK, Refusal, Status
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.rooms.relay import Relay
from chatiere.service.rooms.room_service import RoomService
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import room_service_pb2 as pb

ROOM, OTHER_ROOM = b"room of 16 bytes", b"another 16 bytes"
INVITATION = b"8 bytes."


def person_of(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


class Ear:
    """A follower: the feed of its call, and what it was sent."""

    language = ""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.heard: list[pb.FollowResponse] = []
        self.error: Any = None
        self.leave: Callable[[], None] = lambda: None

    def send(self, response: bytes) -> None:
        self.heard.append(pb.FollowResponse.FromString(response))

    def end(self, status: Status = OK) -> None:
        raise AssertionError("a room ends nobody without a reason")

    def cut(self, error: Exception) -> None:
        # At once, as at a loop that has ended.
        self.error = error
        self.leave()

    @property
    def entries(self) -> list[pb.RoomEntry]:
        return [entry for response in self.heard for entry in response.entries]

    @property
    def cursor(self) -> bytes:
        return self.heard[-1].cursor


class Rooms:
    """RoomService of one process."""

    def __init__(self, keys: Keyring | None = None, **settings: Any) -> None:
        self.registry = CollectorRegistry()
        self.time = 0.0
        chosen, metrics = Settings(relay="memory", **settings), Metrics(self.registry)
        self.service = RoomService(chosen, metrics, keys or Keyring(None))
        self.relay = self.service.relay = Relay(chosen, metrics, lambda: self.time)

    def post(
        self, room: bytes = ROOM, *, secret: bytes | None = secret_of(0), client: str = "anna", **what: Any
    ) -> pb.PostResponse:
        request = pb.PostRequest(room=room, secret=secret, **what)
        return pb.PostResponse.FromString(self.service.post(client, request.SerializeToString()))

    def follow(
        self, room: bytes = ROOM, *, secret: bytes | None = None, cursor: bytes = b"", client: str = "anna"
    ) -> Ear:
        ear = Ear(client)
        request = pb.FollowRequest(room=room, secret=secret, cursor=cursor)
        ear.leave = self.service.follow(request.SerializeToString(), ear)
        return ear

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.relay.look()

    def sample(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    def check_empty(self) -> None:
        """Check that nothing is kept any more."""
        assert (self.relay._rooms, self.relay._owners, self.relay.size) == ({}, {}, 0)
        assert not any(self.relay._turns)
        assert self.sample("chatiere_rooms") == self.sample("chatiere_room_followers") == 0


def name_entry(secret: bytes, name: str) -> pb.RoomEntry:
    return pb.RoomEntry(name=pb.RoomName(person=person_of(secret), name=name))


def reply_entry(secret: bytes, invitation: bytes = INVITATION) -> pb.RoomEntry:
    return pb.RoomEntry(reply=pb.RoomReply(person=person_of(secret), invitation=invitation))


def refused(call: Any, *arguments: Any, **named: Any) -> tuple[str, str]:
    """Return the reason of a refusal, and its field or the limit."""
    with pytest.raises(Refusal) as found:
        call(*arguments, **named)
    error = found.value
    return error.reason.value, error.field or error.metadata.get("limit", "")
