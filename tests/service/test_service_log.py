"""The log of a server while no one reads it."""

import os
import signal
from typing import Any

import grpc
import pytest

from chatiere.v1 import game_service_pb2

from .process import served, wait_until
from .support import PATIENCE, game_stub

pytestmark = pytest.mark.long

DROPPED = "chatiere_log_lines_dropped_total"
# Metadata that make lines long, so that few lines fill the queue of waiting lines.
METADATA = (("x-request-id", "i" * 128),)


def fail(stub: Any, calls: int) -> None:
    """Make calls that are refused. Each of them causes a line in the log."""
    request = game_service_pb2.NewGameRequest(game="chess", players=2)
    waiting = [stub.NewGame.future(request, timeout=PATIENCE, metadata=METADATA) for _ in range(calls)]
    assert {each.code() for each in waiting} == {grpc.StatusCode.INVALID_ARGUMENT}


def test_an_unread_log_delays_neither_calls_nor_signals() -> None:
    with served("--log-format", "json") as server, grpc.insecure_channel(server.address) as channel:
        stub = game_stub(channel)
        pid = server.worker_pid(0)
        server.is_read.clear()
        while not server.total(DROPPED):
            fail(stub, 200)
        # The supervisor can still replace a worker, and the new worker serves.
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: server.total("chatiere_workers_restarted_total"), "the worker is replaced")
        with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as another:
            games = game_stub(another).ListGames
            assert games(game_service_pb2.ListGamesRequest(), timeout=PATIENCE, wait_for_ready=True).games
            fail(game_stub(another), 200)
        seen = len(server.lines)
        assert server.stop() == 0
        assert len(server.lines) <= seen + 1


def test_dropped_lines_are_logged_when_the_reader_is_back() -> None:
    with served() as server, grpc.insecure_channel(server.address) as channel:
        stub = game_stub(channel)
        server.is_read.clear()
        while not (dropped := server.total(DROPPED)):
            fail(stub, 200)
        server.is_read.set()
        line = server.find(r"worker-0 .*the log was not read: dropped (\d+) lines")
        assert int(line[1]) >= dropped
        fail(stub, 1)
        assert server.stop() == 0
        server.find("supervisor .*stopped")
