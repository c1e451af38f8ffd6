"""The context of a call on the port for streams: its headers, deadline and status."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote

import grpc

# Headers of the protocol itself, which are not metadata.
_RESERVED = frozenset(("te", "content-type", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding"))
_TIMEOUT = re.compile(r"([0-9]{1,8})([HMSmun])")
_SECONDS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
# gRPC's number of seconds for a call without a deadline.
_NO_DEADLINE = 1e18


class Gone(grpc.RpcError):
    """The client has left the call."""


class Aborted(grpc.RpcError):
    """The call ends with its context's status."""


class _Metadatum(NamedTuple):
    # The attributes that instrumentation reads.
    key: str
    value: str


class CallContext(grpc.ServicerContext):
    """The context of a call, with gRPC's own interface."""

    def __init__(self, peer: str, headers: Sequence[tuple[str, str]]) -> None:
        """`peer`: the client's address. `headers`: the call's request headers."""
        self._peer = peer
        self._headers = dict(headers)
        self._metadata = tuple(
            _Metadatum(name, value) for name, value in headers if not name.startswith(":") and name not in _RESERVED
        )
        timeout = _TIMEOUT.fullmatch(self._headers.get("grpc-timeout", ""))
        self._end = time.monotonic() + int(timeout[1]) * _SECONDS[timeout[2]] if timeout else None
        self._code: grpc.StatusCode | None = None
        self._details = ""
        self._trailing: tuple[tuple[str, str | bytes], ...] = ()
        self._callbacks: list[Callable[[], None]] = []
        self._is_over = False
        self._ending = threading.Lock()

    @property
    def path(self) -> str:
        """ "/SERVICE/METHOD"."""
        return self._headers.get(":path", "")

    def check(self) -> None:
        """Raise Aborted unless the headers begin a call of gRPC that this port supports."""
        expected = {":method": "POST", "content-type": "application/grpc", "grpc-encoding": "identity"}
        for name, value in expected.items():
            found = self._headers.get(name, value)
            # A type may have a suffix: application/grpc+proto.
            if found != value and not (name == "content-type" and found.startswith(f"{value}+")):
                self.abort(grpc.StatusCode.UNIMPLEMENTED, f"{name} must be {value}, not {found[:100]!r}")
        if "grpc-timeout" in self._headers and self._end is None:
            self.abort(grpc.StatusCode.INTERNAL, f"invalid grpc-timeout: {self._headers['grpc-timeout'][:100]!r}")

    def finish(self) -> None:
        """End the call and run its callbacks; only the first time."""
        with self._ending:
            callbacks, self._callbacks = self._callbacks, []
            self._is_over = True
        for callback in callbacks:
            callback()

    def trailers(self) -> list[tuple[str, str]]:
        """Return the status as headers."""
        code = self._code or grpc.StatusCode.OK
        found = [("grpc-status", str(code.value[0])), ("grpc-message", quote(self._details, safe=" ,;:=()'!/"))]
        for name, value in self._trailing:
            text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
            found.append((name, text))
        return found

    def is_active(self) -> bool:
        """Return True until the call ends."""
        return not self._is_over

    def time_remaining(self) -> float:
        """Return the seconds to its deadline."""
        return _NO_DEADLINE if self._end is None else max(self._end - time.monotonic(), 0.0)

    def cancel(self) -> bool:
        """End the call from the server's side."""
        self.finish()
        return True

    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Run `callback` when the call ends; return False if it already has."""
        with self._ending:
            if not self._is_over:
                self._callbacks.append(callback)
            return not self._is_over

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the client's metadata."""
        return self._metadata

    def peer(self) -> str:
        """Return the client's address in gRPC's notation."""
        return self._peer

    def peer_identities(self) -> None:
        """Return nothing: clients are not authenticated here."""
        return None

    def peer_identity_key(self) -> None:
        """Return nothing: clients are not authenticated here."""
        return None

    def auth_context(self) -> Mapping[str, Any]:
        """Return nothing: clients are not authenticated here."""
        return {}

    def send_initial_metadata(self, initial_metadata: Any) -> NoReturn:
        """Raise ValueError, as gRPC does once the initial metadata was sent."""
        raise ValueError("initial metadata has been sent")

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:
        """Set the metadata to send after the last message."""
        self._trailing = tuple(trailing_metadata)

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """End the call with a status. Raises Aborted."""
        self._code, self._details = code, details
        raise Aborted

    def abort_with_status(self, status: grpc.Status) -> NoReturn:
        """End the call with a status. Raises Aborted."""
        self._trailing = tuple(status.trailing_metadata or ())
        self.abort(status.code, status.details)

    def set_code(self, code: grpc.StatusCode) -> None:
        """Set the status code."""
        self._code = code

    def set_details(self, details: str) -> None:
        """Set the status message."""
        self._details = details

    def code(self) -> grpc.StatusCode | None:
        """Return the status code; None if none was set."""
        return self._code

    def details(self) -> str:
        """Return the status message."""
        return self._details
