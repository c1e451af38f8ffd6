"""Unix sockets: permission to call, the file before and after a server, and the client for whom limits count."""

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tools.needs import needs

from chatiere.service.base.settings import SettingError, Settings, unix_path
from chatiere.service.guards import traces
from chatiere.service.ports.listening import HeldPort, place_for
from chatiere.service.ports.server import Server, create_server
from chatiere.v1 import game_service_pb2

from .fast_door.peer import Peer
from .process import served
from .support import PATIENCE, Door, LogLines, code_of, game_stub

LIST_GAMES = game_service_pb2.ListGamesRequest()
SETTING = {"grpcio": "address", "fast": "fast_address"}
# The number of a user and of a group without any rights.
NOBODY = 65534
# A program that becomes the given user and group, and connects its standard input to a path.
CONNECT = """
import os, socket, sys
user, group, path = sys.argv[1:]
os.setgroups([])
os.setgid(int(group))
os.setuid(int(user))
sys.exit(socket.socket(fileno=os.dup(0)).connect_ex(path))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that has a short path, and that every user may access."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "api.sock"


def at(path: Path, door: Door, **more: Any) -> Settings:
    """Return the settings of a server that has one of its doors at a path."""
    more |= {"address": "127.0.0.1:0", SETTING[door]: f"unix:{path}"}
    return Settings(**more)


@contextmanager
def serving(settings: Settings) -> Iterator[Server]:
    server, _ = create_server(settings, CollectorRegistry())
    server.start()
    try:
        yield server
    finally:
        assert server.stop(None).wait(PATIENCE)


def list_games(path: Path) -> grpc.StatusCode:
    """Make a call over a separate connection. Return its status."""
    with grpc.insecure_channel(f"unix:{path}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
        return code_of(game_stub(channel).ListGames, LIST_GAMES, timeout=PATIENCE)


def leave_stale(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
        dead.listen()


def connected(path: Path, user: int = 0, group: int = 0) -> socket.socket:
    """Return a connection made by a user. Raises PermissionError if the user may not connect."""
    made = socket.socket(socket.AF_UNIX)
    command = (sys.executable, "-I", "-S", "-c", CONNECT, str(user), str(group), str(path))
    found = subprocess.run(command, stdin=made.fileno(), check=False).returncode
    if found:
        made.close()
        raise OSError(found, os.strerror(found))
    made.settimeout(PATIENCE)
    return made


# Addresses


@pytest.mark.parametrize(
    "address", ["unix:", "unix:api.sock", "unix:80", "unix:/a b", "unix:/é", "unix:/%41", "unix:/" + 107 * "a"]
)
def test_an_invalid_path_is_refused(address: str) -> None:
    with pytest.raises(SettingError, match=r"^address: a Unix socket must be unix:/PATH, "):
        Settings(address=address)


def test_the_longest_path_is_served(folder: Path, door: Door) -> None:
    path = folder / ("a" * (106 - len(str(folder))))
    assert len(str(path)) == 107
    assert unix_path(f"unix:{path}") == str(path)
    with serving(at(path, door)):
        assert list_games(path) is grpc.StatusCode.OK


@pytest.mark.parametrize("setting", ["web_address", "metrics_address"])
def test_doors_without_unix_sockets_refuse_their_addresses(setting: str) -> None:
    with pytest.raises(SettingError, match=f"^{setting}: an address must be HOST:PORT"):
        Settings(**{setting: "unix:/run/chatiere/api.sock"})  # type: ignore[arg-type]


def test_one_worker_has_a_unix_socket(door: Door) -> None:
    with pytest.raises(SettingError, match=r"^workers: must be 1 with unix:/api\.sock: "):
        at(Path("/api.sock"), door, workers=2)


def test_a_unix_socket_needs_neither_tls_nor_tokens(door: Door) -> None:
    assert not at(Path("/api.sock"), door).open_addresses


# The path


def test_owner_and_group_may_call_with_any_umask(path: Path, door: Door) -> None:
    before = os.umask(0o077)
    try:
        with serving(at(path, door)):
            assert stat.S_IMODE(path.stat().st_mode) == 0o660
            assert list_games(path) is grpc.StatusCode.OK
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)


# Only root can become another user.
@needs("root")
def test_other_users_may_not_connect(path: Path, door: Door) -> None:
    with serving(at(path, door)):
        connected(path, NOBODY, group=0).close()
        with pytest.raises(PermissionError):
            connected(path, NOBODY, NOBODY)


def test_a_stale_socket_is_replaced(path: Path, door: Door) -> None:
    leave_stale(path)
    with serving(at(path, door)):
        assert list_games(path) is grpc.StatusCode.OK


def test_a_server_s_socket_is_not_taken(path: Path, door: Door) -> None:
    settings = at(path, door)
    refused = f"^{SETTING[door]}: cannot listen on unix:{path}: another server listens there"
    with serving(settings):
        with pytest.raises(SettingError, match=refused):
            create_server(settings, CollectorRegistry())
        with pytest.raises(SettingError, match=refused):
            HeldPort(f"unix:{path}", SETTING[door])
        assert list_games(path) is grpc.StatusCode.OK


def test_the_socket_of_a_server_with_a_full_backlog_is_not_taken(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(str(path))
        busy.listen(0)
        waiting.connect(str(path))
        refused = f"^address: cannot listen on unix:{path}: another server listens there"
        with pytest.raises(SettingError, match=refused), place_for("address", f"unix:{path}"):
            pass


def test_a_regular_file_is_not_replaced(path: Path, door: Door) -> None:
    path.write_text("precious")
    refused = f"^{SETTING[door]}: cannot listen on unix:{path}: the path exists and is not a socket"
    with pytest.raises(SettingError, match=refused):
        create_server(at(path, door), CollectorRegistry())
    assert path.read_text() == "precious"


def test_a_missing_folder_is_refused(folder: Path, door: Door) -> None:
    refused = f"^{SETTING[door]}: cannot listen on unix:{folder}/none/api.sock: .*"
    reason = {"grpcio": "its folder is missing or cannot be written to", "fast": "No such file or directory"}[door]
    with pytest.raises(SettingError, match=refused + reason):
        create_server(at(folder / "none/api.sock", door), CollectorRegistry())


@pytest.mark.long
def test_a_server_removes_its_sockets_and_stale_ones(path: Path, door: Door) -> None:
    arguments = (f"--{SETTING[door].replace('_', '-')}", f"unix:{path}")
    for end in (signal.SIGKILL, signal.SIGTERM):
        with served(*arguments, door=door) as server:
            assert server.address == f"unix:{path}"
            assert list_games(path) is grpc.StatusCode.OK
            worker, known = server.worker_pid(0), len(server.lines)
            if end == signal.SIGKILL:
                os.kill(worker, end)
                # A new server has the socket of the killed one.
                server.worker_pid(0, after=known)
                assert list_games(path) is grpc.StatusCode.OK
                os.killpg(server.process.pid, end)
            else:
                server.process.send_signal(end)
            server.process.wait(PATIENCE)
        assert path.exists() == (end == signal.SIGKILL)


@pytest.mark.parametrize(("suffix", "kind"), [("", socket.SOCK_STREAM), (".shm", socket.SOCK_SEQPACKET)])
def test_the_holder_of_a_port_removes_the_sockets_of_a_killed_worker(path: Path, suffix: str, kind: int) -> None:
    for is_killed in (True, False):
        with socket.socket(socket.AF_UNIX, kind) as listening, HeldPort(f"unix:{path}", "fast_address"):
            listening.bind(f"{path}{suffix}")
            listening.listen()
            if is_killed:
                listening.close()
        # Only a dead socket is removed.
        assert Path(f"{path}{suffix}").exists() == (not is_killed)


# Limits


@needs("root", "libnghttp2")
def test_the_fast_door_counts_users(path: Path) -> None:
    settings = at(path, "fast", max_rate_per_client=0.001, log_calls=True)
    ok, limited = grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED
    with LogLines() as log, serving(settings):
        for user, expected in ((0, ok), (0, limited), (NOBODY, ok), (NOBODY, limited)):
            with Peer(connected(path, user)) as peer:
                peer.send(*peer.call())
                assert peer.end()[0] is expected
                assert f" from unix:{user}:" in log.wait_for("ListGames")


@needs("root", "libnghttp2")
def test_the_user_with_most_connections_loses_one(path: Path) -> None:
    with serving(at(path, "fast")) as server:
        assert server._fast is not None
        server._fast._endpoint.max_connections = 3
        with Peer(connected(path, NOBODY)) as other, Peer(connected(path)) as first:
            other.ping()
            first.ping()
            with Peer(connected(path)) as second:
                second.ping()
                with Peer(connected(path, NOBODY)) as third:
                    third.ping()
                    first.rest()
                    for each in (other, second, third):
                        each.ping()


def test_a_span_names_no_machine(path: Path, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, spans = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(traces, "_provider", lambda: provider)
    with serving(at(path, door, traces=True)):
        assert list_games(path) is grpc.StatusCode.OK
    (span,) = spans.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["rpc.method"] == "ListGames"
    assert not {"net.peer.ip", "net.peer.port"} & span.attributes.keys()


def test_grpcio_s_port_counts_all_users_as_one_client(path: Path) -> None:
    with serving(at(path, "grpcio", max_rate_per_client=0.001)):
        assert list_games(path) is grpc.StatusCode.OK
        assert list_games(path) is grpc.StatusCode.RESOURCE_EXHAUSTED
