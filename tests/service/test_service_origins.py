"""Clients as limits by address see them: an IPv4 address, the /64 of an IPv6 address."""

import asyncio
from typing import Any

import pytest
from grpc_health.v1 import health_pb2
from prometheus_client import CollectorRegistry

from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.guards.chain import Guards, Method
from chatiere.service.guards.limits import CallLimit, CallSlots, origin_of
from chatiere.service.ports.health import HealthServicer

ONE_CLIENT = [f"ipv6:%5B2001:db8:1:2:{i:x}::{i:x}%5D:{1000 + i}" for i in range(200)]
OTHERS = ["ipv6:%5B2001:db8:1:3::1%5D:1000", "ipv4:192.0.2.1:1000", "ipv4:192.0.2.2:1000"]


@pytest.mark.parametrize(
    ("peer", "origin"),
    [
        ("ipv4:192.0.2.1:1000", "ipv4:192.0.2.1"),
        ("ipv4:192.0.2.2:2000", "ipv4:192.0.2.2"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:1000", "ipv6:2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2::]:1000", "ipv6:2001:db8:1:2::/64"),
        ("ipv6:%5B::1%5D:1000", "ipv6:::/64"),
        ("ipv6:%5Bfe80::1%25eth0%5D:1000", "ipv6:fe80::/64"),
        ("ipv6:%5B::ffff:192.0.2.1%5D:1000", "ipv4:192.0.2.1"),
        ("ipv6:%5B::ffff:c000:201%5D:1000", "ipv4:192.0.2.1"),
        ("ipv6:nonsense:1000", "ipv6:nonsense"),
        ("unix:", "unix"),
    ],
)
def test_the_origin_of_an_address(peer: str, origin: str) -> None:
    assert origin_of(peer) == origin


def test_calls_from_one_64_have_one_limit() -> None:
    guards = Guards(Settings(max_calls_per_client=20), metrics := Metrics(CollectorRegistry()))
    method = Method(metrics, "unary", "/service/method", limit=CallLimit("calls", 1000), counts_clients=True)

    def is_admitted(peer: str) -> bool:
        call = guards.begin(method, peer, ())
        assert call.peer == peer
        try:
            guards.admit(call)
        except Refusal:
            return False
        return True

    assert sum(map(is_admitted, ONE_CLIENT)) == 20
    assert all(map(is_admitted, OTHERS))


class _Context:
    def __init__(self, peer: str) -> None:
        self._peer = peer

    def peer(self) -> str:
        return self._peer


def test_watches_of_the_health_from_one_64_are_one_client_s() -> None:
    async def check() -> None:
        health = HealthServicer()
        health._slots = CallSlots(3)
        await health.set("", health_pb2.HealthCheckResponse.SERVING)

        async def watch(peer: str) -> Any:
            watch = health.Watch(health_pb2.HealthCheckRequest(), _Context(peer))
            assert (await anext(watch)).status == health_pb2.HealthCheckResponse.SERVING
            return watch

        watches = [await watch(peer) for peer in (OTHERS[0], *ONE_CLIENT[:3])]
        # One too many: of those that the /64 has, the oldest had to go.
        assert [response async for response in watches[1]] == []
        assert health._slots.largest(0)[:2] == (2, "ipv6:2001:db8:1:2::/64")
        await asyncio.gather(*(each.aclose() for each in watches))

    asyncio.run(check())
