"""Third-party clients (grpcio, grpc-js, buf curl and h2load) get the same responses at every door."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import numpy as np
import pytest
from google.rpc import error_details_pb2, status_pb2
from tools.needs import require
from tools.node_modules import install

from chatiere import engine
from chatiere.service.calls.play_stream import PlayStream
from chatiere.v1 import batch_service_pb2, game_service_pb2

from ..process import wait_until
from ..support import PATIENCE, Door, Running, SlowCall, batch_stub, refusal, running

ROOT, HERE = Path(__file__).parents[3], Path(__file__).parent
SERVICE = "/chatiere.v1.GameService"
LIST_GAMES = game_service_pb2.ListGamesRequest()
# The maximum number of calls in flight on one connection.
MAX_CALLS = {"grpcio": 256, "fast": 1000}


def run(*command: str | Path, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a client to its end."""
    environment = os.environ | variables
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=PATIENCE, env=environment)


# grpcio


@pytest.mark.parametrize("size", [0, 1, 5, 16_379, 16_384, 65_535, 65_536, 2**20, 2**24 - 1, 2**24])
def test_messages_of_every_size_in_both_directions(size: int, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlayStream, "answer", lambda self, request, *_: [bytes(request)])
    content = np.random.default_rng(size).bytes(size)
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with running(door=door) as server, grpc.insecure_channel(server.address, options) as channel:
        play: Any = channel.stream_stream("/chatiere.v1.BatchService/Play")
        assert list(play(iter([content, b"", content]), timeout=PATIENCE)) == [content, b"", content]


def test_an_error_s_details_are_bytes(server: Running) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        server.stub.GetScore(game_service_pb2.GetScoreRequest())
    error: Any = raised.value
    (details,) = [value for name, value in error.trailing_metadata() if name == "grpc-status-details-bin"]
    status = status_pb2.Status.FromString(details)
    assert (status.code, status.message) == (error.code().value[0], error.details())
    info = error_details_pb2.ErrorInfo()
    assert any(detail.Unpack(info) for detail in status.details)
    assert info.reason == "MISSING_FIELD"


def test_metadata_of_all_kinds_is_ignored(server: Running) -> None:
    """The metadata are bytes, texts of any length up to the limit, and repeated names."""
    metadata = (("paw-bin", bytes(range(256))), ("purr", "r" * 4000), ("tail", "1"), ("tail", "2"), ("none", ""))
    assert server.stub.ListGames(LIST_GAMES, metadata=metadata).games


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_client_that_compresses_is_answered(server: Running, compression: Any) -> None:
    """grpcio's client compresses a message only if compression shortens it."""
    assert server.stub.ListGames(LIST_GAMES, compression=compression).games


async def test_the_maximum_number_of_simultaneous_calls_of_a_connection(door: Door, slow_call: SlowCall) -> None:
    with running(door=door) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            new_games: Any = channel.unary_unary("/chatiere.v1.BatchService/NewGames")
            calls = [asyncio.ensure_future(new_games(b"")) for _ in range(MAX_CALLS[door])]

            def in_flight() -> bool:
                return server.sample("chatiere_calls_in_flight", grpc_type="unary") == MAX_CALLS[door]

            await asyncio.to_thread(wait_until, in_flight, "all calls are in flight")
            slow_call.released.set()
            (answer,) = set(await asyncio.gather(*calls))
            assert batch_service_pb2.NewGamesResponse.FromString(answer).positions.states == b"answered"


async def test_a_stream_of_an_asyncio_client_is_answered_in_order(server: Running) -> None:
    async with grpc.aio.insecure_channel(server.address) as channel:
        play = batch_stub(channel).Play()  # type: ignore[arg-type]
        for tag in range(100):
            await play.write(batch_service_pb2.PlayRequest(tag=tag))
            assert (await play.read()).tag == tag
        await play.done_writing()
        assert await play.read() is grpc.aio.EOF
        assert await play.code() is grpc.StatusCode.OK


# grpc-js


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Return the folder of grpc-js. The package is installed once."""
    return install(HERE)


def test_grpc_js_gets_the_same_as_grpcio(server: Running, door: Door, node_modules: Path) -> None:
    descriptors = ROOT / "proto/chatiere/v1/descriptors.binpb"
    command = ("node", HERE / "client.js", server.address, descriptors, str(MAX_CALLS[door]))
    done = run(*command, NODE_PATH=str(node_modules))
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["games"] == [game.name for game in engine.games()]
    assert seen["request_id"] == ["Cat-1"]
    expected = refusal(server.stub.GetScore, game_service_pb2.GetScoreRequest())
    assert seen["refused"] == {"code": expected.code.value[0], "message": expected.message}
    (details,) = seen["details"]
    assert details["google.rpc.ErrorInfo"]["reason"] == expected.reason
    (violation,) = details["google.rpc.BadRequest"]["field_violations"]
    assert violation["field"] == expected.field
    assert seen["seeds"] == list(range(MAX_CALLS[door]))
    table, seeds = batch_service_pb2.BatchSetup(game="discat", players=2), bytes(8 * 10_000)
    columns = batch_service_pb2.Columns(observations=True)
    request = batch_service_pb2.NewGamesRequest(setup=table, seeds=seeds, columns=columns)
    with grpc.insecure_channel(server.address, [("grpc.max_receive_message_length", -1)]) as channel:
        positions = batch_stub(channel).NewGames(request).positions
    assert seen["states"] == hashlib.sha256(positions.states).hexdigest()
    assert seen["observations"] == hashlib.sha256(positions.observations).hexdigest()
    assert seen["streamed"] == [[1, 10_000], [2, "request"], [3, 0]]


# buf curl


def buf_curl(server: Running, method: str, data: str, *options: str) -> subprocess.CompletedProcess[str]:
    buf = shutil.which("buf", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert buf is not None
    protocol = ("--http2-prior-knowledge", "--protocol", "grpc", "--schema", str(ROOT / "proto"))
    url = f"http://{server.address}/chatiere.v1.{method}"
    return run(buf, "curl", *protocol, "--data", "@-", *options, url, given=data)


def test_buf_curl_calls_with_metadata(server: Running) -> None:
    done = buf_curl(server, "GameService/ListGames", "{}", "--header", "X-Request-Id: Cat-1", "--verbose")
    assert done.returncode == 0, done.stderr
    assert [game["name"] for game in json.loads(done.stdout)["games"]] == [game.name for game in engine.games()]
    assert "X-Request-Id: Cat-1" in done.stderr.split("Response trailers", 1)[-1]


def test_buf_curl_reads_errors_with_their_details(server: Running) -> None:
    done = buf_curl(server, "GameService/GetScore", "{}")
    error = json.loads(done.stderr)
    assert error["code"] == "invalid_argument"
    expected = refusal(server.stub.GetScore, game_service_pb2.GetScoreRequest())
    assert error["message"] == expected.message
    names = ["ErrorInfo", "RequestInfo", "BadRequest"]
    assert [detail["type"] for detail in error["details"]] == [f"google.rpc.{name}" for name in names]


def test_buf_curl_gets_every_response_of_a_stream(server: Running) -> None:
    done = buf_curl(server, "BatchService/Play", '{"tag": 1} {"tag": 2} {"tag": 3}')
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"refusal"') == 3


# h2load


def test_all_calls_of_h2load_succeed(server: Running, tmp_path: Path) -> None:
    require("h2load")
    body = tmp_path / "empty"
    body.write_bytes(bytes(5))
    headers = ("-H", "content-type: application/grpc", "-H", "te: trailers")
    url = f"http://{server.address}{SERVICE}/ListGames"
    done = run("h2load", "-n", "5000", "-c", "4", "-m", "100", "-d", body, *headers, url)
    assert "5000 succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout
    labels = {"grpc_type": "unary", "grpc_service": SERVICE[1:], "grpc_method": "ListGames", "grpc_code": "OK"}
    assert server.sample("grpc_server_handled_total", **labels) >= 5000
