"""The tests of the engine's core ask for `game`: each of them runs with every game that there is."""

import pytest

from chatiere import engine
from chatiere.engine import Game


@pytest.fixture(params=engine.games(), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    return request.param
