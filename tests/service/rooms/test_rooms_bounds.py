"""Bounds on rooms, bytes and followers, per client and in total: which rooms give way, and which ones expire."""

import hashlib
import sys
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.support import secret_of

from chatiere.service.base.errors import Refusal
from chatiere.service.rooms import memory_relay
from chatiere.service.rooms.memory_relay import Largest
from chatiere.service.rooms.room import OF_ENTRY, OF_ROOM, Room

from .conftest import MakeRooms
from .support import ROOM, Ear, Rooms, refused

NAME = OF_ENTRY + 50
"""An upper bound for the bytes of an entry with a short name."""


def room_of(number: int) -> bytes:
    return number.to_bytes(16)


def numbers(rooms: Rooms) -> set[int]:
    """Return the numbers of the kept rooms among the first hundred rooms."""
    return {number for number in range(100) if hashlib.sha256(room_of(number)).digest() in rooms.kept}


def test_a_client_with_half_of_all_rooms_loses_its_least_recently_used_one(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_rooms=8)
    for number in (1, 2, 3, 4, 1, 5):
        rooms.post(room_of(number), name="Anna")
    assert rooms.sample("chatiere_rooms_dropped_total", reason="full") == 1
    assert numbers(rooms) == {1, 3, 4, 5}


def test_rooms_with_followers_give_way_last() -> None:
    rooms = Rooms(max_rooms=4)
    rooms.post(room_of(1), name="Anna")
    ear = rooms.follow(room_of(1), client="bert")
    for number in (2, 3, 4):
        rooms.post(room_of(number), name="Anna")
    assert ear.error is None
    rooms.follow(room_of(4), client="bert")
    rooms.post(room_of(5), name="Anna")
    error: Any = ear.error
    assert (error.reason, error.retry_after) == ("LIMIT_EXCEEDED", 1.0)


def test_a_late_departure_from_a_forgotten_room_is_not_announced_in_the_next_one() -> None:
    rooms = Rooms(max_rooms=2)
    rooms.post(room_of(1), name="Anna")
    ear = rooms.follow(room_of(1), secret=secret_of(0))
    # The follower learns later that its room no longer exists.
    leave, ear.leave = ear.leave, lambda: None
    rooms.post(room_of(2), name="Anna")
    assert ear.error is not None
    again = rooms.follow(room_of(1), secret=secret_of(1), client="bert")
    leave()
    assert len(again.heard) == 1
    rooms.post(room_of(1), name="Anna")
    assert len(again.heard) == 2
    assert sum(room.size for room in rooms.relay._rooms.values()) == rooms.relay.size


def test_in_a_full_service_the_client_with_most_rooms_loses_one(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_rooms=6)
    for number, client in enumerate(["anna", "anna", "anna", "bert", "cleo", "bert"], 1):
        rooms.post(room_of(number), name="cat", client=client)
    rooms.post(room_of(7), name="cat", client="dora")
    # Anna had the most rooms, and has lost her first room.
    assert numbers(rooms) == {2, 3, 4, 5, 6, 7}


def test_bytes_are_bounded_per_client_and_in_total(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_room_bytes=2 * (OF_ROOM + 3 * NAME))
    for number in range(3):
        rooms.post(name="cat", secret=secret_of(number))
    # The client has only this room, so no other room can give way.
    assert refused(rooms.post, name="cat", secret=secret_of(3)) == ("LIMIT_EXCEEDED", "bytes of one client's rooms")
    for number in range(3):
        rooms.post(room_of(1), name="cat", secret=secret_of(number), client="bert")
    rooms.post(room_of(2), name="cat", client="cleo")
    assert rooms.sample("chatiere_rooms_dropped_total", reason="full") == 1
    assert len(rooms.kept) == 2


def test_a_client_may_have_half_of_all_followers(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_followers=5)
    ears = [rooms.follow() for _ in range(3)]
    assert refused(rooms.follow) == ("LIMIT_EXCEEDED", "followers of one client")
    assert rooms.follow(client="bert").heard
    ears[0].leave()
    assert rooms.follow().heard


class Visited(OrderedDict[bytes, Room]):
    """Rooms of an owner. They count how often code visits one of them."""

    count = 0

    def values(self) -> Any:
        for room in super().values():
            type(self).count += 1
            yield room


def test_few_rooms_are_visited_to_make_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_relay, "OrderedDict", Visited)
    rooms = Rooms(max_rooms=200)
    for number in range(200):
        client = "anna" if number < 100 else str(number)
        rooms.post(room_of(number), name="cat", client=client)
        if number < 99:
            rooms.follow(room_of(number), client="bert")
    monkeypatch.setattr(Visited, "count", 0)
    # The bound is reached first for the client, then for all clients. Each of 100 other clients has a room.
    for number in range(100):
        rooms.post(room_of(1000 + number), name="cat", client="anna")
        rooms.post(room_of(2000 + number), name="cat", client=f"new {number}")
    assert rooms.sample("chatiere_rooms_dropped_total", reason="full") == 200
    assert Visited.count <= 400


@given(
    steps=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9), st.integers(0, 40)), min_size=1, max_size=20)
)
def test_the_largest_owner_is_found_and_few_outdated_amounts_are_kept(steps: list[tuple[str, int, int]]) -> None:
    largest, amounts = Largest(), dict[str, int]()
    for owner, amount, times in steps:
        for _ in range(times):
            largest.set(owner, amount)
            amounts[owner] = amount
        if any(amounts.values()):
            assert amounts[largest.owner()] == max(amounts.values())
        assert len(largest._heap) <= 2 * 4 + 64


def test_an_unused_room_is_forgotten() -> None:
    rooms = Rooms(room_lifetime=10.0)
    rooms.post(room_of(1), name="Anna")
    ear = rooms.follow(room_of(2))
    rooms.post(room_of(2), name="Anna")
    rooms.time = 9.0
    rooms.post(room_of(3), name="Anna")
    rooms.time = 10.0
    rooms.look()
    assert rooms.sample("chatiere_rooms_dropped_total", reason="idle") == 1
    # A room with a follower is in use, and is kept for a lifetime after its last follower has left.
    rooms.time = 30.0
    rooms.look()
    assert rooms.sample("chatiere_rooms") == 1
    ear.leave()
    rooms.time = 39.0
    rooms.look()
    assert rooms.sample("chatiere_rooms") == 1
    rooms.time = 40.0
    rooms.look()
    rooms.check_empty()


@given(
    steps=st.lists(
        st.tuples(st.sampled_from("prl"), st.integers(0, 2), st.integers(1, 6), st.integers(0, 5)), max_size=60
    )
)
def test_the_bounds_always_hold_and_everything_is_freed(steps: list[tuple[str, int, int, int]]) -> None:
    rooms = Rooms(max_rooms=5, max_followers=5, max_room_bytes=5 * OF_ROOM + 12 * NAME, room_lifetime=3.0)
    relay, ears = rooms.relay, list[Ear]()
    for kind, client, room, number in steps:
        rooms.time += 0.5
        try:
            if kind == "p":
                rooms.post(room_of(room), name="cat" * (number % 3 + 1), secret=secret_of(number), client=str(client))
            elif kind == "r":
                ears.append(rooms.follow(room_of(room), client=str(client)))
            elif ears:
                ear = ears.pop(number % len(ears))
                if ear.error is None:
                    ear.leave()
                rooms.look()
        except Refusal as refusal:
            assert refusal.reason == "LIMIT_EXCEEDED"
        kept = relay._rooms.values()
        assert len(kept) <= 5
        assert sum(each.size for each in kept) == relay.size <= 5 * OF_ROOM + 12 * NAME
        for owner in relay._owners.values():
            owned = [*owner._followed.values(), *owner._unfollowed.values()]
            assert len(owner) == len(owned) <= 3
            assert owner.size == sum(each.size for each in owned) <= (5 * OF_ROOM + 12 * NAME + 1) // 2
            assert all(each.followers for each in owner._followed.values())
            assert not any(each.followers for each in owner._unfollowed.values())
        assert all(number <= 3 for number in relay._followers._by_client.values())
        assert all(not (each.is_empty and not each.followers) for each in kept)
    for ear in ears:
        if ear.error is None:
            ear.leave()
    rooms.time += 10.0
    rooms.look()
    rooms.check_empty()


def test_the_size_of_an_entry_is_not_underestimated() -> None:
    rooms = Rooms()
    rooms.post(name="Anna")
    (room,) = rooms.relay._rooms.values()
    before = room.size
    rooms.post(name="Bert", secret=secret_of(1))
    (*_, entry) = room._entries.values()
    assert sys.getsizeof(entry) + sum(map(sys.getsizeof, (*entry.post, entry.post))) < room.size - before
    assert rooms.follow(ROOM).entries
