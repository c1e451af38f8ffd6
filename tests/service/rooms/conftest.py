"""Rooms in memory and in Redis. Both behave in the same way."""

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tables.support import Host, begun, played
from tools.needs import needs

from chatiere import engine
from chatiere.service.tables.keys import Keyring

from .redis_server import RedisServer, redis_server
from .support import Rooms

MakeRooms = Callable[..., Rooms]


@pytest.fixture(scope="module")
def host() -> Host:
    return Host()


@pytest.fixture(scope="module")
def plies(host: Host) -> list[bytes]:
    """Return the tables of a game of Discat for two, from ply 0 on."""
    table, secrets = begun(host, engine.game("discat"), 2)
    return list(islice(played(host, table, secrets, random.Random(1)), 8))


@pytest.fixture(scope="session")
def _redis() -> Iterator[RedisServer]:
    # The path of a socket must be shorter than about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="redis"))
    try:
        with redis_server(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def redis(_redis: RedisServer) -> RedisServer:
    """Return an empty Redis."""
    _redis.client.flushall()
    return _redis


@pytest.fixture(params=["memory", pytest.param("redis", marks=[needs("Redis"), pytest.mark.long])])
def make_rooms(request: pytest.FixtureRequest) -> Iterator[MakeRooms]:
    """Return a function that creates a service with rooms. If the rooms are in Redis, all these services share them."""
    made: list[Rooms] = []

    def make(keys: Keyring | None = None, **settings: Any) -> Rooms:
        relay = "memory" if request.param == "memory" else request.getfixturevalue("redis").address
        made.append(Rooms(keys, relay, **settings))
        if relay != "memory":
            made[-1].sharing = made
        return made[-1]

    yield make
    for rooms in made:
        rooms.relay.close()
