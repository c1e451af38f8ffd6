"""A server shared by tests that do not change it, and its games."""

from collections.abc import Iterator
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import Game

from .support import GRPC_DOORS, Door, Running, SlowCall, running


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of what a client sees at each of the doors that their module names, unless they say which."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "door" in metafunc.fixturenames and not any(mark.args[0] == "door" for mark in marks):
        metafunc.parametrize("door", getattr(metafunc.module, "DOORS", GRPC_DOORS), indirect=True, scope="session")


@pytest.fixture(scope="session")
def door(request: pytest.FixtureRequest) -> Door:
    """The door that a server is called at: what a client sees is the same at all."""
    found: Door = request.param
    return found


@pytest.fixture(scope="session")
def server(door: Door) -> Iterator[Running]:
    with running(door=door) as server:
        yield server


@pytest.fixture
def stub(server: Running) -> Any:
    return server.stub


@pytest.fixture(params=engine.games(), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    found: Game = request.param
    return found


@pytest.fixture
def slow_call(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowCall]:
    call = SlowCall(monkeypatch)
    yield call
    call.released.set()
