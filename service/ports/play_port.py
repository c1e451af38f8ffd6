"""A port for streams of batches alone: BatchService.Play on connections of our own, without gRPC's library.

Of a batch gRPC's server takes more time than the games: its threads hand a call's messages on to one another, and copy
them. Here a connection has a thread, which reads a request, answers it and writes the answer. What stands around calls
(tokens, limits, errors, metrics, log) is the same as on gRPC's port.
"""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import logging
import select
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import grpc

from chatiere.http2 import frames
from chatiere.http2.connection import Broken, Buffer, Connection, Ended, ProtocolError, milliseconds
from chatiere.service.calls.errors import Refusal, ServiceReason
from chatiere.service.ports.call_context import Aborted, CallContext, Gone
from chatiere.service.ports.listening import listening_sockets
from chatiere.service.process.settings import Settings

_log = logging.getLogger(__name__)

# Seconds for a client to begin as HTTP/2 does; to take an answer that it has asked for, because learners may be busy
# with something else; and to hear why a connection ends.
_GREETING, _PATIENCE, _FAREWELL = 30.0, 600.0, 1.0
# Seconds after which a connection without a call is closed.
_IDLE = 300.0
_PAUSE = 0.1
# Bytes of requests that a client may send ahead of its answers, beside one request of the largest size; and how many.
_WINDOW, _MOST_REQUESTS = 2**22, 2**14
_STOPPING = "the server stops: begin again, at another one"
# The stream's own window never matters.
_STREAM_WINDOW = 2**30
# What answers a call: requests and context → responses, in pieces to be joined.
Behaviour = Callable[[Iterator[memoryview], grpc.ServicerContext], Iterator[list[Buffer]]]


class PlayPort:
    """The port: start it, and stop it once."""

    def __init__(
        self, settings: Settings, address: str, behaviour_of: Callable[[str], Behaviour | None], *, share_port: bool
    ) -> None:
        """Listen on an address, without answering yet.

        `behaviour_of`: what answers the calls of a path, None if there is no such path. Raises SettingError:
        fast_address.
        """
        self._settings = settings
        self._behaviour_of = behaviour_of
        self._listening = listening_sockets("fast_address", address, share_port=share_port)
        self.port: int = self._listening[0].getsockname()[1]
        """The number of the port."""
        # What is sent here is never read: whoever looks is told that the server stops.
        self._told, self._tells = socket.socketpair()
        self._connections: set[_Connection] = set()
        self._changing = threading.Lock()
        self._is_stopping = self._is_closed = False
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
        if is_first:
            self._tells.send(b"\0")
            # Whoever accepts closes the sockets.
            self.start()
        threading.Thread(target=self._cut_after, args=(grace or 0,), name="play port's end", daemon=True).start()
        return self._ended

    def _cut_after(self, grace: float) -> None:
        if self._ended.wait(grace):
            return
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
        for each in self._listening:
            each.close()
        with self._changing:
            self._is_closed = True
        self._end_if_over()

    def _connect(self, listening: Any) -> None:
        # Whatever is wrong, others are to find the port.
        try:
            connected, _ = listening.accept()
        except (BlockingIOError, ConnectionError):
            # The client is gone already.
            return
        except OSError as error:
            # The process may open no more files, which may change.
            _log.warning("a connection for streams could not be taken: %s", error)
            time.sleep(_PAUSE)
            return
        try:
            self._begin(_Connection(connected, self._told, self._settings, self._behaviour_of))
        except OSError:
            # The client is gone already.
            connected.close()
        except Exception as error:
            # There may be no more threads, or no memory.
            _log.warning("a connection for streams could not be served: %s", error)
            connected.close()

    def _begin(self, connection: _Connection) -> None:
        with self._changing:
            is_refused = self._is_stopping or len(self._connections) >= self._settings.max_streams
            if not is_refused:
                self._connections.add(connection)
        if is_refused:
            most = f"{self._settings.max_streams} streams are open, which is the most"
            connection.refuse(_STOPPING if self._is_stopping else most)
            return
        try:
            threading.Thread(target=self._serve, args=(connection,), name="play", daemon=True).start()
        except BaseException:
            self._forget(connection)
            raise

    def _serve(self, connection: _Connection) -> None:
        try:
            connection.serve()
        except Exception:
            _log.exception("a connection for streams failed")
        finally:
            self._forget(connection)

    def _forget(self, connection: _Connection) -> None:
        with self._changing:
            self._connections.discard(connection)
        self._end_if_over()

    def _end_if_over(self) -> None:
        with self._changing:
            if self._is_closed and not self._connections:
                # Not before: connections look at it.
                self._told.close()
                self._tells.close()
                self._ended.set()


class _Call:
    """A call, as what has come of its stream tells."""

    def __init__(self, headers: list[tuple[str, str]], has_ended: bool) -> None:
        self.headers = headers
        # Whether the client sends nothing more, and has reset the stream.
        self.has_ended = has_ended
        self.is_reset = False
        # What was wrong with a message.
        self.fault: Refusal | None = None


class _Connection(Connection):
    """One client's."""

    def __init__(
        self,
        connected: socket.socket,
        stopping: socket.socket,
        settings: Settings,
        behaviour_of: Callable[[str], Behaviour | None],
    ) -> None:
        """`stopping` can be read when the server stops. Raises OSError if the client is gone."""
        super().__init__(
            connected,
            patience=_PATIENCE,
            window=_WINDOW,
            longest=settings.max_message_bytes,
            most=_MOST_REQUESTS,
        )
        self._behaviour_of = behaviour_of
        self._peer = _name_of(connected.getpeername())
        self._either = select.poll()
        self._either.register(connected, select.POLLIN)
        self._either.register(stopping, select.POLLIN)
        self._is_greeted = self._is_draining = False
        # That of the present stream, if there is one; the one that is to be answered next; the context of the last.
        self._call: _Call | None = None
        self._next: _Call | None = None
        self._context: CallContext | None = None

    def serve(self) -> None:
        """Answer calls until the connection ends; if the server stops, after the requests that have come."""
        try:
            self._greet()
            while (call := self._next_call()) is not None:
                self._answer_call(call)
            self._leave(frames.NO_ERROR, _STOPPING)
        except ProtocolError as error:
            self._leave(frames.PROTOCOL_ERROR, str(error))
        except (Broken, TimeoutError) as error:
            self._leave(frames.NO_ERROR, str(error))
        finally:
            self._hear_out()
            self._socket.close()

    def refuse(self, reason: str) -> None:
        """End the connection before it begins."""
        with suppress(Broken):
            self._send(frames.settings({}))
        self._leave(frames.ENHANCE_YOUR_CALM, reason)
        self._socket.close()

    def cut(self) -> None:
        """End it; from another thread."""
        if (context := self._context) is not None:
            context.finish()
        # It may have ended.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _greet(self) -> None:
        settings = {
            frames.MAX_CONCURRENT_STREAMS: 1,
            frames.INITIAL_WINDOW_SIZE: _STREAM_WINDOW,
            frames.MAX_FRAME_SIZE: frames.LARGEST_FRAME,
        }
        window = frames.NUMBER.pack(_WINDOW - frames.DEFAULT_WINDOW)
        self._send(frames.settings(settings), frames.frame(frames.WINDOW_UPDATE, 0, 0, window))
        end = time.monotonic() + _GREETING
        while not self._is_greeted and not self._is_draining:
            self._wait(end - time.monotonic())

    def _leave(self, error: int, reason: str) -> None:
        # Tell why the connection ends, as far as the client listens.
        self._patience = _FAREWELL
        payload = frames.NUMBER.pack(self._last) + frames.NUMBER.pack(error) + reason.encode()
        with suppress(Broken, OSError):
            self._send(frames.frame(frames.GOAWAY, 0, 0, payload))
            self._socket.shutdown(socket.SHUT_WR)

    def _hear_out(self) -> None:
        # To close before the client has nothing more to say would take back what it has not read yet.
        end = time.monotonic() + _FAREWELL
        with suppress(OSError):
            while (left := end - time.monotonic()) > 0 and self._readable.poll(1000 * left):
                if not self._socket.recv(_WINDOW):
                    break

    def _next_call(self) -> _Call | None:
        # Whatever else it says, a connection without a call takes others' place.
        end = time.monotonic() + _IDLE
        while self._next is None:
            if self._is_draining or self._is_deaf:
                return None
            self._wait(end - time.monotonic())
        call, self._next = self._next, None
        return call

    def _answer_call(self, call: _Call) -> None:
        context = self._context = CallContext(self._peer, call.headers)
        try:
            self._send(self._headers(0, [(":status", "200"), ("content-type", "application/grpc")]))
            self._answer_requests(call, context)
        except Gone as gone:
            if isinstance(gone.__cause__, Broken):
                # No more can be said, but why.
                raise gone.__cause__ from None
            if self._is_draining:
                context.set_code(grpc.StatusCode.UNAVAILABLE)
                context.set_details(_STOPPING)
        except Aborted:
            pass
        finally:
            context.finish()
        if not call.is_reset:
            end = [self._headers(frames.END_STREAM, context.trailers())]
            if not call.has_ended:
                # What the client still wants to send is not read.
                end.append(frames.frame(frames.RST_STREAM, 0, self.stream, frames.NUMBER.pack(frames.NO_ERROR)))
            # Before the client knows, which may begin the next at once.
            self._leave_stream()
            self._send(*end)

    def _answer_requests(self, call: _Call, context: CallContext) -> None:
        context.check()
        behaviour = self._behaviour_of(context.path)
        if behaviour is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this port has streams of batches alone")
        for response in behaviour(self._requests(call, context), context):
            self._send_message(response)
            while self._outgoing and self._is_heard(call):
                self._wait(_PATIENCE)
            if not self._is_heard(call):
                raise Gone

    def _requests(self, call: _Call, context: CallContext) -> Iterator[memoryview]:
        while True:
            if not self._is_heard(call):
                raise Gone
            remaining = context.time_remaining()
            if remaining == 0:
                raise Refusal(ServiceReason.TIME_LIMIT, "deadline exceeded", metadata={})
            if self._messages:
                yield self._take_message()
                continue
            if call.fault is not None:
                raise call.fault
            if call.has_ended:
                return
            if self._is_draining and not self._has_part:
                raise Gone
            try:
                # What has come in that time is looked at above.
                with suppress(TimeoutError):
                    self._wait(remaining)
            except Broken as error:
                raise Gone from error

    def _is_heard(self, call: _Call) -> bool:
        # Whether the client still wants answers.
        return not call.is_reset and not self._is_deaf

    def _leave_stream(self) -> None:
        self._call = None
        self._begin_stream(0)

    def _wait(self, seconds: float | None) -> None:
        was_draining = self._is_draining
        super()._wait(seconds)
        if self._is_draining and not was_draining:
            # All that has come is to be answered. It is no more than the windows have room for, and its end can wait.
            with suppress(Ended):
                while self._readable.poll(0):
                    self._read()
            # A window may have come among it, or a ping.
            self._send()
            self._send_outgoing()

    def _has_come(self, seconds: float | None) -> bool:
        if self._is_draining:
            return super()._has_come(seconds)
        events = self._either.poll(milliseconds(seconds))
        if not events:
            raise TimeoutError("nothing has come")
        found = [descriptor for descriptor, _ in events]
        self._is_draining = found != [self._socket.fileno()]
        return self._socket.fileno() in found

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
        call = self._call
        if call is not None and stream == self.stream and ends and not call.has_ended:
            self._take_end()
            return
        if stream <= self._last or stream % 2 == 0:
            raise ValueError(f"headers of stream {stream}")
        if call is not None:
            self._last = stream
            self._answer(frames.frame(frames.RST_STREAM, 0, stream, frames.NUMBER.pack(frames.REFUSED_STREAM)))
            return
        self._begin_stream(stream)
        self._call = self._next = _Call(headers, ends)

    def _take_end(self) -> None:
        assert self._call is not None
        self._call.has_ended = True
        if self._has_part:
            self._call.fault = Refusal(ServiceReason.MALFORMED_REQUEST, "the last message breaks off", metadata={})

    def _take_reset(self, error: int) -> None:
        assert self._call is not None
        self._call.is_reset = True
        self._next = None
        self._leave_stream()

    def _take_goaway(self, last: int, text: str) -> None:
        # It will leave.
        pass

    def _refuse_message(self, reason: str, *, is_limit: bool) -> None:
        assert self._call is not None
        kind = ServiceReason.LIMIT_EXCEEDED if is_limit else ServiceReason.MALFORMED_REQUEST
        self._call.fault = Refusal(kind, reason, metadata={})


def _name_of(place: tuple[Any, ...]) -> str:
    # An address as gRPC tells it.
    host, port = place[:2]
    host = host.removeprefix("::ffff:")
    return f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
