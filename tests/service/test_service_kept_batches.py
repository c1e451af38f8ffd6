"""Batches whose states a stream keeps: the same games as when they are sent, within limits, until the stream ends."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from chatiere import engine
from chatiere.engine.core.batch import Cancellation
from chatiere.service.base.errors import limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.play_stream import PlayStream
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

    def __init__(self, most: int | None = None) -> None:
        self.held = 0
        self._most = most
        self._stream = PlayStream(SERVICE, self._hold)

    def _hold(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise limit_exceeded("bytes", self._most)
        self.held = size

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
    """Draw a move for each item: a legal one, seldom another."""
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
        assert kept.held == 1024 + len(states)
    assert kept.ask(score=pb.ScoreRequest(setup=setup), take=number, keep=3) == sent.ask(
        score=pb.ScoreRequest(setup=setup, states=states)
    )
    moves = moves_of(expected, data)
    assert kept.ask(step=step(moves, b"", setup), take=3) == sent.ask(step=step(moves, states, setup))
    assert kept.held == 0


def test_a_refused_request_leaves_everything_as_it_was() -> None:
    stream = Kept()
    stream.ask(new_games=new_games(), keep=1)
    held = stream.held
    moves = [0, 0, 0]
    states = pb.NewGamesResponse.FromString(
        b"".join(SERVICE.answer("new_games", new_games().SerializeToString(), Cancellation()))
    ).positions.states
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
        ({"score": pb.ScoreRequest(setup=SETUP, states=states), "keep": 1}, "keep"),
    ):
        for keep in {fields.pop("keep", 0), 1}:
            refused = stream.ask(**fields, keep=keep)
            assert (ErrorReason.Name(refused.reason), refused.field) == ("ERROR_REASON_INVALID_BATCH", field)
            assert stream.held == held
    assert stream.ask(step=step(moves), take=1).positions.states


def test_states_of_another_number_of_players_fail_and_stay() -> None:
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
    assert (refused.field, refused.message) == ("keep", "a stream keeps at most 64 batches")
    refused = stream.ask(step=step([0]), take=66, keep=65)
    assert (refused.field, refused.message) == ("take", "the stream keeps no batch 66")
    # Under a number that it has, and in place of one that it takes.
    assert stream.ask(new_games=new_games(2), keep=64).positions.actors
    assert stream.ask(step=step([0]), take=1, keep=65).positions.actors


def test_a_batch_for_which_there_is_no_memory_is_not_kept() -> None:
    stream = Kept(most=engine.game("discat").packed_size * 4 + 2048)
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
            wait_until(lambda: least < budget.held < least + 4096, "the states alone are held")
            # Another stream keeps others.
            assert other.ask(pb.PlayRequest(step=step([0] * 100), take=1)).refusal.field == "take"
        wait_until(lambda: budget.held == 0, "nothing is held")


def test_states_that_are_kept_count_in_the_memory_of_a_client(door: Door) -> None:
    count = 2000
    size = count * engine.game("discat").packed_size
    with running(Settings(address="127.0.0.1:0", max_answer_bytes=1 << 24), door) as server:
        budget = server.server._guards.budget
        budget._most = 8 * size
        with play(server) as stream:
            begun = pb.NewGamesRequest(setup=SETUP, seeds=bytes(8 * count))
            refusals = [stream.ask(pb.PlayRequest(new_games=begun, keep=number)).refusal for number in range(1, 7)]
            reasons = {ErrorReason.Name(each.reason) for each in refusals}
            assert reasons == {"ERROR_REASON_UNSPECIFIED", "ERROR_REASON_LIMIT_EXCEEDED"}
            # The stream goes on with what it has.
            assert stream.ask(pb.PlayRequest(score=pb.ScoreRequest(setup=SETUP), take=1)).score.totals
