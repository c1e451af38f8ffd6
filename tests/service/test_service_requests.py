"""Request ids, logs and traces, with which operators find a call."""

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import psutil
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1 import trace_pb2

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.calls import game_service
from chatiere.service.guards.logs import configure_logging
from chatiere.service.guards.traces import TraceInterceptor
from chatiere.v1 import game_pb2, game_service_pb2

from .process import served, wait_until
from .support import ALL_DOORS, PATIENCE, Door, LogLines, Running, channel_to, game_stub, refusal

DOORS = ALL_DOORS

LIST_GAMES = game_service_pb2.ListGamesRequest()
GET_SCORE = game_service_pb2.GetScoreRequest()
OWN = re.compile("[0-9a-f]{16}")


def id_of(server: Running, *given: str) -> str:
    """Return the id of a response."""
    metadata = tuple(("x-request-id", each) for each in given)
    _, call = server.stub.ListGames.with_call(LIST_GAMES, metadata=metadata)
    (found,) = [value for key, value in call.trailing_metadata() if key == "x-request-id"]
    return str(found)


# Ids


@pytest.mark.parametrize("given", ["a", "7f3a-11.b_c:d/e+f=", "x" * 128])
def test_a_request_keeps_its_client_s_id(server: Running, given: str) -> None:
    assert id_of(server, given) == given


@pytest.mark.parametrize("given", [(), ("",), ("x" * 129,), ("two words",), ('"quoted"',), ("a", "b")])
def test_a_request_without_a_good_id_gets_one(server: Running, given: tuple[str, ...]) -> None:
    ids = {id_of(server, *given) for _ in range(3)}
    assert len(ids) == 3
    assert all(OWN.fullmatch(each) for each in ids)


def test_an_error_has_the_id(server: Running) -> None:
    assert refusal(server.stub.GetScore, GET_SCORE, metadata=(("x-request-id", "mine"),)).request_id == "mine"
    assert OWN.fullmatch(refusal(server.stub.GetScore, GET_SCORE).request_id)
    with pytest.raises(grpc.RpcError) as raised:
        server.stub.GetScore(GET_SCORE, metadata=(("x-request-id", "mine"),))
    error: Any = raised.value
    assert ("x-request-id", "mine") in [tuple(each) for each in error.trailing_metadata()]


def test_the_log_has_the_id(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_service, "list_games", None)
    with LogLines() as log:
        refusal(server.stub.ListGames, LIST_GAMES, metadata=(("x-request-id", "mine"),))
    failure, call = log.lines
    assert re.match("incident [0-9a-f]{16} of request mine\n", failure)
    assert " request mine " in call


# Logs


def test_logs_can_be_json(door: Door) -> None:
    with served("--log-format", "json", door=door) as server:
        with channel_to(server.address, door) as channel:
            refusal(game_stub(channel).GetScore, GET_SCORE, metadata=(("x-request-id", "mine"),))
        server.find("GetScore")
        assert server.stop() == 0
    lines = [json.loads(line) for line in server.lines]
    assert all({"time", "level", "process", "logger", "message"} <= line.keys() for line in lines)
    (call,) = [line for line in lines if "method" in line]
    assert call["milliseconds"] >= 0
    assert call["peer"].startswith("ipv4:127.0.0.1:")
    expected = {
        "level": "WARNING",
        "process": "worker-0",
        "service": "chatiere.v1.GameService",
        "method": "GetScore",
        "code": "INVALID_ARGUMENT",
        "reason": "MISSING_FIELD",
        "request_id": "mine",
        "client": "",
    }
    assert {key: call[key] for key in expected} == expected


def test_a_log_leaves_out_lines_below_its_level() -> None:
    with served("--log-level", "error", "--metrics-address", "off", "--address", "127.0.0.1:0") as server:
        wait_until(lambda: _has_worker(server.process.pid), "a worker runs")
        assert server.stop() == 0
    assert server.lines == []


def _has_worker(pid: int) -> bool:
    # While Python starts, it may have other child processes.
    return any("chatiere.service.process.worker" in child.cmdline() for child in psutil.Process(pid).children())


def test_a_log_that_cannot_be_written_stops_no_call(monkeypatch: pytest.MonkeyPatch, server: Running) -> None:
    # /dev/full behaves like a full disk.
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", full)
        patch.setattr(logging.root, "handlers", [])
        level = logging.root.level
        configure_logging(Settings())
        try:
            for _ in range(3):
                assert server.stub.ListGames(LIST_GAMES).games
        finally:
            logging.root.setLevel(level)
            # The rest of the buffer cannot be written.
            os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


# Traces


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Collects the spans that a server sends."""

    def __init__(self) -> None:
        self.spans: list[trace_pb2.Span] = []

    def Export(self, request: Any, context: grpc.ServicerContext) -> trace_service_pb2.ExportTraceServiceResponse:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
def collected() -> Iterator[tuple[dict[str, str], list[trace_pb2.Span]]]:
    """Run a collector. Yield the environment variables that make a server send it spans, and the spans received."""
    collector = Collector()
    collecting = grpc.server(futures.ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, collecting)
    port = collecting.add_insecure_port("127.0.0.1:0")
    collecting.start()
    yield {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}, collector.spans
    collecting.stop(None).wait(PATIENCE)


def test_calls_are_traced(door: Door, collected: tuple[dict[str, str], list[trace_pb2.Span]]) -> None:
    variables, spans = collected
    # The ids that a client's tracing sends (https://www.w3.org/TR/trace-context).
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    metadata = (("traceparent", f"00-{trace}-{parent}-01"),)
    with served("--traces", door=door, environment=variables) as server:
        with channel_to(server.address, door) as channel:
            stub = game_stub(channel)
            assert stub.ListGames(LIST_GAMES, metadata=metadata).games
            refusal(stub.GetScore, GET_SCORE)
        # The server sends the remaining spans when it ends.
        assert server.stop() == 0
    good, bad = sorted(spans, key=lambda span: span.start_time_unix_nano)
    assert (good.name, good.trace_id.hex(), good.parent_span_id.hex()) == (
        "/chatiere.v1.GameService/ListGames",
        trace,
        parent,
    )
    codes = [
        next(each.value.int_value for each in span.attributes if each.key == "rpc.grpc.status_code")
        for span in (good, bad)
    ]
    assert codes == [0, grpc.StatusCode.INVALID_ARGUMENT.value[0]]


def test_logs_and_traces_contain_no_names_of_players(
    door: Door, collected: tuple[dict[str, str], list[trace_pb2.Span]]
) -> None:
    variables, spans = collected
    named = game_pb2.Include(legal_actions=True, viewers=[0, 1], seat_names=["Philomène", "Bartholomew"])
    misnamed = game_pb2.Include(seat_names=["Philomène", "Bartholomew\n"])
    flags = "--traces", "--log-level", "debug"
    with served(*flags, door=door, environment=variables) as server:
        with channel_to(server.address, door) as channel:
            stub = game_stub(channel)
            request = game_service_pb2.NewGameRequest(game="discat", players=2, seed=1, include=named)
            position = stub.NewGame(request).position
            assert "Philomène" in str([each.label for each in position.events])
            action = game_pb2.Action(id=position.legal_actions[0].id)
            move = game_service_pb2.ApplyRequest(state=position.state, action=action, include=named)
            stub.Apply(move)
            move.action.id = 65_535
            refusal(stub.Apply, move)
            request.include.CopyFrom(misnamed)
            assert "Bartholomew" not in str(refusal(stub.NewGame, request))
        assert server.stop() == 0
    assert len(spans) == len([line for line in server.lines if "GameService" in line]) == 4
    for line in (*map(str, spans), *server.lines):
        assert not re.search("Philom|Bartholomew", line)


@pytest.mark.parametrize("package", ["opentelemetry.sdk.trace", "opentelemetry.instrumentation.grpc"])
def test_traces_without_their_packages_stop_the_start(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SettingError, match=r"^traces: missing packages: pip install 'chatiere\[traces\]'"):
        TraceInterceptor()
