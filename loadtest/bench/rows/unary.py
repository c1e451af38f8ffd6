"""Single calls of Apply, with the legal actions of the next decision: calls per second, and their durations.

The client is h2load (of nghttp2), because one in Python is slower than the server. It sees only HTTP statuses; that all
responses were complete is checked by the number of bytes that it received.
"""

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chatiere.engine import Game
from chatiere.engine.wire import fill
from chatiere.service.calls import conversion, game_service
from chatiere.service.ports.methods import GAME_SERVICE
from chatiere.v1.game_service_pb2 import ApplyRequest
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run
from loadtest.bench.servers import BenchServer, bare, chatiere, echoing

# Methods of GameService; the second is added by echo_server.py.
APPLY, ECHO = "Apply", "Echo"
# Calls in flight: connections with one call at a time, which spread over the workers.
IN_FLIGHT = (1, 16)
WORKERS = (1, 2)
# Runs per round: each run spreads its connections randomly over the workers, so many short runs are more precise.
RUNS = 4
# Seconds.
_TICK = 0.01


class UnaryLoad(NamedTuple):
    """The result of a run of h2load: the run, and the 50th and 99th percentiles of the duration of a call, in ms."""

    run: Run
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Calls per second."""
        return self.run.count / self.run.wall


class Contender(NamedTuple):
    """A method of GameService on a server."""

    server: BenchServer
    method: str


def apply_request(game: Game, players: int) -> ApplyRequest:
    """Return a request of Apply with legal actions, at the decision of a random game with the median response size."""
    rng = np.random.default_rng(7)
    position = game.new_game(players, seed=7)
    requests = []
    while not position.is_terminal():
        actions = position.legal_actions()
        action = actions[rng.integers(len(actions))]
        request = ApplyRequest()
        fill(request.state, conversion.of(position).put_state, position)
        request.action.id = action
        request.include.legal_actions = True
        requests.append((len(_response(request)), len(requests), request))
        position.apply(action)
    return sorted(requests)[len(requests) // 2][2]


def _response(request: ApplyRequest) -> bytes:
    response, _ = game_service.apply(request.SerializeToString())
    return response


def installed() -> bool:
    """Return True if h2load is installed."""
    return shutil.which("h2load") is not None


def load(server: BenchServer, method: str, request: bytes, response_size: int, in_flight: int, calls: int) -> UnaryLoad:
    """Make `calls` calls of a method."""
    with tempfile.TemporaryDirectory() as directory:
        data, log = Path(directory, "request"), Path(directory, "log")
        data.write_bytes(_frame(request))
        command = ["h2load", f"--requests={calls}", f"--clients={in_flight}", "--max-concurrent-streams=1"]
        command += [f"--data={data}", f"--log-file={log}", "--header=content-type: application/grpc"]
        command += [
            "--header=te: trailers",
            "--header=grpc-timeout: 10S",
            f"http://{server.address}/{GAME_SERVICE}/{method}",
        ]
        children, in_server = resource.getrusage(resource.RUSAGE_CHILDREN), server.cpu_seconds()
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        client = used.ru_utime + used.ru_stime - children.ru_utime - children.ru_stime
        in_server = server.cpu_seconds() - in_server
        # Start, HTTP status and microseconds of each call.
        times = [int(line.split("\t")[2]) / 1000 for line in log.read_text().splitlines()]
    found = re.search(r"\((\d+)\) data$", output, re.MULTILINE)
    if len(times) != calls or found is None or int(found[1]) != calls * len(_frame(bytes(response_size))):
        raise RuntimeError(f"not all {calls} calls of {method} got a response of {response_size} bytes:\n{output}")
    rate = re.search(r"^finished in [^,]*, ([0-9.]+) req/s", output, re.MULTILINE)
    if rate is None:
        raise RuntimeError(f"h2load reported no rate:\n{output}")
    run = Run(calls, calls / float(rate[1]), client, in_server)
    p50, p99 = np.percentile(times, (50, 99))
    return UnaryLoad(run, float(p50), float(p99))


def _frame(message: bytes) -> bytes:
    # As gRPC sends it: uncompressed, prefixed with its length.
    return b"\0" + len(message).to_bytes(4, "big") + message


def measure(plan: BenchPlan) -> Result:
    """Measure Apply for each game and number of calls in flight, beside a bare server and beside Echo."""
    result = Result()
    if not installed():
        result.tables["one Apply a call: not measured without h2load, which is in Debian's package nghttp2-client"] = []
        return result
    with chatiere() as server, bare(plan.games) as peer:
        for game, players in plan.games.items():
            contenders = [Contender(server, APPLY), Contender(peer, game.name)]
            for in_flight in IN_FLIGHT:
                ours, theirs = _beside_each_other(contenders, game, players, in_flight, plan, 1, _per_cpu_second)
                result.rows.append(
                    Row(
                        row=f"Apply beside a bare server, {in_flight} in flight",
                        game=game.name,
                        unit="calls/server CPU-s",
                        ours=_per_cpu_second(ours),
                        peer=_per_cpu_second(theirs),
                        bound=bound_of("apply_bare", game.name).bound,
                        target=bound_of("apply_bare", game.name).target,
                        target_figure=_per_cpu_second(ours) / _per_cpu_second(theirs),
                        peer_name="a grpcio server that sends bytes made in advance",
                        run=ours.run,
                        peer_run=theirs.run,
                    )
                )
    lines = result.tables.setdefault("one Apply with legal actions a call", [])
    for workers in WORKERS:
        with echoing(workers, plan.games) as server:
            for game, players in plan.games.items():
                for in_flight in IN_FLIGHT:
                    contenders = [Contender(server, APPLY), Contender(server, ECHO)]
                    found = _beside_each_other(contenders, game, players, in_flight, plan, RUNS, _per_second)
                    ours, theirs = found
                    result.rows.append(
                        Row(
                            row=f"Apply, {in_flight} in flight, workers: {workers}",
                            game=game.name,
                            unit="calls/s",
                            ours=ours.rate,
                            peer=theirs.rate,
                            bound=bound_of("apply", game.name).bound,
                            peer_name="a method that does nothing",
                            run=ours.run,
                            peer_run=theirs.run,
                        )
                    )
                    lines += [
                        {
                            "game": game.name,
                            "workers": workers,
                            "in flight": in_flight,
                            "method": contender.method,
                            "calls/s": calls.rate,
                            "p50 ms": calls.p50,
                            "p99 ms": calls.p99,
                            "server CPU µs a call": 1e6 / _per_cpu_second(calls),
                        }
                        for contender, calls in zip(contenders, found, strict=True)
                    ]
    return result


def _per_second(calls: UnaryLoad) -> float:
    return calls.rate


def _per_cpu_second(calls: UnaryLoad) -> float:
    # The system counts processor time in ticks.
    return calls.run.count / max(calls.run.server, _TICK)


def _beside_each_other(
    contenders: list[Contender],
    game: Game,
    players: int,
    in_flight: int,
    plan: BenchPlan,
    runs: int,
    figure: Callable[[UnaryLoad], float],
) -> list[UnaryLoad]:
    """Return the median run of each contender, by `figure`; they take turns, `runs` times a round."""
    request = apply_request(game, players)
    size = len(_response(request))
    # About as many as a server in Python handles in that time.
    count = max(in_flight, int(plan.seconds / runs * (3000 if in_flight > 1 else 1500)))
    found: list[list[UnaryLoad]] = [[] for _ in contenders]
    for _ in range(plan.rounds * runs):
        for contender, calls in zip(contenders, found, strict=True):
            calls.append(load(*contender, request.SerializeToString(), size, in_flight, count))
    return [sorted(calls, key=figure)[(len(calls) - 1) // 2] for calls in found]
