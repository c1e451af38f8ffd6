"""Networks in training: columns, runs of actions, and the conversion to integers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.over import over

from chatiere import engine
from chatiere.bots.integer_network import OWN_ROW, PLAY, SLOT
from chatiere.bots.network_file import rows_of_run
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.core.observation_parts import ObservationKind
from chatiere.envs import TableEnv
from chatiere.training.network import COUNT, Network, minibatches, runs_of

pytestmark = pytest.mark.long

GAMES = [game.name for game in engine.games()]
TESTS = Path(__file__).parents[1]


@over("game", GAMES)
def test_columns_are_the_nonzero_features(game: str) -> None:
    rules = engine.game(game)
    network = Network(rules, rules.min_players)
    with TableEnv(game, rules.min_players, num_envs=32, features="packed") as env:
        batch = env.reset(seed=5)
        for _ in range(10):
            batch = env.step(batch.random_actions())
        packed: Any = batch.features
        planes, seen = env_planes(env, batch.observations), np.bitwise_or.reduce(packed, axis=0)
        for features in (np.full_like(seen, 255), seen):
            columns = network.seen(features)
            assert len(columns.numbers) % 256 == 0
            read: Any = packed[:, columns.bytes] >> columns.shifts & columns.masks
            found = np.zeros(planes.T.shape, np.float32)
            # The columns that fill up the list add 0.
            np.add.at(found, columns.numbers, (read * columns.scales).T)
            assert np.allclose(found.T, planes)
        assert len(network.seen(seen).numbers) < len(network.seen(np.full_like(seen, 255)).numbers)


def env_planes(env: TableEnv, observations: np.ndarray) -> np.ndarray:
    """Return the features by the description. A category of 0 has no feature, and COUNT scales counts."""
    planes = ObservationLayout(env.info).planes(observations)
    kinds = {field.name: int(field.kind) for part in env.info.observation for field in part.fields}
    strengths = {ObservationKind.COUNT: COUNT}
    found = [
        (plane[..., 1:] if kinds[name] == ObservationKind.CATEGORY else plane).reshape(len(observations), -1)
        * strengths.get(ObservationKind(kinds[name]), 1)
        for name, plane in planes.items()
    ]
    return np.concatenate(found, axis=1)


@over("game", GAMES)
def test_runs_contain_every_action_once_and_share_only_rows_of_cells(game: str) -> None:
    rules = engine.game(game)
    runs, rows = runs_of(rules)
    ends = np.append(runs["first"][1:], rules.num_distinct_actions)
    if game == "discat":
        # Plays and exchanges are sums of rows of cards. No two runs share a row.
        assert runs["kind"].tolist() == [PLAY, OWN_ROW, SLOT]
        lengths = (ends - runs["first"]).tolist()
        sizes = [
            rows_of_run(rules, kind, size, length)[0]
            for (*_, kind, size), length in zip(runs.tolist(), lengths, strict=True)
        ]
        assert runs["row"].tolist() == np.cumsum([0, *sizes[:-1]]).tolist()
        assert rows == sum(sizes)
        return
    assert (runs["kind"] == OWN_ROW).all()
    row_of = np.concatenate(
        [row + np.arange(end - first) for (first, row, *_), end in zip(runs.tolist(), ends, strict=True)]
    )
    group_of = np.repeat(runs["group"], ends - runs["first"])
    assert len(row_of) == rules.num_distinct_actions
    assert set(row_of.tolist()) == set(range(rows))
    # Actions that share a row have different groups.
    assert len(set(zip(row_of.tolist(), group_of.tolist(), strict=True))) == rules.num_distinct_actions
    has_board = any(len(part.shape) == 2 and part.shape[0] == part.shape[1] for part in rules.description.observation)
    assert (rows < rules.num_distinct_actions) == has_board


@over("game", GAMES)
def test_conversion_to_integers_only_rounds(game: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "training.agreement", game],
        cwd=TESTS,
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    logits, values, others = map(float, done.stdout.split())
    # Activations have 7 bits.
    assert 0 < logits < 0.15
    assert 0 < values < 0.1
    # A best response therefore begins with exactly the network against which it plays.
    assert others == 0


@pytest.mark.parametrize("count", [1, 9, 10, 11, 95])
def test_minibatches_contain_every_row(count: int) -> None:
    rows = minibatches(count, 10, np.random.default_rng(1))
    assert rows.shape == (-(-count // 10), 10)
    assert sorted(rows.ravel()[:count]) == list(range(count))
