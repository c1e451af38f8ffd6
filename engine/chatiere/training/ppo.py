"""Self-play and proximal policy optimization (Schulman et al., 2017), with a large entropy bonus.

Games are played by the network in integers, so the policy that learns is the policy that plays.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp
from numpy.typing import NDArray

from chatiere.bots.integer_network import OUTPUT_ONE, IntegerNetwork
from chatiere.bots.network import draw
from chatiere.bots.network_file import NetworkFile
from chatiere.envs import Batch, TableEnv
from chatiere.envs.batch import only
from chatiere.training.network import Columns, Network, Parameters, minibatches, update

LEARNING_RATE = 1e-3
# The λ of the generalized advantage estimate (Schulman et al., 2016). There is no discount, because the only reward is
# at the end of a game.
TRACE = 0.95
CLIP = 0.2
ENTROPY_BONUS = 0.03
# The fraction of the entropy bonus that remains at the end of training. The bonus falls with the learning rate, so that
# a run moves from exploration to strong play.
LEAST_ENTROPY = 0.1
VALUE_WEIGHT = 0.5
# The largest lead that counts. It limits the weight of a game that one seat wins by a wide margin.
MAX_LEAD = 3.0
EPOCHS = 3
MINIBATCH = 2048


class Step(NamedTuple):
    """The network's decisions in n games, one in each game."""

    game_numbers: NDArray[np.uint64]
    actors: NDArray[np.int8]
    features: NDArray[np.uint8]
    """uint8 (n, packed_size): the packed features."""
    legal: NDArray[np.uint8]
    """uint8 (n, ⌈num_actions / 8⌉): the masks of legal actions as bits."""
    actions: NDArray[np.intp]
    logarithms: NDArray[np.float32]
    """float32 (n,): the logarithm of the probability of the action."""
    values: NDArray[np.float32]
    """float32 (n,): the return that the network expected for the actor."""


class Experience(NamedTuple):
    """Decisions to learn from, in no particular order."""

    features: NDArray[np.uint8]
    legal: NDArray[np.uint8]
    actions: NDArray[np.intp]
    logarithms: NDArray[np.float32]
    advantages: NDArray[np.float32]
    """float32 (n,): the difference between the action's value and the policy's average value."""
    returns: NDArray[np.float32]
    """float32 (n, players): the returns of the seats, clockwise from the actor."""

    def rows(self, rows: NDArray[np.intp]) -> "Experience":
        """Return some of the decisions."""
        found: list[Any] = [column[rows] for column in self]
        return Experience(*found)


def log_probabilities(logits: NDArray[np.int32], offsets: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Return the logarithms of the probabilities of legal actions, computed from their logits in integers."""
    starts, counts = offsets[:-1], np.diff(offsets)
    real = logits.astype(np.float32) / OUTPUT_ONE
    real -= np.repeat(np.maximum.reduceat(real, starts), counts)
    found: NDArray[np.float32] = real - np.repeat(np.log(np.add.reduceat(np.exp(real), starts)), counts)
    return found


def decide(network: IntegerNetwork, batch: Batch) -> Step:
    """Draw an action for each position of a batch from the network's policy."""
    logits, values = network.evaluate(batch.observations, batch.legal_offsets, batch.legal_ids)
    logarithms = log_probabilities(logits, batch.legal_offsets)
    drawn = draw(batch.legal_offsets, np.exp(logarithms), batch.luck())
    actions = batch.legal_ids[drawn].astype(np.intp)
    expected = (values[:, 0] / OUTPUT_ONE).astype(np.float32)
    features: Any = batch.features
    legal: Any = batch.mask
    return Step(batch.game_numbers, batch.actors, features, legal, actions, logarithms[drawn], expected)


def play(
    env: TableEnv, network: IntegerNetwork, seed: int, against: IntegerNetwork | None = None
) -> tuple[list[Step], NDArray[np.float32], NDArray[np.int32]]:
    """Play all games of the environment with a seed.

    Args:
        env: The environment.
        network: The network that learns.
        seed: The seed of the games.
        against: A network that plays all seats except one. The excepted seat changes from game to game. This network
            chooses the actions with the highest logits. None means that the network plays against itself.

    Returns:
        The steps of the network that learns, and each game's returns and totals, (games, players).
    """
    steps: list[Step] = []
    returns = np.zeros((env.num_envs, env.players), np.float32)
    totals = np.zeros((env.num_envs, env.players), np.int32)
    batch = env.reset(seed)
    while len(batch):
        actions = np.empty(len(batch), np.intp)
        is_own = np.ones(len(batch), np.bool_)
        if against is not None:
            is_own = batch.game_numbers % env.players == batch.actors
            others = only(batch, ~is_own)
            logits, _ = against.evaluate(others.observations, others.legal_offsets, others.legal_ids)
            actions[~is_own] = others.best_actions(logits)
        if is_own.any():
            steps.append(decide(network, only(batch, is_own)))
            actions[is_own] = steps[-1].actions
        batch = env.step(actions)
        returns[batch.ended.game_numbers] = batch.ended.returns
        totals[batch.ended.game_numbers] = batch.ended.totals
    return steps, returns, totals


def leads(totals: NDArray[np.int32], lowest_total_wins: bool) -> NDArray[np.float32]:
    """Return each seat's lead over the mean in standard deviations, at most MAX_LEAD.

    Leads measure the quality of play more precisely than winning or losing does.

    Args:
        totals: int32 (games, players), the totals of all games.
        lowest_total_wins: True if the lowest total wins.

    Returns:
        float32 (games, players).
    """
    ahead = totals - totals.mean(axis=1, keepdims=True)
    if lowest_total_wins:
        ahead = -ahead
    found: NDArray[np.float32] = np.clip(ahead / max(ahead.std(), 1e-8), -MAX_LEAD, MAX_LEAD).astype(np.float32)
    return found


def advantages(steps: Sequence[Step], returns: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Return the estimated advantage of each decision, in the form of `steps`.

    An advantage is estimated from the later decisions of the same seat in the same game.
    """
    # The loop runs backwards from the end. For each seat of each game, these arrays have the value expected at the
    # seat's next decision, and the advantage of that decision.
    expected, later = returns.copy(), np.zeros_like(returns)
    found = []
    for step in reversed(steps):
        seats = step.game_numbers, step.actors
        later[seats] = expected[seats] - step.values + TRACE * later[seats]
        expected[seats] = step.values
        found.append(later[seats])
    return found[::-1]


def experience_of(steps: Sequence[Step], returns: NDArray[np.float32]) -> Experience:
    """Return the decisions of all steps, with the advantages and the games' returns."""
    numbers, actors, features, legal, actions, logarithms, _ = map(np.concatenate, zip(*steps, strict=True))
    players = returns.shape[1]
    clockwise = (actors[:, None] + np.arange(players)) % players
    return Experience(
        features,
        legal,
        actions,
        logarithms,
        np.concatenate(advantages(steps, returns)),
        returns[numbers[:, None], clockwise],
    )


def loss(
    network: Network, parameters: Parameters, columns: Columns, experience: Experience, entropy_bonus: float
) -> jax.Array:
    """Return the sum of the policy's clipped loss and the values' loss, minus a bonus for the policy's entropy.

    Args:
        network: The network.
        parameters: The parameters of the network.
        columns: The columns to use, from `Network.seen`.
        experience: The decisions to learn from.
        entropy_bonus: The factor by which the entropy is multiplied.
    """
    logarithms, values = network.forward(parameters, columns, experience.features, experience.legal)
    chosen = jnp.take_along_axis(logarithms, experience.actions[:, None], axis=1)[:, 0]
    advantages = experience.advantages - experience.advantages.mean()
    advantages /= experience.advantages.std() + 1e-8
    ratios = jnp.exp(chosen - experience.logarithms)
    gains = jnp.minimum(ratios * advantages, jnp.clip(ratios, 1 - CLIP, 1 + CLIP) * advantages)
    entropies = -(jnp.exp(logarithms) * logarithms).sum(axis=1)
    errors = ((values - experience.returns) ** 2).mean(axis=1)
    return (-gains - entropy_bonus * entropies + VALUE_WEIGHT * errors).mean()


class Learner:
    """A network that learns in iterations. Each iteration plays games and learns from them."""

    def __init__(
        self,
        network: Network,
        parameters: Parameters,
        state: Any,
        seen: NDArray[np.uint8],
        against: IntegerNetwork | None = None,
    ) -> None:
        """Continue from parameters and an optimizer's state.

        Args:
            network: The network.
            parameters: The parameters of the network.
            state: The optimizer's state.
            seen: uint8 (packed_size,), all packed features so far, combined by bitwise or.
            against: See `play`.
        """
        self.network, self.parameters, self.state, self.seen = network, parameters, state, seen
        self._against = against
        self._loss = partial(loss, network)

    def file(self) -> NetworkFile:
        """Return the trained network, in integers."""
        return self.network.in_integers(self.parameters, self.seen)

    def learn(self, env: TableEnv, seed: int, rate: float) -> int:
        """Play all games of an environment and learn from them.

        Args:
            env: An environment with packed features and masks as bits.
            seed: The seed of the games.
            rate: A factor, 0 … 1, for the learning rate and the entropy bonus. It is also the weight of `leads` in the
                learning target. The returns have the weight 1 - rate.

        Returns:
            The number of decisions learned from.
        """
        steps, returns, totals = play(env, self.file().network(), seed, self._against)
        ahead = leads(totals, self.network.game.description.lowest_total_wins)
        experience = experience_of(steps, ((1 - rate) * returns + rate * ahead).astype(np.float32))
        self.seen = self.seen | np.bitwise_or.reduce(experience.features, axis=0)
        columns, random = self.network.seen(self.seen), np.random.default_rng(seed)
        for _ in range(EPOCHS):
            for rows in minibatches(len(experience.actions), MINIBATCH, random):
                self.parameters, self.state = update(
                    self._loss,
                    self.parameters,
                    self.state,
                    rate * LEARNING_RATE,
                    columns,
                    experience.rows(rows),
                    max(rate, LEAST_ENTROPY) * ENTROPY_BONUS,
                )
        # JAX computes asynchronously. Wait for the result, so that its time is measured as part of this iteration.
        jax.block_until_ready(self.parameters)
        return len(experience.actions)
