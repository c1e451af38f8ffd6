"""Presence: followers learn who is in the room. They get few responses, even if people often enter and leave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.support import secret_of

from chatiere.service.rooms import presence
from chatiere.service.rooms.presence import PAUSE
from chatiere.service.rooms.room import MAX_PEOPLE
from chatiere.v1 import room_service_pb2 as pb

from ..process import wait_until
from .conftest import MakeRooms
from .support import Ear, Rooms, person_of, refused

ANNA, BERT = map(secret_of, range(2))


def presence_of(ear: Ear) -> pb.RoomPresence:
    return [each.presence for each in ear.heard if each.HasField("presence")][-1]


def is_told(ear: Ear, expected: pb.RoomPresence) -> bool:
    ear.announce()
    return presence_of(ear) == expected


def test_followers_learn_which_people_are_present(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    anna = rooms.follow(secret=ANNA)
    assert anna.heard[-1].presence == pb.RoomPresence(people=[person_of(ANNA)])
    bert = rooms.follow(secret=BERT)
    here = pb.RoomPresence(people=sorted([person_of(ANNA), person_of(BERT)]))
    assert bert.heard[-1].presence == here
    wait_until(lambda: is_told(anna, here), "the first learns of the second")
    # A second window of the same person is not announced. An onlooker is announced to followers that do not know of it.
    window = rooms.follow(secret=ANNA)
    window.leave()
    rooms.announce()
    assert len(bert.heard) == 1
    onlooker = rooms.follow()
    here.onlookers = 1
    for ear in (anna, bert, onlooker):
        wait_until(lambda ear=ear: is_told(ear, here), "all learn of the onlooker")  # type: ignore[misc]
    assert len(onlooker.heard) == 1
    anna.leave()
    left = pb.RoomPresence(people=[person_of(BERT)], onlookers=1)
    wait_until(lambda: is_told(bert, left), "the others learn who has left")
    assert not bert.entries
    for ear in (bert, onlooker):
        ear.leave()
    rooms.announce()
    rooms.check_empty()


def test_a_person_who_comes_and_goes_causes_two_responses_a_second() -> None:
    rooms = Rooms()
    ears = [rooms.follow(secret=secret_of(number)) for number in range(MAX_PEOPLE - 1)]
    rooms.announce()
    before = [len(ear.heard) for ear in ears]
    begun = rooms.time
    for number in range(1000):
        rooms.follow(secret=secret_of(100 + number)).leave()
        rooms.time = begun + 10 * number / 1000
        rooms.relay.announce()
    rooms.announce()
    assert {len(ear.heard) - count for ear, count in zip(ears, before, strict=True)} == {20}
    everyone = sorted(person_of(secret_of(number)) for number in range(MAX_PEOPLE - 1))
    assert all(list(presence_of(ear).people) == everyone for ear in ears)


def test_one_turn_sends_few_responses_and_no_room_is_forgotten() -> None:
    rooms = Rooms()
    keys = [number.to_bytes(16) for number in range(40)]
    ears = [rooms.follow(key, secret=secret_of(number)) for key in keys for number in range(32)]
    before = sum(len(ear.heard) for ear in ears)
    sends = []
    for _ in range(5):
        rooms.relay.announce()
        sends.append(sum(len(ear.heard) for ear in ears) - before)
        before += sends[-1]
    assert max(sends) <= 512 + MAX_PEOPLE
    assert sends[-1] == 0
    assert all(len(presence_of(ear).people) == 32 for ear in ears)


@given(steps=st.lists(st.tuples(st.sampled_from("elt"), st.integers(0, 9)), max_size=40))
def test_every_follower_learns_the_last_presence_and_gets_few_responses(steps: list[tuple[str, int]]) -> None:
    rooms, ears, told = Rooms(), dict[Ear, int](), dict[Ear, float]()
    for kind, number in steps:
        if kind == "e":
            ears[rooms.follow(secret=secret_of(number % 4) if number else None)] = 1
        elif kind == "l" and ears:
            ear = list(ears)[number % len(ears)]
            del ears[ear]
            ear.leave()
        else:
            rooms.time += number / 8
            rooms.relay.announce()
        for ear, count in ears.items():
            assert len(ear.heard) - count <= 1
            if len(ear.heard) > count:
                assert rooms.time - told.get(ear, -PAUSE) >= PAUSE
                ears[ear], told[ear] = count + 1, rooms.time
    rooms.announce()
    assert all(presence_of(ear) == room.presence() for room in rooms.relay._rooms.values() for ear in ears)
    for ear in ears:
        ear.leave()
    rooms.announce()
    rooms.check_empty()


def test_coming_is_charged_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_BURST", 1)
    rooms = Rooms(max_followers=50)
    for _ in range(25):
        rooms.follow().leave()
    assert refused(rooms.follow) == ("LIMIT_EXCEEDED", "new followers of one client a second")
    rooms.follow(client="bert").leave()
    # The client may add the same number of followers again within 100 seconds: one every fourth second.
    rooms.time += 4.0
    rooms.follow().leave()
    assert refused(rooms.follow) == ("LIMIT_EXCEEDED", "new followers of one client a second")
    rooms.time += 100.0
    for _ in range(25):
        rooms.follow().leave()
    rooms.time += 100.0
    rooms.look()
    rooms.announce()
    rooms.check_empty()
    assert not rooms.relay._followers.rate._charged
