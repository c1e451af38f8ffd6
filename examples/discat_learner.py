"""Learn Discat for two by self-play over gRPC, in plain NumPy: a policy gradient with a value network as a baseline.

    python examples/discat_learner.py --output build/discat

starts its own service, plays against itself, measures itself against other bots from time to time, and writes the curve
as a picture and the policy as arrays. README.md beside this file has the results.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from chatiere import bots
from chatiere.bots import Bot, Decisions
from chatiere.clients import VectorEnv
from chatiere.clients.matches import Results, play_many, wilson_interval
from chatiere.command.local_server import local_server

GAME, PLAYERS = "discat", 2
OPPONENTS = ("random", "largest")
HIDDEN = 128
LEARNING_RATE = 1e-3
ENTROPY_BONUS = 0.01
VALUE_WEIGHT = 0.5
MINIBATCH = 2048

Array = NDArray[np.float32]


class Policy(Bot):
    """A network with one hidden layer, from an observation to preferences for all actions and the expected return."""

    needs_observations = True

    def __init__(self, observation_length: int, num_actions: int, seed: int) -> None:
        """Create an untrained network, which has no preferences."""
        random = np.random.default_rng(seed)
        self.parameters: dict[str, Any] = {
            "hidden": random.normal(0, (2 / observation_length) ** 0.5, (observation_length, HIDDEN)).astype(
                np.float32
            ),
            "hidden_bias": np.zeros(HIDDEN, np.float32),
            "output": np.zeros((HIDDEN, num_actions + 1), np.float32),
            "output_bias": np.zeros(num_actions + 1, np.float32),
        }

    def forward(self, inputs: Array, legal: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
        """Return the hidden layer, the probability of each action (0 unless it is legal), and the expected return."""
        hidden = np.maximum(inputs @ self.parameters["hidden"] + self.parameters["hidden_bias"], 0)
        outputs = hidden @ self.parameters["output"] + self.parameters["output_bias"]
        preferences = np.where(legal, outputs[:, :-1], -np.inf)
        weights = np.exp(preferences - preferences.max(axis=1, keepdims=True))
        return hidden, weights / weights.sum(axis=1, keepdims=True), outputs[:, -1]

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """Draw an action by its probability; see Bot.choose."""
        _, probabilities, _ = self.forward(scaled(decisions.observations), decisions.legal_mask())
        # From 0 to below 1.
        luck = (decisions.luck >> np.uint64(40)) / np.float32(2**24)
        sums = probabilities.cumsum(axis=1)
        actions: NDArray[np.uint16] = (sums > luck[:, None] * sums[:, -1:]).argmax(axis=1).astype(np.uint16)
        return actions


def scaled(observations: NDArray[np.uint8]) -> Array:
    """Scale observations for the network: most of their numbers are 0 or 1, but cards and counts go up to 90."""
    numbers: Array = observations.astype(np.float32)
    numbers += 30 * np.minimum(numbers, 1)
    numbers /= 30
    return numbers


class Experience(NamedTuple):
    """The decisions of some games, in no order: observations, legal actions, actions, and the seats' returns."""

    observations: NDArray[np.uint8]
    legal: NDArray[np.bool_]
    actions: NDArray[np.uint16]
    returns: Array

    def rows(self, rows: NDArray[np.intp]) -> "Experience":
        """Return some of the decisions."""
        return Experience(self.observations[rows], self.legal[rows], self.actions[rows], self.returns[rows])


def gather(env: VectorEnv, policy: Policy, games: int, seed: int) -> Experience:
    """Play games of a seed against itself."""
    results = Results.of(games, PLAYERS, 1)
    played = []
    for batch, actions in play_many(env, [policy], seed):
        results.add(batch.ended)
        if len(batch):
            played.append((batch.observations, batch.legal_mask(), actions, batch.game_numbers, batch.actors))
    observations, legal, actions, numbers, actors = (np.concatenate(column) for column in zip(*played, strict=True))
    return Experience(observations, legal, actions, results.returns[numbers, actors])


class Learner:
    """A learner that improves a policy by its games, with Adam (Kingma and Ba, 2015)."""

    def __init__(self, policy: Policy, seed: int) -> None:
        """Create a learner with zero moments."""
        self._policy = policy
        self._random = np.random.default_rng(seed)
        self._means = {name: np.zeros_like(values) for name, values in policy.parameters.items()}
        self._squares = {name: np.zeros_like(values) for name, values in policy.parameters.items()}
        self._steps = 0

    def learn(self, experience: Experience) -> None:
        """Learn from the decisions once, in random order."""
        order = self._random.permutation(len(experience.actions))
        for first in range(0, len(order), MINIBATCH):
            rows = order[first : first + MINIBATCH]
            self._step(self._gradients(experience.rows(rows)))

    def _gradients(self, experience: Experience) -> dict[str, Array]:
        inputs, rows = scaled(experience.observations), np.arange(len(experience.actions))
        hidden, probabilities, values = self._policy.forward(inputs, experience.legal)
        advantages = (experience.returns - values)[:, None]
        chosen = np.zeros_like(probabilities)
        chosen[rows, experience.actions] = 1
        logarithms = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
        entropies = -(probabilities * logarithms).sum(axis=1, keepdims=True)
        # Of the loss -advantage × log probability - bonus × entropy + weight × (value - return)² / 2.
        to_preferences = advantages * (probabilities - chosen)
        to_preferences += ENTROPY_BONUS * probabilities * (logarithms + entropies)
        to_outputs = np.hstack([to_preferences, -VALUE_WEIGHT * advantages]) / np.float32(len(rows))
        to_hidden = to_outputs @ self._policy.parameters["output"].T * (hidden > 0)
        return {
            "hidden": inputs.T @ to_hidden,
            "hidden_bias": to_hidden.sum(axis=0),
            "output": hidden.T @ to_outputs,
            "output_bias": to_outputs.sum(axis=0),
        }

    def _step(self, gradients: dict[str, Array]) -> None:
        self._steps += 1
        rate = LEARNING_RATE * (1 - 0.999**self._steps) ** 0.5 / (1 - 0.9**self._steps)
        for name, gradient in gradients.items():
            self._means[name] += 0.1 * (gradient - self._means[name])
            self._squares[name] += 0.001 * (gradient**2 - self._squares[name])
            self._policy.parameters[name] -= rate * self._means[name] / (np.sqrt(self._squares[name]) + 1e-8)


class Point(NamedTuple):
    """A point of the curve: the win rate against an opponent after some games of self-play, with its interval."""

    games: int
    opponent: str
    rate: float
    low: float
    high: float


def measure(env: VectorEnv, policy: Policy, games: int, learned: int, seed: int) -> Iterator[Point]:
    """Play games against each opponent, with alternating seats."""
    for opponent in OPPONENTS:
        results = Results.of(games, PLAYERS, 2)
        for batch, _ in play_many(env, [policy, bots.get(opponent, GAME, PLAYERS)], seed):
            results.add(batch.ended)
        rate = float(results.wins(0).mean())
        yield Point(learned, opponent, rate, *wilson_interval(rate, games))


def draw(curve: list[Point], path: Path) -> None:
    """Draw the curve."""
    figure, axes = plt.subplots(figsize=(7, 4))
    for opponent in OPPONENTS:
        games, _, rates, lows, highs = zip(*(point for point in curve if point.opponent == opponent), strict=True)
        (line,) = axes.plot(games, rates, label=f"against {opponent}")
        axes.fill_between(games, lows, highs, alpha=0.25, color=line.get_color())
    axes.axhline(0.5, color="grey", linewidth=0.8)
    axes.set(xlabel="games of self-play", ylabel="games won (95 % interval)", ylim=(0, 1), title="Discat, 2 players")
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


@click.command()
@click.option(
    "--iterations", type=click.IntRange(1), default=40, show_default=True, help="Rounds of playing and learning."
)
@click.option(
    "--games", type=click.IntRange(1), default=512, show_default=True, help="Games of self-play per iteration."
)
@click.option(
    "--measure-every", type=click.IntRange(1), default=4, show_default=True, help="Iterations between measurements."
)
@click.option("--measure-games", type=click.IntRange(1), default=2000, show_default=True, help="Games per measurement.")
@click.option("--seed", type=click.IntRange(0, 2**32), default=1, show_default=True, help="The seed of everything.")
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="The folder for curve.png and policy.npz."
)
@click.option("--address", metavar="HOST:PORT", help="A running server. Default: start one.")
def main(
    iterations: int, games: int, measure_every: int, measure_games: int, seed: int, output: Path, address: str | None
) -> None:
    """Learn Discat for two players by self-play."""
    output.mkdir(parents=True, exist_ok=True)
    if address is None:
        with local_server() as own:
            curve, policy = learn(*own, iterations, games, measure_every, measure_games, seed)
    else:
        curve, policy = learn(address, address, iterations, games, measure_every, measure_games, seed)
    draw(curve, output / "curve.png")
    np.savez(output / "policy.npz", **policy.parameters)


def learn(
    address: str,
    fast_address: str | None,
    iterations: int,
    games: int,
    measure_every: int,
    measure_games: int,
    seed: int,
) -> tuple[list[Point], Policy]:
    """Learn, printing each point of the curve; return the curve and the policy."""
    curve: list[Point] = []
    begun = time.perf_counter()

    def play(games: int) -> VectorEnv:
        return VectorEnv(
            address, GAME, PLAYERS, num_envs=games, games=games, observations=True, fast_address=fast_address
        )

    with play(games) as env, play(measure_games) as measuring:
        policy = Policy(env.info.observation_length, env.info.num_actions, seed)
        learner = Learner(policy, seed)
        for iteration in range(iterations + 1):
            if iteration % measure_every == 0:
                # Other seeds: these games are never learned from.
                for point in measure(measuring, policy, measure_games, iteration * games, 2**63 + seed):
                    curve.append(point)
                    click.echo(
                        f"{time.perf_counter() - begun:5.0f} s, {point.games:6} games: {point.rate:.1%} against "
                        f"{point.opponent} ({point.low:.1%} to {point.high:.1%})"
                    )
            if iteration < iterations:
                learner.learn(gather(env, policy, games, seed * 2**20 + iteration))
    return curve, policy


if __name__ == "__main__":
    main()
