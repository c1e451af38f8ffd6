"""Random playouts of new games on the server: BatchService.Playout."""

from collections.abc import Callable

import numpy as np

from chatiere.engine import Game
from chatiere.v1.batch_service_pb2 import BatchSetup, NewGamesRequest, PlayoutRequest
from chatiere.v1.batch_service_pb2_grpc import BatchServiceStub
from loadtest.bench import peers
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, fastest, listed, middle, repeat
from loadtest.bench.self_play import SEED, seeds_and_numbers
from loadtest.bench.servers import BenchServer, chatiere

PEER = "OpenSpiel, RandomRolloutEvaluator in C++"
STATES = 256


def contender(
    server: BenchServer, stub: BatchServiceStub, game: Game, players: int, plan: BenchPlan
) -> Callable[[], Run]:
    """Return a contender that repeats playouts of the same states. Each call takes about a tenth of a run."""
    table = BatchSetup(game=game.name, players=players)
    seeds, numbers = seeds_and_numbers(0, STATES)
    begun = stub.NewGames(NewGamesRequest(setup=table, seeds=seeds, game_numbers=numbers))
    request = PlayoutRequest(setup=table, states=begun.positions.states, playouts=1, seed=SEED)

    def call() -> int:
        response = stub.Playout(request)
        if response.faults.reasons:
            raise RuntimeError(str(response.faults))
        request.first_game_number += STATES * request.playouts
        return int(np.frombuffer(response.decisions, "<u8").sum())

    call()
    once = repeat(call, 0.0).wall
    request.playouts = max(1, int(plan.seconds / 10 / once))
    return lambda: repeat(call, plan.seconds, server)


def measure(plan: BenchPlan) -> Result:
    """Measure the rows, compared with OpenSpiel's rollouts."""
    with chatiere() as server, server.channel() as channel:
        stub = BatchServiceStub(channel)
        contenders: dict[tuple[str, str], Callable[[], Run]] = {
            ("", game.name): contender(server, stub, game, players, plan) for game, players in plan.games.items()
        }
        if peers.installed():
            for name in peers.NAMES:
                rollouts = peers.rollouts(name)
                contenders[PEER, name] = lambda loop=rollouts: loop(plan.seconds)  # type: ignore[misc]
        runs = alternate(contenders, plan.rounds)
    theirs = {name: one for (of, name), one in runs.items() if of == PEER}
    peer = fastest(theirs) if theirs else None
    rows = [_row(game, middle(runs["", game.name]), peer) for game in plan.games]
    return Result(rows, {"OpenSpiel in random playouts": listed(runs)} if theirs else {})


def _row(game: Game, run: Run, peer: tuple[str, Run] | None) -> Row:
    bound, target = bound_of("playout", game.name)
    return Row(
        row="Playout on the server",
        game=game.name,
        unit="moves/CPU-s",
        ours=run.rate,
        peer=peer[1].rate if peer else None,
        bound=bound,
        peer_name=f"{PEER}: {peer[0]}" if peer else PEER,
        target=target,
        target_figure=run.rate,
        run=run,
        peer_run=peer[1] if peer else None,
    )
