"""A server as its operator sees it: health, reflection, addresses, shutdown, and many simultaneous callers."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from prometheus_client import CollectorRegistry

from chatiere.engine import Game
from chatiere.service.base.settings import RANGES, SettingError, Settings, split_address
from chatiere.service.ports import methods
from chatiere.service.ports import server as server_module
from chatiere.service.ports.server import create_server
from chatiere.v1 import batch_service_pb2, game_pb2, game_service_pb2

from .support import (
    PATIENCE,
    Door,
    LogLines,
    Running,
    SlowCall,
    batch_stub,
    code_of,
    game_stub,
    new_game,
    only_grpcio,
    play_on,
    running,
)

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
GAME_SERVICE = "chatiere.v1.GameService"
BATCH_SERVICE = "chatiere.v1.BatchService"
BOT_SERVICE = "chatiere.v1.BotService"
TABLE_SERVICE = "chatiere.v1.TableService"
NEW_GAMES = batch_service_pb2.NewGamesRequest()


# Other services


@pytest.mark.parametrize("service", ["", GAME_SERVICE, BATCH_SERVICE, BOT_SERVICE, TABLE_SERVICE])
def test_health_is_serving(server: Running, service: str) -> None:
    stub: Any = health_pb2_grpc.HealthStub(server.channel)
    assert stub.Check(health_pb2.HealthCheckRequest(service=service)).status == SERVING


@only_grpcio
@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_lists_the_services_and_their_messages(server: Running, version: str) -> None:
    own = f"grpc.reflection.{version}.ServerReflection"
    call: Any = server.channel.stream_stream(
        f"/{own}/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )
    questions = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=GAME_SERVICE),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=own),
    ]
    services, files, itself = call(iter(questions))
    assert [each.name for each in services.list_services_response.service] == [
        BATCH_SERVICE,
        BOT_SERVICE,
        GAME_SERVICE,
        TABLE_SERVICE,
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ]
    found = [FileDescriptorProto.FromString(each) for each in files.file_descriptor_response.file_descriptor_proto]
    assert "chatiere/v1/game_service.proto" in [each.name for each in found]
    (described,) = itself.file_descriptor_response.file_descriptor_proto
    described = FileDescriptorProto.FromString(described)
    assert described.package == f"grpc.reflection.{version}"
    assert described.service[0].method[0].input_type == f".grpc.reflection.{version}.ServerReflectionRequest"
    assert described.options.deprecated == (version == "v1alpha")


def test_channelz_reports_the_server_s_calls() -> None:
    with running(Settings(address="127.0.0.1:0", channelz=True)) as server:
        server.stub.ListGames(game_service_pb2.ListGamesRequest())
        stub: Any = channelz_pb2_grpc.ChannelzStub(server.channel)
        servers = stub.GetServers(channelz_pb2.GetServersRequest()).server
        assert any(each.data.calls_succeeded > 0 for each in servers)


# Addresses


@only_grpcio
def test_an_address_in_use_is_refused_by_name(server: Running) -> None:
    with pytest.raises(SettingError, match=f"^address: cannot listen on {server.address}: "):
        create_server(Settings(address=server.address), CollectorRegistry())


@pytest.mark.parametrize("address", ["", "50051", "localhost", "localhost:", ":50051", "localhost:http", "[::1]:70000"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(SettingError, match=r"^address: an address must be HOST:PORT with a port from 0 to 65535, not "):
        Settings(address=address)


def test_addresses_are_split_at_the_port() -> None:
    assert split_address("localhost:0") == ("localhost", 0)
    assert split_address("[::1]:65535") == ("::1", 65535)


# Many simultaneous callers


def test_simultaneous_games_do_not_affect_each_other(server: Running, game: Game) -> None:
    include = game_pb2.Include(legal_actions=True, score=True, viewers=[0, 1], spectator=True)
    together = threading.Barrier(8)

    def play(number: int, *, alone: bool) -> list[bytes]:
        players = game.min_players + number % (game.max_players - game.min_players + 1)
        with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            stub = game_stub(channel)
            if not alone:
                together.wait(PATIENCE)
            first = new_game(stub, game.name, players, seed=number, include=include)
            positions = [first, *play_on(stub, first, random.Random(number), include)]
        return [position.SerializeToString(deterministic=True) for position in positions]

    with ThreadPoolExecutor(8) as pool:
        at_once = [pool.submit(play, number, alone=False) for number in range(8)]
        played = [each.result(PATIENCE) for each in at_once]
    assert played == [play(number, alone=True) for number in range(8)]


# Stopping


def test_stopping_lets_a_call_in_flight_finish_and_refuses_new_ones(slow_call: SlowCall, door: Door) -> None:
    with running(door=door) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        watches = [
            health.Watch(health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE) for name in ("", GAME_SERVICE)
        ]
        assert [next(watch).status for watch in watches] == [SERVING, SERVING]
        in_flight = batch_stub(server.channel).NewGames.future(NEW_GAMES)
        assert slow_call.entered.wait(PATIENCE)

        stopped = server.server.stop(grace=PATIENCE)
        assert [next(watch).status for watch in watches] == [NOT_SERVING, NOT_SERVING]
        with grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            late = game_stub(channel)
            assert code_of(late.GetScore, game_service_pb2.GetScoreRequest()) is grpc.StatusCode.UNAVAILABLE
        assert not in_flight.done()
        assert not stopped.is_set()

        # The watches end immediately, so that the shutdown does not wait for them.
        assert [list(watch) for watch in watches] == [[], []]
        slow_call.released.set()
        assert in_flight.result(PATIENCE).positions.states == b"answered"
        assert stopped.wait(PATIENCE)
        assert not server.server.wait_for_termination(PATIENCE)


def test_a_call_that_outlasts_the_grace_is_ended(slow_call: SlowCall, door: Door) -> None:
    with running(door=door) as server:
        in_flight = batch_stub(server.channel).NewGames.future(NEW_GAMES)
        assert slow_call.entered.wait(PATIENCE)
        stopped = server.server.stop(grace=0)
        assert in_flight.exception(PATIENCE).code() in (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)
        assert stopped.wait(PATIENCE)
    assert slow_call.was_cancelled


# Failures of vital parts


def test_the_end_of_a_serving_loop_is_reported() -> None:
    server, _ = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    assert server.wait_for_termination(0)
    server._loop.call_soon_threadsafe(server._loop.stop)
    assert not server.wait_for_termination(PATIENCE)
    # The loop has already stopped.
    assert server.stop(None).is_set()


def test_without_grpc_s_poller_the_serving_loop_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_INTERVAL", 0.01)
    server, _ = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    ended = threading.Thread(target=str)
    server._pollers = {ended}
    with LogLines() as log:
        server.start()
        log.wait_for("gRPC's poller has ended")
        assert not server.wait_for_termination(PATIENCE)


def test_a_shortage_of_threads_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, count: int) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(methods, "started_threads", refuse)
    with pytest.raises(SettingError, match=r"^batch_threads: cannot start the threads: can't start new thread"):
        create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())


# Settings


@pytest.mark.parametrize("end", ["least", "most"])
def test_a_server_runs_with_the_extreme_values_of_all_numbers(door: Door, end: str) -> None:
    defaults = vars(Settings())
    numbers: dict[str, Any] = {name: type(defaults[name])(getattr(each, end)) for name, each in RANGES.items()}
    # The number of processes does not concern a worker.
    numbers["workers"] = 1
    with running(Settings(address="127.0.0.1:0", relay="memory", **numbers), door) as server:
        code = code_of(server.stub.ListGames, game_service_pb2.ListGamesRequest())
        # A millisecond may not be sufficient for a request, a response or a connection.
        late = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
        assert code is grpc.StatusCode.OK or (end == "least" and code in late)
