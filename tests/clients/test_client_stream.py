"""The streams of BatchService: several requests in flight, and their errors when a stream breaks."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import grpc
import numpy as np
import pytest
from google.rpc import code_pb2, status_pb2
from google.rpc.error_details_pb2 import ErrorInfo
from grpc_status import rpc_status
from service.process import wait_until
from service.support import GRPC_DOORS, Running, running
from tools.needs import needs
from tools.over import over, over_names

from chatiere import engine
from chatiere.clients import (
    BatchClient,
    BatchStream,
    ChatiereError,
    FastStream,
    FieldViolation,
    TransportError,
    VectorEnv,
)
from chatiere.clients.calls import batch_requests
from chatiere.clients.transport import fast_call
from chatiere.service.base.settings import Settings
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, PlayResponse, Positions, StepResponse

from .conftest import MakeFakeBatch

GAMES = [game.name for game in engine.games()]
# A timeout in seconds that is longer than any test takes.
PATIENCE = 60


def answer_to(request: Any) -> PlayResponse:
    """Respond with the states of the request."""
    positions = Positions(actors=b"\0", states=request.step.states)
    return PlayResponse(tag=request.tag, step=StepResponse(positions=positions))


class Open(Protocol):
    def __call__(self, address: str) -> AbstractContextManager[BatchStream | FastStream]: ...


@pytest.fixture(params=["channel", pytest.param("fast", marks=needs("libnghttp2"))])
def open_stream(request: pytest.FixtureRequest) -> Open:
    """Return a function that opens a stream of one of the two kinds."""

    @contextmanager
    def over_channel(address: str) -> Iterator[BatchStream | FastStream]:
        with BatchClient(address) as client, client.stream() as stream:
            yield stream

    return FastStream if request.param == "fast" else over_channel


def step(number: int) -> batch_requests.BatchRequest[batch_requests.Stepped]:
    return batch_requests.step(BatchSetup(players=2), bytes([number]), [0])


@over_names
def test_every_call_has_the_same_response_as_a_separate_call(open_stream: Open, address: str, name: str) -> None:
    table = BatchSetup(game=name, players=engine.game(name).min_players)
    columns = Columns(legal=True, scores=True, observations=True)
    with BatchClient(address) as client, open_stream(address) as stream:
        games = client.new_games(table, [1, 2], columns=columns)
        typed = client.unpack(table, games.states).typed_states
        moves = games.legal_ids[games.legal_offsets[:-1]]
        calls: list[Any] = [
            batch_requests.new_games(table, [1, 2], columns=columns),
            batch_requests.step(table, games.states, moves, columns=columns),
            batch_requests.playout(table, games.states, 2, 3),
            batch_requests.evaluate(table, games.states, 2, 3, 4),
            batch_requests.score(table, games.states),
            batch_requests.resample(table, games.states, [0, 1], 3),
            batch_requests.observe(table, games.states, [0, 1]),
            batch_requests.pack(table, typed),
            batch_requests.unpack(table, games.states),
        ]
        together = [future.result(PATIENCE) for future in [stream.submit(call) for call in calls]]
        alone: list[Any] = [
            games,
            client.step(table, games.states, moves, columns=columns),
            client.playout(table, games.states, 2, 3),
            client.evaluate(table, games.states, 2, 3, 4),
            client.score(table, games.states),
            client.resample(table, games.states, [0, 1], 3),
            client.observe(table, games.states, [0, 1]),
            client.pack(table, typed),
            client.unpack(table, games.states),
        ]
    assert [repr(result) for result in together] == [repr(result) for result in alone]


def test_a_refused_request_does_not_affect_other_requests(open_stream: Open, address: str) -> None:
    name = GAMES[0]
    table = BatchSetup(game=name, players=engine.game(name).min_players)
    with BatchClient(address) as client, open_stream(address) as stream:
        futures = [
            stream.submit(batch_requests.new_games(each, [1])) for each in (table, BatchSetup(game="tarock"), table)
        ]
        with pytest.raises(ChatiereError) as raised:
            futures[1].result(PATIENCE)
        with pytest.raises(ChatiereError) as expected:
            client.new_games(BatchSetup(game="tarock"), [1])
        assert futures[0].result(PATIENCE).states.tolist() == futures[2].result(PATIENCE).states.tolist()
    assert raised.value.reason == "UNKNOWN_GAME"
    # The log has one id for the whole stream, so refusals of requests contain no id. Paths begin in the PlayRequest.
    (violation,) = expected.value.violations
    within = FieldViolation(f"new_games.{violation.field}", violation.description)
    assert vars(raised.value) == vars(expected.value) | {
        "request_id": "",
        "violations": (within,),
        "message": f"new_games.{expected.value.message}",
    }


def test_several_calls_are_in_flight_simultaneously(open_stream: Open, make_fake_batch: MakeFakeBatch) -> None:
    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        # The first response follows the third request. Tags match responses to requests.
        yield from reversed([answer_to(next(requests)) for _ in range(3)])

    _, address = make_fake_batch(play=play)
    with open_stream(address) as stream:
        futures = [stream.submit(step(number)) for number in range(3)]
        assert [future.result(PATIENCE).positions.states.tolist() for future in futures] == [[[0]], [[1]], [[2]]]


def test_a_broken_stream_fails_current_and_later_requests(open_stream: Open, make_fake_batch: MakeFakeBatch) -> None:
    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        yield answer_to(next(requests))
        next(requests)
        context.abort(grpc.StatusCode.DATA_LOSS, "gone")

    servicer, address = make_fake_batch(play=play)
    with open_stream(address) as stream:
        futures = [stream.submit(step(number)) for number in range(3)]
        assert futures[0].result(PATIENCE)
        for future in futures[1:]:
            with pytest.raises(TransportError, match="DATA_LOSS: gone"):
                future.result(PATIENCE)
        with pytest.raises(TransportError, match="DATA_LOSS: gone"):
            stream.submit(step(3)).result(PATIENCE)
    assert servicer.calls == 1


def test_a_stream_that_ends_too_early_fails_its_requests(open_stream: Open, make_fake_batch: MakeFakeBatch) -> None:
    _, address = make_fake_batch(play=lambda requests, context: iter([answer_to(next(requests))]))
    with open_stream(address) as stream:
        assert stream.submit(step(0)).result(PATIENCE)
        with pytest.raises(TransportError, match="the service ended the stream"):
            stream.submit(step(1)).result(PATIENCE)


def test_a_stream_without_responses_is_retried(make_fake_batch: MakeFakeBatch) -> None:
    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        if servicer.calls < 3:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        yield answer_to(next(requests))

    servicer, address = make_fake_batch(play=play)
    with BatchClient(address) as client, client.stream() as stream:
        assert stream.submit(step(7)).result(PATIENCE).positions.states.tolist() == [[7]]
    assert servicer.calls == 3


def test_closing_ends_calls_in_flight(open_stream: Open, make_fake_batch: MakeFakeBatch) -> None:
    arrived, gone = threading.Event(), threading.Event()

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        context.add_callback(gone.set)
        arrived.set()
        gone.wait(PATIENCE)
        return iter([])

    _, address = make_fake_batch(play=play)
    with open_stream(address) as stream:
        future = stream.submit(step(0))
        assert arrived.wait(PATIENCE)
        with pytest.raises(TimeoutError):
            future.result(0)
        with pytest.raises(TimeoutError):
            future.exception(0)
    with pytest.raises(TransportError, match="CANCELLED"):
        future.result(0)
    assert isinstance(future.exception(0), TransportError)
    with pytest.raises(TransportError, match="CANCELLED"):
        stream.submit(step(1)).result(0)
    assert gone.wait(PATIENCE)


def test_a_stream_fails_when_its_channel_was_closed(address: str) -> None:
    table = BatchSetup(game=GAMES[0], players=engine.game(GAMES[0]).min_players)
    client = BatchClient(address)
    with client.stream() as stream:
        stream.submit(batch_requests.new_games(table, count=1)).result(PATIENCE)
        client.close()
        with pytest.raises(TransportError, match="closed"):
            stream.submit(batch_requests.new_games(table, count=1)).result(PATIENCE)


def test_an_invalid_response_fails_only_its_call(open_stream: Open, make_fake_batch: MakeFakeBatch) -> None:
    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        for request in requests:
            answer = answer_to(request)
            if request.step.states == b"\0":
                answer.step.positions.legal_ids = b"odd"
            yield answer

    _, address = make_fake_batch(play=play)
    with open_stream(address) as stream:
        futures = [stream.submit(step(number)) for number in range(2)]
        with pytest.raises(TransportError, match="INTERNAL"):
            futures[0].result(PATIENCE)
        assert np.array_equal(futures[1].result(PATIENCE).positions.states, [[1]])


def test_without_libnghttp2_a_fast_stream_names_the_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_call, "IS_BUILT", False)
    with pytest.raises(ImportError, match="libnghttp2-dev"):
        FastStream("127.0.0.1:1")


# Streams that the service ends because they are idle


@pytest.fixture
def impatient(request: pytest.FixtureRequest) -> Iterator[Running]:
    """Run a server that allows two streams. They may be idle only for a moment."""
    settings = Settings(address="127.0.0.1:0", max_streams=2, stream_idle_timeout=0.1)
    with running(settings, request.param) as server:
        yield server


def ended(server: Running) -> float:
    """Return the number of streams that ended because no request arrived."""
    labels = {"grpc_type": "bidi_stream", "grpc_service": "chatiere.v1.BatchService", "grpc_method": "Play"}
    return server.sample("grpc_server_handled_total", **labels, grpc_code="DeadlineExceeded")


@over("impatient", GRPC_DOORS, indirect=True)
def test_an_idle_stream_is_reopened(open_stream: Open, impatient: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatiere.clients.transport.fast_stream._PAUSE", 0)
    request = batch_requests.new_games(BatchSetup(game="discat", players=2), [1])
    with open_stream(impatient.address) as stream:
        before = 0.0
        for _ in range(3):
            # The stream ends if it is idle before the first request, and after a request.
            wait_until(lambda before=before: ended(impatient) > before, "the stream has ended")  # type: ignore[misc]
            before = ended(impatient)
            assert len(stream.submit(request).result(PATIENCE).states) == 1
        assert not stream.is_over


@over("impatient", GRPC_DOORS, indirect=True)
def test_a_stream_whose_slot_another_took_is_reopened(open_stream: Open, impatient: Running) -> None:
    request = batch_requests.new_games(BatchSetup(game="discat", players=2), [1])
    with (
        open_stream(impatient.address) as first,
        open_stream(impatient.address) as second,
        open_stream(impatient.address) as third,
    ):
        for stream in (first, second, third) * 3:
            assert len(stream.submit(request).result(PATIENCE).states) == 1


@pytest.mark.parametrize("fast", [False, pytest.param(True, marks=needs("libnghttp2"))])
@over("impatient", GRPC_DOORS, indirect=True)
def test_games_continue_unchanged_after_idle_times(
    impatient: Running, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatiere.clients.transport.fast_stream._PAUSE", 0)

    def played(waits: bool) -> list[list[int]]:
        states = []
        with VectorEnv(
            impatient.address,
            "discat",
            2,
            num_envs=4,
            games=8,
            seed=3,
            fast_address=impatient.address if fast else None,
        ) as env:
            before = ended(impatient)
            batch = env.reset()
            while len(batch):
                states.append([*batch.game_numbers.tolist(), *batch.states.ravel().tolist()])
                if waits and len(states) in (3, 10):
                    wait_until(lambda before=before: ended(impatient) > before, "the stream has ended")  # type: ignore[misc]
                before = ended(impatient)
                batch = env.step(batch.legal_ids[batch.legal_offsets[:-1]])
        return states

    assert played(waits=True) == played(waits=False)


def test_a_stream_that_repeatedly_ends_as_idle_fails(open_stream: Open, make_fake_batch: MakeFakeBatch) -> None:
    opened = []

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        opened.append(next(requests).tag)
        info = ErrorInfo(reason="REQUEST_TIMEOUT", domain="chatiere")
        status = status_pb2.Status(code=code_pb2.DEADLINE_EXCEEDED, message="late")
        status.details.add().Pack(info)
        context.abort_with_status(rpc_status.to_status(status))
        yield PlayResponse()

    _, address = make_fake_batch(play=play)
    with open_stream(address) as stream:
        with pytest.raises(ChatiereError, match="REQUEST_TIMEOUT: late"):
            stream.submit(step(1)).result(PATIENCE)
        assert opened == [1] * 6
