"""The balance of a game: its length, shared wins, the first seat, and the kinds of actions."""

import json
from collections import Counter

import numpy as np
import pytest
from tools.over import over_tables

from chatiere import bots, engine
from chatiere.arena.balance import Balance, Course
from chatiere.arena.matches import Results, play_many, ratio_interval, wilson_interval
from chatiere.envs import TableEnv

SEED = 3
GAMES = 10


@over_tables
def test_the_recorded_course_matches_the_games(name: str, players: int) -> None:
    game = engine.game(name)
    course = Course.of(name, players, GAMES, SEED)
    results = Results.of(GAMES, players, 1)
    first_to_decide = np.zeros(GAMES, np.int64)
    kinds = [Counter[str]() for _ in range(GAMES)]
    with TableEnv(name, players, num_envs=4, games=GAMES) as env:
        for batch, actions in play_many(env, [bots.get("random", name, players)], SEED):
            course.add(batch, actions)
            results.add(batch.ended)
            for row, number in enumerate(batch.game_numbers.tolist()):
                if batch.decisions[row] == 0:
                    first_to_decide[number] = batch.actors[row]
                kinds[number].update(
                    kind.name
                    for kind in game.description.action_kinds
                    if actions[row] in range(kind.first_id, kind.last_id + 1)
                )
    # The seat that begins need not be the first to decide: another seat may have to set up first.
    distance = game.new_game(players, {"first_seat": 0}, seed=SEED).current_player()
    assert course.first_seats.tolist() == ((first_to_decide - distance) % players).tolist()
    names = [kind.name for kind in game.description.action_kinds]
    assert list(course.kinds) == names
    assert [[counts[name] for name in names] for counts in kinds] == np.stack(list(course.kinds.values()), 1).tolist()
    assert np.sum(list(course.kinds.values()), axis=0).tolist() == results.lengths.tolist()


def test_balance_counts_lengths_shared_wins_first_seats_and_kinds() -> None:
    results = Results.of(4, 3, 1)
    results.lengths[:] = [10, 13, 20, 17]
    # Seat 0 wins; seats 0 and 2 share a win; all seats share a win; seat 1 wins.
    results.returns[:] = np.array([[2, -1, -1], [0.5, -1, 0.5], [0, 0, 0], [-1, 2, -1]])
    course = Course(
        np.array([0, 1, 2, 1], np.int8),
        {"play": np.array([9, 10, 15, 11], np.uint32), "keep": np.array([1, 3, 5, 6], np.uint32)},
    )
    balance = Balance.of(results, course)
    assert balance.length == (15, *ratio_interval(results.lengths, np.ones(4)))
    assert (balance.median_length, balance.shortest, balance.longest) == (13, 10, 20)
    assert balance.shared == (0.5, *wilson_interval(0.5, 4))
    assert balance.first_seat == pytest.approx((7 / 12, *wilson_interval(7 / 12, 4)))
    assert list(balance.kinds) == ["play", "keep"]
    for name, played in (("play", 45), ("keep", 15)):
        assert balance.kinds[name] == (played / 60, *ratio_interval(course.kinds[name], results.lengths))


def test_the_figures_can_be_converted_to_json() -> None:
    results = Results.of(2, 2, 1)
    results.lengths[:] = 5
    course = Course(np.zeros(2, np.int8), {"play": np.full(2, 5, np.uint32)})
    balance = Balance.of(results, course)
    assert json.loads(json.dumps(balance.figures())) == {
        "length": {"mean": 5, "low": 5, "high": 5},
        "median_length": 5,
        "shortest": 5,
        "longest": 5,
        "shared": balance.shared._asdict(),
        "first_seat": balance.first_seat._asdict(),
        "kinds": {"play": {"mean": 1, "low": 1, "high": 1}},
    }
