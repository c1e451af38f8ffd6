"""Workers that hang, crash, cannot start or write much output. The supervisor continues in each case."""

import itertools
import json
import os
import re
import resource
import signal
import socket
import time
import urllib.parse
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import psutil
import pytest
from prometheus_client import CollectorRegistry

from chatiere.service.base.heartbeat import BEAT, Heartbeat
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.logs import log_line
from chatiere.service.guards.metrics_files import MetricsFiles
from chatiere.service.process import supervisor, wakeups
from chatiere.service.process.wakeups import Lines, Wakeups
from chatiere.v1 import game_service_pb2

from .process import Served, injected, served, wait_until
from .support import PATIENCE, Door, game_stub

pytestmark = pytest.mark.long

REPLACED = "chatiere_workers_restarted_total"


def list_games(address: str) -> None:
    with grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        game_stub(channel).ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE, wait_for_ready=True)


# Hanging


def test_a_worker_that_is_stopped_is_replaced(door: Door) -> None:
    with served("--hang-timeout", "3", door=door) as server:
        address, pid = server.address, server.worker_pid(0)
        seen = len(server.lines)
        os.kill(pid, signal.SIGSTOP)
        server.find(rf"ERROR supervisor .*worker 0 \(pid {pid}\) hangs: no heartbeat for 3 s; killing it", seen)
        assert server.worker_pid(0, seen) != pid
        list_games(address)
        assert server.total(REPLACED) >= 1


def test_processes_that_are_suspended_together_continue(door: Door) -> None:
    with served(door=door) as server:
        address, pids = server.address, [server.process.pid, server.worker_pid(0)]
        for _ in range(3):
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            # The suspension lasts longer than the supervisor waits for a worker's heartbeat.
            end = time.monotonic() + 1.2
            wait_until(lambda end=end: time.monotonic() > end, "the end of the suspension")  # type: ignore[misc]
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            list_games(address)
        server.stop()
        assert not [line for line in server.lines if "died" in line]


# Makes ListGames run a loop in C that never lets other threads run.
STUCK = """
    import collections, itertools
    from chatiere.service.calls import game_service
    game_service.list_games = lambda request, settings: collections.deque(itertools.repeat(None), maxlen=0)
"""


def test_a_worker_whose_interpreter_is_stuck_is_replaced(tmp_path: Path, door: Door) -> None:
    with served("--hang-timeout", "3", door=door, environment=injected(tmp_path, STUCK)) as server:
        address = server.address
        seen = len(server.lines)
        with grpc.insecure_channel(address) as channel:
            call = game_stub(channel).ListGames.future(game_service_pb2.ListGamesRequest(), timeout=PATIENCE)
            server.find("worker 0 .* hangs", seen)
            assert call.code() is grpc.StatusCode.UNAVAILABLE
        assert server.worker_pid(0, seen)


NEVER_SERVES = """
    import threading
    threading.Event().wait()
"""


def test_a_server_can_be_stopped_before_it_serves(tmp_path: Path) -> None:
    with served(environment=injected(tmp_path, NEVER_SERVES)) as server:
        assert server.metrics_url
        wait_until(lambda: psutil.Process(server.process.pid).children(), "a worker exists")
        assert server.stop() == 0


def test_a_signal_to_stop_ends_the_start_before_further_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "WorkerProcess", Silent)
    with MetricsFiles() as files:
        settings = Settings(workers=6, oversubscribe=True)
        # The signal arrives while the third worker is being started.
        workers = supervisor._Workers(settings, files, CollectorRegistry(), Clockwork(1, 2, 3), 2)
        assert not workers.start()
        assert sum(place.process is not None for place in workers._places) == 3
        assert len(list(files.directory.iterdir())) == 12


@pytest.mark.parametrize(("before", "received"), [(signal.SIG_DFL, signal.SIGTERM), (signal.SIG_IGN, signal.SIGHUP)])
def test_closing_the_terminal_stops_unless_nohup_started_the_server(
    monkeypatch: pytest.MonkeyPatch, before: signal.Handlers, received: signal.Signals
) -> None:
    had_terminal = iter([True, False])
    monkeypatch.setattr(wakeups, "_has_terminal", lambda: next(had_terminal))
    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, before))
        events = stack.enter_context(Wakeups())
        os.kill(os.getpid(), signal.SIGHUP)
        assert events.wait(PATIENCE) == received


def test_a_heartbeat_never_blocks() -> None:
    reads, writes = os.pipe()
    heart = Heartbeat(writes, 1.0)
    assert heart.interval < 0.5
    for _ in range(2**17):
        heart.beat()
    lines: list[bytes] = []
    Lines(reads, lines.append).take_rest()
    assert set(lines[:-1]) == {BEAT}
    os.close(reads)
    heart.beat()
    os.close(writes)


class Silent:
    """A replacement for a worker process. It is silent at times that a test sets."""

    pid, serves, refusal, exit_code, patience = 1, True, None, None, 30.0

    def __init__(self, *_: object) -> None:
        self.is_killed = False
        self.hangs_at = 30.0

    def forgive(self) -> None:
        self.hangs_at = vars(supervisor)["time"].monotonic() + 30.0

    def kill(self) -> None:
        self.is_killed = True


class Clockwork(Wakeups):
    """Waits until the times that a test sets, then receives a signal to stop."""

    def __init__(self, *times: float) -> None:
        self.now = 0.0
        self._times = deque(times)

    def wait(self, timeout: float) -> int | None:
        if self._times:
            self.now = self._times.popleft()
        return None if self._times else signal.SIGTERM


@pytest.mark.parametrize(
    ("times", "killed"),
    [
        (range(1, 29), False),
        (range(1, 35), True),
        # All processes were suspended for a minute, so the worker gets its whole time again.
        ([1, 2, 60, 61, 62], False),
        ([1, 2, *range(60, 95)], True),
    ],
)
def test_time_without_the_supervisor_does_not_count_as_hanging(
    monkeypatch: pytest.MonkeyPatch, times: Any, killed: bool
) -> None:
    clock = Clockwork(*times)
    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(supervisor, "WorkerProcess", Silent)
    with MetricsFiles() as files:
        workers = supervisor._Workers(Settings(), files, CollectorRegistry(), clock, 2)
        assert workers.start()
        workers.keep_running()
        (place,) = workers._places
        process: Any = place.process
        assert process.is_killed is killed


def test_metrics_can_be_collected_while_a_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with MetricsFiles() as files:
        allocate, collector = os.posix_fallocate, files.collector()

        def collect_and_allocate(*arguments: int) -> None:
            assert list(collector.collect()) == []
            allocate(*arguments)

        monkeypatch.setattr(os, "posix_fallocate", collect_and_allocate)
        files.prepare(0)
        assert len(list(files.directory.glob("gauge_*.db"))) == 2


# Shortage


def test_a_supervisor_survives_while_no_worker_can_be_started() -> None:
    with served() as server:
        address, pid = server.address, server.worker_pid(0)
        assert server.metrics()
        seen = len(server.lines)
        # Allow only as many descriptors as the supervisor has open.
        files = [int(each.name) for each in Path(f"/proc/{server.process.pid}/fd").iterdir()]
        before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (max(files) + 1, before[1]))
        os.kill(pid, signal.SIGKILL)
        for _ in range(3):
            server.find(r"ERROR supervisor .*cannot start worker 0: .*Too many open files", seen)
            seen = len(server.lines)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
        assert server.worker_pid(0, seen)
        list_games(address)
        # Failed attempts are not counted as restarts.
        assert server.total(REPLACED) == 1


NO_THREADS = """
    import os, threading
    start = threading.Thread.start
    def start_if_there_are_threads(self):
        if os.path.exists(os.environ["NO_THREADS"]):
            raise RuntimeError("can't start new thread")
        start(self)
    threading.Thread.start = start_if_there_are_threads
"""


def test_a_worker_that_ends_for_lack_of_threads_is_replaced(tmp_path: Path) -> None:
    shortage = tmp_path / "shortage"
    with served(environment=injected(tmp_path, NO_THREADS) | {"NO_THREADS": str(shortage)}) as server:
        address, pid = server.address, server.worker_pid(0)
        shortage.touch()
        os.kill(pid, signal.SIGKILL)
        seen = len(server.lines)
        for _ in range(2):
            server.find("worker 0 .*died with exit code 1; the next one starts in", seen)
            seen = len(server.lines)
        shortage.unlink()
        assert server.worker_pid(0, seen)
        list_games(address)


def test_a_full_disk_for_metrics_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, offset: int, length: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    message = "cannot start worker 0: cannot allocate 4194304 bytes in .* for metrics: No space left on device"
    with MetricsFiles() as files, pytest.raises(SettingError, match=f"^workers: {message}$"):
        supervisor._Workers(Settings(), files, CollectorRegistry(), Clockwork(), 2).start()


def test_a_shortage_of_descriptors_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        events = stack.enter_context(Wakeups())
        files = stack.enter_context(MetricsFiles())
        workers = supervisor._Workers(Settings(), files, CollectorRegistry(), events, 2)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
        with pytest.raises(SettingError, match=r"^workers: cannot start worker 0: .*Too many open files"):
            workers.start()


# Silent connections to the metrics port


@pytest.fixture
def few_files() -> Iterator[Served]:
    with served(prefix=("sh", "-c", 'ulimit -n 48; exec "$@"', "sh")) as server:
        yield server


def test_silent_metrics_connections_block_neither_metrics_nor_workers(few_files: Served) -> None:
    place = urllib.parse.urlsplit(few_files.metrics_url)
    pid = few_files.worker_pid(0)
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=PATIENCE))
        seen = len(few_files.lines)
        os.kill(pid, signal.SIGKILL)
        assert few_files.worker_pid(0, seen) != pid
        assert few_files.total(REPLACED) == 1
        list_games(few_files.address)


# Output


def written_by_workers(server: Served) -> list[dict[str, Any]]:
    """Return the workers' lines of a JSON log. All lines of the log must be objects."""
    lines = [json.loads(line) for line in server.lines]
    return [line for line in lines if line["process"] == "worker-0"]


def test_messages_of_grpc_s_core_are_logged_like_all_others() -> None:
    # gRPC's core logs that this level is not suitable for production.
    with served("--log-format", "json", environment={"GRPC_VERBOSITY": "debug"}) as server:
        assert server.address
        (line,) = [line for line in written_by_workers(server) if "not suitable for production" in line["message"]]
        assert (line["level"], line["logger"]) == ("WARNING", "grpc")
        assert re.match(r"log\.cc:\d+: ", line["message"])
        assert line["time"]


@pytest.mark.parametrize(
    ("line", "logged"),
    [
        (
            "I1122 06:43:37.810613   15231 trace.cc:91] gRPC Tracers: http",
            ("grpc", "INFO", "trace.cc:91: gRPC Tracers: http"),
        ),
        ("W1122 06:43:37.810613  7 log.cc:1] [a] b", ("grpc", "WARNING", "log.cc:1: [a] b")),
        ("E1122 06:43:37.810613 15231 a/b.cc:91] ", ("grpc", "ERROR", "a/b.cc:91: ")),
        ("F1122 06:43:37.810613 15231 b.cc:9] Check failed", ("grpc", "CRITICAL", "b.cc:9: Check failed")),
        ("Exit 100% sure", ("stderr", "ERROR", "Exit 100% sure")),
        ("", ("stderr", "ERROR", "")),
    ],
)
def test_lines_of_grpc_s_core_have_its_levels(
    caplog: pytest.LogCaptureFixture, line: str, logged: tuple[str, str, str]
) -> None:
    with caplog.at_level("INFO"):
        log_line("worker-7", line)
    (record,) = caplog.records
    assert (record.name, record.levelname, record.getMessage()) == logged
    assert record.processName == "worker-7"
    caplog.clear()
    with caplog.at_level("WARNING"):
        log_line("worker-7", line)
    assert bool(caplog.records) is (logged[1] != "INFO")


def test_the_output_of_a_crashing_worker_is_logged() -> None:
    with served("--log-format", "json") as server:
        assert server.address
        seen = len(server.lines)
        os.kill(server.worker_pid(0), signal.SIGSEGV)
        server.find("died with exit code -11", seen)
        lines = [line["message"] for line in written_by_workers(server)]
        assert "Fatal Python error: Segmentation fault" in lines
        assert any("in run_worker" in line for line in lines)
        server.worker_pid(0, seen)


ENDING = """
    import asyncio
    from chatiere.service.base.heartbeat import Heartbeat
    beat, beaten = Heartbeat.beat, []

    def end(heartbeat):
        beat(heartbeat)
        beaten.append(True)
        if len(beaten) == 2:
            asyncio.get_running_loop().stop()

    Heartbeat.beat = end
"""


def test_a_worker_whose_serving_loop_ends_is_replaced(tmp_path: Path) -> None:
    with served("--hang-timeout", "60", environment=injected(tmp_path, ENDING)) as server:
        assert server.address
        server.find("the serving loop has ended")
        server.find("died with exit code 1")
        server.worker_pid(0, len(server.lines))


NOISY = """
    import os
    for number in range(2_500):
        os.write(2, b"noise %d %s\\n" % (number, b"x" * 100))
    os.write(1, b"a library prints\\n")
    os.write(2, b"no end of the line")
"""


def test_a_worker_may_write_much_before_it_serves(tmp_path: Path) -> None:
    with served("--log-format", "json", environment=injected(tmp_path, NOISY)) as server:
        assert server.address
        assert server.stop() == 0
        messages = [line["message"] for line in written_by_workers(server) if line["logger"] == "stderr"]
        # The output is larger than a pipe's buffer, and smaller than the supervisor's buffer.
        expected = [f"noise {number} {'x' * 100}" for number in range(2_500)]
        assert sorted(messages) == sorted([*expected, "a library prints", "no end of the line"])


@pytest.mark.parametrize("size", [999, 2**15, 2**16])
def test_lines_are_found_in_chunks_of_any_size(size: int) -> None:
    text = b"first\n\nsecond\n" + b"x" * 200_000 + b"\nlast"
    found: list[bytes] = []
    reads, writes = os.pipe()
    lines = Lines(reads, found.append)
    for begin in range(0, len(text), size):
        os.write(writes, text[begin : begin + size])
        lines.take()
    os.close(writes)
    lines.take_rest()
    os.close(reads)
    assert lines.has_ended
    assert found[:3] == [b"first", b"", b"second"]
    assert found[-1] == b"last"
    assert b"".join(found[3:-1]) == b"x" * 200_000
    assert max(map(len, itertools.islice(found, 3, None))) <= 2 * 2**16
