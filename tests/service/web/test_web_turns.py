"""Turns at the door for browsers: each address gets its share of the time, and so does all else in the loop."""

import asyncio
from collections.abc import Callable

from chatiere.service.ports.web.connection import Connection
from chatiere.service.ports.web.turns import SHARE, Turns

from .played import Played, played
from .test_web_connection import GET


class Clock:
    """A clock that only work moves."""

    def __init__(self) -> None:
        self.time = 0.0
        self.turns = Turns(lambda: self.time)
        self.done: list[str] = []

    def work(self, name: str, seconds: float = 0.0) -> Callable[[], None]:
        def do() -> None:
            self.done.append(name)
            self.time += seconds

        return do

    def take(self, origin: str, seconds: float = 0.0) -> None:
        self.turns.take(origin, self.work(origin, seconds))


def test_addresses_take_turns_however_much_each_has_to_do() -> None:
    async def check() -> None:
        clock = Clock()
        for origin in "aaaabbc":
            clock.take(origin)
        assert clock.done == []
        await asyncio.sleep(0)
        assert "".join(clock.done) == "abcabaa"

    played(check)


def test_after_its_share_of_a_turn_all_else_goes_on() -> None:
    async def check() -> None:
        clock = Clock()
        for origin in "aaab":
            clock.take(origin, SHARE)
        for expected in ("a", "ab", "aba", "abaa"):
            await asyncio.sleep(0)
            assert "".join(clock.done) == expected
            assert not clock.turns.has_time
        await asyncio.sleep(0)
        assert clock.turns.has_time

    played(check)


def test_there_is_time_until_the_share_is_used_up_and_again_in_the_next_turn() -> None:
    async def check() -> None:
        clock = Clock()
        assert clock.turns.has_time
        clock.time += SHARE / 2
        assert clock.turns.has_time
        clock.time += SHARE / 2
        assert not clock.turns.has_time
        await asyncio.sleep(0)
        assert clock.turns.has_time
        # Whoever comes later does not go before those who wait.
        clock.take("a")
        assert not clock.turns.has_time

    played(check)


def test_a_request_that_awaits_its_turn_is_read_then() -> None:
    async def check() -> None:
        clock = Clock()
        connection = Played()
        connection.state.turns = clock.turns
        clock.take("another", SHARE)
        connection.connection.data_received(GET)
        assert connection.transport.is_paused
        assert connection.served == []
        await asyncio.sleep(0)
        assert clock.done == ["another"]
        assert connection.served == []
        await asyncio.sleep(0)
        assert not connection.transport.is_paused
        assert len(connection.served) == 1

    played(check)


def test_a_connection_that_ends_before_its_turn_is_not_read() -> None:
    async def check() -> None:
        clock = Clock()
        connection = Played()
        connection.state.turns = clock.turns
        clock.take("another")
        connection.connection.data_received(GET)
        connection.transport.abort()
        connection.connection.connection_lost(None)
        await asyncio.sleep(0)
        assert connection.served == []
        assert connection.state.connections == set[Connection]()

    played(check)


def test_a_connection_whose_request_cannot_be_served_in_its_turn_ends() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of the service")

    async def check() -> None:
        failures: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        clock = Clock()
        connection = Played(fail)
        connection.state.turns = clock.turns
        clock.take("another")
        connection.connection.data_received(GET)
        clock.take("another")
        await asyncio.sleep(0)
        assert connection.transport.is_aborted
        assert len(failures) == 1
        # Those behind it have their turns.
        await asyncio.sleep(0)
        assert clock.done == ["another"] * 2

    played(check)


def test_refused_requests_are_read_no_faster_for_having_waited() -> None:
    def refuse(connection: Connection, *_: object) -> None:
        connection.respond(400, [])

    async def check() -> None:
        clock = Clock()
        connection = Played(refuse)
        connection.state.turns = clock.turns
        await connection.receive(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n")
        clock.take("another")
        connection.connection.data_received(bytes(1000))
        await asyncio.sleep(0)
        assert connection.transport.is_paused

    played(check)
