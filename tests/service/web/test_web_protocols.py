"""Unary calls at the web door: cases that are not in Connect's conformance suite (../conformance)."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from google.rpc import error_details_pb2
from tools.over import over

from chatiere.service.base.settings import Settings
from chatiere.v1 import game_pb2
from chatiere.v1 import game_service_pb2 as pb

from ..support import Running, running
from .client import CODECS, COMPRESSED, GAME_SERVICE, PROTOCOLS, Codec, Protocol, WebClient, envelope

each_protocol = over("protocol", PROTOCOLS)
each_codec = over("codec", CODECS)


@contextmanager
def limited_to(size: int) -> Iterator[WebClient]:
    """Run a server for requests of at most `size` bytes."""
    settings = Settings(address="127.0.0.1:0", max_message_bytes=size)
    with running(settings, "web") as server, WebClient(server.address) as web:
        yield web


# Headers


def test_an_expired_deadline_ends_the_call(web: WebClient) -> None:
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
def test_wrong_headers_are_refused_and_counted(
    server: Running, web: WebClient, protocol: Protocol, header: str, value: str
) -> None:
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
        message = answer.json()["message"]
        assert message == f"{header} must be {'1' if value == '2' else 'a number of at most 10 digits'}"
    else:
        assert answer.headers["grpc-status"] == "3"
    assert server.sample("grpc_server_handled_total", grpc_code="InvalidArgument", **labels) == before + 1


# GET


@pytest.mark.parametrize(
    "query",
    ["", "encoding=proto", "message=%7B%7D", "encoding=json&message=%7B"],
)
def test_a_wrong_get_is_refused(web: WebClient, query: str) -> None:
    answer = web.http.get(f"{GAME_SERVICE}ListGames?{query}")
    if answer.status_code == 400:
        assert answer.json()["code"] == "invalid_argument"
    else:
        assert (answer.status_code, answer.json()["code"]) == (415, "unknown")
        query = answer.json()["message"].partition("?")[2]
        assert web.http.get(f"{GAME_SERVICE}ListGames?{query}").status_code == 200


def test_methods_with_side_effects_are_not_called_by_get(web: WebClient) -> None:
    answer = web.http.get(f"{GAME_SERVICE}NewGame?encoding=json&message=%7B%7D")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_an_empty_body_is_an_empty_message(web: WebClient) -> None:
    for codec in CODECS:
        response = web.http.post(GAME_SERVICE + "ListGames", headers={"content-type": f"application/{codec}"})
        assert response.status_code == 200


# Sizes


@each_protocol
@each_codec
def test_requests_may_have_the_maximum_size_and_no_more(protocol: Protocol, codec: Codec) -> None:
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
def test_a_compressed_request_that_expands_too_far_is_refused(web: WebClient, protocol: Protocol) -> None:
    request = pb.NewGameRequest(game="x" * (2 << 20))
    assert (
        web.call("NewGame", request, pb.NewGameResponse, protocol=protocol, compress=True).code == "resource_exhausted"
    )


# Wrong requests


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
def test_other_content_types_are_refused_with_the_accepted_ones(web: WebClient, content_type: str) -> None:
    answer = web.http.post(GAME_SERVICE + "NewGame", content=b"12345678", headers={"content-type": content_type})
    assert (answer.status_code, answer.json()["code"]) == (415, "unknown")
    assert answer.json()["message"] == f"the content-type must be one of {answer.headers['accept-post']}"
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
def test_other_verbs_are_not_allowed(web: WebClient, verb: str, kind: str) -> None:
    answer = web.http.request(verb, GAME_SERVICE + "NewGame", headers={"content-type": kind})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert verb == "HEAD" or answer.json()["message"].endswith(f"by {verb}: use POST")


@pytest.mark.parametrize("kind", ["application/proto", "application/grpc-web"])
@pytest.mark.parametrize("path", ["/chatiere.v1.GameService/Unknown", "/", "/chatiere.v1.BatchService/Play"])
def test_other_paths_are_not_found_and_logged_with_the_client(
    web: WebClient, kind: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = web.http.post(path, content=b"", headers={"content-type": kind, "x-request-id": "cat-7"})
    assert "from ipv4:127.0.0.1:" in caplog.text
    assert "request cat-7" in caplog.text
    assert (answer.status_code, answer.json()["code"]) == (404, "unimplemented")
    assert "POST /<service>/<method>" in answer.json()["message"]


def posted(web: WebClient, body: bytes, **headers: str) -> Any:
    """Send a body as gRPC-Web. Return the response."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent.setdefault("content-type", "application/grpc-web+proto")
    return web.answer(
        web.http.post(GAME_SERVICE + "ListGames", content=body, headers=sent), pb.ListGamesResponse, "grpc-web", "proto"
    )


@pytest.mark.parametrize("body", [b"no gzip", zlib.compress(b""), b""])
def test_a_body_that_is_not_compressed_as_declared_is_refused(web: WebClient, body: bytes) -> None:
    answer = posted(web, envelope(body, COMPRESSED), grpc_encoding="gzip")
    assert answer.code == ("" if not body else "invalid_argument")


@pytest.mark.parametrize("body", [b"\0\0", b"\0\0\0\0\5abc", b"\2\0\0\0\0", b"\x80\0\0\0\0"])
def test_wrong_envelopes_are_refused(web: WebClient, body: bytes) -> None:
    answer = posted(web, body)
    assert answer.code == "invalid_argument"
    info = error_details_pb2.ErrorInfo.FromString(answer.details["google.rpc.ErrorInfo"])
    assert info.reason == "MALFORMED_REQUEST"


def test_responses_declare_their_length_and_compression(web: WebClient) -> None:
    for accepted, encoding in (("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("gzip;q=0", None), ("identity", None)):
        sent = {"accept-encoding": accepted}
        small = web.new_game(headers=sent).http
        large = web.call("ListGames", pb.ListGamesRequest(), pb.ListGamesResponse, headers=sent).http
        assert "content-encoding" not in small.headers
        assert large.headers.get("content-encoding") == encoding
        assert small.headers["vary"] == large.headers["vary"] == "accept-encoding, accept-language"
        assert "content-length" in large.headers


def test_a_game_is_the_same_in_every_form(web: WebClient) -> None:
    """A whole game has the same states in each form of each protocol."""
    request = pb.NewGameRequest(
        game="momistigri", players=3, seed=7, include=game_pb2.Include(legal_actions=True, viewers=[])
    )
    found = [
        web.call("NewGame", request, pb.NewGameResponse, protocol=protocol, codec=codec).message
        for protocol in PROTOCOLS
        for codec in CODECS
    ]
    assert all(each == found[0] for each in found)
