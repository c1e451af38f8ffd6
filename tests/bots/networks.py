"""Networks in integers with random weights, for tests."""

import numpy as np

from chatiere import engine
from chatiere.bots.integer_network import RUN
from chatiere.bots.network_file import NetworkFile, Weights, fields_of


def random_network(
    name: str, players: int | None = None, *, first: int = 32, second: int = 16, groups: int = 1, seed: int = 1
) -> NetworkFile:
    """Return a network whose actions are split into as many runs as there are groups, the last with the first's rows.

    Activations of both layers lie between 0 and 1, mostly.
    """
    game = engine.game(name)
    random = np.random.default_rng(seed)
    actions = game.num_distinct_actions
    starts = np.sort(random.choice(np.arange(1, actions), groups - 1, replace=False))
    runs = np.zeros(groups, RUN)
    runs["first"][1:], runs["group"] = starts, random.permutation(groups)
    runs["row"] = np.where(runs["first"] + actions // 2 < actions, runs["first"], 0)

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
            rows=weights(actions, second),
            rows_bias=bias(actions),
            values=weights(game.min_players if players is None else players, second),
            values_bias=bias(game.min_players if players is None else players),
        ),
    )
