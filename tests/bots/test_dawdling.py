"""A search takes a win that is sure and at hand."""

from itertools import islice

import numpy as np
import pytest

from bots.dawdling import found, missed
from bots.test_search import run, tree
from chatiere import engine
from chatiere.bots.search import sure_win
from chatiere.engine import Game

# In Chat perché chance decides when the game ends.
GAMES = [pytest.param(game, id=game.name) for game in engine.games() if game.name != "chat_perche"]


@pytest.mark.parametrize("game", GAMES)
def test_a_sure_win_is_taken(game: Game) -> None:
    misses, positions = missed(game, "ismcts:simulations=1000", 20)
    assert positions == 20
    assert misses == 0


@pytest.mark.parametrize("game", GAMES)
def test_only_a_win_at_once_has_the_value_of_one(game: Game) -> None:
    positions, wins = zip(*islice(found(game), 6), strict=True)
    for number, winning in enumerate(wins):
        mine = tree(run(positions, 1000), number)
        best = sure_win(game.min_players)
        assert all(value == best for action, (visits, value) in mine.items() if action in winning and visits)
        ends = {action for action in mine if positions[number].child(action).is_terminal()}
        assert {action for action, (_, value) in mine.items() if value == best} <= ends
        assert np.nanmax([value for _, value in mine.values()]) == best
