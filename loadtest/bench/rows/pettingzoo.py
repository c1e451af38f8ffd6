"""Random games by the action mask in PettingZoo environments without wrappers."""

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from chatiere.envs.pettingzoo import raw_env
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, middle, pinned, repeat
from loadtest.bench.self_play import SEED

# connect_four imports pygame. Prevent pygame from printing a greeting.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    from pettingzoo.classic import connect_four_v3
except ImportError:
    connect_four_v3 = None

PEER = "PettingZoo's connect_four, raw_env"


def random_games(env: Any) -> Callable[[], int]:
    """Return a function that plays a random game and returns the number of actions, without the final None actions."""
    draw = random.Random(SEED).random

    def one_game() -> int:
        actions = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                # nonzero is several times faster for arrays of bools.
                legal = observation["action_mask"].view(np.bool_).nonzero()[0]
                env.step(legal[int(draw() * len(legal))])
                actions += 1
        return actions

    return one_game


def measure(plan: BenchPlan) -> Result:
    """Measure our raw_env, compared with connect_four's."""
    works = {game.name: random_games(raw_env(game.name, players)) for game, players in plan.games.items()}
    if connect_four_v3 is not None:
        works[PEER] = random_games(connect_four_v3.raw_env())
    contenders: dict[str, Callable[[], Run]] = {
        name: lambda work=work: repeat(work, plan.seconds)  # type: ignore[misc]
        for name, work in works.items()
    }
    with pinned():
        runs = alternate(contenders, plan.rounds)
    peer = middle(runs[PEER]) if PEER in runs else None
    return Result([_row(game.name, middle(runs[game.name]), peer) for game in plan.games])


def _row(game: str, run: Run, peer: Run | None) -> Row:
    return Row(
        row="PettingZoo, raw_env",
        game=game,
        unit="actions/CPU-s",
        ours=run.rate,
        peer=peer.rate if peer else None,
        bound=bound_of("raw_env", game).bound,
        peer_name=PEER,
        run=run,
        peer_run=peer,
    )
