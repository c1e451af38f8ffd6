"""The maximum age of connections: clients reconnect without losing a call, and thus also reach new workers."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import grpc
import pytest

from chatiere.clients import BatchClient
from chatiere.clients.calls import batch_requests
from chatiere.clients.transport.channel import CHANNEL_OPTIONS
from chatiere.clients.transport.fast_stream import FastStream
from chatiere.service.base.settings import Settings
from chatiere.v1 import batch_service_pb2, game_service_pb2

from .process import served, wait_until
from .support import PATIENCE, Door, Running, game_stub, running
from .test_service_keepalive import PingCounter
from .test_service_limits import watch_the_health

pytestmark = pytest.mark.long

LIST_GAMES = game_service_pb2.ListGamesRequest()
SETUP = batch_service_pb2.BatchSetup(game="discat", players=2)
# The maximum age, in seconds.
AGE = 0.2
CHANNELS = 8


@contextmanager
def counted(server: Running) -> Iterator[tuple[grpc.Channel, PingCounter]]:
    """Yield a channel that does not retry calls, and an object that counts its connections."""
    counter = PingCounter(server)
    try:
        with grpc.insecure_channel(counter.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            yield channel, counter
    finally:
        counter.close()


def test_clients_reconnect_without_losing_a_call_or_a_stream(door: Door) -> None:
    settings = Settings(address="127.0.0.1:0", max_connection_age=AGE)
    with running(settings, door) as server, counted(server) as (channel, counter), ExitStack() as stack:
        watch = watch_the_health(Running(server.server, counter.address, server.registry, channel))
        streams: list[Any] = [
            stack.enter_context(stack.enter_context(BatchClient(server.address)).stream()),
            stack.enter_context(FastStream(server.address)),
        ]

        def play() -> None:
            for stream in streams:
                begun = stream.submit(batch_requests.new_games(SETUP, [1])).result(PATIENCE)
                assert len(begun.states) == 1

        play()

        def call() -> bool:
            game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE)
            return counter.connections >= 4

        wait_until(call, "the client has reconnected several times")
        play()
        assert watch.is_active()


def test_streams_end_after_the_grace(door: Door) -> None:
    settings = Settings(address="127.0.0.1:0", max_connection_age=AGE, connection_age_grace=AGE)
    with running(settings, door) as server:
        watch = watch_the_health(server)
        assert watch.code() is grpc.StatusCode.UNAVAILABLE


def test_a_replacement_worker_gets_calls_of_connected_clients(door: Door) -> None:
    with served("--workers", "2", "--max-connection-age", str(AGE), door=door) as server, ExitStack() as stack:
        channels = [
            stack.enter_context(grpc.insecure_channel(server.address, CHANNEL_OPTIONS)) for _ in range(CHANNELS)
        ]

        def workers() -> set[Any]:
            """Make a call on each channel. Return the parts of the request ids that identify the workers."""
            calls = [game_stub(each).ListGames.with_call(LIST_GAMES, timeout=PATIENCE)[1] for each in channels]
            return {dict(call.trailing_metadata())["x-request-id"][:8] for call in calls}

        seen: set[Any] = set()

        def both() -> bool:
            seen.update(workers())
            return len(seen) == 2

        wait_until(both, "both workers have had calls")
        at = len(server.lines)
        os.kill(server.worker_pid(0), signal.SIGKILL)
        assert server.worker_pid(0, at)
        wait_until(lambda: workers() - seen, "the new worker has had calls")
