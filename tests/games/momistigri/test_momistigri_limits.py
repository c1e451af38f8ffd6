"""Tests of the rules in "A turn", "Effects of a pair of one value" and "End of a round": the longest games."""

import random
from typing import NamedTuple

import pytest
from tools.over import over

from chatiere.engine import Position

from ..building import state_of
from .building import GAME

KINDS = {kind.name: kind for kind in GAME.description.action_kinds}
PASS, STOP = KINDS["pass_turn"].first_id, KINDS["stop"].first_id
PAIRS = [(low, high) for high in range(46) for low in range(high + 1)]


def value(card: int) -> int:
    """Return a card's value."""
    return 10 if card == 45 else card % 9 + 1


def lateness(action: int, wanted: list[int]) -> int:
    """Rank an action by the place of its card's value among the wanted values, in reverse if it gives up cards."""
    for name, kind in KINDS.items():
        if kind.first_id <= action <= kind.last_id and name in ("give", "hand_out", "swap_in", "swap_out", "name_card"):
            of_card = value((action - kind.first_id) % 46)
            # The 5s come first, because they return all other cards.
            place = 0 if of_card == 5 else 1 + wanted.index(of_card) if of_card in wanted else 1 + len(wanted)
            return -place if name == "swap_out" else place
    return int(action == KINDS["reverse"].first_id)


def pair_or_pass(position: Position, wanted: list[int]) -> int:
    """Choose a pair of a wanted value. Otherwise pass, unless this would end the round; then choose any pair."""
    actions = position.legal_actions()
    pairs = {action: PAIRS[action] for action in actions if action < PASS}
    of_one_value = {value(low): action for action, (low, high) in pairs.items() if value(low) == value(high)}
    for each in wanted:
        if each in of_one_value:
            return of_one_value[each]
    if STOP in actions:
        return STOP
    seats = state_of(position).seats
    others = [seat for number, seat in enumerate(seats) if number != position.current_player() and seat.in_round]
    if not all(seat.pass_mark for seat in others):
        return PASS
    spared = [action for action, (low, high) in pairs.items() if not {value(low), value(high)} & set(wanted)]
    return next(iter([*spared, *pairs, PASS]))


class Played(NamedTuple):
    """Counts of a finished game."""

    rounds: int
    turns_of_last: int
    decisions: int
    chance_events: int


def play_long(players: int, seed: int, wanted: list[int]) -> Played:
    """Play a game in which pairs of the wanted values are discarded, and their cards are brought back."""
    choices = random.Random(seed)
    position = GAME.new_game(players)
    decisions = chance_events = 0
    while not position.is_terminal():
        if position.is_chance_node():
            outcomes = [outcome for outcome, _ in position.chance_outcomes()]
            position.apply(choices.choice([card for card in outcomes if value(card) in wanted] or outcomes))
            chance_events += 1
        else:
            actions = position.legal_actions()
            if PASS in actions or STOP in actions:
                position.apply(pair_or_pass(position, wanted))
            else:
                position.apply(min(actions, key=lambda action: (lateness(action, wanted), choices.random())))
            decisions += 1
    state = state_of(position)
    return Played(state.round, state.turn, decisions, chance_events)


@pytest.mark.rules("momistigri", "End of a round", "End of the game")
@over("players", [3, 4, 5])
def test_rounds_nearly_reach_the_documented_length(players: int) -> None:
    limits = GAME.limits(players)
    games = [play_long(players, seed, [6, 5, 3]) for seed in range(8)]
    assert max(played.turns_of_last for played in games) == 200
    assert max(played.decisions for played in games) <= limits.max_game_length
    # The limit is for three rounds, but a third round needs a tie, so compare the decisions of one round.
    assert max(played.decisions / played.rounds for played in games) > 0.6 * limits.max_game_length / 3


@pytest.mark.rules("momistigri", "End of a round", "End of the game")
@over("players", [3, 4, 5])
def test_draws_of_several_cards_stay_within_the_documented_limit(players: int) -> None:
    limits = GAME.limits(players)
    games = [play_long(players, seed, [8, 7, 5]) for seed in range(8)]
    assert max(played.decisions for played in games) <= limits.max_game_length
    assert max(played.chance_events for played in games) <= limits.max_chance_nodes_in_history
    # The count exceeds the number of chance events in the deal and in one draw per turn.
    assert max(played.chance_events / played.rounds for played in games) > 9 * players + 1 + 200


@pytest.mark.rules("momistigri", "End of a round", "End of the game")
def test_the_largest_number_of_outcomes_is_the_number_of_kinds() -> None:
    usual = [GAME.limits(players).max_chance_outcomes for players in (3, 4, 5)]
    assert usual == [25, 31, 36]
    assert [GAME.limits_of_any_options(players).max_chance_outcomes for players in (3, 4, 5)] == usual
    # All cards of one colour.
    copies = [*range(9, 0, -1), *[0] * 36]
    assert [GAME.limits(players, {"copies": copies}).max_chance_outcomes for players in (3, 4, 5)] == [7, 9, 10]
