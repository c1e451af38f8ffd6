"""A relay: all rooms that one or several processes keep, and what carries posts among their followers."""

from collections.abc import Callable
from typing import Protocol

from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import MEMORY, SettingError, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.service.rooms.room import Change, Post

LOOK = 1.0
"""Seconds between two looks at the rooms."""


class Relay(Protocol):
    """The rooms; for any thread."""

    @property
    def size(self) -> int:
        """Bytes of this process's memory that rooms take."""

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """Put something into a room and tell its followers; return what it did.

        `key`: the SHA-256 of the room's id. Raises Refusal (LIMIT_EXCEEDED), and StatusError where rooms are away.
        """

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """Tell a feed of a room, from a cursor on. Return what to call at its end. It fails as `post` does.

        `person`: the SHA-256 of the person's secret; None: an onlooker.
        """

    def look(self) -> None:
        """Send the heartbeats that are due, and forget rooms that nobody has used for long; to be called each LOOK."""

    def close(self) -> None:
        """End what the relay has under way; nothing is called afterwards."""


def create_relay(settings: Settings, metrics: Metrics, health: Health) -> Relay:
    """Return the relay of `settings.relay`. Raises SettingError if that cannot be had."""
    assert settings.relay is not None
    if settings.relay == MEMORY:
        return MemoryRelay(settings, metrics)
    try:
        from chatiere.service.rooms.redis_relay import RedisRelay
    except ImportError as error:
        raise SettingError("relay", f"missing packages: pip install 'chatiere[redis]' ({error})") from error
    return RedisRelay(settings, metrics, health)
