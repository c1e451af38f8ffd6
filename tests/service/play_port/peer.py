"""Shared by the tests of the port for streams: servers with one, and a client played frame by frame."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import grpc
import pytest
from hpack import Decoder, Encoder
from played_frames import (
    ACK,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Frame,
    data,
    message,
)

from chatiere.service.calls.batch_service import BatchService
from chatiere.service.process.settings import Settings
from chatiere.v1.batch_service_pb2 import (
    PlayRequest,
    PlayResponse,
)

from ..process import wait_until
from ..support import PATIENCE, Running, running

PLAY = "/chatiere.v1.BatchService/Play"
LABELS = {"grpc_type": "bidi_stream", "grpc_service": "chatiere.v1.BatchService", "grpc_method": "Play"}
# HTTP/2's settings and errors by number.
TABLE_SIZE, STREAMS, WINDOW, FRAME_SIZE = 1, 3, 4, 5
NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM = 0, 1, 7, 11
# What the service is ready to take ahead of its answers.
AHEAD = 2**22


def own(**more: Any) -> Settings:
    return Settings(**{"address": "127.0.0.1:0", "fast_address": "127.0.0.1:0", "log_calls": True, **more})


@contextmanager
def playing(**more: Any) -> Iterator[Running]:
    with running(own(**more)) as server:
        yield server


def fast_address(server: Running) -> str:
    return f"127.0.0.1:{server.server.fast_port}"


class Peer:
    """A client, frame by frame.

    `messages`, `ends`, `resets`: what has come so far, by stream; `given`: to windows, in all.
    """

    def __init__(self, server: Running, *greeting: Frame, greets: bool = True) -> None:
        assert server.server.fast_port is not None
        self.socket = socket.create_connection(("127.0.0.1", server.server.fast_port), PATIENCE)
        self._came = self.socket.makefile("rb")
        self._encoder, self._decoder = Encoder(), Decoder()
        self._parts: dict[int, bytes] = {}
        self.messages: dict[int, list[bytes]] = {}
        self.ends: dict[int, dict[str, str]] = {}
        self.resets: dict[int, int] = {}
        self.given = 0
        if greets:
            self.socket.sendall(PREFACE)
            self.send(*(greeting or (Frame(SETTINGS, 0, 0, b""),)))

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._came.close()
        self.socket.close()

    def send(self, *frames: Frame | bytes) -> None:
        self.socket.sendall(b"".join(map(bytes, frames)))

    def headers(self, stream: int = 1, flags: int = END_HEADERS, without: str = "", **others: str) -> Frame:
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": PLAY,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        } | {name.replace("__", ":").replace("_", "-"): value for name, value in others.items()}
        headers.pop(without, None)
        return Frame(HEADERS, flags, stream, self._encoder.encode(list(headers.items())))

    def frame(self) -> Frame:
        """The next that comes. Raises EOFError."""
        head = self._came.read(9)
        if len(head) < 9:
            raise EOFError
        size_and_kind, flags, stream = struct.unpack(">IBI", head)
        frame = Frame(size_and_kind & 0xFF, flags, stream, self._came.read(size_and_kind >> 8))
        if frame.kind == DATA:
            self._parts[stream] = self._parts.get(stream, b"") + frame.payload
            while len(part := self._parts[stream]) >= 5 and len(part) >= (end := 5 + int.from_bytes(part[1:5])):
                assert part[0] == 0
                self.messages.setdefault(stream, []).append(part[5:end])
                self._parts[stream] = part[end:]
        elif frame.kind == HEADERS:
            assert flags & END_HEADERS
            headers = {str(name): str(value) for name, value in self._decoder.decode(frame.payload)}
            if flags & END_STREAM:
                self.ends[stream] = headers
            else:
                assert headers == {":status": "200", "content-type": "application/grpc"}
        elif frame.kind == RST_STREAM:
            (self.resets[stream],) = struct.unpack(">I", frame.payload)
        elif frame.kind == WINDOW_UPDATE:
            self.given += int.from_bytes(frame.payload)
        return frame

    def skip_to(self, kind: int, flags: int = 0) -> Frame:
        while (frame := self.frame()).kind != kind or frame.flags & flags != flags:
            pass
        return frame

    def answers(self, count: int, stream: int = 1) -> list[bytes]:
        """The first so many messages."""
        while len(self.messages.get(stream, ())) < count:
            assert stream not in self.ends, f"the call has ended: {self.ends}"
            self.frame()
        return self.messages[stream][:count]

    def end(self, stream: int = 1) -> tuple[grpc.StatusCode, str]:
        """Return the status of a call."""
        while stream not in self.ends:
            self.frame()
        end = self.ends[stream]
        (code,) = [code for code in grpc.StatusCode if str(code.value[0]) == end["grpc-status"]]
        return code, unquote(end.get("grpc-message", ""))

    def goodbye(self) -> tuple[int, str]:
        """The error and the words with which the connection ends; it must do so."""
        payload = self.skip_to(GOAWAY).payload
        with pytest.raises(EOFError):
            self.frame()
        return int.from_bytes(payload[4:8]), payload[8:].decode()

    def ping(self, content: bytes = b"whothere") -> None:
        """Wait until all that was sent has been read."""
        self.send(Frame(PING, 0, 0, content))
        while self.skip_to(PING, ACK).payload != content:
            pass

    def calls(self, stream: int, content: bytes = b"") -> None:
        """Make a call and end it; it must be answered."""
        self.send(self.headers(stream), data(message(content), END_STREAM, stream))
        (answer,) = self.answers(1, stream)
        assert answer == content
        assert self.end(stream) == (grpc.StatusCode.OK, "")


class Slow:
    """Answers that take until they are released; each is its request."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.released = threading.Semaphore(0), threading.Semaphore(0)
        self.cancelled: list[bool] = []
        monkeypatch.setattr(BatchService, "play", self._play)

    def _play(self, request: memoryview, cancellation: Any) -> list[bytes]:
        self.entered.release()
        assert self.released.acquire(timeout=PATIENCE)
        self.cancelled.append(cancellation.cancelled)
        return [bytes(request)]

    def wait_for_request(self) -> None:
        assert self.entered.acquire(timeout=PATIENCE)


def everything_is_answered(server: Running) -> None:
    """Another connection works."""
    with Peer(server) as peer:
        peer.send(peer.headers(), data(message(PlayRequest(tag=7).SerializeToString()), END_STREAM))
        assert PlayResponse.FromString(peer.answers(1)[0]).tag == 7
        assert peer.end() == (grpc.StatusCode.OK, "")


def connections_end() -> None:
    wait_until(lambda: not [each for each in threading.enumerate() if each.name == "play"], "connections end")


def handled(server: Running) -> dict[str, float]:
    names = ("OK", "Canceled", "InvalidArgument", "DeadlineExceeded", "ResourceExhausted", "Unavailable")
    counts = {name: server.sample("grpc_server_handled_total", **LABELS, grpc_code=name) for name in names}
    return {name: count for name, count in counts.items() if count}


def in_flight(server: Running) -> float:
    return server.sample("chatiere_calls_in_flight", grpc_type="bidi_stream")
