"""Servers in separate processes, so that their processor time and memory can be measured."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import grpc
import psutil

from chatiere.engine import Game
from chatiere.service.ports.methods import GAME_SERVICE

ROOT = Path(__file__).parents[2]
LOOPBACK = "127.0.0.1"
# Ignore proxies set in the environment, because they could not reach this machine. Allow large batches. Use a separate
# connection for each channel, so that the channels can reach different workers.
CHANNEL_OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
)
# The time within which servers must start, and the time between two checks, in seconds.
_PATIENCE, _PAUSE = 60.0, 0.05
_CHATIERE = (sys.executable, "-c", "from chatiere.command import main; main(prog_name='chatiere')")
_ECHO_SOURCE, _ECHO = Path(__file__).with_name("echo.cc"), ROOT / "build/bench-echo"


class BenchServer:
    """A running server: the addresses of grpcio's port, the fast door and the web door, and its processes."""

    def __init__(
        self, address: str, fast_address: str, web_address: str, programs: list[subprocess.Popen[bytes]]
    ) -> None:
        """Find the processes of `programs`, including their children."""
        self.address = address
        self.fast_address = fast_address
        self.web_address = web_address
        roots = [psutil.Process(program.pid) for program in programs]
        self.processes = [process for root in roots for process in (root, *root.children(recursive=True))]

    def listening(self, port: int) -> int:
        """Return the number of processes that listen on a port."""
        sockets = [process.net_connections("tcp") for process in self.processes]
        return sum(
            any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in found) for found in sockets
        )

    def cpu_seconds(self) -> float:
        """Return the processor time used so far."""
        return sum(_cpu_seconds(process.pid) for process in self.processes)

    @contextmanager
    def on_one_core(self) -> Iterator[None]:
        """Keep the server on the core of `measure.pinned` during a `with` block, if the system supports this."""
        if not hasattr(os, "sched_setaffinity"):
            yield
            return
        cores = os.sched_getaffinity(0)
        self._keep_on({max(cores)})
        try:
            yield
        finally:
            self._keep_on(cores)

    def _keep_on(self, cores: set[int]) -> None:
        for thread in [thread.id for process in self.processes for thread in process.threads()]:
            # The process may have ended.
            with suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cores)

    def memory(self) -> int:
        """Return the resident memory in bytes."""
        return sum(process.memory_info().rss for process in self.processes)

    def channel(self) -> grpc.Channel:
        """Open a channel with a separate connection."""
        return grpc.insecure_channel(self.address, options=CHANNEL_OPTIONS)


@contextmanager
def start(
    *commands: tuple[str, ...], port: int, listeners: int, fast_port: int = 0, web_port: int = 0
) -> Iterator[BenchServer]:
    """Run the commands, and wait until `listeners` processes listen on each port."""
    addresses = f"{LOOPBACK}:{port}", f"{LOOPBACK}:{fast_port}", f"{LOOPBACK}:{web_port}"

    def is_ready(server: BenchServer) -> bool:
        return all(server.listening(each) >= listeners for each in (port, fast_port, web_port) if each)

    with _running(commands, addresses, is_ready) as server:
        yield server


@contextmanager
def _running(
    commands: tuple[tuple[str, ...], ...], addresses: tuple[str, str, str], is_ready: Callable[[BenchServer], bool]
) -> Iterator[BenchServer]:
    programs = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        end = time.monotonic() + _PATIENCE
        server = BenchServer(*addresses, programs)
        while not is_ready(server):
            if time.monotonic() > end or any(program.poll() is not None for program in programs):
                raise RuntimeError(f"the server did not start: {programs[0].args!r}")
            time.sleep(_PAUSE)
            server = BenchServer(*addresses, programs)
        yield server
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait()


def _cpu_seconds(pid: int) -> float:
    if sys.platform == "linux":
        # The clock of the process (clock_getcpuclockid), in nanoseconds. psutil has a resolution of 10 ms.
        return time.clock_gettime(~pid << 3 | 2)
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def free_port() -> int:
    """Return an unused local port."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def chatiere(workers: int = 1, *options: str, with_fast_door: bool = True) -> Iterator[BenchServer]:
    """Run a Chatière service by its command, with all doors that are installed.

    Args:
        workers: The number of workers.
        options: Additional options of the command.
        with_fast_door: True to start the fast door. Without it, the other doors may have more connections.
    """
    port = free_port()
    fast_port = free_port() if with_fast_door and fast_door_built() else 0
    web_port = free_port() if web_door_built() else 0
    addresses = ["--address", f"{LOOPBACK}:{port}", "--metrics-address", f"{LOOPBACK}:0"]
    if fast_port:
        addresses += ["--fast-address", f"{LOOPBACK}:{fast_port}"]
    if web_port:
        addresses += ["--web-address", f"{LOOPBACK}:{web_port}"]
    command = (*_CHATIERE, "serve", *addresses, "--workers", str(workers), *options)
    with start(command, port=port, listeners=workers, fast_port=fast_port, web_port=web_port) as server:
        yield server


@contextmanager
def at_unix_sockets(*options: str) -> Iterator[BenchServer]:
    """Run a Chatière service with one worker. Its grpcio port and its fast door listen at Unix sockets."""
    with tempfile.TemporaryDirectory() as folder:
        address, fast_address = (f"unix:{folder}/{name}.sock" for name in ("api", "fast"))
        addresses = ("--address", address, "--fast-address", fast_address, "--metrics-address", f"{LOOPBACK}:0")
        fast = Path(fast_address.removeprefix("unix:"))
        # The worker creates the socket.
        with _running(
            ((*_CHATIERE, "serve", *addresses, *options),),
            (address, fast_address, ""),
            lambda server: fast.exists() and len(server.processes) > 1,
        ) as server:
            yield server


@contextmanager
def openspiel() -> Iterator[BenchServer]:
    """Run OpenSpiel behind Chatière's API. The server supports only streams of batches."""
    port = free_port()
    command = (sys.executable, "-m", "loadtest.bench.openspiel_server", str(port))
    with start(command, port=port, listeners=1, fast_port=port) as server:
        yield server


@contextmanager
def bare(games: Mapping[Game, int]) -> Iterator[BenchServer]:
    """Run a grpcio server with a method for each game. The methods do no work."""
    port = free_port()
    command = (sys.executable, "-m", "loadtest.bench.bare_server", str(port), *_tables(games))
    with start(command, port=port, listeners=1) as server:
        yield server


@contextmanager
def echoing(workers: int, games: Mapping[Game, int]) -> Iterator[BenchServer]:
    """Run the service with an additional method that does no work, in processes that share a port."""
    port = free_port()
    command = (sys.executable, "-m", "loadtest.bench.echo_server", str(port), *_tables(games))
    with start(*[command] * workers, port=port, listeners=workers) as server:
        yield server


def fast_door_built() -> bool:
    """Return True if the service was built with its fast door."""
    return find_spec("chatiere.http2.server") is not None


def web_door_built() -> bool:
    """Return True if the packages of the web door are installed."""
    return all(find_spec(name) is not None for name in ("httptools", "protobuf"))


def echo_built() -> bool:
    """Compile echo.cc if necessary. Return False if g++ or grpc++ is not installed."""
    if not (shutil.which("g++") and shutil.which("pkg-config")):
        return False
    found = subprocess.run(("pkg-config", "--cflags", "--libs", "grpc++"), capture_output=True, text=True, check=False)
    if found.returncode:
        return False
    if not _ECHO.exists() or _ECHO.stat().st_mtime < _ECHO_SOURCE.stat().st_mtime:
        _ECHO.parent.mkdir(exist_ok=True)
        # Another run may be using the existing program.
        made = _ECHO.with_suffix(f".{os.getpid()}")
        options = ("-std=c++17", "-O2", str(_ECHO_SOURCE), "-o", str(made), *found.stdout.split())
        subprocess.run(("g++", *options), check=True)
        made.replace(_ECHO)
    return True


@contextmanager
def echo(method: str, response_size: int) -> Iterator[BenchServer]:
    """Run echo.cc, a grpc++ server with one method that does no work. See `echo_built`."""
    port = free_port()
    command = (str(_ECHO), f"{LOOPBACK}:{port}", f"/{GAME_SERVICE}/{method}", str(response_size))
    with start(command, port=port, listeners=1) as server:
        yield server


def _tables(games: Mapping[Game, int]) -> list[str]:
    return [f"{game.name}:{players}" for game, players in games.items()]
