"""The playout policy: in every game, the likelihoods of actions depend only on the state."""

import bisect
import itertools
import math
import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from chatiere import engine
from chatiere.engine import Game, Position
from chatiere.engine.core.stream import words

from .support import TABLES, Table

# The smallest and the largest likelihood: 16 × 2 ** (63 / 4), rounded between doublings.
LEAST, GREATEST = 16, 27 << 15
ALL = st.sampled_from(TABLES)
SEEDS = st.integers(0, 2**64 - 1)


def names_of(game: Game) -> list[str]:
    """Return the names of the properties by which actions are scored."""
    return [name for name in game.playout_weights if name != "decisions"]


def decisions(game: Game, players: int, seed: int) -> Iterator[Position]:
    """Play a game by the policy. Yield each decision with a choice."""
    position = game.new_game(players, seed=seed)
    for word in itertools.cycle(words(seed, 1, 0, 64)):
        if position.is_terminal():
            return
        actions = position.legal_actions()
        if len(actions) > 1:
            yield position
        ends = list(itertools.accumulate(position.action_likelihoods()))
        position.apply(actions[bisect.bisect(ends, (word * ends[-1]) >> 64)])


@given(ALL, SEEDS, st.data())
def test_every_legal_action_has_a_likelihood_and_the_state_is_unchanged(
    table: Table, seed: int, data: st.DataObject
) -> None:
    game, players = table
    weights = data.draw(
        st.fixed_dictionaries({name: st.integers(-128, 127) for name in names_of(game)} | {"decisions": st.just(0)})
    )
    for weighted in (game, game.with_playout_weights(weights)):
        for position in itertools.islice(decisions(weighted, players, seed), 0, 400, 7):
            packed = position.pack()
            likelihoods = position.action_likelihoods()
            assert position.pack() == packed
            assert len(likelihoods) == len(position.legal_actions())
            assert min(likelihoods) >= LEAST
            assert max(likelihoods) == GREATEST
            # Likelihoods depend only on the state.
            assert weighted.unpack(packed).action_likelihoods() == likelihoods


def test_without_weights_all_actions_are_equally_likely(table: Table) -> None:
    game, players = table
    even = game.with_playout_weights(dict.fromkeys(game.playout_weights, 0))
    for position in decisions(even, players, 3):
        assert set(position.action_likelihoods()) == {GREATEST}


def test_there_are_no_likelihoods_without_a_decision(table: Table) -> None:
    game, players = table
    position = game.new_game(players)
    assert position.is_chance_node()
    assert position.action_likelihoods() == []
    position = game.new_game(players, seed=1)
    position.playout(1)
    assert position.action_likelihoods() == []


def test_every_weight_changes_likelihoods(game: Game) -> None:
    unseen = set(names_of(game))
    even = dict.fromkeys(game.playout_weights, 0)
    for seed in range(200):
        for position in decisions(game, game.max_players, seed):
            for name in sorted(unseen):
                weighted = game.with_playout_weights({**even, name: 4}).unpack(position.pack())
                if len(set(weighted.action_likelihoods())) > 1:
                    unseen.remove(name)
        if not unseen:
            return
    pytest.fail(f"{unseen} have no effect in 200 games")


def test_four_quarters_of_a_doubling_double_a_likelihood(game: Game) -> None:
    even = dict.fromkeys(game.playout_weights, 0)
    for name in names_of(game):
        for position in itertools.islice(decisions(game, game.max_players, 5), 0, 200, 9):
            once, twice = (
                game.with_playout_weights({**even, name: weight}).unpack(position.pack()).action_likelihoods()
                for weight in (4, 8)
            )
            # The comparison is exact only if no likelihood is limited to the smallest value.
            if min(twice) > LEAST:
                assert [2 * a - b for a, b in zip(map(math.log2, once), map(math.log2, twice), strict=True)] == (
                    pytest.approx([math.log2(GREATEST)] * len(once), abs=0.1)
                )


def test_actions_are_drawn_in_proportion_to_their_likelihoods(game: Game) -> None:
    position = next(itertools.islice(decisions(game, game.min_players, 8), 12, None))
    likelihoods = position.action_likelihoods()
    ends = list(itertools.accumulate(likelihoods))
    drawn = Counter(bisect.bisect(ends, (word * ends[-1]) >> 64) for word in words(1, 2, 0, 20_000))
    expected = [20_000 * each / ends[-1] for each in likelihoods]
    # Combine rare actions, so that each group is expected at least five times.
    kept = [place for place, times in enumerate(expected) if times >= 5]
    rest = 20_000 - sum(expected[place] for place in kept)
    observed = [drawn[place] for place in kept]
    if rest >= 5:
        observed.append(20_000 - sum(observed))
        assert chisquare(observed, [*(expected[place] for place in kept), rest]).pvalue > 1e-4
    else:
        assert abs(20_000 - sum(observed)) < 40


def test_weights_apply_only_to_the_weighted_game(game: Game) -> None:
    weights = {name: number for number, name in enumerate(game.playout_weights)}
    weighted = game.with_playout_weights(weights)
    assert weighted.playout_weights == weights
    assert engine.game(game.name).playout_weights == game.playout_weights != weights
    again = pickle.loads(pickle.dumps(weighted))
    assert again.playout_weights == weights
    # Random play is uniform, regardless of the weights.
    ours, theirs = (each.new_game(each.min_players, seed=4) for each in (game, weighted))
    assert ours.playout(9) == theirs.playout(9)
    assert ours.pack() == theirs.pack()


def test_weights_need_every_name_and_a_byte_each(game: Game) -> None:
    weights = game.playout_weights
    name = next(iter(weights))
    for wrong in ({}, {**weights, "tails": 1}, {key: value for key, value in weights.items() if key != name}):
        with pytest.raises(ValueError, match=r"weights must have the names \w+"):
            game.with_playout_weights(wrong)
    wrong_values: list[tuple[str, Any]] = [
        *((names_of(game)[0], value) for value in (-129, 128, "1")),
        ("decisions", -1),
        ("decisions", 256),
    ]
    for name, value in wrong_values:
        with pytest.raises(ValueError, match=f"{name} must be"):
            game.with_playout_weights({**weights, name: value})
