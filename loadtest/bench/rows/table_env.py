"""TableEnv compared with pgx and with itself with many games, and the cost of dividing a step between two threads."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from chatiere.engine import Game
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, fastest, listed, middle
from loadtest.bench.pinned import CORES, Pinned, pgx_installed

PEER = "pgx on this processor, jitted scan"
# The fastest games of pgx that are not trivial.
PEERS = ("connect_four", "leduc_holdem")
# The size of a batch that is divided between threads, as a multiple of the usual size.
DIVIDED = 8
# The number of games of an environment with many games, as a multiple of the usual number.
MANY = 100
# The sizes of the batches that one and two threads step, as multiples of the usual size.
SIZES = (1, 4, DIVIDED)
ONE, TWO, SPREAD, APART = "one thread", "two threads", "two threads, two cores", "two processes"


def measure(plan: BenchPlan) -> Result:
    """Measure the rows about TableEnv, and those about steps in several threads."""
    played, many, steps = _play(plan), [_play_many(plan, game) for game in plan.games], _divide(plan)
    sizes = {"step in 2 threads, moves a second as a multiple of 1 thread": [_step(plan, game) for game in plan.games]}
    return Result(played.rows + many + steps.rows, played.tables | steps.tables | sizes)


def _play(plan: BenchPlan) -> Result:
    with ExitStack() as stack:
        pinned = {
            ("", game.name): _ended_by(stack, Pinned("table_env", game.name, plan.batch, plan.warm_up))
            for game in plan.games
        }
        if pgx_installed():
            pinned |= {(PEER, name): _ended_by(stack, Pinned("pgx", name, plan.batch)) for name in PEERS}
        runs = alternate({key: _runs(one, plan) for key, one in pinned.items()}, plan.rounds)
    theirs = {name: one for (of, name), one in runs.items() if of}
    peer = fastest(theirs) if theirs else None
    rows = []
    for game in plan.games:
        run = middle(runs["", game.name])
        bound, target = bound_of("table_env", game.name)
        rows.append(
            Row(
                row="TableEnv, random play from masks, with observations",
                game=game.name,
                unit="moves/CPU-s",
                ours=run.rate,
                peer=peer[1].rate if peer else None,
                bound=bound,
                peer_name=f"{PEER}: {peer[0]}" if peer else f"{PEER} (not installed)",
                target=target,
                target_figure=run.rate / peer[1].rate if peer else None,
                run=run,
                peer_run=peer[1] if peer else None,
            )
        )
    return Result(rows, {"pgx in random play from masks, with observations": listed(runs)} if theirs else {})


def _play_many(plan: BenchPlan, game: Game) -> Row:
    with ExitStack() as stack:
        few, many = (
            _ended_by(stack, Pinned("table_env", game.name, count, plan.warm_up))
            for count in (plan.batch, MANY * plan.batch)
        )
        runs = alternate({"few": _runs(few, plan), "many": _runs(many, plan)}, plan.rounds)
    row, peer = "TableEnv, a hundred times the games, time of a move", "itself with the usual number of games"
    return _row_of_cpu(row, game, middle(runs["many"]), middle(runs["few"]), "table_env_many", peer)


def _divide(plan: BenchPlan) -> Result:
    rows: list[Row] = []
    lines = []
    for game in plan.games:
        with ExitStack() as stack:
            asked = ("steps", game.name, DIVIDED * plan.batch, plan.warm_up)
            # Run both contenders on one core. Two cores share caches and other resources, so the same work would take
            # longer, divided or not.
            one, two = (_ended_by(stack, Pinned(*asked, threads)) for threads in (1, 2))
            spread = _ended_by(stack, Pinned(*asked, 2, cores=CORES[:1] + CORES[-1:]))
            apart = [_ended_by(stack, Pinned(*asked, 1, cores=cores)) for cores in (CORES[:1], CORES[-1:])]
            runs = alternate(
                {
                    ONE: _runs(one, plan),
                    TWO: _runs(two, plan),
                    SPREAD: _runs(spread, plan),
                    APART: lambda apart=apart: _together(apart, plan),  # type: ignore[misc]
                },
                plan.rounds,
            )
        found = {kind: middle(each) for kind, each in runs.items() if kind in (ONE, TWO)}
        found |= {kind: middle(runs[kind], _moves_a_second) for kind in (SPREAD, APART)}
        row = "step in 2 threads, processor time of a move"
        cpu = _row_of_cpu(row, game, found[TWO], found[ONE], "threads_cpu", "itself in 1 thread")
        rows += [cpu, _row_of_wall(game, found[SPREAD], found[APART])]
        lines += [
            {"game": game.name, "by": kind, "moves/CPU-s": run.rate, "moves/s": _moves_a_second(run)}
            for kind, run in found.items()
        ]
    return Result(rows, {f"steps of {DIVIDED * plan.batch} games, divided": lines})


def _step(plan: BenchPlan, game: Game) -> dict[str, Any]:
    # Return a line of a table: how many times faster two threads are than one, by wall time, for each size of a batch.
    line: dict[str, Any] = {"game": game.name}
    for size in (multiple * plan.batch for multiple in SIZES):
        with ExitStack() as stack:
            cores = CORES[:1] + CORES[-1:]
            contenders = {
                threads: _ended_by(stack, Pinned("steps", game.name, size, plan.warm_up, threads, cores=cores))
                for threads in (1, 2)
            }
            runs = alternate({threads: _runs(one, plan) for threads, one in contenders.items()}, plan.rounds)
        one, two = (_moves_a_second(middle(each, _moves_a_second)) for each in runs.values())
        line[f"{size} games"] = two / one
    return line


def _ended_by(stack: ExitStack, pinned: Pinned) -> Pinned:
    stack.callback(pinned.close)
    return pinned


def _runs(pinned: Pinned, plan: BenchPlan) -> Callable[[], Run]:
    return lambda: pinned.run(plan.seconds)


def _together(contenders: list[Pinned], plan: BenchPlan) -> Run:
    # Run all contenders at the same time. Return one run with all their moves and the mean of their times.
    for contender in contenders:
        contender.start(plan.seconds)
    runs = [contender.finish() for contender in contenders]
    wall = sum(run.wall for run in runs) / len(runs)
    return Run(sum(run.amount / run.wall for run in runs) * wall, wall, sum(run.cpu for run in runs))


def _moves_a_second(run: Run) -> float:
    return run.amount / run.wall


def _row_of_cpu(row: str, game: Game, run: Run, peer: Run, bound: str, peer_name: str) -> Row:
    return Row(
        row=row,
        game=game.name,
        unit="CPU-ns/move",
        ours=1e9 / run.rate,
        peer=1e9 / peer.rate,
        bound=bound_of(bound).bound,
        peer_name=peer_name,
        at_most=True,
        run=run,
        peer_run=peer,
    )


def _row_of_wall(game: Game, spread: Run, apart: Run) -> Row:
    return Row(
        row="step in 2 threads, moves a second",
        game=game.name,
        unit="moves/s",
        ours=_moves_a_second(spread),
        peer=_moves_a_second(apart),
        bound=bound_of("threads_wall").bound,
        peer_name="two processes",
        run=spread,
        peer_run=apart,
    )
