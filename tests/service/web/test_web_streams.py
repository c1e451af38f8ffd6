"""Calls with many responses at the web door, by Connect and by gRPC-Web: watches of the server's health."""

import gzip
import json
import socket
import struct
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf import json_format
from google.rpc import code_pb2
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from tools.over import over

from chatiere.service.base.settings import Settings
from chatiere.service.exchange import health as health_module
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import Feed
from chatiere.service.guards.tokens import new_token

from ..process import wait_until
from ..support import PATIENCE, LogLines, Running, running
from .client import CODECS, COMPRESSED, PROTOCOLS, TRAILERS, Codec, Protocol, WebClient, envelope

pytestmark = pytest.mark.long

CHECK, WATCH = "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"
SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING
END = 2
LABELS = {"grpc_type": "server_stream", "grpc_service": "grpc.health.v1.Health", "grpc_method": "Watch"}
each_protocol = over("protocol", PROTOCOLS)
each_codec = over("codec", CODECS)


def kind_of(protocol: Protocol, codec: Codec) -> str:
    return f"application/{'connect' if protocol == 'connect' else 'grpc-web'}+{codec}"


class Stream:
    """The response of a stream, read as it arrives."""

    def __init__(self, response: httpx.Response, protocol: Protocol, codec: Codec) -> None:
        self.http, self._protocol, self._codec = response, protocol, codec
        assert response.status_code == 200
        assert response.headers["content-type"] == kind_of(protocol, codec)
        self._parts, self._data = response.iter_raw(), b""
        self.code, self.text = "", ""
        self.details: Any = None

    def _take(self, size: int) -> bytes:
        while len(self._data) < size:
            self._data += next(self._parts)
        found, self._data = self._data[:size], self._data[size:]
        return found

    def next(self) -> Any:
        """Return the next status, or None after the last status."""
        flags, size = struct.unpack(">BI", self._take(5))
        data = self._take(size)
        if flags == 0:
            message = HealthCheckResponse()
            return (json_format.Parse(data, message) if self._codec == "json" else message.FromString(data)).status
        if self._protocol == "connect":
            assert flags == END
            error = json.loads(data).get("error", {})
            self.code, self.text, self.details = error.get("code", ""), error.get("message", ""), error.get("details")
        else:
            assert flags == TRAILERS
            trailers = dict(line.split(": ", 1) for line in data.decode().splitlines())
            number = int(trailers["grpc-status"])
            self.code = code_pb2.Code.Name(number).lower().replace("cancelled", "canceled") if number else ""
            self.text = urllib.parse.unquote(trailers.get("grpc-message", ""))
            self.details = trailers.get("grpc-status-details-bin")
        assert not self._data
        assert next(self._parts, b"") == b""
        return None


@contextmanager
def asked(web: WebClient, body: bytes, protocol: Protocol, codec: Codec, **headers: str) -> Iterator[Stream]:
    sent = {"content-type": kind_of(protocol, codec)} | {name.replace("_", "-"): headers[name] for name in headers}
    with web.http.stream("POST", WATCH, content=body, headers=sent) as response:
        yield Stream(response, protocol, codec)


def request_for(service: str, codec: Codec) -> bytes:
    request = HealthCheckRequest(service=service)
    return request.SerializeToString() if codec == "proto" else json_format.MessageToJson(request).encode()


@contextmanager
def watched(
    web: WebClient, protocol: Protocol = "connect", codec: Codec = "proto", service: str = "", **headers: str
) -> Iterator[Stream]:
    with asked(web, envelope(request_for(service, codec)), protocol, codec, **headers) as stream:
        yield stream


def end_of(web: WebClient, body: bytes, protocol: Protocol, codec: Codec = "proto", **headers: str) -> Stream:
    """Return a stream that has ended without a status of the server's health."""
    with asked(web, body, protocol, codec, **headers) as stream:
        assert stream.next() is None
    return stream


@each_protocol
@each_codec
def test_health_is_checked_in_every_form(web: WebClient, protocol: Protocol, codec: Codec) -> None:
    for service in ("", "chatiere.v1.GameService"):
        request = HealthCheckRequest(service=service)
        found = web.call(CHECK, request, HealthCheckResponse, protocol=protocol, codec=codec)
        assert found.message.status == SERVING
    request = HealthCheckRequest(service="nothing")
    assert web.call(CHECK, request, HealthCheckResponse, protocol=protocol, codec=codec).code == "not_found"


@each_protocol
@each_codec
def test_responses_are_sent_immediately_until_the_server_stops(protocol: Protocol, codec: Codec) -> None:
    with running(door="web") as server, WebClient(server.address) as web:
        with watched(web, protocol, codec) as stream:
            assert stream.next() == SERVING
            assert stream.http.headers["x-request-id"]
            assert stream.http.headers["transfer-encoding"] == "chunked"
            assert server.sample("grpc_server_handled_total", grpc_code="OK", **LABELS) == 0
            ended = server.server.stop(PATIENCE)
            assert stream.next() == NOT_SERVING
            assert stream.next() is None
        assert ended.wait(PATIENCE)
        assert server.sample("grpc_server_handled_total", grpc_code=code_of(stream.code), **LABELS) == 1


def code_of(code: str) -> str:
    return "".join(word.capitalize() for word in code.split("_")) or "OK"


@each_protocol
def test_an_unknown_service_is_watched(web: WebClient, protocol: Protocol) -> None:
    with watched(web, protocol, service="nothing") as stream:
        assert stream.next() == HealthCheckResponse.SERVICE_UNKNOWN


def test_a_connection_persists_after_a_stream(web: WebClient, server: Running) -> None:
    host, _, port = server.address.rpartition(":")
    body = envelope(b"")
    ask = (
        f"POST {WATCH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/connect+proto\r\n"
        f"connect-timeout-ms: 1500\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode() + body
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(ask + ask)
        found = b""
        while found.count(b"0\r\n\r\n") < 2:
            found += connection.recv(65536)
    assert found.count(b"HTTP/1.1 200 OK") == found.count(b'"code": "deadline_exceeded"') == 2


def test_a_stream_to_http_1_0_ends_with_its_connection(server: Running) -> None:
    host, _, port = server.address.rpartition(":")
    body = envelope(b"")
    ask = (
        f"POST {WATCH} HTTP/1.0\r\ncontent-type: application/connect+proto\r\nconnect-timeout-ms: 1500\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body
    with socket.create_connection((host, int(port)), PATIENCE) as connection, connection.makefile("rb") as response:
        connection.sendall(ask)
        head, _, rest = response.read().partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert rest.startswith(envelope(HealthCheckResponse(status=SERVING).SerializeToString()) + b"\2")


# Timeouts


@each_protocol
def test_a_wrong_timeout_is_refused(web: WebClient, protocol: Protocol) -> None:
    sent = {"connect-timeout-ms": "soon"} if protocol == "connect" else {"grpc-timeout": "soon"}
    response = web.http.post(WATCH, content=envelope(b""), headers={"content-type": kind_of(protocol, "proto"), **sent})
    assert response.status_code == 200
    if protocol == "connect":
        assert b'"code": "invalid_argument"' in response.content
    else:
        assert response.headers["grpc-status"] == "3"


# Compressed and large requests


@each_protocol
@each_codec
def test_a_compressed_request_is_read_or_refused(web: WebClient, protocol: Protocol, codec: Codec) -> None:
    name = "connect_content_encoding" if protocol == "connect" else "grpc_encoding"
    body = envelope(gzip.compress(request_for("nothing", codec)), COMPRESSED)
    with asked(web, body, protocol, codec, **{name: "gzip"}) as stream:
        assert stream.next() == HealthCheckResponse.SERVICE_UNKNOWN
    too_large = envelope(gzip.compress(request_for("x" * 100_000, codec)), COMPRESSED)
    assert end_of(web, too_large, protocol, codec, **{name: "gzip"}).code == "resource_exhausted"
    assert end_of(web, envelope(b""), protocol, codec, **{name: "foo"}).code == "unimplemented"
    assert end_of(web, envelope(b"x", COMPRESSED), protocol, codec).code == "internal"
    assert end_of(web, envelope(b"x", COMPRESSED), protocol, codec, **{name: "gzip"}).code == "invalid_argument"


@each_protocol
@each_codec
def test_a_request_that_is_too_large_is_refused(web: WebClient, protocol: Protocol, codec: Codec) -> None:
    body = envelope(request_for("x" * 20_000, codec))
    assert end_of(web, body, protocol, codec).code == "resource_exhausted"

    def parts() -> Iterator[bytes]:
        yield body[:10_000]
        yield body[10_000:]

    with web.http.stream("POST", WATCH, content=parts(), headers={"content-type": kind_of(protocol, codec)}) as found:
        assert Stream(found, protocol, codec).next() is None


# Wrong requests


@each_protocol
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "unimplemented"),
        (envelope(b"") * 2, "unimplemented"),
        (b"\0\0", "invalid_argument"),
        (b"\0\0\0\0\5abc", "invalid_argument"),
        (b"\2\0\0\0\0", "invalid_argument"),
        (b"\x80\0\0\0\0", "invalid_argument"),
        (envelope(b"\xff"), "invalid_argument"),
    ],
    ids=["none", "two", "a prefix", "a part", "an end", "trailers", "no message"],
)
def test_wrong_requests_are_refused(web: WebClient, protocol: Protocol, body: bytes, code: str) -> None:
    assert end_of(web, body, protocol).code == code


@pytest.mark.parametrize(
    "kind",
    ["application/proto", "application/json", "application/connect+foo", "application/grpc-web-text", "text/plain", ""],
)
def test_other_content_types_are_refused_with_the_accepted_ones(web: WebClient, kind: str) -> None:
    found = web.http.post(WATCH, content=envelope(b""), headers={"content-type": kind})
    assert found.status_code == 415
    assert "application/connect+proto" in found.headers["accept-post"]


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_other_verbs_are_not_allowed(web: WebClient, verb: str) -> None:
    found = web.http.request(verb, WATCH, headers={"content-type": "application/connect+proto"})
    assert (found.status_code, found.headers["allow"]) == (405, "POST")


@each_protocol
def test_an_invalid_language_is_refused(web: WebClient, protocol: Protocol) -> None:
    stream = end_of(web, envelope(b""), protocol, accept_language=";")
    assert stream.code == "invalid_argument"
    assert stream.details


# Guards and limits


def in_flight(server: Running) -> float:
    return server.sample("chatiere_calls_in_flight", grpc_type="server_stream")


def test_a_client_that_leaves_ends_its_stream() -> None:
    with running(door="web") as server, WebClient(server.address) as web:
        with watched(web) as stream:
            assert stream.next() == SERVING
        wait_until(
            lambda: server.sample("grpc_server_handled_total", grpc_code="Canceled", **LABELS) == 1,
            "the call is cancelled",
        )
        wait_until(lambda: not in_flight(server), "the call is over")


def test_health_needs_no_token_but_watches_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_module, "WATCHES", 2)
    (tmp_path / "tokens").write_text(new_token("anna")[1])
    settings = Settings(address="127.0.0.1:0", tokens=tmp_path / "tokens")
    with running(settings, "web") as server, WebClient(server.address) as web:
        assert web.call(CHECK, HealthCheckRequest(), HealthCheckResponse).message.status == SERVING
        with watched(web) as first, watched(web, "grpc-web") as second:
            assert first.next() == second.next() == SERVING
            with watched(web) as third:
                assert third.next() == SERVING
                assert first.next() is None
                assert first.code == "unimplemented"


def test_a_watch_whose_request_does_not_arrive_ends_in_time() -> None:
    with running(Settings(address="127.0.0.1:0", request_timeout=1.5), "web") as server:
        host, _, port = server.address.rpartition(":")
        with socket.create_connection((host, int(port)), PATIENCE) as connection, connection.makefile("rb") as response:
            connection.sendall(
                f"POST {WATCH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/connect+proto\r\n"
                "content-length: 5\r\n\r\n".encode()
            )
            assert b"REQUEST_TIMEOUT" in response.read()


@pytest.fixture
def feeds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Feed, threading.Event]]:
    """Make watches silent. Return their feeds, each with an event that is set when the call is over."""
    found: list[tuple[Feed, threading.Event]] = []

    def watch(health: Health, request: bytes, feed: Feed) -> Callable[[], None]:
        over = threading.Event()
        found.append((feed, over))
        feed.send(HealthCheckResponse(status=SERVING).SerializeToString())
        return over.set

    monkeypatch.setattr(Health, "watch", watch)
    return found


def test_a_client_that_does_not_read_a_stream_loses_it(feeds: list[tuple[Feed, threading.Event]]) -> None:
    """Only messages that the client has not read count."""
    # An unknown field makes the message larger than 256 KiB.
    large = HealthCheckResponse(status=SERVING).SerializeToString() + b"\x12\x80\x80\x10" + bytes(1 << 18)
    with running(door="web") as server, WebClient(server.address) as web:
        with watched(web) as stream:
            assert stream.next() == SERVING
            ((feed, over),) = feeds
            for _ in range(40):
                feed.send(large)
                assert stream.next() == SERVING
            while not over.wait(0.001):
                feed.send(large)
        assert server.sample("grpc_server_handled_total", grpc_code="ResourceExhausted", **LABELS) == 1
        wait_until(lambda: not in_flight(server), "the call is over")


def test_an_open_stream_ends_when_the_server_stops(feeds: list[tuple[Feed, threading.Event]]) -> None:
    with running(door="web") as server, WebClient(server.address) as web, LogLines() as log:
        with watched(web) as stream:
            assert stream.next() == SERVING
            ended = server.server.stop(None)
            assert stream.next() is None
            assert stream.code == "unavailable"
        assert ended.wait(PATIENCE)
        assert feeds[0][1].is_set()
        assert not [line for line in log.lines if "incident" in line]
