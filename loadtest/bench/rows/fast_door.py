"""Single calls to Apply with legal actions at the fast door, compared with grpcio's port and echo servers.

The echo servers use grpcio and grpc++. One call in flight is also measured over Unix sockets.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from loadtest.bench import h2load
from loadtest.bench.apply_call import Call, apply_call
from loadtest.bench.bounds import bound_of, target_of
from loadtest.bench.h2load import Contender, Load
from loadtest.bench.measure import BenchPlan, Result, Row, alternate
from loadtest.bench.rows import unary
from loadtest.bench.rows.unary import APPLY, cpu_row
from loadtest.bench.servers import at_unix_sockets, bare, chatiere, echo, echo_built, fast_door_built

# Limits so high that each call is counted but not refused.
LIMITS = ("--max-calls-per-client=100000", "--max-rate-per-client=1000000")
# The numbers of calls in flight, each on a separate connection.
SINGLE, FULL = 1, 16
# The names of the contenders, and of the bounds for each peer.
FAST, TWO_WORKERS = "fast door", "fast door, 2 workers"
FAST_UNIX, GRPCIO_UNIX = "fast door, Unix socket", "grpcio's port, Unix socket"
GRPCIO, BARE, CPP = "grpcio's port", "grpcio echo", "grpc++ echo"
BOUNDS = {GRPCIO: "fast_grpcio", BARE: "fast_bare", CPP: "fast_cpp"}
PEERS = {
    GRPCIO: "Apply at grpcio's port of the same server",
    BARE: unary.BARE,
    CPP: "a grpc++ server that sends bytes made in advance",
}
# The maximum median duration of a call over a Unix socket, in milliseconds.
UNIX_P50 = 0.06


def measure(plan: BenchPlan) -> Result:
    """Measure the server's processor time for Apply, and the duration of a call at half load, for each game."""
    if not fast_door_built():
        return Result(tables={"Apply, fast door: not measured, as the service was built without it": []})
    if not h2load.installed():
        return Result(tables={"Apply, fast door: not measured without h2load, of Debian's package nghttp2-client": []})
    result = Result()
    loads = result.tables.setdefault("Apply, fast door and its peers", [])
    sharing = result.tables.setdefault("Apply, 1 in flight, with client and server on one core", [])
    paced = result.tables.setdefault("Apply at half of the calls per second that each reaches with 16 in flight", [])
    if not (has_cpp := echo_built()):
        result.tables["Apply, fast door: no grpc++ echo without g++ and Debian's package libgrpc++-dev"] = []
    with (
        chatiere(1, *LIMITS) as one,
        chatiere(2, *LIMITS) as two,
        at_unix_sockets(*LIMITS) as unix,
        bare(plan.games) as bare_server,
    ):
        fast, grpcio = Contender(one, one.fast_address, APPLY), Contender(one, one.address, APPLY)
        two_workers = Contender(two, two.fast_address, APPLY)
        over_unix = {
            FAST_UNIX: Contender(unix, unix.fast_address, APPLY),
            GRPCIO_UNIX: Contender(unix, unix.address, APPLY),
        }
        for game, players in plan.games.items():
            call = apply_call(game, players)
            contenders = {FAST: fast, GRPCIO: grpcio, BARE: Contender(bare_server, bare_server.address, game.name)}
            single = _medians(h2load.take_turns(contenders | over_unix, call, SINGLE, plan))
            shared = _medians(h2load.take_turns(contenders | over_unix, call, SINGLE, plan, one_core=True))
            sharing += [_line(game.name, name, load, SINGLE) for name, load in shared.items()]
            with ExitStack() as stack:
                contenders[TWO_WORKERS] = two_workers
                if has_cpp:
                    cpp = stack.enter_context(echo(APPLY, call.response_size))
                    contenders[CPP] = Contender(cpp, cpp.address, APPLY)
                runs = h2load.take_turns(contenders, call, FULL, plan)
            full, rates = _medians(runs), h2load.medians(runs, lambda load: load.rate)
            half = _half_load({name: (contenders[name], rates[name].rate / 2) for name in (FAST, GRPCIO)}, call, plan)
            result.rows += [*_rows(game.name, full, FULL), *_rows(game.name, single, SINGLE)]
            result.rows += _unix_rows(game.name, single, shared)
            name = f"Apply, fast door, 2 workers, {FULL} in flight"
            result.rows.append(cpu_row(name, game.name, full[TWO_WORKERS], full[FAST], "fast_workers", "1 worker"))
            result.rows.append(_p99_row(game.name, half))
            for in_flight, found in ((FULL, full), (SINGLE, single)):
                loads += [_line(game.name, name, load, in_flight) for name, load in found.items()]
            paced += [
                {"game": game.name, "server": name, "calls/s": load.rate, "p50 ms": load.p50, "p99 ms": load.p99}
                for name, load in half.items()
            ]
    return result


def _medians(runs: Mapping[str, list[Load]]) -> dict[str, Load]:
    return h2load.medians(runs, lambda load: load.per_cpu_second)


def _half_load(contenders: Mapping[str, tuple[Contender, float]], call: Call, plan: BenchPlan) -> dict[str, Load]:
    """Run each contender at a rate of calls per second, and return its run with the median p99."""
    loads = {
        name: partial(h2load.load, contender, call, FULL, max(FULL, int(rate * plan.seconds)), rate)
        for name, (contender, rate) in contenders.items()
    }
    return h2load.medians(alternate(loads, plan.rounds), lambda load: load.p99)


def _rows(game: str, loads: Mapping[str, Load], in_flight: int) -> list[Row]:
    return [
        cpu_row(
            f"Apply, fast door beside {peer}, {in_flight} in flight",
            game,
            loads[FAST],
            loads[peer],
            f"{bound}_{in_flight}",
            PEERS[peer],
        )
        for peer, bound in BOUNDS.items()
        if peer in loads
    ]


def _unix_rows(game: str, single: Mapping[str, Load], shared: Mapping[str, Load]) -> list[Row]:
    """Return the rows of Unix sockets, with client and server on one core and on separate cores."""
    name = f"Apply, fast door at a Unix socket beside grpcio's port, {SINGLE} in flight on one core"
    ours = single[FAST_UNIX]
    return [
        cpu_row(name, game, shared[FAST_UNIX], shared[GRPCIO], "unix_grpcio", "Apply at grpcio's port, over TCP"),
        Row(
            row=f"Apply, fast door at a Unix socket, 50 % of the calls, {SINGLE} in flight",
            game=game,
            unit="ms",
            ours=ours.p50,
            peer=UNIX_P50,
            bound=bound_of("unix_p50", game).bound,
            peer_name="what a call is to take at most",
            at_most=True,
            run=ours.run,
        ),
    ]


def _p99_row(game: str, loads: Mapping[str, Load]) -> Row:
    ours, peer = loads[FAST], loads[GRPCIO]
    bound = bound_of("fast_p99", game)
    return Row(
        row="Apply, fast door, 99 % of the calls at half load",
        game=game,
        unit="ms",
        ours=ours.p99,
        peer=peer.p99,
        bound=bound.bound,
        target=bound.target,
        target_figure=ours.p99,
        peer_name="grpcio's port at half of its load",
        at_most=True,
        run=ours.run,
        peer_run=peer.run,
    )


def _line(game: str, name: str, load: Load, in_flight: int) -> dict[str, Any]:
    return {
        "game": game,
        "server": name,
        "in flight": in_flight,
        "calls/server CPU-s": load.per_cpu_second,
        "target": target_of("fast_alone", game) if (name, in_flight) == (FAST, FULL) else None,
        "server CPU µs a call": 1e6 / load.per_cpu_second,
        "calls/s": load.rate,
        "p50 ms": load.p50,
        "p99 ms": load.p99,
    }
