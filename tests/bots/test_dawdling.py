"""The search does not miss sure wins."""

from itertools import islice

import numpy as np
import pytest
from tools.over import over

from bots.dawdling import found, missed
from bots.test_search import decisions_of, run, tree
from chatiere import engine
from chatiere.bots import hosting, ismcts
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.search import SearchColumns, sure_win
from chatiere.engine import Game

# In Chat perché, chance decides when the game ends.
GAMES = [pytest.param(game, id=game.name) for game in engine.games() if game.name != "chat_perche"]


@over("game", GAMES)
def test_a_sure_win_is_taken(game: Game) -> None:
    misses, positions = missed(game, "ismcts:simulations=1000", 20)
    assert positions == 20
    assert misses == 0


@over("game", GAMES)
def test_only_an_immediate_win_has_the_value_of_a_sure_win(game: Game) -> None:
    positions, wins = zip(*islice(found(game), 6), strict=True)
    for number, winning in enumerate(wins):
        mine = tree(run(positions, 1000), number)
        best = sure_win(game.min_players)
        assert all(value == best for action, (visits, value) in mine.items() if action in winning and visits)
        ends = {action for action in mine if positions[number].child(action).is_terminal()}
        assert {action for action, (_, value) in mine.items() if value == best} <= ends
        assert np.nanmax([value for _, value in mine.values()]) == best


def test_a_sure_win_is_taken_even_with_few_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    position = next(p for p in decisions_of(engine.game("discat"), 2, 3) if len(p.legal_actions()) == 4)
    actions = np.array(position.legal_actions(), np.uint16)
    bot = IsmctsBot(simulations=100)
    decisions = hosting.decisions_at(position, bot, 1)

    def choice(*values: float) -> int:
        visits = np.array([90, 3, 5, 2], np.uint32)
        columns = SearchColumns(np.array([0, 4], np.uint32), actions, visits, np.array(values), np.zeros(1, np.uint64))
        monkeypatch.setattr(ismcts, "search", lambda *arguments, **options: columns)
        (chosen,) = bot.choose(decisions).tolist()
        place: int = actions.tolist().index(chosen)
        return place

    win = sure_win(2)
    assert choice(0.9, 0.9, 0.9, 0.9) == 0
    assert choice(0.9, 0.9, 0.9, win) == 3
    assert choice(0.9, win, win, win) == 2
    assert choice(0.9, win - 1e-9, 0.9, 0.9) == 0
