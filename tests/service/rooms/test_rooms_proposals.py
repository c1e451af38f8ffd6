"""Amended tables in rooms: they are proposals, and do not change the game until all have consented."""

import itertools
import random

import pytest
from tables.support import NONE, Host, begun, human, played, secret_of

from chatiere import engine
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

from .conftest import MakeRooms
from .support import Ear, Rooms, refused

DISCAT = engine.game("discat")
ANNA, BERT, CLEO, DORA = map(secret_of, range(4))
BOT = tables_pb.TableSeat(bot="random")


@pytest.fixture(scope="module")
def host() -> Host:
    return Host()


@pytest.fixture(scope="module")
def game(host: Host) -> list[bytes]:
    """Return the first tables of a game between Anna, Bert and Cleo."""
    table, secrets = begun(host, DISCAT, 3, NONE, allows_replacement=True)
    return list(itertools.islice(played(host, table, secrets, random.Random(1)), 4))


def room_of(rooms: Rooms, tables: list[bytes]) -> Ear:
    for table in tables:
        assert rooms.post(table=table).taken
    return rooms.follow()


def proposed(table: bytes) -> pb.RoomEntry:
    return pb.RoomEntry(proposal=table)


def test_a_proposal_becomes_the_next_table_once_all_consent(
    make_rooms: MakeRooms, host: Host, game: list[bytes]
) -> None:
    """A player who has left is replaced. Each person consents separately, and so does the newcomer."""
    rooms = make_rooms(host.keys)
    ear = room_of(rooms, game[:3])
    made = host.replace(game[2], ANNA, 2, human(DORA))
    assert rooms.post(table=made) == pb.PostResponse(taken=True, table=made)
    both = host.acknowledge(made, DORA)
    assert rooms.post(table=both, secret=DORA).taken
    assert rooms.follow().entries[-1:] == [proposed(both)]
    all_three = host.acknowledge(made, BERT, DORA)
    assert rooms.post(table=host.acknowledge(made, BERT), secret=BERT) == pb.PostResponse(taken=True, table=all_three)
    assert ear.entries[3:] == [proposed(made), proposed(both), pb.RoomEntry(table=all_three)]
    assert rooms.follow().entries == [pb.RoomEntry(table=each) for each in (*game[:3], all_three)]
    # The newcomer is one of the room's people now, and may begin games there.
    again = host.new_table(game="discat", players=2, seats=[human(DORA), human(ANNA)], acknowledgement=NONE).table
    rooms.post(table=again, secret=DORA)
    assert ear.entries[-1] == pb.RoomEntry(table=again)


def test_a_proposal_stops_no_game(make_rooms: MakeRooms, host: Host, game: list[bytes]) -> None:
    """A game has one proposal at a time, and this is made from the newest table."""
    rooms = make_rooms(host.keys)
    ear = room_of(rooms, game[:3])
    first, second = host.replace(game[2], ANNA, 2, BOT), host.take_back(game[:3], BERT)
    for made, secret in ((first, ANNA), (second, BERT)):
        assert rooms.post(table=made, secret=secret).taken
    assert rooms.post(table=host.replace(game[1], ANNA, 2, BOT)) == pb.PostResponse(taken=False, table=game[2])
    assert rooms.follow().entries[3:] == [proposed(second)]
    assert rooms.post(table=game[3]).taken
    assert ear.entries[3:] == [proposed(first), proposed(second), pb.RoomEntry(table=game[3])]
    assert rooms.follow().entries == [pb.RoomEntry(table=table) for table in game]
    late = host.acknowledge(first, BERT)
    assert rooms.post(table=late, secret=BERT) == pb.PostResponse(taken=False, table=game[3])


def test_which_people_may_post_a_proposal(host: Host, game: list[bytes]) -> None:
    """The people of the proposed table and the replaced person may post it, if the room has the game."""
    rooms = Rooms(host.keys)
    made = host.replace(game[2], CLEO, 2, BOT)
    assert rooms.post(table=made, secret=CLEO) == pb.PostResponse(taken=False)
    room_of(rooms, game[:3])
    assert refused(rooms.post, table=made, secret=DORA) == ("WRONG_SECRET", "secret")
    assert rooms.post(table=made, secret=CLEO).taken
    agreed = host.acknowledge(made, ANNA, BERT)
    assert rooms.post(table=agreed, secret=ANNA).taken
    assert not rooms.post(table=game[3], secret=CLEO).taken
