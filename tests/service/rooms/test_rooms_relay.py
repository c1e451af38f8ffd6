"""What a room holds and tells: entries once, where they last changed; cursors; one table a ply; who is here."""

import random
from collections.abc import Sequence

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from tables.support import NEXT, Host, begun, human, played, secret_of

from chatiere import engine
from chatiere.service.base.errors import Refusal
from chatiere.service.rooms.room import MAX_BYTES, MAX_PEOPLE, Placed, Room
from chatiere.service.tables.seal import open_table
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

from .conftest import MakeRooms
from .support import INVITATION, OTHER_ROOM, ROOM, Ear, Rooms, name_entry, person_of, refused, reply_entry

DISCAT = engine.game("discat")
ANNA, BERT, CLEO = map(secret_of, range(3))


@pytest.fixture(scope="module")
def host() -> Host:
    return Host()


@pytest.fixture(scope="module")
def game(host: Host) -> list[bytes]:
    """The tables of a game, from ply 0 on."""
    table, secrets = begun(host, DISCAT, 2)
    return [each for each, _ in zip(played(host, table, secrets, random.Random(1)), range(8), strict=False)]


def table_entries(tables: Sequence[bytes]) -> list[pb.RoomEntry]:
    return [pb.RoomEntry(table=table) for table in tables]


# Followers


def test_a_follower_gets_what_there_is_and_then_what_comes(
    make_rooms: MakeRooms, host: Host, game: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    assert rooms.post(name="Anna").taken
    assert rooms.post(invitation=INVITATION, secret=BERT).taken
    assert rooms.post(table=game[0]) == pb.PostResponse(taken=True, table=game[0])
    ear = rooms.follow()
    (first,) = ear.heard
    assert first.is_whole
    assert list(first.entries) == [name_entry(ANNA, "Anna"), reply_entry(BERT), *table_entries(game[:1])]
    rooms.post(table=game[1], secret=BERT)
    rooms.post(OTHER_ROOM, name="elsewhere")
    assert [list(each.entries) for each in ear.heard[1:]] == [table_entries(game[1:2])]
    assert not ear.heard[1].is_whole


def test_entries_stand_once_where_they_last_changed(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    for secret, name in ((ANNA, "Anna"), (BERT, "Bert"), (ANNA, "Anna"), (ANNA, "Ann"), (BERT, "Bert")):
        rooms.post(name=name, secret=secret)
    ear = rooms.follow()
    assert ear.entries == [name_entry(BERT, "Bert"), name_entry(ANNA, "Ann")]


def test_a_cursor_leaves_out_what_its_follower_has(make_rooms: MakeRooms, host: Host, game: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(name="Anna")
    rooms.post(table=game[0])
    first = rooms.follow()
    rooms.post(table=game[1])
    rooms.post(name="Ann")
    rooms.post(table=game[2])
    first.leave()
    # After each response that came, the rest comes; and after all nothing.
    rest = [list(each.entries) for each in first.heard[1:]]
    for number, response in enumerate(first.heard):
        again = rooms.follow(cursor=response.cursor)
        assert not again.heard[0].is_whole
        assert again.entries == [entry for entries in rest[number:] for entry in entries]
        again.leave()


def test_the_cursor_of_another_room_or_a_forgotten_one_leaves_out_nothing(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    rooms.post(name="Anna")
    cursor = rooms.follow().cursor
    rooms.post(OTHER_ROOM, name="Bert")
    for other in (rooms, make_rooms()):
        other.post(OTHER_ROOM, name="Bert")
        ear = other.follow(OTHER_ROOM, cursor=cursor)
        assert ear.heard[0].is_whole
        assert ear.entries == [name_entry(ANNA, "Bert")]


def test_who_is_here(make_rooms: MakeRooms, host: Host) -> None:
    rooms = make_rooms()
    anna = rooms.follow(secret=ANNA)
    assert anna.heard[-1].presence == pb.RoomPresence(people=[person_of(ANNA)])
    bert = rooms.follow(secret=BERT)
    here = pb.RoomPresence(people=sorted([person_of(ANNA), person_of(BERT)]))
    assert anna.heard[-1].presence == bert.heard[-1].presence == here
    # A second window of the same person is no news, but an onlooker is.
    window = rooms.follow(secret=ANNA)
    window.leave()
    assert len(bert.heard) == 1
    onlooker = rooms.follow()
    here.onlookers = 1
    assert anna.heard[-1].presence == bert.heard[-1].presence == onlooker.heard[0].presence == here
    anna.leave()
    assert list(bert.heard[-1].presence.people) == [person_of(BERT)]
    assert not bert.entries
    for ear in (bert, onlooker):
        ear.leave()
    rooms.check_empty()


def test_each_follower_gets_a_heartbeat_every_15_looks(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    ears = [rooms.follow() for _ in range(40)]
    before = [len(ear.heard) for ear in ears]
    rooms.look(15)
    for ear, count in zip(ears, before, strict=True):
        (beat,) = ear.heard[count:]
        assert beat == pb.FollowResponse(cursor=ear.heard[0].cursor)


# Tables


def test_a_second_table_of_a_ply_is_refused_with_the_first(
    make_rooms: MakeRooms, host: Host, game: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    for table in game[:3]:
        rooms.post(table=table)
    ear = rooms.follow()
    # Whoever begins can play any card.
    seat = host.look(game[0]).view.turn.seat
    legal = host.look(game[0], secret_of(seat)).legal_actions
    children = {host.move(game[0], secret_of(seat), action.id).table for action in legal}
    for fork in children - {game[1]}:
        assert rooms.post(table=fork, secret=secret_of(seat)) == pb.PostResponse(taken=False, table=game[1])
    # One that is not made of the newest, or of one that is not held: with the newest.
    assert rooms.post(table=game[4]) == pb.PostResponse(taken=False, table=game[2])
    assert len(children) > 1
    assert len(ear.heard) == 1
    assert rooms.sample("chatiere_room_posts_total", kind="table", outcome="refused") == len(children)
    assert rooms.post(table=game[3]).taken


def test_a_child_of_a_fork_is_refused_with_the_newest(make_rooms: MakeRooms, host: Host, game: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    for table in game[:2]:
        rooms.post(table=table)
    seat = host.look(game[0]).view.turn.seat
    legal = host.look(game[0], secret_of(seat)).legal_actions
    fork = next(child for action in legal if (child := host.move(game[0], secret_of(seat), action.id).table) != game[1])
    mover = host.look(fork).view.turn.seat
    child = host.move(fork, secret_of(mover), host.look(fork, secret_of(mover)).legal_actions[0].id).table
    assert rooms.post(table=child) == pb.PostResponse(taken=False, table=game[1])


def test_a_room_is_filled_up_with_what_its_lowest_table_was_made_of_alone(
    make_rooms: MakeRooms, host: Host, game: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=game[2])
    seat = host.look(game[0]).view.turn.seat
    legal = host.look(game[0], secret_of(seat)).legal_actions
    for action in legal:
        child = host.move(game[0], secret_of(seat), action.id).table
        taken = child == game[1]
        assert rooms.post(table=child).taken == taken
        if taken:
            break
        assert rooms.post(table=child).table == game[2]
    assert rooms.post(table=game[1]).taken


def test_a_room_can_begin_in_mid_game_and_be_filled_up(make_rooms: MakeRooms, host: Host, game: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    for ply in (4, 5, 3, 2, 6, 1, 0):
        assert rooms.post(table=game[ply]).taken
    assert rooms.post(table=game[0]).taken
    assert sorted(rooms.follow().entries, key=lambda entry: game.index(entry.table)) == table_entries(game[:7])


def test_two_games_are_side_by_side(make_rooms: MakeRooms, host: Host, game: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    again, _ = begun(host, DISCAT, 2)
    for table in (game[0], again, game[1]):
        assert rooms.post(table=table).taken
    assert rooms.follow().entries == table_entries([game[0], again, game[1]])


def test_acknowledgements_are_merged_and_told(make_rooms: MakeRooms, host: Host) -> None:
    rooms = make_rooms(host.keys)
    seats = [human(ANNA), human(BERT), human(CLEO)]
    table = host.new_table(game="discat", players=3, seats=seats, acknowledgement=NEXT).table
    ear = rooms.follow()
    rooms.post(table=table)
    alone = [host.acknowledge(table, secret) for secret in (CLEO, ANNA)]
    both = host.acknowledge(table, ANNA, CLEO)
    assert rooms.post(table=alone[0]).table == alone[0]
    # Each table in the room is one that the service accepts.
    assert rooms.post(table=alone[1], secret=BERT).table == both
    assert open_table(host.keys, both).acknowledged == (0, 2)
    for known in (table, *alone, both):
        assert rooms.post(table=known) == pb.PostResponse(taken=True, table=both)
    assert ear.entries == table_entries([table, alone[0], both])
    assert rooms.follow().entries == table_entries([both])


# Refusals


def test_only_authentic_tables_of_ones_own_are_taken(
    make_rooms: MakeRooms, host: Host, game: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = make_rooms(host.keys)
    assert refused(rooms.post, table=game[1], secret=CLEO) == ("WRONG_SECRET", "secret")
    changed = bytearray(game[0])
    changed[-1] ^= 1
    strange, _ = begun(Host(), DISCAT, 2)
    for table in (bytes(changed), strange, b"strange"):
        assert refused(rooms.post, table=table) == ("INVALID_TABLE", "table")
    expires = tables_pb.TableHeader.FromString(tables_pb.SealedTable.FromString(game[0]).header).expires
    monkeypatch.setattr("chatiere.service.calls.table_checks.time.time", lambda: expires.seconds)
    assert refused(rooms.post, table=game[0]) == ("TABLE_EXPIRED", "table")
    rooms.check_empty()


def test_a_host_without_a_seat_begins_the_game_and_makes_no_moves(
    make_rooms: MakeRooms, host: Host, game: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    ear = rooms.follow(secret=ANNA)
    assert rooms.post(table=game[0], secret=CLEO).taken
    assert ear.entries == table_entries(game[:1])
    assert rooms.post(table=game[1]).taken
    assert refused(rooms.post, table=game[2], secret=CLEO) == ("WRONG_SECRET", "secret")
    # It changes nothing where the game has begun.
    assert rooms.post(table=game[0], secret=CLEO) == pb.PostResponse(taken=True, table=game[0])
    assert refused(rooms.post, table=game[0], secret=b"short") == ("INVALID_ROOM", "secret")


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("room", {"room": b""}),
        ("secret", {"secret": None}),
        ("table", {}),
    ],
)
def test_what_is_missing(make_rooms: MakeRooms, field: str, fields: dict[str, bytes | None]) -> None:
    assert refused(make_rooms().post, **fields) == ("MISSING_FIELD", field)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("room", {"room": ROOM[1:]}),
        ("room", {"room": ROOM * 2}),
        ("secret", {"secret": b"short"}),
        ("invitation", {"invitation": b"7 bytes"}),
        ("invitation", {"invitation": b""}),
        *(("name", {"name": name}) for name in ("", " ", "Anna ", "\tAnna", "A\nB", "\u202eAnna", "a" * 25)),
    ],
)
def test_what_a_room_does_not_take(make_rooms: MakeRooms, field: str, fields: dict[str, bytes | str]) -> None:
    rooms = make_rooms()
    what = fields if field in ("invitation", "name") else {**fields, "name": "Anna"}
    assert refused(rooms.post, **what) == ("INVALID_ROOM", field)
    rooms.check_empty()


def test_names_of_24_characters_of_any_language(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    for name in ("a" * 24, "Zoé", "李小龍", "D'Artagnan 3", "🐈"):
        assert rooms.post(name=name).taken
    assert rooms.follow().entries == [name_entry(ANNA, "🐈")]


def test_what_nobody_can_follow(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    assert refused(rooms.follow, b"") == ("MISSING_FIELD", "room")
    assert refused(rooms.follow, ROOM[1:]) == ("INVALID_ROOM", "room")
    assert refused(rooms.follow, secret=b"") == ("INVALID_ROOM", "secret")
    assert refused(rooms.follow, cursor=bytes(17)) == ("INVALID_ROOM", "cursor")
    rooms.check_empty()


# Bounds of a room


def test_a_room_has_64_of_each_kind_but_tables(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    for number in range(MAX_PEOPLE):
        rooms.post(name="cat", secret=secret_of(number))
        rooms.post(invitation=INVITATION, secret=secret_of(number))
    for what in ({"name": "cat"}, {"invitation": INVITATION}):
        kind = {"name": "name", "invitation": "reply"}[next(iter(what))]
        assert refused(rooms.post, secret=secret_of(MAX_PEOPLE), **what) == (
            "LIMIT_EXCEEDED",
            f"posts of a room that are a {kind}",
        )
    assert rooms.post(name="Cat", secret=ANNA).taken
    for _ in range(MAX_PEOPLE):
        rooms.follow()
    assert refused(rooms.follow) == ("LIMIT_EXCEEDED", "followers of a room")


def test_a_room_has_so_many_bytes_and_fits_into_one_response() -> None:
    room = Room(bytes(32), "anna", 0.0)
    taken = 0
    while True:
        number = taken.to_bytes(32)
        post = Placed(number[:16] + number[16:], 0, bytes(32), number, bytes(4096))
        change = room.change_by(post)
        try:
            room.check_bounds(post, change.growth)
        except ValueError as error:
            assert str(MAX_BYTES) in str(error)
            break
        room.put(post)
        taken += 1
    assert taken > 800
    assert room.size <= MAX_BYTES
    # gRPC's own bound of what a client takes.
    assert room.since(b"").ByteSize() < 4 * 1024 * 1024


@given(data=st.binary(max_size=200), what=st.sampled_from([pb.PostRequest, pb.FollowRequest]))
def test_any_bytes_get_a_refusal_or_a_response(data: bytes, what: type[pb.PostRequest | pb.FollowRequest]) -> None:
    """Alone, and behind a request that is sound so far."""
    rooms = Rooms()
    for request in (data, what(room=ROOM, secret=ANNA).SerializeToString() + data):
        try:
            if what is pb.PostRequest:
                rooms.service.post("anna", request)
            else:
                rooms.service.follow(request, Ear("anna"))
        except (Refusal, DecodeError):
            pass
