"""Rooms called in process, without a port: services, in memory with a clock that a test moves, and their followers."""

import asyncio
import hashlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from tables.support import secret_of

from chatiere.service.base.errors import OK, Refusal, Status
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import MEMORY, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.service.rooms.relay import create_relay
from chatiere.service.rooms.room_service import RoomService
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import room_service_pb2 as pb

from ..process import wait_until
from .redis_server import RedisServer

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

    def __init__(self, keys: Keyring | None = None, relay: str = MEMORY, **settings: Any) -> None:
        self.registry = CollectorRegistry()
        self.time = 0.0
        chosen, metrics = Settings(relay=relay, **settings), Metrics(self.registry)
        self.relay: Any = MemoryRelay(chosen, metrics, lambda: self.time)
        self.health = Health(["chatiere.v1.RoomService"])
        if relay != MEMORY:
            self.relay = create_relay(chosen, metrics, self.health)
            self.wait_for_redis()
        self.service = RoomService(self.relay, keys or Keyring(None))

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
        leave = self.service.follow(request.SerializeToString(), ear)
        ear.leave = partial(self._left, leave)
        wait_until(lambda: ear.heard or ear.error, "it gets a response")
        if ear.error is not None:
            ear.leave()
            raise ear.error
        return ear

    def _left(self, leave: Callable[[], None]) -> None:
        leave()
        self.settle()

    def wait_for_redis(self, *, is_away: bool = False) -> None:
        wait_until(lambda: self.sample("chatiere_relay_away") == is_away, "Redis is there, or away")

    def settle(self) -> None:
        """Wait until what was told to a relay in a loop of its own is done."""
        if not isinstance(self.relay, MemoryRelay) and threading.current_thread() is not self.relay._thread:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.relay._loop).result()

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.relay.look()
        self.settle()

    def sample(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    @property
    def kept(self) -> set[bytes]:
        """The rooms that are kept, each as the SHA-256 of its id."""
        if isinstance(self.relay, MemoryRelay):
            return set(self.relay._rooms)
        with RedisServer.client_of(self.relay._settings.relay) as client:
            return {bytes.fromhex(name.decode()) for name in client.zrange("chatiere:rooms:used", 0, -1)}

    def check_empty(self) -> None:
        """Check that nothing is kept any more."""
        assert (self.kept, self.relay._rooms, self.relay.size) == (set(), {}, 0)
        followers = self.relay._followers
        assert not any([*followers._turns, followers._turn_of, followers._by_client])
        assert not getattr(self.relay, "_owners", None)
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
