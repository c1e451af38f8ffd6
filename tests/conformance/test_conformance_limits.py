"""The length of games, chance events and returns stay within the limits that each game declares."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from chatiere.engine import EngineError, Game, Position, Reason

from .support import Table, random_move, random_options

Policy = Callable[[Position, random.Random], int]


class Played(NamedTuple):
    """Counts of a finished game."""

    decisions: int
    chance_events: int
    most_outcomes: int
    last: Position


def play(position: Position, policy: Policy, choices: random.Random) -> Played:
    """Play to the end, with explicit chance."""
    decisions = chance_events = most_outcomes = 0
    while not position.is_terminal():
        if position.is_chance_node():
            chance_events += 1
            most_outcomes = max(most_outcomes, len(position.chance_outcomes()))
            position.apply(random_move(position, choices))
        else:
            decisions += 1
            position.apply(policy(position, choices))
    return Played(decisions, chance_events, most_outcomes, position)


def prolong(position: Position, choices: random.Random) -> int:
    """Return the action with the longest playout after it, among a few actions."""
    actions = position.legal_actions()
    some = choices.sample(actions, min(len(actions), 4))
    return max(some, key=lambda action: position.child(action).playout(choices.getrandbits(64)))


@pytest.mark.parametrize("policy", [random_move, prolong])
def test_no_game_exceeds_its_limits(table: Table, policy: Policy) -> None:
    game, players = table
    choices = random.Random(f"{game.name} {players}")
    for number in range(4):
        options = random_options(game, players, choices) if number else None
        played = play(game.new_game(players, options), policy, choices)
        limits = game.limits(players, options)
        assert 0 < played.decisions <= limits.max_game_length
        assert played.chance_events <= limits.max_chance_nodes_in_history
        # The first card dealt can be any card, so the limit is reached.
        assert played.most_outcomes == limits.max_chance_outcomes
        assert all(one <= other for one, other in zip(limits[:3], game.limits_of_any_options(players)[:3], strict=True))


def test_many_random_games_are_within_their_limits(table: Table) -> None:
    game, players = table
    choices = random.Random(1)
    for _ in range(20):
        options = random_options(game, players, choices)
        first = game.new_game(players, options, seed=1)
        assert max(first.playout(2, number) for number in range(50)) <= game.limits(players, options).max_game_length


def test_a_given_first_seat_is_no_chance_event(table: Table) -> None:
    game, players = table
    free, given = game.limits(players), game.limits(players, {"first_seat": 0})
    assert given.max_chance_nodes_in_history == free.max_chance_nodes_in_history - 1
    assert given.max_game_length == free.max_game_length


def test_returns_lie_between_the_bounds_and_sum_to_0(table: Table) -> None:
    game, players = table
    limits = game.limits(players)
    assert game.zero_sum
    found: set[float] = set()
    choices = random.Random(3)
    for _ in range(40):
        returns = play(game.new_game(players), random_move, choices).last.returns()
        assert sum(returns) == pytest.approx(0)
        found |= set(returns)
    # At least one game has a single winner, and at least one seat does not win.
    assert (min(found), max(found)) == (limits.min_utility, limits.max_utility) == (-1, players - 1)


def test_totals_determine_the_winners(table: Table) -> None:
    """Seats that are ahead do not have worse totals. After an instant win, however, all losers share a rank."""
    game, players = table
    by_totals = at_once = 0
    choices = random.Random(5)
    for number in range(40):
        position = game.new_game(players, seed=5, game_number=number)
        while not position.is_terminal():
            position.apply(random_move(position, choices))
        totals, ranks = position.totals(), position.ranks()
        assert ranks is not None
        worth = [-total if game.lowest_total_wins else total for total in totals]
        ordered = all(
            worth[one] >= worth[other]
            for one in range(players)
            for other in range(players)
            if ranks[one] < ranks[other]
        )
        assert ordered or sorted(ranks) == [1] + [2] * (players - 1)
        by_totals += ordered and len(set(totals)) > 1
        at_once += not ordered
    assert by_totals > at_once


def test_limits_are_refused_for_unknown_numbers_of_players_and_options(game: Game) -> None:
    players: Any
    for players in (game.min_players - 1, game.max_players + 1, None):
        for ask in (game.limits, game.limits_of_any_options):
            with pytest.raises(EngineError) as caught:
                ask(players)
            assert caught.value.reason is Reason.INVALID_PLAYERS
    with pytest.raises(EngineError) as caught:
        game.limits(game.min_players, {"no_such_option": 1})
    assert caught.value.reason is Reason.INVALID_OPTION
