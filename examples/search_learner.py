"""Learn Chat perché by search: a network guides a tree search, and learns from the results of the search.

    python examples/search_learner.py --output build/search

This is AlphaZero's method (Silver et al., 2018) with one difference. Each simulation of a search plays in a different
world, resampled from the seat's information. The first iterations search with random playouts (ISMCTS) instead of the
network, because an untrained network gives no useful results. The output is a picture of the learning curve, and the
network with integer weights, for the bot net:FILE. The results are in examples/README.md.
"""

import time
from collections import deque
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import jax
import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.arena.matches import search_many
from chatiere.bots import Bot, Decisions, IntegerNetworkBot, Judgement, SearchBot
from chatiere.bots.integer_network import OUTPUT_ONE
from chatiere.bots.network import draw
from chatiere.bots.network_file import NetworkFile
from chatiere.bots.search import Leaves, search
from chatiere.engine import Game
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs import TableEnv
from chatiere.training.curve import Point, measure, plot
from chatiere.training.network import Columns, Network, Parameters, minibatches, new_state, update
from chatiere.training.ppo import log_probabilities

GAME, PLAYERS = "chat_perche", 2
EXPLORATION = 1.0
LEARNING_RATE = 1e-3
# The uniform part of the priors, so that the search also tries actions to which the network gives small probabilities.
UNIFORM = 0.1
# Each iteration learns from the games of this number of most recent iterations.
WINDOW = 8
MINIBATCH = 256


class Searcher(SearchBot):
    """A bot that searches with a network's priors and values."""

    def __init__(self, file: NetworkFile, simulations: int, draws: bool = False) -> None:
        """Create a bot.

        `simulations` is the number of simulations per decision, 1 … 1,000,000. With `draws`, actions are drawn in
        proportion to their visits. Otherwise, the most visited action is chosen.
        """
        self.budget = simulations
        self._network = file.network()
        self._draws = draws

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge."""
        rows, drawn = np.arange(len(decisions)), 0

        def worlds(count: int) -> NDArray[np.uint8]:
            nonlocal drawn
            drawn += count
            return decisions.worlds(rows, count, drawn - count)

        def evaluate(leaves: Leaves) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
            logits, values = self._network.evaluate(leaves.observations, leaves.legal_offsets, leaves.legal_ids)
            priors, counts = np.exp(log_probabilities(logits, leaves.legal_offsets)), np.diff(leaves.legal_offsets)
            return (1 - UNIFORM) * priors + UNIFORM / np.repeat(counts, counts), values / OUTPUT_ONE

        found = search(
            decisions.game,
            decisions.players,
            decisions.luck,
            worlds,
            simulations=self.budget,
            exploration=EXPLORATION,
            evaluate=evaluate,
        )
        shares = found.visits / self.budget
        if self._draws:
            actions = found.legal_ids[draw(found.legal_offsets, shares, decisions.luck)]
        else:
            actions = decisions.best_actions(shares)
        return Judgement(actions, found.values, shares)


def dense(
    game: Game, offsets: NDArray[np.uint32], ids: NDArray[np.uint16], shares: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Return shares of legal actions as an array (n, num_actions), with 0 for illegal actions."""
    found = np.zeros((len(offsets) - 1, game.num_distinct_actions), np.float32)
    found[np.repeat(np.arange(len(found)), np.diff(offsets)), ids] = shares
    return found


class Experience(NamedTuple):
    """Decisions to learn from, in any order."""

    features: NDArray[np.uint8]
    """uint8 (n, packed_size): the packed features."""
    legal: NDArray[np.uint8]
    """uint8 (n, ⌈num_actions / 8⌉): the masks of legal actions, as bits."""
    shares: NDArray[np.float32]
    """float32 (n, num_actions): each action's share of the visits."""
    returns: NDArray[np.float32]
    """float32 (n, players): the seats' returns, clockwise from the actor."""

    def rows(self, rows: NDArray[np.intp]) -> "Experience":
        """Return some of the decisions."""
        return Experience(*(column[rows] for column in self))


def play(env: TableEnv, bot: Bot, seed: int) -> Experience:
    """Let a bot play all games of a seed against itself. Return the decisions."""
    game = engine.game(GAME)
    returns = np.zeros((env.num_envs, PLAYERS), np.float32)
    played = []
    for batch, searched in search_many(env, [bot], seed):
        returns[batch.ended.game_numbers] = batch.ended.returns
        if len(batch):
            shares = dense(game, batch.legal_offsets, batch.legal_ids, searched.visit_shares)
            played.append((batch.features, batch.mask, shares, batch.game_numbers, batch.actors))
    features, legal, shares, numbers, actors = map(np.concatenate, zip(*played, strict=True))
    clockwise = (actors[:, None] + np.arange(PLAYERS)) % PLAYERS
    return Experience(features, legal, shares, returns[numbers[:, None], clockwise])


def loss(network: Network, parameters: Parameters, columns: Columns, experience: Experience) -> jax.Array:
    """Return the cross-entropy of probabilities and shares of the search, plus the squared error of the values."""
    logarithms, values = network.forward(parameters, columns, experience.features, experience.legal)
    return -(experience.shares * logarithms).sum(axis=1).mean() + ((values - experience.returns) ** 2).mean()


@click.command()
@click.option(
    "--iterations", type=click.IntRange(1), default=20, show_default=True, help="Iterations of playing and learning."
)
@click.option(
    "--warm-up",
    type=click.IntRange(0),
    default=6,
    show_default=True,
    help="Number of first iterations, in which searches use random playouts instead of the untrained network.",
)
@click.option(
    "--games", type=click.IntRange(1), default=64, show_default=True, help="Games of self-play per iteration."
)
@click.option(
    "--simulations", type=click.IntRange(1, 1_000_000), default=64, show_default=True, help="Simulations per decision."
)
@click.option(
    "--measure-every", type=click.IntRange(1), default=2, show_default=True, help="Iterations between measurements."
)
@click.option("--measure-games", type=click.IntRange(1), default=400, show_default=True, help="Games per measurement.")
@click.option(
    "--final-games",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Games to measure the bot with search.",
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, help="Seed of all randomness.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder for curve.png and network.net.")
def main(
    iterations: int,
    warm_up: int,
    games: int,
    simulations: int,
    measure_every: int,
    measure_games: int,
    final_games: int,
    seed: int,
    output: Path,
) -> None:
    """Learn Chat perché by search."""
    output.mkdir(parents=True, exist_ok=True)
    curve, file = learn(iterations, warm_up, games, simulations, measure_every, measure_games, final_games, seed)
    plot(curve, f"{engine.game(GAME).description.title}, without search", output / "curve.png")
    (output / "network.net").write_bytes(file.to_bytes())


def learn(
    iterations: int,
    warm_up: int,
    games: int,
    simulations: int,
    measure_every: int,
    measure_games: int,
    final_games: int,
    seed: int,
) -> tuple[list[Point], NetworkFile]:
    """Train a network, print the curve and the final strength of the search, and return the curve and the network."""
    # The last bot in the list plays only this game.
    opponents = {name: bots.get(name, GAME, PLAYERS) for name in ("random", bots.names(GAME)[-1])}
    curve: list[Point] = []
    begun, decisions = time.perf_counter(), 0
    random = np.random.default_rng(seed)
    network = Network(engine.game(GAME), PLAYERS)
    parameters = network.new_parameters(seed)
    state, own_loss = new_state(parameters), partial(loss, network)
    playing_out = bots.get(f"ismcts:simulations={simulations}", GAME, PLAYERS)
    recent: deque[Experience] = deque(maxlen=WINDOW)
    # The bitwise or of the features of all decisions so far.
    seen = np.zeros(ObservationLayout(engine.game(GAME).description).packed_size, np.uint8)
    with TableEnv(GAME, PLAYERS, num_envs=games, games=games, mask="bits", features="packed") as env:
        for iteration in range(iterations + 1):
            file = network.in_integers(parameters, seen)
            if iteration % measure_every == 0:
                # Use another seed, so that the network never learns from these games.
                alone = IntegerNetworkBot(file)
                for point in measure(GAME, PLAYERS, alone, opponents, measure_games, decisions, 2**63 + seed):
                    curve.append(point)
                    click.echo(f"{time.perf_counter() - begun:5.0f} s, {point}")
            if iteration < iterations:
                guided = iteration >= warm_up
                bot = Searcher(file, simulations, draws=True) if guided else playing_out
                recent.append(play(env, bot, seed * 2**20 + iteration))
                decisions += len(recent[-1].legal)
                experience = Experience(*map(np.concatenate, zip(*recent, strict=True)))
                seen |= np.bitwise_or.reduce(recent[-1].features, axis=0)
                columns = network.seen(seen)
                for rows in minibatches(len(experience.legal), MINIBATCH, random):
                    parameters, state = update(
                        own_loss, parameters, state, LEARNING_RATE, columns, experience.rows(rows)
                    )
    searcher = Searcher(file, simulations)
    equal = f"ismcts:simulations={simulations}"
    opponents[equal] = bots.get(equal, GAME, PLAYERS)
    for point in measure(GAME, PLAYERS, searcher, opponents, final_games, decisions, 2**63 + seed):
        click.echo(f"{time.perf_counter() - begun:5.0f} s, with search, {point}")
    return curve, file


if __name__ == "__main__":
    main()
