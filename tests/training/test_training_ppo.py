"""The data of a training step: decisions with their advantages and returns."""

from typing import Any

import numpy as np
import pytest

from chatiere import engine
from chatiere.bots.integer_network import OUTPUT_ONE
from chatiere.bots.trained import trained
from chatiere.envs import Batch, TableEnv
from chatiere.training import ppo

pytestmark = pytest.mark.long


def test_advantages_are_sums_over_the_decisions_of_a_seat() -> None:
    random = np.random.default_rng(1)
    returns = random.normal(size=(5, 3)).astype(np.float32)
    steps = []
    for length in range(12):
        # Some games end earlier than the rest.
        numbers = np.arange(max(1, 5 - length // 3), dtype=np.uint64)
        empty = np.empty((len(numbers), 0), np.uint8)
        actors = random.integers(0, 3, len(numbers)).astype(np.int8)
        values = random.normal(size=len(numbers)).astype(np.float32)
        steps.append(ppo.Step(numbers, actors, empty, empty, numbers.astype(np.intp), values, values))
    found = ppo.advantages(steps, returns)
    for game, seat in np.ndindex(5, 3):
        own = [
            (place, step) for place, step in enumerate(steps) if game < len(step.actors) and step.actors[game] == seat
        ]
        gains = np.diff([step.values[game] for _, step in own] + [returns[game, seat]])
        for number, (place, _) in enumerate(own):
            later = gains[number:]
            assert found[place][game] == pytest.approx(later @ ppo.TRACE ** np.arange(len(later)), abs=1e-5)


def test_gathered_decisions_have_returns_starting_with_the_actors() -> None:
    returns = np.array([[2, -1, -1], [-1, -1, 2]], np.float32)
    numbers, actors, values = np.array([0, 1], np.uint64), np.array([2, 1], np.int8), np.zeros(2, np.float32)
    column = np.arange(2)
    bytes_ = column[:, None].astype(np.uint8)
    step = ppo.Step(numbers, actors, bytes_, bytes_, column, values, values)
    experience = ppo.experience_of([step, step._replace(actors=np.array([0, 2], np.int8))], returns)
    assert experience.returns.tolist() == [[-1, 2, -1], [-1, 2, -1], [2, -1, -1], [2, -1, -1]]
    assert experience.actions.tolist() == [0, 1, 0, 1]
    assert experience.rows(np.array([3])).returns.tolist() == [[2, -1, -1]]


def test_probabilities_are_the_softmax_of_logits_in_integers() -> None:
    random = np.random.default_rng(1)
    real = random.normal(scale=20, size=9)
    offsets = np.array([0, 1, 4, 9], np.uint32)
    found = ppo.log_probabilities(np.rint(real * OUTPUT_ONE).astype(np.int32), offsets)
    assert found.dtype == np.float32
    for begin, end in ((0, 1), (1, 4), (4, 9)):
        weights = np.exp(real[begin:end])
        assert found[begin:end] == pytest.approx(np.log(weights / weights.sum()), abs=1e-4)


class RecordingEnv(TableEnv):
    """An environment that records each batch with the actions chosen for it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.made: list[tuple[Batch, Any]] = []
        self.totals = np.full((self.num_envs, self.players), -1)

    def reset(self, *args: Any, **options: Any) -> Batch:
        self.batch = super().reset(*args, **options)
        return self.batch

    def step(self, actions: Any) -> Batch:
        self.made.append((self.batch, actions))
        self.batch = super().step(actions)
        self.totals[self.batch.ended.game_numbers] = self.batch.ended.totals
        return self.batch


def test_a_frozen_network_plays_all_seats_but_one() -> None:
    frozen = trained(engine.game("momistigri"), 3).network()
    with RecordingEnv("momistigri", 3, num_envs=6, games=6, features="packed", mask="bits") as env:
        steps, returns, totals = ppo.play(env, frozen, 5, frozen)
        own, drawn = [], 0
        for batch, actions in env.made:
            is_own = batch.actors == batch.game_numbers % 3
            own += list(zip(batch.game_numbers[is_own], actions[is_own], strict=True))
            logits, _ = frozen.evaluate(batch.observations, batch.legal_offsets, batch.legal_ids)
            is_best = batch.best_actions(logits) == actions
            assert is_best[~is_own].all()
            drawn += int(np.count_nonzero(~is_best))
    # The network in training explores other actions.
    assert drawn > 0
    assert own == [pair for step in steps for pair in zip(step.game_numbers, step.actions, strict=True)]
    assert {seat for step in steps for seat in step.actors} == {0, 1, 2}
    assert returns.shape == (6, 3)
    assert (returns.sum(axis=1) == 0).all()
    assert np.array_equal(totals, env.totals)


@pytest.mark.parametrize("lowest_total_wins", [False, True])
def test_leads_are_scaled_differences_of_points(lowest_total_wins: bool) -> None:
    totals = np.array([[30, 20, 10], [5, 5, 5], [12, 0, 0]], np.int32)
    found = ppo.leads(totals, lowest_total_wins)
    if lowest_total_wins:
        found = -found
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([[10, 0, -10], [0, 0, 0], [8, -4, -4]]) / np.sqrt(296 / 9), abs=1e-5)
    # The lead of an outlier is limited.
    many = np.zeros((100, 3), np.int32)
    many[7, 1] = 1000
    assert ppo.leads(many, lowest_total_wins)[7, 1] == (-1 if lowest_total_wins else 1) * ppo.MAX_LEAD
    assert (ppo.leads(np.zeros((4, 2), np.int32), lowest_total_wins) == 0).all()
