"""The example that learns Discat, for a few games."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from chatiere import engine
from chatiere.bots import hosting
from chatiere.clients.selfplay import VectorEnv

EXAMPLE = Path(__file__).parents[2] / "examples" / "discat_learner.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """Return the names that the example defines."""
    return runpy.run_path(str(EXAMPLE))


def learned(example: dict[str, Any], address: str, output: Path) -> tuple[str, dict[str, np.ndarray]]:
    arguments = ["--iterations", 2, "--games", 16, "--measure-every", 1, "--measure-games", 20]
    asked = [str(argument) for argument in [*arguments, "--output", output, "--address", address]]
    result = CliRunner().invoke(example["main"], asked, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    with np.load(output / "policy.npz") as parameters:
        return result.stdout, dict(parameters)


def test_it_learns_draws_its_curve_and_repeats_itself(example: dict[str, Any], address: str, tmp_path: Path) -> None:
    printed, parameters = learned(example, address, tmp_path / "a")
    lines = [line.split(" s, ")[1] for line in printed.splitlines()]
    assert [line.split(" games: ")[0].strip() for line in lines] == ["0", "0", "16", "16", "32", "32"]
    assert [line.split(" against ")[1].split()[0] for line in lines] == ["random", "largest"] * 3
    assert (tmp_path / "a" / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert all(values.any() for values in parameters.values())
    again, same = learned(example, address, tmp_path / "b")
    assert [line.split(" s, ")[1] for line in again.splitlines()] == lines
    assert all(np.allclose(same[name], values, atol=1e-5) for name, values in parameters.items())


def test_its_gradients_are_those_of_its_loss(example: dict[str, Any]) -> None:
    random = np.random.default_rng(1)
    policy = example["Policy"](6, 5, seed=1)
    for name, values in policy.parameters.items():
        policy.parameters[name] = random.normal(0, 0.5, values.shape)
    legal = random.random((8, 5)) < 0.6
    actions = random.integers(0, 5, 8)
    legal[np.arange(8), actions] = True
    experience = example["Experience"](random.integers(0, 60, (8, 6)), legal, actions, random.normal(0, 1, 8))
    advantages = experience.returns - policy.forward(example["scaled"](experience.observations), legal)[2]

    def loss() -> float:
        _, probabilities, values = policy.forward(example["scaled"](experience.observations), legal)
        logarithms = np.log(np.where(legal, probabilities, 1))
        return float(
            np.mean(
                -advantages * logarithms[np.arange(8), actions]
                + example["ENTROPY_BONUS"] * (probabilities * logarithms).sum(axis=1)
                + example["VALUE_WEIGHT"] * (values - experience.returns) ** 2 / 2
            )
        )

    gradients = example["Learner"](policy, seed=1)._gradients(experience)
    for name, values in policy.parameters.items():
        for place in [tuple(random.integers(0, size) for size in values.shape) for _ in range(10)]:
            kept = values[place]
            values[place] = kept + 1e-5
            above = loss()
            values[place] = kept - 1e-5
            slope = (above - loss()) / 2e-5
            values[place] = kept
            assert gradients[name][place] == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_it_takes_legal_actions_as_often_as_it_prefers_them(example: dict[str, Any], address: str) -> None:
    with VectorEnv(address, "discat", 2, num_envs=500, batches=1, observations=True) as env:
        batch = env.reset(1)
        policy = example["Policy"](env.info.observation_length, env.info.num_actions, seed=1)
        policy.parameters["output_bias"][:] = np.random.default_rng(1).normal(0, 2, env.info.num_actions + 1)
        rows = np.arange(500)
        _, probabilities, _ = policy.forward(example["scaled"](batch.observations), batch.legal_mask())

        def choose(rows: np.ndarray) -> np.ndarray:
            luck = hosting.luck(1, batch.game_numbers[rows], batch.decisions[rows])
            return policy.choose(
                hosting.decisions_of(batch, rows, policy, engine.game("discat"), 2, luck, env.resample)
            )

        actions = choose(rows)
        assert batch.legal_mask()[rows, actions].all()
        assert choose(rows[7:9]).tolist() == actions[7:9].tolist()
        # The mean probability of the chosen actions is as expected, within four standard errors.
        expected = (probabilities**2).sum(axis=1)
        spread = np.sqrt(((probabilities**3).sum(axis=1) - expected**2).sum())
        assert abs((probabilities[rows, actions] - expected).sum()) < 4 * spread
