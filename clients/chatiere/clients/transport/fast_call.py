"""A bidirectional gRPC call on its own libnghttp2 connection, with less overhead than a call over a channel."""

import base64
import socket
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of_status
from chatiere.engine.wire import Buffer

try:
    from chatiere.http2.client import CallEnded, Cause, StreamCall
except ImportError:
    IS_BUILT = False
else:
    IS_BUILT = True

_UNBUILT = (
    "built without libnghttp2: install libnghttp2-dev (Debian), libnghttp2-devel (Fedora) or libnghttp2 (Homebrew), "
    "with pkg-config, and build again"
)
# The prefix of the path of a Unix socket.
_UNIX = "unix:"
# The socket options that the system supports: seconds of silence before the first keepalive probe, seconds between
# probes, and their number.
_KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}
# The time in seconds without data after which the client pings the service, and the time that the client then waits for
# a response. Channels use the same values.
_PING_AFTER, _PING_TIMEOUT = 20.0, 10.0
# The status for each number of https://grpc.github.io/grpc/core/md_doc_statuscodes.html.
_CODES = {code.value[0]: code for code in grpc.StatusCode}
# The gRPC status for each HTTP/2 error code of a reset stream (RFC 9113, section 7). Other codes give INTERNAL.
_OF_RESET = {
    7: grpc.StatusCode.UNAVAILABLE,  # REFUSED_STREAM
    8: grpc.StatusCode.CANCELLED,  # CANCEL
    11: grpc.StatusCode.RESOURCE_EXHAUSTED,  # ENHANCE_YOUR_CALM
    12: grpc.StatusCode.PERMISSION_DENIED,  # INADEQUATE_SECURITY
}
# The gRPC status for each HTTP status of a response without a gRPC status. Other HTTP statuses give UNKNOWN.
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


class FastCall:
    """A call on a separate connection, for one thread at a time. Close it after use.

    The connection is not encrypted. The connection responds to the server's pings only while a thread waits for a
    message. Therefore a gRPC server closes a connection that is idle for a long time.
    """

    def __init__(self, address: str, path: str, timeout: float, token: str | None = None) -> None:
        """Start the call.

        Args:
            address: "HOST:PORT" or "unix:/PATH".
            path: "/SERVICE/METHOD".
            timeout: The maximum number of seconds for connecting, and for sending data that the service is ready to
                receive.
            token: The bearer token, if the service requires one.

        Raises:
            TransportError: UNAVAILABLE.
            ImportError: The package was built without libnghttp2.
        """
        if not IS_BUILT:
            raise ImportError(_UNBUILT)
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "localhost" if address.startswith(_UNIX) else address,
            "te": "trailers",
            "content-type": "application/grpc",
        }
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._call = StreamCall(_connected(address, timeout), pairs, timeout, _PING_AFTER, _PING_TIMEOUT)

    @property
    def is_over(self) -> bool:
        """True if no messages will arrive after those already received."""
        return self._call.is_over

    def send(self, pieces: Sequence[Buffer]) -> None:
        """Send a message, in pieces to be joined.

        Data that the service is not ready to receive is sent while `receive` waits. If the call is over, the message is
        discarded, and `receive` raises the error that ended the call.
        """
        self._call.send(pieces)

    def receive(self, timeout: float | None = None) -> memoryview:
        """Return the next message. If no data arrives for 30 seconds, not even in response to a ping, the call ends.

        Raises:
            TimeoutError: No message has begun to arrive within `timeout` seconds. (None means no limit.)
            ChatiereError: The call ended before a message arrived.
        """
        try:
            return self._call.receive(timeout)
        except CallEnded as ended:
            raise _error_of(ended) from None

    def close(self) -> None:
        """Cancel the call unless it is over, and close the connection."""
        self._call.close()


def _connected(address: str, timeout: float) -> socket.socket:
    host, _, port = address.rpartition(":")
    try:
        if address.startswith(_UNIX):
            return _connected_at(address.removeprefix(_UNIX), timeout)
        connected = socket.create_connection((host.removeprefix("[").removesuffix("]"), int(port)), timeout)
    except (OSError, ValueError, OverflowError) as error:
        raise TransportError(grpc.StatusCode.UNAVAILABLE, f"no connection to {address}: {error}") from error
    # Ignore errors here: if the service has already closed the connection, the call reports it.
    with suppress(OSError):
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Without keepalive, waiting for a machine that has disappeared would never end.
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE.items():
            connected.setsockopt(socket.IPPROTO_TCP, option, value)
    return connected


def _connected_at(path: str, timeout: float) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.settimeout(timeout)
        connected.connect(path)
    except OSError:
        connected.close()
        raise
    return connected


def _error_of(ended: "CallEnded") -> ChatiereError:
    if ended.cause is Cause.ANSWERED:
        return _error_of_fields(ended.fields)
    if ended.cause is Cause.RESET:
        code = _OF_RESET.get(ended.error, grpc.StatusCode.INTERNAL)
        return TransportError(code, f"the service reset the stream, HTTP/2 error {ended.error}")
    if ended.cause is Cause.MALFORMED:
        return _malformed(ended.words)
    codes = {Cause.STUCK: grpc.StatusCode.DEADLINE_EXCEEDED, Cause.LEFT: grpc.StatusCode.CANCELLED}
    return TransportError(codes.get(ended.cause, grpc.StatusCode.UNAVAILABLE), ended.words)


def _malformed(reason: str) -> TransportError:
    return TransportError(grpc.StatusCode.INTERNAL, f"this is not gRPC: {reason}")


def _error_of_fields(fields: dict[str, str]) -> ChatiereError:
    # Return the error for a response's headers and trailers.
    status = fields.get(":status", "")
    if "grpc-status" not in fields:
        if status == "200":
            return _malformed("the stream ends without a status")
        code = _OF_HTTP.get(status, grpc.StatusCode.UNKNOWN)
        return TransportError(code, f"no gRPC status, but HTTP's {status}")
    try:
        code = _CODES.get(int(fields["grpc-status"]), grpc.StatusCode.UNKNOWN)
        if code == grpc.StatusCode.OK:
            return TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
        details = fields.get("grpc-status-details-bin", "")
        # The details are in base64 without padding.
        packed = base64.b64decode(details + "=" * (-len(details) % 4), validate=True)
        parsed = Status.FromString(packed) if details else None
        return error_of_status(code, unquote(fields.get("grpc-message", "")), parsed)
    except (ValueError, DecodeError) as error:
        return _malformed(str(error))
