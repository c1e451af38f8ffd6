"""Rooms in memory and in Redis, which are the same to who uses them."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chatiere.service.tables.keys import Keyring

from .redis_server import RedisServer, needs_redis, redis_server
from .support import Rooms

MakeRooms = Callable[..., Rooms]


@pytest.fixture(scope="session")
def _redis() -> Iterator[RedisServer]:
    # A socket's path has a hundred characters at the most.
    folder = Path(tempfile.mkdtemp(prefix="redis"))
    try:
        with redis_server(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def redis(_redis: RedisServer) -> RedisServer:
    """Return a Redis that has nothing."""
    _redis.client.flushall()
    return _redis


@pytest.fixture(params=["memory", pytest.param("redis", marks=[needs_redis, pytest.mark.long])])
def make_rooms(request: pytest.FixtureRequest) -> Iterator[MakeRooms]:
    """Return what makes a service with rooms, which several share if they are in Redis."""
    made: list[Rooms] = []

    def make(keys: Keyring | None = None, **settings: Any) -> Rooms:
        relay = "memory" if request.param == "memory" else request.getfixturevalue("redis").address
        made.append(Rooms(keys, relay, **settings))
        return made[-1]

    yield make
    for rooms in made:
        rooms.relay.close()
