"""Tests of the rules in "Public and hidden": views and resampling."""

import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from chatiere.engine import EngineError, EventLog, Position
from chatiere.engine.wire import written_text

from ..building import read, state_of, view_of
from ..plain import observed
from .building import BIRD, CODEC, GAME, START, Table, card, holding, left, right, written
from .reference import Game
from .test_chat_perche_reference import Policy, crowding, random_options, uniform

pytestmark = pytest.mark.rules("chat_perche", "Public and hidden")

P_VALUE = 1e-6


def shown_values(position: Position, seat: int | None) -> list[int | None]:
    """Return the values that a viewer sees at the branches."""
    branches = view_of(position, seat).branches
    return [branch.solidity if branch.HasField("solidity") else None for branch in branches]


def played(seed: int, policy: Policy = uniform) -> list[tuple[Game, Position]]:
    """Play a random game in the reference and the kernel. Return both at the end of each part of the game."""
    choices = random.Random(seed)
    options = random_options(choices)
    found = []
    stops = sorted(choices.sample(range(1, 120), 6))
    for stop in stops:
        # Replay the game up to each stop, because the reference cannot be copied.
        again = random.Random(seed + 1)
        reference, position = Game(2, options), GAME.new_game(2, options)
        for _ in range(stop):
            if position.is_terminal():
                break
            moves, weights = reference.question.moves, reference.question.weights
            move = again.choices(moves, weights)[0] if weights else policy(list(moves), again)
            reference.move(move)
            position.apply(move)
        found.append((reference, position))
    return found


def values_of(position: Position, seat: int) -> tuple[tuple[int, int], ...]:
    """Return (branch, value) of the other seat's tokens at unbroken branches."""
    return tuple(
        (number, branch.solidity)
        for number, branch in enumerate(state_of(position).branches)
        if branch.HasField("token_owner") and branch.token_owner != seat and not branch.broken
    )


# Views


def test_a_seat_knows_only_its_own_five_values() -> None:
    table = Table()
    assert shown_values(table.position, 0) == [1, 2, 3, 3, 4, None, None, None, None, None]
    assert shown_values(table.position, 1) == [None, None, None, None, None, 1, 2, 3, 3, 4]
    assert shown_values(table.position, None) == [None] * 10
    assert [branch.token_owner for branch in view_of(table.position, None).branches] == [0] * 5 + [1] * 5


def test_only_the_owner_sees_the_hand_but_its_size_is_public() -> None:
    table = Table(GAME.new_game(2, {"first_seat": 0})).place(0, 3).place(1, 1).place(2, 1)
    for viewer in (None, 0, 1):
        seats = view_of(table.position, viewer).seats
        assert [seat.unplaced_tokens for seat in seats] == [4, 3]
        assert list(seats[0].unplaced_solidity) == ([2, 3, 3, 4] if viewer == 0 else [])
        assert list(seats[1].unplaced_solidity) == ([2, 3, 4] if viewer == 1 else [])


def test_the_token_of_a_broken_branch_is_public() -> None:
    position = read(written(broken=[0, 6]))
    assert shown_values(position, None) == [1, None, None, None, None, None, 2, None, None, None]
    assert shown_values(position, 0) == [1, 2, 3, 3, 4, None, 2, None, None, None]
    parts = observed(position, 0)
    assert parts["branches"][1].tolist() == [1, 2, 3, 3, 4, 0, 2, 0, 0, 0]
    # Black's token 2 was shown.
    assert parts["tokens"].tolist() == [[0, 0, 0, 0], [1, 0, 2, 1], [1, 1, 2, 1]]


def test_all_other_information_is_public() -> None:
    table = Table(
        cats=([left(2, 1)], [right(3, 2)]),
        birds=[left(4, 4)],
        loads={2: 2},
        dogs=3,
        options=holding(card("two own", 6)),
    )
    table.turn_up(card("two own", 6)).move(START, left(2, 2))
    views = [view_of(table.position, viewer) for viewer in (None, 0, 1)]
    for view in views:
        for branch in view.branches:
            branch.ClearField("solidity")
    assert views[0] == views[1] == views[2]
    assert [seat.cats_at_start for seat in views[0].seats] == [10, 11]
    assert (views[0].moved, views[0].steps_left, views[0].cat_owner) == (left(2, 2), 2, 0)
    assert [branch.greatest_load for branch in views[0].branches] == [0, 2, 2, 1, 0, 0, 0, 1, 0, 0]
    assert list(views[0].seats[0].discards) == [card("two own", 6)]


@pytest.mark.parametrize("seat", [0, 1])
def test_states_that_differ_only_in_hidden_values_look_the_same_to_the_seat(seat: int) -> None:
    for seed in range(5):
        for _, position in played(seed):
            other = position.resample(seat, seed)
            assert view_of(other, seat) == view_of(position, seat)
            assert view_of(other, None) == view_of(position, None)
            assert other.observation(seat) == position.observation(seat)
            if position.current_player() == seat:
                assert other.legal_actions() == position.legal_actions()
            for action in (0, 17, 41, 500, 2110, 2111, 2150, 2156, 2190):
                if position.current_player() == seat and action not in position.legal_actions():
                    errors = []
                    for one in (position, other):
                        with pytest.raises(EngineError) as caught:
                            one.apply(action)
                        errors.append(vars(caught.value))
                    assert errors[0] == errors[1]


def test_events_of_placing_hide_the_value_from_the_other_seat() -> None:
    labels = []
    for value in (1, 4):
        events = EventLog()
        GAME.new_game(2, {"first_seat": 0}).apply(4 * 3 + value - 1, events)
        labels.append([written_text(CODEC.put_event_label, event, event.seen_by is None) for event in events])
    assert labels[0] == labels[1] == ["seat 1 takes a token", "seat 1 puts it next to left branch 4"]


# Resampling


@pytest.mark.parametrize("policy", [uniform, crowding])
def test_resampling_reaches_exactly_the_consistent_spreads(policy: Policy) -> None:
    kinds: Counter[int] = Counter()
    for seed in range(10):
        for reference, position in played(1000 + seed, policy):
            for seat in range(2):
                spreads = reference.spreads(seat)
                if position.current_player() == -1 and not reference.tokens:
                    continue
                assert values_of(position, seat) in spreads
                if len(spreads) <= 20:
                    drawn = {values_of(position.resample(seat, number), seat) for number in range(20 * len(spreads))}
                    assert drawn == set(spreads)
                    kinds[len(spreads)] += 1
                else:
                    assert all(values_of(position.resample(seat, number), seat) in spreads for number in range(50))
    assert len(kinds) > 6


def assert_uniform(position: Position, seat: int, spreads: Counter[tuple[tuple[int, int], ...]], draws: int) -> None:
    seen = Counter(values_of(position.resample(seat, 99, number), seat) for number in range(draws))
    assert seen.keys() <= spreads.keys()
    weights = np.array([spreads[spread] for spread in spreads])
    counts = [seen[spread] for spread in spreads]
    assert chisquare(counts, weights / weights.sum() * draws).pvalue > P_VALUE


def test_resampling_is_uniform_over_the_spreads() -> None:
    tested = 0
    for seed in range(20):
        for reference, position in played(2000 + seed, crowding):
            for seat in range(2):
                spreads = reference.spreads(seat)
                if 2 <= len(spreads) <= 60 and tested < 16:
                    assert_uniform(position, seat, spreads, 40 * len(spreads))
                    tested += 1
    assert tested == 16


@pytest.mark.rules("chat_perche", "Decisions of the engine")
def test_values_are_at_least_the_greatest_loads() -> None:
    # Black's branches have held 3, 2, 2, 0 and 0 animals. The first token is therefore a 3 or the 4, and the 1 is at
    # one of the last two branches.
    tokens = [(0, 1), (0, 2), (0, 3), (0, 3), (0, 4), (1, 4), (1, 3), (1, 3), (1, 2), (1, 1)]
    position = read(written(tokens=tokens, loads={5: 3, 6: 2, 7: 2}))
    seen = Counter(values_of(position.resample(0, number), 0) for number in range(4000))
    # The first branch has 3 possible tokens. The branches that held a 2 have 3 and 2 possible tokens. The last two
    # branches have 2 possible orders. Exchanging the two 3s makes no visible difference.
    assert len(seen) == 3 * 3 * 2 * 2 // 2
    for spread in seen:
        values = dict(spread)
        assert values[5] >= 3
        assert min(values[6], values[7]) >= 2
        assert sorted(values.values()) == [1, 2, 3, 3, 4]
    assert chisquare(list(seen.values())).pvalue > P_VALUE


def test_tokens_of_equal_value_count_as_different_while_some_are_in_the_hand() -> None:
    # Black has placed one token. It is a 3 with probability 2/5. The remaining tokens stay in the hand.
    position = GAME.new_game(2, {"first_seat": 0}).child(4 * 7)
    seen = Counter(values_of(position.resample(0, number), 0) for number in range(5000))
    assert set(seen) == {((7, value),) for value in (1, 2, 3, 4)}
    assert chisquare([seen[((7, value),)] for value in (1, 2, 3, 4)], [1000, 1000, 2000, 1000]).pvalue > P_VALUE
    drawn = position.resample(0, 1)
    hand = list(view_of(drawn, 1).seats[1].unplaced_solidity)
    assert sorted([*hand, values_of(drawn, 0)[0][1]]) == [1, 2, 3, 3, 4]


def test_shown_values_are_not_drawn_again() -> None:
    position = read(written(broken=[5, 7]))
    for number in range(200):
        branches = state_of(position.resample(0, number)).branches
        assert (branches[5].solidity, branches[7].solidity) == (1, 3)
        assert sorted(branch.solidity for branch in branches[5:]) == [1, 2, 3, 3, 4]


def test_a_seats_own_values_are_kept() -> None:
    position = read(written())
    for seat in range(2):
        own = [branch.solidity for branch in state_of(position).branches if branch.token_owner == seat]
        for number in range(50):
            drawn = state_of(position.resample(seat, number)).branches
            assert [branch.solidity for branch in drawn if branch.token_owner == seat] == own


@pytest.mark.rules("chat_perche", "Decisions of the engine")
def test_birds_count_in_greatest_loads() -> None:
    table = Table(cats=([left(5, 1)], []), options=holding(BIRD), active=1).turn_up(BIRD).bird(right(5, 2))
    assert table.state.branches[9].greatest_load == 1
    table = Table(cats=([right(5, 1)], []), options=holding(BIRD), active=1).turn_up(BIRD).bird(right(5, 2))
    assert table.state.branches[9].greatest_load == 2
    assert all(dict(values_of(table.position.resample(0, number), 0))[9] >= 2 for number in range(100))
