"""RoomService at all doors: players see their game as it is played. Also refusals, slow followers and shutdown."""

import dataclasses
import hashlib
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tables.support import human, secret_of

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.tokens import new_token
from chatiere.service.rooms.memory_relay import MemoryRelay
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub
from chatiere.v1.table_service_pb2_grpc import TableServiceStub

from ..process import wait_until
from ..support import ALL_DOORS, PATIENCE, LogLines, Running, code_of, read_refusal, refusal, running
from .support import INVITATION, OTHER_ROOM, ROOM, check_info, name_entry, person_of, reply_entry

DOORS = ALL_DOORS
SETTINGS = Settings(address="127.0.0.1:0", relay="memory", log_calls=True)
ANNA, BERT = secret_of(0), secret_of(1)
FOLLOW = {"grpc_type": "server_stream", "grpc_service": "chatiere.v1.RoomService", "grpc_method": "Follow"}


class Follower:
    """A follower. A thread reads its responses as they arrive."""

    def __init__(self, server: Running, room: bytes = ROOM, **fields: Any) -> None:
        stub: Any = RoomServiceStub(server.channel)
        self.call = stub.Follow(pb.FollowRequest(room=room, **fields))
        self._came: queue.Queue[Any] = queue.Queue()
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    def _take(self) -> None:
        try:
            for response in self.call:
                for entry in response.entries:
                    check_info(entry)
                self._came.put(response)
        except Exception as error:
            self._came.put(error)

    def next(self) -> Any:
        """Return the next response, or the error that ended the call."""
        return self._came.get(timeout=PATIENCE)

    def entries(self, number: int) -> list[pb.RoomEntry]:
        """Return the next entries."""
        found: list[pb.RoomEntry] = []
        while len(found) < number:
            found += self.next().entries
        return found

    def leave(self) -> None:
        self.call.cancel()
        self._thread.join(PATIENCE)


@pytest.fixture
def rooms(door: Any) -> Iterator[Running]:
    with running(SETTINGS, door) as server:
        yield server


def post(server: Running, room: bytes = ROOM, secret: bytes = ANNA, **what: Any) -> pb.PostResponse:
    stub: Any = RoomServiceStub(server.channel)
    response: pb.PostResponse = stub.Post(pb.PostRequest(room=room, secret=secret, **what))
    check_info(response)
    return response


def test_a_game_of_two_players_with_an_onlooker(rooms: Running) -> None:
    tables: Any = TableServiceStub(rooms.channel)
    anna, bert, onlooker = Follower(rooms, secret=ANNA), Follower(rooms, secret=BERT), Follower(rooms)
    post(rooms, name="Anna")
    post(rooms, secret=BERT, name="Bert")
    post(rooms, secret=BERT, invitation=INVITATION)
    entries = [name_entry(ANNA, "Anna"), name_entry(BERT, "Bert"), reply_entry(BERT)]
    assert anna.entries(3) == bert.entries(3) == onlooker.entries(3) == entries
    request = tables_pb.NewTableRequest(
        game="chat_perche", players=2, seats=[human(ANNA), human(BERT)], acknowledgement=tables_pb.ACKNOWLEDGEMENT_NONE
    )
    table = tables.NewTable(request).table
    assert post(rooms, table=table) == pb.PostResponse(taken=True, table=table)
    for _ in range(10):
        told = [follower.entries(1) for follower in (anna, bert, onlooker)]
        assert told == [[pb.RoomEntry(table=table)]] * 3
        turn = tables.Look(tables_pb.LookRequest(table=table)).update.view.turn
        secret = secret_of(turn.seat)
        action = tables.Look(tables_pb.LookRequest(table=table, secret=secret)).update.legal_actions[0]
        table = tables.Move(tables_pb.MoveRequest(table=table, secret=secret, action=action)).table
        assert post(rooms, table=table, secret=secret).taken
    for follower in (anna, bert, onlooker):
        follower.leave()
    late = Follower(rooms)
    first = late.next()
    assert (first.is_whole, len(first.entries)) == (True, 3 + 11)
    late.leave()
    wait_until(lambda: rooms.sample("chatiere_room_followers") == 0, "the room has no followers")
    assert rooms.sample("chatiere_room_posts_total", kind="table", outcome="taken") == 11


def test_a_follower_that_left_continues_at_its_cursor(rooms: Running) -> None:
    post(rooms, name="Anna")
    follower = Follower(rooms)
    cursor = follower.next().cursor
    follower.leave()
    post(rooms, secret=BERT, name="Bert")
    post(rooms, OTHER_ROOM, name="elsewhere")
    again = Follower(rooms, cursor=cursor, secret=ANNA)
    first = again.next()
    assert (list(first.entries), first.is_whole) == ([name_entry(BERT, "Bert")], False)
    assert list(first.presence.people) == [person_of(ANNA)]
    again.leave()


def test_refusals_are_the_same_at_all_doors(rooms: Running) -> None:
    stub: Any = RoomServiceStub(rooms.channel)
    refused = refusal(stub.Post, pb.PostRequest(room=ROOM, secret=ANNA, name="\n"))
    assert (refused.code, refused.reason, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ROOM", "name")
    refused = refusal(stub.Post, pb.PostRequest(room=ROOM, name="Anna"))
    assert (refused.reason, refused.field) == ("MISSING_FIELD", "secret")
    refused = refusal(stub.Post, pb.PostRequest(room=ROOM, secret=ANNA, table=b"?"))
    assert (refused.reason, refused.field) == ("INVALID_TABLE", "table")
    assert refusal(stub.Post, pb.PostRequest(room=bytes(20_000))).reason == "LIMIT_EXCEEDED"
    follower = Follower(rooms, room=b"short")
    refused = read_refusal(follower.next())
    assert (refused.reason, refused.field) == ("INVALID_ROOM", "room")
    follower.leave()


def test_a_server_without_a_relay_has_no_rooms(server: Running) -> None:
    stub: Any = RoomServiceStub(server.channel)
    assert code_of(stub.Post, pb.PostRequest(room=ROOM)) == grpc.StatusCode.UNIMPLEMENTED


def test_a_stopping_server_ends_its_followers_immediately_and_states_when_to_retry(door: Any) -> None:
    with running(SETTINGS, door) as server:
        followers = [Follower(server) for _ in range(3)]
        for follower in followers:
            follower.next()
        ended = server.server.stop(PATIENCE)
        for follower in followers:
            while isinstance(error := follower.next(), pb.FollowResponse):
                pass
            refused = read_refusal(error)
            assert (refused.code, refused.retry_after) == (grpc.StatusCode.UNAVAILABLE, 1.0)
            follower.leave()
        assert ended.wait(PATIENCE)
        assert server.sample("chatiere_room_followers") == 0
        assert server.sample("grpc_server_handled_total", grpc_code="Unavailable", **FOLLOW) == 3


def test_one_client_may_have_half_of_the_followers(door: Any) -> None:
    settings = dataclasses.replace(SETTINGS, max_followers=2)
    with running(settings, door) as server:
        first = Follower(server)
        first.next()
        second = Follower(server)
        refused = read_refusal(second.next())
        assert (refused.reason, refused.metadata["limit"]) == ("LIMIT_EXCEEDED", "followers of one client")
        for follower in (first, second):
            follower.leave()


def test_a_follower_that_does_not_read_is_dropped_without_delaying_others(rooms: Running) -> None:
    """A follower whose connection is full is dropped once responses of 1 MiB wait for it."""
    stub: Any = RoomServiceStub(rooms.channel)
    slow = stub.Follow(pb.FollowRequest(room=ROOM))
    next(iter(slow))
    quick = Follower(rooms)
    quick.next()
    relay = rooms.server.methods.relay
    assert isinstance(relay, MemoryRelay)
    (room,) = relay._rooms.values()
    feed = next(iter(room.followers))
    large = pb.FollowResponse(entries=[pb.RoomEntry(table=bytes(500_000))]).SerializeToString()

    def is_dropped() -> bool:
        if feed in room.followers:
            feed.send(large)
        return feed not in room.followers

    wait_until(is_dropped, "the follower is dropped")
    post(rooms, name="Anna")
    assert quick.entries(1) == [name_entry(ANNA, "Anna")]
    quick.leave()
    slow.cancel()
    labels = {"grpc_code": "ResourceExhausted", **FOLLOW}
    wait_until(lambda: rooms.sample("grpc_server_handled_total", **labels) == 1, "the call is counted")


def test_rooms_need_a_token_unless_tables_are_open(door: Any, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(new_token("anna")[1])
    settings = dataclasses.replace(SETTINGS, tokens=tmp_path / "tokens")
    with running(settings, door) as server:
        stub: Any = RoomServiceStub(server.channel)
        assert code_of(stub.Post, pb.PostRequest(room=ROOM)) == grpc.StatusCode.UNAUTHENTICATED
        follower = Follower(server)
        assert read_refusal(follower.next()).reason == "UNAUTHENTICATED"
        follower.leave()
    with running(dataclasses.replace(settings, open_tables=True, max_rate_per_client=100.0), door) as server:
        assert post(server, name="Anna").taken
        follower = Follower(server)
        assert follower.entries(1) == [name_entry(ANNA, "Anna")]
        follower.leave()


def test_log_and_metrics_contain_no_data_of_a_room(rooms: Running) -> None:
    with LogLines() as log:
        post(rooms, name="Wilhelmina")
        follower = Follower(rooms, secret=ANNA)
        follower.next()
        follower.leave()
        log.wait_for("Follow CANCELLED")
    told = "\n".join(log.lines) + repr([metric.samples for metric in rooms.registry.collect()])
    for hidden in (ROOM, ANNA, hashlib.sha256(ROOM).digest(), person_of(ANNA), b"Wilhelmina"):
        assert hidden.hex() not in told
        assert repr(hidden)[2:-1] not in told


def test_memory_of_rooms_is_not_attributed_to_incomplete_requests(rooms: Running) -> None:
    """The server would end calls if it did not know for what the memory is used."""
    relay = rooms.server.methods.relay
    assert isinstance(relay, MemoryRelay)
    post(rooms, name="Anna")
    rest = rooms.server.known - relay.size
    relay.size += 1 << 40
    # The rest is memory of connections that were opened in the meantime.
    assert rooms.server.known - rest > 1 << 39
    relay.size -= 1 << 40


@pytest.mark.parametrize("door", ["grpcio"], indirect=True)
def test_memory_of_followers_is_not_attributed_to_incomplete_requests(rooms: Running) -> None:
    relay = rooms.server.methods.relay
    assert relay is not None
    before = rooms.server.known - relay.size
    followers = [Follower(rooms) for _ in range(5)]
    for follower in followers:
        follower.next()
    assert rooms.server.known - relay.size - before >= 5 * 28 * 1024
    for follower in followers:
        follower.leave()


def test_invalid_relays_are_refused() -> None:
    with pytest.raises(SettingError, match="relay: memory needs workers=1"):
        dataclasses.replace(SETTINGS, workers=2)
    for relay in ("paper", "", ",", "redis://one,paper", "redis://one,memory"):
        with pytest.raises(SettingError, match="relay: must be memory or an address of Redis"):
            dataclasses.replace(SETTINGS, relay=relay)
