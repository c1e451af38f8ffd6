"""Decorators for tests that check one promise for each game, door, number of players, sample game and the like.

`make test` runs one test of the product of all such parameters, and `make test-all` runs the rest (see
`tests/conftest.py`). The chosen test can run on this machine: a value that needs a program has the mark `needs` of
`tools/needs.py`. Both run all values of `pytest.mark.parametrize`, which is for boundary values, wrong inputs and
cases.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import Game

NAMES = [game.name for game in engine.games()]
TABLES = [(game.name, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]

_Parameter = type(pytest.param())


def each(arguments: str | tuple[str, ...], values: Iterable[Any]) -> list[Any]:
    """Return the values of a product for the `params` of a fixture, or for `metafunc.parametrize`.

    `arguments` names the fixture or the test's arguments. `values` have the form that `pytest.mark.parametrize`
    accepts.
    """
    names = (arguments,) if isinstance(arguments, str) else arguments
    mark = pytest.mark.over(*names)
    repeated = []
    for value in values:
        if not isinstance(value, _Parameter):
            value = pytest.param(*(value if len(names) > 1 else (value,)))
        repeated.append(pytest.param(*value.values, marks=(*value.marks, mark), id=value.id))
    return repeated


def over(arguments: str | tuple[str, ...], values: Iterable[Any], **options: Any) -> pytest.MarkDecorator:
    """Return a decorator that repeats a test for each of the values. The options are for `pytest.mark.parametrize`."""
    return pytest.mark.parametrize(arguments, each(arguments, values), **options)


over_games = over("game", engine.games(), ids=lambda game: game.name)
"""Repeat a test for all games: `game: Game`."""

over_names = over("name", NAMES)
"""Repeat a test for the names of all games: `name: str`."""

over_tables = over(("name", "players"), TABLES)
"""Repeat a test for all games and their numbers of players: `name: str, players: int`."""


@pytest.fixture(params=each("game", engine.games()), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    """Repeat a test for all games. A conftest imports this fixture for the tests in its folder."""
    found: Game = request.param
    return found
