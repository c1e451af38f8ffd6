"""Calls at the fast door, their headers and ends. ../test_service_*.py test what all doors have in common."""

import re
import struct
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1.health_pb2 import HealthCheckResponse
from tools.needs import needs
from tools.played_frames import END_STREAM, HEADERS, STREAMS, WINDOW, data, message, reset, setting, window

from chatiere import engine
from chatiere.clients import BatchClient, ChatiereError
from chatiere.clients.calls import batch_requests
from chatiere.engine import Game
from chatiere.v1.batch_service_pb2 import (
    BatchSetup,
    Columns,
    ConvertRequest,
    EvaluateRequest,
    NewGamesRequest,
    ObserveRequest,
    PlayoutRequest,
    PlayRequest,
    PlayResponse,
    Restart,
    ScoreRequest,
    StepRequest,
)
from chatiere.v1.game_service_pb2 import ListGamesResponse

from ..process import wait_until
from ..support import PATIENCE, LogLines, Refused, Running, refusal
from .peer import LIST_GAMES, OK, PLAY, TAKES_ALL, Peer, fast_address
from .servers import LABELS, Slow, handled, in_flight, playing

pytestmark = needs("libnghttp2")

CONVERT, NEW_GAMES = "/chatiere.v1.BatchService/Convert", "/chatiere.v1.BatchService/NewGames"
CHECK, WATCH = "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"

# The same responses as at grpcio's door


def grpcio_address(server: Running) -> str:
    return f"127.0.0.1:{server.server.port}"


def all_kinds(game: Game) -> list[bytes]:
    """Return requests of all kinds, including some that are refused."""
    table = BatchSetup(game=game.name, players=game.min_players)
    position = game.new_game(game.min_players, seed=3)
    states = [position.pack()]
    for _ in range(5):
        position.apply(position.legal_actions()[0])
        states.append(position.pack())
    packed, columns = b"".join(states), Columns(legal=True, scores=True, observations=True)
    count = len(states)
    seats, zeros = bytes(count), bytes(2 * count)
    requests = [
        PlayRequest(new_games=NewGamesRequest(setup=table, seeds=struct.pack("<3Q", 1, 2, 3), columns=columns)),
        PlayRequest(step=StepRequest(setup=table, states=packed, moves=zeros, columns=columns)),
        PlayRequest(playout=PlayoutRequest(setup=table, states=packed, playouts=3, seed=5)),
        PlayRequest(evaluate=EvaluateRequest(setup=table, states=packed, worlds=2, playouts=3, seed=5)),
        PlayRequest(score=ScoreRequest(setup=table, states=packed)),
        PlayRequest(observe=ObserveRequest(setup=table, states=packed, seats=seats)),
        PlayRequest(),
        PlayRequest(score=ScoreRequest(setup=BatchSetup(game="tarock"), states=packed)),
        PlayRequest(score=ScoreRequest(setup=table, states=packed[:-1])),
        PlayRequest(new_games=NewGamesRequest(setup=table, count=2**31)),
    ]
    for tag, request in enumerate(requests):
        request.tag = tag
    return [request.SerializeToString() for request in requests]


def over_channel(address: str, requests: list[bytes]) -> list[bytes]:
    with grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)]) as channel:
        play: Any = channel.stream_stream(PLAY)
        return list(play(iter(requests), timeout=PATIENCE))


def test_every_response_of_a_stream_equals_that_of_grpcio_s_door(server: Running, game: Game) -> None:
    requests = all_kinds(game)
    expected = over_channel(grpcio_address(server), requests)
    assert [PlayResponse.FromString(each).HasField("refusal") for each in expected] == [False] * 6 + [True] * 4
    assert over_channel(fast_address(server), requests) == expected
    with Peer(server, *TAKES_ALL) as peer:
        peer.send(peer.headers(), *[data(message(request)) for request in requests], data(b"", END_STREAM))
        assert peer.answers(len(requests)) == expected
        assert peer.end() == OK


def test_a_client_s_stream_has_the_same_responses_at_both_doors(server: Running, game: Game) -> None:
    table, columns = BatchSetup(game=game.name, players=game.max_players), Columns(legal=True, observations=True)

    def answers(stream: Any) -> list[str]:
        begun = stream.submit(batch_requests.new_games(table, [1, 2, 3], columns=columns)).result(PATIENCE)
        moves = begun.legal_ids[begun.legal_offsets[:-1]]
        futures = [
            stream.submit(call)
            for call in (
                batch_requests.step(table, begun.states, moves, columns=columns),
                batch_requests.resample(table, begun.states, [0, 1, 0], 3),
                batch_requests.pack(table, []),
                batch_requests.unpack(table, begun.states),
                batch_requests.playout(table, begun.states, 2, 9),
                batch_requests.evaluate(table, begun.states, 2, 3, 9),
            )
        ]
        with pytest.raises(ChatiereError) as refused:
            stream.submit(batch_requests.new_games(BatchSetup(game="tarock"), [1])).result(PATIENCE)
        return [repr(future.result(PATIENCE)) for future in futures] + [repr(vars(refused.value))]

    found = []
    for address in grpcio_address(server), fast_address(server):
        with BatchClient(address) as client, client.stream() as stream:
            found.append(answers(stream))
    assert found[0] == found[1]


def test_a_stream_steps_usual_batches_like_calls_of_grpcio_s_port(server: Running, game: Game) -> None:
    count = 2**14 // game.packed_size + 1
    table, restart = BatchSetup(game=game.name, players=game.min_players), Restart(stride=count)
    columns = Columns(legal=True, scores=True, observations=True)
    with (
        BatchClient(grpcio_address(server)) as client,
        BatchClient(fast_address(server)) as other,
        other.stream() as stream,
    ):
        positions = client.new_games(table, range(count), columns=columns)
        for _ in range(60):
            moves = positions.legal_ids[positions.legal_offsets[:-1]]
            # An item that fails.
            moves[1] = 0xFFFF
            expected = client.step(table, positions.states, moves, columns=columns, restart=restart)
            call = batch_requests.step(table, positions.states, moves, columns=columns, restart=restart)
            answer = stream.submit(call).result(PATIENCE)
            assert repr(answer) == repr(expected)
            positions = answer.positions
            assert answer.positions.states.tobytes() == expected.positions.states.tobytes()


def refused(address: str, requests: list[bytes], path: str = PLAY) -> Refused:
    """Return the error that a stream must end with, as grpcio's client reads it."""
    with grpc.insecure_channel(address) as channel:
        call: Any = channel.stream_stream(path)
        return refusal(lambda: list(call(iter(requests), timeout=PATIENCE)))


def test_a_request_that_cannot_be_parsed_ends_the_stream_as_at_grpcio_s_door(server: Running) -> None:
    requests = [PlayRequest(tag=1).SerializeToString(), b"\xff", PlayRequest(tag=2).SerializeToString()]
    found, expected = (refused(address, requests) for address in (fast_address(server), grpcio_address(server)))
    assert found == expected
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_REQUEST")
    assert found.domain == "chatiere"
    assert found.request_id


# Requests that are not calls


@pytest.mark.parametrize(
    "path",
    [
        "/chatiere.v1.BatchService/Cheat",
        "/chatiere.v1.GameService/listGames",
        "/chatiere.v1.GameService/ListGames/",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        "/grpc.channelz.v1.Channelz/GetServers",
        "/x",
    ],
)
def test_other_methods_are_unimplemented(peer: Peer, path: str) -> None:
    peer.send(*peer.call(path=path))
    assert peer.end()[0] is grpc.StatusCode.UNIMPLEMENTED
    peer.calls(3)


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"__method": "GET"}, "405"),
        ({"__method": "PUT"}, "405"),
        ({"content_type": "text/html"}, "415"),
        ({"content_type": "application/grpcx"}, "415"),
        ({"content_type": "application/grpc-web"}, "415"),
        ({"without": "content-type"}, "415"),
    ],
)
def test_http_requests_that_are_not_calls_get_405_or_415(
    peer: Peer, path: str, headers: dict[str, Any], status: str
) -> None:
    peer.send(peer.headers(path=path, **headers))
    end = peer.trailers()
    assert end[":status"] == status
    assert "grpc-status" not in end or end["grpc-status"] != "0"
    peer.calls(3)


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
@pytest.mark.parametrize("timeout", ["soon", "-1S", "123456789S", "S", "1", "1d"])
def test_a_wrong_timeout_is_refused(peer: Peer, path: str, timeout: str) -> None:
    peer.send(peer.headers(path=path, grpc_timeout=timeout))
    code, words = peer.end()
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "grpc-timeout" in words
    peer.calls(3)


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
@pytest.mark.parametrize("timeout", ["1n", "0H", "10m"])
def test_a_deadline_passes_while_the_client_is_silent(peer: Peer, path: str, timeout: str) -> None:
    peer.send(peer.headers(path=path, grpc_timeout=timeout))
    assert peer.end()[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    peer.calls(3)


def test_a_deadline_passes_between_messages_of_a_stream(peer: Peer) -> None:
    peer.send(peer.headers(grpc_timeout="1500m"), data(message(b"meow")))
    assert peer.answers(1) == [b"meow"]
    assert peer.end()[0] is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_deadline_passes_while_a_client_watches_the_server_s_health(peer: Peer) -> None:
    peer.send(*peer.call(path=WATCH, grpc_timeout="1500m"))
    assert HealthCheckResponse.FromString(peer.answers(1)[0]).status == HealthCheckResponse.SERVING
    assert peer.end()[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    peer.calls(3)


def test_the_deadline_of_a_batch_that_was_refused_for_memory_passes() -> None:
    game = engine.games()[0]
    table = BatchSetup(game=game.name, players=game.min_players)
    held = NewGamesRequest(setup=table, count=100_000 // game.packed_size).SerializeToString()
    refused = ConvertRequest(setup=table, states=bytes(100_000)).SerializeToString()
    with playing(max_undelivered_bytes=150_000) as server, Peer(server, setting(WINDOW, 0)) as peer, LogLines() as log:
        peer.send(*peer.call(1, NEW_GAMES, held))
        peer.skip_to(HEADERS)
        peer.send(*peer.call(3, CONVERT, refused, grpc_timeout="1500m"))
        code, words = peer.end(3)
        assert (code, "answers not yet taken" in words) == (grpc.StatusCode.RESOURCE_EXHAUSTED, True)
        # The deadline of this call is later.
        peer.send(peer.headers(5, path=CONVERT, grpc_timeout="1500m"))
        assert peer.end(5)[0] is grpc.StatusCode.DEADLINE_EXCEEDED
        peer.send(setting(WINDOW, 2**20), window(0, 2**20))
        assert peer.end(1) == OK
        assert not [line for line in log.lines if "Traceback" in line]


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/grpc+proto"},
        {"grpc_encoding": "identity"},
        {"grpc_encoding": "gzip"},
        {"grpc_timeout": "99999999H"},
        {"grpc_timeout": "10000000u"},
        {"x_other": "meow", "other_bin": "AAEC"},
        {"without": "te"},
        {"without": ":authority", "host": "localhost"},
    ],
)
def test_calls_begin_with_any_allowed_headers(peer: Peer, headers: dict[str, Any]) -> None:
    peer.send(peer.headers(**headers), data(message(b"meow"), END_STREAM))
    assert peer.answers(1) == [b"meow"]
    assert peer.end() == OK
    peer.send(*peer.call(3, **headers))
    assert peer.end(3) == OK
    assert ListGamesResponse.FromString(peer.messages[3][0]).games


def test_responses_have_the_headers_of_grpc(peer: Peer) -> None:
    peer.calls(1)
    peer.send(*peer.call(3))
    assert peer.end(3) == OK
    for stream in 1, 3:
        assert (peer.heads[stream][":status"], peer.heads[stream]["content-type"]) == ("200", "application/grpc")
        assert peer.ends[stream].keys() >= {"grpc-status", "x-request-id"}
        assert ":status" not in peer.ends[stream]


def test_a_call_refused_before_any_message_has_only_trailers(peer: Peer) -> None:
    peer.send(*peer.call(1, "/chatiere.v1.GameService/GetScore"), *peer.call(3, "/x"))
    for stream, code in (1, grpc.StatusCode.INVALID_ARGUMENT), (3, grpc.StatusCode.UNIMPLEMENTED):
        assert peer.end(stream)[0] is code
        assert stream not in peer.heads
        assert (peer.ends[stream][":status"], peer.ends[stream]["content-type"]) == ("200", "application/grpc")


# Messages


COMPRESSED = struct.pack(">BI", 1, 3) + b"zip"


def test_a_compressed_message_ends_its_stream_as_unimplemented(peer: Peer) -> None:
    peer.send(peer.headers(grpc_encoding="gzip"), data(message(b"first") + COMPRESSED), data(message(b"more")))
    assert peer.end()[0] is grpc.StatusCode.UNIMPLEMENTED
    assert peer.messages[1] == [b"first"]
    assert (peer.heads[1] | peer.ends[1])["grpc-accept-encoding"] == "identity"
    peer.calls(3)


@pytest.mark.parametrize("path", [LIST_GAMES, NEW_GAMES, CHECK, WATCH])
def test_a_compressed_request_is_unimplemented(echoing: Running, peer: Peer, path: str) -> None:
    peer.send(peer.headers(path=path, grpc_encoding="gzip"), data(COMPRESSED, END_STREAM))
    assert peer.end()[0] is grpc.StatusCode.UNIMPLEMENTED
    assert peer.ends[1]["grpc-accept-encoding"] == "identity"
    peer.calls(3)
    assert [in_flight(echoing, kind) for kind in ("unary", "server_stream")] == [0, 0]


def test_a_grpc_client_learns_that_compression_is_not_supported(server: Running) -> None:
    call: Any = server.channel.unary_unary(LIST_GAMES)
    found = refusal(call, bytes(10_000), compression=grpc.Compression.Gzip)
    assert found.code is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("flag", [2, 0xFF])
@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
def test_a_message_with_an_unknown_flag_is_refused(peer: Peer, path: str, flag: int) -> None:
    peer.send(peer.headers(path=path), data(struct.pack(">BI", flag, 3) + b"zip", END_STREAM))
    assert peer.end()[0] in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INTERNAL)
    peer.calls(3)


@pytest.mark.parametrize("part", [1, 4, 5, 7])
def test_an_incomplete_request_is_refused(peer: Peer, part: int) -> None:
    peer.send(peer.headers(path=LIST_GAMES), data(message(b"meow")[:part], END_STREAM))
    assert peer.end()[0] is grpc.StatusCode.INVALID_ARGUMENT
    peer.send(peer.headers(3), data(message(b"whole") + message(b"meow")[:part], END_STREAM, 3))
    assert peer.end(3)[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert peer.messages[3] == [b"whole"]
    peer.calls(5)


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
def test_a_message_that_is_too_long_is_refused(echo: None, path: str) -> None:
    with playing(max_message_bytes=1000) as server, Peer(server) as peer:
        peer.calls(1, bytes(1000))
        peer.send(peer.headers(3, path=path), data(message(bytes(1001))[:500], 0, 3))
        code, words = peer.end(3)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "1000" in words
        peer.calls(5, bytes(1000))
    with playing(max_message_bytes=1000) as server:
        found = refused(fast_address(server), [bytes(1001)], path)
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")


def test_data_after_a_message_that_is_too_long_takes_no_window_from_other_calls(echo: None) -> None:
    with playing(max_message_bytes=1000) as server, Peer(server) as peer:
        peer.ping()
        for stream in range(1, 1001, 2):
            peer.send(peer.headers(stream), data(message(bytes(2**16)), 0, stream))
            assert peer.end(stream)[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
            # If discarded data were not granted again, the connection's window would soon be used up.
            peer.ping()
        peer.calls(1001, bytes(1000))


# Simultaneous calls


def test_a_long_call_delays_no_other_call(slow: Slow) -> None:
    with playing() as server, Peer(server, *TAKES_ALL) as peer:
        peer.send(peer.headers(1), data(message(b"slow"), END_STREAM))
        slow.wait_for_request()
        for stream in range(3, 203, 2):
            peer.send(*peer.call(stream))
            assert peer.end(stream) == OK
        assert 1 not in peer.messages
        slow.released.release()
        assert peer.end(1) == OK
        assert peer.messages[1] == [b"slow"]


def test_a_thousand_streams_on_one_connection_are_answered(echo: None) -> None:
    numbers = range(1, 2001, 2)
    with playing() as server, Peer(server, *TAKES_ALL) as peer:
        for stream in numbers:
            peer.send(peer.headers(stream), data(message(b"%d" % stream), 0, stream))
        for stream in numbers:
            assert peer.answers(1, stream) == [b"%d" % stream]
        assert peer.settings[STREAMS] == 1000
        assert in_flight(server) == 1000
        for stream in numbers:
            peer.send(data(message(b"again"), END_STREAM, stream))
        for stream in numbers:
            assert peer.end(stream) == OK
            assert peer.messages[stream][1:] == [b"again"]
        assert (handled(server), in_flight(server)) == ({"OK": 1000}, 0)


def test_a_thousand_unary_calls_sent_together(server: Running) -> None:
    numbers = range(1, 2001, 2)
    with Peer(server, *TAKES_ALL) as peer:
        peer.pour(b"".join(map(bytes, peer.call(stream, x_request_id=f"cat-{stream}"))) for stream in numbers)
        for stream in numbers:
            assert peer.end(stream) == OK
            assert peer.ends[stream]["x-request-id"] == f"cat-{stream}"
            assert ListGamesResponse.FromString(peer.messages[stream][0]).games


def test_calls_of_one_connection_have_their_own_responses(server: Running) -> None:
    """The connection has streams of batches and unary calls. The responses of a stream are in order."""
    choices = np.random.default_rng(7)
    with Peer(server, *TAKES_ALL) as peer:
        streams = [1, 3, 5]
        for stream in streams:
            peer.send(peer.headers(stream))
        tags: dict[int, list[int]] = {stream: [] for stream in streams}
        for call in range(7, 407, 2):
            stream = int(choices.choice(streams))
            tags[stream].append(call)
            peer.send(data(message(PlayRequest(tag=call).SerializeToString()), 0, stream), *peer.call(call))
        for stream in streams:
            peer.send(data(b"", END_STREAM, stream))
            assert peer.end(stream) == OK
            assert [PlayResponse.FromString(each).tag for each in peer.messages[stream]] == tags[stream]
        for call in range(7, 407, 2):
            assert peer.end(call) == OK


# Limits, ids, metrics, log


def test_a_call_whose_request_arrives_as_its_slot_is_taken_is_answered() -> None:
    """A second call gets the only slot for incomplete requests just before the first call's request arrives."""
    game = engine.games()[0]
    request = NewGamesRequest(setup=BatchSetup(game=game.name, players=game.min_players), count=1).SerializeToString()
    labels = LABELS | {"grpc_type": "unary", "grpc_method": "NewGames"}
    with playing(max_calls=1) as server, Peer(server) as peer:
        peer.send(peer.headers(1, path=NEW_GAMES))
        peer.ping()
        peer.send(peer.headers(3, path=NEW_GAMES), data(message(request), END_STREAM, 1))
        assert peer.end(1) == OK
        peer.send(data(message(request), END_STREAM, 3))
        assert peer.end(3) == OK
        assert server.sample("grpc_server_handled_total", **labels, grpc_code="OK") == 2
        assert server.sample("grpc_server_handled_total", **labels, grpc_code="ResourceExhausted") == 0
        assert in_flight(server, "unary") == 0


def test_simultaneous_streams_of_one_client_are_limited(slow: Slow) -> None:
    with playing(max_calls_per_client=1) as server, Peer(server) as first, Peer(server) as second:
        first.send(first.headers(), data(message(b"meow"), END_STREAM))
        slow.wait_for_request()
        second.send(second.headers())
        code, words = second.end()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "calls of one client at a time (at most 1)" in words
        slow.released.release(2)
        assert first.end()[0] is grpc.StatusCode.OK
        # The slot is free again before the client sees the end of the call.
        second.calls(3)


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
def test_a_request_id_is_in_the_trailers_and_the_log(server: Running, path: str) -> None:
    content = b"" if path == LIST_GAMES else PlayRequest(tag=1).SerializeToString()
    with LogLines() as log, Peer(server, *TAKES_ALL) as peer:
        peer.send(*peer.call(1, path, content, x_request_id="cat-1"))
        assert peer.end() == OK
        assert peer.ends[1]["x-request-id"] == "cat-1"
        line = log.wait_for("request cat-1")
        assert f"{path[1:]} OK" in line
        assert f"from ipv4:127.0.0.1:{peer.socket.getsockname()[1]} " in line
        # An id that could forge parts of the line is replaced.
        peer.send(*peer.call(3, path, content, x_request_id="cat 1"))
        assert peer.end(3) == OK
        assert re.fullmatch("[0-9a-f]{16}", peer.ends[3]["x-request-id"])


def test_streams_and_batches_are_counted() -> None:
    game = engine.games()[0]
    request = PlayRequest(
        new_games=NewGamesRequest(setup=BatchSetup(game=game.name, players=game.min_players), count=5)
    )
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(request.SerializeToString())))
        peer.answers(1)
        assert in_flight(server) == 1
        peer.send(data(b"", END_STREAM))
        assert peer.end() == OK
        assert (handled(server), in_flight(server)) == ({"OK": 1}, 0)
        assert server.sample("chatiere_batch_items_sum", game=game.name, method="NewGames") == 5
        peer.send(peer.headers(3), data(message(b"\xff"), 0, 3))
        assert peer.end(3)[0] is grpc.StatusCode.INVALID_ARGUMENT
        peer.send(peer.headers(5), reset(5))
        peer.send(peer.headers(7))
        wait_until(lambda: server.sample("grpc_server_started_total", **LABELS) >= 3, "the call has begun")
        peer.send(reset(7))
        peer.ping()
        wait_until(lambda: not in_flight(server), "the call is over")
        counts = handled(server)
        assert counts.pop("Canceled", 0) == server.sample("grpc_server_started_total", **LABELS) - 2
        assert counts == {"OK": 1, "InvalidArgument": 1}


def test_a_unary_call_that_is_reset_counts_as_cancelled() -> None:
    labels = {"grpc_type": "unary", "grpc_service": "chatiere.v1.GameService", "grpc_method": "ListGames"}
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(path=LIST_GAMES))
        wait_until(lambda: server.sample("grpc_server_started_total", **labels) == 1, "the call has begun")
        peer.send(reset(1))
        wait_until(
            lambda: server.sample("grpc_server_handled_total", **labels, grpc_code="Canceled") == 1, "the call is over"
        )
        assert in_flight(server, "unary") == 0


def test_calls_of_unknown_methods_are_counted_as_unknown() -> None:
    unknown = dict.fromkeys(LABELS, "unknown")
    with playing() as server, Peer(server) as peer:
        peer.send(*peer.call(path="/other"))
        assert peer.end()[0] is grpc.StatusCode.UNIMPLEMENTED
        assert server.sample("grpc_server_handled_total", **unknown, grpc_code="Unimplemented") == 1


def test_streams_are_answered_with_traces_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with playing(traces=True) as server:
        with Peer(server) as peer:
            peer.send(*peer.call(1, PLAY, PlayRequest(tag=7).SerializeToString()))
            assert PlayResponse.FromString(peer.answers(1)[0]).tag == 7
            assert peer.end() == OK
        assert refused(fast_address(server), [b"\xff"]).reason == "MALFORMED_REQUEST"
