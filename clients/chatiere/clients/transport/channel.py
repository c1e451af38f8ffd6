"""Channels to one or several servers, with or without TLS, and the metadata of calls."""

import ipaddress
import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypedDict

import grpc

from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2

_SERVICES = [
    service
    for file in (game_service_pb2, batch_service_pb2, bot_service_pb2, table_service_pb2, room_service_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
]
GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].full_name

_SERVICE_CONFIG = {
    # Calls are distributed in turn over all servers that report themselves healthy.
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": GAME_SERVICE},
    "methodConfig": [
        {
            # The policy is only for unary methods. With the policy, gRPC 1.85 may never end a stream whose connection
            # is lost. The clients reopen streams themselves.
            "name": [
                {"service": service.full_name, "method": method.name}
                for service in _SERVICES
                for method in service.methods
                if not method.client_streaming and not method.server_streaming
            ],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                # Every call may be repeated, because the service is stateless and a room stores repeated posts only
                # once. A retry can succeed after these two codes: gRPC ends a call with CANCELLED if it reaches a
                # server just as the server stops. Calls cancelled by the client are not retried.
                "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
            },
        }
    ],
}

CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    # These times are short enough to reconnect to a restarted server or worker while calls are still being retried.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
    # Despite its name, this is the time that an attempt to connect may take. With a shorter time, a server that is
    # distant or busy would be reported as UNAVAILABLE.
    ("grpc.min_reconnect_backoff_ms", 5000),
    # A connection on which no data arrives is ended after 30 seconds, so that calls without a deadline also end. The
    # service allows a ping every second.
    ("grpc.keepalive_time_ms", 20_000),
    # Use this option because gRPC (1.85) does not apply grpc.keepalive_timeout_ms.
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A call is retried only if its whole request, possibly a batch of several megabytes, fits into this buffer.
    ("grpc.per_rpc_retry_buffer_size", 64 * 1024 * 1024),
    # Responses to batches may exceed gRPC's default limit of 4 MB.
    ("grpc.max_receive_message_length", -1),
    # Channels that share a connection and connect at the same time can crash the process. gRPC's core (1.85) may start
    # the health watch of one channel while another channel already adds to the watch.
    ("grpc.use_local_subchannel_pool", 1),
)
"""The options of the channels that clients open.

Calls are balanced over all healthy servers. gRPC makes a unary call up to five times while the service is UNAVAILABLE
and no response has begun. A connection on which no data arrives is ended. Channels do not share connections.

Pass the options to your own channel for the same load balancing and retries, and to receive large batches.
"""


class Pickled:
    """The base class of clients. A client is pickled and copied as its address and settings.

    Each copy opens its own channel. The pickle contains the bearer token, if there is one.
    """

    # The reason why clients of the class cannot be pickled, or "".
    _not_pickled: ClassVar[str] = ""
    # The arguments of __init__.
    _arguments: dict[str, Any]

    def _set_up(
        self,
        target: object,
        timeout: float,
        credentials: grpc.ChannelCredentials | None,
        token: str | None,
        new_request_id: Callable[[], str] | None,
        language: str | None,
    ) -> None:
        """Store the arguments of `__init__`, for copies and for calls."""
        self._arguments = {
            "target": target,
            "timeout": timeout,
            "credentials": credentials,
            "token": token,
            "new_request_id": new_request_id,
            "language": language,
        }
        self._timeout = timeout
        self._metadata = CallMetadata(token, new_request_id, language)

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments of `__init__`.

        Raises:
            TypeError: The client cannot be created again from its arguments.
        """
        reason = self._not_pickled
        if not reason and self._arguments["credentials"] is not None:
            reason = "it has credentials; create it in the process that uses it"
        if not reason and not isinstance(self._arguments["target"], (str, Sequence)):
            reason = "it uses a channel of the caller; create it with an address"
        if reason:
            raise TypeError(f"{type(self).__name__} cannot be pickled: {reason}")
        return self._arguments

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open a channel to the same address."""
        self.__init__(**state)  # type: ignore[misc]


class ClientOptions(TypedDict, total=False):
    """The arguments common to all clients; see ChannelClient."""

    timeout: float
    credentials: grpc.ChannelCredentials | None
    token: str | None
    new_request_id: Callable[[], str] | None
    language: str | None


def target_of(servers: str | Sequence[str]) -> str:
    """Return gRPC's target for one server, or for several servers given as IP:PORT.

    Raises:
        ValueError: An address is malformed.
    """
    if isinstance(servers, str):
        return servers
    kinds = set()
    for server in servers:
        host, _, port = server.rpartition(":")
        try:
            kinds.add(ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).version)
        except ValueError:
            port = ""
        if not port.isdecimal():
            raise ValueError(f"several servers must each be IP:PORT, or one name for all, not {server!r}")
    if len(kinds) != 1:
        raise ValueError("several servers must all be IPv4 or all be IPv6 addresses, one or more")
    return f"ipv{kinds.pop()}:{','.join(servers)}"


def open_channel(servers: str | Sequence[str], credentials: grpc.ChannelCredentials | None) -> grpc.Channel:
    """Open a channel with CHANNEL_OPTIONS, encrypted if there are credentials."""
    if credentials is None:
        return grpc.insecure_channel(target_of(servers), options=CHANNEL_OPTIONS)
    return grpc.secure_channel(target_of(servers), credentials, options=CHANNEL_OPTIONS)


def open_aio_channel(servers: str | Sequence[str], credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
    """Open a channel for asyncio with CHANNEL_OPTIONS, encrypted if there are credentials."""
    if credentials is None:
        return grpc.aio.insecure_channel(target_of(servers), options=CHANNEL_OPTIONS)
    return grpc.aio.secure_channel(target_of(servers), credentials, options=CHANNEL_OPTIONS)


class CallMetadata:
    """The metadata of every call: the bearer token, the requested languages and the request id."""

    def __init__(
        self, token: str | None, new_request_id: Callable[[], str] | None, language: str | None = None
    ) -> None:
        """Create the metadata.

        Args:
            token: The bearer token, or None.
            new_request_id: A function that returns the id of each call, or None.
            language: The value of accept-language, or None.
        """
        headers = {"authorization": None if token is None else f"Bearer {token}", "accept-language": language}
        self._same = tuple((key, value) for key, value in headers.items() if value is not None)
        self._new_request_id = new_request_id

    def of_call(self) -> tuple[tuple[str, str], ...]:
        """Return the metadata of one call."""
        if self._new_request_id is None:
            return self._same
        return (*self._same, ("x-request-id", self._new_request_id()))
