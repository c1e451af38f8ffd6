"""Batches that take a long time: they delay no other calls, and stop when they are cancelled or expire."""

from collections.abc import Callable, Iterator

import grpc
import pytest
from google.protobuf.message import Message

from chatiere.engine import Game
from chatiere.service.base.settings import Settings
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import game_service_pb2

from .batches import MOST_PLAYOUTS, endless, endless_evaluation, play_request
from .process import wait_until
from .support import PATIENCE, Door, LogLines, Running, batch_stub, code_of, running


def wait_until_begun(server: Running, method: str, kind: str) -> None:
    """Wait until a thread handles a call of that method."""
    labels = {"grpc_type": kind, "grpc_service": "chatiere.v1.BatchService", "grpc_method": method}
    wait_until(lambda: server.sample("grpc_server_started_total", **labels), "the call has begun")


@pytest.fixture
def patient(door: Door) -> Iterator[Running]:
    """Run a server that allows endless batches. It has one thread for unary calls and one for streams."""
    settings = Settings(
        address="127.0.0.1:0",
        batch_threads=1,
        max_playouts=MOST_PLAYOUTS,
        # Deadlines are longer than a test waits, so that only the client can stop a batch.
        default_deadline=10 * PATIENCE,
        max_deadline=10 * PATIENCE,
        log_calls=True,
    )
    with running(settings, door) as server:
        yield server


def test_a_long_batch_does_not_delay_other_calls_and_stops_when_cancelled(
    patient: Running, game: Game, table: pb.BatchSetup
) -> None:
    batches = batch_stub(patient.channel)
    with LogLines() as log:
        call = batches.Playout.future(endless(game, table))
        wait_until_begun(patient, "Playout", "unary")
        for _ in range(3):
            assert batches.Score(pb.ScoreRequest(setup=table), timeout=PATIENCE) == pb.ScoreResponse()
            assert patient.stub.ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE).games
        assert not call.done()
        call.cancel()
        log.wait_for("Playout CANCELLED - ")


def test_an_expired_batch_stops(patient: Running, game: Game, table: pb.BatchSetup) -> None:
    batches = batch_stub(patient.channel)
    with LogLines() as log:
        assert code_of(lambda: batches.Playout(endless(game, table), timeout=0.5)) is grpc.StatusCode.DEADLINE_EXCEEDED
        # Either the client's cancellation or the server's deadline is first.
        assert log.wait_for("Playout ").split()[1] in ("CANCELLED", "DEADLINE_EXCEEDED")


def test_an_evaluation_stops_when_cancelled(patient: Running, game: Game, table: pb.BatchSetup) -> None:
    batches = batch_stub(patient.channel)
    with LogLines() as log:
        call = batches.Evaluate.future(endless_evaluation(game, table))
        wait_until_begun(patient, "Evaluate", "unary")
        call.cancel()
        log.wait_for("Evaluate CANCELLED - ")
        assert batches.Score(pb.ScoreRequest(setup=table), timeout=PATIENCE) == pb.ScoreResponse()


@pytest.mark.parametrize(("name", "request_for"), [("playout", endless), ("evaluate", endless_evaluation)])
def test_a_cancelled_stream_stops(
    patient: Running, game: Game, table: pb.BatchSetup, name: str, request_for: Callable[[Game, pb.BatchSetup], Message]
) -> None:
    batches = batch_stub(patient.channel)
    with LogLines() as log:
        answers = batches.Play(iter([play_request(name, request_for(game, table))]))
        wait_until_begun(patient, "Play", "bidi_stream")
        assert patient.stub.ListGames(game_service_pb2.ListGamesRequest(), timeout=PATIENCE).games
        answers.cancel()
        log.wait_for("Play CANCELLED - ")
        assert batches.Score(pb.ScoreRequest(setup=table), timeout=PATIENCE) == pb.ScoreResponse()
