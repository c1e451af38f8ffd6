"""Run each test of the engine's core that takes a `game` with every game."""

import pytest

from chatiere import engine
from chatiere.engine import Game


@pytest.fixture(params=engine.games(), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    found: Game = request.param
    return found
