"""Metrics and lines of the log are exact, even for failed calls."""

import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from chatiere.engine import Game
from chatiere.service.base.metrics import code_label
from chatiere.service.base.settings import Settings
from chatiere.service.calls import game_service
from chatiere.v1 import batch_service_pb2, game_pb2, game_service_pb2

from .support import PATIENCE, Door, LogLines, Running, SlowCall, batch_stub, code_of, new_game, only_grpcio, running

SERVICE = "chatiere.v1.GameService"


@pytest.fixture
def fresh(door: Door) -> Iterator[Running]:
    """Run a server that no other test calls."""
    with running(door=door) as server:
        yield server


def counts(server: Running, method: str, service: str = SERVICE, kind: str = "unary") -> dict[str, float]:
    """Return a method's metrics: started calls, timed calls, and the handled calls of each status that occurred."""
    labels = {"grpc_type": kind, "grpc_service": service, "grpc_method": method}
    found = {
        "started": server.sample("grpc_server_started_total", **labels),
        "timed": server.sample("grpc_server_handling_seconds_count", **labels),
    }
    for code in code_pb2.Code.values():
        handled = server.sample("grpc_server_handled_total", **labels, grpc_code=code_label(code))
        if handled:
            found[code_label(code)] = handled
    return found


def test_calls_are_counted_by_method_and_status(fresh: Running, game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = fresh.stub
    position = new_game(stub, game.name, game.min_players, seed=1)
    for _ in range(3):
        stub.Apply(game_service_pb2.ApplyRequest(state=position.state, action=position.legal_actions[0]))
    for _ in range(2):
        code_of(stub.Apply, game_service_pb2.ApplyRequest(state=position.state))
    code_of(fresh.channel.unary_unary(f"/{SERVICE}/Apply"), b"\xff")
    with monkeypatch.context() as patch, LogLines():
        patch.setattr(game_service, "_open_apply", None)
        code_of(stub.Apply, game_service_pb2.ApplyRequest())
    assert counts(fresh, "NewGame") == {"started": 1, "timed": 1, "OK": 1}
    assert counts(fresh, "Apply") == {"started": 7, "timed": 7, "OK": 3, "InvalidArgument": 3, "Internal": 1}
    assert counts(fresh, "GetScore") == {"started": 0, "timed": 0}


def test_moves_are_counted_by_game(fresh: Running, game: Game) -> None:
    stub = fresh.stub
    position = new_game(
        stub, game.name, game.min_players, explicit_chance=True, include=game_pb2.Include(legal_actions=True)
    )
    for _ in range(4):
        request = game_service_pb2.ApplyRequest(state=position.state, include=game_pb2.Include(legal_actions=True))
        if position.chance_outcomes:
            request.outcome = position.chance_outcomes[0].outcome
        else:
            request.action.id = position.legal_actions[0].id
        position = stub.Apply(request).position
    code_of(stub.Apply, game_service_pb2.ApplyRequest(state=position.state, outcome=2**32 - 1))
    assert fresh.sample("chatiere_moves_applied_total", game=game.name) == 4


def test_the_limit_of_held_memory_is_reported(fresh: Running) -> None:
    assert fresh.sample("chatiere_max_held_bytes") == Settings.max_undelivered_bytes


def test_unknown_methods_share_one_label(fresh: Running) -> None:
    with LogLines() as log:
        for path in f"/{SERVICE}/Cheat", "/chatiere.v1.Cheats/All", "/x/" + "y" * 1000:
            assert code_of(fresh.channel.unary_unary(path), b"") is grpc.StatusCode.UNIMPLEMENTED
    assert counts(fresh, "unknown", "unknown", "unknown") == {"started": 3, "timed": 3, "Unimplemented": 3}
    assert len(log.lines) == 3
    assert all(line.startswith("unknown/unknown UNIMPLEMENTED - ") for line in log.lines)
    started = {
        sample.labels["grpc_method"]
        for metric in fresh.registry.collect()
        for sample in metric.samples
        if sample.name == "grpc_server_started_total"
    }
    assert started == {"unknown"}


def test_a_call_cancelled_by_its_client_counts_as_cancelled(slow_call: SlowCall, door: Door) -> None:
    labels = ("NewGames", "chatiere.v1.BatchService")
    with running(door=door) as server, LogLines() as log:
        call = batch_stub(server.channel).NewGames.future(batch_service_pb2.NewGamesRequest())
        assert slow_call.entered.wait(PATIENCE)
        assert counts(server, *labels) == {"started": 1, "timed": 0}
        call.cancel()
        log.wait_for("NewGames CANCELLED - ")
        assert slow_call.was_cancelled
        assert counts(server, *labels) == {"started": 1, "timed": 1, "Canceled": 1}


def test_health_checks_are_counted(fresh: Running) -> None:
    stub: Any = health_pb2_grpc.HealthStub(fresh.channel)
    stub.Check(health_pb2.HealthCheckRequest(service=SERVICE))
    assert code_of(stub.Check, health_pb2.HealthCheckRequest(service="none")) is grpc.StatusCode.NOT_FOUND
    assert counts(fresh, "Check", "grpc.health.v1.Health") == {"started": 2, "timed": 2, "OK": 1, "NotFound": 1}


def test_a_health_watch_is_counted_when_it_ends(fresh: Running) -> None:
    stub: Any = health_pb2_grpc.HealthStub(fresh.channel)
    with LogLines() as log:
        watch = stub.Watch(health_pb2.HealthCheckRequest(service=SERVICE), timeout=PATIENCE)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        labels = ("Watch", "grpc.health.v1.Health", "server_stream")
        assert counts(fresh, *labels) == {"started": 1, "timed": 0}
        watch.cancel()
        log.wait_for("Watch CANCELLED - ")
        assert counts(fresh, *labels) == {"started": 1, "timed": 1, "Canceled": 1}


@only_grpcio
def test_reflection_is_counted(fresh: Running) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(fresh.channel)
    labels = ("ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection", "bidi_stream")
    question = reflection_pb2.ServerReflectionRequest(list_services="")
    with LogLines() as log:
        assert len(list(stub.ServerReflectionInfo(iter([question, question])))) == 2
        log.wait_for("ServerReflectionInfo OK - ")
        assert counts(fresh, *labels) == {"started": 1, "timed": 1, "OK": 1}


def test_an_aborted_reflection_stream_is_not_a_failure() -> None:
    labels = ("ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection", "bidi_stream")
    cut_off = threading.Event()

    def questions() -> Iterator[reflection_pb2.ServerReflectionRequest]:
        yield reflection_pb2.ServerReflectionRequest(list_services="")
        cut_off.wait(PATIENCE)

    with running(Settings(address="127.0.0.1:0", log_calls=True)) as server, LogLines() as log:
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(server.channel)
        answers = stub.ServerReflectionInfo(questions(), timeout=PATIENCE)
        next(answers)
        answers.cancel()
        cut_off.set()
        # If gRPC reports the end of the requests first, the stream ends with OK.
        code = log.wait_for("ServerReflectionInfo ").split()[1]
        assert code in ("CANCELLED", "OK")
        # After this call, the server does not log any other line about the stream.
        server.stub.ListGames(game_service_pb2.ListGamesRequest())
        assert len(log.lines) == 2
        counted = "OK" if code == "OK" else "Canceled"
        assert counts(server, *labels) == {"started": 1, "timed": 1, counted: 1}


@only_grpcio
def test_a_stream_s_request_that_cannot_be_parsed_is_refused(fresh: Running) -> None:
    labels = ("ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection", "bidi_stream")
    method: Any = fresh.channel.stream_stream(f"/{labels[1]}/{labels[0]}")
    with LogLines() as log:
        assert code_of(list, method(iter([b"\xff"]))) is grpc.StatusCode.INVALID_ARGUMENT
        log.wait_for("ServerReflectionInfo INVALID_ARGUMENT MALFORMED_REQUEST ")
    assert counts(fresh, *labels) == {"started": 1, "timed": 1, "InvalidArgument": 1}


def test_a_call_has_one_line_in_the_log(fresh: Running, game: Game) -> None:
    with LogLines() as log:
        new_game(fresh.stub, game.name, game.min_players, seed=1)
        code_of(fresh.stub.GetScore, game_service_pb2.GetScoreRequest())
    good, bad = (line.split() for line in log.lines)
    assert good[:3] == [f"{SERVICE}/NewGame", "OK", "-"]
    assert bad[:3] == [f"{SERVICE}/GetScore", "INVALID_ARGUMENT", "MISSING_FIELD"]
    for line in good, bad:
        assert float(line[3]) >= 0
        assert line[4:6] == ["ms", "from"]
        assert line[6].startswith("ipv4:127.0.0.1:")


def test_servers_in_one_process_count_separately(fresh: Running, door: Door) -> None:
    with running(door=door) as other:
        other.stub.ListGames(game_service_pb2.ListGamesRequest())
        assert counts(other, "ListGames")["started"] == 1
    assert counts(fresh, "ListGames")["started"] == 0


def test_codes_are_spelled_as_in_dashboards() -> None:
    # Spelled as at https://pkg.go.dev/google.golang.org/grpc/codes, sorted by number.
    assert " ".join(code_label(code) for code in sorted(code_pb2.Code.values())) == (
        "OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted"
        " FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated"
    )
