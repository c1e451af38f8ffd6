"""Tests of the rules in "Components and setup" and "A trick": the length of a game."""

import random

import pytest
from tools.over import over

from .building import GAME


@pytest.mark.rules("chatpentiers", "Components and setup", "A trick")
@over("players", [3, 4, 5])
def test_every_game_has_the_documented_length(players: int) -> None:
    choices = random.Random(players)
    for _ in range(3):
        position = GAME.new_game(players)
        decisions = chance_events = 0
        while not position.is_terminal():
            if position.is_chance_node():
                position.apply(choices.choice(position.chance_outcomes())[0])
                chance_events += 1
            else:
                position.apply(choices.choice(position.legal_actions()))
                decisions += 1
        limits = GAME.limits(players)
        assert (decisions, chance_events) == (limits.max_game_length, limits.max_chance_nodes_in_history)
