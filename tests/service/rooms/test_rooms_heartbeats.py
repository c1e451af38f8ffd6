"""Followers get heartbeats as often as documented, although work on rooms is slow."""

import asyncio
from itertools import pairwise

from chatiere.service.rooms.followers import HEARTBEAT
from chatiere.service.rooms.relay import look_after_rooms

from ..clock import Clock

# The longest time between heartbeats in seconds, as documented for RoomService.Follow in room_service.proto.
PROMISED = 15.0


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
    loop = clock.loop()
    relay = SlowRelay(clock, seconds)
    try:
        loop.run_until_complete(look_after_rooms(relay))  # type: ignore[arg-type]
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
