"""Rooms in several instances of Redis: which instance has which room, outages of one, readiness, and addresses."""

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from grpc_health.v1.health_pb2 import HealthCheckResponse
from prometheus_client import CollectorRegistry
from tables.support import secret_of
from tools.needs import needs

from chatiere.service.base.errors import ROOMS_AWAY
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.exchange.health import Health
from chatiere.service.rooms.redis_relay import RedisRelay
from chatiere.service.rooms.relay import create_relay
from chatiere.service.rooms.sharded_relay import instance_of

from ..process import wait_until
from .redis_server import RedisServer
from .support import Rooms, name_entry, person_of
from .test_rooms_redis import SERVICE, away, ended, heard, presence_of, status_of

pytestmark = [needs("Redis"), pytest.mark.long]
ANNA, BERT = map(secret_of, range(2))
PASSWORD = "s3cr3t-of-redis"
UP, AWAY = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING
ROOMS = [number.to_bytes(16) for number in range(32)]
THREE = ["redis://one:6379", "redis://two:6379", "redis://three:6379/1"]


@pytest.fixture
def stopped() -> Iterator[list[RedisServer]]:
    """Return two instances of Redis that have not started."""
    # The path of a socket must be shorter than about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="redis"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        servers = []
        for name in "ab":
            (folder / name).mkdir()
            servers.append(stack.enter_context(closing(RedisServer(folder / name))))
        yield servers


@pytest.fixture
def servers(stopped: list[RedisServer]) -> list[RedisServer]:
    """Return two running instances of Redis."""
    for server in stopped:
        server.start()
    return stopped


@pytest.fixture
def processes(servers: list[RedisServer]) -> Iterator[list[Rooms]]:
    """Return two processes with shared rooms. Their settings name the instances in different orders."""
    with ExitStack() as stack:
        made: list[Rooms] = []
        for order in servers, servers[::-1]:
            made.append(Rooms(None, ",".join(server.address for server in order)))
            stack.callback(made[-1].relay.close)
            made[-1].sharing = made
        yield made


def kept_by(server: RedisServer) -> set[bytes]:
    """Return the rooms that an instance keeps, each as the SHA-256 of its id."""
    return {bytes.fromhex(name.decode()) for name in server.client.zrange("chatiere:rooms:used", 0, -1)}


def rooms_of(server: RedisServer, servers: list[RedisServer]) -> list[bytes]:
    """Return the rooms of ROOMS that belong to an instance."""
    addresses = [each.address for each in servers]
    return [room for room in ROOMS if instance_of(person_of(room), addresses) == server.address]


def statuses(health: Health) -> tuple[int, int]:
    """Return the status of RoomService and the status of the server."""
    return status_of(health), status_of(health, "")


def test_a_room_always_belongs_to_the_same_instance() -> None:
    """Workers of different releases agree, and a restart does not move rooms."""
    found = [instance_of(person_of(room), THREE) for room in ROOMS]
    assert [THREE.index(instance) for instance in found[:8]] == [2, 2, 2, 2, 0, 1, 1, 1]
    assert found == [instance_of(person_of(room), THREE[::-1]) for room in ROOMS]


def test_another_instance_takes_over_only_its_share_of_the_rooms() -> None:
    keys = [hashlib.sha256(number.to_bytes(16)).digest() for number in range(4000)]
    before = [instance_of(key, THREE) for key in keys]
    after = [instance_of(key, [*THREE, "redis://four:6379"]) for key in keys]
    moved = [new for old, new in zip(before, after, strict=True) if new != old]
    assert set(moved) == {"redis://four:6379"}
    assert 900 < len(moved) < 1100
    assert all(1200 < before.count(instance) < 1467 for instance in THREE)


def test_processes_share_rooms_of_all_instances(servers: list[RedisServer], processes: list[Rooms]) -> None:
    one, other = processes
    ears = [other.follow(room) for room in ROOMS]
    assert other.sample("chatiere_rooms") == other.sample("chatiere_room_followers") == len(ROOMS)
    for room, ear in zip(ROOMS, ears, strict=True):
        assert one.post(room, name="Anna").taken
        heard(ear, name_entry(ANNA, "Anna"))
    for server in servers:
        own = rooms_of(server, servers)
        assert own
        assert kept_by(server) == set(map(person_of, own))
        # These are two connections of each process, and the connection that asks.
        assert server.client.info("clients")["connected_clients"] == 5
        anna = one.follow(own[0], secret=ANNA)
        wait_until(
            lambda anna=anna: presence_of(anna).onlookers == 1,  # type: ignore[misc]
            "the process knows the follower of the other process",
        )
        anna.leave()
    assert other.relay.size > 0
    for rooms in processes:
        rooms.look(10)
    for ear in ears:
        # Each room's relay sends its heartbeats.
        wait_until(lambda ear=ear: not (ear.heard[-1].entries or ear.heard[-1].HasField("presence")), "a heartbeat")  # type: ignore[misc]
        ear.leave()
    assert other.relay.size == other.sample("chatiere_rooms") == other.sample("chatiere_room_followers") == 0


def test_an_outage_of_an_instance_affects_only_its_rooms(servers: list[RedisServer], processes: list[Rooms]) -> None:
    (gone, _), (room, lost_room) = servers, (rooms_of(server, servers)[0] for server in servers[::-1])
    one, other = processes
    ears = [other.follow(room), other.follow(lost_room)]
    gone.kill()
    assert ended(ears[1]).status.message == ROOMS_AWAY
    for rooms in processes:
        wait_until(lambda rooms=rooms: rooms.sample("chatiere_relay_away") == 1, "the outage is noticed")  # type: ignore[misc]
        assert statuses(rooms.health) == (UP, UP)
        away(rooms.post, lost_room, name="Anna")
        away(rooms.follow, lost_room)
    assert other.sample("chatiere_rooms") == 1
    assert one.post(room, name="Anna").taken
    heard(ears[0], name_entry(ANNA, "Anna"))
    servers[1].kill()
    for rooms in processes:
        wait_until(lambda rooms=rooms: rooms.sample("chatiere_relay_away") == 2, "the outage is noticed")  # type: ignore[misc]
        # The server remains healthy because it has already been ready, and its other services continue.
        assert statuses(rooms.health) == (AWAY, UP)
        assert rooms.sample("chatiere_rooms") == 0
    for server in servers:
        server.start()
    for rooms in processes:
        rooms.wait_for_redis()
        assert statuses(rooms.health) == (UP, UP)
    for each in room, lost_room:
        ear = other.follow(each)
        assert one.post(each, name="Bert", secret=BERT).taken
        heard(ear, name_entry(BERT, "Bert"))


def test_the_server_is_ready_once_it_has_reached_each_instance(stopped: list[RedisServer]) -> None:
    health, registry = Health([SERVICE]), CollectorRegistry()
    settings = Settings(relay=",".join(server.address for server in stopped))
    with closing(create_relay(settings, Metrics(registry), health)):
        assert statuses(health) == (AWAY, AWAY)
        for away, status in ((1, AWAY), (0, UP)):
            stopped[away].start()
            wait_until(lambda away=away: registry.get_sample_value("chatiere_relay_away") == away, "it is reached")  # type: ignore[misc]
            wait_until(lambda status=status: statuses(health) == (UP, status), "the health is reported")  # type: ignore[misc]


# Addresses


def test_one_address_among_commas_is_one_instance(servers: list[RedisServer]) -> None:
    settings = Settings(relay=f" {servers[0].address} ,")
    assert settings.redis_addresses == (servers[0].address,)
    with closing(create_relay(settings, Metrics(CollectorRegistry()), Health([SERVICE]))) as relay:
        assert isinstance(relay, RedisRelay)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (f"redis://:{PASSWORD}@host:port", "invalid address of Redis"),
        (f"redis://:{PASSWORD}@host:1/?max_connections=1000000", "invalid address of Redis"),
        ("redis://host:1", "names an instance of Redis twice"),
        (f"redis://anna:{PASSWORD}@host:1?db=2", "names an instance of Redis twice"),
    ],
)
def test_invalid_lists_are_refused_before_any_connection(second: str, message: str) -> None:
    before = threading.active_count()
    with pytest.raises(SettingError, match=f"^relay: {message}") as found:
        create_relay(Settings(relay=f"redis://host:1,{second}"), Metrics(CollectorRegistry()), Health([SERVICE]))
    assert PASSWORD not in str(found.value)
    assert threading.active_count() == before
