"""HTTP/1.1 at the web door: where requests end if they arrive in arbitrary parts, and invalid requests."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from time import monotonic
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.patience import PATIENCE

from chatiere.service.ports.web import connection as module
from chatiere.service.ports.web.connection import Connection, Request

from .played import Echo, Played, answers, played

GET = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nhost: localhost\r\n"


def chunked(body: bytes, sizes: list[int]) -> bytes:
    """Return a body in chunks of these sizes, followed by a chunk with the rest."""
    found = b""
    for size in [*sizes, len(body)]:
        part, body = body[:size], body[size:]
        if part:
            found += b"%x;a=b\r\n%b\r\n" % (len(part), part)
    return found + b"0\r\n"


bodies = (
    st.binary(max_size=40)
    | st.binary(min_size=100, max_size=300)
    | st.lists(st.sampled_from([b"\r\n", b"\r", b"\n", b"0", b"x"])).map(b"".join)
)


@st.composite
def requests(draw: Any) -> tuple[bytes, bytes]:
    """Return a request, and the response that `Echo` gives."""
    method, path = draw(st.sampled_from(["POST", "PUT"])), draw(st.sampled_from(["/", "/a/b", "/a?b=c#d"]))
    body = draw(bodies)
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n".encode()
    answer = f"{method} {path.partition('?')[0]}: ".encode() + body
    if draw(st.booleans()):
        trailers = draw(st.sampled_from([b"", b"x: y\r\n"]))
        sizes = draw(st.lists(st.integers(1, 9), max_size=5))
        data = head + b"transfer-encoding: chunked\r\n\r\n" + chunked(body, sizes) + trailers + b"\r\n"
    else:
        data = head + b"content-length: %d\r\n\r\n" % len(body) + body
    return draw(st.sampled_from([b"", b"\r\n"])) + data, answer


@given(st.lists(requests(), max_size=5), st.lists(st.floats(0, 1), max_size=8))
def test_requests_may_arrive_in_any_parts(asked: list[tuple[bytes, bytes]], cuts: list[float]) -> None:
    data = b"".join(request for request, _ in asked)
    places = [0, *sorted({round(cut * len(data)) for cut in cuts} - {0, len(data)}), len(data)]
    parts = [data[begin:end] for begin, end in pairwise(places) if begin < end]

    async def check() -> None:
        connection = Played()
        found = answers(await connection.receive(*parts))
        assert [(status, body) for status, _, body in found] == [(200, answer) for _, answer in asked]
        assert not connection.transport.is_closed

    played(check)


@given(
    st.binary()
    | st.lists(st.sampled_from([GET, POST, b"\r\n", b"content-length: 3\r\n", b"\r\n\r\n", b"abc", b":"])).map(b"".join)
)
def test_any_bytes_are_served_or_refused(data: bytes) -> None:
    async def check() -> None:
        connection = Played()
        found = answers(await connection.receive(data))
        assert connection.transport.is_closed == any(status >= 400 for status, _, _ in found)
        assert {status for status, _, _ in found} <= {200, 400, 431, 505}

    played(check)


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\n",
        POST + b"content-length: 1\r\ncontent-length: 1\r\n\r\na",
        POST + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab",
        POST + b"content-length: 1, 1\r\n\r\na",
        POST + b"content-length: +1\r\n\r\na",
        POST + b"content-length: -1\r\n\r\na",
        POST + b"content-length: 0x1\r\n\r\na",
        POST + b"content-length: 99999999999999999999999\r\n\r\na",
        POST + b"content-length:\r\n\r\n",
        POST + b"transfer-encoding: identity\r\n\r\n",
        POST + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST.replace(b"1.1", b"1.0") + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n0\r\n\n",
        b"GET / HTTP/1.1\nhost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\nx: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\rx: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\n x: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nx : a\r\n\r\n",
        b"GET / HTTP/1.1\r\n: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: a\0b\r\n\r\n",
        b"GET / HTTP/1.1\r\nx\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\n\r\n",
        b"GET /\xe9 HTTP/1.1\r\n\r\n",
        b"GET x HTTP/1.1\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\n\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.2\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        POST + b"connection: upgrade\r\nupgrade: h2c\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_an_invalid_request_ends_the_connection(sent: bytes) -> None:
    """The data after an invalid request is not read, because an intermediary might read the data as another request."""

    async def check() -> None:
        connection = Played()
        (found,) = answers(await connection.receive(sent + GET))
        assert found[0] == 400
        assert found[1]["connection"] == "close"
        assert connection.transport.is_closed
        assert not connection.served or connection.served[0].is_gone

    played(check)


@pytest.mark.parametrize("version", [b"0.9", b"2.0"])
def test_other_versions_are_refused(version: bytes) -> None:
    async def check() -> None:
        connection = Played()
        assert answers(await connection.receive(GET.replace(b"1.1", version)))[0][0] == 505
        assert connection.transport.is_closed

    played(check)


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"TLS/1.0"])
def test_upgrades_to_other_protocols_are_ignored(protocol: bytes) -> None:
    """The request is served. The data after it is not read, because it may belong to the other protocol."""

    async def check() -> None:
        connection = Played()
        asked = GET.replace(b"\r\n\r\n", b"\r\nconnection: upgrade\r\nupgrade: %b\r\n\r\n" % protocol)
        (found,) = answers(await connection.receive(asked + GET))
        assert (found[0], found[1]["connection"]) == (200, "close")
        assert connection.transport.is_closed

    played(check)


@given(body=bodies, cuts=st.lists(st.floats(0, 1), max_size=4))
def test_a_request_that_offers_another_protocol_may_have_a_body(body: bytes, cuts: list[float]) -> None:
    """curl --http2 and Java's client send requests of this kind."""
    data = POST + b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: %d\r\n\r\n" % len(body) + body + GET
    places = [0, *sorted({round(cut * len(data)) for cut in cuts} - {0, len(data)}), len(data)]

    async def check() -> None:
        connection = Played()
        (found,) = answers(await connection.receive(*(data[begin:end] for begin, end in pairwise(places))))
        assert (found[0], found[1]["connection"], found[2]) == (200, "close", b"POST /x: " + body)
        assert connection.transport.is_closed

    played(check)


@pytest.mark.parametrize(
    ("head", "is_refused"),
    [
        (b"x: " + b"y" * (module.MAX_HEAD - 23) + b"\r\n\r\n", False),
        (b"x: " + b"y" * (module.MAX_HEAD - 22) + b"\r\n\r\n", True),
        (b"x: y\r\n" * 100 + b"\r\n", False),
        (b"x: y\r\n" * 101 + b"\r\n", True),
        (b"x: " + b"y" * 20_000, True),
        (b"x" * 20_000, True),
    ],
)
def test_heads_have_bounds(head: bytes, is_refused: bool) -> None:
    async def check() -> None:
        for size in (7, 1000, 100_000):
            connection, data = Played(), b"GET / HTTP/1.1\r\n" + head
            (found,) = answers(await connection.receive(*(data[i : i + size] for i in range(0, len(data), size))))
            assert found[0] == (431 if is_refused else 200)

    played(check)


@pytest.mark.parametrize(
    "rest",
    [b"0\r\n" + b"x: y\r\n" * 101, b"0\r\nx: " + b"y" * 40_000, b"1;" + b"a" * 40_000],
    ids=["many trailers", "a trailer", "an extension"],
)
def test_chunk_headers_and_trailers_have_bounds(rest: bytes) -> None:
    async def check() -> None:
        connection, data = Played(), POST + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n" + rest
        (found,) = answers(await connection.receive(*(data[i : i + 50] for i in range(0, len(data), 50))))
        assert found[0] == 431
        assert connection.served[0].is_gone

    played(check)


def test_a_body_may_have_any_number_of_chunks() -> None:
    async def check() -> None:
        connection, data = (
            Played(),
            POST + b"transfer-encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 10_000 + b"0\r\n\r\n",
        )
        (found,) = answers(await connection.receive(*(data[i : i + 5000] for i in range(0, len(data), 5000))))
        assert found[2] == b"POST /x: " + b"a" * 10_000

    played(check)


def test_trailers_are_not_header_fields() -> None:
    async def check() -> None:
        connection = Played()
        await connection.receive(POST + b"transfer-encoding: chunked\r\n\r\n0\r\nauthorization: x\r\n\r\n")
        assert [name for name, _ in connection.served[0].request.fields] == ["host", "transfer-encoding"]

    played(check)


def test_fields_with_the_same_name_form_a_list() -> None:
    async def check() -> None:
        connection = Played()
        await connection.receive(GET.replace(b"\r\n\r\n", b"\r\nX: a\r\nx: b\r\n\r\n"))
        request: Request = connection.served[0].request
        assert request.values["x"] == "a, b"
        assert request.fields == [("host", "localhost"), ("x", "a"), ("x", "b")]

    played(check)


class Later(Echo):
    """Responds when a test requests it."""

    def on_end(self) -> None:
        """Do not respond yet."""


def test_a_pipelined_request_waits_for_the_response_before_it() -> None:
    async def check() -> None:
        connection = Played(Later)
        data = POST + b"content-length: 1\r\n\r\na" + GET
        connection.connection.data_received(data)
        connection.connection.data_received(GET)
        assert (len(connection.served), connection.transport.is_paused) == (1, True)
        connection.served[0].connection.respond(200, [], b"first")
        await asyncio.sleep(0)
        # The third request waits for the second.
        assert (len(connection.served), connection.transport.is_paused) == (2, True)
        connection.served[1].connection.respond(200, [], b"second")
        await asyncio.sleep(0)
        assert (len(connection.served), connection.transport.is_paused) == (3, False)
        assert [body for _, _, body in answers(connection.transport.sent)] == [b"first", b"second"]

    played(check)


def test_a_request_followed_by_too_much_data_is_the_last() -> None:
    async def check() -> None:
        for together in (True, False):
            connection = Played(Later)
            if together:
                connection.connection.data_received(GET + bytes(20_000))
            else:
                connection.connection.data_received(GET + bytes(10_000))
                connection.connection.data_received(bytes(10_000))
            connection.served[0].connection.respond(200, [])
            assert answers(connection.transport.sent)[0][1]["connection"] == "close"
            assert connection.transport.is_closed

    played(check)


def test_a_pipelined_request_waits_until_the_response_before_it_is_read() -> None:
    async def check() -> None:
        connection = Played()
        connection.connection.pause_writing()
        connection.connection.data_received(GET + GET)
        await asyncio.sleep(0)
        assert len(connection.served) == 1
        connection.connection.resume_writing()
        await asyncio.sleep(0)
        assert (len(connection.served), connection.served[0].delivered) == (2, 1)

    played(check)


@pytest.mark.parametrize(
    ("asked", "goes_on"),
    [
        (GET, True),
        (GET.replace(b"1.1", b"1.0"), False),
        (GET.replace(b"1.1", b"1.0").replace(b"\r\n\r\n", b"\r\nconnection: keep-alive\r\n\r\n"), False),
        (GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"), False),
        (GET.replace(b"\r\n\r\n", b"\r\nconnection: x, Close\r\n\r\n"), False),
    ],
)
def test_connections_persist_unless_the_client_closes_them(asked: bytes, goes_on: bool) -> None:
    async def check() -> None:
        connection = Played()
        found = answers(await connection.receive(asked, GET))
        assert len(found) == (2 if goes_on else 1)
        assert (found[0][1].get("connection") != "close") == goes_on == (not connection.transport.is_closed)

    played(check)


def test_the_response_to_head_has_a_length_and_no_body() -> None:
    async def check() -> None:
        connection = Played()
        sent = await connection.receive(GET.replace(b"GET", b"HEAD"))
        assert sent.endswith(b"content-length: 15\r\n\r\n")
        assert not connection.transport.is_closed

    played(check)


def refusing(connection: Connection, request: Request, body: bytes) -> None:
    connection.respond(401, [], b"no")


def test_a_client_that_expects_100_continue_gets_it() -> None:
    async def check() -> None:
        asked = POST + b"expect: 100-continue\r\ncontent-length: 1\r\n\r\n"
        connection = Played()
        assert await connection.receive(asked) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert (await connection.receive(b"a")).endswith(b"POST /x: a")
        # The client does not get this response if it has already sent the body, or if the request is refused.
        assert b"Continue" not in await Played().receive(asked + b"a")
        assert b"Continue" not in await Played(Later).receive(asked + b"a")
        assert b"Continue" not in await Played(refusing).receive(asked)
        assert b"Continue" not in await Played().receive(asked.replace(b"1.1", b"1.0"))

    played(check)


def test_the_rest_of_a_refused_request_is_discarded_and_the_connection_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        asked = POST + b"content-length: 10\r\n\r\n"
        connection = Played(refusing)
        ((status, fields, body),) = answers(await connection.receive(asked))
        assert (status, fields["connection"], body, connection.transport.is_closed) == (401, "close", b"no", False)
        connection.connection.data_received(b"12345")
        assert not connection.transport.is_closed
        connection.connection.data_received(b"67890" + GET)
        assert connection.transport.is_closed
        # The connection stays open until the client has read the response.
        behind = Played(refusing)
        behind.connection.pause_writing()
        await behind.receive(asked)
        behind.connection.resume_writing()
        assert not behind.transport.is_closed
        # A slower client loses its connection.
        monkeypatch.setattr(module, "_LINGER", 0.0)
        slow = Played(refusing)
        await slow.receive(asked)
        async with asyncio.timeout(PATIENCE):
            while not slow.transport.is_closed:
                await asyncio.sleep(0)
        # A connection whose request was complete stays open.
        whole = Played(refusing)
        await whole.receive(asked + b"1234567890")
        assert not whole.transport.is_closed

    played(check)


class Refusing(Later):
    """Responds when the first part of the body arrives."""

    def on_data(self, data: bytes) -> None:
        self.connection.respond(429, [])


@pytest.mark.parametrize("part", [b"a", b"ab"])
def test_a_connection_persists_if_a_request_is_refused_with_its_last_part(part: bytes) -> None:
    async def check() -> None:
        connection = Played(Refusing)
        await connection.receive(POST + b"content-length: 2\r\n\r\n", part)
        ((status, fields, _),) = answers(connection.transport.sent)
        assert status == 429
        goes_on = part == b"ab"
        assert (fields.get("connection") != "close") == goes_on
        if goes_on:
            await connection.receive(GET)
            assert len(connection.served) == 2

    played(check)


class Streaming(Later):
    """Responds in parts."""

    def on_end(self) -> None:
        self.connection.start(200, [("x", "y")])
        self.connection.send(b"one")
        self.connection.send(b"two")


@pytest.mark.parametrize("is_old", [False, True])
def test_streams_consist_of_chunks_or_end_with_the_connection(is_old: bool) -> None:
    async def check() -> None:
        connection = Played(Streaming)
        sent = await connection.receive(GET.replace(b"1.1", b"1.0") if is_old else GET)
        head, _, body = sent.partition(b"\r\n\r\n")
        assert b"content-length" not in head
        assert body == (b"onetwo" if is_old else b"3\r\none\r\n3\r\ntwo\r\n")
        connection.connection.end()
        assert connection.transport.is_closed == is_old
        if not is_old:
            assert answers(connection.transport.sent)[0][2] == b"onetwo"
            await connection.receive(GET)
            assert len(connection.served) == 2

    played(check)


@pytest.mark.parametrize("serve", [Later, Streaming])
@pytest.mark.parametrize("end", ["connection_lost", "eof_received"])
def test_the_handler_is_notified_when_the_client_leaves(serve: Callable[..., Any], end: str) -> None:
    async def check() -> None:
        connection = Played(serve)
        await connection.receive(GET)
        if end == "eof_received":
            # A client that closes its side is considered gone, so the loop then closes the transport.
            assert not connection.connection.eof_received()
        connection.connection.connection_lost(None)
        assert connection.served[0].is_gone
        assert not connection.state.connections

    played(check)


def test_slow_and_idle_clients_are_ended() -> None:
    async def check() -> None:
        now = monotonic()
        for parts, later, response in (
            ([], 10.1, []),
            ([b"GET / HTTP/1.1\r\nx"], 10.1, [408]),
            ([GET], 10.1, None),
            ([GET], 75.1, [200]),
            ([GET + b"POST"], 10.1, [200, 408]),
            ([POST + b"content-length: 2\r\n\r\n", b"a"], 75.1, None),
            ([POST + b"content-length: 2\r\n\r\n", b"a", b"b"], 10.1, None),
        ):
            connection = Played()
            await connection.receive(*parts)
            connection.state.look()
            assert not connection.transport.is_closed
            connection.connection.look(now + later)
            assert connection.transport.is_closed == (response is not None)
            if response is not None:
                assert [status for status, _, _ in answers(connection.transport.sent)] == response

    played(check)


def test_a_client_that_does_not_read_is_disconnected() -> None:
    async def check() -> None:
        now, connection = monotonic(), Played(Streaming)
        connection.transport.is_stuck = True
        await connection.receive(GET)
        connection.connection.look(now)
        connection.connection.look(now + 9)
        # Data counts as progress only when the client reads it, not when it is sent.
        connection.transport.untaken -= 1
        connection.connection.look(now + 10)
        connection.connection.send(b"more")
        connection.connection.look(now + 20)
        assert not connection.transport.is_aborted
        connection.connection.look(now + 21)
        assert connection.transport.is_aborted

    played(check)


@pytest.mark.parametrize("is_behind", [False, True])
def test_a_connection_that_is_shut_down_serves_its_current_request(is_behind: bool) -> None:
    async def check() -> None:
        idle, busy = Played(Later), Played(Later)
        idle.connection.shut_down()
        assert idle.transport.is_closed
        await busy.receive(GET)
        if is_behind:
            busy.connection.pause_writing()
            busy.served[0].connection.respond(200, [])
        busy.connection.shut_down()
        assert not busy.transport.is_closed
        if is_behind:
            busy.connection.resume_writing()
        else:
            busy.served[0].connection.respond(200, [])
            assert answers(busy.transport.sent)[0][1]["connection"] == "close"
        assert busy.transport.is_closed

    played(check)
