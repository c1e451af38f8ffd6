"""Load balancing by one client over several servers."""

import asyncio
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from grpc_health.v1 import health_pb2

from chatiere.clients import AsyncClient, Client
from chatiere.service.ports.methods import GAME_SERVICE
from chatiere.v1.game_pb2 import Include

from .process import Served, served, wait_until
from .support import PATIENCE, Running, running

pytestmark = pytest.mark.long

INCLUDE = Include(legal_actions=True)
CALLERS = 4


@pytest.fixture
def three() -> Iterator[list[Served]]:
    """Run three servers, as if on three machines."""
    with ExitStack() as stack:
        servers = [stack.enter_context(served()) for _ in range(3)]
        assert all(server.address for server in servers)
        yield servers


def kill(server: Served) -> None:
    """Kill all of the server's processes, as if its machine lost power."""
    left = server.metrics_directory()
    os.kill(server.worker_pid(0), signal.SIGKILL)
    server.process.kill()
    shutil.rmtree(left, ignore_errors=True)


def test_no_call_is_lost_when_servers_are_killed_or_stopped(three: list[Served]) -> None:
    addresses = [server.address for server in three]
    made = threading.Semaphore(0)
    over = threading.Event()

    def play(number: int) -> int:
        """Play until the test ends, and check every response. Return the number of calls."""
        calls = 0
        with Client(addresses, timeout=PATIENCE) as client:
            while not over.is_set():
                position = client.new_game("discat", 2, seed=number, include=INCLUDE)
                seen = []
                while position.legal_actions and not over.is_set():
                    position = client.apply(position.state, position.legal_actions[-1], include=INCLUDE)
                    seen.append(position.SerializeToString(deterministic=True))
                    calls += 1
                    made.release()
                known = games.setdefault(number, seen)
                assert all(one == other for one, other in zip(seen, known, strict=False))
        return calls

    games: dict[int, list[bytes]] = {}
    with ThreadPoolExecutor(CALLERS) as pool:
        players = [pool.submit(play, number) for number in range(CALLERS)]
        try:
            disasters: list[Callable[[], object]] = [
                lambda: kill(three[0]),
                lambda: three[1].process.send_signal(signal.SIGTERM),
                lambda: None,
            ]
            for disaster in disasters:
                for _ in range(200):
                    assert made.acquire(timeout=PATIENCE), "calls are made"
                disaster()
            assert three[1].process.wait(PATIENCE) == 0
        finally:
            over.set()
        assert all(player.result(PATIENCE) for player in players)
    assert three[2].total("chatiere_moves_applied_total") > 0


async def test_the_asyncio_client_loses_no_call_when_a_server_is_killed(three: list[Served]) -> None:
    async with AsyncClient([server.address for server in three], timeout=PATIENCE) as client:

        async def ask(number: int) -> int:
            position = await client.new_game("discat", 2, seed=number)
            return int(position.state.stream.seed)

        for round_number in range(3):
            calls = [asyncio.create_task(ask(number)) for number in range(100)]
            if round_number == 1:
                await asyncio.sleep(0)
                kill(three[0])
            assert await asyncio.gather(*calls) == list(range(100))


# Two servers in one process


@pytest.fixture
def two() -> Iterator[tuple[Running, Running]]:
    with running() as first, running() as second:
        yield first, second


def calls_of(server: Running) -> float:
    labels = {"grpc_type": "unary", "grpc_service": GAME_SERVICE, "grpc_method": "ListGames"}
    return server.sample("grpc_server_started_total", **labels)


def set_health(server: Running, status: Any) -> None:
    server.server._health.set(GAME_SERVICE, status)


def test_calls_go_to_healthy_servers_in_turn(two: tuple[Running, Running]) -> None:
    first, second = two
    with Client([first.address, second.address]) as client:

        def both_are_asked() -> bool:
            client.list_games()
            return calls_of(first) > 0 and calls_of(second) > 0

        wait_until(both_are_asked, "both servers are asked")
        before = calls_of(first), calls_of(second)
        for _ in range(20):
            client.list_games()
        assert (calls_of(first), calls_of(second)) == (before[0] + 10, before[1] + 10)

        set_health(first, health_pb2.HealthCheckResponse.NOT_SERVING)

        def first_is_left_out() -> bool:
            before = calls_of(first)
            for _ in range(10):
                client.list_games()
            return calls_of(first) == before

        wait_until(first_is_left_out, "the unhealthy server is no longer asked")
        set_health(first, health_pb2.HealthCheckResponse.SERVING)
        wait_until(lambda: not first_is_left_out(), "the server is asked again")


@pytest.mark.parametrize(
    "servers", [[], ["localhost:1"], ["127.0.0.1"], ["127.0.0.1:1", "[::1]:1"], ["127.0.0.1:http"]]
)
def test_addresses_that_cannot_be_used_together_are_refused(servers: list[str]) -> None:
    with pytest.raises(ValueError, match=r"^several servers must "):
        Client(servers)


def test_a_name_is_resolved(two: tuple[Running, Running]) -> None:
    first, _ = two
    with Client(f"dns:///{first.address.replace('127.0.0.1', 'localhost')}") as client:
        assert client.list_games()
