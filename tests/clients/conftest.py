"""A real server on a free port, and fake servers that misbehave."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tools.over import each

from chatiere.clients import AsyncClient, Client
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1 import batch_service_pb2, batch_service_pb2_grpc, game_service_pb2, game_service_pb2_grpc

Ask = Callable[..., Any]
Play = Callable[[Iterator[Any], grpc.ServicerContext], Iterator[batch_service_pb2.PlayResponse]]


class FakeServicer(game_service_pb2_grpc.GameServiceServicer):
    """A fake service. Its ListGames calls the test's function with the call's number, from 1 on, and its context."""

    def __init__(self, answer: Callable[[int, grpc.ServicerContext], None]) -> None:
        self.calls = 0
        self._answer = answer

    def ListGames(self, request: Any, context: grpc.ServicerContext) -> game_service_pb2.ListGamesResponse:
        self.calls += 1
        self._answer(self.calls, context)
        return game_service_pb2.ListGamesResponse()


class MakeFake(Protocol):
    def __call__(self, answer: Callable[[int, grpc.ServicerContext], None]) -> tuple[FakeServicer, str]: ...


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(grace=None).wait()


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address) as client:
        yield client


@pytest.fixture
def make_fake() -> Iterator[MakeFake]:
    """Return a function that starts a fake service and returns its servicer and address."""
    servers = []

    def make(answer: Callable[[int, grpc.ServicerContext], None]) -> tuple[FakeServicer, str]:
        server = grpc.server(ThreadPoolExecutor(1))
        servicer = FakeServicer(answer)
        game_service_pb2_grpc.add_GameServiceServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        servers.append(server)
        return servicer, f"127.0.0.1:{port}"

    yield make
    for server in servers:
        server.stop(grace=None).wait()


class FakeBatchServicer(batch_service_pb2_grpc.BatchServiceServicer):
    """A fake BatchService whose Step and Play call the test's functions, as FakeServicer does."""

    def __init__(self, step: Callable[[int, grpc.ServicerContext], None] | None, size: int, play: Play | None) -> None:
        self.calls = 0
        self._step = step
        self._size = size
        self._play = play

    def Step(self, request: Any, context: grpc.ServicerContext) -> batch_service_pb2.StepResponse:
        self.calls += 1
        assert self._step is not None
        self._step(self.calls, context)
        positions = batch_service_pb2.Positions(actors=b"\0", states=bytes(self._size))
        return batch_service_pb2.StepResponse(positions=positions)

    def Play(self, requests: Any, context: grpc.ServicerContext) -> Iterator[batch_service_pb2.PlayResponse]:
        self.calls += 1
        assert self._play is not None
        return self._play(requests, context)


class MakeFakeBatch(Protocol):
    def __call__(
        self,
        step: Callable[[int, grpc.ServicerContext], None] | None = None,
        *,
        size: int = 1,
        play: Play | None = None,
    ) -> tuple[FakeBatchServicer, str]: ...


@pytest.fixture
def make_fake_batch(address: str) -> Iterator[MakeFakeBatch]:
    """Return a function that, like make_fake, starts a fake BatchService together with the real GameService."""
    servers = []
    channel = grpc.insecure_channel(address)
    games = game_service_pb2_grpc.GameServiceStub(channel)

    class Forward(game_service_pb2_grpc.GameServiceServicer):
        def ListGames(self, request: Any, context: grpc.ServicerContext) -> Any:
            return games.ListGames(request)

        def NewGame(self, request: Any, context: grpc.ServicerContext) -> Any:
            return games.NewGame(request)

    def make(
        step: Callable[[int, grpc.ServicerContext], None] | None = None, *, size: int = 1, play: Play | None = None
    ) -> tuple[FakeBatchServicer, str]:
        server = grpc.server(ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", -1)])
        servicer = FakeBatchServicer(step, size, play)
        batch_service_pb2_grpc.add_BatchServiceServicer_to_server(servicer, server)
        game_service_pb2_grpc.add_GameServiceServicer_to_server(Forward(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        servers.append(server)
        return servicer, f"127.0.0.1:{port}"

    yield make
    for server in servers:
        server.stop(grace=None).wait()
    channel.close()


@pytest.fixture(params=each("ask_at", ["sync", "async"]))
def ask_at(request: pytest.FixtureRequest) -> Ask:
    """Return ask_at(address, method, …). It calls a method of the synchronous or of the asyncio client."""

    def ask_sync(address: str, method: str, *arguments: Any, **options: Any) -> Any:
        with Client(address) as client:
            return getattr(client, method)(*arguments, **options)

    async def ask_async(address: str, method: str, *arguments: Any, **options: Any) -> Any:
        async with AsyncClient(address) as client:
            return await getattr(client, method)(*arguments, **options)

    if request.param == "sync":
        return ask_sync
    return lambda *arguments, **options: asyncio.run(ask_async(*arguments, **options))


@pytest.fixture
def ask(ask_at: Ask, address: str) -> Ask:
    """Return ask(method, …). It calls a method of a client of the real server."""
    return lambda *arguments, **options: ask_at(address, *arguments, **options)
