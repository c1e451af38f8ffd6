"""The channels of clients."""

import socket
from typing import Any

import grpc
from tools.patience import PATIENCE

from chatiere.clients import CHANNEL_OPTIONS

# The first frame of a server's side of a connection, without settings (RFC 9113, 6.5).
SETTINGS = bytes.fromhex("000000 04 00 00000000")


def test_two_channels_to_a_server_have_separate_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with (
            grpc.insecure_channel(address, CHANNEL_OPTIONS) as one,
            grpc.insecure_channel(address, CHANNEL_OPTIONS) as two,
        ):
            multi_callables: list[Any] = [channel.unary_unary("/a/b") for channel in (one, two)]
            calls = [each.future(b"") for each in multi_callables]
            accepted = []
            for _ in calls:
                accepted.append(listening.accept()[0])
                accepted[-1].sendall(SETTINGS)
            for each in accepted:
                each.close()
