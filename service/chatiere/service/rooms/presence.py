"""Announcements of the presence in rooms, and limits on the rates of entries and of emotes.

The presence is the list of the people who follow a room. It changes each time a person enters or leaves, and each
follower is sent the whole list. Therefore several changes are announced together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from chatiere.service.base.errors import Refusal, limit_exceeded
from chatiere.service.rooms.room import Room

ANNOUNCE = 0.1
"""The number of seconds between two calls of `Relay.announce`."""
PAUSE = 0.5
"""The minimum number of seconds between two announcements in a room."""
_MOST_SENDS = 512
MOST_EMOTES, EMOTES_PERIOD = 4, 10.0
"""The maximum number of emotes that a person may send to a room in one period, and the period in seconds."""
# A client may add at least _BURST followers at the same time, and as many again in _REFILL seconds.
_BURST, _REFILL = 1000, 100.0


class Announcements:
    """The rooms whose presence has changed. Each room's presence is announced at most once in PAUSE seconds.

    The caller must prevent concurrent use.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """Create an empty collection. `now`: a function that returns the time in seconds."""
        self._now = now
        # The rooms to announce, in the order of their first changes.
        self._due: OrderedDict[Room, None] = OrderedDict()
        # The rooms announced less than PAUSE seconds ago. For each room: the end of its pause, and True if its presence
        # has changed since.
        self._pausing: OrderedDict[Room, tuple[float, bool]] = OrderedDict()

    def add(self, room: Room) -> None:
        """Add a room whose presence has changed."""
        room.informed.clear()
        if room in self._pausing:
            self._pausing[room] = self._pausing[room][0], True
        else:
            self._due[room] = None

    def announce(self) -> list[Room]:
        """Announce the presence of the rooms that are due, and return these rooms.

        One call sends about _MOST_SENDS responses, so that other work is not delayed. The other rooms wait for the next
        call.
        """
        now = self._now()
        while self._pausing and next(iter(self._pausing.values()))[0] <= now:
            room, (_, has_changed) = self._pausing.popitem(last=False)
            if has_changed:
                self._due[room] = None
        sends, announced = 0, []
        while self._due and sends < _MOST_SENDS:
            room, _ = self._due.popitem(last=False)
            if room.followers:
                sends += 1 + room.tell_presence()
                self._pausing[room] = now + PAUSE, False
                announced.append(room)
        return announced


class EntryRate:
    """The rate at which each client may add followers: a leaky bucket.

    Entering and leaving a room costs as much work as other calls, but no other limit applies to a client that
    repeatedly enters and leaves. The caller must prevent concurrent use.
    """

    def __init__(self, most_followers: int, now: Callable[[], float]) -> None:
        """Allow each client to add its maximum number of followers immediately, and as many again in _REFILL seconds.

        Args:
            most_followers: The maximum number of followers of a client.
            now: A function that returns the time in seconds.
        """
        self._now = now
        self._most = max(most_followers, _BURST)
        self._rate = self._most / _REFILL
        # For each client, the level of its bucket (the number of charged followers that have not leaked out), and the
        # time of this level. The clients are in the order of their last charges.
        self._charged: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def charge(self, client: str) -> None:
        """Charge a client with a follower that it adds. Raises Refusal (LIMIT_EXCEEDED) if it added too many."""
        now = self._now()
        count = self._left(client, now) + 1
        if count > self._most:
            raise limit_exceeded("new followers of one client a second", self._rate, (count - self._most) / self._rate)
        self._charged[client] = count, now
        self._charged.move_to_end(client)

    def forget(self) -> None:
        """Forget clients that have added no followers for a while."""
        now = self._now()
        while self._charged and not self._left(next(iter(self._charged)), now):
            self._charged.popitem(last=False)

    def _left(self, client: str, now: float) -> float:
        count, time = self._charged.get(client, (0.0, now))
        return max(0.0, count - self._rate * (now - time))


class EmoteRate:
    """The numbers of emotes that people have sent to rooms in the current period, and their limit.

    Each person has a separate period in each room. A period begins with the first emote after the previous period.

    The caller must prevent concurrent use.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """Create a collection without emotes. `now`: a function that returns the time in seconds."""
        self._now = now
        # The end of the period and the number of emotes for each room and person. The earliest end comes first.
        self._sent: OrderedDict[tuple[bytes, bytes], tuple[float, int]] = OrderedDict()

    def charge(self, room: bytes, person: bytes) -> None:
        """Count an emote. Raises Refusal (LIMIT_EXCEEDED) if the person has reached the maximum in this period.

        Args:
            room: The SHA-256 of the room's id.
            person: The SHA-256 of the person's secret.
        """
        self.forget()
        now = self._now()
        end, count = self._sent.get((room, person), (now + EMOTES_PERIOD, 0))
        if count == MOST_EMOTES:
            raise too_many_emotes(end - now)
        self._sent[room, person] = end, count + 1

    def forget(self) -> None:
        """Forget the periods that are over."""
        while self._sent and next(iter(self._sent.values()))[0] <= self._now():
            self._sent.popitem(last=False)


def too_many_emotes(retry_after: float) -> Refusal:
    """Return the refusal of an emote above the limit. `retry_after`: the rest of the period in seconds."""
    return limit_exceeded(f"emotes of one person in {EMOTES_PERIOD:g} s", MOST_EMOTES, retry_after)
