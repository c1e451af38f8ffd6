"""Rooms in Redis: processes share them, changes are atomic, and rooms expire. Also outages of Redis, and passwords."""

import asyncio
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import status_pb2
from google.rpc.error_details_pb2 import RetryInfo
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from prometheus_client import CollectorRegistry
from tables.support import NEXT, Host, begun, human, played, secret_of
from tools.needs import needs
from tools.over import over

from chatiere import engine
from chatiere.service.base.errors import ROOMS_AWAY, StatusError, rooms_away
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.rooms import redis_relay
from chatiere.service.rooms.presence import EMOTES_PERIOD, MOST_EMOTES
from chatiere.service.rooms.redis_session import FAILURES, NewRoom, Session
from chatiere.service.rooms.relay import create_relay
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub

from ..process import served, wait_until
from ..support import GRPC_DOORS, LogLines, refusal, running
from .redis_server import RedisServer, redis_server
from .support import OTHER_ROOM, ROOM, Ear, Rooms, name_entry, person_of, refused
from .test_rooms_served import Follower, post

pytestmark = [needs("Redis"), pytest.mark.long]
ANNA, BERT, CLEO = map(secret_of, range(3))
PASSWORD = "s3cr3t-of-redis"
SERVICE = "chatiere.v1.RoomService"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder whose path is short enough for a socket."""
    path = Path(tempfile.mkdtemp(prefix="redis"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def make(redis: RedisServer) -> Iterator[Any]:
    """Return a function that creates processes with shared rooms."""
    made: list[Rooms] = []

    def make(keys: Keyring | None = None, relay: str = redis.address, **settings: Any) -> Rooms:
        made.append(Rooms(keys, relay, **settings))
        made[-1].sharing = made
        return made[-1]

    yield make
    for rooms in made:
        rooms.relay.close()


def heard(ear: Ear, *entries: pb.RoomEntry) -> None:
    """Wait until a follower has exactly these entries."""
    wait_until(lambda: len(ear.entries) >= len(entries), "the entries arrive")
    assert ear.entries == list(entries)


def presence_of(ear: Ear) -> pb.RoomPresence:
    """Announce changes in presence. Then return the people present, according to a follower's last response."""
    ear.announce()
    return [each.presence for each in ear.heard if each.HasField("presence")][-1]


def ended(ear: Ear) -> Any:
    """Wait until a follower's call has ended, and return the error."""
    return wait_until(lambda: ear.error, "the call ends")


def status_of(health: Health, service: str = SERVICE) -> int:
    request = HealthCheckRequest(service=service).SerializeToString()
    return HealthCheckResponse.FromString(health.check(request)).status  # type: ignore[no-any-return]


# Several processes


def test_posts_reach_followers_at_all_processes(make: Any) -> None:
    host = Host()
    one, other = make(host.keys), make(host.keys)
    table, secrets = begun(host, engine.game("discat"), 2)
    here, there = one.follow(), other.follow()
    expected = []
    moves = played(host, table, secrets, random.Random(1))
    for ply, (each, rooms) in enumerate(zip(moves, (one, other) * 5, strict=False)):
        assert rooms.post(table=each, secret=secrets[ply % 2]).taken
        expected.append(pb.RoomEntry(table=each))
    other.post(name="Bert", secret=BERT)
    one.post(name="Anna")
    expected += [name_entry(BERT, "Bert"), name_entry(ANNA, "Anna")]
    for ear in (here, there):
        heard(ear, *expected)
    # A cursor that one process made is valid at all processes.
    again = other.follow(cursor=here.heard[-2].cursor)
    assert (again.entries, again.heard[0].is_whole) == (expected[-1:], False)
    assert make(host.keys).follow().entries == expected


def test_followers_learn_which_people_are_present_at_all_processes(make: Any) -> None:
    one, other = make(), make()
    anna = one.follow(secret=ANNA)
    bert = other.follow(secret=BERT)
    both = sorted([person_of(ANNA), person_of(BERT)])
    for ear in (anna, bert):
        wait_until(lambda ear=ear: list(presence_of(ear).people) == both, "both people are present")  # type: ignore[misc]
    onlooker = other.follow()
    wait_until(lambda: presence_of(anna).onlookers == 1, "there is an onlooker")
    # The same person follows twice.
    window = one.follow(secret=BERT)
    wait_until(lambda: list(presence_of(window).people) == both, "both people are present")
    for ear in (bert, onlooker):
        ear.leave()
    wait_until(lambda: presence_of(anna).onlookers == 0, "there is no onlooker")
    assert len(presence_of(anna).people) == 2
    window.leave()
    wait_until(lambda: list(presence_of(anna).people) == [person_of(ANNA)], "the other person has left")
    anna.leave()
    for rooms in (one, other):
        rooms.check_empty()


def test_processes_share_the_rate_of_emotes(make: Any, redis: RedisServer) -> None:
    host = Host()
    one, other = make(host.keys), make(host.keys)
    table, _ = begun(host, engine.game("discat"), 2)
    one.post(table=table)
    ears = [one.follow(), other.follow()]
    for turn in range(MOST_EMOTES):
        assert (one, other)[turn % 2].post(emote=pb.EMOTE_THANKS).taken
    limit = f"emotes of one person in {EMOTES_PERIOD:g} s"
    assert refused(one.post, emote=pb.EMOTE_THANKS) == refused(other.post, emote=pb.EMOTE_THANKS)
    assert refused(other.post, emote=pb.EMOTE_THANKS) == ("LIMIT_EXCEEDED", limit)
    expected = [pb.RoomEmote(person=person_of(ANNA), emote=pb.EMOTE_THANKS)] * MOST_EMOTES
    for ear in ears:
        wait_until(lambda ear=ear: ear.heard[-1].emotes and len(ear.heard) > MOST_EMOTES, "the emotes arrive")  # type: ignore[misc]
        assert [emote for response in ear.heard for emote in response.emotes] == expected
    # Redis forgets the period, and the person may send emotes again.
    (key,) = redis.client.keys("chatiere:rooms:*:emotes:*")
    assert 0 < redis.client.pttl(key) <= 1000 * EMOTES_PERIOD
    redis.client.delete(key)
    assert other.post(emote=pb.EMOTE_THANKS).taken


def test_workers_of_earlier_versions_ignore_emotes(make: Any, redis: RedisServer, monkeypatch: Any) -> None:
    host = Host()
    new, old = make(host.keys), make(host.keys)
    table, _ = begun(host, engine.game("discat"), 2)
    new.post(table=table)
    here, there = new.follow(), old.follow()

    (room,) = old.relay._rooms.values()

    def hear_entry(_: bytes, message: bytes) -> None:
        first, _, rest = message[1:].partition(b" ")
        gone, _, entry = rest.partition(b" ")
        old.relay._hear_entry(room, first, gone, entry)

    # Earlier versions read every message as an entry if it is not about presence.
    session, _ = old.relay._session
    monkeypatch.setattr(session, "_hear", hear_entry)
    new.post(emote=pb.EMOTE_THANKS)
    wait_until(lambda: here.heard[-1].emotes, "the emote arrives")
    new.post(name="Anna")
    heard(here, pb.RoomEntry(table=table), name_entry(ANNA, "Anna"))
    heard(there, pb.RoomEntry(table=table), name_entry(ANNA, "Anna"))
    assert not any(each.emotes for each in there.heard)


def test_people_at_a_dead_process_are_soon_absent(make: Any, redis: RedisServer, monkeypatch: Any) -> None:
    monkeypatch.setattr(redis_relay, "_SILENCE", 0.5)
    one = make()
    here = pb.RoomPresence(people=[person_of(BERT)]).SerializeToString()
    redis.client.hset(f"chatiere:rooms:{person_of(ROOM).hex()}:here", "0" * 16, here)
    anna = one.follow(secret=ANNA)
    assert len(anna.heard[0].presence.people) == 2

    def is_forgotten() -> bool:
        one.look(10)
        return list(presence_of(anna).people) == [person_of(ANNA)]

    wait_until(is_forgotten, "the process is forgotten")
    key = f"chatiere:rooms:{person_of(ROOM).hex()}:here"
    wait_until(lambda: not redis.client.hexists(key, "0" * 16), "Redis has forgotten it, too")


def test_one_of_several_simultaneously_posted_tables_is_taken(make: Any) -> None:
    host = Host()
    processes = [make(host.keys) for _ in range(3)]
    table, _ = begun(host, engine.game("chat_perche"), 2)
    while len(legal := host.look(table, secret_of(seat := host.look(table).view.turn.seat)).legal_actions) < 6:
        table = host.move(table, secret_of(seat), legal[0].id).table
    children = [host.move(table, secret_of(seat), action.id).table for action in legal[:6]]
    ears = [rooms.follow() for rooms in processes]
    processes[0].post(table=table)
    together = threading.Barrier(len(children))
    responses: list[pb.PostResponse] = []

    def post_one(number: int) -> None:
        together.wait()
        responses.append(processes[number % 3].post(table=children[number], secret=secret_of(seat)))

    threads = [threading.Thread(target=post_one, args=(number,)) for number in range(len(children))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (taken,) = (each.table for each in responses if each.taken)
    assert [each.table for each in responses] == [taken] * len(children)
    for ear in ears:
        heard(ear, pb.RoomEntry(table=table), pb.RoomEntry(table=taken))


def test_simultaneously_posted_acknowledgements_are_all_kept(make: Any) -> None:
    host = Host()
    processes = [make(host.keys), make(host.keys)]
    secrets = [ANNA, BERT, CLEO]
    table = host.new_table(game="discat", players=3, seats=list(map(human, secrets)), acknowledgement=NEXT).table
    processes[0].post(table=table)
    together = threading.Barrier(3)

    def acknowledge(number: int) -> None:
        together.wait()
        processes[number % 2].post(table=host.acknowledge(table, secrets[number]), secret=secrets[number])

    threads = [threading.Thread(target=acknowledge, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (entry,) = processes[1].follow().entries
    assert entry.table == host.acknowledge(table, *secrets)


def test_a_post_whose_message_was_lost_is_read(make: Any, redis: RedisServer) -> None:
    """A broken connection loses published messages. The next message or the next look shows the gap."""
    one, other = make(), make()
    ear = one.follow()
    hear, one.relay._hear_entry = one.relay._hear_entry, lambda *_: None
    other.post(name="Anna")
    wait_until(
        lambda: redis.client.pubsub_numsub("chatiere:rooms:" + person_of(ROOM).hex())[0][1] == 1,
        "one replica subscribes",
    )
    other.post(name="Bert", secret=BERT)
    one.settle()
    one.relay._hear_entry = hear
    other.post(name="Cleo", secret=CLEO)
    heard(ear, *(name_entry(secret, name) for secret, name in ((ANNA, "Anna"), (BERT, "Bert"), (CLEO, "Cleo"))))


# Bounds


def test_a_room_that_gives_way_ends_its_followers_at_all_processes(make: Any) -> None:
    one, other = make(max_rooms=2), make(max_rooms=2)
    one.post(name="Anna")
    ears = [one.follow(), other.follow()]
    other.post(OTHER_ROOM, name="Anna")
    for ear in ears:
        error = ended(ear)
        assert (error.reason, error.metadata["limit"]) == ("LIMIT_EXCEEDED", "rooms at a time")
    assert one.kept == {person_of(OTHER_ROOM)}
    assert other.sample("chatiere_rooms_dropped_total", reason="full") == 1


def test_rooms_with_followers_stay_in_use(make: Any, redis: RedisServer) -> None:
    rooms = make(max_rooms=4)
    rooms.post(name="Anna")
    ear, name = rooms.follow(), person_of(ROOM).hex()
    rooms.post((1).to_bytes(16), name="Anna")
    used = redis.client.zscore("chatiere:rooms:used", name)
    rooms.look(10)
    wait_until(lambda: redis.client.zscore("chatiere:rooms:used", name) > used, "the followed room was used")
    rooms.post((2).to_bytes(16), name="Anna")
    assert ear.error is None
    assert rooms.kept == {person_of(ROOM), person_of((2).to_bytes(16))}


def test_every_key_in_redis_expires(make: Any, redis: RedisServer) -> None:
    rooms = make(room_lifetime=100.0)
    rooms.post(name="Anna")
    ear = rooms.follow(secret=ANNA)
    rooms.announce()
    wait_until(
        lambda: redis.client.exists(f"chatiere:rooms:{person_of(ROOM).hex()}:here"), "the list of people is there, too"
    )
    keys = redis.client.keys()
    assert all(0 < redis.client.pttl(key) <= 200_000 for key in keys)
    assert 99_000 < redis.client.pttl(f"chatiere:rooms:{person_of(ROOM).hex()}") <= 100_000
    ear.leave()


def test_an_unused_room_is_forgotten(make: Any, redis: RedisServer) -> None:
    brief, long = make(room_lifetime=0.001), make()
    brief.post(name="Anna")
    # The room expires, together with its share of the bounds.
    wait_until(lambda: not redis.client.exists(f"chatiere:rooms:{person_of(ROOM).hex()}"), "Redis forgets it")
    wait_until(lambda: not redis.client.keys(), "Redis forgets all keys")
    brief.post(name="Anna")
    long.post(OTHER_ROOM, name="Bert")
    brief.post(OTHER_ROOM, name="Bert")
    assert brief.kept <= {person_of(OTHER_ROOM)}
    long.post(name="Anna")
    assert int(redis.client.get("chatiere:rooms:total")) == sum(map(int, redis.client.hvals("chatiere:rooms:size")))


def test_redis_learns_neither_ids_nor_secrets_nor_addresses(make: Any, redis: RedisServer) -> None:
    rooms = make()
    rooms.post(name="Anna", client="192.0.2.7")
    rooms.follow(secret=ANNA)
    kept = b""
    for key in redis.client.scan_iter():
        kept += key + (redis.client.dump(key) or b"")
    assert b"Anna" in kept
    for hidden in (ROOM, ANNA, b"192.0.2.7"):
        assert hidden not in kept


# Outages of Redis


def away(call: Any, *arguments: Any, **named: Any) -> None:
    with pytest.raises(StatusError) as found:
        call(*arguments, **named)
    assert found.value.status.message == ROOMS_AWAY


@pytest.mark.parametrize("is_saved", [False, True])
def test_rooms_are_available_again_after_redis_was_killed_and_restarted(
    make: Any, folder: Path, is_saved: bool
) -> None:
    """Redis restarts without data, or with older data."""
    with redis_server(folder) as redis:
        one, other = make(relay=redis.address), make(relay=redis.address)
        one.post(name="Anna")
        if is_saved:
            redis.client.save()
        ears = [one.follow(), other.follow(secret=BERT)]
        one.post(name="Bert", secret=BERT)
        heard(ears[1], name_entry(ANNA, "Anna"), name_entry(BERT, "Bert"))
        cursor = ears[1].cursor
        redis.kill()
        for ear in ears:
            assert ended(ear).status.message == ROOMS_AWAY
        for rooms in (one, other):
            rooms.wait_for_redis(is_away=True)
            assert status_of(rooms.health) == HealthCheckResponse.NOT_SERVING
            # The server remains healthy because it has already been ready, and its other services continue.
            assert status_of(rooms.health, "") == HealthCheckResponse.SERVING
            away(rooms.post, name="Anna")
            away(rooms.follow)
            assert rooms.sample("chatiere_room_followers") == 0
        redis.start()
        for rooms in (one, other):
            rooms.wait_for_redis()
            assert status_of(rooms.health) == HealthCheckResponse.SERVING
        # A new name gets the number of the lost name. Followers that saw the lost name get all entries again.
        one.post(name="Cleo", secret=CLEO)
        again = other.follow(cursor=cursor)
        assert again.heard[0].is_whole
        before = [name_entry(ANNA, "Anna")] if is_saved else []
        assert again.entries == [*before, name_entry(CLEO, "Cleo")]
        other.post(name="Bert", secret=BERT)
        heard(again, *before, name_entry(CLEO, "Cleo"), name_entry(BERT, "Bert"))


def test_clients_are_asked_to_return_at_different_times() -> None:
    asked = []
    for _ in range(100):
        details = status_pb2.Status.FromString(rooms_away().status.details).details
        retry = RetryInfo()
        assert details[0].Unpack(retry)
        asked.append(retry.retry_delay.ToMilliseconds() / 1000)
    assert 1.0 <= min(asked) < 2.0 < 4.0 < max(asked) <= 5.0


def test_followers_that_enter_and_leave_together_share_two_connections(make: Any, redis: RedisServer) -> None:
    rooms = make(max_followers=600)
    ears = [Ear("anna") for _ in range(300)]
    leaves = []
    for number, ear in enumerate(ears):
        request = pb.FollowRequest(room=number.to_bytes(16), secret=secret_of(number)).SerializeToString()
        leaves.append(rooms.service.follow(request, ear))
    for ear in ears:
        wait_until(lambda ear=ear: ear.heard or ear.error, "the follower has entered")  # type: ignore[misc]
    rooms.announce()
    here = [f"chatiere:rooms:{person_of(number.to_bytes(16)).hex()}:here" for number in range(300)]
    wait_until(lambda: redis.client.exists(*here) == 300, "all are known to be present")
    for leave in leaves:
        leave()
    wait_until(lambda: not redis.client.exists(*here), "all have left")
    assert [ear.error for ear in ears] == [None] * 300
    # These are the two connections of the service, and the connection that asks.
    assert redis.client.info("clients")["connected_clients"] == 3
    rooms.check_empty()


def test_a_room_lost_by_redis_is_created_again(make: Any, redis: RedisServer) -> None:
    rooms = make()
    rooms.post(name="Anna")
    ear = rooms.follow()
    redis.client.flushall()
    assert rooms.post(name="Bert", secret=BERT).taken
    assert ended(ear).status.message == ROOMS_AWAY
    again = rooms.follow(cursor=ear.heard[0].cursor)
    assert (again.entries, again.heard[0].is_whole) == ([name_entry(BERT, "Bert")], True)


def test_an_invalid_message_ends_the_session_and_not_the_relay(make: Any, redis: RedisServer) -> None:
    rooms = make()
    ear = rooms.follow()
    with LogLines() as log:
        redis.client.publish(f"chatiere:rooms:{person_of(ROOM).hex()}", b"hstranger \xff")
        assert ended(ear).status.message == ROOMS_AWAY
        log.wait_for("has unknown data")
    rooms.wait_for_redis()
    assert rooms.post(name="Anna").taken


def test_deleted_keys_are_restored(make: Any, redis: RedisServer) -> None:
    rooms = make(max_rooms=2)
    rooms.post(name="Anna")
    redis.client.delete("chatiere:rooms:owner", "chatiere:rooms:size")
    for number in range(6):
        assert rooms.post(number.to_bytes(16), name="Anna", client=str(number)).taken
        assert len(rooms.kept) <= 2


def test_redis_may_start_after_the_service_which_then_is_ready(folder: Path) -> None:
    health = Health([SERVICE])
    with closing(RedisServer(folder)) as redis, LogLines() as log:
        settings = Settings(relay=redis.address)
        with closing(create_relay(settings, Metrics(CollectorRegistry()), health)):
            line = log.wait_for("Redis at unix://")
            assert "start Redis, or correct --relay" in line
            assert {status_of(health, name) for name in (SERVICE, "")} == {HealthCheckResponse.NOT_SERVING}
            # The error is logged once, regardless of the number of failed attempts.
            redis.start()
            log.wait_for("rooms are kept by Redis")
            assert sum("cannot reach Redis" in each for each in log.lines) == 1
            assert {status_of(health, name) for name in (SERVICE, "")} == {HealthCheckResponse.SERVING}


def test_a_hanging_redis_is_unavailable(make: Any, folder: Path, monkeypatch: Any) -> None:
    with redis_server(folder) as redis:
        rooms = make(relay=redis.address)
        ear = rooms.follow()
        redis.suspend()

        def is_ended() -> bool:
            rooms.look()
            return ear.error is not None

        with monkeypatch.context() as patch:
            patch.setattr("chatiere.service.rooms.redis_session.TIMEOUT", 0.2)
            wait_until(is_ended, "the calls of followers end")
        redis.resume()
        rooms.wait_for_redis()
        assert rooms.post(name="Anna").taken


def test_a_redis_without_memory_refuses_posts_and_keeps_followers(make: Any, redis: RedisServer) -> None:
    rooms = make()
    ear = rooms.follow()
    with LogLines() as log:
        redis.client.config_set("maxmemory", 1)
        try:
            away(rooms.post, name="Anna")
            away(rooms.post, name="Anna")
        finally:
            redis.client.config_set("maxmemory", 0)
        assert sum("Redis refuses a command that rooms need" in line for line in log.lines) == 1
    assert rooms.post(name="Bert").taken
    heard(ear, name_entry(ANNA, "Bert"))
    assert rooms.sample("chatiere_relay_away") == 0


@over("door", GRPC_DOORS)
def test_clients_of_a_service_without_redis_learn_when_to_retry(door: Any, folder: Path) -> None:
    with (
        closing(RedisServer(folder)) as redis,
        running(Settings(address="127.0.0.1:0", relay=redis.address), door) as server,
    ):
        stub: Any = RoomServiceStub(server.channel)
        told = refusal(stub.Post, pb.PostRequest(room=ROOM, secret=ANNA, name="Anna"))
        assert told.code == grpc.StatusCode.UNAVAILABLE
        assert told.retry_after is not None
        assert 1.0 <= told.retry_after <= 5.0
        assert "try again" in told.message
        follower = Follower(server)
        assert follower.next().code() == grpc.StatusCode.UNAVAILABLE
        follower.leave()
        redis.start()
        wait_until(lambda: server.sample("chatiere_relay_away") == 0, "Redis is available")
        follower = Follower(server)
        follower.next()
        assert post(server, name="Anna").taken
        assert follower.entries(1) == [name_entry(ANNA, "Anna")]
        follower.leave()


# Addresses


def test_workers_of_one_server_share_rooms_and_log_no_password(folder: Path) -> None:
    with redis_server(folder, "--requirepass", PASSWORD):
        variables = {"CHATIERE_RELAY": f"unix://:{PASSWORD}@{folder / 'redis.sock'}"}
        with served("--workers", "2", environment=variables) as server, ExitStack() as stack:
            address, followers = server.address, list[Any]()

            def follow() -> Any:
                # This makes grpcio use another connection, to any of the workers.
                options = [("grpc.use_local_subchannel_pool", 1)]
                channel = stack.enter_context(grpc.insecure_channel(address, options))
                return RoomServiceStub(channel), iter(RoomServiceStub(channel).Follow(pb.FollowRequest(room=ROOM)))

            def are_both_there() -> bool:
                followers.append(follow())
                next(followers[-1][1])
                return server.total("chatiere_rooms") == 2

            kept = f"rooms are kept by Redis at unix://{folder}/redis.sock"
            wait_until(lambda: sum(kept in line for line in server.lines) == 2, "both workers have reached Redis")
            wait_until(are_both_there, "both workers have followers")
            followers[0][0].Post(pb.PostRequest(room=ROOM, secret=ANNA, name="Anna"))
            heard = [next(response.entries for response in responses if response.entries) for _, responses in followers]
            # All entries have the time of their first copy.
            assert heard == [[pb.RoomEntry(name=name_entry(ANNA, "Anna").name, time=heard[0][0].time)]] * len(followers)
            assert heard[0][0].HasField("time")
            server.stop()
            assert PASSWORD not in "\n".join(server.lines)


def test_a_password_is_in_no_error_log_or_setting(folder: Path) -> None:
    with redis_server(folder, "--requirepass", PASSWORD) as redis, LogLines() as log:
        wrong = f"unix://:{PASSWORD}x@{folder / 'redis.sock'}"
        settings = Settings(relay=wrong)
        with closing(create_relay(settings, Metrics(CollectorRegistry()), Health([SERVICE]))):
            line = log.wait_for("cannot reach Redis")
            assert "invalid username-password pair" in line
        right = Settings(relay=wrong.replace("x@", "@"))
        with closing(create_relay(right, Metrics(CollectorRegistry()), Health([SERVICE]))):
            assert redis.address in log.wait_for("rooms are kept by Redis")
        assert PASSWORD not in "\n".join([*log.lines, repr(settings), repr(right)])


def test_a_command_whose_connection_is_closed_fails_like_its_session() -> None:
    """In this case Redis's client has no reader, and raises an exception that is not one of Redis's errors."""

    async def close_during_a_command() -> None:
        session = Session(Settings(relay="redis://127.0.0.1:1"), lambda channel, message: None)
        begun, closed = asyncio.Event(), asyncio.Event()

        async def read(args: list[Any]) -> None:
            begun.set()
            await closed.wait()
            raise AttributeError("'NoneType' object has no attribute 'readuntil'")

        session._put = read  # type: ignore[assignment]
        command = asyncio.create_task(session.put("room", b"", b"", None, NewRoom("", b"", 0)))
        await begun.wait()
        await session.close()
        closed.set()
        await command

    with pytest.raises(FAILURES):
        asyncio.run(close_during_a_command())


@pytest.mark.parametrize("has_command", [False, True])
def test_a_session_whose_closing_is_cancelled_closes_its_connections(redis: RedisServer, has_command: bool) -> None:
    async def cancel_closing(iterations: int) -> None:
        session = Session(Settings(relay=redis.address), lambda channel, message: None)
        await session.open()
        if has_command:
            # A command that gets no response.
            session.start(asyncio.Event().wait())
        closing = asyncio.create_task(session.close())
        for _ in range(iterations):
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        await asyncio.to_thread(wait_until, lambda: len(redis.client.client_list()) == 1, "the connections are closed")

    for iterations in range(1, 6):
        asyncio.run(cancel_closing(iterations))


@pytest.mark.parametrize(
    "address",
    [
        f"redis://:{PASSWORD}@host:port",
        f"redis://:{PASSWORD}@[host:1",
        f"redis://:{PASSWORD}@host:1/?sort=of",
        f"redis://:{PASSWORD}@host:1/?db=first",
        f"redis://:{PASSWORD}@host:1/?socket_timeout=inf",
        f"redis://:{PASSWORD}@host:1/?max_connections=1000000",
        f"http://:{PASSWORD}@host:1",
        PASSWORD,
    ],
)
def test_an_invalid_address_of_redis_is_refused(address: str) -> None:
    with pytest.raises(SettingError, match=r"^relay: ") as found:
        create_relay(Settings(relay=address), Metrics(CollectorRegistry()), Health([SERVICE]))
    assert PASSWORD not in str(found.value)
    assert found.value.__cause__ is None


def test_without_its_packages_an_error_names_them(monkeypatch: Any) -> None:
    monkeypatch.delitem(sys.modules, "chatiere.service.rooms.redis_relay")
    monkeypatch.setitem(sys.modules, "redis", None)
    for name in [name for name in sys.modules if name.startswith(("redis.", "chatiere.service.rooms.redis_"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SettingError, match=r"relay: missing packages: pip install 'chatiere\[redis\]'"):
        create_relay(Settings(relay="redis://localhost"), Metrics(CollectorRegistry()), Health([SERVICE]))


def test_refusals_come_from_the_newest_state(make: Any) -> None:
    """This is also true for a room that has no followers at this process."""
    host = Host()
    one, other = make(host.keys), make(host.keys)
    one.post(table=begun(host, engine.game("discat"), 2)[0])
    for number in range(64):
        one.post(invitation=number.to_bytes(8))
    for rooms in (one, other):
        found = refused(rooms.post, invitation=b"8 bytes.")
        assert found == ("LIMIT_EXCEEDED", "replies of one person")
