"""The speed of self-play for several batch sizes and workers, and a server's speed and memory with many connections."""

import operator
import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial

from loadtest.bench import h2load
from loadtest.bench.apply_call import Call, apply_call
from loadtest.bench.bounds import bound_of
from loadtest.bench.h2load import CONNECT, GRPC, Contender, Form, Load
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, measured, middle
from loadtest.bench.rows.unary import APPLY
from loadtest.bench.self_play import SelfPlay
from loadtest.bench.servers import LOOPBACK, BenchServer, chatiere, fast_door_built, web_door_built

BATCHES = (1, 16, 256, 1024, 4096, 16384)
WORKERS = (1, 2)
# The number of connections, each with a batch in flight. The connections are distributed over the workers.
CONNECTIONS = 4
TENTHS = 10
# The numbers of idle connections. A door accepts 10,000, or its share of the worker's limit on open files if that is
# smaller.
WAITING = (1, 10, 100, 1000, 5000)
_FILES_EACH = 4
# The bytes sent on each idle connection: the HTTP/2 preface and SETTINGS, or an HTTP/1.1 request.
_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" + b"\0\0\0\4\1\0\0\0\0"
_HTTP1 = b"GET /icon.svg HTTP/1.1\r\nhost: localhost\r\n\r\n"
# The number of source addresses. There are several, because a server limits the connections from one address.
_SOURCES = 200
# The number of timed calls.
_CALLS = 400


def measure(plan: BenchPlan) -> Result:
    """Measure the tables of batch sizes and of connections, and the row about memory."""
    result = Result()
    result.tables["self-play by batch size and workers, moves a second"] = _growth(plan)
    result.tables["one worker by connections that wait, one Apply in flight"] = _connections(plan)
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


def _connections(plan: BenchPlan) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    game, players = next(iter(plan.games.items()))
    call = apply_call(game, players)
    doors: dict[str, Callable[[BenchServer], tuple[str, Form, bytes]]]
    doors = {"grpcio's port": lambda server: (server.address, GRPC, _HTTP2)}
    if fast_door_built():
        doors["fast door"] = lambda server: (server.fast_address, GRPC, _HTTP2)
    if web_door_built():
        doors["web door"] = lambda server: (server.web_address, CONNECT, _HTTP1)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // _FILES_EACH
    for name, door in doors.items():
        # The timeouts are so long that idle connections are not closed during the measurement.
        with chatiere(1, "--request-timeout", "3600", "--stream-idle-timeout", "0") as server, ExitStack() as stack:
            address, form, first = door(server)
            contender = Contender(server, address, APPLY, form)
            # The first connections cause allocations that remain.
            stack.enter_context(_waiting(address, LOOPBACK, first))
            _timed(contender, call)
            before, opened = server.memory(), 0
            for count in (count for count in WAITING if count <= most):
                for number in range(opened, count):
                    stack.enter_context(_waiting(address, f"127.0.0.{2 + number % _SOURCES}", first))
                opened = count
                memory = (server.memory() - before) / count
                load = _timed(contender, call)
                lines.append(
                    {
                        "door": name,
                        "connections": count,
                        "kB each": memory / 1e3,
                        "p50 ms": load and load.p50,
                        "p99 ms": load and load.p99,
                        "server CPU µs a call": load and 1e6 / load.per_cpu_second,
                    }
                )
    return lines


def _timed(contender: Contender, call: Call) -> Load | None:
    # Return None without h2load.
    return h2load.load(contender, call, 1, _CALLS) if h2load.installed() else None


def _waiting(address: str, source: str, first: bytes) -> socket.socket:
    host, port = address.split(":")
    opened = socket.create_connection((host, int(port)), source_address=(source, 0))
    opened.sendall(first)
    opened.recv(2**16)
    return opened


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
