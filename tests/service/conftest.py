"""A server for all tests that do not change it, and its games."""

from collections.abc import Iterator
from typing import Any

import pytest
from tools.over import each
from tools.over import game as game

from chatiere.engine import Game
from chatiere.v1 import batch_service_pb2 as pb

from .support import GRPC_DOORS, Door, Running, SlowCall, batch_stub, running


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test at all doors in its module's DOORS, unless the test chooses a door."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "door" in metafunc.fixturenames and not any(mark.args[0] == "door" for mark in marks):
        doors = each("door", getattr(metafunc.module, "DOORS", GRPC_DOORS))
        metafunc.parametrize("door", doors, indirect=True, scope="session")


@pytest.fixture(scope="session")
def door(request: pytest.FixtureRequest) -> Door:
    """Return the door at which a server is called. For clients, the behaviour is the same at all doors."""
    found: Door = request.param
    return found


@pytest.fixture(scope="session")
def server(door: Door) -> Iterator[Running]:
    with running(door=door) as server:
        yield server


@pytest.fixture
def stub(server: Running) -> Any:
    return server.stub


@pytest.fixture
def batches(server: Running) -> Any:
    return batch_stub(server.channel)


@pytest.fixture
def table(game: Game) -> pb.BatchSetup:
    return pb.BatchSetup(game=game.name, players=game.max_players)


@pytest.fixture
def slow_call(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowCall]:
    call = SlowCall(monkeypatch)
    yield call
    call.released.set()
