"""Single calls by h2load, a program of nghttp2. A client in Python would be slower than the server.

h2load reports only HTTP statuses. The number of bytes that it received shows that all responses were complete.
"""

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from chatiere.service.ports.methods import GAME_SERVICE
from loadtest.bench.apply_call import Call
from loadtest.bench.measure import BenchPlan, Run, alternate, pinned
from loadtest.bench.servers import BenchServer

Key = TypeVar("Key")
# The number of runs in a round. Many short runs are more precise: each run distributes its connections randomly over
# the workers, and the machine's speed changes from one second to the next.
RUNS = 4


class Load(NamedTuple):
    """The result of a run of h2load: the run, and the 50th and 99th percentiles of calls' durations, in ms."""

    run: Run
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """The number of calls per second."""
        return self.run.amount / self.run.wall

    @property
    def per_cpu_second(self) -> float:
        """The number of calls per second of the server's processor time."""
        return self.run.amount / self.run.server


class Form(NamedTuple):
    """The encoding of a call: h2load's options, and whether messages have gRPC's prefix."""

    name: str
    options: tuple[str, ...]
    is_framed: bool


GRPC = Form(
    "gRPC",
    (
        "--max-concurrent-streams=1",
        "--header=content-type: application/grpc",
        "--header=te: trailers",
        "--header=grpc-timeout: 10S",
    ),
    is_framed=True,
)
CONNECT, JSON = (
    Form(name, ("--h1", f"--header=content-type: {kind}", "--header=connect-timeout-ms: 10000"), is_framed=False)
    for name, kind in (("binary", "application/proto"), ("JSON", "application/json"))
)


class Contender(NamedTuple):
    """A method of GameService at one of a server's addresses."""

    server: BenchServer
    address: str
    method: str
    form: Form = GRPC


def installed() -> bool:
    """Return True if h2load is installed."""
    return shutil.which("h2load") is not None


def load(
    contender: Contender,
    call: Call,
    in_flight: int,
    count: int,
    rate: float | None = None,
    *,
    one_core: bool = False,
) -> Load:
    """Make `count` calls on `in_flight` connections, one at a time on each.

    Args:
        contender: The method and the server.
        call: The call.
        in_flight: The number of connections.
        count: The number of calls.
        rate: The maximum number of calls per second, or None for no limit.
        one_core: True to keep client and server on the same core. With one call in flight, they alternate. On separate
            cores, each process would sleep while the other works. In a virtual machine, waking up takes longer than the
            call.
    """
    server, address, method, form = contender
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        if one_core:
            stack.enter_context(server.on_one_core())
            # h2load inherits the affinity.
            stack.enter_context(pinned())
        data, log = Path(directory, "request"), Path(directory, "log")
        data.write_bytes(_frame(call.request) if form.is_framed else call.request)
        command = ["h2load", f"--requests={count}", f"--clients={in_flight}", f"--data={data}", f"--log-file={log}"]
        command += form.options
        if rate is not None:
            # Each connection sends its due calls every 10 ms. The connections start 1 ms apart, so that they do not
            # all send at the same time.
            command += [f"--rps={rate / in_flight}", "--rate=1", "--rate-period=1ms"]
        if address.startswith("unix:"):
            command.append(f"--base-uri={address}")
            address = "localhost"
        command.append(f"http://{address}/{GAME_SERVICE}/{method}")
        children, in_server = resource.getrusage(resource.RUSAGE_CHILDREN), server.cpu_seconds()
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        client = used.ru_utime + used.ru_stime - children.ru_utime - children.ru_stime
        in_server = server.cpu_seconds() - in_server
        # Each line has a call's start, its HTTP status, and its duration in microseconds.
        times = [int(line.split("\t")[2]) / 1000 for line in log.read_text().splitlines()]
    found = re.search(r"\((\d+)\) data$", output, re.MULTILINE)
    size = call.response_size + (len(_frame(b"")) if form.is_framed else 0)
    if len(times) != count or found is None or int(found[1]) != count * size:
        raise RuntimeError(f"not all {count} calls of {method} got a response of {call.response_size} bytes:\n{output}")
    reached = re.search(r"^finished in [^,]*, ([0-9.]+) req/s", output, re.MULTILINE)
    if reached is None:
        raise RuntimeError(f"h2load reported no rate:\n{output}")
    run = Run(count, count / float(reached[1]), client, in_server)
    p50, p99 = np.percentile(times, (50, 99))
    return Load(run, float(p50), float(p99))


def _frame(message: bytes) -> bytes:
    # Return a message as gRPC sends it: uncompressed, prefixed with its length.
    return b"\0" + len(message).to_bytes(4, "big") + message


def take_turns(
    contenders: Mapping[Key, Contender], call: Call, in_flight: int, plan: BenchPlan, *, one_core: bool = False
) -> dict[Key, list[Load]]:
    """Return the runs of each contender. For `one_core` see `load`."""
    called = {key: (contender, call) for key, contender in contenders.items()}
    return take_turns_with(called, in_flight, plan, one_core=one_core)


def take_turns_with(
    contenders: Mapping[Key, tuple[Contender, Call]], in_flight: int, plan: BenchPlan, *, one_core: bool = False
) -> dict[Key, list[Load]]:
    """Return the runs of contenders that make different calls. For `one_core` see `load`."""
    loads = {
        key: partial(
            load,
            contender,
            call,
            in_flight,
            _calls_in(plan.seconds / RUNS, contender, call, in_flight, one_core),
            one_core=one_core,
        )
        for key, (contender, call) in contenders.items()
    }
    return alternate(loads, plan.rounds * RUNS)


def medians(runs: Mapping[Key, list[Load]], figure: Callable[[Load], float]) -> dict[Key, Load]:
    """Return each contender's run with the median figure (the lower of the two middle ones)."""
    return {key: sorted(found, key=figure)[(len(found) - 1) // 2] for key, found in runs.items()}


def _calls_in(seconds: float, contender: Contender, call: Call, in_flight: int, one_core: bool) -> int:
    # Return about the number of calls that the server handles in that time. The trial calls also warm up the server.
    count = 100
    while (tried := load(contender, call, in_flight, count, one_core=one_core)).run.wall < seconds / 4:
        count *= 4
    return max(in_flight, int(tried.rate * seconds))
