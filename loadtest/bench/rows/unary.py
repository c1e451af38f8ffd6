"""Single calls to Apply, with the legal actions of the next decision, at grpcio's port."""

from collections.abc import Mapping
from typing import Any

from chatiere.engine import Game
from loadtest.bench import h2load
from loadtest.bench.apply_call import apply_call
from loadtest.bench.bounds import bound_of
from loadtest.bench.h2load import Contender, Load
from loadtest.bench.measure import BenchPlan, Result, Row
from loadtest.bench.servers import bare, chatiere, echoing

# The methods of GameService that are called. echo_server.py adds the second one.
APPLY, ECHO = "Apply", "Echo"
BARE = "a grpcio server that sends bytes made in advance"
# The numbers of calls in flight, each on a separate connection. The connections are distributed over the workers.
IN_FLIGHT = (1, 16)
WORKERS = (1, 2)


def measure(plan: BenchPlan) -> Result:
    """Measure Apply for each game and number of calls in flight, compared with a bare server and with Echo."""
    result = Result()
    if not h2load.installed():
        result.tables["one Apply a call: not measured without h2load, which is in Debian's package nghttp2-client"] = []
        return result
    result.rows += _beside_bare(plan)
    lines = result.tables.setdefault("one Apply with legal actions a call", [])
    for workers in WORKERS:
        with echoing(workers, plan.games) as server:
            contenders = {method: Contender(server, server.address, method) for method in (APPLY, ECHO)}
            for game, players in plan.games.items():
                for in_flight in IN_FLIGHT:
                    call = apply_call(game, players)
                    runs = h2load.take_turns(contenders, call, in_flight, plan)
                    loads = h2load.medians(runs, lambda load: load.rate)
                    result.rows.append(_beside_echo(game, in_flight, workers, loads))
                    lines += [_line(game, in_flight, workers, method, load) for method, load in loads.items()]
    return result


def cpu_row(row: str, game: str, ours: Load, peer: Load, bound_name: str, peer_name: str) -> Row:
    """Return a row about the server's processor time. The row's target also applies to the ratio."""
    bound = bound_of(bound_name, game)
    return Row(
        row=row,
        game=game,
        unit="calls/server CPU-s",
        ours=ours.per_cpu_second,
        peer=peer.per_cpu_second,
        bound=bound.bound,
        target=bound.target,
        target_figure=ours.per_cpu_second / peer.per_cpu_second,
        peer_name=peer_name,
        run=ours.run,
        peer_run=peer.run,
    )


def _beside_bare(plan: BenchPlan) -> list[Row]:
    rows = []
    with chatiere() as server, bare(plan.games) as peer:
        for game, players in plan.games.items():
            call = apply_call(game, players)
            contenders = {
                APPLY: Contender(server, server.address, APPLY),
                BARE: Contender(peer, peer.address, game.name),
            }
            for in_flight in IN_FLIGHT:
                runs = h2load.take_turns(contenders, call, in_flight, plan)
                loads = h2load.medians(runs, lambda load: load.per_cpu_second)
                name = f"Apply beside a bare server, {in_flight} in flight"
                rows.append(cpu_row(name, game.name, loads[APPLY], loads[BARE], f"apply_bare_{in_flight}", BARE))
    return rows


def _beside_echo(game: Game, in_flight: int, workers: int, loads: Mapping[str, Load]) -> Row:
    return Row(
        row=f"Apply, {in_flight} in flight, workers: {workers}",
        game=game.name,
        unit="calls/s",
        ours=loads[APPLY].rate,
        peer=loads[ECHO].rate,
        bound=bound_of("apply", game.name).bound,
        peer_name="a method that does nothing",
        run=loads[APPLY].run,
        peer_run=loads[ECHO].run,
    )


def _line(game: Game, in_flight: int, workers: int, method: str, load: Load) -> dict[str, Any]:
    return {
        "game": game.name,
        "workers": workers,
        "in flight": in_flight,
        "method": method,
        "calls/s": load.rate,
        "p50 ms": load.p50,
        "p99 ms": load.p99,
        "server CPU µs a call": 1e6 / load.per_cpu_second,
    }
