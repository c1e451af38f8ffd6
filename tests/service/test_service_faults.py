"""Failures in operation, and how a server handles them. Failures of access are in test_service_access."""

import os
import resource
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from chatiere import engine
from chatiere.clients import CHANNEL_OPTIONS
from chatiere.service.base.settings import Settings
from chatiere.service.guards.sizes import largest_request
from chatiere.service.ports.methods import BATCH_SERVICE, BOT_SERVICE, GAME_SERVICE, PLAY, TABLE_SERVICE
from chatiere.v1 import batch_service_pb2, game_service_pb2

from .process import Served, served, wait_until
from .support import PATIENCE, Door, batch_stub, code_of, game_stub, read_refusal, refusal, running

pytestmark = pytest.mark.long

LIST_GAMES = game_service_pb2.ListGamesRequest()
OK, UNAVAILABLE = grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE


def playouts(count: int) -> batch_service_pb2.PlayoutRequest:
    """Return a request that keeps a worker busy: many playouts from the beginning of a game."""
    position = engine.game("discat").new_game(2, seed=1)
    table = batch_service_pb2.BatchSetup(game="discat", players=2)
    return batch_service_pb2.PlayoutRequest(setup=table, states=position.pack(), playouts=count, seed=5)


# BUSY takes a second or more. ENDLESS does not finish while a test waits.
BUSY, ENDLESS = playouts(100_000), playouts(2**32 - 1)


def worker_of(server: Served, channel: grpc.Channel, request_id: str) -> int:
    """Return the number of the worker that serves a channel. The request id is used to find it in the log."""
    metadata = (("x-request-id", request_id),)
    game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE, wait_for_ready=True, metadata=metadata)
    return int(server.find(rf"worker-(\d) .* request {request_id} ")[1])


def in_flight(server: Served) -> float:
    return server.total("chatiere_calls_in_flight", grpc_type="unary")


@pytest.fixture
def two_workers(door: Door) -> Iterator[Served]:
    with served("--workers", "2", door=door) as server:
        yield server


def test_a_worker_killed_in_the_middle_of_a_call(two_workers: Served) -> None:
    """The other worker's calls continue. The lost call is retried, and gets the same response."""
    with ExitStack() as stack:
        # There is one channel for each worker.
        channels: dict[int, grpc.Channel] = {}
        for number in range(64):
            channel = stack.enter_context(grpc.insecure_channel(two_workers.address, CHANNEL_OPTIONS))
            channels.setdefault(worker_of(two_workers, channel, f"who-{number}"), channel)
            if len(channels) == 2:
                break
        assert len(channels) == 2
        seen = len(two_workers.lines)
        lost, other = (batch_stub(channels[number]).Playout.future(BUSY, timeout=PATIENCE) for number in (0, 1))
        wait_until(lambda: in_flight(two_workers) == 2, "both calls run")
        os.kill(two_workers.worker_pid(0), signal.SIGKILL)
        assert other.result().decisions
        assert lost.result() == other.result()
        two_workers.worker_pid(0, seen)
    labels = {"grpc_method": "Playout", "grpc_code": "OK"}
    assert two_workers.total("grpc_server_handled_total", **labels) == 2
    assert two_workers.total("grpc_server_started_total", grpc_method="Playout") == 3
    # The calls of a dead worker no longer count as calls in flight.
    assert in_flight(two_workers) == 0


def test_workers_that_keep_dying_are_replaced_at_growing_intervals() -> None:
    with served() as server:
        assert server.address
        for pause in "0.1", "0.2", "0.4":
            pid = server.worker_pid(0)
            seen = len(server.lines)
            os.kill(pid, signal.SIGKILL)
            assert server.find(r"worker 0 .* died with exit code -9; the next one starts in (\S+) s", seen)[1] == pause
            server.worker_pid(0, seen)
        with grpc.insecure_channel(server.address) as channel:
            assert game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE).games


def test_a_call_in_flight_when_the_server_is_stopped_is_finished(two_workers: Served) -> None:
    with grpc.insecure_channel(two_workers.address) as channel:
        call = batch_stub(channel).Playout.future(BUSY, timeout=PATIENCE)
        wait_until(lambda: in_flight(two_workers) == 1, "the call runs")
        two_workers.process.send_signal(signal.SIGTERM)
        assert call.result().decisions
    assert two_workers.process.wait(PATIENCE) == 0


def test_a_call_that_outlasts_the_grace_does_not_keep_the_server_running(door: Door) -> None:
    with served("--grace", "0.1", "--max-playouts", str(2**32), door=door) as server:
        with grpc.insecure_channel(server.address) as channel:
            call = batch_stub(channel).Playout.future(ENDLESS, timeout=PATIENCE)
            wait_until(lambda: in_flight(server) == 1, "the call runs")
            assert server.stop() == 0
            assert call.code() in (grpc.StatusCode.CANCELLED, UNAVAILABLE)
        # The engine stopped the work of the call, so the worker did not have to be killed.
        assert not [line for line in server.lines if "killing" in line]


def test_a_server_stopped_under_load_answers_or_refuses_every_call(two_workers: Served) -> None:
    address = two_workers.address
    loaded, over = threading.Barrier(9), threading.Event()
    ends: Counter[grpc.StatusCode] = Counter()

    def load() -> None:
        with grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            call = game_stub(channel).ListGames
            assert code_of(call, LIST_GAMES, timeout=PATIENCE) is OK
            loaded.wait(PATIENCE)
            while not over.is_set():
                code = code_of(call, LIST_GAMES, timeout=PATIENCE)
                ends[code] += 1
                if code is not OK:
                    return

    with ThreadPoolExecutor(8) as pool:
        callers = [pool.submit(load) for _ in range(8)]
        try:
            loaded.wait(PATIENCE)
            wait_until(lambda: ends[OK] > 50, "many calls have been answered")
            assert two_workers.stop() == 0
        finally:
            over.set()
        for caller in callers:
            caller.result(PATIENCE)
    # gRPC cancels a call that arrives exactly when the server stops.
    assert ends.keys() <= {OK, UNAVAILABLE, grpc.StatusCode.CANCELLED}
    assert not [line for line in two_workers.lines if "Traceback" in line or "ERROR" in line]


def test_every_method_has_a_largest_request(door: Door) -> None:
    """Requests have the maximum size, or one byte more."""
    served = (GAME_SERVICE, BOT_SERVICE, TABLE_SERVICE, *((BATCH_SERVICE,) if door != "web" else ()))
    services = map(descriptor_pool.Default().FindServiceByName, served)
    paths = [f"/{service.full_name}/{method.name}" for service in services for method in service.methods]
    most = 300_000
    with running(Settings(address="127.0.0.1:0", max_message_bytes=most), door) as server:
        for path in paths:
            if path == PLAY:
                continue
            largest = largest_request(path, most)
            call: Any = server.channel.unary_unary(path)
            assert code_of(call, unknown_field(largest)) in (OK, grpc.StatusCode.INVALID_ARGUMENT), path
            refused = refusal(call, unknown_field(largest + 1))
            assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED, path
            if largest < most or door != "grpcio":
                assert refused.metadata == {"limit": "bytes of a request", "most": f"{largest:g}"}, path
        # Other clients are not affected.
        assert code_of(server.stub.ListGames, LIST_GAMES) is OK


def test_messages_as_large_as_the_settings_allow_and_one_byte_larger(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_message_bytes=10_000), door) as server:
        call: Any = server.channel.unary_unary("/chatiere.v1.GameService/ListGames")
        for size, code in (0, OK), (10_000, OK), (10_001, grpc.StatusCode.RESOURCE_EXHAUSTED), (0, OK):
            assert code_of(call, unknown_field(size)) is code


def unknown_field(size: int) -> bytes:
    """Return a message of `size` bytes that consists of one unknown field."""
    if size == 0:
        return b""
    # The field has number 1000 and the type of bytes. The length needs four bytes.
    head, length = b"\xc2\x3e", size - 6
    return (
        head
        + bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14 & 127 | 128, length >> 21])
        + bytes(length)
    )


def test_thousands_of_abandoned_connections(two_workers: Served) -> None:
    # There are 5,000 connections if the system's limit is high enough.
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    host, port = two_workers.address.split(":")
    with ExitStack() as left:
        for _ in range(min(5000, files - 200)):
            left.enter_context(socket.create_connection((host, int(port)), PATIENCE))
        with grpc.insecure_channel(two_workers.address) as channel:
            assert game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE, wait_for_ready=True).games
        left.pop_all().close()
    with grpc.insecure_channel(two_workers.address) as channel:
        assert game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE, wait_for_ready=True).games
    assert two_workers.total("chatiere_workers_restarted_total") == 0


def test_a_client_that_never_reads_does_not_block_other_clients() -> None:
    with running(Settings(address="127.0.0.1:0")) as server:
        with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            reflection: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
            question = reflection_pb2.ServerReflectionRequest(file_containing_symbol="chatiere.v1.GameService")
            # Each stream has several megabytes of responses, far more than gRPC reads in advance.
            streams = [reflection.ServerReflectionInfo(iter([question] * 1000), timeout=PATIENCE) for _ in range(40)]
            unread = [game_stub(channel).ListGames.future(LIST_GAMES, timeout=PATIENCE) for _ in range(100)]
            wait_until(
                lambda: server.sample("chatiere_calls_in_flight", grpc_type="bidi_stream") == 40, "the streams are open"
            )
            assert server.stub.ListGames(LIST_GAMES, timeout=PATIENCE).games
            for call in (*streams, *unread):
                call.cancel()
        wait_until(
            lambda: server.sample("chatiere_calls_in_flight", grpc_type="bidi_stream") == 0, "all streams have ended"
        )


def test_a_batch_that_exceeds_its_time_stops(door: Door) -> None:
    settings = Settings(address="127.0.0.1:0", default_deadline=0.1, max_deadline=0.2, max_playouts=2**32)
    with running(settings, door) as server:
        stub = batch_stub(server.channel)
        for timeout, seconds in (None, "0.1"), (PATIENCE, "0.2"):
            call = stub.Playout.future(ENDLESS, timeout=timeout)
            try:
                refused = read_refusal(call.exception(PATIENCE))
            finally:
                call.cancel()
            assert (refused.reason, refused.metadata) == ("TIME_LIMIT", {"seconds": seconds})
        # The engine has also stopped.
        wait_until(lambda: server.sample("chatiere_calls_in_flight", grpc_type="unary") == 0, "the call has ended")
