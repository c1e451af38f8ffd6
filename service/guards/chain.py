"""Guards around every call: who may call and how much, errors, metrics, log.

They know nothing of the door by which a call came. A door goes through a call in this order: `Guards.begin` when its
headers have come, `identify` before its request is read, `admit` before it is handled, `end` when its answer is known.
"""

import logging
import re
import secrets
import time
from collections.abc import Iterable
from functools import cached_property

from google.rpc import code_pb2
from prometheus_client import Counter, Gauge, Histogram

from chatiere.service.calls.errors import OK, Refusal, ServiceReason, Status, status_of
from chatiere.service.guards.limits import CallLimit, ClientLimits
from chatiere.service.guards.memory import Holding, MemoryBudget
from chatiere.service.guards.metrics import Metrics, code_label
from chatiere.service.guards.tokens import Tokens
from chatiere.service.process.settings import Settings

_log = logging.getLogger(__name__)

# The id that a client gives its call, for both logs; anything else could forge lines.
REQUEST_ID = "x-request-id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
Metadata = Iterable[tuple[str, str | bytes]]


class Method:
    """A method as the guards know it, its figures bound to their labels."""

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
        """`kind`: the label grpc_type. `path`: "/SERVICE/METHOD".

        `needs_token`: where there are tokens. `limit`: for its calls of all clients. `counts_clients`: whether the
        limits of a client hold for it.
        """
        self.kind = kind
        self.service, _, self.name = path.removeprefix("/").partition("/")
        self.needs_token = needs_token
        self.limit = limit
        self.counts_clients = counts_clients
        self._metrics = metrics
        self._handled: dict[int, Counter] = {}

    # Figures are there from a method's first call on.

    @cached_property
    def started(self) -> Counter:
        """Counts its calls."""
        return self._metrics.started.labels(self.kind, self.service, self.name)

    def handled(self, code: int) -> Counter:
        """Counts the calls that end with a code."""
        if code not in self._handled:
            self._handled[code] = self._metrics.handled.labels(self.kind, self.service, self.name, code_label(code))
        return self._handled[code]

    @cached_property
    def seconds(self) -> Histogram:
        """Times its calls."""
        return self._metrics.handling_seconds.labels(self.kind, self.service, self.name)

    @cached_property
    def in_flight(self) -> Gauge:
        """Counts those of its kind that have not ended."""
        return self._metrics.in_flight.labels(self.kind)


class Call:
    """One call on its way through the guards.

    `client`: the name of its token; "" without. `peer`: where it comes from, as gRPC writes it.
    """

    __slots__ = ("client", "counted", "is_over", "limit", "method", "peer", "request_id", "start")

    def __init__(self, method: Method, peer: str, request_id: str) -> None:
        """See Guards.begin."""
        self.method = method
        self.peer = peer
        self.request_id = request_id
        self.client = ""
        self.is_over = False
        # The limits that it counts for once it is admitted: that of its method, and its client's.
        self.limit: CallLimit | None = None
        self.counted: str | None = None
        self.start = time.perf_counter()

    @property
    def origin(self) -> str:
        """The client for limits: the name of its token, else its address without the port, which changes."""
        return self.client or self.peer.rpartition(":")[0]


class Guards:
    """The guards of a worker, shared by all its doors."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Raises SettingError for a tokens file that is wrong."""
        self._tokens = None if settings.tokens is None else Tokens(settings.tokens)
        self._limits = ClientLimits(settings.max_calls_per_client, settings.max_rate_per_client)
        self._counts_clients = bool(settings.max_calls_per_client or settings.max_rate_per_client)
        self.budget = MemoryBudget(settings.max_undelivered_bytes)

    def begin(self, method: Method, peer: str, metadata: Metadata) -> Call:
        """Count a call whose headers have come; `end` must follow."""
        call = Call(method, peer, _request_id(metadata))
        method.started.inc()
        method.in_flight.inc()
        return call

    def identify(self, call: Call, metadata: Metadata) -> None:
        """Find out who calls. Raises Refusal (UNAUTHENTICATED)."""
        if self._tokens is not None and call.method.needs_token:
            call.client = _client_of(metadata, self._tokens)

    def holding(self, call: Call) -> Holding:
        """The memory of a call, which the door releases when the client has its answer."""
        return Holding(self.budget, call.origin)

    def admit(self, call: Call) -> None:
        """Count a call for the limits until it ends. Raises Refusal (LIMIT_EXCEEDED)."""
        limit = call.method.limit
        if limit is None:
            return
        limit.begin()
        call.limit = limit
        if call.method.counts_clients and self._counts_clients:
            self._limits.begin(call.origin)
            call.counted = call.origin

    def refuse(self, call: Call, error: Exception) -> Status:
        """End a call that has raised an error; the status that it ends with."""
        status = status_of(error, call.request_id)
        self.end(call, status)
        return status

    def end(self, call: Call, status: Status = OK) -> None:
        """Count and log a call that ends; only the first time."""
        if call.is_over:
            return
        call.is_over = True
        if call.counted is not None:
            self._limits.end(call.counted)
        if call.limit is not None:
            call.limit.end()
        method = call.method
        seconds = time.perf_counter() - call.start
        method.in_flight.dec()
        method.handled(status.code).inc()
        method.seconds.observe(seconds)
        if _log.isEnabledFor(logging.INFO):
            _log_call(call, status, seconds)


def _log_call(call: Call, status: Status, seconds: float) -> None:
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
    _log.info("%s/%s %s %s %s ms from %s request %s client %s", *values, extra=about)


def _request_id(metadata: Metadata) -> str:
    # The client's, or one of our own.
    given = [value for key, value in metadata if key == REQUEST_ID]
    if len(given) == 1 and isinstance(given[0], str) and _REQUEST_ID.fullmatch(given[0]):
        return given[0]
    return secrets.token_hex(8)


def _client_of(metadata: Metadata, tokens: Tokens) -> str:
    # The name of the call's token. Raises Refusal.
    given = [str(value) for key, value in metadata if key == "authorization"]
    kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if kind.lower() != "bearer":
        message = "this service needs a token: metadata `authorization: Bearer …`, once"
        raise Refusal(ServiceReason.UNAUTHENTICATED, message, metadata={})
    client = tokens.client_of(token.strip())
    if client is None:
        raise Refusal(ServiceReason.UNAUTHENTICATED, "unknown token", metadata={})
    return client
