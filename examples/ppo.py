"""Learn a game by self-play in process: proximal policy optimization (Schulman et al., 2017) in JAX.

    python examples/ppo.py --output build/ppo

plays Discat for two against itself, measures itself against other bots from time to time, and writes the curve as a
picture and the policy as arrays. README.md beside this file has the results.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import jax
import numpy as np
import optax
from curve import Point, measure, plot
from jax import numpy as jnp
from network import Parameters, forward, judge, minibatches, new_parameters, policy_of, update
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.bots import NetworkBot
from chatiere.bots.network import draw
from chatiere.engine import EngineError
from chatiere.envs import TableEnv

LEARNING_RATE = 1e-3
MAX_GRADIENT = 0.5
# The λ of the generalized advantage estimate (Schulman et al., 2016). Nothing is discounted: rewards come at the end.
TRACE = 0.95
CLIP = 0.2
ENTROPY_BONUS = 0.01
VALUE_WEIGHT = 0.5
EPOCHS = 3
MINIBATCH = 2048


class Step(NamedTuple):
    """Decisions in n games, one in each, as the policy made them."""

    game_numbers: NDArray[np.uint64]
    actors: NDArray[np.int8]
    observations: NDArray[np.uint8]
    legal: NDArray[np.bool_]
    actions: NDArray[np.intp]
    logarithms: NDArray[np.float32]
    """float32 (n,): of the probability of the action."""
    values: NDArray[np.float32]
    """float32 (n,): the return that the actor expected."""


class Experience(NamedTuple):
    """Decisions to learn from, in no order."""

    observations: NDArray[np.uint8]
    legal: NDArray[np.bool_]
    actions: NDArray[np.intp]
    logarithms: NDArray[np.float32]
    advantages: NDArray[np.float32]
    """float32 (n,): by how much the action was better than what the policy does on average."""
    returns: NDArray[np.float32]
    """float32 (n, players): of the seats from the actor on, clockwise."""

    def rows(self, rows: NDArray[np.intp]) -> "Experience":
        """Return some of the decisions."""
        return Experience(*(column[rows] for column in self))


def play(env: TableEnv, parameters: Parameters, seed: int) -> tuple[list[Step], NDArray[np.float32]]:
    """Play all games of a seed against itself; return the steps and the returns of each game, (games, players)."""
    steps: list[Step] = []
    returns = np.zeros((env.num_envs, env.players), np.float32)
    batch = env.reset(seed)
    while len(batch):
        probabilities, values = judge(parameters, batch.observations, batch.legal_offsets, batch.legal_ids)
        drawn = draw(batch.legal_offsets, probabilities, batch.luck())
        actions, logarithms = batch.legal_ids[drawn].astype(np.intp), np.log(probabilities[drawn])
        steps.append(
            Step(
                batch.game_numbers,
                batch.actors,
                batch.observations,
                batch.legal_mask(),
                actions,
                logarithms,
                values[:, 0],
            )
        )
        batch = env.step(actions)
        returns[batch.ended.game_numbers] = batch.ended.returns
    return steps, returns


def advantages(steps: Sequence[Step], returns: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Return the advantage of each decision, as in `steps`: estimated over the decisions of the same seat and game."""
    # From the end on: what each seat of each game expected at its next decision, and the advantage of that.
    expected, later = returns.copy(), np.zeros_like(returns)
    found = []
    for step in reversed(steps):
        seats = step.game_numbers, step.actors
        later[seats] = expected[seats] - step.values + TRACE * later[seats]
        expected[seats] = step.values
        found.append(later[seats])
    return found[::-1]


def experience_of(steps: Sequence[Step], returns: NDArray[np.float32]) -> Experience:
    """Return the decisions of all steps."""
    numbers, actors, observations, legal, actions, logarithms, _ = map(np.concatenate, zip(*steps, strict=True))
    players = returns.shape[1]
    clockwise = (actors[:, None] + np.arange(players)) % players
    return Experience(
        observations,
        legal,
        actions,
        logarithms,
        np.concatenate(advantages(steps, returns)),
        returns[numbers[:, None], clockwise],
    )


def loss(parameters: Parameters, experience: Experience) -> jax.Array:
    """Return the clipped loss of the policy, that of the values, and less for a policy that is undecided."""
    logarithms, values = forward(parameters, experience.observations, experience.legal)
    chosen = jnp.take_along_axis(logarithms, experience.actions[:, None], axis=1)[:, 0]
    advantages = experience.advantages - experience.advantages.mean()
    advantages /= experience.advantages.std() + 1e-8
    ratios = jnp.exp(chosen - experience.logarithms)
    gains = jnp.minimum(ratios * advantages, jnp.clip(ratios, 1 - CLIP, 1 + CLIP) * advantages)
    entropies = -(jnp.exp(logarithms) * logarithms).sum(axis=1)
    errors = ((values - experience.returns) ** 2).mean(axis=1)
    return (-gains - ENTROPY_BONUS * entropies + VALUE_WEIGHT * errors).mean()


@click.command()
@click.option("--game", type=click.Choice([game.name for game in engine.games()]), default="discat", show_default=True)
@click.option("--players", type=int, help="Default: the fewest.")
@click.option(
    "--iterations", type=click.IntRange(1), default=100, show_default=True, help="Rounds of playing and learning."
)
@click.option(
    "--games", type=click.IntRange(1), default=1024, show_default=True, help="Games of self-play per iteration."
)
@click.option(
    "--measure-every", type=click.IntRange(1), default=10, show_default=True, help="Iterations between measurements."
)
@click.option("--measure-games", type=click.IntRange(1), default=2000, show_default=True, help="Games per measurement.")
@click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, help="The seed of everything.")
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="The folder for curve.png and policy.npz."
)
def main(
    game: str,
    players: int | None,
    iterations: int,
    games: int,
    measure_every: int,
    measure_games: int,
    seed: int,
    output: Path,
) -> None:
    """Learn a game by self-play."""
    try:
        seats = engine.game(game).read_players(engine.game(game).min_players if players is None else players)
    except EngineError as error:
        raise click.BadParameter(str(error), param_hint="--players") from error
    output.mkdir(parents=True, exist_ok=True)
    curve, parameters = learn(game, seats, iterations, games, measure_every, measure_games, seed)
    plot(curve, f"{engine.game(game).description.title}, {seats} players", output / "curve.png")
    np.savez(output / "policy.npz", **parameters)


def learn(
    game: str, players: int, iterations: int, games: int, measure_every: int, measure_games: int, seed: int
) -> tuple[list[Point], Parameters]:
    """Learn, printing each point of the curve; return the curve and the policy."""
    # The game's own bots come last.
    opponents = ["random", bots.names(game)[-1]]
    curve: list[Point] = []
    begun = time.perf_counter()
    random = np.random.default_rng(seed)
    parameters = new_parameters(engine.game(game), players, seed)
    optimizer = optax.chain(optax.clip_by_global_norm(MAX_GRADIENT), optax.adam(LEARNING_RATE))
    state = optimizer.init(parameters)
    with TableEnv(game, players, num_envs=games, games=games, observations=True) as env:
        for iteration in range(iterations + 1):
            if iteration % measure_every == 0:
                # Another seed: these games are never learned from.
                bot, learned = NetworkBot(policy_of(parameters)), iteration * games
                for point in measure(game, players, bot, opponents, measure_games, learned, 2**63 + seed):
                    curve.append(point)
                    click.echo(f"{time.perf_counter() - begun:5.0f} s, {point}")
            if iteration < iterations:
                experience = experience_of(*play(env, parameters, seed * 2**20 + iteration))
                for _ in range(EPOCHS):
                    for rows in minibatches(len(experience.actions), MINIBATCH, random):
                        parameters, state = update(optimizer, loss, parameters, state, experience.rows(rows))
    return curve, parameters


if __name__ == "__main__":
    main()
