"""Calls in a simulated network: the server's wire, and the client at its other end."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.rpc import code_pb2, error_details_pb2, status_pb2

from chatiere.service.base.errors import OK, Status

from .clock import Broken, Loop, Run

if TYPE_CHECKING:
    from .workers import Worker

# The number of seconds after which a wire is closed if its client does not read the last responses (see
# exchange.wire.Wire.reset).
_LAST_SECONDS = 1.0
_LATENCY = 0.02
_LONG = 1e9


def retry_after(status: Status) -> float | None:
    """Return the time in seconds after which a status allows a client to retry, or None if it has no such time."""
    for detail in status_pb2.Status.FromString(status.details).details:
        hint = error_details_pb2.RetryInfo()
        if detail.Unpack(hint):
            return float(hint.retry_delay.ToTimedelta().total_seconds())
    return None


class Client:
    """The client's end of one call. Subclasses define what the client does."""

    name = ""

    def got(self, response: bytes) -> None:
        """Handle a response."""

    def ended(self, status: Status | None) -> None:
        """Handle the end of the call. `status` is None if the connection was lost before a status arrived."""


class Wire:
    """A call (see exchange.wire.Wire). The methods in the second half are for the client."""

    def __init__(self, run: Run, loop: Loop, client: Client, peer: str, timeout: float | None) -> None:
        self._run, self.loop, self._client = run, loop, client
        self.peer, self.timeout = peer, timeout
        self.metadata = (("x-request-id", client.name),)
        self.watch: Callable[[], None] | None = None
        self.has_part = self.has_ended = self.is_closed = self.is_delivered = False
        self.fault: object = None
        self.is_alone = True
        self.status: Status | None = None
        self.worker: Worker
        """The worker that received the headers."""
        self.pause = 0.0
        """The longest time for which the client reads a response, in seconds."""
        self.is_stuck = False
        """True if the client reads nothing."""
        self.untaken = 0
        """The number of bytes of responses that the client has not read."""
        self._requests: deque[bytes] = deque()
        self._part = 0
        self._out: deque[bytes] = deque()
        self._is_reading = self._was_reset = self._is_over = False

    # For the exchange

    @property
    def waiting(self) -> int:
        return len(self._requests)

    @property
    def held(self) -> int:
        return self._part + sum(map(len, self._requests))

    @property
    def is_behind(self) -> bool:
        return len(self._out) > 2

    @property
    def is_sending(self) -> bool:
        return bool(self._out)

    def request(self) -> bytes | None:
        if not self.has_ended or len(self._requests) != 1 or self.fault:
            return None
        return self._requests.popleft()

    def take_buffer(self) -> bytes | None:
        return self._requests.popleft() if self._requests else None

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        self.send([response], language)
        self.finish(OK, request_id)

    def send(self, pieces: list[Any], language: str) -> None:
        if self.status is not None:
            raise Broken(f"{self._client.name}: a response after the end")
        if self.is_closed:
            return
        response = b"".join(pieces)
        self._out.append(response)
        self._count(len(response))
        self._read_soon()

    def finish(self, status: Status, request_id: str) -> None:
        if self.status is not None:
            raise Broken(f"{self._client.name}: a second end")
        if request_id != self._client.name:
            raise Broken(f"{self._client.name}: the id of another call")
        self.status = status
        if not self.is_closed:
            self._read_soon()

    def reset(self) -> None:
        self._was_reset = True
        self._run.after(_LAST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if not self.is_closed:
            self._close()
            self._end(None)

    # For the network and the client

    def arrive(self, request: bytes, *, is_part: bool = False) -> None:
        """Deliver a request, or part of one, to the server."""
        if self.is_closed or self.worker.is_dead:
            return
        if is_part:
            self._part, self.has_part = len(request), True
        else:
            self._part, self.has_part = 0, False
            self._requests.append(request)
        self._tell()

    def end_requests(self) -> None:
        """Tell the server that the client sends no more."""
        if not (self.is_closed or self.worker.is_dead):
            self.has_ended = True
            self._tell()

    def break_requests(self) -> None:
        """Deliver input that cannot be read."""
        if not (self.is_closed or self.worker.is_dead):
            self.fault = True
            self._tell()

    def cut(self) -> None:
        """Cut the connection. The server notices. The client knows no status."""
        if not self._is_over:
            self._run.note(self._client.name, "is cut")
        if not self.is_closed:
            self._close()
        self._end(None)

    def resume(self) -> None:
        """Let the client read again."""
        self.is_stuck = False
        self.pause = 0.0
        self._read_soon()

    def _tell(self) -> None:
        if self.watch is not None and not self.worker.is_dead:
            self.watch()

    def _read_soon(self) -> None:
        if not (self._is_reading or self.is_stuck):
            self._is_reading = True
            self._run.soon(_LATENCY + self.pause, self._read)

    def _read(self) -> None:
        self._is_reading = False
        if self.is_closed or self.is_stuck:
            return
        if self._out:
            response = self._out.popleft()
            self._count(-len(response))
            self._client.got(response)
            if self._out or self.status is not None:
                self._read_soon()
            self._tell()
        elif self.status is not None:
            self._close()
            self._end(self.status)

    def _close(self) -> None:
        self.is_closed = True
        self._out.clear()
        self._count(-self.untaken)
        self._requests.clear()
        self._part = 0
        if self._run.choices.random() < 0.2:
            # The buffers of a connection may exist longer than the call.
            self._run.soon(0.5, self._deliver)
        else:
            self.is_delivered = True
        self._tell()

    def _deliver(self) -> None:
        self.is_delivered = True
        self._tell()

    def _count(self, size: int) -> None:
        self.untaken += size
        self.worker.untaken += size

    def _end(self, status: Status | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        if status is not None:
            code = code_pb2.Code.Name(status.code)
            self._run.note(self._client.name, "ends", code, status.message)
            if status.code in (code_pb2.RESOURCE_EXHAUSTED, code_pb2.UNAVAILABLE) and retry_after(status) is None:
                raise Broken(f"{self._client.name}: an end without a hint: {status.message}")
        self._client.ended(status)
