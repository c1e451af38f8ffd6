"""The protocols at the door for browsers, by the cases of Connect's own conformance suites.

Their runner is a program in Go; these are its cases for unary methods of a server, each under its name there
(github.com/connectrpc/conformance, internal/app/connectconformance/testsuites/data, at 3f01b2e).
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

from chatiere.service.base.errors import Status
from chatiere.service.base.settings import Settings
from chatiere.service.guards import chain
from chatiere.v1 import bot_service_pb2, game_pb2
from chatiere.v1 import game_service_pb2 as pb

from ..support import Running, running
from .client import CODECS, COMPRESSED, GAME_SERVICE, PROTOCOLS, Codec, Protocol, WebClient, envelope

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
each_codec = pytest.mark.parametrize("codec", CODECS)
HTTP = {
    "canceled": 499,
    "unknown": 500,
    "invalid_argument": 400,
    "deadline_exceeded": 504,
    "not_found": 404,
    "already_exists": 409,
    "permission_denied": 403,
    "resource_exhausted": 429,
    "failed_precondition": 400,
    "aborted": 409,
    "out_of_range": 400,
    "unimplemented": 501,
    "internal": 500,
    "unavailable": 503,
    "data_loss": 500,
    "unauthenticated": 401,
}


@contextmanager
def limited_to(size: int) -> Iterator[WebClient]:
    """Run a server for requests of at most so many bytes."""
    settings = Settings(address="127.0.0.1:0", max_message_bytes=size)
    with running(settings, "web") as server, WebClient(server.address) as web:
        yield web


# basic.yaml


@each_protocol
@each_codec
@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
def test_success(web: WebClient, protocol: Protocol, codec: Codec, compress: bool) -> None:
    answer = web.new_game(protocol=protocol, codec=codec, compress=compress)
    assert answer.message.position.state.discat.seats
    assert answer.http.headers["x-request-id"]


@each_protocol
def test_unimplemented(web: WebClient, protocol: Protocol) -> None:
    """Connect's clients make UNIMPLEMENTED of 404, as gRPC's do."""
    path = "/chatiere.v1.GameService/Unimplemented"
    answer = web.call(path, pb.GetScoreRequest(), pb.GetScoreResponse, protocol=protocol)
    assert answer.http.status_code == 404


# errors.yaml


@each_protocol
@pytest.mark.parametrize("code", HTTP)
def test_errors(web: WebClient, monkeypatch: pytest.MonkeyPatch, protocol: Protocol, code: str) -> None:
    number = code_pb2.Code.Value(code.upper().replace("CANCELED", "CANCELLED"))
    packed = any_pb2.Any()
    packed.Pack(error_details_pb2.RequestInfo(request_id="of a detail"))
    text = "unicode: ¡héllo 🐈\t\n%"
    status = status_pb2.Status(code=number, message=text, details=[packed]).SerializeToString()
    monkeypatch.setattr(chain, "status_of", lambda *_: Status(number, "", text, status))
    answer = web.call("GetScore", pb.GetScoreRequest(), pb.GetScoreResponse, protocol=protocol)
    assert (answer.code, answer.text) == (code, text)
    assert answer.details == {"google.rpc.RequestInfo": packed.value}
    assert answer.http.status_code == (HTTP[code] if protocol == "connect" else 200)


# timeouts.yaml, deadline_propagation.yaml


@each_protocol
@each_codec
def test_timeouts(web: WebClient, protocol: Protocol, codec: Codec) -> None:
    state = web.new_game().message.position.state
    header, value = ("connect-timeout-ms", "100") if protocol == "connect" else ("grpc-timeout", "100m")
    request = bot_service_pb2.SuggestRequest(state=state, bot="ismcts:simulations=900000")
    answer = web.call(
        "/chatiere.v1.BotService/Suggest",
        request,
        bot_service_pb2.SuggestResponse,
        protocol=protocol,
        codec=codec,
        headers={header: value},
    )
    assert answer.code == "deadline_exceeded"
    info = error_details_pb2.ErrorInfo.FromString(answer.details["google.rpc.ErrorInfo"])
    assert info.reason == "TIME_LIMIT"


def test_a_deadline_that_has_passed(web: WebClient) -> None:
    assert web.new_game(headers={"connect-timeout-ms": "0"}).code == "deadline_exceeded"


@pytest.mark.parametrize(
    ("protocol", "header", "value"),
    [
        ("connect", "connect-timeout-ms", "soon"),
        ("connect", "connect-timeout-ms", "-1"),
        ("connect", "connect-timeout-ms", "12345678901"),
        ("connect", "connect-protocol-version", "2"),
        ("grpc-web", "grpc-timeout", "1"),
        ("grpc-web", "grpc-timeout", "1x"),
        ("grpc-web", "grpc-timeout", "123456789S"),
    ],
)
def test_headers_that_are_wrong(server: Running, web: WebClient, protocol: Protocol, header: str, value: str) -> None:
    labels = {"grpc_type": "unary", "grpc_service": "chatiere.v1.GameService", "grpc_method": "NewGame"}
    before = server.sample("grpc_server_handled_total", grpc_code="InvalidArgument", **labels)
    data = pb.NewGameRequest(game="discat", players=2).SerializeToString()
    content_type = "application/proto" if protocol == "connect" else "application/grpc-web"
    answer = web.http.post(
        GAME_SERVICE + "NewGame",
        content=data if protocol == "connect" else envelope(data),
        headers={header: value, "content-type": content_type},
    )
    if protocol == "connect":
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_argument")
    else:
        assert answer.headers["grpc-status"] == "3"
    assert server.sample("grpc_server_handled_total", grpc_code="InvalidArgument", **labels) == before + 1


# connect_with_get.yaml


@each_codec
def test_get(web: WebClient, codec: Codec) -> None:
    request = pb.ListGamesRequest(games=["discat"])
    answer = web.get("ListGames", request, pb.ListGamesResponse, codec=codec)
    assert [game.name for game in answer.message.games] == ["discat"]


@pytest.mark.parametrize(
    "query",
    ["", "encoding=proto", "message=%7B%7D", "encoding=json&message=%7B"],
)
def test_get_that_is_wrong(web: WebClient, query: str) -> None:
    answer = web.http.get(f"{GAME_SERVICE}ListGames?{query}")
    if answer.status_code == 400:
        assert answer.json()["code"] == "invalid_argument"
    else:
        assert answer.status_code == 415


def test_get_of_a_method_with_side_effects(web: WebClient) -> None:
    answer = web.http.get(f"{GAME_SERVICE}NewGame?encoding=json&message=%7B%7D")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


# server_empty.yaml


@each_protocol
@each_codec
def test_empty_request(web: WebClient, protocol: Protocol, codec: Codec) -> None:
    answer = web.call("ListGames", pb.ListGamesRequest(), pb.ListGamesResponse, protocol=protocol, codec=codec)
    assert len(answer.message.games) == 5


def test_an_empty_body_is_an_empty_message(web: WebClient) -> None:
    for codec in CODECS:
        response = web.http.post(GAME_SERVICE + "ListGames", headers={"content-type": f"application/{codec}"})
        assert response.status_code == 200


# server_message_size.yaml


@each_protocol
@each_codec
def test_request_size(protocol: Protocol, codec: Codec) -> None:
    request = pb.NewGameRequest(game="discat", players=2)
    written = {"proto": request.SerializeToString(), "json": b'{\n  "game": "discat",\n  "players": 2\n}'}[codec]
    for extra, code in ((0, ""), (1, "resource_exhausted")):
        with limited_to(len(written) - extra) as web:
            answer = web.new_game(protocol=protocol, codec=codec)
            assert answer.code == code
            if code:
                info = error_details_pb2.ErrorInfo.FromString(answer.details["google.rpc.ErrorInfo"])
                assert info.reason == "LIMIT_EXCEEDED"


@each_protocol
def test_a_compressed_request_that_grows_too_large(web: WebClient, protocol: Protocol) -> None:
    request = pb.NewGameRequest(game="x" * (2 << 20))
    assert (
        web.call("NewGame", request, pb.NewGameResponse, protocol=protocol, compress=True).code == "resource_exhausted"
    )


# server_unexpected.yaml, connect_server_unexpected.yaml, grpc_web_server_unexpected.yaml


@pytest.mark.parametrize(
    "content_type",
    [
        "image/jpeg",
        "application/foo",
        "application/grpc-web+foo",
        "application/grpc",
        "application/grpc+proto",
        "application/grpc-web-text",
        "application/connect+proto",
        "",
    ],
)
def test_unexpected_content_type(web: WebClient, content_type: str) -> None:
    answer = web.http.post(GAME_SERVICE + "NewGame", content=b"12345678", headers={"content-type": content_type})
    assert answer.status_code == 415
    assert "application/proto" in answer.headers["accept-post"]


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", "application/grpc-web"]
)
def test_content_types_may_have_parameters_and_capitals(web: WebClient, content_type: str) -> None:
    data = envelope(b"") if "grpc" in content_type else b"{}"
    answer = web.http.post(GAME_SERVICE + "ListGames", content=data, headers={"content-type": content_type})
    assert answer.status_code == 200


@pytest.mark.parametrize("verb", ["DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("kind", ["application/proto", "application/grpc-web"])
def test_unexpected_verb(web: WebClient, verb: str, kind: str) -> None:
    answer = web.http.request(verb, GAME_SERVICE + "NewGame", headers={"content-type": kind})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("kind", ["application/proto", "application/grpc-web"])
@pytest.mark.parametrize("path", ["/chatiere.v1.UnknownService/UnknownMethod", "/", "/chatiere.v1.BatchService/Play"])
def test_unexpected_uri(web: WebClient, kind: str, path: str) -> None:
    assert web.http.post(path, content=b"", headers={"content-type": kind}).status_code == 404


def posted(web: WebClient, body: bytes, **headers: str) -> Any:
    """Return the answer to a body of gRPC-Web."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent.setdefault("content-type", "application/grpc-web+proto")
    return web.answer(
        web.http.post(GAME_SERVICE + "ListGames", content=body, headers=sent), pb.ListGamesResponse, "grpc-web", "proto"
    )


def test_unexpected_compression(web: WebClient) -> None:
    answer = web.http.post(
        GAME_SERVICE + "ListGames",
        content=b"1",
        headers={"content-type": "application/proto", "content-encoding": "foo"},
    )
    assert (answer.status_code, answer.json()["code"]) == (501, "unimplemented")
    assert posted(web, envelope(b"1", COMPRESSED), grpc_encoding="foo").code == "unimplemented"


def test_unexpected_compressed_message(web: WebClient) -> None:
    # Connect's conformance suite wants "internal", which counts as the service's own fault, and raises alarms.
    assert posted(web, envelope(b"1", COMPRESSED), grpc_encoding="identity").code == "unimplemented"


@pytest.mark.parametrize("body", [b"no gzip", zlib.compress(b""), b""])
def test_a_compressed_message_that_is_none(web: WebClient, body: bytes) -> None:
    answer = posted(web, envelope(body, COMPRESSED), grpc_encoding="gzip")
    assert answer.code == ("" if not body else "invalid_argument")


def test_no_request(web: WebClient) -> None:
    assert posted(web, b"").code == "unimplemented"


def test_multiple_requests(web: WebClient) -> None:
    assert posted(web, envelope(b"") + envelope(b"")).code == "unimplemented"


@pytest.mark.parametrize("body", [b"\0\0", b"\0\0\0\0\5abc", b"\2\0\0\0\0", b"\x80\0\0\0\0"])
def test_envelopes_that_are_wrong(web: WebClient, body: bytes) -> None:
    answer = posted(web, body)
    assert answer.code == "invalid_argument"
    info = error_details_pb2.ErrorInfo.FromString(answer.details["google.rpc.ErrorInfo"])
    assert info.reason == "MALFORMED_REQUEST"


# grpc_web_server_proto_subformat.yaml


@pytest.mark.parametrize("kind", ["application/grpc-web", "application/grpc-web+proto"])
def test_proto_subformat(web: WebClient, kind: str) -> None:
    assert len(posted(web, envelope(b""), content_type=kind).message.games) == 5


def test_responses_have_a_length_and_say_whether_they_are_compressed(web: WebClient) -> None:
    for accepted, encoding in (("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("gzip;q=0", None), ("identity", None)):
        sent = {"accept-encoding": accepted}
        small = web.new_game(headers=sent).http
        large = web.call("ListGames", pb.ListGamesRequest(), pb.ListGamesResponse, headers=sent).http
        assert "content-encoding" not in small.headers
        assert large.headers.get("content-encoding") == encoding
        assert small.headers["vary"] == large.headers["vary"] == "accept-encoding, accept-language"
        assert "content-length" in large.headers


def test_include_is_read_alike(web: WebClient) -> None:
    """A whole game, in each form of each protocol, is the same game."""
    request = pb.NewGameRequest(
        game="momistigri", players=3, seed=7, include=game_pb2.Include(legal_actions=True, viewers=[])
    )
    found = [
        web.call("NewGame", request, pb.NewGameResponse, protocol=protocol, codec=codec).message
        for protocol in PROTOCOLS
        for codec in CODECS
    ]
    assert all(each == found[0] for each in found)
