"""A gRPC call with a stream each way, over a socket of its own: gRPC's protocol without gRPC's library."""

import base64
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of_status
from chatiere.http2 import frames
from chatiere.http2.connection import Broken, Buffer, Connection, ProtocolError, Stuck

_STREAM = 1
# A message may be as long as a prefix can say.
_LONGEST = 2**32 - 1
# Statuses by number: https://grpc.github.io/grpc/core/md_doc_statuscodes.html.
_CODES = {code.value[0]: code for code in grpc.StatusCode}
# What a reset stream's error means, and an answer that is HTTP's alone, where it is no INTERNAL or UNKNOWN.
_OF_RESET = {
    frames.REFUSED_STREAM: grpc.StatusCode.UNAVAILABLE,
    frames.CANCEL: grpc.StatusCode.CANCELLED,
    frames.ENHANCE_YOUR_CALM: grpc.StatusCode.RESOURCE_EXHAUSTED,
    frames.INADEQUATE_SECURITY: grpc.StatusCode.PERMISSION_DENIED,
}
_OF_HTTP = {
    "400": grpc.StatusCode.INTERNAL,
    "401": grpc.StatusCode.UNAUTHENTICATED,
    "403": grpc.StatusCode.PERMISSION_DENIED,
    "404": grpc.StatusCode.UNIMPLEMENTED,
    "429": grpc.StatusCode.UNAVAILABLE,
    "502": grpc.StatusCode.UNAVAILABLE,
    "503": grpc.StatusCode.UNAVAILABLE,
    "504": grpc.StatusCode.UNAVAILABLE,
}


class SocketCall(Connection):
    """The call. For one thread at a time; close it.

    The connection does no more than the call: nothing is encrypted, and while nobody waits for a message nobody answers
    when the server asks whether the client is still there, so that gRPC's closes a connection that is left alone.
    """

    def __init__(self, address: str, path: str, timeout: float, token: str | None = None) -> None:
        """Begin the call.

        `address`: "HOST:PORT". `path`: "/SERVICE/METHOD". `timeout`: seconds that connecting may take, and handing on
        to the system what the service is ready to take. `token`: the bearer token, if the service wants one. Raises
        TransportError: UNAVAILABLE.
        """
        host, _, port = address.rpartition(":")
        try:
            connected = socket.create_connection((host.removeprefix("[").removesuffix("]"), int(port)), timeout)
        except (OSError, ValueError, OverflowError) as error:
            raise TransportError(grpc.StatusCode.UNAVAILABLE, f"no connection to {address}: {error}") from error
        super().__init__(connected, patience=timeout, window=frames.LARGEST_WINDOW, longest=_LONGEST, most=_LONGEST)
        self._end: ChatiereError | None = None
        # Why the service will close the connection.
        self._farewell = ""
        self._begin_stream(_STREAM)
        settings = {
            frames.ENABLE_PUSH: 0,
            frames.INITIAL_WINDOW_SIZE: frames.LARGEST_WINDOW,
            frames.MAX_FRAME_SIZE: frames.LARGEST_FRAME,
        }
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", address),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]
        if token is not None:
            headers.append(("authorization", f"Bearer {token}"))
        window = frames.NUMBER.pack(frames.LARGEST_WINDOW - frames.DEFAULT_WINDOW)
        self._trying(
            self._send,
            frames.PREFACE,
            frames.settings(settings),
            frames.frame(frames.WINDOW_UPDATE, 0, 0, window),
            self._headers(0, headers),
        )

    @property
    def is_over(self) -> bool:
        """Whether there will be no more messages than those that have come."""
        return self._end is not None

    def send(self, pieces: Sequence[Buffer]) -> None:
        """Send a message, in pieces that are to be joined.

        What the service is not ready to take is sent while `receive` waits. If the call is over, it goes nowhere, and
        `receive` says why.
        """
        if self._end is None:
            self._trying(self._send_message, pieces)

    def receive(self, timeout: float | None = None) -> memoryview:
        """The next message.

        Raises TimeoutError if none has begun to come within so many seconds (None: never), and ChatiereError if the
        call ends before one.
        """
        end = None if timeout is None else time.monotonic() + timeout
        left = timeout
        while not self._messages:
            if self._end is not None:
                raise self._end
            self._trying(self._wait, left)
            if end is not None:
                left = end - time.monotonic()
                if left < 0 and not self._messages and self._target is self._prefix:
                    raise TimeoutError("no answer yet")
        return self._take_message().toreadonly()

    def close(self) -> None:
        """Leave the call, if it is not over, and the connection."""
        self._finish(TransportError(grpc.StatusCode.CANCELLED, "the stream was closed"))
        self._socket.close()

    def _trying(self, step: Callable[..., None], *arguments: Any) -> None:
        try:
            step(*arguments)
        except Broken as error:
            self._break(error)

    def _break(self, error: Broken) -> None:
        code = grpc.StatusCode.UNAVAILABLE
        if isinstance(error, ProtocolError):
            code = grpc.StatusCode.INTERNAL
        elif isinstance(error, Stuck):
            code = grpc.StatusCode.DEADLINE_EXCEEDED
        self._finish(TransportError(code, f"{error}{self._farewell}"))
        self._socket.close()

    def _finish(self, error: ChatiereError) -> None:
        # Nothing is sent any more; messages that have come are still there.
        if self._end is None:
            self._end = error
        self._outgoing.clear()

    def _take_headers(self, stream: int, ends: bool, headers: list[tuple[str, str]]) -> None:
        if stream != _STREAM:
            raise ValueError(f"headers of stream {stream}")
        values = dict(headers)
        status = values.get(":status", "200")
        if "grpc-status" in values:
            try:
                self._finish(_end_of(values))
            except DecodeError as error:
                raise ValueError(str(error)) from error
        elif ends or not status.startswith(("1", "200")):
            code = _OF_HTTP.get(status, grpc.StatusCode.UNKNOWN)
            self._finish(TransportError(code, f"no gRPC status, but HTTP's {status}"))

    def _take_end(self) -> None:
        raise ValueError("the stream ends without a status")

    def _take_reset(self, error: int) -> None:
        code = _OF_RESET.get(error, grpc.StatusCode.INTERNAL)
        self._finish(TransportError(code, f"the service reset the stream, HTTP/2 error {error}"))

    def _take_goaway(self, last: int, text: str) -> None:
        self._farewell = f": {text}" if text else ""
        if last < _STREAM:
            self._finish(TransportError(grpc.StatusCode.UNAVAILABLE, f"the service stops{self._farewell}"))

    def _refuse_message(self, reason: str, *, is_limit: bool) -> None:
        raise ValueError(reason)


def _end_of(trailers: dict[str, str]) -> ChatiereError:
    # What a call has ended with.
    code = _CODES.get(int(trailers["grpc-status"]), grpc.StatusCode.UNKNOWN)
    if code == grpc.StatusCode.OK:
        return TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
    details = trailers.get("grpc-status-details-bin", "")
    # Written without the padding of base64.
    status = (
        Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4), validate=True)) if details else None
    )
    return error_of_status(code, unquote(trailers.get("grpc-message", "")), status)
