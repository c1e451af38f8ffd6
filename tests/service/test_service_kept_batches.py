"""Batches whose states a stream keeps: the same games as with sent states, the limits, and the end of the stream."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from chatiere import engine
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.guards.memory import Holding, KeptBatches, MemoryBudget
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1.errors_pb2 import ErrorReason

from .process import wait_until
from .support import Door, running
from .test_service_idle_streams import play

SERVICE = BatchService(Settings(), Metrics(CollectorRegistry()))
TABLES = [(game.name, players) for game in engine.games() for players in {game.min_players, game.max_players}]
SETUP = pb.BatchSetup(game="discat", players=2)
COLUMNS = pb.Columns(legal=True, scores=True, observations=True)


class Kept:
    """A stream of the service, without a door."""

    def __init__(self, budget: MemoryBudget | None = None, client: str = "one") -> None:
        self.kept = KeptBatches[Any](budget or MemoryBudget(2**30), client)
        self._stream = PlayStream(SERVICE, self.kept)

    @property
    def held(self) -> int:
        return self.kept.size

    def ask(self, **fields: Any) -> Any:
        """Return the response, or the refusal."""
        request = pb.PlayRequest(tag=7, **fields).SerializeToString()
        response = pb.PlayResponse.FromString(b"".join(self._stream.answer(request, Cancellation())))
        assert response.tag == 7
        return getattr(response, response.WhichOneof("response"))


def new_games(count: int = 3, setup: pb.BatchSetup = SETUP, *, is_explicit: bool = False) -> pb.NewGamesRequest:
    if is_explicit:
        return pb.NewGamesRequest(setup=setup, count=count, columns=COLUMNS)
    return pb.NewGamesRequest(setup=setup, seeds=np.arange(count, dtype="<u8").tobytes(), columns=COLUMNS)


def step(moves: Any, states: bytes = b"", setup: pb.BatchSetup = SETUP, **fields: Any) -> pb.StepRequest:
    column = np.array(moves, "<u2").tobytes()
    return pb.StepRequest(setup=setup, states=states, moves=column, columns=COLUMNS, **fields)


def first_moves(positions: Any) -> Any:
    return np.frombuffer(positions.legal_ids, "<u2")[np.frombuffer(positions.legal_offsets, "<u4")[:-1]]


def moves_of(positions: Any, data: st.DataObject) -> list[int]:
    """Draw a move for each item. Most moves are legal. Some are arbitrary numbers."""
    offsets, ids = np.frombuffer(positions.legal_offsets, "<u4"), np.frombuffer(positions.legal_ids, "<u2")
    drawn = data.draw(st.lists(st.integers(0, 2**16 - 1), min_size=len(offsets) - 1, max_size=len(offsets) - 1))
    return [
        number if number % 16 == 0 or begin == end else int(ids[begin + number % (end - begin)])
        for number, begin, end in zip(drawn, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]


@given(data=st.data())
def test_kept_states_lead_to_the_same_positions_as_sent_ones(data: st.DataObject) -> None:
    name, players = data.draw(st.sampled_from(TABLES))
    setup = pb.BatchSetup(game=name, players=players)
    restart = pb.Restart(stride=5) if data.draw(st.booleans()) else None
    kept, sent = Kept(), Kept()
    begun = new_games(5, setup, is_explicit=data.draw(st.booleans()))
    expected = sent.ask(new_games=begun).positions
    found = kept.ask(new_games=begun, keep=1).positions
    states, number = expected.states, 1
    for _ in range(data.draw(st.integers(1, 12))):
        assert not found.states
        expected.ClearField("states")
        assert found == expected
        rows = data.draw(st.none() | st.sets(st.integers(0, len(found.actors) - 1), min_size=1).map(sorted))
        packed = engine.game(name).packed_size
        if rows is not None:
            states = b"".join(states[row * packed : (row + 1) * packed] for row in rows)
        moves = moves_of(expected, data)
        moves = moves if rows is None else [moves[row] for row in rows]
        stepped = sent.ask(step=step(moves, states, setup, restart=restart))
        expected, states = stepped.positions, stepped.positions.states
        column = b"" if rows is None else np.array(rows, "<u4").tobytes()
        take, number = number, data.draw(st.integers(1, 2))
        result = kept.ask(step=step(moves, b"", setup, restart=restart), take=take, keep=number, rows=column)
        assert result.faults == stepped.faults
        found = result.positions
        assert len(states) < kept.held < len(states) + 4096
    assert kept.ask(score=pb.ScoreRequest(setup=setup), take=number, keep=3) == sent.ask(
        score=pb.ScoreRequest(setup=setup, states=states)
    )
    moves = moves_of(expected, data)
    assert kept.ask(step=step(moves, b"", setup), take=3) == sent.ask(step=step(moves, states, setup))
    assert kept.held == 0


def test_a_refused_request_changes_no_kept_batch() -> None:
    stream = Kept()
    stream.ask(new_games=new_games(), keep=1)
    held = stream.held
    moves = [0, 0, 0]
    states = pb.NewGamesResponse.FromString(
        b"".join(SERVICE.answer("new_games", new_games().SerializeToString(), Cancellation()))
    ).positions.states
    typed = stream.ask(convert=pb.ConvertRequest(setup=SETUP, states=states)).typed_states
    short = np.array([3], "<u4").tobytes()
    for fields, field in (
        ({"step": step(moves), "take": 2}, "take"),
        ({"step": step(moves, states), "take": 1}, "take"),
        ({"new_games": new_games(), "take": 1}, "take"),
        ({"step": step(moves[1:]), "take": 1}, "step.moves"),
        ({"step": step(moves), "take": 1, "rows": short}, "rows"),
        ({"step": step(moves), "take": 1, "rows": b"\0"}, "rows"),
        ({"step": step(moves), "take": 1, "rows": bytes(8)}, "rows"),
        ({"step": step(moves, states), "keep": 1, "rows": bytes(4)}, "rows"),
        ({"score": pb.ScoreRequest(setup=SETUP), "keep": 1}, "keep"),
        ({"convert": pb.ConvertRequest(setup=SETUP, typed_states=typed), "keep": 1}, "keep"),
        ({"score": pb.ScoreRequest(setup=SETUP, states=states[1:]), "keep": 1}, "score.states"),
    ):
        for keep in {fields.pop("keep", 0), 1}:
            refused = stream.ask(**fields, keep=keep)
            assert (ErrorReason.Name(refused.reason), refused.field) == ("ERROR_REASON_INVALID_BATCH", field)
            assert stream.held == held
    assert stream.ask(step=step(moves), take=1).positions.states


def test_requests_that_make_no_states_keep_the_sent_ones() -> None:
    stream = Kept()
    expected = stream.ask(new_games=new_games()).positions
    states, moves, row = expected.states, first_moves(expected), np.array([2], "<u4").tobytes()
    table: dict[str, Any] = {"setup": SETUP, "states": states}
    for name, request in {
        "score": pb.ScoreRequest(**table),
        "observe": pb.ObserveRequest(**table, seats=bytes(3)),
        "playout": pb.PlayoutRequest(**table, playouts=1, seed=1),
        "evaluate": pb.EvaluateRequest(**table, worlds=1, playouts=1, seed=1),
        "resample_states": pb.ResampleStatesRequest(**table, seats=bytes(3), seed=1),
        "convert": pb.ConvertRequest(**table),
    }.items():
        answer = stream.ask(**{name: request}, keep=1)
        assert answer == stream.ask(**{name: request})
        request.ClearField("states")
        assert stream.ask(**{name: request}, take=1, keep=1) == answer
        size = len(states) // 3
        one = stream.ask(step=step(moves[2:], states[2 * size :]))
        assert stream.ask(step=step(moves[2:]), take=1, rows=row) == one
        assert stream.held == 0
    # Invalid states are also kept, and fail again.
    broken = pb.ScoreRequest(setup=SETUP, states=b"\xff" * size)
    faults = stream.ask(score=broken, keep=1).faults
    assert len(faults.reasons) == 1
    assert stream.ask(score=pb.ScoreRequest(setup=SETUP), take=1).faults == faults


def test_states_of_another_number_of_players_fail_and_remain_kept() -> None:
    stream = Kept()
    moves = first_moves(stream.ask(new_games=new_games(), keep=1).positions)
    other = pb.BatchSetup(game="discat", players=3)
    reasons = set(stream.ask(step=step(moves, b"", other), take=1, keep=1).faults.reasons)
    assert [ErrorReason.Name(each) for each in reasons] == ["ERROR_REASON_INVALID_PLAYERS"]
    assert not stream.ask(step=step(moves), take=1).HasField("faults")


def test_a_stream_keeps_64_batches_at_most() -> None:
    stream = Kept()
    for number in range(1, 65):
        assert not stream.ask(new_games=new_games(1), keep=number).positions.states
    refused = stream.ask(new_games=new_games(1), keep=65)
    assert refused.field == "keep"
    assert "at most 64 batches" in refused.message
    refused = stream.ask(step=step([0]), take=66, keep=65)
    assert refused.field == "take"
    assert "no batch 66" in refused.message
    # A batch may replace the batch with the same number, or the batch that the request takes.
    assert stream.ask(new_games=new_games(2), keep=64).positions.actors
    assert stream.ask(step=step([0]), take=1, keep=65).positions.actors


def test_a_batch_that_exceeds_the_memory_is_not_kept() -> None:
    # A client may keep half of the budget.
    stream = Kept(MemoryBudget(2 * (engine.game("discat").packed_size * 4 + 2048)))
    moves = first_moves(stream.ask(new_games=new_games(3), keep=1).positions)
    held = stream.held
    refused = stream.ask(new_games=new_games(2), keep=2)
    assert ErrorReason.Name(refused.reason) == "ERROR_REASON_LIMIT_EXCEEDED"
    assert stream.held == held
    assert not stream.ask(step=step(moves), take=1, keep=1).positions.states
    assert stream.ask(new_games=new_games(1), keep=2).positions.actors


def test_memory_is_held_until_the_stream_ends(door: Door) -> None:
    request = pb.PlayRequest(new_games=new_games(100), keep=1)
    with running(Settings(address="127.0.0.1:0"), door) as server:
        budget = server.server._guards.budget
        with play(server) as stream, play(server) as other:
            assert not stream.ask(request).new_games.positions.states
            least = 100 * engine.game("discat").packed_size
            wait_until(lambda: least < budget.held < least + 4096, "only the states are held")
            # Another stream has its own kept batches.
            assert other.ask(pb.PlayRequest(step=step([0] * 100), take=1)).refusal.field == "take"
        wait_until(lambda: budget.held == 0, "no memory is held")


def test_states_that_are_kept_count_in_the_memory_of_a_client(door: Door) -> None:
    count = 2000
    size = count * engine.game("discat").packed_size
    settings = Settings(address="127.0.0.1:0", max_answer_bytes=1 << 24, max_undelivered_bytes=8 * size)
    with running(settings, door) as server, play(server) as stream:
        begun = pb.NewGamesRequest(setup=SETUP, seeds=bytes(8 * count))
        refusals = [stream.ask(pb.PlayRequest(new_games=begun, keep=number)).refusal for number in range(1, 7)]
        reasons = {ErrorReason.Name(each.reason) for each in refusals}
        assert reasons == {"ERROR_REASON_UNSPECIFIED", "ERROR_REASON_LIMIT_EXCEEDED"}
        # The stream continues with its kept batches.
        assert stream.ask(pb.PlayRequest(score=pb.ScoreRequest(setup=SETUP), take=1)).score.totals


# Memory that is short

SIZE = 1 << 20


def test_calls_get_the_memory_of_batches_of_the_client_that_keeps_most() -> None:
    budget = MemoryBudget(64 * SIZE)
    most, least = KeptBatches[str](budget, "most"), KeptBatches[str](budget, "least")
    for number in range(1, 6):
        most.replace(0, number, "large", 5 * SIZE)
    for number in range(1, 5):
        least.replace(0, number, "small", 5 * SIZE)
    calls = [Holding(budget, f"call {index}") for index in range(4)]
    for call in calls[:2]:
        call.hold(15 * SIZE)
    # 45 MiB are kept, and calls hold 30 MiB. Three batches give way. Two of them belong to the client that keeps more.
    assert (len(most.batches), len(least.batches)) == (3, 3)
    assert budget.held == 60 * SIZE
    # Batches do not give way to a call that does not fit without them, nor to batches of a client that keeps more.
    calls[2].hold(28 * SIZE)
    with pytest.raises(Refusal):
        calls[3].hold(30 * SIZE)
    calls[2].release()
    assert (most.batches, least.batches) == ({}, {4: ("small", 5 * SIZE)})
    for number in range(1, 5):
        most.replace(0, number, "large", 5 * SIZE)
    with pytest.raises(Refusal):
        most.replace(0, 5, "large", 10 * SIZE)
    assert (len(most.batches), len(least.batches)) == (4, 1)
    # The client that keeps less displaces a batch of the other client.
    least.replace(0, 5, "small", 10 * SIZE)
    assert (len(most.batches), len(least.batches)) == (3, 2)
    for call in calls:
        call.release()
    most.release()
    least.release()
    assert budget.held == 0


@given(data=st.data())
def test_the_memory_of_batches_is_counted_and_leaves_the_memory_for_calls_free(data: st.DataObject) -> None:
    budget, alone = MemoryBudget(64 * SIZE), MemoryBudget(64 * SIZE)
    clients = "ab"
    streams = [KeptBatches[int](budget, client) for client in clients for _ in range(2)]
    calls = [(Holding(budget, client), Holding(alone, client)) for client in "cde"]
    sizes = st.integers(0, 40).map(lambda size: size * SIZE)
    for _ in range(data.draw(st.integers(1, 20))):
        if data.draw(st.booleans()):
            stream, size = data.draw(st.sampled_from(streams)), data.draw(sizes)
            before = dict(stream.batches)
            try:
                stream.replace(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3)), 0, size)
            except Refusal:
                assert stream.batches == before
        else:
            call, expected = data.draw(st.sampled_from(calls))
            size = data.draw(sizes)
            outcomes = [_is_refused(each, size) for each in (call, expected)]
            # The same calls are refused as without any batches.
            assert outcomes[0] == outcomes[1]
        kept = sum(sized.size for stream in streams for sized in stream.batches.values())
        assert sum(stream.size for stream in streams) == kept
        assert budget.held == alone.held + kept
        assert not kept or budget.held <= 64 * SIZE


def _is_refused(call: Holding, size: int) -> bool:
    try:
        call.hold(size)
    except Refusal:
        return True
    return False


def test_a_request_for_a_batch_that_has_given_way_is_refused_and_the_stream_continues(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_undelivered_bytes=SIZE), door) as server, play(server) as stream:
        begun = pb.PlayRequest(new_games=new_games(100), keep=1)
        expected = stream.ask(begun)
        taken = pb.PlayRequest(score=pb.ScoreRequest(setup=SETUP), take=1, keep=1)
        assert not stream.ask(taken).HasField("refusal")
        budget = server.server._guards.budget
        wait_until(lambda: budget.held == budget._kept.total, "only the states are held")
        call = Holding(budget, "another")
        call.hold(SIZE)
        call.release()
        refused = stream.ask(taken).refusal
        assert (ErrorReason.Name(refused.reason), refused.field) == ("ERROR_REASON_INVALID_BATCH", "take")
        assert stream.ask(begun) == expected
        assert not stream.ask(taken).HasField("refusal")
