"""The way to a service: one server or several, with or without TLS, with what goes along with every call."""

import ipaddress
import json
from collections.abc import Callable, Sequence

import grpc

from chatiere.v1 import batch_service_pb2, game_service_pb2

GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].full_name

_SERVICE_CONFIG = {
    # Calls go to all servers in turn that say of themselves that they are healthy.
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": GAME_SERVICE},
    "methodConfig": [
        {
            "name": [{"service": GAME_SERVICE}, {"service": BATCH_SERVICE}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                # Nothing is stored, so every call may be repeated; these two say that another try can help. CANCELLED
                # is what gRPC answers to a call that reaches a server in the very moment in which it stops. A call that
                # the client itself cancels is not tried again.
                "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
            },
        }
    ],
}

CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    # A server that comes back, or one of its workers, is found again while a call is still being tried.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
    # A call is tried again only if its whole request, a batch of megabytes perhaps, is within this.
    ("grpc.per_rpc_retry_buffer_size", 64 * 1024 * 1024),
    # The service answers what it was asked for: gRPC need not stop answers to batches at its 4 MB.
    ("grpc.max_receive_message_length", -1),
)
"""The options of the clients' own channels: calls are spread over all servers that are healthy, and gRPC tries a call
up to five times while the service is UNAVAILABLE.

Give them to a channel that you make yourself, to have its calls spread and retried too, and large batches answered.
"""


def target_of(servers: str | Sequence[str]) -> str:
    """What gRPC calls the way to one server, or to several by their addresses IP:PORT. Raises ValueError."""
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
            raise ValueError(
                f"several servers are given as IP:PORT each, or by one name that stands for all: not {server!r}"
            )
    if len(kinds) != 1:
        raise ValueError("several servers are all given by IPv4 or all by IPv6 addresses, one or more")
    return f"ipv{kinds.pop()}:{','.join(servers)}"


def open_channel(servers: str | Sequence[str], credentials: grpc.ChannelCredentials | None) -> grpc.Channel:
    """A channel with CHANNEL_OPTIONS; encrypted if there are credentials."""
    if credentials is None:
        return grpc.insecure_channel(target_of(servers), options=CHANNEL_OPTIONS)
    return grpc.secure_channel(target_of(servers), credentials, options=CHANNEL_OPTIONS)


def open_aio_channel(servers: str | Sequence[str], credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
    """The same for asyncio."""
    if credentials is None:
        return grpc.aio.insecure_channel(target_of(servers), options=CHANNEL_OPTIONS)
    return grpc.aio.secure_channel(target_of(servers), credentials, options=CHANNEL_OPTIONS)


class CallMetadata:
    """What goes along with every call."""

    def __init__(self, token: str | None, new_request_id: Callable[[], str] | None) -> None:
        """`token`: a bearer token. `new_request_id`: asked for the id of each call."""
        self._token = () if token is None else (("authorization", f"Bearer {token}"),)
        self._new_request_id = new_request_id

    def of_call(self) -> tuple[tuple[str, str], ...]:
        """For one call."""
        if self._new_request_id is None:
            return self._token
        return (*self._token, ("x-request-id", self._new_request_id()))
