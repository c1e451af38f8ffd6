"""Compare a network in floating point with its conversion to integers: `python -m training.agreement GAME`.

Prints the largest differences of log-probabilities and of values in positions of random games. Also prints the number
of integer weights that change if they are converted to floating point and back. This is a separate process because JAX
starts threads, and warns if its process forks, as other tests do.
"""

import sys

import jax
import numpy as np

from chatiere import engine
from chatiere.bots.integer_network import OUTPUT_ONE
from chatiere.envs import TableEnv
from chatiere.training.network import REACH, Network
from chatiere.training.ppo import log_probabilities


def main(name: str) -> None:
    """Print the differences."""
    game = engine.game(name)
    network = Network(game, game.min_players)
    random = np.random.default_rng(1)
    parameters = network.new_parameters(1)
    # With these parameters, units reach their limits, and logits are as large as in trained networks.
    parameters["columns"] *= REACH
    for part in ("rows", "rows_bias", "values", "values_bias"):
        scale = 0.5 if part.endswith("bias") else 0.5 / REACH
        parameters[part] = jax.numpy.asarray(random.normal(scale=scale, size=parameters[part].shape), np.float32)
    logits, values = [0.0], [0.0]
    with TableEnv(name, game.min_players, num_envs=64, features="packed", mask="bits") as env:
        batch = env.reset(seed=3)
        for _ in range(10):
            seen = np.bitwise_or.reduce(batch.features, axis=0)
            integers, columns = network.in_integers(parameters, seen).network(), network.seen(seen)
            real, expected = map(np.asarray, network.forward(parameters, columns, batch.features, batch.mask))
            found, own = integers.evaluate(batch.observations, batch.legal_offsets, batch.legal_ids)
            rows = np.repeat(np.arange(len(batch)), batch.legal_counts())
            logarithms = log_probabilities(found, batch.legal_offsets)
            logits.append(float(np.abs(real[rows, batch.legal_ids] - logarithms).max()))
            values.append(float(np.abs(expected - own / OUTPUT_ONE).max()))
            batch = env.step(batch.random_actions())
    weights = network.in_integers(parameters, seen).weights
    again = network.in_integers(*network.parameters_of(weights)).weights
    others = sum(np.count_nonzero(one != other) for one, other in zip(weights, again, strict=True))
    print(max(logits), max(values), others)


if __name__ == "__main__":
    main(sys.argv[1])
