"""Strangers who have a room's link: their posts do not disturb the people of the room's game, and are bounded."""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.support import Host, begun, human, secret_of

from chatiere import engine
from chatiere.service.base.errors import Refusal
from chatiere.service.rooms import room as room_module
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.service.rooms.room import MAX_BYTES, MAX_PEOPLE, MAX_SPARE_BYTES, OF_ENTRY, OF_ROOM
from chatiere.v1 import room_service_pb2 as pb

from ..process import wait_until
from .conftest import MakeRooms
from .support import INVITATION, ROOM, Rooms, name_entry, person_of, refused, reply_entry

DISCAT = engine.game("discat")
ANNA, BERT, HOST = secret_of(0), secret_of(1), secret_of(2)
STRANGERS = [secret_of(number) for number in range(100, 100 + MAX_PEOPLE + 6)]


@pytest.fixture
def few_spare_bytes(monkeypatch: pytest.MonkeyPatch) -> int:
    """Limit the space for strangers' tables, so that it is sufficient for three or four tables."""
    monkeypatch.setattr(room_module, "MAX_SPARE_BYTES", 6000)
    return 6000


def foreign_tables(host: Host, number: int) -> list[bytes]:
    seats = [human(secret) for secret in STRANGERS[:2]]
    return [host.new_table(game="discat", players=2, seats=seats, acknowledgement=1).table for _ in range(number)]


def tables_in(rooms: Rooms) -> dict[bytes, bool]:
    """Return the tables in a room, each with True if it belongs to a foreign game."""
    return {entry.table: entry.is_foreign for entry in rooms.follow().entries if entry.table}


def test_names_and_replies_of_strangers_do_not_displace_names_and_replies_of_players(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[0])
    rooms.post(name="Anna")
    for secret in STRANGERS:
        rooms.post(name="cat", secret=secret)
        rooms.post(invitation=INVITATION, secret=secret)
    ear = rooms.follow()
    for what in ({"name": "Bert"}, {"invitation": INVITATION}):
        assert rooms.post(secret=BERT, **what).taken
    assert ear.entries[-2:] == [name_entry(BERT, "Bert"), reply_entry(BERT)]
    names = {entry.name.person for entry in rooms.follow().entries if entry.HasField("name")}
    assert names == {person_of(secret) for secret in (ANNA, BERT, *STRANGERS[-MAX_PEOPLE:])}


def test_a_reply_before_the_game_is_kept_among_strangers_replies(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    ear = rooms.follow()
    for secret in (*STRANGERS, BERT):
        rooms.post(invitation=INVITATION, secret=secret)
    assert ear.entries[-1] == reply_entry(BERT)
    assert len(rooms.follow().entries) == MAX_PEOPLE


def test_the_person_with_the_most_replies_loses_one(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    rooms.post(invitation=INVITATION, secret=BERT)
    for number in range(2 * MAX_PEOPLE):
        rooms.post(invitation=number.to_bytes(8), secret=STRANGERS[0])
    entries = rooms.follow().entries
    assert len(entries) == MAX_PEOPLE
    assert entries[0] == reply_entry(BERT)


def test_the_replies_of_one_person_are_bounded(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[0])
    for number in range(MAX_PEOPLE):
        rooms.post(invitation=number.to_bytes(8))
    assert refused(rooms.post, invitation=INVITATION) == ("LIMIT_EXCEEDED", "replies of one person")
    # A repeated reply is not a new reply, and Bert is another person.
    assert rooms.post(invitation=bytes(8)).taken
    assert rooms.post(invitation=INVITATION, secret=BERT).taken


def test_games_of_strangers_are_marked_and_give_way_to_each_other(
    make_rooms: MakeRooms, host: Host, plies: list[bytes], few_spare_bytes: int
) -> None:
    rooms = make_rooms(host.keys)
    ear = rooms.follow()
    rooms.post(table=plies[0])
    foreign = foreign_tables(host, 20)
    for table in foreign:
        assert rooms.post(table=table, secret=STRANGERS[0]).taken
    assert ear.entries[1:] == [pb.RoomEntry(table=table, is_foreign=True) for table in foreign]
    for table, secret in zip(plies[1:4], (ANNA, BERT, ANNA), strict=True):
        assert rooms.post(table=table, secret=secret).taken
    held = tables_in(rooms)
    assert [table for table, is_foreign in held.items() if not is_foreign] == plies[:4]
    spare = [table for table, is_foreign in held.items() if is_foreign]
    assert spare == foreign[-len(spare) :]
    assert sum(OF_ENTRY + len(table) for table in spare) <= few_spare_bytes


def test_the_stranger_with_the_most_games_loses_one(
    make_rooms: MakeRooms, host: Host, plies: list[bytes], few_spare_bytes: int
) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[0])
    first, *rest = foreign_tables(host, 10)
    rooms.post(table=first, secret=STRANGERS[1])
    for table in rest:
        rooms.post(table=table, secret=STRANGERS[0])
    assert first in tables_in(rooms)


def test_a_game_of_strangers_gives_way_as_a_whole_and_continues_from_its_last_table(
    make_rooms: MakeRooms, host: Host, plies: list[bytes], few_spare_bytes: int
) -> None:
    rooms = make_rooms(host.keys)
    # A stranger posts first. This may happen after a service has lost its rooms.
    ear = rooms.follow()
    rooms.post(table=foreign_tables(host, 1)[0], secret=STRANGERS[0])
    for table in plies:
        assert rooms.post(table=table).taken
        assert table in tables_in(rooms)
    assert ear.entries[1:] == [pb.RoomEntry(table=table, is_foreign=True) for table in plies]


def test_a_game_begun_by_one_of_the_people_belongs_to_the_room(make_rooms: MakeRooms, host: Host) -> None:
    rooms = make_rooms(host.keys)
    first, second = foreign_tables(host, 2)
    # The host has no seat.
    rooms.post(table=first, secret=HOST)
    rooms.post(table=second, secret=STRANGERS[1])
    third = begun(host, DISCAT, 2)[0]
    rooms.post(table=third, secret=HOST)
    assert tables_in(rooms) == {first: False, second: False, third: False}


def test_a_stranger_who_completes_the_rooms_game_remains_a_stranger(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[1])
    assert rooms.post(table=plies[0], secret=STRANGERS[0]).taken
    assert rooms.post(table=plies[0], secret=STRANGERS[1]).taken
    assert tables_in(rooms) == {plies[1]: False, plies[0]: False}
    (foreign,) = foreign_tables(host, 1)
    rooms.post(table=foreign, secret=STRANGERS[0])
    assert tables_in(rooms)[foreign]


def test_seats_given_to_players_do_not_make_a_strangers_game_their_own(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[0])
    seats = [human(ANNA), human(STRANGERS[0])]
    table = host.new_table(game="discat", players=2, seats=seats, acknowledgement=1).table
    rooms.post(table=table, secret=STRANGERS[0])
    rooms.post(table=table)
    assert tables_in(rooms)[table]
    (foreign,) = foreign_tables(host, 1)
    rooms.post(table=foreign, secret=STRANGERS[0])
    assert tables_in(rooms)[foreign]


def test_the_rooms_own_games_have_bounds_too(host: Host, plies: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = Rooms(host.keys)
    monkeypatch.setattr(room_module, "MAX_BYTES", MAX_SPARE_BYTES + OF_ROOM + 3 * (OF_ENTRY + len(plies[0]) + 9))
    for table in plies[:3]:
        assert rooms.post(table=table).taken
    assert refused(rooms.post, table=plies[3]) == ("LIMIT_EXCEEDED", "bytes of a room")


def test_a_full_room_fits_into_one_response(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default, gRPC's clients accept at most 4 MiB."""
    assert MAX_BYTES <= 4 * 1024 * 1024
    assert MAX_BYTES - MAX_SPARE_BYTES > 2_400_000
    monkeypatch.setattr(room_module, "MAX_BYTES", 80_000)
    monkeypatch.setattr(room_module, "MAX_SPARE_BYTES", 20_000)
    rooms = Rooms(host.keys)
    with suppress(Refusal):
        for _ in range(100):
            rooms.post(table=begun(host, DISCAT, 2)[0])
            rooms.post(table=foreign_tables(host, 1)[0], secret=STRANGERS[0])
    assert 70_000 < rooms.relay.size < 80_000
    assert rooms.follow().heard[0].ByteSize() < 80_000


# Followers


def test_strangers_give_way_to_the_people_as_followers(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[0])
    ears = [rooms.follow(secret=secret) for secret in (ANNA, *STRANGERS[: MAX_PEOPLE - 1])]
    assert refused(rooms.follow, secret=STRANGERS[-1]) == ("LIMIT_EXCEEDED", "followers of a room")
    assert refused(rooms.follow) == ("LIMIT_EXCEEDED", "followers of a room")
    bert = rooms.follow(secret=BERT)
    assert person_of(BERT) in bert.heard[0].presence.people
    assert [ear.error is not None for ear in ears] == [False, True, *[False] * (MAX_PEOPLE - 2)]
    error: Any = ears[1].error
    assert (error.reason, error.retry_after) == ("LIMIT_EXCEEDED", 1.0)
    for ear in (ears[0], *ears[2:], bert):
        ear.leave()


def test_among_strangers_the_client_with_the_most_followers_loses_one(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    ears = [rooms.follow(client="bert" if number % 4 else "anna") for number in range(MAX_PEOPLE)]
    assert refused(rooms.follow, client="bert") == ("LIMIT_EXCEEDED", "followers of a room")
    late = rooms.follow(client="cleo")
    assert [number for number, ear in enumerate(ears) if ear.error] == [1]
    for ear in (ears[0], *ears[2:], late):
        ear.leave()


# Mixed posts


def anything() -> st.SearchStrategy[list[tuple[str, int]]]:
    kinds = st.sampled_from(["name", "reply", "foreign", "foreign move", "play", "play", "wait"])
    return st.lists(st.tuples(kinds, st.integers(0, 9)), max_size=60)


def posts_of(
    host: Host, plies: Sequence[bytes], foreign: Sequence[Sequence[bytes]], steps: Sequence[tuple[str, int]]
) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Yield posts, each with True if a player made it."""
    ply = 0
    for kind, number in steps:
        secret = STRANGERS[number]
        if kind == "name":
            yield False, {"name": "cat", "secret": secret}
        elif kind == "reply":
            yield False, {"invitation": number.to_bytes(8), "secret": secret}
        elif kind == "foreign":
            yield False, {"table": foreign[number][0], "secret": secret}
        elif kind == "foreign move":
            yield False, {"table": foreign[number][1], "secret": STRANGERS[0]}
        elif kind == "wait":
            yield False, {"table": plies[7], "secret": (ANNA, BERT)[number % 2]}
        elif ply < 7:
            yield True, {"table": plies[ply], "secret": (ANNA, BERT)[number % 2]}
            yield True, {"name": "Bert", "secret": BERT}
            ply += 1


@pytest.fixture(scope="module")
def foreign(host: Host) -> list[list[bytes]]:
    """Return games of strangers, each with two plies."""
    games = []
    for table in foreign_tables(host, 10):
        seat = host.look(table).view.turn.seat
        action = host.look(table, STRANGERS[seat]).legal_actions[0].id
        games.append([table, host.move(table, STRANGERS[seat], action).table])
    return games


@given(steps=anything())
def test_the_game_continues_with_any_posts_of_strangers(
    host: Host, plies: list[bytes], foreign: list[list[bytes]], steps: list[tuple[str, int]]
) -> None:
    rooms = Rooms(host.keys)
    rooms.post(table=plies[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room_module, "MAX_SPARE_BYTES", 5000)
        patch.setattr(room_module, "MAX_PEOPLE", 4)
        for is_players, post in posts_of(host, plies, foreign, steps):
            taken = rooms.post(**post).taken
            assert taken or not is_players
        (room,) = rooms.relay._rooms.values()
        assert room._spare_size == sum(entry.size for entry in room._parts["spare"].values()) <= 5000
        assert (
            room.size == room_module.OF_ROOM + sum(entry.size for entry in room._entries.values()) == (rooms.relay.size)
        )
        assert {key: entry for part in room._parts.values() for key, entry in part.items()} == room._entries
    posts = posts_of(host, plies, foreign, steps)
    plays = [post["table"] for is_players, post in posts if "table" in post and is_players]
    own = [entry.table for entry in rooms.follow().entries if entry.table and not entry.is_foreign]
    assert set(plays) <= set(own)


def deaf(hear: Any, choices: random.Random) -> Any:
    return lambda *heard: choices.random() < 0.6 and hear(*heard)


@pytest.mark.parametrize("seed", range(4))
def test_processes_agree_on_removed_entries(
    make_rooms: MakeRooms,
    host: Host,
    plies: list[bytes],
    foreign: list[list[bytes]],
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two services share their rooms in Redis. They may miss messages about each other's posts."""
    monkeypatch.setattr(room_module, "MAX_SPARE_BYTES", 5000)
    monkeypatch.setattr(room_module, "MAX_PEOPLE", 4)
    choices = random.Random(seed)
    kinds = ["name", "reply", "foreign", "foreign move", "play", "wait"]
    steps = [(choices.choice(kinds), choices.randrange(10)) for _ in range(60)]
    one, other = make_rooms(host.keys), make_rooms(host.keys)
    shared = not isinstance(one.relay, MemoryRelay)
    one.post(table=plies[0])
    ears = [one.follow(), (other if shared else one).follow()]
    for relay in [one.relay, other.relay] if shared else []:
        monkeypatch.setattr(relay, "_hear_entry", deaf(relay._hear_entry, choices))
    for is_players, post in posts_of(host, plies, foreign, steps):
        taken = choices.choice([one, other] if shared else [one]).post(**post).taken
        assert taken or not is_players
    monkeypatch.undo()
    for rooms in (one, other):
        rooms.look(10)
    wait_until(lambda: ears[0].cursor == ears[1].cursor, "both followers have the same entries")
    copies = [each.relay._rooms[person_of(ROOM)] for each in ([one, other] if shared else [one, one])]
    assert copies[0]._entries == copies[1]._entries
    assert (copies[0].size, copies[0].people) == (copies[1].size, copies[1].people)
    late = make_rooms(host.keys) if shared else one
    assert late.follow().entries == one.follow().entries
    for ear in ears:
        ear.leave()
