"""Choices of bots. They must be the same on every processor.

    python -m bots.visits > bots/visits.json

The program needs only NumPy and the engine. `make processors` runs it in an environment without any other package.
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bots.networks import random_network
from chatiere import bots, engine
from chatiere.bots import hosting
from chatiere.bots.search import Leaves, search
from chatiere.bots.trained import is_trained
from chatiere.engine import Game, Position

# The number of positions for each game.
POSITIONS = 8
SEARCHES = ("flat:playouts=100", "ismcts:simulations=400", "ismcts:simulations=200,noise=50")
TRAINED = "ismcts:simulations=100,net=trained"
MISTAKEN = ("flat:playouts=100,temperature=30", "ismcts:simulations=100,temperature=100")


def positions(game: Game, players: int) -> Iterator[Position]:
    """Yield positions of random games, each nearer to the end of its game than the previous one."""
    for seed in range(POSITIONS):
        choose = random.Random(seed)
        position = game.new_game(players, seed=seed)
        passed = [position]
        while not position.is_terminal():
            position = position.child(choose.choice(position.legal_actions()))
            passed.append(position)
        yield passed[(len(passed) - 2) * seed // (POSITIONS - 1)]


def short_hash(column: NDArray[np.generic]) -> str:
    """Return the first digits of a column's hash."""
    return hashlib.sha256(column.tobytes()).hexdigest()[:16]


def chosen(game: Game, players: int, spec: str) -> list[str]:
    """Return a bot's choice for each position, with hashes of the shares and values of its search."""
    found = []
    bot = bots.get(spec, game, players)
    for number, position in enumerate(positions(game, players)):
        judged = bot.judge(hosting.decisions_at(position, bot, number))
        found.append(f"{judged.actions[0]} {short_hash(judged.shares)} {short_hash(judged.values)}")
    return found


def visits(game: Game, players: int, **options: Any) -> list[str]:
    """Return hashes of the visits and values of the search for each position."""

    def visits_at(number: int, position: Position) -> str:
        world = position.resample(position.current_player(), number).pack()
        seeds = np.array([number], np.uint64)
        found = search(game, players, seeds, lambda count: world * count, simulations=200, **options)
        return f"{short_hash(found.visits)} {short_hash(found.values)}"

    return [visits_at(number, position) for number, position in enumerate(positions(game, players))]


def made_up(players: int) -> Callable[[Leaves], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return an `evaluate` with arbitrary priors and values."""

    def evaluate(leaves: Leaves) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        priors = leaves.legal_ids.astype(np.float64) % 13 + 1
        marks = leaves.observations.sum(axis=1, dtype=np.int64)[:, None] * np.arange(3, 3 + players)
        return priors, (marks % 17 - 8) / 8

    return evaluate


def choices() -> dict[str, dict[str, list[str]]]:
    """Return the choices of all bots in all games, with the largest number of players.

    Bots with the package's networks play with the smallest number.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for game in engine.games():
        players = game.max_players
        specs = (*SEARCHES, *MISTAKEN, *bots.names(game)[3:])
        found[game.name] = {spec: chosen(game, players, spec) for spec in specs}
        network = random_network(game.name, players, groups=2).network()
        found[game.name]["network"] = visits(game, players, exploration=1.25, noise=0.25, network=network)
        found[game.name]["priors"] = visits(game, players, exploration=1.25, noise=0.25, evaluate=made_up(players))
        if is_trained(game, game.min_players):
            found[game.name][TRAINED] = chosen(game, game.min_players, TRAINED)
    return found


if __name__ == "__main__":
    print(json.dumps(choices(), indent=1))
