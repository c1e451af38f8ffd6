"""Rooms: followers get entries in the order of the last changes, tables form a chain, and invalid posts are refused."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from tables.support import NEXT, NONE, Host, begun, human, secret_of

from chatiere import engine
from chatiere.service.base.errors import Refusal
from chatiere.service.tables.seal import open_table
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb
from chatiere.v1.discat_pb2 import DiscatOptions
from chatiere.v1.game_pb2 import Options

from .conftest import MakeRooms
from .support import INVITATION, OTHER_ROOM, ROOM, Ear, Rooms, name_entry, person_of, refused, reply_entry

DISCAT = engine.game("discat")
ANNA, BERT, CLEO = map(secret_of, range(3))


FIRST = Options(discat=DiscatOptions(first_seat=1))
THIRD = Options(discat=DiscatOptions(first_seat=3))


def table_entries(tables: Sequence[bytes]) -> list[pb.RoomEntry]:
    return [pb.RoomEntry(table=table) for table in tables]


# Followers


def test_a_follower_gets_existing_entries_and_then_new_ones(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    assert rooms.post(name="Anna").taken
    assert rooms.post(invitation=INVITATION, secret=BERT).taken
    assert rooms.post(table=plies[0]) == pb.PostResponse(taken=True, table=plies[0])
    ear = rooms.follow()
    (first,) = ear.heard
    assert first.is_whole
    assert list(first.entries) == [name_entry(ANNA, "Anna"), reply_entry(BERT), *table_entries(plies[:1])]
    rooms.post(table=plies[1], secret=BERT)
    rooms.post(OTHER_ROOM, name="elsewhere")
    assert [list(each.entries) for each in ear.heard[1:]] == [table_entries(plies[1:2])]
    assert not ear.heard[1].is_whole


def test_each_entry_appears_once_where_it_last_changed(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    for secret, name in ((ANNA, "Anna"), (BERT, "Bert"), (ANNA, "Anna"), (ANNA, "Ann"), (BERT, "Bert")):
        rooms.post(name=name, secret=secret)
    ear = rooms.follow()
    assert ear.entries == [name_entry(BERT, "Bert"), name_entry(ANNA, "Ann")]


def test_a_cursor_omits_known_entries(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(name="Anna")
    rooms.post(table=plies[0])
    first = rooms.follow()
    rooms.post(table=plies[1])
    rooms.post(name="Ann")
    rooms.post(table=plies[2])
    first.leave()
    # From the cursor of each response, a follower gets the later entries. From the last cursor it gets no entries.
    rest = [list(each.entries) for each in first.heard[1:]]
    for number, response in enumerate(first.heard):
        again = rooms.follow(cursor=response.cursor)
        assert not again.heard[0].is_whole
        assert again.entries == [entry for entries in rest[number:] for entry in entries]
        again.leave()


def test_the_cursor_of_another_or_a_forgotten_room_omits_no_entries(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    rooms.post(name="Anna")
    cursor = rooms.follow().cursor
    rooms.post(OTHER_ROOM, name="Bert")
    for other in (rooms, make_rooms()):
        other.post(OTHER_ROOM, name="Bert")
        ear = other.follow(OTHER_ROOM, cursor=cursor)
        assert ear.heard[0].is_whole
        assert ear.entries == [name_entry(ANNA, "Bert")]


def test_each_follower_gets_a_heartbeat_every_10_looks(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    ears = [rooms.follow() for _ in range(40)]
    before = [len(ear.heard) for ear in ears]
    rooms.look(10)
    for ear, count in zip(ears, before, strict=True):
        (beat,) = ear.heard[count:]
        assert beat == pb.FollowResponse(cursor=ear.heard[0].cursor)


# Tables


def test_a_second_table_of_a_ply_is_refused_with_the_first(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    for table in plies[:3]:
        rooms.post(table=table)
    ear = rooms.follow()
    # The seat that begins can play any card.
    seat = host.look(plies[0]).view.turn.seat
    legal = host.look(plies[0], secret_of(seat)).legal_actions
    children = {host.move(plies[0], secret_of(seat), action.id).table for action in legal}
    for fork in children - {plies[1]}:
        assert rooms.post(table=fork, secret=secret_of(seat)) == pb.PostResponse(taken=False, table=plies[1])
    # A table that was not made from the newest table, or that was made from a table unknown to the room, is refused.
    # The response has the newest table.
    assert rooms.post(table=plies[4]) == pb.PostResponse(taken=False, table=plies[2])
    assert len(children) > 1
    assert len(ear.heard) == 1
    assert rooms.sample("chatiere_room_posts_total", kind="table", outcome="refused") == len(children)
    assert rooms.post(table=plies[3]).taken


def test_a_child_of_a_fork_is_refused_with_the_newest(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    for table in plies[:2]:
        rooms.post(table=table)
    seat = host.look(plies[0]).view.turn.seat
    legal = host.look(plies[0], secret_of(seat)).legal_actions
    fork = next(
        child for action in legal if (child := host.move(plies[0], secret_of(seat), action.id).table) != plies[1]
    )
    mover = host.look(fork).view.turn.seat
    child = host.move(fork, secret_of(mover), host.look(fork, secret_of(mover)).legal_actions[0].id).table
    assert rooms.post(table=child) == pb.PostResponse(taken=False, table=plies[1])


def test_earlier_tables_must_be_ancestors_of_the_lowest(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    rooms.post(table=plies[2])
    seat = host.look(plies[0]).view.turn.seat
    legal = host.look(plies[0], secret_of(seat)).legal_actions
    for action in legal:
        child = host.move(plies[0], secret_of(seat), action.id).table
        taken = child == plies[1]
        assert rooms.post(table=child).taken == taken
        if taken:
            break
        assert rooms.post(table=child).table == plies[2]
    assert rooms.post(table=plies[1]).taken


def test_a_room_can_begin_in_mid_game_and_get_earlier_tables_later(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    for ply in (4, 5, 3, 2, 6, 1, 0):
        assert rooms.post(table=plies[ply]).taken
    assert rooms.post(table=plies[0]).taken
    assert sorted(rooms.follow().entries, key=lambda entry: plies.index(entry.table)) == table_entries(plies[:7])


@pytest.mark.parametrize("seed", range(6))
def test_tables_may_be_posted_in_any_order(make_rooms: MakeRooms, host: Host, plies: list[bytes], seed: int) -> None:
    rooms = make_rooms(host.keys)
    ear = rooms.follow()
    order = random.Random(seed).sample(range(8), 8)
    for ply in order:
        response = rooms.post(table=plies[ply], secret=(ANNA, BERT)[ply % 2])
        assert response.taken == (pb.RoomEntry(table=plies[ply]) in ear.entries)
        assert response.table == plies[ply] or not response.taken
    heard = [plies.index(entry.table) for entry in ear.entries]
    assert sorted(heard) == list(range(8))
    # At any time, the tables that followers have form a chain.
    for number in range(1, 9):
        assert max(heard[:number]) - min(heard[:number]) == number - 1
    assert rooms.follow().entries == ear.entries


def test_a_waiting_table_appears_once_the_chain_reaches_it(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    ear = rooms.follow()
    rooms.post(table=plies[0])
    for _ in range(2):
        assert rooms.post(table=plies[2]) == pb.PostResponse(taken=False, table=plies[0])
    rooms.post(name="Anna")
    late = rooms.follow(cursor=ear.heard[1].cursor)
    assert late.entries == ear.entries[1:] == [name_entry(ANNA, "Anna")]
    assert rooms.post(table=plies[1]) == pb.PostResponse(taken=True, table=plies[1])
    assert ear.entries[2:] == late.entries[1:] == table_entries(plies[1:3])
    assert rooms.post(table=plies[2]) == pb.PostResponse(taken=True, table=plies[2])


def test_a_waiting_fork_is_not_taken(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    seat = host.look(plies[0]).view.turn.seat
    legal = host.look(plies[0], secret_of(seat)).legal_actions
    fork = next(
        child for action in legal if (child := host.move(plies[0], secret_of(seat), action.id).table) != plies[1]
    )
    mover = host.look(fork).view.turn.seat
    child = host.move(fork, secret_of(mover), host.look(fork, secret_of(mover)).legal_actions[0].id).table
    rooms.post(table=plies[0])
    assert not rooms.post(table=child).taken
    for ply in (1, 2, 3):
        assert rooms.post(table=plies[ply]).taken
    assert rooms.post(table=child) == pb.PostResponse(taken=False, table=plies[2])
    assert rooms.follow().entries == table_entries(plies[:4])


def test_acknowledgements_of_a_waiting_table_are_merged(make_rooms: MakeRooms, host: Host) -> None:
    rooms = make_rooms(host.keys)
    secrets = [ANNA, BERT, CLEO]
    tables = [begun(host, DISCAT, 3, NEXT)[0]]
    for _ in range(2):
        mover = host.look(tables[-1]).view.turn.seat
        action = host.look(tables[-1], secrets[mover]).legal_actions[0].id
        child = host.move(tables[-1], secrets[mover], action).table
        tables.append(host.acknowledge(child, *secrets))
    rooms.post(table=tables[0])
    bare = host.move(tables[1], secrets[mover], action).table
    rooms.post(table=host.acknowledge(bare, ANNA))
    rooms.post(table=host.acknowledge(bare, BERT, CLEO))
    rooms.post(table=tables[1])
    assert rooms.follow().entries == table_entries(tables)


def test_a_room_may_hold_two_games(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    rooms = make_rooms(host.keys)
    again, _ = begun(host, DISCAT, 2)
    for table in (plies[0], again, plies[1]):
        assert rooms.post(table=table).taken
    assert rooms.follow().entries == table_entries([plies[0], again, plies[1]])


def test_acknowledgements_are_merged_and_sent_to_followers(make_rooms: MakeRooms, host: Host) -> None:
    rooms = make_rooms(host.keys)
    seats = [human(ANNA), human(BERT), human(CLEO)]
    table = host.new_table(game="discat", players=3, seats=seats, acknowledgement=NEXT).table
    ear = rooms.follow()
    rooms.post(table=table)
    alone = [host.acknowledge(table, secret) for secret in (CLEO, ANNA)]
    both = host.acknowledge(table, ANNA, CLEO)
    assert rooms.post(table=alone[0]).table == alone[0]
    # The service accepts each table in the room.
    assert rooms.post(table=alone[1], secret=BERT).table == both
    assert open_table(host.keys, both).acknowledged == (0, 2)
    for known in (table, *alone, both):
        assert rooms.post(table=known) == pb.PostResponse(taken=True, table=both)
    assert ear.entries == table_entries([table, alone[0], both])
    assert rooms.follow().entries == table_entries([both])


# Refusals


def test_only_authentic_tables_of_one_s_own_games_are_taken(
    make_rooms: MakeRooms, host: Host, plies: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = make_rooms(host.keys)
    assert refused(rooms.post, table=plies[1], secret=CLEO) == ("WRONG_SECRET", "secret")
    changed = bytearray(plies[0])
    changed[-1] ^= 1
    strange, _ = begun(Host(), DISCAT, 2)
    for table in (bytes(changed), strange, b"strange"):
        assert refused(rooms.post, table=table) == ("INVALID_TABLE", "table")
    expires = tables_pb.TableHeader.FromString(tables_pb.SealedTable.FromString(plies[0]).header).expires
    monkeypatch.setattr("chatiere.service.calls.table_checks.time.time", lambda: expires.seconds)
    assert refused(rooms.post, table=plies[0]) == ("TABLE_EXPIRED", "table")
    rooms.check_empty()


def test_a_host_without_a_seat_begins_the_game_and_makes_no_moves(
    make_rooms: MakeRooms, host: Host, plies: list[bytes]
) -> None:
    rooms = make_rooms(host.keys)
    ear = rooms.follow(secret=ANNA)
    assert rooms.post(table=plies[0], secret=CLEO).taken
    assert ear.entries == table_entries(plies[:1])
    assert rooms.post(table=plies[1]).taken
    assert refused(rooms.post, table=plies[2], secret=CLEO) == ("WRONG_SECRET", "secret")
    # The first table has no effect on a game that has begun.
    assert rooms.post(table=plies[0], secret=CLEO) == pb.PostResponse(taken=True, table=plies[0])
    assert refused(rooms.post, table=plies[0], secret=b"short") == ("INVALID_ROOM", "secret")


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("room", {"room": b""}),
        ("secret", {"secret": None}),
        ("table", {}),
    ],
)
def test_an_incomplete_post_is_refused(make_rooms: MakeRooms, field: str, fields: dict[str, bytes | None]) -> None:
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
        ("name", {"name": "\u3164\u034f"}),
    ],
)
def test_an_invalid_post_is_refused(make_rooms: MakeRooms, field: str, fields: dict[str, bytes | str]) -> None:
    rooms = make_rooms()
    what = fields if field in ("invitation", "name") else {**fields, "name": "Anna"}
    assert refused(rooms.post, **what) == ("INVALID_ROOM", field)
    rooms.check_empty()


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"game": "chess", "players": 2}, ("UNKNOWN_GAME", "settings.game")),
        ({"players": 2}, ("UNKNOWN_GAME", "settings.game")),
        ({"game": "discat", "players": 9}, ("INVALID_PLAYERS", "settings.players")),
        ({"game": "chat_perche", "players": 2, "options": FIRST}, ("INVALID_OPTION", "settings.options.discat")),
        ({"game": "discat", "players": 2, "options": THIRD}, ("INVALID_OPTION", "settings.options.discat.first_seat")),
        ({"game": "discat", "players": 2, "acknowledgement": 7}, ("INVALID_ROOM", "settings.acknowledgement")),
        ({"game": "discat", "players": 2, "decision_seconds": 9}, ("INVALID_ROOM", "settings.decision_seconds")),
        ({"game": "discat", "players": 2, "decision_seconds": 86401}, ("INVALID_ROOM", "settings.decision_seconds")),
    ],
)
def test_settings_with_which_no_game_can_begin_are_refused(settings: dict[str, Any], refusal: tuple[str, str]) -> None:
    rooms = Rooms()
    assert refused(rooms.post, settings=pb.RoomSettings(**settings)) == refusal
    rooms.check_empty()


@given(seconds=st.integers(0, 2**32 - 1))
def test_the_time_for_a_decision_is_bounded(seconds: int) -> None:
    rooms = Rooms()
    settings = pb.RoomSettings(game="discat", players=2, decision_seconds=seconds)
    if seconds == 0 or 10 <= seconds <= 86400:
        rooms.post(settings=settings)
        (entry,) = rooms.follow().entries
        assert entry.settings.decision_seconds == seconds
    else:
        assert refused(rooms.post, settings=settings) == ("INVALID_ROOM", "settings.decision_seconds")


def test_settings_are_one_entry_of_the_rooms_people(make_rooms: MakeRooms, host: Host, plies: list[bytes]) -> None:
    """The first person who posts settings is the host. Later the players may change the settings; strangers may not."""
    rooms = make_rooms(host.keys)

    def settings(secret: bytes, **fields: Any) -> pb.RoomEntry:
        return pb.RoomEntry(settings=pb.RoomSettings(game="discat", players=2, person=person_of(secret), **fields))

    # The secret determines the person, whatever the post says. Options without a game get the name of their game.
    wanted = pb.RoomSettings(players=2, options=FIRST, person=person_of(BERT))
    assert rooms.post(settings=wanted, secret=CLEO).taken
    early = rooms.follow()
    assert early.entries == [settings(CLEO, options=FIRST)]
    stranger = pb.RoomSettings(game="discat", players=6)
    assert not rooms.post(settings=stranger, secret=secret_of(9)).taken
    alien = host.new_table(game="discat", players=2, seats=[human(secret_of(9)), human(BERT)], acknowledgement=NONE)
    rooms.post(table=alien.table, secret=secret_of(9))
    rooms.post(table=plies[0], secret=CLEO)
    assert rooms.post(settings=pb.RoomSettings(game="discat", players=2, acknowledgement=NEXT), secret=BERT).taken
    assert early.entries[1:] == [
        pb.RoomEntry(table=alien.table, is_foreign=True),
        *table_entries(plies[:1]),
        settings(BERT, acknowledgement=NEXT),
    ]
    assert rooms.follow().entries == early.entries[1:]


def test_the_time_of_an_entry_is_the_time_of_its_first_post(make_rooms: MakeRooms, host: Host) -> None:
    rooms = make_rooms(host.keys)
    closed = host.new_table(game="discat", players=2, seats=[human(ANNA), human(BERT)], acknowledgement=NEXT).table
    rooms.post(name="Anna")
    rooms.post(table=closed)
    ear = rooms.follow()
    for time, what in (
        (1.5, {"name": "Anna"}),
        (2.25, {"table": host.acknowledge(closed, ANNA)}),
        (3, {"name": "Ann"}),
    ):
        rooms.time = time
        rooms.post(**what)
    assert ear.times == [0, 0, 0, 3]
    assert rooms.follow().times == [0, 3]


def test_names_of_24_characters_of_any_language_are_accepted(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    for name in ("a" * 24, "Zoé", "李小龍", "D'Artagnan 3", "👨\u200d👩\u200d👧", "می\u200cخواهم", "🐈"):
        assert rooms.post(name=name).taken
    assert rooms.follow().entries == [name_entry(ANNA, "🐈")]


def test_an_invalid_follow_is_refused(make_rooms: MakeRooms) -> None:
    rooms = make_rooms()
    assert refused(rooms.follow, b"") == ("MISSING_FIELD", "room")
    assert refused(rooms.follow, ROOM[1:]) == ("INVALID_ROOM", "room")
    assert refused(rooms.follow, secret=b"") == ("INVALID_ROOM", "secret")
    assert refused(rooms.follow, cursor=bytes(17)) == ("INVALID_ROOM", "cursor")
    rooms.check_empty()


@given(data=st.binary(max_size=200), what=st.sampled_from([pb.PostRequest, pb.FollowRequest]))
def test_any_bytes_get_a_refusal_or_a_response(data: bytes, what: type[pb.PostRequest | pb.FollowRequest]) -> None:
    """The bytes are tried as a whole request, and as the end of a valid request."""
    rooms = Rooms()
    for request in (data, what(room=ROOM, secret=ANNA).SerializeToString() + data):
        try:
            if what is pb.PostRequest:
                rooms.service.post("anna", request)
            else:
                rooms.service.follow(request, Ear("anna"))
        except (Refusal, DecodeError):
            pass
