"""The engine in process, called from Python: the acting seat's observation, legal actions and apply for every move."""

import random
from collections.abc import Callable

import numpy as np

from chatiere.engine import Game
from chatiere.engine.core.batch import Table
from chatiere.engine.core.columns import Columns, Restart
from loadtest.bench import peers
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, fastest, listed, middle, repeat
from loadtest.bench.self_play import SEED, choose, seeds_and_numbers

PEER = "OpenSpiel, Python loop with tensor and mask"
TUNED = "OpenSpiel, the same with its observer writing into one array"
ROWS = {"one_state_a_call": "in process, one state a call", "in_batches": "in process, in batches"}


def one_state_a_call(game: Game, players: int) -> Callable[[], int]:
    """Return a function that plays a random game, one position at a time, and returns its number of moves."""
    rng = random.Random(SEED)
    number = 0

    def one_game() -> int:
        nonlocal number
        moves = 0
        position = game.new_game(players, seed=SEED, game_number=number)
        number += 1
        while (seat := position.current_player()) >= 0:
            np.frombuffer(position.observation(seat), "u1")
            position.apply(rng.choice(position.legal_actions()))
            moves += 1
        return moves

    return one_game


def in_batches(game: Game, players: int, plan: BenchPlan, *, observations: bool = True) -> Callable[[], int]:
    """Return a function that makes a move in each game of a batch, and returns the number of moves."""
    table = Table(game, players)
    rng = np.random.default_rng(SEED)
    columns = Columns(legal=True, observations=observations)
    restart = Restart(stride=plan.batch)
    seeds, numbers = seeds_and_numbers(0, plan.batch)
    positions = table.new_games(seeds=seeds, game_numbers=numbers, columns=columns)

    def step() -> int:
        nonlocal positions
        moves = choose(positions.legal_offsets, positions.legal_ids, rng)
        positions, _ = table.step(positions.states, moves, columns=columns, restart=restart)
        if observations:
            np.frombuffer(positions.observations, "u1").reshape(plan.batch, -1)
        return plan.batch

    for _ in range(plan.warm_up):
        step()
    return step


def measure(plan: BenchPlan) -> Result:
    """Measure the rows, compared with OpenSpiel's loop with tensor and mask."""
    contenders: dict[tuple[str, str], Callable[[], Run]] = {}
    for game, players in plan.games.items():
        for kind, work in (
            ("one_state_a_call", one_state_a_call(game, players)),
            ("in_batches", in_batches(game, players, plan)),
        ):
            contenders["", f"{kind} {game.name}"] = lambda work=work: repeat(work, plan.seconds)  # type: ignore[misc]
    if peers.installed():
        for name in peers.NAMES:
            plain, tuned = peers.plain_learner_loop(name), peers.tuned_learner_loop(name)
            contenders[PEER, name] = lambda loop=plain: loop(plan.seconds)  # type: ignore[misc]
            contenders[TUNED, name] = lambda loop=tuned: loop(plan.seconds)  # type: ignore[misc]
    runs = alternate(contenders, plan.rounds)
    result = Result()
    if peers.installed():
        result.tables["OpenSpiel in random play with tensor and mask"] = listed(runs)
    theirs = {name: one for (of, name), one in runs.items() if of == PEER}
    peer = fastest(theirs) if theirs else None
    for kind, title in ROWS.items():
        for game in plan.games:
            run = middle(runs["", f"{kind} {game.name}"])
            result.rows.append(
                Row(
                    row=title,
                    game=game.name,
                    unit="moves/CPU-s",
                    ours=run.rate,
                    peer=peer[1].rate if peer else None,
                    bound=bound_of(kind, game.name).bound,
                    peer_name=f"{PEER}: {peer[0]}" if peer else PEER,
                    run=run,
                    peer_run=peer[1] if peer else None,
                )
            )
    return result
