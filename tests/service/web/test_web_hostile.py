"""Slow, silent and hostile clients at the web door lose their connections. Other clients do not."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from chatiere.service.base.settings import Settings
from chatiere.service.exchange import door as door_module
from chatiere.service.guards import connections as connections_module
from chatiere.service.guards.tokens import new_token
from chatiere.service.ports.web import connection as connection_module
from chatiere.v1 import game_service_pb2 as pb

from ..process import wait_until
from ..support import PATIENCE, LogLines, Running, running
from .client import GAME_SERVICE, WebClient

pytestmark = pytest.mark.long

HEAD = b"POST /chatiere.v1.GameService/NewGame HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
BODY = b'{"game":"discat","players":2}'
WHOLE = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
# The number of seconds that a request may take. The clients of these tests are faster, even on a busy machine.
SHORT = 1.5


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(Settings(address="127.0.0.1:0", request_timeout=SHORT), "web") as server:
        yield server


@contextmanager
def connected(server: Running) -> Iterator[socket.socket]:
    host, _, port = server.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        yield connection


def rest(connection: socket.socket) -> bytes:
    """Return all data received before the connection ends."""
    found = b""
    with suppress(ConnectionResetError):
        while data := connection.recv(65536):
            found += data
    return found


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"\r\n", b"408"),
        (b"POST", b"408"),
        (HEAD, b"408"),
        (HEAD + b"x-long: ", b"408"),
        (HEAD + b"content-length: 100\r\n\r\n" + BODY, b"504"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nabc", b"504"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n5;x", b"504"),
        (WHOLE + b"POST", b"200"),
        (WHOLE + HEAD + b"content-length: 100\r\n\r\n" + BODY, b"200"),
    ],
    ids=["nothing", "a line", "verb", "headers", "header", "body", "chunk", "extension", "second", "second body"],
)
def test_incomplete_requests_end_in_time(server: Running, web: WebClient, sent: bytes, answer: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(sent)
        assert answer in rest(connection).partition(b"\r\n")[0]
    assert web.new_game().message


def test_a_client_that_trickles_its_headers_ends_in_time(server: Running) -> None:
    with connected(server) as connection:
        connection.sendall(HEAD)
        connection.settimeout(SHORT / 10)
        found = b""
        for _ in range(200):
            try:
                connection.sendall(b"x: y\r\n")
                found += connection.recv(4096)
                if b"408" in found:
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
    raise AssertionError("the connection does not end")


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"x: " + b"y" * 20_000 + b"\r\n\r\n",
        HEAD + b"x: " + b"y" * 500_000,
        HEAD + b"x: y\r\n" * 5_000,
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /" + b"x" * 500_000,
    ],
    ids=["header", "endless header", "many", "path", "endless path"],
)
def test_huge_headers_are_refused(server: Running, web: WebClient, sent: bytes) -> None:
    with connected(server) as connection:
        with suppress(ConnectionError):
            connection.sendall(sent)
        answer = rest(connection)
        # If more had been sent, the client may only get a reset.
        assert not answer or answer.startswith(b"HTTP/1.1 431 ")
    assert web.new_game().message


def test_a_hundred_megabytes_are_refused_before_they_are_sent(server: Running, web: WebClient) -> None:
    with connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 100000000\r\n\r\n" + BODY)
        assert rest(connection).startswith(b"HTTP/1.1 429 ")
    assert web.new_game().message


def test_a_hundred_megabytes_in_chunks_are_refused(web: WebClient) -> None:
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"f4240\r\n" + bytes(1_000_000) + b"\r\n")
        assert b"LIMIT_EXCEEDED" in (answer := rest(connection)) or not answer
    assert web.new_game().message


def test_the_rest_of_a_refused_request_is_read_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a second, the server reads no more than the data in buffers and the data that the rate limit allows."""
    monkeypatch.setattr(connection_module, "_REFUSED_RATE", 2**20)
    sent, part = 0, bytes(2**20)
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 1000000000\r\n\r\n")
        with suppress(ConnectionError):
            while sent < 1_000_000_000:
                sent += connection.send(part)
    assert sent < 50 * 2**20


def test_a_refused_request_of_the_maximum_size_gets_the_refusal() -> None:
    """The client may read the refusal only after it has sent everything."""
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 16000000\r\n\r\n" + bytes(16_000_000))
        assert b"LIMIT_EXCEEDED" in rest(connection)


def test_pipelined_requests_are_answered_in_order(server: Running) -> None:
    count = 50
    with connected(server) as connection:
        for number in range(count):
            connection.sendall(WHOLE.replace(b"host: localhost", b"host: localhost\r\nx-request-id: n%d" % number))
        found = b""
        while found.count(b" 200 OK\r\n") < count:
            found += connection.recv(65536)
    ids = [line.partition(b": ")[2] for line in found.split(b"\r\n") if line.startswith(b"x-request-id")]
    assert ids == [b"n%d" % number for number in range(count)]


def test_a_connection_with_too_many_pipelined_requests_ends(server: Running, web: WebClient) -> None:
    with connected(server) as connection:
        with suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(WHOLE * 100)
        assert rest(connection).count(b" 200 OK") < 10_000
    assert web.new_game().message


def test_a_client_that_does_not_read_loses_its_connection() -> None:
    """The client requests more than the sockets' buffers hold, and does not read."""
    request = pb.ListGamesRequest(pieces=True, observation=True).SerializeToString()
    ask = (
        b"POST /chatiere.v1.GameService/ListGames HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/proto\r\n"
        b"content-length: %d\r\n\r\n" % len(request)
    ) + request
    with running(Settings(address="127.0.0.1:0", request_timeout=SHORT), "web") as server:
        port = server.server._web
        assert port is not None
        with connected(server) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            with suppress(BlockingIOError):
                connection.sendall(60 * ask)
            wait_until(lambda: port._state.connections, "the connection is accepted")
            with LogLines() as log:
                wait_until(lambda: not port._state.connections, "the connection is closed")
                wait_until(lambda: not port._state.serving, "the calls are over")
            assert not [line for line in log.lines if "incident" in line]


def test_the_address_with_most_connections_loses_its_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "_MAX_CONNECTIONS", 4)
    with running(Settings(address="127.0.0.1:0"), "web") as server:
        first, *others = [socket.create_connection(("127.0.0.1", server.server.web_port or 0)) for _ in range(5)]
        first.settimeout(PATIENCE)
        assert first.recv(1) == b""
        for other in others:
            other.sendall(WHOLE)
            assert other.recv(12) == b"HTTP/1.1 200"
        for each in (first, *others):
            each.close()


def test_a_connection_with_a_request_does_not_give_way_to_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "_MAX_CONNECTIONS", 2)
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as asks:
        port = server.server._web
        assert port is not None
        asks.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(BODY))
        wait_until(lambda: len(port.door.half_open) == 1, "the call has begun")
        with connected(server) as silent, connected(server) as newcomer:
            newcomer.sendall(WHOLE)
            assert newcomer.recv(12) == b"HTTP/1.1 200"
            assert silent.recv(1) == b""
            asks.sendall(BODY)
            assert asks.recv(12) == b"HTTP/1.1 200"


def test_the_door_retries_accepting_when_descriptors_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Settings(address="127.0.0.1:0", request_timeout=SHORT), "web") as server, LogLines() as log:
        accept = socket.socket.accept

        def fail(listening: socket.socket) -> Any:
            monkeypatch.setattr(socket.socket, "accept", accept)
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(socket.socket, "accept", fail)
        with WebClient(server.address) as web:
            assert web.new_game().message
        assert log.wait_for("connections could not be accepted: Too many open files")


def test_a_call_above_the_limit_ends_the_oldest() -> None:
    settings = Settings(address="127.0.0.1:0", max_calls=2)
    half = HEAD + b"content-length: %d\r\n\r\n" % len(BODY)
    with running(settings, "web") as server, connected(server) as first, connected(server) as second:
        web = server.server._web
        assert web is not None
        for number, each in enumerate((first, second), 1):
            each.sendall(half)
            wait_until(lambda number=number: len(web.door.half_open) == number, "the call waits")  # type: ignore[misc]
        with connected(server) as third:
            third.sendall(half)
            assert b"LIMIT_EXCEEDED" in rest(first)
            # The other calls still wait for their requests.
            for each in (second, third):
                each.sendall(BODY)
                assert each.recv(12) == b"HTTP/1.1 200"


def test_without_a_token_a_call_ends_at_its_headers(tmp_path: Path) -> None:
    token, line = new_token("anna")
    (tmp_path / "tokens").write_text(line)
    settings = Settings(address="127.0.0.1:0", tokens=tmp_path / "tokens")
    with running(settings, "web") as server, WebClient(server.address) as web, connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 1000\r\n\r\n")
        assert b"401" in connection.recv(4096)
        assert web.new_game().code == "unauthenticated"
        assert web.new_game(protocol="grpc-web").code == "unauthenticated"
        assert web.new_game(headers={"authorization": f"Bearer {token}"}).message
        assert web.http.get("/healthz").status_code == 200
        url = GAME_SERVICE + "ListGames?encoding=json&message={}"
        assert web.http.get(url).status_code == 401
        found = web.http.get(url, headers={"authorization": f"Bearer {token}"})
        assert found.headers["cache-control"] == "private, max-age=3600"


def test_incomplete_requests_that_take_too_much_memory_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "most_of_parts", lambda _: 100_000)
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 300000\r\n\r\n" + bytes(200_000))
        assert b"LIMIT_EXCEEDED" in rest(connection)
