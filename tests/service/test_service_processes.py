"""A server's processes: workers share a port, are replaced if they die, and stop together."""

import io
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
import trustme
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tools.needs import needs

from chatiere import engine
from chatiere.bots import BOTS_VERSION
from chatiere.service.base.settings import SettingError
from chatiere.service.guards import metrics_files
from chatiere.service.guards.metrics_files import FILE_BYTES, MetricsFiles
from chatiere.service.guards.tokens import new_token
from chatiere.service.ports.listening import HeldPort, listening_sockets
from chatiere.service.tables.new_key import new_key
from chatiere.v1 import game_service_pb2

from .process import Served, served, wait_until
from .support import PATIENCE, Door, Running, code_of, game_stub, only_grpcio

pytestmark = pytest.mark.long

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
HANDLED = "grpc_server_handled_total"


def new_channel(address: str) -> grpc.Channel:
    """Return a channel with its own connection."""
    return grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])


def list_games(channel: grpc.Channel) -> None:
    game_stub(channel).ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE, wait_for_ready=True)


@pytest.fixture
def two_workers(door: Door) -> Iterator[Served]:
    with served("--workers", "2", door=door) as server:
        yield server


# The port


def test_a_held_port_is_open_only_to_workers() -> None:
    with HeldPort("127.0.0.1:0") as held:
        host, port = held.address.split(":")
        with pytest.raises(SettingError, match=f"^address: cannot listen on {held.address}: Address already in use"):
            HeldPort(held.address)
        workers = [socket.create_server((host, int(port)), reuse_port=True) for _ in range(2)]
        for worker in workers:
            worker.close()
    with HeldPort(held.address):
        pass


@pytest.mark.parametrize("reuse_port", [False, True])
def test_a_port_that_another_server_listens_on_is_refused(reuse_port: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0), reuse_port=reuse_port)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(SettingError, match=f"^address: cannot listen on {address}: Address already in use"):
            HeldPort(address)


def test_a_port_can_be_held_again_while_old_connections_linger() -> None:
    with HeldPort("127.0.0.1:0") as held:
        (worker,) = listening_sockets("address", held.address, share_port=True)
        with worker, socket.create_connection(worker.getsockname()):
            worker.setblocking(True)
            accepted, _ = worker.accept()
            # The connection stays in TIME_WAIT at the side that closes it first.
            accepted.close()
    with HeldPort(held.address):
        pass


# Workers


def test_the_metrics_report_the_versions_once(two_workers: Served) -> None:
    rules = {game.name: str(game.rules_version) for game in engine.games()}
    labels = {"version": version("chatiere"), "api": "chatiere.v1", "bots": str(BOTS_VERSION), **rules}
    assert two_workers.metrics()["chatiere_build_info"] == [(labels, 1.0)]


def test_workers_share_the_port_and_their_metrics_are_added_up(two_workers: Served) -> None:
    channels = [new_channel(two_workers.address) for _ in range(20)]
    for number, channel in enumerate(channels):
        for _ in range(number):
            list_games(channel)
    labels = {"grpc_method": "ListGames", "grpc_code": "OK"}
    assert two_workers.total(HANDLED, **labels) == sum(range(20))
    assert two_workers.total("grpc_server_handling_seconds_count", grpc_method="ListGames") == sum(range(20))
    for worker in (0, 1):
        two_workers.find(rf"worker-{worker} .*/ListGames OK")
    processes = {labels["process"] for labels, _ in two_workers.metrics()["process_cpu_seconds_total"]}
    assert processes == {"supervisor", "worker-0", "worker-1"}


def test_a_worker_that_dies_is_replaced_and_its_counts_are_kept(two_workers: Served) -> None:
    address = two_workers.address
    before = 0
    for _ in range(10):
        with new_channel(address) as channel:
            list_games(channel)
            before += 1
    for number in 0, 1:
        seen = len(two_workers.lines)
        os.kill(two_workers.worker_pid(number), signal.SIGKILL)
        two_workers.find(f"worker {number} .*died with exit code -9", seen)
        two_workers.worker_pid(number, seen)
    for _ in range(10):
        with new_channel(address) as channel:
            list_games(channel)
    assert two_workers.total(HANDLED, grpc_method="ListGames", grpc_code="OK") == before + 10
    assert two_workers.total("chatiere_workers_restarted_total") == 2
    assert two_workers.total("chatiere_workers") == 2


def test_workers_end_with_their_supervisor(two_workers: Served) -> None:
    pids = [two_workers.worker_pid(number) for number in (0, 1)]
    with new_channel(two_workers.address) as channel:
        list_games(channel)
    metrics = two_workers.metrics_directory()
    two_workers.process.kill()
    wait_until(lambda: not any(map(runs, pids)), "both workers have ended")
    assert not metrics.exists()


def runs(pid: int) -> bool:
    """Return whether a process runs. A process that has ended may stay listed until its parent waits for it."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_text())
    except OSError:
        return False


# Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_gracefully(two_workers: Served, number: signal.Signals) -> None:
    with new_channel(two_workers.address) as channel:
        list_games(channel)
        assert two_workers.stop(number) == 0
    assert two_workers.find("INFO supervisor .*: stopped$")


def test_a_signal_to_all_processes_stops_gracefully() -> None:
    # A terminal sends SIGINT to supervisor and workers alike, and systemd does the same with SIGTERM.
    for number in signal.SIGINT, signal.SIGTERM:
        with served("--workers", "2") as server:
            pids = [server.worker_pid(worker) for worker in (0, 1)]
            assert server.address
            for pid in (*pids, server.process.pid):
                os.kill(pid, number)
            assert server.process.wait(PATIENCE) == 0
            assert not [line for line in server.lines if "died with" in line]


def test_sighup_rereads_files_other_signals_are_ignored_and_sigquit_stops(tmp_path: Path) -> None:
    tokens, keys = tmp_path / "tokens", tmp_path / "keys"
    tokens.write_text(new_token("alice")[1])
    keys.write_text(new_key().hex())
    issued = trustme.CA().issue_cert("localhost")
    issued.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "tls"))
    tls = ("--tls-certificate", str(tmp_path / "tls"), "--tls-key", str(tmp_path / "tls"))
    with served("--workers", "2", "--tokens", str(tokens), "--table-keys", str(keys), *tls) as server:
        assert server.address
        tokens.write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.find("INFO supervisor .*: SIGHUP: rereading tokens, table keys and certificates")
        for worker in ("worker-0", "worker-1"):
            server.find(f"INFO {worker} .*: table keys reread")
            server.find(f"INFO {worker} .*: certificates reread")
            server.find(f"ERROR {worker} .*: cannot reread the tokens, keeping the old ones: .*line 1: not a name")
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
            server.process.send_signal(number)
            server.find(f"WARNING supervisor .*: {number.name} is ignored")
        assert server.stop(signal.SIGQUIT) == 0
        assert server.find("INFO supervisor .*: stopped$")
        assert not [line for line in server.lines if "died" in line]


_IN_TERMINAL = "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execvp(sys.argv[2], sys.argv[2:])"


def test_closing_the_terminal_stops_the_server() -> None:
    ours, theirs = pty.openpty()
    with served(prefix=(sys.executable, "-c", _IN_TERMINAL, os.ttyname(theirs))) as server:
        assert server.address
        os.close(theirs)
        os.close(ours)
        assert server.process.wait(PATIENCE) == 0
        assert server.find("INFO supervisor .*: stopped$")


def test_a_second_signal_ends_all_processes_immediately(two_workers: Served) -> None:
    with new_channel(two_workers.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
        assert next(watch).status == SERVING
        pids, metrics = [two_workers.worker_pid(number) for number in (0, 1)], two_workers.metrics_directory()
        two_workers.process.send_signal(signal.SIGTERM)
        # The open watch keeps a worker from ending.
        assert next(watch).status == NOT_SERVING
        assert two_workers.stop() == -signal.SIGTERM
    assert not any(map(runs, pids))
    assert not metrics.exists()


def test_a_worker_that_does_not_end_is_killed() -> None:
    with served("--grace", "0") as server:
        assert server.address
        os.kill(server.worker_pid(0), signal.SIGSTOP)
        assert server.stop() == 0
        assert server.find("killing workers")


@needs("libnghttp2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_restarts_immediately_on_the_same_ports(number: signal.Signals) -> None:
    """The server has closed its connections first, so the system keeps them for a minute."""
    with served("--fast-address", "127.0.0.1:0", "--grace", "0") as server:
        ports = {
            "--address": server.address,
            "--fast-address": server.fast_address,
            "--metrics-address": urllib.parse.urlsplit(server.metrics_url).netloc,
        }
        pid = server.worker_pid(0)
        assert server.metrics()
        open_connections = [connected(ports[name]) for name in ("--address", "--fast-address")]
        server.stop(number)
        wait_until(lambda: not runs(pid), "the worker has ended")
    for connection in open_connections:
        while connection.recv(4096):
            pass
        # Now both sides are closed. The system keeps the connection in TIME_WAIT, the state that lasts longest.
        connection.close()
    with served(*(argument for port in ports.items() for argument in port)) as server:
        assert (server.address, server.fast_address) == (ports["--address"], ports["--fast-address"])


def connected(address: str) -> socket.socket:
    """Return a connection on which a server has sent its HTTP/2 settings."""
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    # The client's preface, with empty settings.
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    assert connection.recv(4096)
    return connection


# Refusing to start


@only_grpcio
@pytest.mark.parametrize("setting", ["address", "metrics-address"])
def test_an_address_in_use_stops_the_start(server: Running, setting: str) -> None:
    with served(f"--{setting}", server.address) as second:
        assert second.process.wait(PATIENCE) == 2
        assert second.find(f"^Error: --{setting}: cannot .* {server.address}: Address already in use")
        assert not [line for line in second.lines if "Traceback" in line]


# Metrics


def test_metrics_files_are_allocated_whole() -> None:
    # A write to a part of a file that a full disk cannot allocate would kill a worker.
    with MetricsFiles() as files:
        files.prepare(0)
        assert len(list(files.directory.iterdir())) == 4
        files.prepare(1)
        files.prepare(1)
        assert len(list(files.directory.iterdir())) == 8
        for path in files.directory.iterdir():
            assert path.stat().st_size == FILE_BYTES
            assert path.stat().st_blocks * 512 >= FILE_BYTES
    assert not files.directory.exists()


_USE_ALL_LABELS = """
import itertools, os, sys
from pathlib import Path
from google.rpc import code_pb2
from prometheus_client import CollectorRegistry
from chatiere import engine
from chatiere.service.guards.metrics_files import use_files
use_files(Path(sys.argv[1]), 0)
from chatiere.service.base.metrics import Metrics, code_label
from chatiere.v1 import batch_service_pb2, game_service_pb2, room_service_pb2
from grpc_channelz.v1 import channelz_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

methods = [("unknown", "unknown", "unknown")] + [
    ("server_stream", service.full_name, method.name)
    for module in (batch_service_pb2, game_service_pb2, room_service_pb2, channelz_pb2, health_pb2, reflection_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]
others = {
    "grpc_type": ["unary", "server_stream", "client_stream", "bidi_stream"],
    "grpc_code": [code_label(code) for code in code_pb2.Code.values()],
    "game": [game.name for game in engine.games()],
    "kind": ["table", "reply", "name"],
    "files": ["tokens", "table_keys", "certificates"],
    "file": ["tls_certificate", "client_ca"],
    "outcome": ["taken", "refused"],
    "reason": ["idle", "full"],
    "method": [method.name for method in batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].methods],
}
for metric in vars(Metrics(CollectorRegistry())).values():
    names = metric._labelnames
    if not names:
        continue
    of_methods = names[:3] == ("grpc_type", "grpc_service", "grpc_method")
    for first in methods if of_methods else [()]:
        for rest in itertools.product(*(others[name] for name in names[len(first):])):
            metric.labels(*first, *rest)
"""


def test_metrics_files_are_large_enough_for_all_labels() -> None:
    with MetricsFiles() as files:
        files.prepare(0)
        before = {path.name for path in files.directory.iterdir()}
        subprocess.run([sys.executable, "-c", _USE_ALL_LABELS, files.directory], check=True, timeout=PATIENCE)
        assert {path.name for path in files.directory.iterdir()} == before
        sizes = {path.name: path.stat().st_size for path in files.directory.iterdir()}
        used = {path.name: int.from_bytes(path.read_bytes()[:4], "little") for path in files.directory.iterdir()}
    assert set(sizes.values()) == {FILE_BYTES}, "a file has grown"
    assert 50_000 < max(used.values()) < 0.8 * FILE_BYTES


_COUNT_IN_THREADS = """
import os, signal, sys, threading
from pathlib import Path
from prometheus_client import CollectorRegistry
from chatiere.service.guards.metrics_files import use_files
use_files(Path(sys.argv[1]), 0)
from chatiere.service.base.metrics import Metrics

metrics = Metrics(CollectorRegistry())
sys.setswitchinterval(1e-6)


def count():
    moves, seconds = metrics.moves_applied.labels("discat"), metrics.kernel_seconds.labels("discat", "step")
    in_flight = metrics.in_flight.labels("unary")
    for _ in range(20_000):
        moves.inc()
        in_flight.inc(3)
        seconds.observe(0.5)
        in_flight.dec(2)


threads = [threading.Thread(target=count) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
metrics.held_bytes.set(7)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_counts_of_threads_are_exact_even_if_the_process_is_killed() -> None:
    with MetricsFiles() as files:
        # The second process continues the files of the first.
        for _ in range(2):
            files.prepare(0)
            command = [sys.executable, "-c", _COUNT_IN_THREADS, str(files.directory)]
            assert subprocess.run(command, timeout=PATIENCE).returncode == -signal.SIGKILL
        found = {sample.name: sample.value for metric in files.collector().collect() for sample in metric.samples}
    assert found["chatiere_moves_applied_total"] == 160_000
    assert found["chatiere_kernel_seconds_count"] == 160_000
    assert found["chatiere_kernel_seconds_sum"] == 80_000
    assert found["chatiere_calls_in_flight"] == 80_000
    assert found["chatiere_held_bytes"] == 7


# Runs a shell command in which /dev/shm can be replaced by a small one.
_SMALL_MEMORY = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
_MOUNT = "mount -t tmpfs -o size=4m none /dev/shm"


def fill(file: io.FileIO) -> None:
    while True:
        file.write(bytes(4096))


def test_a_full_disk_kills_no_worker() -> None:
    if subprocess.run((*_SMALL_MEMORY, _MOUNT), capture_output=True).returncode != 0:
        pytest.skip("this machine does not allow mounts")
    with served(prefix=(*_SMALL_MEMORY, f'{_MOUNT} && exec "$@"', "sh")) as server:
        address, pid = server.address, server.worker_pid(0)
        filler = Path(f"/proc/{server.process.pid}/root/dev/shm/filler")
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            fill(file)
        with new_channel(address) as channel:
            stub = game_stub(channel)
            methods = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods
            for method in methods:
                code_of(getattr(stub, method.name), getattr(game_service_pb2, method.input_type.name)())
        assert server.total(HANDLED) == len(methods)
        assert server.worker_pid(0) == pid
        assert server.total("chatiere_workers_restarted_total") == 0


def test_the_metrics_need_a_directory_that_can_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_files, "_MEMORY", tmp_path / "missing")
    for directory in (None, str(tmp_path / "missing too")):
        # The system's directories for temporary files cannot be written to either.
        monkeypatch.setattr(tempfile, "tempdir", directory)
        monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [])
        with pytest.raises(SettingError, match=r"^workers: their metrics need a directory .*: No "):
            MetricsFiles()


def test_files_of_servers_that_were_killed_are_removed_by_the_next_start() -> None:
    with served() as server:
        with new_channel(server.address) as channel:
            list_games(channel)
        worker, directory = psutil.Process(server.worker_pid(0)), server.metrics_directory()
        # A suspended worker lives longer than its supervisor.
        worker.suspend()
        server.process.kill()
        server.process.wait()
        with MetricsFiles() as files:
            assert directory.exists()
            with MetricsFiles():
                assert files.directory.exists()
        worker.kill()

        def is_removed() -> bool:
            with MetricsFiles():
                return not directory.exists()

        wait_until(is_removed, "the worker has ended, and its directory is removed")
