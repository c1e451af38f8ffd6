"""Slow, silent and hostile clients at the door for browsers: each costs its own connection."""

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

HEAD = b"POST /chatiere.v1.GameService/NewGame HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
BODY = b'{"game":"discat","players":2}'
WHOLE = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
# Seconds for a request, in these tests: their clients are quicker, even if the machine is busy.
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
    """Return all that comes before the connection ends."""
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
def test_what_breaks_off_ends_in_time(server: Running, web: WebClient, sent: bytes, answer: bytes) -> None:
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
    raise AssertionError("it may go on for ever")


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
        # Where more had been sent, the client may be told by a reset alone.
        assert not answer or answer.startswith(b"HTTP/1.1 431 ")
    assert web.new_game().message


def test_trailers_count_as_headers(server: Running) -> None:
    with connected(server) as connection:
        with suppress(ConnectionError):
            connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"x: y\r\n" * 20_000)
        assert b" 200 " not in rest(connection)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nx\r\n\r\n",
        HEAD + b"content-length: -1\r\n\r\n",
        HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab",
        HEAD + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding: chunked\r\n\r\nx\r\n",
        HEAD + b"x: \xff\r\ncontent-length: 0\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(server: Running, web: WebClient, sent: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(sent)
        assert connection.recv(4096)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 404")
    assert web.new_game().message


def test_a_websocket_is_not_opened(server: Running) -> None:
    with connected(server) as connection:
        connection.sendall(
            b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            b"sec-websocket-version: 13\r\nsec-websocket-key: x\r\n\r\n"
        )
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_hundred_megabytes_are_refused_before_they_come(server: Running, web: WebClient) -> None:
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
    """So much is read as has its place in buffers, and what the rate allows in the second until the connection ends."""
    monkeypatch.setattr(connection_module, "_REFUSED_RATE", 2**20)
    sent, part = 0, bytes(2**20)
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 1000000000\r\n\r\n")
        with suppress(ConnectionError):
            while sent < 1_000_000_000:
                sent += connection.send(part)
    assert sent < 50 * 2**20


def test_a_refused_request_that_is_as_large_as_can_be_is_told_why() -> None:
    """Its client may read only when it has sent everything."""
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


def test_a_connection_with_too_many_requests_at_a_time_ends(server: Running, web: WebClient) -> None:
    with connected(server) as connection:
        with suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(WHOLE * 100)
        assert rest(connection).count(b" 200 OK") < 10_000
    assert web.new_game().message


def test_a_client_that_takes_nothing_loses_its_connection() -> None:
    """It asks for more than the sockets' buffers hold, and reads nothing."""
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
            wait_until(lambda: port._state.connections, "it is there")
            with LogLines() as log:
                wait_until(lambda: not port._state.connections, "it is gone")
                wait_until(lambda: not port._state.serving, "its calls are over")
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


def test_who_has_asked_for_something_is_not_ended_for_a_new_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "_MAX_CONNECTIONS", 2)
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as asks:
        port = server.server._web
        assert port is not None
        asks.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(BODY))
        wait_until(lambda: len(port.door.half_open) == 1, "it has begun")
        with connected(server) as silent, connected(server) as newcomer:
            newcomer.sendall(WHOLE)
            assert newcomer.recv(12) == b"HTTP/1.1 200"
            assert silent.recv(1) == b""
            asks.sendall(BODY)
            assert asks.recv(12) == b"HTTP/1.1 200"


def test_for_want_of_descriptors_the_door_looks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Settings(address="127.0.0.1:0", request_timeout=SHORT), "web") as server, LogLines() as log:
        accept = socket.socket.accept

        def fail(listening: socket.socket) -> Any:
            monkeypatch.setattr(socket.socket, "accept", accept)
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(socket.socket, "accept", fail)
        with WebClient(server.address) as web:
            assert web.new_game().message
        assert log.wait_for("connections could not be taken: Too many open files")


def test_a_call_of_a_full_house_ends_the_oldest() -> None:
    settings = Settings(address="127.0.0.1:0", max_calls=2)
    half = HEAD + b"content-length: 100\r\n\r\n"
    with running(settings, "web") as server, connected(server) as first, connected(server) as second:
        web = server.server._web
        assert web is not None
        for number, each in enumerate((first, second), 1):
            each.sendall(half)
            wait_until(lambda number=number: len(web.door.half_open) == number, "it waits")  # type: ignore[misc]
        with connected(server) as third:
            third.sendall(half)
            assert b"LIMIT_EXCEEDED" in rest(first)
            assert len(web.door.half_open) == 2


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


def test_requests_in_part_that_take_too_much_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "most_of_parts", lambda _: 100_000)
    with running(Settings(address="127.0.0.1:0"), "web") as server, connected(server) as connection:
        connection.sendall(HEAD + b"content-length: 300000\r\n\r\n" + bytes(200_000))
        assert b"LIMIT_EXCEEDED" in rest(connection)
