"""Tests of the rules in "Components and setup", "A turn" and "End": the longest possible games."""

import random
from collections import defaultdict

import pytest
from tools.over import over

from ..building import state_of
from .building import GAME

pytestmark = pytest.mark.rules("chat_cartonne", "Components and setup", "A turn", "End")

PRINCESS = 75


def kinds_of(actions: list[int]) -> dict[str, list[int]]:
    """Return actions grouped by the names of their kinds."""
    found = defaultdict(list)
    for action in actions:
        found[next(kind.name for kind in GAME.description.action_kinds if action <= kind.last_id)].append(action)
    return found


def play_long(players: int, seed: int) -> tuple[int, int]:
    """Count the decisions and chance events of a game where cats sleep late and a cat can follow each carton."""
    choices = random.Random(seed)
    position = GAME.new_game(players)
    decisions = chance_events = 0
    while not position.is_terminal():
        if position.is_chance_node():
            position.apply(choices.choice(position.chance_outcomes())[0])
            chance_events += 1
            continue
        decisions += 1
        kinds = kinds_of(position.legal_actions())
        state = state_of(position)
        seat = state.seats[position.current_player()]
        sleeps_now = seat.supply > 1 and (state.final_phase or PRINCESS in seat.hand_cards)
        for kind in ("skip", "choose_start", "princess_on_joint", "princess_in_cell", "sleep", "draw"):
            if kinds[kind] and (kind != "sleep" or sleeps_now):
                position.apply(choices.choice(kinds[kind]))
                break
        else:
            plays = [*kinds["place_carton"], *kinds["toy_as_carton"], *kinds["toy_on_joint"], *kinds["sleep"]]
            choices.shuffle(plays)
            followed = (play for play in plays if kinds_of(position.child(play).legal_actions())["skip"])
            position.apply(next(followed, plays[0]))
    return decisions, chance_events


@over("players", [2, 3, 4, 5])
def test_games_nearly_reach_the_documented_length(players: int) -> None:
    limits = GAME.limits(players)
    games = [play_long(players, seed) for seed in range(3)]
    assert {chance_events for _, chance_events in games} == {limits.max_chance_nodes_in_history}
    assert 0.9 * limits.max_game_length < max(decisions for decisions, _ in games) <= limits.max_game_length


@over("players", [2, 3, 4, 5])
def test_limits_are_higher_with_variants_that_lengthen_games(players: int) -> None:
    plain = GAME.limits(players)
    for variant in ("no_crowd_bonus", "half_sleepers"):
        assert GAME.limits(players, {variant: True}) == plain
    princesses = GAME.limits(players, {"all_princesses": True})
    assert princesses.max_chance_nodes_in_history == plain.max_chance_nodes_in_history + 5 - players
    assert GAME.limits(players, {"no_double_walls": True}).max_game_length > plain.max_game_length
