"""A server shared by tests that do not change it, and its games."""

from collections.abc import Iterator
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import Game

from .support import Running, SlowCall, running


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    with running() as server:
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
