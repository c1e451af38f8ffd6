"""The port for metrics serves only metrics, and keeps no connection open for long."""

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter

from chatiere.service.base.settings import SettingError
from chatiere.service.ports import metrics_port
from chatiere.service.ports.metrics_port import MetricsPort

from .process import wait_until
from .support import PATIENCE


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Counter("purrs", "Heard by the stove.", registry=registry).inc(3)
    return registry


@pytest.fixture
def port(registry: CollectorRegistry) -> Iterator[MetricsPort]:
    with MetricsPort("127.0.0.1:0", registry) as port:
        yield port


def connected(port: MetricsPort) -> socket.socket:
    host, number = port.address.split(":")
    return socket.create_connection((host, int(number)), timeout=PATIENCE)


def get(port: MetricsPort, path: str = "/metrics", **options: Any) -> str:
    request = urllib.request.Request(f"http://{port.address}{path}", **options)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def is_closed(connection: socket.socket) -> bool:
    """Wait for data or the end of a connection. Return whether the other side closed the connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_metrics_are_served(port: MetricsPort) -> None:
    assert "purrs_total 3.0" in get(port)


@pytest.mark.parametrize("path", ["/", "/metric", "/metrics/x", "/favicon.ico"])
def test_other_paths_are_not_found(port: MetricsPort, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(port, path)


def test_methods_other_than_get_are_refused(port: MetricsPort) -> None:
    with pytest.raises(urllib.error.HTTPError, match="405"):
        get(port, method="POST", data=b"x")


def test_metrics_that_cannot_be_read_are_an_error(
    port: MetricsPort, registry: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def collect(self) -> list[Any]:
            raise OSError(24, "Too many open files")

    broken: Any = Broken()
    registry.register(broken)
    with pytest.raises(urllib.error.HTTPError, match="500"):
        get(port)
    assert "cannot read the metrics" in caplog.text
    registry.unregister(broken)
    assert "purrs_total" in get(port)


def test_the_oldest_silent_connection_gives_way(port: MetricsPort) -> None:
    threads = threading.active_count()
    with ExitStack() as stack:
        silent = [stack.enter_context(connected(port)) for _ in range(100)]
        assert "purrs_total" in get(port)
        assert all(is_closed(connection) for connection in silent[: -metrics_port._MAX_CONNECTIONS])
        most = threads + metrics_port._MAX_CONNECTIONS
        wait_until(lambda: threading.active_count() <= most, "the threads of closed connections have ended")
        silent[-1].sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert silent[-1].recv(12) == b"HTTP/1.0 200"


def test_a_silent_connection_is_closed(port: MetricsPort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_port._Handler, "timeout", 0.01)
    with connected(port) as connection:
        assert is_closed(connection)


def test_a_request_must_arrive_in_time(port: MetricsPort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_port, "_REQUEST", 0.1)
    with connected(port) as connection:
        connection.setblocking(False)

        def is_cut() -> bool:
            # Bytes continue to arrive, but the request never ends.
            try:
                connection.sendall(b"x")
                return connection.recv(1) == b""
            except BlockingIOError:
                return False
            except ConnectionError:
                return True

        wait_until(is_cut, "the connection is cut")


def test_a_client_that_does_not_read_is_closed(
    port: MetricsPort, registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_port._Handler, "timeout", 0.01)
    many = Counter("hairs", "More than a socket holds.", ("place",), registry=registry)
    for number in range(60_000):
        many.labels(f"{number:0>200}")
    with ExitStack() as stack:
        for _ in range(metrics_port._MAX_CONNECTIONS):
            connection = stack.enter_context(connected(port))
            connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        registry.unregister(many)
        wait_until(lambda: is_answered(port), "there is a free slot again")


def is_answered(port: MetricsPort) -> bool:
    # If all slots are taken, the newest connection is refused.
    try:
        return "purrs_total" in get(port)
    except OSError:
        return False


def test_an_address_in_use_is_refused(registry: CollectorRegistry, port: MetricsPort) -> None:
    with pytest.raises(
        SettingError, match=f"^metrics_address: cannot listen on {port.address}: Address already in use"
    ):
        MetricsPort(port.address, registry)


def test_metrics_are_served_over_ipv6(registry: CollectorRegistry) -> None:
    with MetricsPort("[::1]:0", registry) as port:
        assert "purrs_total" in get(port)


def test_a_shortage_of_descriptors_does_not_end_the_port(port: MetricsPort, monkeypatch: pytest.MonkeyPatch) -> None:
    accept = socket.socket.accept
    fails = iter([True, True])

    def fail(self: socket.socket) -> Any:
        if next(fails, False):
            raise OSError(24, "Too many open files")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", fail)
    assert "purrs_total" in get(port)
