"""Random self-play over gRPC. The server lists the legal actions, and the client chooses an action.

Two batches are in flight on one stream, so that client and server work in parallel. Games that end are restarted. The
measurement starts when the games are at different plies.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from chatiere.clients import VectorEnv
from chatiere.engine import Game
from loadtest.bench import peers
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, fastest, listed, measured, middle, repeat
from loadtest.bench.rows.in_process import in_batches
from loadtest.bench.self_play import SEED, SelfPlay
from loadtest.bench.servers import BenchServer, at_unix_sockets, chatiere, openspiel

IN_PROCESS = "OpenSpiel, Python loop"
TUNED = "OpenSpiel, Python loop tuned by hand"
SHELL = "OpenSpiel, same gRPC shell"
OWN = "the same loop in process"
KEPT = "states kept on the stream"
FAST, CHANNEL = "the fast door", "gRPC's channel"
OVER = (FAST, CHANNEL)
# How streams at the fast door's Unix socket carry their messages, and how their addresses begin.
OVER_UNIX = {"over HTTP/2": "unix:", "in shared memory": "shm:"}
# Map each peer to its row in bounds.toml.
ROWS = {IN_PROCESS: "self_play_in_process", SHELL: "self_play_shell"}
BOUNDS = {**ROWS, OWN: "self_play_own"}


def contender(
    stack: ExitStack,
    server: BenchServer,
    game: str,
    players: int,
    plan: BenchPlan,
    *,
    keeps: bool = False,
    address: str = "",
) -> Callable[[], Run]:
    """Return a contender whose games are at different plies.

    `keeps` is True to keep states in the service. `address` is the address of the stream, by default the fast door's.
    """
    address = address or server.fast_address
    playing = SelfPlay(address, game, players, plan.batch, connections=1, in_flight=2, keeps=keeps)
    stack.callback(playing.close)
    playing.advance(lambda moves: moves < plan.warm_up * plan.batch * 2)

    def run() -> Run:
        end = time.perf_counter() + plan.seconds
        with measured(server) as timer:
            moves = playing.advance(lambda _: time.perf_counter() < end)
        return timer.run(moves)

    return run


def environment(
    stack: ExitStack, server: BenchServer, game: str, players: int, plan: BenchPlan, over: str
) -> Callable[[], Run]:
    """Return a contender that uses the library's VectorEnv. `over` is the door or channel for its stream."""
    env = stack.enter_context(
        VectorEnv(
            stack.enter_context(server.channel()),
            game,
            players,
            num_envs=2 * plan.batch,
            batches=2,
            fast_address=server.fast_address if over == FAST else None,
        )
    )
    batch = env.reset(SEED)
    for _ in range(2 * plan.warm_up):
        batch = env.step(batch.random_actions())

    def run() -> Run:
        nonlocal batch
        moves, end = 0, time.perf_counter() + plan.seconds
        with measured(server) as timer:
            while time.perf_counter() < end:
                moves += len(batch)
                batch = env.step(batch.random_actions())
        return timer.run(moves)

    return run


def beside_own_loop(plan: BenchPlan) -> list[dict[str, Any]]:
    """Return the ratios to the same loop in process, over a Unix socket and in shared memory, by size of batch."""
    lines = []
    for batch in (plan.batch // 4, plan.batch, 8 * plan.batch):
        sized = replace(plan, batch=batch)
        for game, players in plan.games.items():
            with ExitStack() as stack:
                server = stack.enter_context(at_unix_sockets())
                step = in_batches(game, players, sized, observations=False)
                contenders: dict[str, Callable[[], Run]] = {OWN: lambda step=step: repeat(step, plan.seconds)}  # type: ignore[misc]
                for over, address in OVER_UNIX.items():
                    place = server.fast_address.replace("unix:", address)
                    contenders[over] = contender(stack, server, game.name, players, sized, keeps=True, address=place)
                runs = {over: middle(found).rate for over, found in alternate(contenders, plan.rounds).items()}
            ratios = {over: runs[over] / runs[OWN] for over in OVER_UNIX}
            lines.append({"game": game.name, "batch": batch, "moves/CPU-s": runs[OWN], **ratios})
    return lines


def measure(plan: BenchPlan) -> Result:
    """Measure the rows, compared with OpenSpiel in process and behind gRPC, and with our own loop in process."""
    with ExitStack() as stack:
        ours = stack.enter_context(chatiere())
        contenders: dict[tuple[str, str], Callable[[], Run]] = {
            ("", game.name): contender(stack, ours, game.name, players, plan) for game, players in plan.games.items()
        }
        for game, players in plan.games.items():
            contenders[KEPT, game.name] = contender(stack, ours, game.name, players, plan, keeps=True)
            step = in_batches(game, players, plan, observations=False)
            contenders[OWN, game.name] = lambda step=step: repeat(step, plan.seconds)  # type: ignore[misc]
        if peers.installed():
            theirs = stack.enter_context(openspiel())
            for name in peers.NAMES:
                plain, tuned = peers.plain_loop(name), peers.tuned_loop(name)
                contenders[IN_PROCESS, name] = lambda loop=plain: loop(plan.seconds)  # type: ignore[misc]
                contenders[TUNED, name] = lambda loop=tuned: loop(plan.seconds)  # type: ignore[misc]
                contenders[SHELL, name] = contender(stack, theirs, name, 0, plan)
        runs = alternate(contenders, plan.rounds)
        # Measure these separately: each has a channel in this process, and a channel's threads are never idle.
        environments = alternate(
            {
                (game.name, over): environment(stack, ours, game.name, players, plan, over)
                for game, players in plan.games.items()
                for over in OVER
            },
            plan.rounds,
        )
    result = Result()
    result.tables["self-play with VectorEnv"] = [
        {"game": name, "over": over, "moves/CPU-s": middle(found).rate} for (name, over), found in environments.items()
    ]
    result.tables[f"self-play, states kept, at a Unix socket, beside {OWN}"] = beside_own_loop(plan)
    if peers.installed():
        result.tables["OpenSpiel in random play"] = listed(runs)
    best = {
        kind: fastest({name: one for (of, name), one in runs.items() if of == kind})
        for kind in ROWS
        if peers.installed()
    }
    for kind in ROWS:
        for game in plan.games:
            result.rows.append(_row(game, kind, middle(runs["", game.name]), best.get(kind)))
    for game in plan.games:
        result.rows.append(_row(game, OWN, middle(runs[KEPT, game.name]), ("", middle(runs[OWN, game.name]))))
    result.tables["self-play, states sent or kept on the stream"] = [
        {"game": game.name, "states": kind or "sent", "moves/CPU-s": middle(runs[kind, game.name]).rate}
        for game in plan.games
        for kind in ("", KEPT)
    ]
    return result


def _row(game: Game, kind: str, run: Run, peer: tuple[str, Run] | None) -> Row:
    bound, target = bound_of(BOUNDS[kind], game.name)
    return Row(
        row=f"self-play over gRPC, beside {kind}",
        game=game.name,
        unit="moves/CPU-s",
        ours=run.rate,
        peer=peer[1].rate if peer else None,
        bound=bound,
        peer_name=f"{kind}: {peer[0]}" if peer and peer[0] else kind,
        target=target,
        target_figure=run.amount / run.server if run.server else None,
        run=run,
        peer_run=peer[1] if peer else None,
    )
