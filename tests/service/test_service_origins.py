"""The origins by which clients are limited: an IPv4 address, or the /64 of an IPv6 address."""

import pytest
from grpc_health.v1 import health_pb2
from prometheus_client import CollectorRegistry

from chatiere.service.base.errors import OK, Refusal, Status
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange import health as health_module
from chatiere.service.exchange.health import Health
from chatiere.service.guards.chain import Call, Guards, Method
from chatiere.service.guards.limits import CallLimit, origin_of

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
def test_the_origin_of_a_client_is_its_ipv4_address_or_its_ipv6_64(peer: str, origin: str) -> None:
    assert origin_of(peer) == origin


def test_calls_from_one_64_have_one_limit() -> None:
    guards = Guards(Settings(max_calls_per_client=20), metrics := Metrics(CollectorRegistry()))
    method = Method(metrics, "unary", "/service/method", limit=CallLimit("calls", 1000), counts_clients=True)

    def is_admitted(peer: str) -> bool:
        call = Call(method, peer, ())
        guards.begin(call)
        assert call.peer == peer
        try:
            guards.admit(call)
        except Refusal:
            return False
        return True

    assert sum(map(is_admitted, ONE_CLIENT)) == 20
    assert all(map(is_admitted, OTHERS))


class _Watcher:
    """The feed of a watch."""

    def __init__(self, peer: str) -> None:
        self.origin = origin_of(peer)
        self.language = ""
        self.sent: list[bytes] = []
        self.has_ended = False

    def send(self, response: bytes) -> None:
        self.sent.append(response)

    def end(self, status: Status = OK) -> None:
        raise AssertionError("the server does not stop")

    def cut(self, error: Exception) -> None:
        self.has_ended = True


def test_health_watches_from_one_64_network_count_for_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_module, "WATCHES", 3)
    health = Health(["service"])
    watchers = [_Watcher(peer) for peer in (OTHERS[0], *ONE_CLIENT[:3])]
    for each in watchers:
        health.watch(b"", each)
        (status,) = map(health_pb2.HealthCheckResponse.FromString, each.sent)
        assert status.status == health_pb2.HealthCheckResponse.SERVING
    # The oldest watch of the /64 had to end for the watch that exceeded the limit.
    assert [each.has_ended for each in watchers] == [False, True, False, False]
