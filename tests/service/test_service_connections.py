"""More connections than the process has descriptors: each door has a share of these, and serves new clients."""

import contextlib
import gc
import re
import resource
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from h2.connection import H2Connection
from tools.needs import needs
from tools.over import over

from chatiere.service.base.settings import Settings
from chatiere.service.guards import connections
from chatiere.service.guards.connections import connections_of
from chatiere.service.ports import server as serving
from chatiere.v1 import batch_service_pb2, game_service_pb2

from .process import Served, served, wait_until
from .support import PATIENCE, batch_stub, game_stub, running
from .test_service_access import Authority

pytestmark = [needs("libnghttp2"), pytest.mark.long]

FILES, CROWD = 1024, 1500
# The number of idle TLS connections. They allocate more memory than incomplete requests may take.
IDLE = 700
DOORS = ["grpcio", "fast", "web"]
# The beginning of a TLS ClientHello.
HELLO = b"\x16\x03\x01\x02\x00\x01"
# The first bytes from an HTTP/2 client. The client sends nothing afterwards.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({}, {}))
os.execv(sys.argv[1], sys.argv[1:])
"""


def limited_to(soft: int, hard: int) -> tuple[str, ...]:
    """Return a command prefix that sets the limits of open files for the command that follows."""
    return (sys.executable, "-c", LIMITED.format(soft, hard))


@contextlib.contextmanager
def three_doors(*arguments: str) -> Iterator[Served]:
    """Run a server that may open at most 1,024 files."""
    addresses = ("--fast-address", "127.0.0.1:0", "--web-address", "127.0.0.1:0", "--request-timeout", "1")
    with served(*addresses, *arguments, prefix=limited_to(FILES, FILES)) as server:
        pid = server.worker_pid(0)
        yield server
        assert server.worker_pid(0) == pid
        assert not [line for line in server.lines if " ERROR " in line or "could not be accepted" in line]


def place_of(server: Served, door: str) -> tuple[str, int]:
    host, _, port = getattr(server, f"{door}_address").rpartition(":")
    return host, int(port)


def descriptors(server: Served) -> int:
    return len(list(Path(f"/proc/{server.worker_pid(0)}/fd").iterdir()))


@pytest.fixture(autouse=True)
def enough_files() -> Iterator[None]:
    """Raise the limit of open files for this process, but not for the servers."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < CROWD + 500:
        pytest.skip("this process may not open as many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextlib.contextmanager
def crowd_at(place: tuple[str, int], says: bytes) -> Iterator[list[socket.socket]]:
    """Open connections, and send some bytes on each. Yield all of them, even those that were closed immediately."""
    with ExitStack() as stack:
        found = []
        for _ in range(CROWD):
            found.append(stack.enter_context(socket.create_connection(place, PATIENCE)))
            with contextlib.suppress(ConnectionError):
                found[-1].sendall(says)
        yield found


def is_called(server: Served, door: str, context: Any = None) -> bool:
    """Return whether a new connection at a door is served."""
    host, port = place_of(server, door)
    if door == "web":
        scheme, host = ("http", host) if context is None else ("https", "localhost")
        try:
            return httpx.get(f"{scheme}://{host}:{port}/healthz", verify=context or False, trust_env=False).is_success
        except httpx.TransportError:
            return False
    with grpc.insecure_channel(f"{host}:{port}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
        try:
            return bool(game_stub(channel).ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE).games)
        except grpc.RpcError:
            return False


@pytest.mark.parametrize("says", [b"", PREFACE], ids=["silent", "settings"])
@over("attacked", DOORS)
def test_many_connections_at_a_door_take_no_descriptors_of_other_doors(attacked: str, says: bytes) -> None:
    with three_doors() as server, crowd_at(place_of(server, attacked), says):
        for door in DOORS:
            # gRPC does not close a connection when a new one arrives, but ends silent connections after a time limit.
            if door != attacked or door != "grpcio":
                assert is_called(server, door), door
        assert descriptors(server) < FILES
        if attacked != "grpcio" or says != PREFACE:
            wait_until(lambda: is_called(server, attacked), "the attacked door serves a new connection")


def test_idle_browser_connections_over_tls_end_no_calls(tmp_path: Path) -> None:
    """Python's loop allocates far more memory than it uses. This must not end half-open calls of other clients."""
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.issue("server")
    context = ssl.create_default_context(cafile=authority.file)
    tls = ("--tls-certificate", str(certificate), "--tls-key", str(key))
    web = ("--web-address", "127.0.0.1:0", "--request-timeout", "60")
    learner = grpc.ssl_channel_credentials(authority.file.read_bytes())
    with served(*tls, *web, prefix=limited_to(IDLE + 500, IDLE + 500)) as server, ExitStack() as stack:
        address = f"localhost:{place_of(server, 'grpcio')[1]}"
        channel = stack.enter_context(grpc.secure_channel(address, learner))
        may_send = threading.Event()

        def requests() -> Iterator[batch_service_pb2.PlayRequest]:
            assert may_send.wait(PATIENCE)
            yield batch_service_pb2.PlayRequest()

        call = batch_stub(channel).Play(requests(), timeout=PATIENCE)
        for _ in range(IDLE):
            plain = socket.create_connection(place_of(server, "web"), PATIENCE)
            stack.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
        assert is_called(server, "web", context)
        may_send.set()
        assert next(call) is not None
        assert not [line for line in server.lines if "incomplete requests" in line]


def test_idle_grpc_connections_are_counted_in_known_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their memory does not count as memory of incomplete requests. Open descriptors count as gRPC's connections."""
    files = 100
    monkeypatch.setattr(serving, "open_files", lambda: files)
    with running() as running_one:
        server = running_one.server
        assert server.known == 0
        files += 1000
        wait_until(lambda: server.known == 1000 * 64 * 1024, "connections are counted")
        files -= 1100
        wait_until(lambda: server.known == 0, "closed connections are no longer counted")


@pytest.mark.parametrize("says", [b"", HELLO], ids=["silent", "hello"])
def test_connections_count_before_their_handshake(tmp_path: Path, says: bytes) -> None:
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.issue("server")
    context = ssl.create_default_context(cafile=authority.file)
    with (
        three_doors("--tls-certificate", str(certificate), "--tls-key", str(key)) as server,
        crowd_at(place_of(server, "web"), says) as crowd,
    ):
        assert is_called(server, "web", context)
        assert is_called(server, "fast")
        assert descriptors(server) < FILES
        # The handshake has a time limit.
        for each in crowd[:: CROWD // 10] + crowd[-1:]:
            with contextlib.suppress(ConnectionResetError):
                while each.recv(4096):
                    pass
        wait_until(lambda: descriptors(server) < FILES // 4, "all connections are closed")


def test_the_soft_limit_is_raised_to_the_hard_one_and_logged() -> None:
    with served(prefix=limited_to(512, FILES)) as server:
        assert server.address
        assert server.find(f"open files: at most {FILES}, raised from 512$")
        limits = Path(f"/proc/{server.worker_pid(0)}/limits").read_text()
        assert re.search(rf"^Max open files +{FILES} +{FILES} ", limits, re.M)


def test_doors_share_the_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    for files, doors, share in (1024, 3, 298), (1024, 1, 896), (100_000, 3, 10_000), (100, 2, 16):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert connections_of(doors) == share


def test_streams_with_their_own_threads_leave_descriptors_to_other_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_MAX_CONNECTIONS", 16)
    ended = threading.Event()

    def requests() -> Iterator[batch_service_pb2.PlayRequest]:
        yield batch_service_pb2.PlayRequest()
        ended.wait(PATIENCE)

    with running(Settings(address="127.0.0.1:0"), "fast") as server, ExitStack() as stack:
        stack.callback(ended.set)
        door = server.server._fast
        assert door is not None
        for _ in range(8):
            options = [("grpc.use_local_subchannel_pool", 1)]
            channel = stack.enter_context(grpc.insecure_channel(server.address, options))
            assert next(batch_stub(channel).Play(requests(), timeout=PATIENCE)) is not None
        # Four is a quarter of 16, and each loop uses three descriptors.
        assert len(door._own_loops) == 4
        assert door._endpoint.max_connections == 4


def test_the_backlog_of_connections_is_as_long_as_the_system_allows() -> None:
    """Hundreds of clients connect to the web door while its loop is busy. The server's end closes them."""
    released = threading.Event()
    with running(Settings(address="127.0.0.1:0"), "web") as server, ExitStack() as stack:
        server.server._loop.call_soon_threadsafe(released.wait, PATIENCE)
        stack.callback(released.set)
        place = ("127.0.0.1", server.server.web_port or 0)
        for _ in range(400):
            stack.enter_context(socket.create_connection(place, PATIENCE / 3))
    # At this point Python would warn of sockets that were not closed.
    gc.collect()


def test_grpcio_s_port_keeps_no_header_table() -> None:
    """With a table of compressed headers, one byte could represent several kilobytes (RFC 7541, 4.2)."""
    with running() as server, socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2]))) as client:
        client.settimeout(PATIENCE)
        client.sendall(PREFACE)
        http2 = H2Connection()
        http2.initiate_connection()
        while http2.remote_settings.header_table_size != 0:
            data = client.recv(2**16)
            assert data
            http2.receive_data(data)
