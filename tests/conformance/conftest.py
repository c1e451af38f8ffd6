"""Run each test of the battery that takes a `table` for every game and every number of players."""

import pytest

from chatiere import engine
from chatiere.engine import Game

from .support import TABLE_NAMES, TABLES, Table


@pytest.fixture(params=TABLES, ids=TABLE_NAMES)
def table(request: pytest.FixtureRequest) -> Table:
    found: Table = request.param
    return found


@pytest.fixture(params=engine.games(), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    found: Game = request.param
    return found
