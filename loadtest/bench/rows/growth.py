"""The speed of self-play over gRPC by batch size and workers, and the server's memory."""

import operator
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial

from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, measured, middle
from loadtest.bench.self_play import SelfPlay
from loadtest.bench.servers import BenchServer, chatiere

BATCHES = (1, 16, 256, 1024, 4096)
WORKERS = (1, 2)
# The same number of connections for each number of workers, with a batch in flight on each, to spread over the workers.
CONNECTIONS = 4
TENTHS = 10


def measure(plan: BenchPlan) -> Result:
    """Measure the table of batch sizes and workers, and the row about memory."""
    result = Result()
    result.tables["self-play by batch size and workers, moves a second"] = _growth(plan)
    row, lines = _memory(plan)
    result.rows.append(row)
    result.tables["the server's memory in self-play"] = lines
    return result


def _contender(playing: SelfPlay, server: BenchServer, seconds: float) -> Callable[[], Run]:
    def run() -> Run:
        end = time.perf_counter() + seconds
        with measured(server) as timer:
            moves = playing.advance(lambda _: time.perf_counter() < end)
        return timer.run(moves)

    return run


def _growth(plan: BenchPlan) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    for game, players in plan.games.items():
        with ExitStack() as stack:
            contenders = {}
            for workers in WORKERS:
                server = stack.enter_context(chatiere(workers))
                for batch in BATCHES:
                    playing = SelfPlay(server.fast_address, game.name, players, batch, CONNECTIONS, in_flight=1)
                    stack.callback(playing.close)
                    playing.advance(partial(operator.gt, plan.warm_up * batch))
                    contenders[workers, batch] = _contender(playing, server, plan.seconds / 2)
            runs = alternate(contenders, plan.rounds)
        for (workers, batch), found in runs.items():
            run = middle(found)
            lines.append(
                {
                    "game": game.name,
                    "workers": workers,
                    "batch": batch,
                    "moves/s": run.amount / run.wall,
                    "moves/CPU-s": run.rate,
                    "moves/server CPU-s": run.amount / run.server if run.server else float("nan"),
                }
            )
    return lines


def _memory(plan: BenchPlan) -> tuple[Row, list[dict[str, float]]]:
    lines: list[dict[str, float]] = []
    share = plan.moves // TENTHS // len(plan.games)
    made = 0
    with ExitStack() as stack:
        server = stack.enter_context(chatiere())
        playing = [
            stack.enter_context(closing(SelfPlay(server.fast_address, game.name, players, plan.batch, 1, in_flight=2)))
            for game, players in plan.games.items()
        ]
        for _ in range(TENTHS):
            made += sum(one.advance(lambda moves: moves < share) for one in playing)
            lines.append({"moves": made, "MB": server.memory() / 1e6})
    row = Row(
        row=f"memory after {made:,} moves",
        game="all",
        unit="MB",
        ours=lines[-1]["MB"],
        peer=lines[0]["MB"],
        bound=bound_of("memory").bound,
        peer_name=f"after {lines[0]['moves']:,} moves",
        at_most=True,
    )
    return row, lines
