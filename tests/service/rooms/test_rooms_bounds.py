"""Bounds on rooms, bytes and followers, of a client and in all: who gives way, and what is forgotten."""

import hashlib
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tables.support import secret_of

from chatiere.service.base.errors import Refusal
from chatiere.service.rooms.room import OF_ENTRY, OF_ROOM

from .conftest import MakeRooms
from .support import ROOM, Ear, Rooms, refused

NAME = OF_ENTRY + 50
"""Bytes that an entry with a short name takes, and a few more."""


def room_of(number: int) -> bytes:
    return number.to_bytes(16)


def numbers(rooms: Rooms) -> set[int]:
    """Return the rooms that are kept, of the first hundred."""
    return {number for number in range(100) if hashlib.sha256(room_of(number)).digest() in rooms.kept}


def test_a_client_with_half_of_all_rooms_loses_the_one_that_it_has_not_used_for_longest(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_rooms=8)
    for number in (1, 2, 3, 4, 1, 5):
        rooms.post(room_of(number), name="Anna")
    assert rooms.sample("chatiere_rooms_dropped_total", reason="full") == 1
    assert numbers(rooms) == {1, 3, 4, 5}


def test_rooms_with_followers_go_last() -> None:
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


def test_a_follower_that_leaves_a_forgotten_room_is_no_news_in_the_next_one() -> None:
    rooms = Rooms(max_rooms=2)
    rooms.post(room_of(1), name="Anna")
    ear = rooms.follow(room_of(1), secret=secret_of(0))
    # It learns of it later.
    leave, ear.leave = ear.leave, lambda: None
    rooms.post(room_of(2), name="Anna")
    assert ear.error is not None
    again = rooms.follow(room_of(1), secret=secret_of(1), client="bert")
    leave()
    assert len(again.heard) == 1
    rooms.post(room_of(1), name="Anna")
    assert len(again.heard) == 2
    assert sum(room.size for room in rooms.relay._rooms.values()) == rooms.relay.size


def test_when_all_is_full_the_client_with_most_rooms_gives_way(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_rooms=6)
    for number, client in enumerate(["anna", "anna", "anna", "bert", "cleo", "bert"], 1):
        rooms.post(room_of(number), name="cat", client=client)
    rooms.post(room_of(7), name="cat", client="dora")
    # The first of Anna, who had three.
    assert numbers(rooms) == {2, 3, 4, 5, 6, 7}


def test_bytes_are_bounded_of_a_client_and_in_all(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_room_bytes=2 * (OF_ROOM + 3 * NAME))
    for number in range(3):
        rooms.post(name="cat", secret=secret_of(number))
    # One room alone: there is nothing else to give way.
    assert refused(rooms.post, name="cat", secret=secret_of(3)) == ("LIMIT_EXCEEDED", "bytes of one client's rooms")
    for number in range(3):
        rooms.post(room_of(1), name="cat", secret=secret_of(number), client="bert")
    rooms.post(room_of(2), name="cat", client="cleo")
    assert rooms.sample("chatiere_rooms_dropped_total", reason="full") == 1
    assert len(rooms.kept) == 2


def test_a_client_has_half_of_all_followers(make_rooms: MakeRooms) -> None:
    rooms = make_rooms(max_followers=5)
    ears = [rooms.follow() for _ in range(3)]
    assert refused(rooms.follow) == ("LIMIT_EXCEEDED", "followers of one client")
    assert rooms.follow(client="bert").heard
    ears[0].leave()
    assert rooms.follow().heard


def test_a_room_that_nobody_uses_is_forgotten() -> None:
    rooms = Rooms(room_lifetime=10.0)
    rooms.post(room_of(1), name="Anna")
    ear = rooms.follow(room_of(2))
    rooms.post(room_of(2), name="Anna")
    rooms.time = 9.0
    rooms.post(room_of(3), name="Anna")
    rooms.time = 10.0
    rooms.look()
    assert rooms.sample("chatiere_rooms_dropped_total", reason="idle") == 1
    # One that is followed is in use, until a lifetime after its last follower has left.
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
def test_whatever_clients_do_the_bounds_hold_and_nothing_is_left(steps: list[tuple[str, int, int, int]]) -> None:
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
            assert len(owner.rooms) <= 3
            assert owner.size == sum(each.size for each in owner.rooms.values()) <= (5 * OF_ROOM + 12 * NAME + 1) // 2
        assert all(number <= 3 for number in relay._followers._by_client.values())
        assert all(not (each.is_empty and not each.followers) for each in kept)
    for ear in ears:
        if ear.error is None:
            ear.leave()
    rooms.time += 10.0
    rooms.look()
    rooms.check_empty()


def test_an_entry_is_counted_with_what_it_takes() -> None:
    rooms = Rooms()
    rooms.post(name="Anna")
    (room,) = rooms.relay._rooms.values()
    before = room.size
    rooms.post(name="Bert", secret=secret_of(1))
    (*_, entry) = room._entries.values()
    assert sys.getsizeof(entry) + sum(map(sys.getsizeof, (*entry.post, entry.post))) < room.size - before
    assert rooms.follow(ROOM).entries
