"""A client of the web door that encodes its protocols itself."""

import base64
import gzip
import json
import struct
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2, status_pb2
from tools.patience import PATIENCE

from chatiere.v1 import game_service_pb2

Protocol = Literal["connect", "grpc-web"]
Codec = Literal["proto", "json"]
PROTOCOLS: list[Protocol] = ["connect", "grpc-web"]
CODECS: list[Codec] = ["proto", "json"]
GAME_SERVICE = "/chatiere.v1.GameService/"
# Bits of the first byte of an envelope.
COMPRESSED, TRAILERS = 1, 0x80


def envelope(data: bytes, flags: int = 0) -> bytes:
    """Return a message of gRPC-Web."""
    return struct.pack(">BI", flags, len(data)) + data


def envelopes(body: bytes) -> list[tuple[int, bytes]]:
    """Return the flags and contents of a body of gRPC-Web."""
    found = []
    while body:
        flags, length = struct.unpack(">BI", body[:5])
        assert len(body) >= 5 + length
        found.append((flags, body[5 : 5 + length]))
        body = body[5 + length :]
    return found


@dataclass
class Answer:
    """A response: its message, or the error's code (in Connect's spelling), message and details (by type)."""

    http: httpx.Response
    message: Any = None
    code: str = ""
    text: str = ""
    details: dict[str, bytes] = field(default_factory=dict)


def _read(codec: Codec, data: bytes, kind: type[Message]) -> Message:
    return kind.FromString(data) if codec == "proto" else json_format.Parse(data, kind())


def _write(codec: Codec, message: Message) -> bytes:
    return message.SerializeToString() if codec == "proto" else json_format.MessageToJson(message).encode()


class WebClient:
    """A client. `http` makes requests that are not calls."""

    def __init__(self, address: str, scheme: str = "http", **options: Any) -> None:
        self.http = httpx.Client(base_url=f"{scheme}://{address}", trust_env=False, timeout=PATIENCE, **options)

    def __enter__(self) -> "WebClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def call(
        self,
        method: str,
        request: Message,
        kind: type[Message],
        *,
        protocol: Protocol = "connect",
        codec: Codec = "proto",
        compress: bool = False,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Call a method of GameService by its name, or any method by its full path."""
        data = _write(codec, request)
        sent = dict(headers or {})
        if compress:
            data = gzip.compress(data)
            sent["content-encoding" if protocol == "connect" else "grpc-encoding"] = "gzip"
        if protocol == "grpc-web":
            data = envelope(data, COMPRESSED if compress else 0)
        sent["content-type"] = f"application/{'grpc-web+' if protocol == 'grpc-web' else ''}{codec}"
        path = method if method.startswith("/") else GAME_SERVICE + method
        return self.answer(self.http.post(path, content=data, headers=sent), kind, protocol, codec)

    def get(self, method: str, request: Message, kind: type[Message], *, codec: Codec = "proto", **more: str) -> Answer:
        """Call a method of GameService by GET."""
        data = _write(codec, request)
        if codec == "json":
            query = {"message": data.decode()}
        else:
            query = {"message": base64.urlsafe_b64encode(data).decode().rstrip("="), "base64": "1"}
        path = f"{GAME_SERVICE}{method}?{urllib.parse.urlencode({'connect': 'v1', 'encoding': codec, **query})}"
        return self.answer(self.http.get(path, headers=more), kind, "connect", codec)

    def answer(self, http: httpx.Response, kind: type[Message], protocol: Protocol, codec: Codec) -> Answer:
        """Read a response."""
        if http.status_code == 304 or (
            http.status_code >= 400 and not http.headers.get("content-type", "").startswith("application/")
        ):
            return Answer(http)
        if protocol == "connect":
            if http.status_code == 200:
                assert http.headers["content-type"] == f"application/{codec}"
                return Answer(http, _read(codec, http.content, kind))
            assert http.headers["content-type"] == "application/json"
            error = json.loads(http.content)
            details = {each["type"]: base64.b64decode(each["value"] + "===") for each in error.get("details", ())}
            return Answer(http, None, error["code"], error["message"], details)
        assert http.status_code == 200
        assert http.headers["content-type"] == f"application/grpc-web+{codec}"
        *messages, (flags, last) = envelopes(http.content)
        assert flags == TRAILERS
        trailers = dict(line.split(": ", 1) for line in last.decode().splitlines())
        code = int(trailers["grpc-status"])
        if not code:
            (message,) = messages
            assert message[0] == 0
            return Answer(http, _read(codec, message[1], kind))
        assert not messages
        name = code_pb2.Code.Name(code).lower().replace("cancelled", "canceled")
        answer = Answer(http, None, name, urllib.parse.unquote(trailers.get("grpc-message", "")))
        if "grpc-status-details-bin" in trailers:
            status = status_pb2.Status.FromString(base64.b64decode(trailers["grpc-status-details-bin"] + "==="))
            answer.details = {each.TypeName(): each.value for each in status.details}
        return answer

    def new_game(self, **options: Any) -> Answer:
        """Begin a game of Discat, or of the game in `options`."""
        request = game_service_pb2.NewGameRequest(game=options.pop("game", "discat"), players=options.pop("players", 2))
        return self.call("NewGame", request, game_service_pb2.NewGameResponse, **options)
