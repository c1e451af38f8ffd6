"""Messages in wire format: the client reads and writes them as protobuf does, and rejects malformed responses."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatiere.clients import BatchClient, TransportError
from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_messages import Response, put, put_inner
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.v1.batch_service_pb2 import (
    BatchSetup,
    Faults,
    ItemFault,
    ObserveResponse,
    PlayRequest,
    PlayResponse,
    Positions,
    RequestRefusal,
    ScoreResponse,
    StepRequest,
    StepResponse,
)

COLUMN = st.binary(max_size=400)
# A timeout in seconds that is longer than any test takes.
PATIENCE = 60


@given(COLUMN, COLUMN, st.lists(st.integers(0, 2**32 - 1), max_size=3), st.integers(0, 2**64 - 1))
def test_responses_are_read_as_protobuf_reads_them(states: bytes, actors: bytes, items: list[int], tag: int) -> None:
    faults = Faults(items=[ItemFault(item=item, message="é") for item in items])
    step = StepResponse(positions=Positions(states=states, actors=actors), faults=faults)
    answer = Response(PlayResponse, PlayResponse(tag=tag, step=step).SerializeToString())
    assert (answer.number("tag"), answer.which("response")) == (tag, "step")
    positions = answer.inner("step").inner("positions")
    assert [bytes(positions.column(name)) for name in ("states", "actors", "legal_ids")] == [states, actors, b""]
    assert answer.inner("step").message("faults") == faults
    assert answer.inner("step").whole() == step


def test_a_refusal_is_read() -> None:
    refusal = RequestRefusal(message="no", metadata={"a": "b"})
    answer = Response(PlayResponse, PlayResponse(refusal=refusal).SerializeToString())
    assert (answer.number("tag"), answer.which("response"), answer.message("refusal")) == (0, "refusal", refusal)
    assert Response(PlayResponse, b"").which("response") is None


def test_unknown_fields_are_ignored() -> None:
    # Field 99, which later versions may define, encoded as a varint, as eight bytes and as four bytes.
    unknown = b"\x98\x06\x07\x99\x06" + bytes(8) + b"\x9d\x06" + bytes(4)
    assert bytes(Response(Positions, unknown + Positions(states=b"abc").SerializeToString()).column("states")) == b"abc"


@pytest.mark.parametrize("before", range(8))
def test_arrays_are_aligned_and_not_writable(before: int) -> None:
    response = StepResponse(positions=Positions(actors=b"\1", legal_offsets=bytes(8), returns=bytes(8)))
    read = batch_requests.step(BatchSetup(players=2), b"", []).read
    positions = read(
        Response(StepResponse, memoryview(bytes(before) + response.SerializeToString())[before:])
    ).positions
    assert all(array.flags.aligned and not array.flags.writeable for array in positions)
    assert (positions.actors.tolist(), positions.returns.tolist()) == ([1], [[0.0, 0.0]])


def test_fields_of_the_wrong_type_count_as_absent() -> None:
    # The fields `tag` as bytes and `step` as a varint.
    answer = Response(PlayResponse, b"\x0a\x01x\x18\x05")
    assert (answer.number("tag"), answer.which("response"), bytes(answer.column("step"))) == (0, None, b"")
    assert answer.message("step") == StepResponse()


@given(st.binary(max_size=60))
@example(b"\x08\x00")  # `states` as a varint
@example(b"\x08" + b"\x80" * 9 + b"\x02")  # a varint of eleven bytes
def test_any_bytes_are_a_response_or_refused(data: bytes) -> None:
    try:
        answer = Response(Positions, data)
    except ValueError:
        return
    assert len(answer.column("states")) <= len(data)


def test_a_varint_has_at_most_ten_bytes() -> None:
    assert Response(PlayResponse, b"\x08" + b"\xff" * 9 + b"\x01").number("tag") == 2**64 - 1
    with pytest.raises(ValueError, match="not a protobuf message"):
        Response(PlayResponse, b"\x08" + b"\x80" * 10 + b"\x00")


@given(COLUMN, COLUMN)
def test_requests_are_written_as_protobuf_writes_them(states: bytes, moves: bytes) -> None:
    message = StepRequest(setup=BatchSetup(game="discat", players=3))
    pieces = put(message, {"states": memoryview(states), "moves": moves})
    expected = StepRequest(setup=message.setup, states=states, moves=moves)
    assert StepRequest.FromString(b"".join(pieces)) == expected
    played = b"".join(put_inner(PlayRequest.STEP_FIELD_NUMBER, pieces))
    assert PlayRequest.FromString(played) == PlayRequest(step=expected)


@pytest.fixture
def broken_address() -> Iterator[str]:
    """Serve Score with a truncated response, and a stream that sends the states of its requests as raw responses."""

    def score(request: bytes, context: grpc.ServicerContext) -> bytes:
        return b"\x0a\x05abc"

    def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        for request in requests:
            yield bytes(PlayRequest.FromString(request).score.states)

    server = grpc.server(ThreadPoolExecutor(2))
    methods: dict[str, Any] = {
        "Score": grpc.unary_unary_rpc_method_handler(score),
        "Play": grpc.stream_stream_rpc_method_handler(play),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(BATCH_SERVICE, methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(grace=None).wait()


def test_a_malformed_response_is_an_error(broken_address: str) -> None:
    with BatchClient(broken_address) as client, pytest.raises(TransportError) as raised:
        client.score(BatchSetup(game="discat", players=2), b"")
    assert raised.value.code is grpc.StatusCode.INTERNAL


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x05abc",  # not a message
        PlayResponse(tag=7).SerializeToString(),  # a response to no request
    ],
)
def test_a_malformed_response_on_the_stream_ends_it(broken_address: str, data: bytes) -> None:
    with BatchClient(broken_address) as client, client.stream() as stream:
        first = stream.submit(batch_requests.score(BatchSetup(game="discat", players=2), data))
        with pytest.raises(TransportError) as raised:
            first.result(PATIENCE)
        assert raised.value.code is grpc.StatusCode.INTERNAL
        with pytest.raises(TransportError):
            stream.submit(batch_requests.score(BatchSetup(game="discat", players=2), b"")).result(PATIENCE)


@pytest.mark.parametrize(
    "answer",
    [
        PlayResponse(tag=1),
        PlayResponse(tag=1, observe=ObserveResponse(observations=b"abc")),
        # Five scores do not match a game of two players.
        PlayResponse(tag=1, score=ScoreResponse(final=b"\1\1", totals=bytes(20))),
    ],
)
def test_an_unexpected_response_fails_only_its_request(broken_address: str, answer: PlayResponse) -> None:
    table = BatchSetup(game="discat", players=2)
    with BatchClient(broken_address) as client, client.stream() as stream:
        wrong = stream.submit(batch_requests.score(table, answer.SerializeToString()))
        right = PlayResponse(tag=2, score=ScoreResponse(final=b"\1"))
        other = stream.submit(batch_requests.score(table, right.SerializeToString()))
        # A request in flight cannot be cancelled separately, and its failure does not end the stream.
        assert not other.cancel()
        with pytest.raises(TransportError):
            wrong.result(PATIENCE)
        assert other.result(PATIENCE).final.tolist() == [True]
