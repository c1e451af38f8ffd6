# cython: annotation_typing=False
"""The chain of guards around every call: tokens, limits, errors, metrics, log.

The guards are independent of the port. For each call, the port calls `Guards.begin` when the headers have arrived,
`identify` before it reads the request, `admit` before it handles the request, and `end` when the response is known.
"""

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from google.rpc import code_pb2

from chatiere.service.base.errors import (
    OK,
    Refusal,
    ServiceReason,
    Status,
    invalid_language,
    limit_exceeded,
    status_of,
)
from chatiere.service.base.languages import ACCEPT_LANGUAGE, LanguageError, language_for
from chatiere.service.base.metrics import Metrics, code_label
from chatiere.service.base.settings import Settings
from chatiere.service.guards.counts import Count, Durations
from chatiere.service.guards.limits import RETRY_ALL, CallLimit, Limits, origin_of
from chatiere.service.guards.memory import Holding, KeptBatches, MemoryBudget
from chatiere.service.guards.sizes import largest_request
from chatiere.service.guards.tokens import Tokens

_log = logging.getLogger(__name__)

# The metadata with the id that a client gives its call, for the logs of client and server. Other characters are not
# allowed, because they could forge log lines.
REQUEST_ID = "x-request-id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
# The parts of the ids that the service generates: a random part for the process, and a number.
_PROCESS, _NUMBERS = secrets.token_hex(4), count()
# A call cancelled by its client has not failed.
_NO_FAILURES = (code_pb2.OK, code_pb2.CANCELLED)
# The metadata of a client, with names in lower case.
Metadata = Iterable[tuple[str, str | bytes]]


class Method:
    """The guards' description of a method, with the method's metrics."""

    def __init__(
        self,
        metrics: Metrics,
        kind: str,
        path: str,
        *,
        needs_token: bool = True,
        limit: CallLimit | None = None,
        counts_clients: bool = False,
    ) -> None:
        """Describe a method.

        Args:
            metrics: The metrics of the worker.
            kind: The label grpc_type.
            path: The path, "/SERVICE/METHOD".
            needs_token: True if a token is required when the server has tokens.
            limit: The limit on the calls of all clients together, or None for no limit.
            counts_clients: True if the limits of each client apply. A client that sends a token is then identified by
                the token.
        """
        self.kind = kind
        self.path = path
        self.service, _, self.name = path.removeprefix("/").partition("/")
        self.needs_token = needs_token
        self.limit = limit
        self.counts_clients = counts_clients
        self._metrics = metrics
        # The metrics of a method are created at its first call.
        self._started: Count | None = None
        self._in_flight: Count | None = None
        self._seconds: Durations | None = None
        self._handled: dict[int, Count] = {}

    def begin(self) -> None:
        """Count the beginning of a call."""
        if self._started is None or self._in_flight is None:
            self._started = Count(self._metrics.started.labels(self.kind, self.service, self.name))
            self._in_flight = Count(self._metrics.in_flight.labels(self.kind))
        self._started.add(1.0)
        self._in_flight.add(1.0)

    def end(self, code: int, seconds: float) -> None:
        """Count the end of a call. `code`: its google.rpc.Code. `seconds`: its duration."""
        handled = self._handled.get(code)
        if handled is None or self._seconds is None:
            handled = Count(self._metrics.handled.labels(self.kind, self.service, self.name, code_label(code)))
            self._handled[code] = handled
            self._seconds = Durations(self._metrics.handling_seconds.labels(self.kind, self.service, self.name))
        if self._in_flight is not None:
            self._in_flight.add(-1.0)
        handled.add(1.0)
        self._seconds.add(seconds)


class Call:
    """A call on its way through the guards.

    Attributes:
        client: The name of the call's token, or "" without a token.
        peer: The client's address in gRPC's notation.
        origin: The client as identified for limits: the name of its token, or its address (see `origin_of`).
        accepted: The value of accept-language, or None if it is absent.
        language: The language negotiated from `accepted`, or "" before the negotiation, and if `accepted` is None.
        is_waiting: True if the call is a stream that waits for its client.
        worked: The time (time.perf_counter) when the stream last began to wait after a request. 0 before the first
            request.
        on_end: A function called at the end of the call, or None for no function.
    """

    def __init__(self, method: Method, peer: str, metadata: Metadata) -> None:
        """Start the clock of a call whose headers have arrived. `Guards.begin` must be called afterwards."""
        self._start(method, peer, metadata)

    def _start(self, method: Method, peer: str, metadata: Metadata) -> None:
        # Subclasses call this method, because Cython calls it directly, unlike `__init__`.
        self.method = method
        self.peer = peer
        self.request_id, self.accepted = _read(metadata)
        self.language = ""
        self.client = ""
        self.origin = origin_of(peer)
        self.is_admitted = False
        self.is_over = False
        self.is_waiting = False
        self.on_end: Callable[[Status], None] | None = None
        self.start = time.perf_counter()
        self.worked = 0.0


class Guards:
    """The guards of a worker, shared by all its ports."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Create the guards. Raises SettingError if the tokens file is invalid."""
        self.metrics = metrics
        """The metrics of the worker."""
        tokens = settings.tokens
        self._tokens = None if tokens is None else Tokens(tokens, metrics.rejected_files.labels("tokens"))
        self._limits = Limits(settings.max_calls_per_client, settings.max_rate_per_client)
        self._logs_calls = settings.log_calls
        self._max_message_bytes = settings.max_message_bytes
        self.budget = MemoryBudget(settings.max_undelivered_bytes)
        metrics.max_held_bytes.set(settings.max_undelivered_bytes)

    def begin(self, call: Call) -> None:
        """Count a call whose headers have arrived. `end` must be called afterwards."""
        call.method.begin()

    def identify(self, call: Call, metadata: Metadata) -> None:
        """Determine the language and the client of a call. Raises Refusal (INVALID_LANGUAGE, UNAUTHENTICATED)."""
        if call.accepted is not None:
            try:
                call.language = language_for(call.accepted)
            except LanguageError as error:
                raise invalid_language(error) from None
        method = call.method
        if self._tokens is not None and (method.needs_token or (method.counts_clients and _has_token(metadata))):
            call.client = call.origin = _client_of(metadata, self._tokens)

    def holding(self, call: Call) -> Holding:
        """Return a call's account of memory. The port releases the memory when the client has received the response."""
        return Holding(self.budget, call.origin)

    def kept_batches(self, call: Call) -> KeptBatches[Any]:
        """Return a stream's store of batches. The exchange releases the batches when the stream ends."""
        return KeptBatches(self.budget, call.origin)

    def check_size(self, call: Call, size: int) -> None:
        """Raise Refusal (LIMIT_EXCEEDED) if a request of `size` bytes is too large for its method."""
        most = largest_request(call.method.path, self._max_message_bytes)
        if size > most:
            raise limit_exceeded("bytes of a request", most)

    def admit(self, call: Call) -> None:
        """Count a call towards the limits, until the call ends. Raises Refusal (LIMIT_EXCEEDED)."""
        limit = call.method.limit
        if limit is not None:
            self._limits.begin(limit, _limited(call))
        call.is_admitted = True

    def end_idle(self, call: Call, most: int) -> bool:
        """End an idle stream of the same type as a new stream `call`. Return False if none is idle.

        `most` is the limit on such streams, for the refusal.
        """
        limit = call.method.limit
        idle = None if limit is None else limit.idle
        replaced = None if idle is None else idle.give_up_one(type(call))
        if limit is None or idle is None or replaced is None:
            return False
        self._limits.end(limit, replaced.client)
        replaced.end(limit_exceeded(idle.name, most, RETRY_ALL))
        return True

    def wait(self, call: Call, end: Callable[[Refusal], None], *, has_worked: bool) -> None:
        """Count an admitted stream as waiting for its client until `go_on`, unless it already waits.

        Args:
            call: The stream.
            end: A function that is called if the stream loses its slot or waits for too long. It may be called from any
                thread.
            has_worked: True if the stream has had a request.
        """
        idle = None if call.method.limit is None else call.method.limit.idle
        if has_worked:
            call.worked = time.perf_counter()
        if idle is not None and not call.is_waiting:
            call.is_waiting = True
            idle.add(call.origin, call, _limited(call), end, has_worked=has_worked)

    def go_on(self, call: Call) -> bool:
        """Stop counting a stream as waiting. Return False if it was not admitted or has lost its slot."""
        idle = None if call.method.limit is None else call.method.limit.idle
        if idle is not None and call.is_waiting:
            call.is_waiting = False
            call.is_admitted = idle.remove(call.origin, call)
        return call.is_admitted

    def refuse(self, call: Call, error: Exception) -> Status:
        """End a call that raised an error, and return its status.

        Removes the error's traceback: a port may keep the error, and the traceback's frames refer to the request.
        """
        status = status_of(error, call.request_id, call.language)
        error.__traceback__ = error.__context__ = error.__cause__ = None
        if status.reason == ServiceReason.INTERNAL:
            self.metrics.incidents.inc()
        self.end(call, status)
        return status

    def end(self, call: Call, status: Status = OK) -> None:
        """Count the end of a call, and log it if it failed or all calls are logged. Has no effect the second time."""
        if call.is_over:
            return
        call.is_over = True
        method = call.method
        if self.go_on(call) and method.limit is not None:
            self._limits.end(method.limit, _limited(call))
        seconds = time.perf_counter() - call.start
        code = status.code
        method.end(code, seconds)
        if call.on_end is not None:
            call.on_end(status)
        if code not in _NO_FAILURES:
            _log_call(logging.WARNING, call, status, seconds)
        elif self._logs_calls:
            _log_call(logging.INFO, call, status, seconds)


def _limited(call: Call) -> str | None:
    # Return the client whose limits apply to the call, or None if no client's limits apply.
    return call.origin if call.method.counts_clients else None


def _log_call(level: int, call: Call, status: Status, seconds: float) -> None:
    if not _log.isEnabledFor(level):
        return
    about = {
        "service": call.method.service,
        "method": call.method.name,
        "code": code_pb2.Code.Name(status.code),
        "reason": status.reason,
        "milliseconds": round(1000 * seconds, 2),
        "peer": call.peer,
        "request_id": call.request_id,
        "client": call.client,
    }
    values = [value or "-" for value in about.values()]
    _log.log(level, "%s/%s %s %s %s ms from %s request %s client %s", *values, extra=about)


def _read(metadata: Metadata) -> tuple[str, str | None]:
    # Return the client's request id or a new one, and the value of accept-language.
    given: str | bytes | None = None
    accepted: str | None = None
    # Do not unpack the pairs: gRPC's pairs are not plain tuples, and are slow to unpack.
    for pair in metadata:
        key = pair[0]
        if key == REQUEST_ID:
            # If there are several ids, ignore all of them.
            given = pair[1] if given is None else b""
        elif key == ACCEPT_LANGUAGE:
            # Several values form one list.
            accepted = str(pair[1]) if accepted is None else f"{accepted},{pair[1]!s}"
    if isinstance(given, str) and _REQUEST_ID.fullmatch(given):
        return given, accepted
    number = next(_NUMBERS)
    return f"{_PROCESS}{number:08x}", accepted


def _has_token(metadata: Metadata) -> bool:
    return any(key == "authorization" for key, _ in metadata)


def _client_of(metadata: Metadata, tokens: Tokens) -> str:
    # Return the name of the call's token. Raises Refusal.
    given = [str(value) for key, value in metadata if key == "authorization"]
    kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if kind.lower() != "bearer":
        message = "token required: send metadata `authorization: Bearer …`, once"
        raise Refusal(ServiceReason.UNAUTHENTICATED, message, metadata={})
    client = tokens.client_of(token.strip())
    if client is None:
        raise Refusal(ServiceReason.UNAUTHENTICATED, "unknown token", metadata={})
    return client
