"""Live games continue after the Redis that keeps their rooms was killed, and restarted without data."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from service.process import served
from service.rooms.redis_server import RedisServer, redis_server
from tools.needs import needs

from .live import await_actor, await_ply, await_table, come, deal, opened_room, play
from .person import Person

pytestmark = pytest.mark.long

UNAVAILABLE = 503


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    # The path of a socket must be shorter than about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="redis"))
    with redis_server(folder) as server:
        yield server
    shutil.rmtree(folder)


@needs("Redis")
def test_a_redis_restarted_empty_gets_the_room_again(chromium: Browser, redis: RedisServer) -> None:
    with (
        served("--relay", redis.address, "--workers", "2", door="web") as server,
        Person(chromium, server.address) as host,
        Person(chromium, server.address) as guest,
    ):
        people = [host, guest]
        link = opened_room(host, "discat", 2)
        come(guest, link, "Ben")
        deal(host, 2)
        await_table(*people)
        play(people, 3)
        actor = await_actor(people)
        assert actor
        before = actor.ply
        redis.kill()
        # A move that cannot be posted now appears once the room is available.
        actor.move()
        assert actor.ply > before
        redis.start()
        for person in people:
            await_ply(person, actor.ply)
        play(people)
        assert redis.client.keys()
        for person in people:
            expect(person.page.locator(".notice.end h2")).to_be_visible()
            # Calls were refused in the meantime, and only for this reason.
            assert all(refused.status == UNAVAILABLE for refused in person.refused)
            person.refused.clear()
            person.errors.clear()
        assert host.tables() == guest.tables()
