"""Connect and gRPC-Web as bytes, without a server: any bytes are either read as a message or refused."""

import base64
import gzip
import json
import urllib.parse
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from google.rpc import code_pb2
from hypothesis import given
from hypothesis import strategies as st

from chatiere.service.base.errors import OK, Refusal, ServiceReason, StatusError, status_of
from chatiere.service.ports.web.protocols import CONNECT, STREAMS, UNARY, message_in_query

from .client import COMPRESSED, envelope, envelopes

LARGEST = 1000
PACKING = {"content-encoding": "gzip", "connect-content-encoding": "gzip", "grpc-encoding": "gzip"}
ALL = STREAMS | UNARY
each_stream = pytest.mark.parametrize("kind", STREAMS)


def ended(read: Callable[[], Any]) -> int | None:
    """Return the code with which a call ends because its request cannot be read, or None if it can."""
    try:
        read()
    except (Refusal, StatusError) as error:
        return status_of(error, "id").code
    return None


@pytest.mark.parametrize("kind", ALL)
@given(message=st.binary(max_size=LARGEST), is_packed=st.booleans())
def test_a_message_is_read_unchanged(kind: str, message: bytes, is_packed: bool) -> None:
    data = gzip.compress(message) if is_packed else message
    body = envelope(data, COMPRESSED if is_packed else 0) if kind in STREAMS else data
    values = PACKING if is_packed else {}
    assert ALL[kind].message(values, body, LARGEST) == message
    if len(message):
        assert ended(lambda: ALL[kind].message(values, body, len(message) - 1)) == code_pb2.RESOURCE_EXHAUSTED
    if kind in STREAMS:
        assert ended(lambda: ALL[kind].message(values, body[:-1], LARGEST)) is not None
        assert ended(lambda: ALL[kind].message(values, body + body, LARGEST)) is not None


@pytest.mark.parametrize("kind", ALL)
@given(body=st.binary(max_size=50), values=st.sampled_from([{}, PACKING, dict.fromkeys(PACKING, "br")]))
def test_any_body_is_a_message_or_refused(kind: str, body: bytes, values: dict[str, str]) -> None:
    code = ended(lambda: ALL[kind].message(values, body, LARGEST))
    assert code in (
        None,
        code_pb2.INVALID_ARGUMENT,
        code_pb2.RESOURCE_EXHAUSTED,
        code_pb2.UNIMPLEMENTED,
    )


@given(
    st.text()
    | st.dictionaries(
        st.sampled_from(["message", "base64", "compression", "encoding", "connect"]),
        st.text() | st.sampled_from(["1", "gzip", "identity", "br", "json"]),
    ).map(urllib.parse.urlencode)
)
def test_any_query_is_a_message_or_refused(query: str) -> None:
    assert ended(lambda: message_in_query(query, LARGEST)) in (
        None,
        code_pb2.INVALID_ARGUMENT,
        code_pb2.RESOURCE_EXHAUSTED,
        code_pb2.UNIMPLEMENTED,
    )


@given(message=st.binary(max_size=LARGEST), is_packed=st.booleans(), has_padding=st.booleans())
def test_a_message_in_a_query_is_read_unchanged(message: bytes, is_packed: bool, has_padding: bool) -> None:
    text = base64.urlsafe_b64encode(gzip.compress(message) if is_packed else message).decode()
    query = {"message": text if has_padding else text.rstrip("="), "base64": "1"}
    if is_packed:
        query["compression"] = "gzip"
    assert message_in_query(urllib.parse.urlencode(query), LARGEST) == message


def test_gzip_members_form_one_message_and_bombs_are_not_decompressed() -> None:
    read = CONNECT["proto"].message
    assert read(PACKING, gzip.compress(b"a") + gzip.compress(b"b"), LARGEST) == b"ab"
    assert ended(lambda: read(PACKING, gzip.compress(b"a") + b"b", LARGEST)) == code_pb2.INVALID_ARGUMENT
    for bomb in (gzip.compress(bytes(100 << 20)), gzip.compress(b"a" * 501) * 2):
        assert ended(partial(read, PACKING, bomb, LARGEST)) == code_pb2.RESOURCE_EXHAUSTED
    # Not more than 1 MiB is decompressed, even for a method that allows more.
    with pytest.raises(Refusal, match="compressed request"):
        read(PACKING, gzip.compress(bytes((1 << 20) + 1)), 4 << 20)


@pytest.mark.parametrize(
    ("kind", "name", "value", "seconds"),
    [
        ("application/proto", "connect-timeout-ms", "1500", 1.5),
        ("application/connect+json", "connect-timeout-ms", "0", 0.0),
        ("application/proto", "connect-timeout-ms", "9999999999", 9999999.999),
        ("application/grpc-web", "grpc-timeout", "2H", 7200.0),
        ("application/grpc-web", "grpc-timeout", "3M", 180.0),
        ("application/grpc-web", "grpc-timeout", "99999999S", 99999999.0),
        ("application/grpc-web", "grpc-timeout", "5m", 0.005),
        ("application/grpc-web", "grpc-timeout", "5u", 5e-6),
        ("application/grpc-web", "grpc-timeout", "5n", 5e-9),
    ],
)
def test_timeouts_are_read_in_seconds(kind: str, name: str, value: str, seconds: float) -> None:
    assert ALL[kind].timeout({name: value}) == pytest.approx(seconds)
    assert ALL[kind].timeout({}) is None


@pytest.mark.parametrize("value", ["", "-1", "1.5", " 1", "1_0", "１", "1x", "S", "123456789S", "1SS"])
def test_wrong_timeouts_are_refused(value: str) -> None:
    for kind, name in (("application/proto", "connect-timeout-ms"), ("application/grpc-web", "grpc-timeout")):
        if value or name == "grpc-timeout":
            assert ended(partial(ALL[kind].timeout, {name: value})) == code_pb2.INVALID_ARGUMENT


@each_stream
@given(messages=st.lists(st.binary(max_size=20), max_size=5), text=st.text(max_size=50), is_refused=st.booleans())
def test_a_stream_consists_of_envelopes_and_an_end(
    kind: str, messages: list[bytes], text: str, is_refused: bool
) -> None:
    status = OK
    if is_refused:
        status = status_of(Refusal(ServiceReason.LIMIT_EXCEEDED, text, metadata={"limit": text}), "id")
    protocol = STREAMS[kind]
    *found, (flags, end) = envelopes(b"".join(map(protocol.envelope, messages)) + protocol.end(status))
    assert found == [(0, message) for message in messages]
    if flags == 2:
        error = json.loads(end)
        assert ("error" in error) == is_refused
        if is_refused:
            assert (error["error"]["code"], error["error"]["message"]) == ("resource_exhausted", status.message)
            assert error["error"]["details"][0]["debug"]["metadata"]["limit"] == text
    else:
        assert flags == 0x80
        trailers = dict(line.split(": ", 1) for line in end.decode("ascii").split("\r\n") if line)
        assert trailers["grpc-status"] == str(status.code)
        assert urllib.parse.unquote(trailers.get("grpc-message", "")) == status.message
        assert ("grpc-status-details-bin" in trailers) == is_refused
