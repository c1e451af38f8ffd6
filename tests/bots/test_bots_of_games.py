"""The games' own bots."""

import numpy as np
import pytest

from chatiere import bots
from chatiere.bots.games import GAME_BOTS

from .support import All, Host


@pytest.mark.parametrize("game", sorted(GAME_BOTS))
def test_the_own_bot_chooses_the_likeliest_action_of_the_playout_policy(game: str) -> None:
    (name,) = GAME_BOTS[game]
    players = 2 if game in {"chat_cartonne", "chat_perche", "discat"} else 3
    host = Host(game, players, 4, seed=5)
    bot = bots.get(name, game, players)
    compared = 0
    while len(host.positions.actors):
        rows = np.arange(len(host.positions.actors))
        decisions = host.decisions(bot, rows)
        drawn = decisions.worlds(rows, GAME_BOTS[game][name].world_count)
        for row, action in zip(rows, bot.choose(decisions).tolist(), strict=True):
            worlds = [host.table.game.unpack(world.tobytes()) for world in drawn[row]]
            legal = worlds[0].legal_actions()
            found = np.array([world.action_likelihoods() for world in worlds])
            likely = (found / found.sum(axis=1, keepdims=True)).mean(axis=0)
            # The bot's probabilities are whole multiples of 2**-16.
            assert likely[legal.index(action)] >= likely.max() - 2**-15
            compared += len(set(likely)) > 1
        host.step(host.choose(All(), rows))
    assert compared > 20
