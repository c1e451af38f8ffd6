"""Clients for the tests of the fast door: Peer sends single frames, and Bystander must not be affected by attacks."""

import select
import socket
import struct
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import unquote

import grpc
from hpack import Decoder, Encoder
from tools.played_frames import (
    ACK,
    DATA,
    END_HEADERS,
    END_STREAM,
    FRAME_SIZE,
    GOAWAY,
    HEADERS,
    MAX_FRAME,
    MAX_NUMBER,
    PING,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW,
    WINDOW_UPDATE,
    Frame,
    data,
    message,
    ping,
    setting,
    window,
)

from chatiere import engine
from chatiere.service.base.settings import split_address
from chatiere.v1.batch_service_pb2 import PlayRequest, PlayResponse
from chatiere.v1.game_service_pb2 import NewGameRequest

from ..process import Served
from ..support import PATIENCE, Running

PLAY = "/chatiere.v1.BatchService/Play"
LIST_GAMES, NEW_GAME = "/chatiere.v1.GameService/ListGames", "/chatiere.v1.GameService/NewGame"
# A call whose response is always the same.
SMALL = NewGameRequest(game=engine.games()[0].name, players=engine.games()[0].min_players, seed=7).SerializeToString()
# Frames with which a client allows the server to send responses of any size.
TAKES_ALL = (setting(WINDOW, MAX_NUMBER), setting(FRAME_SIZE, MAX_FRAME), window(0, MAX_NUMBER - 65_535))
OK = (grpc.StatusCode.OK, "")
_CHUNK = 2**18
_T = TypeVar("_T")


def fast_address(server: Running | Served) -> str:
    if isinstance(server, Served):
        return server.fast_address
    assert server.server.fast_port is not None
    return f"127.0.0.1:{server.server.fast_port}"


class Peer:
    """A client that sends single frames, to a server or over an existing connection.

    If `greets` is False, the client does not send the HTTP/2 preface and SETTINGS. The client acknowledges the server's
    SETTINGS and pings when they arrive.

    Attributes:
        messages: The messages received, by stream.
        heads: The first headers, by stream.
        ends: The headers that ended the stream, by stream.
        resets: The error code of RST_STREAM, by stream.
        settings: The server's settings.
        given: The sum of the window increments for the connection.
        farewell: The error code and the text of the server's GOAWAY, or None if none was received.
    """

    def __init__(
        self,
        server: Running | Served | socket.socket,
        *greeting: Frame,
        greets: bool = True,
        source: str = "127.0.0.1",
    ) -> None:
        if isinstance(server, socket.socket):
            self.socket = server
        else:
            address = split_address(fast_address(server))
            self.socket = socket.create_connection(address, PATIENCE, source_address=(source, 0))
        self._came = bytearray()
        self.encoder, self.decoder = Encoder(), Decoder()
        self._parts: dict[int, bytes] = {}
        self.messages: dict[int, list[bytes]] = {}
        self.heads: dict[int, dict[str, str]] = {}
        self.ends: dict[int, dict[str, str]] = {}
        self.resets: dict[int, int] = {}
        self.settings: dict[int, int] = {}
        self.given = 0
        self.farewell: tuple[int, str] | None = None
        self._greets = greets
        if greets:
            self.socket.sendall(PREFACE)
            self.send(*(greeting or (Frame(SETTINGS, 0, 0, b""),)))

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, *frames: Frame | bytes) -> None:
        self.socket.sendall(b"".join(map(bytes, frames)))

    def pour(self, chunks: Iterable[bytes]) -> None:
        """Send all chunks, unless the server ends the connection before. Read responses in the meantime."""
        end = time.monotonic() + PATIENCE
        self.socket.setblocking(False)
        # The server may close the connection in the middle of a chunk.
        with suppress(OSError):
            for chunk in chunks:
                left = memoryview(chunk)
                while left:
                    assert time.monotonic() < end, "the server neither reads all data nor ends the connection"
                    readable, writable, _ = select.select([self.socket], [self.socket], [], PATIENCE)
                    if readable:
                        self._receive()
                    if writable:
                        left = left[self.socket.send(left) :]
        self.socket.settimeout(PATIENCE)

    def _receive(self) -> None:
        came = self.socket.recv(_CHUNK)
        if not came:
            raise ConnectionResetError
        self._came += came

    def _take(self, size: int) -> bytes:
        while len(self._came) < size:
            try:
                self._receive()
            except ConnectionError:
                raise EOFError from None
        taken = bytes(self._came[:size])
        del self._came[:size]
        return taken

    def headers(
        self, stream: int = 1, flags: int = END_HEADERS, path: str = PLAY, without: str = "", **others: str
    ) -> Frame:
        """Return a call's headers. Keywords are other headers: `__path` is ":path", `grpc_timeout` "grpc-timeout"."""
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        } | {name.replace("__", ":").replace("_", "-"): value for name, value in others.items()}
        headers.pop(without, None)
        return self.block(list(headers.items()), stream, flags)

    def block(self, headers: list[tuple[str, str]], stream: int = 1, flags: int = END_HEADERS) -> Frame:
        """Return a HEADERS frame with exactly these headers."""
        return Frame(HEADERS, flags, stream, self.encoder.encode(headers))

    def call(self, stream: int = 1, path: str = LIST_GAMES, content: bytes = b"", **others: Any) -> list[Frame]:
        """Return a whole call with one request. Keywords are as in `headers`."""
        return [self.headers(stream, path=path, **others), data(message(content), END_STREAM, stream)]

    def frame(self) -> Frame:
        """Return the next frame. Raises EOFError."""
        size_and_kind, flags, stream = struct.unpack(">IBI", self._take(9))
        frame = Frame(size_and_kind & 0xFF, flags, stream, self._take(size_and_kind >> 8))
        if frame.kind == DATA:
            self._parts[stream] = self._parts.get(stream, b"") + frame.payload
            while len(part := self._parts[stream]) >= 5 and len(part) >= (end := 5 + int.from_bytes(part[1:5])):
                assert part[0] == 0
                self.messages.setdefault(stream, []).append(part[5:end])
                self._parts[stream] = part[end:]
        elif frame.kind == HEADERS:
            assert flags & END_HEADERS
            headers = {str(name): str(value) for name, value in self.decoder.decode(frame.payload)}
            (self.ends if flags & END_STREAM else self.heads)[stream] = headers
        elif frame.kind == RST_STREAM:
            (self.resets[stream],) = struct.unpack(">I", frame.payload)
        elif frame.kind == WINDOW_UPDATE:
            self.given += int.from_bytes(frame.payload)
        elif frame.kind == GOAWAY:
            self.farewell = int.from_bytes(frame.payload[4:8]), frame.payload[8:].decode()
        elif frame.kind == SETTINGS and not flags & ACK:
            self.settings |= dict(struct.iter_unpack(">HI", frame.payload))
            self._acknowledge(Frame(SETTINGS, ACK, 0, b""))
        elif frame.kind == PING and not flags & ACK:
            self._acknowledge(frame._replace(flags=ACK))
        return frame

    def _acknowledge(self, frame: Frame) -> None:
        # The server may have closed the connection.
        with suppress(OSError):
            self.send(*([frame] if self._greets else []))

    def skip_to(self, kind: int, flags: int = 0) -> Frame:
        while (frame := self.frame()).kind != kind or frame.flags & flags != flags:
            pass
        return frame

    def answers(self, count: int, stream: int = 1) -> list[bytes]:
        """Return the first `count` messages of a call."""
        while len(self.messages.get(stream, ())) < count:
            assert stream not in self.ends, f"the call has ended: {self.ends[stream]}"
            self.frame()
        return self.messages[stream][:count]

    def trailers(self, stream: int = 1) -> dict[str, str]:
        """Return the headers that end a call."""
        while stream not in self.ends:
            assert stream not in self.resets, f"the call was reset: {self.resets[stream]}"
            self.frame()
        return self.ends[stream]

    def end(self, stream: int = 1) -> tuple[grpc.StatusCode, str]:
        """Return the status of a call."""
        end = self.trailers(stream)
        (code,) = [code for code in grpc.StatusCode if str(code.value[0]) == end["grpc-status"]]
        return code, unquote(end.get("grpc-message", ""))

    def rest(self) -> None:
        """Read until the server ends the connection."""
        with suppress(EOFError):
            while True:
                self.frame()

    def goodbye(self) -> tuple[int, str]:
        """Return the error and the text of the server's GOAWAY. The server must send one."""
        self.rest()
        assert self.farewell is not None, "the connection ended without a GOAWAY"
        return self.farewell

    def ping(self, content: bytes = b"whothere") -> None:
        """Wait until the server has read all data sent so far."""
        self.send(ping(content))
        while self.skip_to(PING, ACK).payload != content:
            pass

    def calls(self, stream: int, content: bytes = b"") -> None:
        """Make a call, and check that it is answered."""
        self.send(self.headers(stream), data(message(content), END_STREAM, stream))
        (answer,) = self.answers(1, stream)
        assert answer == content
        assert self.end(stream) == OK


class Bystander:
    """A client that makes ordinary calls on a connection with an open stream of batches."""

    def __init__(self, server: Running | Served) -> None:
        self._peer = Peer(server, *TAKES_ALL)
        self._peer.send(self._peer.headers())
        self._stream = self._tag = 1
        self.response = self._call()

    def __enter__(self) -> "Bystander":
        return self

    def __exit__(self, *_: object) -> None:
        self._peer.close()

    def _call(self) -> bytes:
        self._stream += 2
        self._peer.send(*self._peer.call(self._stream, NEW_GAME, SMALL))
        assert self._peer.end(self._stream) == OK
        (response,) = self._peer.messages.pop(self._stream)
        del self._peer.ends[self._stream], self._peer.heads[self._stream]
        return response

    def is_served(self) -> None:
        """Make a call and send a request on the stream. Check that both are answered."""
        self._tag += 1
        self._peer.send(data(message(PlayRequest(tag=self._tag).SerializeToString())))
        assert self._call() == self.response
        (response,) = self._peer.answers(1)
        assert PlayResponse.FromString(response).tag == self._tag
        del self._peer.messages[1]

    def is_served_during(self, attack: Callable[..., _T], *arguments: Any) -> _T:
        """Make calls before, during and after an attack. The attack runs in another thread. Return its result."""
        self.is_served()
        with ThreadPoolExecutor(1) as others:
            attacking = others.submit(attack, *arguments)
            while not attacking.done():
                self.is_served()
        self.is_served()
        return attacking.result()
