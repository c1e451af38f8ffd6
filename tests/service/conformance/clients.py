"""Clients that send the exact bytes of a case: gRPC over HTTP/2, and Connect and gRPC-Web over HTTP/1.1."""

import base64
import gzip
import json
import socket
import struct
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import h2.config
import h2.connection
import h2.events
import httpx
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2, status_pb2
from tools.patience import PATIENCE

# The gRPC codes that clients derive from HTTP statuses (see gRPC's http-grpc-status-mapping.md).
_OF_HTTP = {400: "internal", 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented"}
_OF_HTTP |= dict.fromkeys((429, 502, 503, 504), "unavailable")
Fields = Sequence[tuple[str, str]]


@dataclass
class Outcome:
    """The end of a call. `http` is the HTTP status, `code` is "" for OK, `details` is a google.rpc.Status as bytes."""

    http: int
    code: str = ""
    message: str = ""
    messages: list[bytes] = field(default_factory=list)
    details: bytes = b""


def name_of(code: int) -> str:
    """Return the name of a status as Connect spells it, or "" for OK."""
    return code_pb2.Code.Name(code).lower().replace("cancelled", "canceled") if code else ""


def envelope(flags: int, data: bytes) -> bytes:
    """Return a message with its prefix."""
    return struct.pack(">BI", flags, len(data)) + data


def _envelopes(body: bytes) -> Iterable[tuple[int, bytes]]:
    while body:
        flags, size = struct.unpack(">BI", body[:5])
        yield flags, body[5 : 5 + size]
        body = body[5 + size :]


def _ended(http: int, fields: dict[str, str], messages: list[bytes]) -> Outcome:
    # The code is in gRPC's trailers. Without trailers, it is derived from HTTP's status.
    if "grpc-status" not in fields:
        return Outcome(http, _OF_HTTP.get(http, "unknown"), messages=messages)
    details = base64.b64decode(fields.get("grpc-status-details-bin", "") + "===")
    text = urllib.parse.unquote(fields.get("grpc-message", ""))
    return Outcome(http, name_of(int(fields["grpc-status"])), text, messages, details)


def call_grpc(address: str, verb: str, path: str, fields: Fields, parts: Sequence[bytes], *, is_full: bool) -> Outcome:
    """Make a call over HTTP/2. With `is_full`, each part of the body except the first is sent after a response."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connected:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        connection.initiate_connection()
        head = [(":method", verb), (":scheme", "http"), (":path", path), (":authority", address), *fields]
        connection.send_headers(1, head, end_stream=not parts)
        left = list(parts)
        http, data, due = 0, b"", 1
        found: dict[str, str] = {}
        while True:
            while left and (due > 0 or not is_full):
                connection.send_data(1, left.pop(0), end_stream=not left)
                due -= 1
            connected.sendall(connection.data_to_send())
            came = connected.recv(65_536)
            assert came, "the connection has ended"
            for event in connection.receive_data(came):
                if isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
                    found |= {str(name): str(value) for name, value in event.headers}
                    http = int(found[":status"])
                elif isinstance(event, h2.events.DataReceived):
                    data += event.data
                    due += 1
                elif isinstance(event, h2.events.StreamReset):
                    return _ended(http, found, []) if "grpc-status" in found else Outcome(http, "internal")
                elif isinstance(event, h2.events.StreamEnded):
                    return _ended(http, found, [message for _, message in _envelopes(data)])


class Codec:
    """A method's messages in one of Connect's codecs, `name`."""

    def __init__(self, name: str, response: type[Message]) -> None:
        self.name, self._response = name, response

    def write(self, request: Message) -> bytes:
        return request.SerializeToString() if self.name == "proto" else json_format.MessageToJson(request).encode()

    def read(self, data: bytes) -> bytes:
        """Return a response in wire format."""
        found = data if self.name == "proto" else json_format.Parse(data, self._response()).SerializeToString()
        return bytes(found)


def read_connect(answer: httpx.Response, codec: Codec, *, is_unary: bool) -> Outcome:
    """Return the outcome that a Connect response states."""
    kind = answer.headers.get("content-type", "")
    if is_unary or answer.status_code != 200:
        if answer.status_code == 200:
            assert kind == f"application/{codec.name}"
            return Outcome(200, messages=[codec.read(answer.content)])
        if kind != "application/json":
            return Outcome(answer.status_code, _OF_HTTP.get(answer.status_code, "unknown"))
        return _connect_error(answer.status_code, answer.json(), [])
    assert kind == f"application/connect+{codec.name}"
    *messages, (flags, end) = _envelopes(answer.content)
    assert flags == 2
    return _connect_error(200, json.loads(end).get("error"), [codec.read(message) for _, message in messages])


def _connect_error(http: int, error: Any, messages: list[bytes]) -> Outcome:
    if error is None:
        return Outcome(http, messages=messages)
    details = status_pb2.Status(code=code_pb2.Code.Value(error["code"].upper().replace("CANCELED", "CANCELLED")))
    details.message = error.get("message", "")
    for each in error.get("details", ()):
        packed = details.details.add(type_url=f"type.googleapis.com/{each['type']}")
        packed.value = base64.b64decode(each["value"] + "===")
    return Outcome(http, error["code"], details.message, messages, details.SerializeToString())


def read_grpc_web(answer: httpx.Response, codec: Codec) -> Outcome:
    """Return the outcome that a gRPC-Web response states."""
    if answer.status_code != 200 or "grpc-status" in answer.headers:
        return _ended(answer.status_code, dict(answer.headers), [])
    *messages, (flags, last) = _envelopes(answer.content)
    assert flags == 0x80
    trailers = dict(line.split(": ", 1) for line in last.decode().splitlines())
    return _ended(200, trailers, [codec.read(message) for _, message in messages])


def packed(data: bytes, compression: str) -> bytes:
    """Return a message in compressed form."""
    return gzip.compress(data) if compression == "gzip" else data


Reader = Callable[[httpx.Response, Codec], Outcome]
