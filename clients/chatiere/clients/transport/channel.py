"""Channels to one server or several, with or without TLS, and the metadata of calls."""

import ipaddress
import json
from collections.abc import Callable, Sequence
from typing import TypedDict

import grpc

from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2

GAME_SERVICE = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name
BATCH_SERVICE = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"].full_name
BOT_SERVICE = bot_service_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
TABLE_SERVICE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"].full_name
ROOM_SERVICE = room_service_pb2.DESCRIPTOR.services_by_name["RoomService"].full_name

_SERVICE_CONFIG = {
    # Calls go in turn to all servers that report themselves healthy.
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": GAME_SERVICE},
    "methodConfig": [
        {
            "name": [
                {"service": name} for name in (GAME_SERVICE, BATCH_SERVICE, BOT_SERVICE, TABLE_SERVICE, ROOM_SERVICE)
            ],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                # Nothing is stored, and a room holds what is posted twice once, so every call may be repeated; with
                # these two another try can help. gRPC ends a call with CANCELLED if it reaches a server at the very
                # moment in which that stops. A call that the client itself cancels is not retried.
                "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
            },
        }
    ],
}

CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    # A server (or one of its workers) that restarts is found again while a call is still being retried.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
    # A call is retried only if its whole request, perhaps a batch of megabytes, fits into this.
    ("grpc.per_rpc_retry_buffer_size", 64 * 1024 * 1024),
    # Responses are as large as what was asked for: gRPC's default limit of 4 MB is too small for batches.
    ("grpc.max_receive_message_length", -1),
    # In a connection that channels share, gRPC's core (1.85) may begin the health watch of the one while the other
    # already adds to it, and crash the process, when several connect at the same time.
    ("grpc.use_local_subchannel_pool", 1),
)
"""The options of the clients' own channels: calls are balanced over all healthy servers, gRPC retries a call up to five
times while the service is UNAVAILABLE, and each channel has connections of its own.

Pass them to a channel of your own to have its calls balanced and retried too, and to receive large batches.
"""


class ClientOptions(TypedDict, total=False):
    """The arguments that all clients share; see ChannelClient."""

    timeout: float
    credentials: grpc.ChannelCredentials | None
    token: str | None
    new_request_id: Callable[[], str] | None
    language: str | None


def target_of(servers: str | Sequence[str]) -> str:
    """Return gRPC's target for one server, or for several given as IP:PORT. Raise ValueError if one is malformed."""
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
    """The metadata of every call: the bearer token, the languages wanted and the request id."""

    def __init__(
        self, token: str | None, new_request_id: Callable[[], str] | None, language: str | None = None
    ) -> None:
        """Take the bearer token, the function that returns the id of each call, and the value of accept-language.

        Each may be None.
        """
        headers = {"authorization": None if token is None else f"Bearer {token}", "accept-language": language}
        self._same = tuple((key, value) for key, value in headers.items() if value is not None)
        self._new_request_id = new_request_id

    def of_call(self) -> tuple[tuple[str, str], ...]:
        """Return the metadata of one call."""
        if self._new_request_id is None:
            return self._same
        return (*self._same, ("x-request-id", self._new_request_id()))
