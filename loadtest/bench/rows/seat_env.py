"""SeatEnv compared with our PettingZoo raw_env, in random games with the minimum number of players."""

import random
from collections.abc import Callable

import numpy as np

from chatiere.engine import Game
from chatiere.envs.gymnasium import SeatEnv
from chatiere.envs.pettingzoo import raw_env
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, middle, pinned, repeat
from loadtest.bench.rows.pettingzoo import random_games
from loadtest.bench.self_play import SEED

OURS, PEER = "SeatEnv", "raw_env"


def random_episodes(game: Game) -> Callable[[], int]:
    """Return a function that plays a random episode, and returns the number of decisions of all seats."""
    env = SeatEnv(game.name)
    draw = random.Random(SEED).random

    def one_episode() -> int:
        _, info = env.reset()
        over = False
        while not over:
            legal = info["action_mask"].view(np.bool_).nonzero()[0]
            _, _, over, _, info = env.step(legal[int(draw() * len(legal))])
        # The environment counts only the decisions of its seat.
        return env._game.position.ply()

    return one_episode


def measure(plan: BenchPlan) -> Result:
    """Measure SeatEnv, compared with raw_env, for each game."""
    works = {(game.name, OURS): random_episodes(game) for game in plan.games}
    works |= {(game.name, PEER): random_games(raw_env(game.name)) for game in plan.games}
    contenders: dict[tuple[str, str], Callable[[], Run]] = {
        key: lambda work=work: repeat(work, plan.seconds)  # type: ignore[misc]
        for key, work in sorted(works.items())
    }
    with pinned():
        runs = alternate(contenders, plan.rounds)
    return Result(
        [_row(game.name, middle(runs[game.name, OURS]), middle(runs[game.name, PEER])) for game in plan.games]
    )


def _row(game: str, run: Run, peer: Run) -> Row:
    return Row(
        row="SeatEnv, decisions of all seats",
        game=game,
        unit="decisions/CPU-s",
        ours=run.rate,
        peer=peer.rate,
        bound=bound_of("seat_env", game).bound,
        peer_name="our raw_env of PettingZoo",
        run=run,
        peer_run=peer,
    )
