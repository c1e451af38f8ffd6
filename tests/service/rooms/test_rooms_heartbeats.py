"""Followers get heartbeats as often as documented, although work on rooms is slow."""

import asyncio
import selectors
from itertools import pairwise

from chatiere.service.ports.server import _look_after_rooms
from chatiere.service.rooms.followers import HEARTBEAT

# The longest time between heartbeats in seconds, as documented for RoomService.Follow in room_service.proto.
PROMISED = 15.0


class Clock(selectors.SelectSelector):
    """The selector and the clock of an event loop. Instead of waiting, the time jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class SlowRelay:
    """A relay with slow lookups. It records when they happened."""

    def __init__(self, clock: Clock, seconds: list[float]) -> None:
        self.clock, self.seconds = clock, seconds
        self.looks: list[float] = []

    def look(self) -> None:
        self.looks.append(self.clock.now)
        if len(self.looks) == len(self.seconds):
            raise asyncio.CancelledError
        self.clock.now += self.seconds[len(self.looks)]


def gaps(seconds: list[float]) -> list[float]:
    """Return the times between the heartbeats of a follower, in seconds. `seconds` are the durations of the looks."""
    clock = Clock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now  # type: ignore[method-assign]
    relay = SlowRelay(clock, seconds)
    try:
        loop.run_until_complete(_look_after_rooms(relay))  # type: ignore[arg-type]
    except asyncio.CancelledError:
        pass
    finally:
        loop.close()
    return [later - one for one, later in pairwise(relay.looks[::HEARTBEAT])]


def test_the_duration_of_looks_does_not_delay_later_ones() -> None:
    assert gaps([0.9] * 5 * HEARTBEAT) == [float(HEARTBEAT)] * 4


def test_a_heartbeat_is_in_time_after_the_worker_was_suspended() -> None:
    seconds = [0.05] * 6 * HEARTBEAT
    seconds[3], seconds[17], seconds[38] = 4.0, 5.0, 3.0
    assert max(gaps(seconds)) <= PROMISED
