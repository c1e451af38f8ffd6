"""Tests of the rules in "Components and setup", "A turn" and "End": the longest possible games."""

import random
from typing import Any

import pytest

from chatiere.engine import Position

from .building import BIRD, DOGS_1, DOGS_2, GAME, STOP, card, deck_of

SLOW_DECK = deck_of({DOGS_1: 1})


def asks_again(position: Position, action: int) -> bool:
    """Return whether the same turn continues after an action."""
    return not position.child(action).is_chance_node()


def most_asked(position: Position, outcomes: list[int]) -> list[int]:
    """Return the cards with the most decisions: two decisions if two cats can move, and otherwise one."""
    found = []
    for outcome in outcomes:
        after = position.child(outcome)
        if not after.is_chance_node() and not after.is_terminal():
            two_cats = outcome >= card("two own", 1)
            if not two_cats or any(asks_again(after, action) for action in after.legal_actions()):
                found.append(outcome)
    return found


def play_long(options: dict[str, Any], seed: int) -> tuple[int, int]:
    """Count the decisions and chance events of a game with the most decisions possible, where dogs cards come last."""
    choices = random.Random(seed)
    position = GAME.new_game(2, options)
    decisions = chance_events = 0
    while not position.is_terminal():
        if position.is_chance_node():
            outcomes = [outcome for outcome, _ in position.chance_outcomes()]
            others = [outcome for outcome in outcomes if outcome > DOGS_2] if chance_events else outcomes
            asked = most_asked(position, others) if chance_events else others
            position.apply(choices.choice(asked or others or outcomes[:1]))
            chance_events += 1
        else:
            actions = position.legal_actions()
            going_on = [action for action in actions if asks_again(position, action)]
            position.apply(choices.choice(going_on or [action for action in actions if action != STOP]))
            decisions += 1
    return decisions, chance_events


@pytest.mark.rules("chat_perche", "Components and setup", "A turn", "End")
@pytest.mark.parametrize("options", [{}, {"dog_track": 1}, {"dog_track": 14}], ids=str)
def test_a_game_can_have_the_documented_length(options: dict[str, Any]) -> None:
    limits = GAME.limits(2, options)
    games = [play_long(options, seed) for seed in range(40)]
    assert {chance_events for _, chance_events in games} == {limits.max_chance_nodes_in_history}
    assert max(decisions for decisions, _ in games) == limits.max_game_length


@pytest.mark.rules("chat_perche", "Components and setup", "A turn", "End")
@pytest.mark.parametrize(
    "options",
    [
        *({"dog_track": track} for track in (8, 9, 40, 99)),
        *({"dog_track": track, "deck": SLOW_DECK} for track in (1, 2, 3, 99)),
        {"dog_track": 7, "deck": deck_of({DOGS_2: 3}), "first_seat": 1},
        {"dog_track": 98, "deck": [20, 6, *[0] * 39]},
        {"deck": deck_of({DOGS_1: 1, BIRD: 10})},
    ],
    ids=str,
)
def test_the_documented_number_of_cards_can_be_turned_up(options: dict[str, Any]) -> None:
    limits = GAME.limits(2, options)
    decisions, chance_events = play_long(options, 1)
    # A given first seat is not a chance event, and there is only one possible first card.
    assert chance_events == limits.max_chance_nodes_in_history
    assert decisions <= limits.max_game_length


@pytest.mark.rules("chat_perche", "Components and setup", "A turn", "End")
def test_the_limits_of_any_options_are_those_of_the_longest_game() -> None:
    """A long track and one dogs card in each deck give 2,599 turns. No card requires more than two decisions."""
    limits = GAME.limits_of_any_options(2)
    slowest = GAME.limits(2, {"dog_track": 99, "deck": SLOW_DECK})
    assert limits.max_chance_nodes_in_history == slowest.max_chance_nodes_in_history == 1 + 49 * 52 + 51
    two_cats = [1, *[0] * 40]
    two_cats[card("two own", 9)] = 25
    assert limits.max_game_length == GAME.limits(2, {"dog_track": 99, "deck": two_cats}).max_game_length
