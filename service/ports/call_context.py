"""What a call on the play port knows of itself, and how it ends."""

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

# Headers that are the protocol's own, and no metadata.
_RESERVED = frozenset(("te", "content-type", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding"))
_TIMEOUT = re.compile(r"([0-9]{1,8})([HMSmun])")
_SECONDS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
# gRPC tells as many seconds for a call without a deadline.
_NO_DEADLINE = 1e18


class Gone(grpc.RpcError):
    """The client has left the call: nobody hears its end."""


class Aborted(grpc.RpcError):
    """The call ends with the status that its context has."""


class _Metadatum(NamedTuple):
    # What instrumentation looks for, by these names.
    key: str
    value: str


class CallContext(grpc.ServicerContext):
    """What a call knows of itself; gRPC's own interface."""

    def __init__(self, peer: str, headers: Sequence[tuple[str, str]]) -> None:
        """`peer`: where it comes from. `headers`: what it began with."""
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
        """Raise Aborted for headers that begin no call of gRPC, or one that is not understood here."""
        expected = {":method": "POST", "content-type": "application/grpc", "grpc-encoding": "identity"}
        for name, value in expected.items():
            found = self._headers.get(name, value)
            # Of a type there are kinds: application/grpc+proto.
            if found != value and not (name == "content-type" and found.startswith(f"{value}+")):
                self.abort(grpc.StatusCode.UNIMPLEMENTED, f"{name} must be {value}, not {found[:100]!r}")
        if "grpc-timeout" in self._headers and self._end is None:
            self.abort(grpc.StatusCode.INTERNAL, f"grpc-timeout is none: {self._headers['grpc-timeout'][:100]!r}")

    def finish(self) -> None:
        """The call is over: tell those who wanted to know; only the first time."""
        with self._ending:
            callbacks, self._callbacks = self._callbacks, []
            self._is_over = True
        for callback in callbacks:
            callback()

    def trailers(self) -> list[tuple[str, str]]:
        """The status, as headers."""
        code = self._code or grpc.StatusCode.OK
        found = [("grpc-status", str(code.value[0])), ("grpc-message", quote(self._details, safe=" ,;:=()'!/"))]
        for name, value in self._trailing:
            text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
            found.append((name, text))
        return found

    def is_active(self) -> bool:
        """Whether it goes on."""
        return not self._is_over

    def time_remaining(self) -> float:
        """Seconds to its deadline."""
        return _NO_DEADLINE if self._end is None else max(self._end - time.monotonic(), 0.0)

    def cancel(self) -> bool:
        """End it, from this side."""
        self.finish()
        return True

    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Have that called when it is over; False if it is already."""
        with self._ending:
            if not self._is_over:
                self._callbacks.append(callback)
            return not self._is_over

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """Its own headers."""
        return self._metadata

    def peer(self) -> str:
        """Where it comes from, as gRPC tells it."""
        return self._peer

    def peer_identities(self) -> None:
        """Nobody has proven who he is."""
        return None

    def peer_identity_key(self) -> None:
        """Nobody has proven who he is."""
        return None

    def auth_context(self) -> Mapping[str, Any]:
        """Nobody has proven who he is."""
        return {}

    def send_initial_metadata(self, initial_metadata: Any) -> NoReturn:
        """Too late: it goes before the method is called. Raises ValueError, as gRPC does then."""
        raise ValueError("initial metadata has been sent")

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:
        """What is sent after the last message."""
        self._trailing = tuple(trailing_metadata)

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """End it with that status. Raises Aborted."""
        self._code, self._details = code, details
        raise Aborted

    def abort_with_status(self, status: grpc.Status) -> NoReturn:
        """The same."""
        self._trailing = tuple(status.trailing_metadata or ())
        self.abort(status.code, status.details)

    def set_code(self, code: grpc.StatusCode) -> None:
        """The status that it will end with."""
        self._code = code

    def set_details(self, details: str) -> None:
        """What goes with the status."""
        self._details = details

    def code(self) -> grpc.StatusCode | None:
        """The status so far; None: none was set."""
        return self._code

    def details(self) -> str:
        """What goes with it."""
        return self._details
