"""The protocols Connect and gRPC-Web: the parsing of requests, and the formats of responses.

See connectrpc.com/docs/protocol and github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md. This module is independent of
connections and calls.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import NamedTuple, Protocol
from urllib.parse import parse_qs, quote

from google.rpc import code_pb2, status_pb2

from chatiere.service.base.errors import (
    NOT_ONE_REQUEST,
    OK,
    UNNAMED_COMPRESSION,
    Refusal,
    ServiceReason,
    Status,
    StatusError,
    limit_exceeded,
)
from chatiere.service.ports.web.connection import Fields
from chatiere.service.ports.web.json_form import readable

# The maximum size in bytes of a compressed request after decompression. Requests are decompressed in the serving loop.
_MAX_UNPACKED = 1 << 20
# The flags in the first byte of an envelope: a compressed message, the end of a Connect stream, gRPC-Web's trailers.
_PACKED, _END, _TRAILERS = 1, 2, 0x80
PREFIX = 5
"""The number of bytes before the message in an envelope."""
# The HTTP status for the number of each of Connect's codes.
_HTTP = {1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400}
_HTTP |= {12: 501, 13: 500, 14: 503, 15: 500, 16: 401}
# The length of gRPC's units of time, in seconds.
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
Values = Mapping[str, str]


class Response(NamedTuple):
    """An HTTP response: the status, the protocol's own fields, and the body."""

    status: int
    fields: Fields
    body: bytes


class WebProtocol(Protocol):
    """A protocol with a codec. Methods that parse requests raise Refusal or StatusError.

    Attributes:
        is_json: True if messages are JSON.
    """

    is_json: bool

    def timeout(self, values: Values) -> float | None:
        """Return the client's time limit in seconds, or None for no deadline."""

    def message(self, values: Values, body: bytes, largest: int) -> bytes:
        """Return the only message in the body of a request. It may have at most `largest` bytes."""

    def error(self, status: Status) -> Response:
        """Return the response to a call that failed before it sent a message."""

    def unread(self, status: Status) -> Response:
        """Return the response to a call with invalid fields."""


class UnaryProtocol(WebProtocol, Protocol):
    """A protocol with unary calls."""

    def answer(self, message: bytes) -> Response:
        """Return the response to a call that succeeds."""


class StreamProtocol(WebProtocol, Protocol):
    """A protocol with streams. `fields`: the fields of a response."""

    fields: Fields

    def envelope(self, message: bytes) -> bytes:
        """Return a message in the format for streams."""

    def end(self, status: Status) -> bytes:
        """Return the last part of a stream."""


class ConnectUnary:
    """Connect for unary calls. Bodies are messages. Errors are JSON with an HTTP status."""

    def __init__(self, codec: str) -> None:
        """Create the protocol for a codec: "proto" or "json"."""
        self.is_json = codec == "json"
        self.fields = [("content-type", f"application/{codec}")]

    def timeout(self, values: Values) -> float | None:
        """Parse connect-timeout-ms, and check the protocol version."""
        return _connect_timeout(values)

    def message(self, values: Values, body: bytes, largest: int) -> bytes:
        """Return the body, decompressed."""
        return _plain(body, largest, is_packed=_is_gzip(values.get("content-encoding", "")))

    def answer(self, message: bytes) -> Response:
        """Return the message."""
        return Response(200, self.fields, message)

    def error(self, status: Status) -> Response:
        """Return an error as JSON."""
        return Response(_HTTP[status.code], _JSON, _written(_error_of(status)))

    unread = error


class ConnectStream:
    """Connect for streams. Bodies consist of envelopes. The last envelope contains JSON with any error."""

    def __init__(self, codec: str) -> None:
        """Create the protocol for a codec: "proto" or "json"."""
        self.is_json = codec == "json"
        self.fields = [("content-type", f"application/connect+{codec}")]

    def timeout(self, values: Values) -> float | None:
        """Parse connect-timeout-ms, and check the protocol version."""
        return _connect_timeout(values)

    def message(self, values: Values, body: bytes, largest: int) -> bytes:
        """Return the content of the only envelope, decompressed."""
        return _only_message(body, values.get("connect-content-encoding", ""), largest)

    def envelope(self, message: bytes) -> bytes:
        """Return a message in its envelope."""
        return _envelope(0, message)

    def end(self, status: Status) -> bytes:
        """Return the end of the stream."""
        return _envelope(_END, _written({"error": _error_of(status)} if status.code else {}))

    def error(self, status: Status) -> Response:
        """Return a stream without messages."""
        return Response(200, self.fields, self.end(status))

    unread = error


class GrpcWeb:
    """gRPC-Web. Bodies consist of envelopes. The last envelope contains the trailers."""

    def __init__(self, codec: str) -> None:
        """Create the protocol for a codec: "proto" or "json"."""
        self.is_json = codec == "json"
        self.fields = [("content-type", f"application/grpc-web+{codec}")]

    def timeout(self, values: Values) -> float | None:
        """Parse grpc-timeout."""
        value = values.get("grpc-timeout")
        if value is None:
            return None
        digits, unit = value[:-1], _UNITS.get(value[-1:])
        if unit is None or not _is_number(digits, 8):
            raise _malformed("grpc-timeout must have at most 8 digits and a unit of H, M, S, m, u or n")
        return int(digits) * unit

    def message(self, values: Values, body: bytes, largest: int) -> bytes:
        """Return the content of the only envelope, decompressed."""
        return _only_message(body, values.get("grpc-encoding", ""), largest)

    def envelope(self, message: bytes) -> bytes:
        """Return a message in its envelope."""
        return _envelope(0, message)

    def end(self, status: Status) -> bytes:
        """Return the trailers in their envelope."""
        return _envelope(_TRAILERS, "".join(f"{name}: {value}\r\n" for name, value in _trailers(status)).encode())

    def answer(self, message: bytes) -> Response:
        """Return the message and the trailers."""
        return Response(200, self.fields, _envelope(0, message) + _ENDED)

    def error(self, status: Status) -> Response:
        """Return the trailers."""
        return Response(200, self.fields, self.end(status))

    def unread(self, status: Status) -> Response:
        """Return a response without a body. Its header fields contain the trailers."""
        return Response(200, [*self.fields, *_trailers(status)], b"")


_CODECS = ("proto", "json")
CONNECT = {codec: ConnectUnary(codec) for codec in _CODECS}
"""The protocols of Connect's unary calls, by the name of the codec in GET requests."""
_GRPC_WEB = {f"application/grpc-web+{codec}": GrpcWeb(codec) for codec in _CODECS}
_GRPC_WEB["application/grpc-web"] = _GRPC_WEB["application/grpc-web+proto"]
STREAMS: dict[str, StreamProtocol] = {
    **_GRPC_WEB,
    **{f"application/connect+{codec}": ConnectStream(codec) for codec in _CODECS},
}
"""The protocols of streams, by content type."""
UNARY: dict[str, UnaryProtocol] = {**_GRPC_WEB, **{f"application/{codec}": CONNECT[codec] for codec in _CODECS}}
"""The protocols of unary calls, by content type."""


def rejection(status: int, message: str, *fields: tuple[str, str]) -> Response:
    """Return the response to a request that is not a call, with the code that clients derive from the HTTP status."""
    code = {400: code_pb2.INTERNAL, 404: code_pb2.UNIMPLEMENTED}.get(status, code_pb2.UNKNOWN)
    return Response(status, [*_JSON, *fields], _written(_error_of(Status(code, message=message))))


def message_in_query(query: str, largest: int) -> bytes:
    """Return the message in the query of a GET, of at most `largest` bytes. Raises Refusal and StatusError."""
    found = parse_qs(query, keep_blank_values=True)
    text = found.get("message", [None])[0]
    if text is None:
        raise _malformed("a GET needs its request in the parameter message")
    message = text.encode()
    if found.get("base64", [""])[0] == "1":
        try:
            message = base64.b64decode(message + b"=" * (-len(message) % 4), altchars=b"-_", validate=True)
        except binascii.Error as error:
            raise _malformed(f"the parameter message is not base64: {error}") from error
    return _plain(message, largest, is_packed=_is_gzip(found.get("compression", [""])[0]))


def codec_in_query(query: str) -> str:
    """Return the codec named in the query of a GET, or "" if it names no codec."""
    return parse_qs(query).get("encoding", [""])[0]


_JSON = [("content-type", "application/json")]


def _malformed(message: str) -> Refusal:
    return Refusal(ServiceReason.MALFORMED_REQUEST, message, metadata={})


def _failure(code: int, message: str) -> StatusError:
    return StatusError(Status(code, message=message))


def _connect_timeout(values: Values) -> float | None:
    version, timeout = values.get("connect-protocol-version", "1"), values.get("connect-timeout-ms")
    if version != "1":
        raise _malformed("connect-protocol-version must be 1")
    if not timeout:
        return None
    if not _is_number(timeout, 10):
        raise _malformed("connect-timeout-ms must be a number of at most 10 digits")
    return int(timeout) / 1000


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= digits


def _is_gzip(coding: str) -> bool:
    # Return True for gzip, and False for identity. Raises StatusError for other codings.
    if coding.lower() in ("", "identity"):
        return False
    if coding.lower() != "gzip":
        raise _failure(code_pb2.UNIMPLEMENTED, f"unknown compression {coding!r}: this door reads gzip and identity")
    return True


def _plain(data: bytes, largest: int, *, is_packed: bool) -> bytes:
    # Return the data after decompression. Raises Refusal.
    if not is_packed:
        if len(data) > largest:
            raise limit_exceeded("bytes of a request", largest)
        return data
    most = min(_MAX_UNPACKED, largest)
    # Data compressed by gzip may have several members. Empty data decompresses to empty data.
    found, left = b"", data
    while left:
        unpacking = zlib.decompressobj(wbits=31)
        try:
            found += unpacking.decompress(left, most + 1 - len(found))
        except zlib.error as error:
            raise _malformed(f"the request is not compressed with gzip: {error}") from error
        if len(found) > most:
            kind = "compressed request" if most == _MAX_UNPACKED else "request"
            raise limit_exceeded(f"bytes of a {kind}", most)
        if not unpacking.eof:
            raise _malformed("the compressed request is incomplete")
        left = unpacking.unused_data
    return found


def _only_message(body: bytes, coding: str, largest: int) -> bytes:
    # Return the content of the only envelope. Raises Refusal and StatusError.
    can_be_packed = _is_gzip(coding)
    messages, at = [], 0
    while at < len(body):
        if body[at] & ~_PACKED:
            raise _malformed("the flags of a message are neither 0 nor 1")
        begin = at + PREFIX
        end = begin + int.from_bytes(body[at + 1 : begin], "big")
        if end - begin > largest and begin <= len(body):
            raise limit_exceeded("bytes of a request", largest)
        if end > len(body):
            raise _malformed("the last message is incomplete")
        messages.append((body[at], body[begin:end]))
        at = end
    if len(messages) != 1:
        raise StatusError(NOT_ONE_REQUEST)
    flags, message = messages[0]
    if flags and not can_be_packed:
        raise StatusError(UNNAMED_COMPRESSION)
    return _plain(message, largest, is_packed=bool(flags))


def _envelope(flags: int, data: bytes) -> bytes:
    return flags.to_bytes(1, "big") + len(data).to_bytes(4, "big") + data


def _written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _error_of(status: Status) -> dict[str, object]:
    error: dict[str, object] = {
        "code": code_pb2.Code.Name(status.code).lower().replace("cancelled", "canceled"),
        "message": status.message,
    }
    details = status_pb2.Status.FromString(status.details).details
    if details:
        error["details"] = [
            {"type": each.TypeName(), "value": _base64(each.value), "debug": readable(each.TypeName(), each.value)}
            for each in details
        ]
    return error


def _trailers(status: Status) -> Fields:
    trailers = [("grpc-status", str(status.code))]
    if status.message:
        trailers.append(("grpc-message", quote(status.message, safe=" ,;:=()'!/")))
    if status.details:
        trailers.append(("grpc-status-details-bin", _base64(status.details)))
    return trailers


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")


_ENDED = GrpcWeb("proto").end(OK)
