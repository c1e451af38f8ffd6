"""Chatière's bots as OpenSpiel bots."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots
from tools.over import over_names

from chatiere import bots, engine
from chatiere.bots import hosting
from chatiere.engine import EngineError
from chatiere.envs.openspiel_bot import OpenSpielBot

SMALL = {"flat": "flat:playouts=8", "ismcts": "ismcts:simulations=8"}


@over_names
def test_every_bot_plays_in_openspiel(name: str) -> None:
    game = pyspiel.load_game(f"chatiere_{name}")
    for bot in bots.names(name):
        seated = [OpenSpielBot(game, SMALL.get(bot, bot)) for _ in range(game.num_players())]
        returns = evaluate_bots.evaluate_bots(game.new_initial_state(), seated, np.random.RandomState(1))
        assert sum(returns) == pytest.approx(0, abs=1e-6)
        assert max(returns) > 0 or not any(returns)


@over_names
def test_choices_equal_the_bots_choices_with_the_seats_information(name: str) -> None:
    game = pyspiel.load_game(f"chatiere_{name}")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    own = bots.get("ismcts:simulations=8", name, game.num_players())
    luck = int(hosting.luck(3, [1], [len(state.history())])[0])
    position = engine.game(name).new_game(game.num_players())
    for move in state.history():
        position.apply(move)
    expected = own.choose(hosting.decisions_at(position, own, luck))[0]
    made = OpenSpielBot(game, own, seed=3)
    made.restart()
    assert made.step(state) == expected
    drawn = state.resample_from_infostate(state.current_player(), lambda: 0.5)
    random = OpenSpielBot(game, "random")
    assert random.step(drawn) in drawn.legal_actions()


def test_games_differ_after_a_restart() -> None:
    game = pyspiel.load_game("chatiere_discat")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    bot = OpenSpielBot(game, "random")
    found = set()
    for _ in range(20):
        bot.restart_at(state)
        found.add(bot.step(state))
    assert len(found) > 1


def test_chance_nodes_and_unknown_names_are_refused() -> None:
    game = pyspiel.load_game("chatiere_discat")
    state = game.new_initial_state()
    assert state.is_chance_node()
    with pytest.raises(EngineError, match="chance"):
        OpenSpielBot(game, "random").step(state)
    with pytest.raises(ValueError, match="unknown bot 'cheater' for discat"):
        OpenSpielBot(game, "cheater")
