"""Games of TextArena: every game at its smallest and largest number of players, as the engine plays it."""

import random
import re

import numpy as np
import textarena as ta

import chatiere.envs.textarena  # noqa: F401
from chatiere import engine
from chatiere.text import read_action

for game in engine.games():
    for players in (game.min_players, game.max_players):
        env = ta.make(f"chatiere/{game.name}-v{game.rules_version}", rules="The rules.", attempts=2)
        luck = random.Random(players)
        env.reset(num_players=players, seed=7)
        position = game.new_game(players, seed=7)
        is_over, rewards, turns = False, {}, dict.fromkeys(range(players), 0)
        while not is_over:
            seat, told = env.get_observation()
            assert seat == position.current_player()
            assert told.startswith(
                f"\n[GAME] The rules.\n\nYou are Player {seat} in a game of {game.description.title}."
            )
            assert f"You are seat {seat}." in told
            assert all(f"You are seat {each}." not in told for each in range(players) if each != seat)
            if luck.random() < 0.1:
                # The next text is a legal action.
                assert env.step("meow")[0] is False
                assert "attempted an invalid move. Reason: 'meow' names no legal action" in env.get_observation()[1]
                assert env.state.current_player_id == seat
            action = str(luck.randint(1, len(position.legal_actions())))
            position.apply(read_action(action, position))
            is_over, _ = env.step(f"I choose it.\nMove: {action}")
            turns[seat] += 1
        rewards, info = env.close()
        assert np.allclose([rewards[seat] for seat in range(players)], position.returns())
        assert all(re.match("The game is over: .", each["reason"]) for each in info.values())
        assert {seat: each["turn_count"] for seat, each in info.items()} == turns

env = ta.make("chatiere/momistigri-v1-raw", attempts=2)
# Without a seed, each game is different.
starts = set()
for _ in range(2):
    env.reset(num_players=4)
    starts.add(str(env.get_observation()))
assert len(starts) == 2
assert not env.step("meow")[0]
loser = env.state.current_player_id
assert env.step("meow")[0]
rewards, info = env.close()
assert rewards == {seat: -1 if seat == loser else 1 / 3 for seat in range(4)}
assert info[loser]["invalid_move"]
assert info[loser]["reason"] == f"Player {loser} has lost by 2 unclear actions."
