"""Turns at the web door: each address gets a share of the time, and so do all other tasks of the loop."""

import asyncio
from collections.abc import Callable

from chatiere.service.exchange.turns import SHARE, Turns
from chatiere.service.ports.web.connection import Connection, Request

from .played import Echo, Played, played
from .test_web_connection import GET


class Clock:
    """A clock. Its time passes only when work is done."""

    def __init__(self) -> None:
        self.time = 0.0
        self.turns = Turns(asyncio.get_running_loop().call_soon, lambda: self.time)
        self.done: list[str] = []

    def work(self, name: str, seconds: float = 0.0) -> Callable[[], None]:
        def do() -> None:
            self.done.append(name)
            self.time += seconds

        return do

    def take(self, origin: str, seconds: float = 0.0) -> None:
        self.turns.take(origin, self.work(origin, seconds))


def test_addresses_take_turns_with_any_amount_of_work() -> None:
    async def check() -> None:
        clock = Clock()
        for origin in "aaaabbc":
            clock.take(origin)
        assert clock.done == []
        await asyncio.sleep(0)
        assert "".join(clock.done) == "abcabaa"

    played(check)


def test_other_tasks_run_after_the_share_of_a_turn() -> None:
    async def check() -> None:
        clock = Clock()
        for origin in "aaab":
            clock.take(origin, SHARE)
        for expected in ("a", "ab", "aba", "abaa"):
            await asyncio.sleep(0)
            assert "".join(clock.done) == expected

    played(check)


def test_requests_are_read_immediately_until_the_share_of_a_turn_is_used_up() -> None:
    async def check() -> None:
        clock = Clock()

        def serve(connection: Connection, request: Request, body: bytes) -> Echo:
            clock.time += SHARE / 2
            return Echo(connection, request, body)

        connections = [Played(serve) for _ in range(3)]
        for each in connections:
            each.state.turns = clock.turns
            each.connection.data_received(GET)
        assert [len(each.served) for each in connections] == [1, 1, 0]
        await asyncio.sleep(0)
        assert [len(each.served) for each in connections] == [1, 1, 1]

    played(check)


def test_a_waiting_request_is_read_at_its_turn() -> None:
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
        # The next connections have their turns.
        await asyncio.sleep(0)
        assert clock.done == ["another"] * 2

    played(check)


def test_refused_requests_are_not_read_faster_after_a_wait() -> None:
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
