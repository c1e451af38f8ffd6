"""Integer networks with random weights, for tests."""

from typing import Any

import numpy as np

from chatiere import engine
from chatiere.bots.integer_network import OWN_ROW, PLAY, RUN, SLOT
from chatiere.bots.network_file import NetworkFile, Weights, fields_of


def random_network(
    name: str,
    players: int | None = None,
    *,
    first: int = 32,
    second: int = 16,
    groups: int = 1,
    seed: int = 1,
    with_runs: Any = None,
) -> NetworkFile:
    """Return a network whose actions form `groups` runs, where the last run shares rows with the first.

    `with_runs` replaces these runs. It may use fewer rows than twice the number of actions. Most activations of both
    layers are between 0 and 1.
    """
    game = engine.game(name)
    random = np.random.default_rng(seed)
    actions = game.num_distinct_actions
    starts = np.sort(random.choice(np.arange(1, actions), groups - 1, replace=False))
    runs = np.zeros(groups, RUN)
    runs["first"][1:], runs["group"] = starts, random.permutation(groups)
    runs["row"] = np.where(runs["first"] + actions // 2 < actions, runs["first"], 0)
    runs = runs if with_runs is None else with_runs
    rows = actions if with_runs is None else 2 * actions

    def weights(*shape: int, largest: int = 1000) -> np.ndarray:
        return random.integers(-largest, largest + 1, shape).astype(np.int16)

    def bias(*shape: int) -> np.ndarray:
        return random.integers(-(2**18), 2**18, shape).astype(np.int32)

    return NetworkFile(
        game,
        game.min_players if players is None else players,
        Weights(
            columns=weights(fields_of(game)[2], first, largest=200),
            first_bias=bias(first) >> 8,
            second=weights(groups, second, first),
            second_bias=bias(groups, second),
            runs=runs,
            rows=weights(rows, second),
            rows_bias=bias(rows),
            values=weights(game.min_players if players is None else players, second),
            values_bias=bias(game.min_players if players is None else players),
        ),
    )


def hand_network(seed: int = 1) -> NetworkFile:
    """Return a network for Discat whose logits of plays and exchanges are sums over the cards of the hand."""
    runs = [(0, 0, 1, PLAY, 6), (192, 186, 0, OWN_ROW, 0), (193, 187, 2, SLOT, 6)]
    return random_network("discat", groups=3, seed=seed, with_runs=np.array(runs, RUN))
