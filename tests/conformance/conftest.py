"""Runs each test that has the fixture `table` for every game and number of players."""

import pytest
from tools.over import each
from tools.over import game as game

from .support import TABLE_NAMES, TABLES, Table


@pytest.fixture(params=each("table", TABLES), ids=TABLE_NAMES)
def table(request: pytest.FixtureRequest) -> Table:
    found: Table = request.param
    return found
