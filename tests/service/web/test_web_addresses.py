"""The clients' addresses at the web door."""

import asyncio
from typing import Any

from chatiere.service.ports.web.connection import Connection, PortState


def _serve(connection: Connection, request: Any, body: bytes) -> None:
    raise AssertionError("no request is expected")


def test_connections_from_one_64_network_count_for_one_client() -> None:
    async def check() -> None:
        state = PortState(_serve, 10.0)

        def origin_of(host: str) -> str:
            return Connection(state, (host, 1000)).origin

        assert {origin_of(f"2001:db8:1:2:{i:x}::1") for i in range(200)} == {"ipv6:2001:db8:1:2::/64"}
        assert origin_of("2001:db8:1:3::1") == "ipv6:2001:db8:1:3::/64"
        assert origin_of("192.0.2.1") == origin_of("::ffff:192.0.2.1") == "ipv4:192.0.2.1"
        # Logs contain the whole address.
        assert Connection(state, ("2001:db8:1:2:4::1", 1000)).peer == "ipv6:%5B2001:db8:1:2:4::1%5D:1000"

    asyncio.run(check())
