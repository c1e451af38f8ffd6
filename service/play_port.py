"""A port for streams of batches alone: BatchService.Play on connections of our own, without gRPC's library.

Of a batch gRPC's server takes more time than the games: its threads hand a call's messages on to one another, and copy
them. Here a connection has a thread, which reads a request, answers it and writes the answer. What stands around calls
(tokens, limits, errors, metrics, log) is the same as on gRPC's port.
"""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import grpc

from chatiere.http2 import frames
from chatiere.http2.connection import Broken, Connection, ProtocolError
from chatiere.service.call_context import Aborted, CallContext, Gone
from chatiere.service.config import Settings
from chatiere.service.errors import Refusal, ServiceReason
from chatiere.service.port import listening_sockets

_log = logging.getLogger(__name__)

# Seconds for a client to begin as HTTP/2 does; to take an answer that it has asked for, because learners may be busy
# with something else; and to hear why a connection ends.
_GREETING, _PATIENCE, _FAREWELL = 30.0, 600.0, 1.0
# Seconds after which a connection without a call is closed.
_IDLE = 300.0
_PAUSE = 0.1
# Bytes of requests that a client may send ahead of its answers, beside one request of the largest size.
_WINDOW = 2**22
# Longer than any deadline that is meant.
_LONGEST_WAIT = 1e6
# The stream's own window never matters.
_STREAM_WINDOW = 2**30
# What answers a call: requests and context → responses, in pieces to be joined.
Behaviour = Callable[[Iterator[memoryview], grpc.ServicerContext], Iterator[list[bytes]]]


class PlayPort:
    """The port: start it, and stop it once."""

    def __init__(
        self, settings: Settings, address: str, behaviour_of: Callable[[str], Behaviour | None], *, share_port: bool
    ) -> None:
        """Listen on an address, without answering yet.

        `behaviour_of`: what answers the calls of a path, None if there is no such path. Raises SettingError:
        play_address.
        """
        self._settings = settings
        self._behaviour_of = behaviour_of
        option = socket.SO_REUSEPORT if share_port else socket.SO_REUSEADDR
        self._listening = listening_sockets("play_address", address, option)
        self.port: int = self._listening[0].getsockname()[1]
        """The number of the port."""
        self._told, self._tells = socket.socketpair()
        self._connections: set[_Connection] = set()
        self._changing = threading.Lock()
        self._is_stopping = False
        self._ended = threading.Event()
        self._accepting = threading.Thread(target=self._accept, name="play port", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        with suppress(RuntimeError):
            # It has begun.
            self._accepting.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Answer what has come, and end all streams; those that last longer than `grace` seconds (None: 0) are cut.

        Returns an event that is set when all have ended.
        """
        with self._changing:
            is_first, self._is_stopping = not self._is_stopping, True
            connections = list(self._connections)
        if is_first:
            # Whoever accepts closes the sockets.
            self._tells.send(b"\0")
            self.start()
        for connection in connections:
            connection.drain()
        self._end_if_empty()
        cutting = threading.Timer(grace or 0, self._cut)
        cutting.daemon = True
        cutting.start()
        return self._ended

    def _cut(self) -> None:
        with self._changing:
            connections = list(self._connections)
        for connection in connections:
            connection.cut()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            for each in (*self._listening, self._told):
                selector.register(each, selectors.EVENT_READ)
            while not self._is_stopping:
                for key, _ in selector.select():
                    if key.fileobj is not self._told and not self._is_stopping:
                        self._connect(key.fileobj)
        for each in (*self._listening, self._told, self._tells):
            each.close()

    def _connect(self, listening: Any) -> None:
        try:
            connected, _ = listening.accept()
            connection = _Connection(connected, self._settings, self._behaviour_of)
        except OSError as error:
            # The client is gone already; or the process may open no more files, which may change.
            _log.warning("a connection for streams could not be taken: %s", error)
            time.sleep(_PAUSE)
            return
        with self._changing:
            is_refused = self._is_stopping or len(self._connections) >= self._settings.max_streams
            if not is_refused:
                self._connections.add(connection)
        if is_refused:
            connection.refuse(f"{self._settings.max_streams} streams are open, which is the most")
        else:
            threading.Thread(target=self._serve, args=(connection,), name="play", daemon=True).start()

    def _serve(self, connection: _Connection) -> None:
        try:
            connection.serve()
        except Exception:
            _log.exception("a connection for streams failed")
        finally:
            with self._changing:
                self._connections.discard(connection)
            self._end_if_empty()

    def _end_if_empty(self) -> None:
        if self._is_stopping and not self._connections:
            self._ended.set()


class _Connection(Connection):
    """One client's."""

    def __init__(
        self, connected: socket.socket, settings: Settings, behaviour_of: Callable[[str], Behaviour | None]
    ) -> None:
        """See PlayPort. Raises OSError if the client is gone."""
        super().__init__(connected, patience=_PATIENCE, window=_WINDOW, longest=settings.max_message_bytes)
        self._behaviour_of = behaviour_of
        self._peer = _name_of(connected.getpeername())
        self._is_greeted = self._is_draining = False
        # The headers of a call that is to be answered next, and the present call's context.
        self._next: list[tuple[str, str]] | None = None
        self._context: CallContext | None = None
        # Of the present stream: whether the client sends nothing more, has reset it, and what was wrong with a message.
        self._has_ended = self._is_reset = False
        self._fault = ""

    def serve(self) -> None:
        """Answer calls until the connection ends."""
        try:
            self._greet()
            while (headers := self._next_call()) is not None:
                self._answer_call(CallContext(self._peer, headers))
        except ProtocolError as error:
            self._leave(frames.PROTOCOL_ERROR, str(error))
        except (Broken, TimeoutError):
            self._leave(frames.NO_ERROR, "")
        finally:
            self._hear_out()
            self._socket.close()

    def refuse(self, reason: str) -> None:
        """End the connection before it begins."""
        self._send(frames.settings({}))
        self._leave(frames.ENHANCE_YOUR_CALM, reason)
        self._socket.close()

    def drain(self) -> None:
        """Let it end after answering the requests that have come; from another thread."""
        self._is_draining = True
        self._shut(socket.SHUT_RD)

    def cut(self) -> None:
        """End it; from another thread."""
        if (context := self._context) is not None:
            context.finish()
        self._shut(socket.SHUT_RDWR)

    def _shut(self, how: int) -> None:
        # It may have ended.
        with suppress(OSError):
            self._socket.shutdown(how)

    def _greet(self) -> None:
        settings = {
            frames.MAX_CONCURRENT_STREAMS: 1,
            frames.INITIAL_WINDOW_SIZE: _STREAM_WINDOW,
            frames.MAX_FRAME_SIZE: frames.LARGEST_FRAME,
        }
        window = frames.NUMBER.pack(_WINDOW - frames.DEFAULT_WINDOW)
        self._send(frames.settings(settings), frames.frame(frames.WINDOW_UPDATE, 0, 0, window))
        end = time.monotonic() + _GREETING
        while not self._is_greeted:
            self._wait(end - time.monotonic())

    def _leave(self, error: int, reason: str) -> None:
        # Tell why the connection ends, as far as the client listens.
        payload = frames.NUMBER.pack(self._last) + frames.NUMBER.pack(error) + reason.encode()
        with suppress(Broken, OSError):
            self._send(frames.frame(frames.GOAWAY, 0, 0, payload))
            self._socket.shutdown(socket.SHUT_WR)

    def _hear_out(self) -> None:
        # To close before the client has nothing more to say would take back what it has not read yet.
        end = time.monotonic() + _FAREWELL
        with suppress(OSError):
            while self._readable.poll(1000 * max(end - time.monotonic(), 0)) and self._socket.recv(_WINDOW):
                pass

    def _next_call(self) -> list[tuple[str, str]] | None:
        while self._next is None:
            self._wait(_IDLE)
        headers, self._next = self._next, None
        return headers

    def _answer_call(self, context: CallContext) -> None:
        self._context = context
        self._send(self._headers(0, [(":status", "200"), ("content-type", "application/grpc")]))
        try:
            self._answer_requests(context)
        except Gone:
            if self._is_draining:
                context.set_code(grpc.StatusCode.UNAVAILABLE)
                context.set_details("the server stops")
        except Aborted:
            pass
        finally:
            context.finish()
        if not self._is_reset:
            # What the client still wants to send is not read.
            reset = frames.frame(frames.RST_STREAM, 0, self.stream, frames.NUMBER.pack(frames.NO_ERROR))
            self._send(self._headers(frames.END_STREAM, context.trailers()), reset)
        self._begin_stream(0)

    def _answer_requests(self, context: CallContext) -> None:
        context.check()
        behaviour = self._behaviour_of(context.path)
        if behaviour is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this port has streams of batches alone")
        for response in behaviour(self._requests(context), context):
            self._send_message(response)
            while self._outgoing and not self._is_reset:
                self._wait(_PATIENCE)
            if self._is_reset:
                raise Gone

    def _requests(self, context: CallContext) -> Iterator[memoryview]:
        try:
            while True:
                while not self._messages:
                    if self._is_reset:
                        raise Gone
                    if self._fault:
                        raise Refusal(ServiceReason.LIMIT_EXCEEDED, self._fault, metadata={})
                    if self._has_ended:
                        return
                    if self._is_draining:
                        raise Gone
                    remaining = context.time_remaining()
                    self._wait(remaining if remaining < _LONGEST_WAIT else None)
                yield self._take_message()
        except TimeoutError:
            raise Refusal(ServiceReason.TIME_LIMIT, "the call has had its time", metadata={}) from None
        except Broken as error:
            raise Gone from error

    # What comes

    def _take(self) -> bool:
        if self._is_greeted:
            return super()._take()
        came = bytes(self._buffer[: min(self._come, len(frames.PREFACE))])
        if came != frames.PREFACE[: len(came)]:
            raise ValueError("the client does not begin as HTTP/2 does")
        self._is_greeted = came == frames.PREFACE
        self._begin = len(came) if self._is_greeted else 0
        return self._is_greeted

    def _take_headers(self, stream: int, ends: bool, headers: list[tuple[str, str]]) -> None:
        if stream == self.stream and ends and not self._has_ended:
            self._has_ended = True
            return
        if stream <= self._last or stream % 2 == 0:
            raise ValueError(f"headers of stream {stream}")
        if self.stream:
            self._last = stream
            self._answer(frames.frame(frames.RST_STREAM, 0, stream, frames.NUMBER.pack(frames.REFUSED_STREAM)))
            return
        self._begin_stream(stream)
        self._next = headers
        self._has_ended, self._is_reset, self._fault = ends, False, ""

    def _take_end(self) -> None:
        self._has_ended = True

    def _take_reset(self, error: int) -> None:
        self._is_reset = True
        if self._next is not None:
            self._next = None
            self._begin_stream(0)

    def _take_goaway(self, last: int, text: str) -> None:
        # It will leave.
        pass

    def _refuse_message(self, reason: str) -> None:
        self._fault = reason


def _name_of(place: tuple[Any, ...]) -> str:
    # An address as gRPC tells it.
    host, port = place[:2]
    host = host.removeprefix("::ffff:")
    return f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
