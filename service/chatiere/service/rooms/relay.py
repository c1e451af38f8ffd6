"""The interface of relays. A relay stores rooms, for one or several processes, and sends posts to their followers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import MEMORY, SettingError, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.service.rooms.presence import ANNOUNCE
from chatiere.service.rooms.room import Change, Post
from chatiere.v1 import room_service_pb2 as pb

LOOK = 1.0
"""The number of seconds between two calls of `Relay.look`."""


class Relay(Protocol):
    """A store of rooms. All methods may be called from any thread."""

    @property
    def size(self) -> int:
        """The size of the rooms in this process's memory, in bytes."""

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """Put a post into a room and send it to the followers.

        Args:
            client: The client.
            key: The SHA-256 of the room's id.
            post: The post.

        Returns:
            The effect of the post.

        Raises:
            Refusal: If a limit is exceeded (LIMIT_EXCEEDED).
            StatusError: If Redis cannot be reached.
        """

    def emote(self, key: bytes, emote: pb.RoomEmote) -> bool:
        """Send an emote to the followers of a room. The relay does not keep it. Raises the errors of `post`.

        Args:
            key: The SHA-256 of the room's id.
            emote: The emote.

        Returns:
            True if the emote was sent. False if the person is not one of the room's people.
        """

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """Send a feed a room's entries after a cursor, and all later ones. Raises the errors of `post`.

        Args:
            key: The SHA-256 of the room's id.
            person: The SHA-256 of the person's secret, or None for an onlooker.
            cursor: The cursor.
            feed: The feed.

        Returns:
            A function to call at the end of the feed.
        """

    def announce(self) -> None:
        """Send the changes in presence that are due. Must be called every ANNOUNCE seconds."""

    def look(self) -> None:
        """Send the heartbeats that are due, and delete rooms unused for too long. Must be called every LOOK seconds."""

    def close(self) -> None:
        """End all work of the relay. No function is called afterwards."""


def create_relay(settings: Settings, metrics: Metrics, health: Health) -> Relay:
    """Create the relay that `settings.relay` names. Raises SettingError if that is not possible."""
    assert settings.relay is not None
    if settings.relay == MEMORY:
        return MemoryRelay(settings, metrics)
    try:
        from chatiere.service.rooms.redis_relay import RedisRelay
        from chatiere.service.rooms.sharded_relay import ShardedRelay
    except ImportError as error:
        raise SettingError("relay", f"missing packages: pip install 'chatiere[redis]' ({error})") from error
    if len(settings.redis_addresses) > 1:
        return ShardedRelay(settings, metrics, health)
    return RedisRelay(replace(settings, relay=settings.redis_addresses[0]), metrics, health.set)


async def look_after_rooms(relay: Relay) -> None:
    """Call `look` regularly."""
    # Schedule the checks by the clock, so that their durations do not delay heartbeats more and more.
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due = max(due + LOOK, loop.time())
        await asyncio.sleep(due - loop.time())
        relay.look()


async def announce_presence(relay: Relay) -> None:
    """Call `announce` regularly."""
    while True:
        await asyncio.sleep(ANNOUNCE)
        relay.announce()
