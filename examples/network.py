"""A small network in JAX, and how it plays: shared by the learners."""

from functools import partial
from typing import Any

import jax
import numpy as np
import optax
from jax import numpy as jnp
from numpy.typing import NDArray

from chatiere.bots.network import Policy
from chatiere.engine import Game

HIDDEN = 128

Parameters = dict[str, Any]
"""The weights and biases of the network's layers, by name."""


def new_parameters(game: Game, players: int, seed: int) -> Parameters:
    """Return an untrained network, which prefers nothing and expects 0."""
    first, second = jax.random.split(jax.random.key(seed))
    weights = jax.nn.initializers.he_normal()
    return {
        "first": weights(first, (game.observation_length, HIDDEN)),
        "first_bias": jnp.zeros(HIDDEN),
        "second": weights(second, (HIDDEN, HIDDEN)),
        "second_bias": jnp.zeros(HIDDEN),
        "actions": jnp.zeros((game.num_distinct_actions, HIDDEN)),
        "actions_bias": jnp.zeros(game.num_distinct_actions),
        "values": jnp.zeros((HIDDEN, players)),
        "values_bias": jnp.zeros(players),
    }


def forward(parameters: Parameters, observations: jax.Array, legal: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the logarithms of the actions' probabilities, (n, num_actions), and the expected returns, (n, players).

    `observations`: uint8 (n, observation_length). `legal`: bool (n, num_actions); what is not legal has probability 0.
    The returns are those of the seats from the actor on, clockwise: so one network plays every seat.
    """
    hidden = _hidden(parameters, observations)
    preferences = hidden @ parameters["actions"].T + parameters["actions_bias"]
    # Finite, so that the entropy has no product of 0 and infinity.
    return jax.nn.log_softmax(jnp.where(legal, preferences, -1e9)), _values(parameters, hidden)


def _hidden(parameters: Parameters, observations: jax.Array) -> jax.Array:
    # Most numbers of an observation are 0 or 1, but cards and counts go up to 90 and more.
    numbers = observations.astype(jnp.float32)
    inputs = jnp.minimum(numbers, 1) + numbers / 30
    hidden = jax.nn.relu(inputs @ parameters["first"] + parameters["first_bias"])
    return jax.nn.relu(hidden @ parameters["second"] + parameters["second_bias"])


def _values(parameters: Parameters, hidden: jax.Array) -> jax.Array:
    return hidden @ parameters["values"] + parameters["values_bias"]


@jax.jit
def _judge(
    parameters: Parameters, observations: jax.Array, rows: jax.Array, ids: jax.Array
) -> tuple[jax.Array, jax.Array]:
    hidden = _hidden(parameters, observations)
    preferences = (hidden[rows] * parameters["actions"][ids]).sum(axis=1) + parameters["actions_bias"][ids]
    count = len(observations) + 1
    weights = jnp.exp(preferences - jax.ops.segment_max(preferences, rows, count)[rows])
    return weights / jax.ops.segment_sum(weights, rows, count)[rows], _values(parameters, hidden)


def judge(
    parameters: Parameters,
    observations: NDArray[np.uint8],
    legal_offsets: NDArray[np.uint32],
    legal_ids: NDArray[np.uint16],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the probability of each of `legal_ids` and the expected returns, (n, players), as NumPy arrays.

    The same as by `forward`, without the work for actions that are not legal: mostly these are few of thousands.
    """
    count, entries = len(observations), len(legal_ids)
    rows = np.repeat(np.arange(count), np.diff(legal_offsets))
    # Each shape is compiled anew, so there are few of them. What fills up the legal ids belongs to a row of its own.
    padded_rows = max(64, 1 << (count - 1).bit_length())
    padded_entries = 64 * padded_rows
    while padded_entries < entries:
        padded_entries *= 2
    more_rows, more_ids = padded_rows - count, padded_entries - entries
    probabilities, values = _judge(
        parameters,
        np.pad(observations, ((0, more_rows), (0, 0))),
        np.pad(rows, (0, more_ids), constant_values=padded_rows),
        np.pad(legal_ids, (0, more_ids)),
    )
    return np.asarray(probabilities)[:entries], np.asarray(values)[:count]


def policy_of(parameters: Parameters) -> Policy:
    """Return the network as a policy for a NetworkBot."""

    def logits(observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        offsets = np.concatenate([[0], masks.sum(axis=1).cumsum()]).astype(np.uint32)
        probabilities, _ = judge(parameters, observations, offsets, masks.nonzero()[1].astype(np.uint16))
        found = np.full(masks.shape, -np.inf, np.float32)
        with np.errstate(divide="ignore"):
            found[masks] = np.log(probabilities)
        return found

    return logits


@partial(jax.jit, static_argnums=(0, 1))
def update(
    optimizer: optax.GradientTransformation, loss: Any, parameters: Parameters, state: Any, examples: Any
) -> tuple[Parameters, Any]:
    """Make a step down the gradient of `loss(parameters, examples)`; return the parameters and the state."""
    updates, state = optimizer.update(jax.grad(loss)(parameters, examples), state, parameters)
    return optax.apply_updates(parameters, updates), state


def minibatches(count: int, size: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows 0 … count - 1 in random order, (k, size); the last minibatch is filled up with some once more."""
    return np.resize(random.permutation(count), (-(-count // size), size))
