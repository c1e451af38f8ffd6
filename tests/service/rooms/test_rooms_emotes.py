"""Emotes: the room's people send them to all followers at a bounded rate, and the room does not keep them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.support import Host, begun, secret_of

from chatiere import engine
from chatiere.service.rooms.presence import EMOTES_PERIOD, MOST_EMOTES
from chatiere.v1 import room_service_pb2 as pb

from ..process import wait_until
from .conftest import MakeRooms
from .support import Ear, Rooms, person_of, refused

ANNA, BERT, STRANGER = secret_of(0), secret_of(1), secret_of(9)
LIMIT = ("LIMIT_EXCEEDED", f"emotes of one person in {EMOTES_PERIOD:g} s")
KNOWN = [each for each in pb.Emote.values() if each != pb.EMOTE_UNSPECIFIED]


@pytest.fixture
def rooms(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> Rooms:
    """Return a service with a room whose people are Anna and Bert."""
    made = make_rooms(host.keys)
    made.post(secret=ANNA, table=plies[0])
    return made


def emotes_of(ear: Ear) -> list[pb.RoomEmote]:
    return [emote for response in ear.heard for emote in response.emotes]


def sent(secret: bytes, emote: int) -> pb.RoomEmote:
    return pb.RoomEmote(person=person_of(secret), emote=pb.Emote.Name(emote))


def test_there_are_eight_emotes() -> None:
    assert sorted(KNOWN) == list(range(1, 9))


def test_an_emote_reaches_all_followers_once_and_is_not_kept(rooms: Rooms) -> None:
    ears = [rooms.follow(secret=BERT), rooms.follow(client="onlooker")]
    cursor = ears[0].cursor
    assert rooms.post(secret=ANNA, emote=pb.EMOTE_LAUGH) == pb.PostResponse(taken=True)
    assert rooms.post(secret=BERT, emote=pb.EMOTE_OOPS) == pb.PostResponse(taken=True)
    for ear in ears:
        wait_until(lambda ear=ear: len(emotes_of(ear)) == 2, "the emotes arrive")  # type: ignore[misc]
        assert emotes_of(ear) == [sent(ANNA, pb.EMOTE_LAUGH), sent(BERT, pb.EMOTE_OOPS)]
        # Clients that ignore emotes receive responses that change nothing.
        assert ear.cursor == cursor
        assert not any(each.entries or each.HasField("presence") for each in ear.heard[1:])
    for later in (rooms.follow(client="late"), rooms.follow(cursor=cursor, client="late")):
        assert emotes_of(later) == []


def test_only_the_rooms_people_send_emotes(rooms: Rooms) -> None:
    ear = rooms.follow(client="onlooker")
    rooms.post(secret=STRANGER, name="Stranger")
    assert rooms.post(secret=STRANGER, emote=pb.EMOTE_HELLO) == pb.PostResponse(taken=False)
    assert rooms.post(b"no room has this", secret=ANNA, emote=pb.EMOTE_HELLO) == pb.PostResponse(taken=False)
    rooms.post(secret=ANNA, emote=pb.EMOTE_HELLO)
    wait_until(lambda: emotes_of(ear), "the emote arrives")
    assert emotes_of(ear) == [sent(ANNA, pb.EMOTE_HELLO)]
    # An emote creates no room.
    assert len(rooms.kept) == 1
    assert rooms.sample("chatiere_room_posts_total", kind="emote", outcome="refused") == 2


def test_a_person_sends_few_emotes_in_a_period(rooms: Rooms) -> None:
    ear = rooms.follow(client="onlooker")
    for _ in range(MOST_EMOTES):
        rooms.post(secret=ANNA, emote=pb.EMOTE_LAUGH)
    for client in ("anna", "another address"):
        assert refused(rooms.post, secret=ANNA, client=client, emote=pb.EMOTE_LAUGH) == LIMIT
    # The rate of one person does not limit others.
    rooms.post(secret=BERT, emote=pb.EMOTE_WELL_PLAYED)
    wait_until(lambda: len(emotes_of(ear)) == MOST_EMOTES + 1, "the emotes arrive")


@pytest.mark.parametrize("emote", [0, 9, 2**31 - 1, -1])
def test_an_unknown_emote_is_refused(rooms: Rooms, emote: int) -> None:
    assert refused(rooms.post, secret=ANNA, emote=emote) == ("INVALID_ROOM", "emote")


def test_an_emote_needs_a_room_and_a_secret(rooms: Rooms) -> None:
    assert refused(rooms.post, b"", emote=pb.EMOTE_HELLO) == ("MISSING_FIELD", "room")
    assert refused(rooms.post, secret=None, emote=pb.EMOTE_HELLO) == ("MISSING_FIELD", "secret")


STEPS = st.lists(
    st.tuples(st.sampled_from([ANNA, BERT, STRANGER]), st.sampled_from(KNOWN), st.sampled_from([0.0, 0.5, 3.0, 11.0])),
    max_size=40,
)


@given(steps=STEPS)
def test_no_period_has_more_emotes_of_a_person(steps: list[tuple[bytes, int, float]]) -> None:
    host = Host()
    table, _ = begun(host, engine.game("discat"), 2)
    rooms = Rooms(host.keys)
    rooms.post(secret=ANNA, table=table)
    ear = rooms.follow(client="onlooker")
    expected: list[pb.RoomEmote] = []
    periods: dict[bytes, list[float]] = {}
    for secret, emote, pause in steps:
        rooms.time += pause
        before = periods.setdefault(secret, [])
        if before and rooms.time >= before[0] + EMOTES_PERIOD:
            before.clear()
        if secret == STRANGER:
            assert not rooms.post(secret=secret, emote=emote).taken
        elif len(before) == MOST_EMOTES:
            assert refused(rooms.post, secret=secret, emote=emote) == LIMIT
        else:
            assert rooms.post(secret=secret, emote=emote).taken
            before.append(rooms.time)
            expected.append(sent(secret, emote))
    assert emotes_of(ear) == expected
    rooms.time += EMOTES_PERIOD
    rooms.look()
    assert not rooms.relay._emotes._sent
