"""Rooms that are called in process, without a port: services with a clock that tests advance, and followers."""

import asyncio
import hashlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from tables.support import info_of, secret_of

from chatiere.engine import EngineError
from chatiere.service.base.errors import OK, Refusal, Status
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import MEMORY, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.service.rooms.presence import PAUSE
from chatiere.service.rooms.relay import create_relay
from chatiere.service.rooms.room_service import RoomService
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import room_service_pb2 as pb

from ..process import wait_until
from .redis_server import RedisServer

ROOM, OTHER_ROOM = b"room of 16 bytes", b"another 16 bytes"
INVITATION = b"8 bytes."
BEGINNING = 1_800_000_000.0
"""The time at which a service begins, in seconds since 1970."""


def person_of(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def check_info(message: pb.PostResponse | pb.RoomEntry) -> None:
    """Check the fields that the service adds to a table or an entry, and clear them.

    If the message has a table, `info` must describe this table. If the message is an entry, `time` must be set.
    """
    if isinstance(message, pb.RoomEntry):
        assert message.HasField("time")
        message.ClearField("time")
    table = message.table or (message.proposal if isinstance(message, pb.RoomEntry) else b"")
    assert message.HasField("info") == bool(table)
    if table:
        assert message.info == info_of(table)
        message.ClearField("info")


class Ear:
    """A follower: the feed of its call, and the responses that were sent to it."""

    language = ""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.heard: list[pb.FollowResponse] = []
        self.times: list[float] = []
        """The time of each entry, in seconds since the service began."""
        self.error: Any = None
        self.leave: Callable[[], None] = lambda: None
        self.announce: Callable[[], None] = lambda: None
        """A function that makes the follower's service announce the presence that is due."""

    def send(self, response: bytes) -> None:
        found = pb.FollowResponse.FromString(response)
        for entry in found.entries:
            self.times.append(entry.time.ToMilliseconds() / 1000 - BEGINNING)
            check_info(entry)
        # Only the first response contains the time.
        assert found.HasField("time") == (not self.heard)
        found.ClearField("time")
        self.heard.append(found)

    def end(self, status: Status = OK) -> None:
        raise AssertionError("a room ends a follower only with an error")

    def cut(self, error: Exception) -> None:
        # The follower leaves immediately, as if its loop had reported the end.
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
        self.sharing = [self]
        """The services that share the rooms."""
        self.time = 0.0
        chosen, metrics = Settings(relay=relay, **settings), Metrics(self.registry)
        self.relay: Any = MemoryRelay(chosen, metrics, lambda: self.time)
        self.health = Health(["chatiere.v1.RoomService"])
        if relay != MEMORY:
            self.relay = create_relay(chosen, metrics, self.health)
            self.wait_for_redis()
        self.service = RoomService(self.relay, keys or Keyring(None), lambda: BEGINNING + self.time)

    def post(
        self, room: bytes = ROOM, *, secret: bytes | None = secret_of(0), client: str = "anna", **what: Any
    ) -> pb.PostResponse:
        request = pb.PostRequest(room=room, secret=secret, **what)
        response = pb.PostResponse.FromString(self.service.post(client, request.SerializeToString()))
        check_info(response)
        return response

    def follow(
        self, room: bytes = ROOM, *, secret: bytes | None = None, cursor: bytes = b"", client: str = "anna"
    ) -> Ear:
        ear = Ear(client)
        request = pb.FollowRequest(room=room, secret=secret, cursor=cursor)
        leave = self.service.follow(request.SerializeToString(), ear)
        ear.leave, ear.announce = partial(self._left, leave), self.announce
        wait_until(lambda: ear.heard or ear.error, "the follower gets a response")
        if ear.error is not None:
            ear.leave()
            raise ear.error
        return ear

    def _left(self, leave: Callable[[], None]) -> None:
        leave()
        self.settle()

    def wait_for_redis(self, *, is_away: bool = False) -> None:
        wait_until(lambda: self.sample("chatiere_relay_away") == is_away, "the state of Redis is noticed")

    def settle(self) -> None:
        """Wait until relays with their own loops have done their scheduled work."""
        if isinstance(self.relay, MemoryRelay):
            return
        relays = list(getattr(self.relay, "_relays", {"": self.relay}).values())
        if threading.current_thread() not in [relay._thread for relay in relays]:
            for relay in relays:
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), relay._loop).result()

    def announce(self) -> None:
        """Make all services that share the rooms announce the presence that is due. In memory, let time pass before."""
        for rooms in self.sharing:
            rooms.time += PAUSE
            rooms.relay.announce()
            rooms.settle()

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.relay.look()
        self.settle()

    def sample(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    @property
    def kept(self) -> set[bytes]:
        """The kept rooms, each as the SHA-256 of its id."""
        if isinstance(self.relay, MemoryRelay):
            return set(self.relay._rooms)
        with RedisServer.client_of(self.relay._settings.relay) as client:
            return {bytes.fromhex(name.decode()) for name in client.zrange("chatiere:rooms:used", 0, -1)}

    def check_empty(self) -> None:
        """Check that the service keeps no rooms."""
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
    """Return the reason why a call was refused, with the field or the limit that the refusal names."""
    with pytest.raises((Refusal, EngineError)) as found:
        call(*arguments, **named)
    error: Any = found.value
    return error.reason.value, error.field or error.metadata.get("limit", "")
