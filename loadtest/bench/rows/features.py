"""Encoding observations as features, compared with the same in NumPy and with filling an array with zeros."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chatiere.engine import Game
from chatiere.engine.core.compact import CompactObservations
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs import TableEnv
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, middle, pinned, repeat
from loadtest.bench.self_play import SEED

OURS, NUMPY, ZEROS = "features", "planes, concatenated", "filling with zeros"
# The games whose compact features are also measured.
COMPACT = ("chat_cartonne",)
# The number of rows for which NumPy computes features. Its planes need several times the memory of the features.
NUMPY_ROWS = 64
Work = Callable[[], int]


def measure(plan: BenchPlan) -> Result:
    """Measure float32 features, plain and compact."""
    rows = []
    for game, players in plan.games.items():
        observed = _observations(game, players, plan)
        whole = ObservationLayout(game.description)
        planes = _planes(whole, observed)
        works = {"plain": _features(whole, observed)}
        if game.name in COMPACT:
            works["compact"] = _compact_features(CompactObservations(game.description), observed)
        for form, (features, zeros) in works.items():
            contenders = {
                key: lambda work=work: repeat(work, plan.seconds)
                for key, work in ((OURS, features), (NUMPY, planes), (ZEROS, zeros))
            }
            with pinned():
                runs = alternate(contenders, plan.rounds)
            rows += _rows(game.name, form, {key: middle(found) for key, found in runs.items()})
    return Result(rows)


def _observations(game: Game, players: int, plan: BenchPlan) -> NDArray[np.uint8]:
    env = TableEnv(game.name, players, plan.batch, seed=SEED, observations=True)
    batch = env.reset()
    for _ in range(plan.warm_up):
        batch = env.step(batch.random_actions())
    return batch.observations


def _features(layout: ObservationLayout, observations: NDArray[np.uint8]) -> tuple[Work, Work]:
    # Return a function that encodes the observations, and one that fills the same array. Both return the number of
    # rows.
    out = np.empty((len(observations), layout.num_features), np.float32)

    def encode() -> int:
        layout.features(observations, out)
        return len(out)

    def fill() -> int:
        out.fill(0)
        return len(out)

    return encode, fill


def _compact_features(compact: CompactObservations, observations: NDArray[np.uint8]) -> tuple[Work, Work]:
    # Return the same functions for compact features. The first one also crops the windows.
    layout = ObservationLayout(compact)
    out = np.empty((len(observations), layout.num_features), np.float32)
    _, fill = _features(layout, compact.crop(observations))

    def encode() -> int:
        layout.features(compact.crop(observations), out)
        return len(out)

    return encode, fill


def _planes(layout: ObservationLayout, observations: NDArray[np.uint8]) -> Work:
    # Return a function that computes the same features in NumPy.
    some = observations[:NUMPY_ROWS]

    def concatenate() -> int:
        np.concatenate([plane.reshape(len(some), -1) for plane in layout.planes(some).values()], axis=1)
        return len(some)

    return concatenate


def _rows(game: str, form: str, runs: dict[str, Run]) -> list[Row]:
    ours, planes, zeros = (runs[key] for key in (OURS, NUMPY, ZEROS))
    return [
        Row(
            row=f"features, float32, {form}",
            game=game,
            unit="rows/CPU-s",
            ours=ours.rate,
            peer=planes.rate,
            bound=bound_of(f"features_{form}", game).bound,
            peer_name=NUMPY,
            run=ours,
            peer_run=planes,
        ),
        Row(
            row=f"features, float32, {form}, time of a row",
            game=game,
            unit="CPU-ns/row",
            ours=1e9 / ours.rate,
            peer=1e9 / zeros.rate,
            bound=bound_of(f"features_{form}_zeros", game).bound,
            peer_name=ZEROS,
            at_most=True,
            run=ours,
            peer_run=zeros,
        ),
    ]
