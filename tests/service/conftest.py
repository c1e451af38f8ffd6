"""A server shared by tests that do not change it, and its games."""

from collections.abc import Iterator
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import Game

from .support import Door, Running, SlowCall, needs_fast_door, running


@pytest.fixture(scope="session", params=["grpcio", pytest.param("fast", marks=needs_fast_door)])
def door(request: pytest.FixtureRequest) -> Door:
    """The door that a server is called at: what a client sees is the same at both."""
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
