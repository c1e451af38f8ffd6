"""A call is refused in the same way on each wire that can carry it."""

import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest

from chatiere.engine.core.cancellation import Cancellation, Cancelled
from chatiere.service.base.settings import Settings
from chatiere.service.calls import game_service
from chatiere.service.calls.bot_service import BotService
from chatiere.service.guards.memory import Holding
from chatiere.service.guards.tokens import new_token
from chatiere.v1.batch_service_pb2 import PlayRequest, PlayResponse

from ..process import wait_until
from ..support import ALL_DOORS, PATIENCE, Door, Refused, Running, only_grpc, refusal, running
from ..test_service_half_open import Peer

DOORS = ALL_DOORS
LIST_GAMES, LIST_BOTS = "/chatiere.v1.GameService/ListGames", "/chatiere.v1.BotService/ListBots"


class Case(NamedTuple):
    """A refused call, the settings of the server, and the refusal that the client receives."""

    path: str
    request: bytes
    metadata: tuple[tuple[str, str], ...]
    settings: dict[str, Any]
    refused: Refused


def expected(code: grpc.StatusCode, reason: str, message: str, **metadata: str) -> Refused:
    return Refused(code, message, reason, "chatiere", metadata=metadata)


INVALID, FULL, LATE = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)
CASES = {
    "no token": Case(
        LIST_GAMES,
        b"",
        (),
        {"tokens": True},
        expected(
            grpc.StatusCode.UNAUTHENTICATED,
            "UNAUTHENTICATED",
            "token required: send metadata `authorization: Bearer …`, once",
        ),
    ),
    "an unknown token": Case(
        LIST_BOTS,
        b"",
        (("authorization", "Bearer mine"),),
        {"tokens": True},
        expected(grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED", "unknown token"),
    ),
    "a language that cannot be read": Case(
        LIST_GAMES,
        b"",
        (("accept-language", "?"),),
        {},
        expected(
            INVALID,
            "INVALID_LANGUAGE",
            "accept-language: not a list of language ranges, as in `fr-CA, fr;q=0.8, en;q=0.5`",
            metadata="accept-language",
        ),
    ),
    "bytes that are no message": Case(
        LIST_GAMES,
        b"\xff",
        (),
        {},
        expected(INVALID, "MALFORMED_REQUEST", "the request cannot be parsed as the message of this method"),
    ),
    "a request that is too large": Case(
        LIST_GAMES,
        bytes(65_537),
        (),
        {},
        expected(
            FULL,
            "LIMIT_EXCEEDED",
            "limit exceeded: bytes of a request (at most 65536)",
            limit="bytes of a request",
            most="65536",
        ),
    ),
    "a call that takes too long": Case(
        LIST_BOTS,
        b"",
        (),
        {"default_deadline": 0.01, "max_deadline": 0.01},
        expected(LATE, "TIME_LIMIT", "deadline exceeded: the server allows 0.01 s", seconds="0.01"),
    ),
}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Make bots' calls at servers that start later last until they are cancelled. Yield an event: a call has begun."""
    begun, over = threading.Event(), threading.Event()

    def answer(service: BotService, name: str, data: Any, cancellation: Cancellation, hold: Any) -> list[bytes]:
        begun.set()
        while not over.wait(0.001):
            if cancellation.cancelled:
                raise Cancelled("cancelled")
        return [b""]

    monkeypatch.setattr(BotService, "answer", answer)
    yield begun
    over.set()


@pytest.mark.parametrize("name", CASES)
def test_a_refusal_is_the_same_at_each_door(door: Door, name: str, slow: threading.Event, tmp_path: Path) -> None:
    case = CASES[name]
    settings = dict(case.settings)
    if "tokens" in settings:
        settings["tokens"] = tmp_path / "tokens"
        settings["tokens"].write_text(new_token("alice")[1])
    with running(Settings(address="127.0.0.1:0", **settings), door) as server:
        call: Any = server.channel.unary_unary(case.path)
        refused = refusal(call, case.request, metadata=(*case.metadata, ("x-request-id", "cat-1")), timeout=None)
    assert refused == case.refused
    assert refused.request_id == "cat-1"


def test_a_call_above_the_limit_is_the_same_at_each_door(door: Door, slow: threading.Event) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls_per_client=1, default_deadline=PATIENCE), door) as server:
        list_bots: Any = server.channel.unary_unary(LIST_BOTS)
        first = list_bots.future(b"")
        assert slow.wait(PATIENCE)
        refused = refusal(server.channel.unary_unary(LIST_GAMES), b"")
        assert (refused.code, refused.reason, refused.retry_after) == (FULL, "LIMIT_EXCEEDED", 0.1)
        assert refused.metadata == {"limit": "calls of one client at a time", "most": "1"}
        assert server.server.stop(0).wait(PATIENCE)
        assert first.exception() is not None


def test_a_shortage_of_memory_is_the_same_at_each_door(door: Door, slow: threading.Event) -> None:
    with running(Settings(address="127.0.0.1:0", max_undelivered_bytes=1), door) as server:
        other = Holding(server.server._guards.budget, "another")
        other.hold(2**20)
        refused = refusal(server.channel.unary_unary(LIST_BOTS), bytes(100))
        other.release()
        wait_until(lambda: not server.server._guards.budget.held, "no memory is held")
    limit = "bytes of requests under way and answers not yet taken"
    assert (refused.code, refused.reason, refused.retry_after) == (FULL, "LIMIT_EXCEEDED", 1)
    assert refused.metadata == {"limit": limit, "most": "1"}
    assert not slow.is_set()


def test_a_failure_is_the_same_at_each_door(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(game_service, "list_games", fail)
    with running(Settings(address="127.0.0.1:0"), door) as server:
        refused = refusal(server.channel.unary_unary(LIST_GAMES), b"")
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert refused.message == f"internal error: see incident {refused.metadata['incident']} in the server's log"


# Incomplete requests


class HalfOpen:
    """Calls of ListGames for which only the headers are sent."""

    def __init__(self, server: Running, door: Door) -> None:
        self._server, self._door = server, door
        self._peer = None if door == "web" else Peer(server.address)
        self._connections: list[socket.socket] = []

    def begin(self) -> Any:
        if self._peer is not None:
            return self._peer.begin(LIST_GAMES)
        host, port = self._server.address.split(":")
        connection = socket.create_connection((host, int(port)), PATIENCE)
        self._connections.append(connection)
        head = f"POST {LIST_GAMES} HTTP/1.1", f"host: {host}", "content-type: application/proto", "content-length: 10"
        connection.sendall("".join(f"{line}\r\n" for line in (*head, "")).encode())
        return connection

    def end(self, call: Any) -> tuple[int, str]:
        """Wait for the status of a call. Return its code and message."""
        if self._peer is not None:
            return self._peer.status(call)
        with closing(call.makefile("rb")) as response:
            while (line := response.readline().strip().lower()) != b"":
                name, _, value = line.partition(b":")
                if name == b"content-length":
                    length = int(value)
            error = json.loads(response.read(length))
        (code,) = [each for each in grpc.StatusCode if each.name.lower() == error["code"]]
        return code.value[0], error["message"]

    def close(self) -> None:
        for each in (self._peer, *self._connections):
            if each is not None:
                each.close()


def test_a_missing_request_is_the_same_at_each_door(door: Door) -> None:
    settings = Settings(address="127.0.0.1:0", request_timeout=1.5)
    with running(settings, door) as server, closing(HalfOpen(server, door)) as calls:
        code, message = calls.end(calls.begin())
    assert (code, message) == (LATE.value[0], "request timeout: the request did not arrive within 1.5 s")


def test_a_slot_that_is_lost_is_the_same_at_each_door(door: Door) -> None:
    labels = {"grpc_type": "unary", "grpc_service": "chatiere.v1.GameService", "grpc_method": "ListGames"}
    settings = Settings(address="127.0.0.1:0", max_calls=1)
    with running(settings, door) as server, closing(HalfOpen(server, door)) as calls:
        first = calls.begin()
        wait_until(lambda: server.sample("grpc_server_started_total", **labels) == 1, "the call has begun")
        calls.begin()
        code, message = calls.end(first)
    limit = "calls whose request has not arrived completely (at most 1)"
    assert (code, message) == (FULL.value[0], f"limit exceeded: {limit}; try again in 1.0 s")


def test_a_client_that_leaves_is_the_same_at_each_door(door: Door) -> None:
    labels = {"grpc_type": "unary", "grpc_service": "chatiere.v1.GameService", "grpc_method": "ListGames"}
    with running(Settings(address="127.0.0.1:0"), door) as server:
        with closing(HalfOpen(server, door)) as calls:
            calls.begin()
            wait_until(lambda: server.sample("grpc_server_started_total", **labels) == 1, "the call has begun")
        left = labels | {"grpc_code": "Canceled"}
        wait_until(lambda: server.sample("grpc_server_handled_total", **left) == 1, "the call is counted")
        assert server.sample("chatiere_calls_in_flight", grpc_type="unary") == 0


@only_grpc
@pytest.mark.parametrize("has_worked", [False, True])
def test_a_client_that_leaves_a_stream_is_the_same_at_each_door(door: Door, has_worked: bool) -> None:
    labels = {"grpc_type": "bidi_stream", "grpc_service": "chatiere.v1.BatchService", "grpc_method": "Play"}
    with running(Settings(address="127.0.0.1:0"), door) as server:
        requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        play: Any = server.channel.stream_stream(f"/{labels['grpc_service']}/Play")
        stream = play(iter(requests.get, None))
        if has_worked:
            requests.put(PlayRequest(tag=1).SerializeToString())
            assert PlayResponse.FromString(next(stream)).tag == 1
        wait_until(lambda: server.sample("grpc_server_started_total", **labels) == 1, "the call has begun")
        stream.cancel()
        requests.put(None)
        left = labels | {"grpc_code": "Canceled"}
        wait_until(lambda: server.sample("grpc_server_handled_total", **left) == 1, "the call is counted")
