"""Calls on the port for streams: the answers of gRPC's port, and what stands around calls."""

import re
import struct
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from played_frames import (
    END_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    data,
    message,
    reset,
)

from chatiere import engine
from chatiere.clients import BatchClient, ChatiereError, SocketStream, TransportError
from chatiere.clients.calls import batch_requests
from chatiere.engine import Game
from chatiere.service.calls import batch_service
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.guards.tokens import new_token
from chatiere.v1.batch_service_pb2 import (
    Columns,
    NewGamesRequest,
    ObserveRequest,
    PlayoutRequest,
    PlayRequest,
    PlayResponse,
    Restart,
    ScoreRequest,
    StepRequest,
    Table,
)

from ..process import wait_until
from ..support import PATIENCE, LogLines, Running, read_refusal
from .peer import (
    AHEAD,
    ENHANCE_YOUR_CALM,
    LABELS,
    PLAY,
    Peer,
    Slow,
    everything_is_answered,
    handled,
    in_flight,
    fast_address,
    playing,
)

# The same answers as gRPC's port


def all_kinds(game: Game) -> list[bytes]:
    """Requests of all kinds, and some that are refused."""
    table = Table(game=game.name, players=game.min_players)
    position = game.new_game(game.min_players, seed=3)
    states = [position.pack()]
    for _ in range(5):
        position.apply(position.legal_actions()[0])
        states.append(position.pack())
    packed, columns = b"".join(states), Columns(legal=True, scores=True, observations=True)
    count = len(states)
    seats, zeros = bytes(count), bytes(2 * count)
    requests = [
        PlayRequest(new_games=NewGamesRequest(table=table, count=3, columns=columns)),
        PlayRequest(new_games=NewGamesRequest(table=table, seeds=struct.pack("<3Q", 1, 2, 3), columns=columns)),
        PlayRequest(step=StepRequest(table=table, states=packed, moves=zeros, columns=columns)),
        PlayRequest(playout=PlayoutRequest(table=table, states=packed, count=3, seed=5)),
        PlayRequest(score=ScoreRequest(table=table, states=packed)),
        PlayRequest(observe=ObserveRequest(table=table, states=packed, seats=seats)),
        PlayRequest(),
        PlayRequest(score=ScoreRequest(table=Table(game="tarock"), states=packed)),
        PlayRequest(score=ScoreRequest(table=table, states=packed[:-1])),
        PlayRequest(new_games=NewGamesRequest(table=table, count=2**31)),
    ]
    for tag, request in enumerate(requests):
        request.tag = tag
    return [request.SerializeToString() for request in requests]


def over_channel(address: str, requests: list[bytes]) -> list[bytes]:
    with grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)]) as channel:
        return list(channel.stream_stream(PLAY)(iter(requests), timeout=PATIENCE))


def test_every_answer_is_that_of_grpc_s_port(server: Running, game: Game) -> None:
    requests = all_kinds(game)
    expected = over_channel(server.address, requests)
    assert [PlayResponse.FromString(each).HasField("refusal") for each in expected] == [False] * 6 + [True] * 4
    assert over_channel(fast_address(server), requests) == expected
    with Peer(server) as peer:
        peer.send(peer.headers(), *[data(message(request)) for request in requests], data(b"", END_STREAM))
        assert peer.answers(len(requests)) == expected
        assert peer.end() == (grpc.StatusCode.OK, "")


def test_both_clients_have_the_same_answers_at_both_ports(server: Running, game: Game) -> None:
    table, columns = Table(game=game.name, players=game.max_players), Columns(legal=True, observations=True)

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
            )
        ]
        with pytest.raises(ChatiereError) as refused:
            stream.submit(batch_requests.new_games(Table(game="tarock"), [1])).result(PATIENCE)
        return [repr(future.result(PATIENCE)) for future in futures] + [repr(vars(refused.value))]

    found = []
    for address in server.address, fast_address(server):
        with BatchClient(address) as client, client.stream() as over_grpc:
            found.append(answers(over_grpc))
        with SocketStream(address) as over_socket:
            found.append(answers(over_socket))
    assert found[0] == found[1] == found[2] == found[3]


def test_states_of_usual_batches_are_overwritten_where_they_came(
    server: Running, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2**14 // game.packed_size + 1
    table, restart = Table(game=game.name, players=game.min_players), Restart(stride=count)
    columns = Columns(legal=True, scores=True, observations=True)
    kept, put_positions = [], batch_service._put_positions
    monkeypatch.setattr(
        batch_service, "_put_positions", lambda positions: kept.append(positions) or put_positions(positions)
    )
    with BatchClient(server.address) as client, SocketStream(fast_address(server)) as stream:
        positions = client.new_games(table, range(count), columns=columns)
        for _ in range(60):
            moves = positions.legal_ids[positions.legal_offsets[:-1]]
            # An item that fails.
            moves[1] = 0xFFFF
            expected = client.step(table, positions.states, moves, columns=columns, restart=restart)
            call = batch_requests.step(table, positions.states, moves, columns=columns, restart=restart)
            answer = stream.submit(call).result(PATIENCE)
            assert [type(each.states) for each in kept[-2:]] == [bytes, memoryview]
            assert repr(answer) == repr(expected)
            positions = answer.positions
            assert answer.positions.states.tobytes() == expected.positions.states.tobytes()


def refused(address: str, requests: list[bytes], path: str = PLAY, **options: Any) -> Any:
    """Return the error that a call must end with, as grpcio's client reads it."""
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as raised:
        list(channel.stream_stream(path)(iter(requests), **({"timeout": PATIENCE} | options)))
    return read_refusal(raised.value)


def test_a_request_that_cannot_be_parsed_ends_the_stream_as_at_grpc_s_port(server: Running) -> None:
    requests = [PlayRequest(tag=1).SerializeToString(), b"\xff", PlayRequest(tag=2).SerializeToString()]
    found, expected = (refused(address, requests) for address in (fast_address(server), server.address))
    assert found == expected
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_REQUEST")
    assert found.domain == "chatiere.v1"
    assert found.request_id


def test_a_failure_of_the_service_is_logged_and_ends_the_stream(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BatchService, "play", None)
    with LogLines() as log:
        found = refused(fast_address(server), [b""])
    assert (found.code, found.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert [line for line in log.lines if f"incident {found.metadata['incident']} of request" in line]


# What is no call of Play


@pytest.mark.parametrize("path", ["/chatiere.v1.BatchService/Step", "/chatiere.v1.GameService/ListGames", "/x", ""])
def test_other_methods_are_unimplemented(peer: Peer, echo: None, path: str) -> None:
    peer.send(peer.headers(__path=path), data(message(b"")))
    code, words = peer.end()
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "streams of batches alone" in words
    peer.calls(3)


@pytest.mark.parametrize(
    ("headers", "code", "words"),
    [
        ({"__method": "GET"}, grpc.StatusCode.UNIMPLEMENTED, ":method must be POST, not 'GET'"),
        ({"content_type": "text/html"}, grpc.StatusCode.UNIMPLEMENTED, "content-type must be application/grpc, not"),
        ({"content_type": "application/grpcx"}, grpc.StatusCode.UNIMPLEMENTED, "content-type must be application/grpc"),
        ({"grpc_encoding": "gzip"}, grpc.StatusCode.UNIMPLEMENTED, "grpc-encoding must be identity, not 'gzip'"),
        ({"grpc_timeout": "soon"}, grpc.StatusCode.INTERNAL, "invalid grpc-timeout: 'soon'"),
        ({"grpc_timeout": "-1S"}, grpc.StatusCode.INTERNAL, "invalid grpc-timeout"),
        ({"grpc_timeout": "123456789S"}, grpc.StatusCode.INTERNAL, "invalid grpc-timeout"),
        ({"grpc_timeout": "1n"}, grpc.StatusCode.DEADLINE_EXCEEDED, "deadline exceeded"),
        ({"grpc_timeout": "0H"}, grpc.StatusCode.DEADLINE_EXCEEDED, "deadline exceeded"),
    ],
)
def test_headers_that_begin_no_call(
    peer: Peer, echo: None, headers: dict[str, str], code: grpc.StatusCode, words: str
) -> None:
    peer.send(peer.headers(**headers))
    found, said = peer.end()
    assert found is code
    assert words in said
    peer.calls(3)


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/grpc+proto"},
        {"grpc_encoding": "identity"},
        {"without": "content-type"},
        {"grpc_timeout": "99999999H"},
        {"grpc_timeout": "1000000u"},
        {"x_other": "meow", "other_bin": "AAEC"},
    ],
)
def test_headers_that_begin_one(peer: Peer, echo: None, headers: dict[str, str]) -> None:
    peer.send(peer.headers(**headers), data(message(b"meow")))
    assert peer.answers(1) == [b"meow"]


def test_a_deadline_passes_while_the_client_says_nothing(server: Running) -> None:
    with grpc.insecure_channel(fast_address(server)) as channel:
        # grpcio's client ends such a call itself: what the service says is read below.
        call = channel.stream_stream(PLAY)(iter(threading.Event().wait, None), timeout=0.05)
        with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
            next(call)
    with Peer(server) as peer:
        peer.send(peer.headers(grpc_timeout="10m"))
        assert peer.end()[0] is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_compressed_message(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(), data(message(b"first") + struct.pack(">BI", 1, 3) + b"zip"), data(message(b"more")))
    code, words = peer.end()
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "a message of 3 bytes is compressed, which nobody asked for" in words
    assert peer.messages[1] == [b"first"]
    peer.calls(3)


# Tokens, limits, ids, metrics, log


def test_tokens(tmp_path: Path) -> None:
    token, line = new_token("alice")
    path = tmp_path / "tokens"
    path.write_text(f"{line}\n")
    table = Table(game="discat", players=2)
    with playing(tokens=path) as server, LogLines() as log:
        for metadata in (), (("authorization", "Bearer wrong"),):
            found = refused(fast_address(server), [b""], metadata=metadata)
            assert (found.code, found.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        with (
            SocketStream(fast_address(server)) as stream,
            pytest.raises(ChatiereError, match="UNAUTHENTICATED: token required"),
        ):
            stream.submit(batch_requests.new_games(table, [1])).result(PATIENCE)
        with SocketStream(fast_address(server), token=token) as stream:
            assert len(stream.submit(batch_requests.new_games(table, [1])).result(PATIENCE).states) == 1
        assert log.wait_for("client alice")


def test_calls_of_one_client_at_a_time(slow: Slow) -> None:
    with playing(max_calls_per_client=1) as server, Peer(server) as first, Peer(server) as second:
        first.send(first.headers(), data(message(b"meow"), END_STREAM))
        slow.wait_for_request()
        second.send(second.headers())
        code, words = second.end()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "calls of one client at a time (at most 1)" in words
        slow.released.release(2)
        assert first.end()[0] is grpc.StatusCode.OK
        # The end is told after the call is over.
        second.calls(3)


def test_connections_above_the_limit_are_refused_with_a_reason(echo: None) -> None:
    with playing(max_streams=2) as server, Peer(server) as first:
        with Peer(server) as second:
            first.calls(1)
            second.calls(1)
            with Peer(server, greets=False) as third:
                assert third.goodbye() == (ENHANCE_YOUR_CALM, "2 streams are open, which is the most")
            with (
                SocketStream(fast_address(server)) as stream,
                pytest.raises(TransportError, match=r"UNAVAILABLE: .* 2 streams are open, which is the most"),
            ):
                stream.submit(batch_requests.new_games(Table(game="discat", players=2), [1])).result(PATIENCE)

        def there_is_room() -> bool:
            with Peer(server, greets=False) as peer:
                return peer.frame().kind == SETTINGS and peer.frame().kind == WINDOW_UPDATE

        wait_until(there_is_room, "there is room again")
        first.calls(3)


def test_a_message_that_is_too_long(echo: None) -> None:
    with playing(max_message_bytes=1000) as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(bytes(1000))))
        assert peer.answers(1) == [bytes(1000)]
        # What is passed over is given back to the window, too.
        rest = b"".join(bytes(data(bytes(2**16))) for _ in range(3 * AHEAD // 2**16))
        sender = threading.Thread(target=peer.send, args=(data(message(bytes(1001))), rest))
        sender.start()
        code, words = peer.end()
        sender.join(PATIENCE)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "a message of 1001 bytes is longer than 1000" in words
        peer.calls(3, bytes(1000))
    with playing(max_message_bytes=1000) as server:
        found = refused(fast_address(server), [bytes(1001)])
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")


def test_request_ids_and_log_lines(server: Running, echo: None) -> None:
    with LogLines() as log, Peer(server) as peer:
        peer.send(peer.headers(x_request_id="cat-1"), data(message(b""), END_STREAM))
        assert peer.end()[0] is grpc.StatusCode.OK
        assert peer.ends[1]["x-request-id"] == "cat-1"
        line = log.wait_for("request cat-1")
        assert "chatiere.v1.BatchService/Play OK" in line
        assert f"from ipv4:127.0.0.1:{peer.socket.getsockname()[1]} " in line
        # One that could forge a line gets another.
        peer.send(peer.headers(3, x_request_id="cat\r\n1"), data(b"", END_STREAM, 3))
        assert peer.end(3)[0] is grpc.StatusCode.OK
        assert re.fullmatch("[0-9a-f]{16}", peer.ends[3]["x-request-id"])


def test_calls_and_batches_are_counted() -> None:
    game = engine.games()[0]
    request = PlayRequest(new_games=NewGamesRequest(table=Table(game=game.name, players=game.min_players), count=5))
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(request.SerializeToString())))
        peer.answers(1)
        assert in_flight(server) == 1
        peer.send(data(b"", END_STREAM))
        assert peer.end()[0] is grpc.StatusCode.OK
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
        assert counts.pop("Canceled") == server.sample("grpc_server_started_total", **LABELS) - 2
        assert counts == {"OK": 1, "InvalidArgument": 1}
        peer.send(peer.headers(9, __path="/other"))
        assert peer.end(9)[0] is grpc.StatusCode.UNIMPLEMENTED
        unknown = dict.fromkeys(LABELS, "unknown")
        assert server.sample("grpc_server_handled_total", **unknown, grpc_code="Unimplemented") == 1


def test_traces_stand_around_the_calls_of_this_port_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.instrumentation.grpc")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with playing(traces=True) as server:
        everything_is_answered(server)
        assert refused(fast_address(server), [b"\xff"]).reason == "MALFORMED_REQUEST"
