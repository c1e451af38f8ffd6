"""Columns in wire format: the service reads and writes them in the same way as protobuf."""

import queue
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given
from hypothesis import strategies as st
from tools.over import over_names

from chatiere import engine
from chatiere.service.calls.batch_messages import put, read
from chatiere.service.ports.methods import BATCH_SERVICE
from chatiere.v1.batch_service_pb2 import (
    BatchSetup,
    Faults,
    NewGamesRequest,
    PlayRequest,
    PlayResponse,
    Positions,
    ScoreRequest,
    StepRequest,
    StepResponse,
)

from .support import Running

COLUMN = st.binary(max_size=400)
REQUEST = st.builds(
    lambda game, players, states, moves: StepRequest(
        setup=BatchSetup(game=game, players=players), states=states, moves=moves
    ),
    st.sampled_from(["", "discat"]),
    st.integers(0, 2**32 - 1),
    COLUMN,
    COLUMN,
)
# Fields that these messages do not have (a varint, eight bytes, four bytes, text, a group), and `states` with the type
# of a varint.
STRANGE = b"\x98\x06\x07\x99\x06" + bytes(8) + b"\x9d\x06" + bytes(4) + b"\x9a\x06\x01x\x9b\x06\x08\x01\x9c\x06\x10\x05"


def read_step(data: bytes) -> tuple[StepRequest, dict[str, Any]]:
    request = read(StepRequest, data)
    return StepRequest.FromString(request.rest), request.columns


@given(st.lists(REQUEST, max_size=3), st.booleans())
@example([StepRequest(states=b"a"), StepRequest(states=b"b")], False)
def test_requests_are_read_as_protobuf_reads_them(parts: list[StepRequest], strange: bool) -> None:
    """A message may contain repeated parts, repeated fields and unknown fields."""
    data = (STRANGE if strange else b"").join(part.SerializeToString() for part in parts) + STRANGE
    expected = StepRequest.FromString(data)
    message, columns = read_step(data)
    assert {name: bytes(column) for name, column in columns.items()} == {
        "states": expected.states,
        "moves": expected.moves,
    }
    assert (message.setup, message.columns) == (expected.setup, expected.columns)


@given(st.binary(max_size=60))
@example(b"")
@example(b"\x12\x00\x1a\x00")  # empty columns
@example(b"\x12\x81\x80\x80\x80\x80\x00a")  # a column whose length is padded
@example(b"\x92\x80\x80\x80\x80\x80\x00\x01a")  # a column whose tag is padded
@example(b"\x12\x05abc")
def test_any_bytes_are_read_or_refused_as_protobuf_does(data: bytes) -> None:
    expected: StepRequest | None
    try:
        expected = StepRequest.FromString(data)
    except DecodeError:
        with pytest.raises(DecodeError):
            read_step(data)
        return
    message, columns = read_step(data)
    assert (bytes(columns["states"]), bytes(columns["moves"])) == (expected.states, expected.moves)
    assert (message.setup, message.columns) == (expected.setup, expected.columns)


@given(COLUMN, COLUMN, st.booleans())
def test_responses_are_written_as_protobuf_writes_them(states: bytes, actors: bytes, failed: bool) -> None:
    positions = put(Positions, [("states", states), ("actors", actors)])
    faults: list[bytes | memoryview] | None = [Faults(reasons=b"\1").SerializeToString()] if failed else None
    response = b"".join(put(StepResponse, [("positions", positions), ("faults", faults)]))
    expected = StepResponse(positions=Positions(states=states, actors=actors))
    if failed:
        expected.faults.reasons = b"\1"
    assert StepResponse.FromString(response) == expected
    assert StepResponse.FromString(response).HasField("positions")


@over_names
def test_requests_on_the_stream_may_be_written_in_unusual_ways(server: Running, name: str) -> None:
    """A request may be split, replace an earlier one, or be missing. The results are the same as in protobuf."""
    game = engine.game(name)
    table = BatchSetup(game=name, players=game.min_players)
    states = game.new_game(game.min_players, seed=1).pack()
    asked: Any = [
        PlayRequest(tag=1, score=ScoreRequest(setup=table, states=states)).SerializeToString(),
        PlayRequest(tag=9, score=ScoreRequest(setup=BatchSetup(game="tarock"))).SerializeToString()
        + PlayRequest(tag=2, score=ScoreRequest(setup=table, states=states)).SerializeToString(),
        PlayRequest(tag=3, new_games=NewGamesRequest(count=1)).SerializeToString()
        + PlayRequest(score=ScoreRequest(setup=table, states=states)).SerializeToString(),
        PlayRequest(tag=4).SerializeToString(),
    ]
    requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    with grpc.insecure_channel(server.address) as channel:
        play: Any = channel.stream_stream(f"/{BATCH_SERVICE}/Play")
        responses = play(iter(requests.get, None))
        for request in (*asked, None):
            requests.put(request)
        first, *others = [PlayResponse.FromString(response) for response in responses]
    assert first.score.final == b"\0"
    assert [response.tag for response in others] == [2, 3, 4]
    assert others[0].score == others[1].score == first.score
    assert others[2].refusal.field == "request"
