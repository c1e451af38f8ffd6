"""The host names that the web door accepts in requests."""

import dataclasses
import socket
from collections.abc import Iterator

import pytest

from chatiere.service.base.settings import SettingError, Settings

from ..support import PATIENCE, Running, running

NAMED = Settings(address="127.0.0.1:0", web_address="127.0.0.1:0", web_hosts=("page.example", "chatiere"))
HOST, NEW_GAME = "host: {}\r\n", "/chatiere.v1.GameService/NewGame"


@pytest.fixture(scope="module")
def named() -> Iterator[Running]:
    with running(NAMED, "web") as server:
        yield server


def asked(server: Running, headers: str, *, path: str = "/healthz", method: str = "GET", version: str = "1.1") -> bytes:
    """Send a request. Return the response."""
    host, _, port = server.address.rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(f"{method} {path} HTTP/{version}\r\n{headers}connection: close\r\n\r\n".encode("latin-1"))
        with connection.makefile("rb") as response:
            return response.read()


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:8080",
        "127.0.0.1",
        "10.1.2.3:80",
        "[::1]",
        "[2001:db8::1]:443",
        "page.example",
        "Page.Example:8443",
        "chatiere",
    ],
)
def test_localhost_addresses_and_named_hosts_are_served(named: Running, host: str) -> None:
    assert asked(named, HOST.format(host)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "host",
    ["x", "rebound.example", "localhost.rebound.example", "other.page.example", "127.0.0.1.rebound.example", "[v]"],
)
@pytest.mark.parametrize("path", ["/", "/healthz", NEW_GAME, "/nothing"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_other_names_are_refused_for_any_request(named: Running, host: str, path: str, method: str) -> None:
    preflight = "origin: http://x\r\naccess-control-request-method: POST\r\n"
    found = asked(named, HOST.format(host) + preflight, path=path, method=method)
    if host == "[v]":
        assert found.startswith(b"HTTP/1.1 400 ")
    else:
        assert found.startswith(b"HTTP/1.1 421 Misdirected Request\r\n")
        body = found.partition(b"\r\n\r\n")[2]
        assert host.encode() in body
        assert b"--web-hosts" in body
    assert b"access-control" not in found


@pytest.mark.parametrize(
    "headers",
    [
        "",
        "host: localhost\r\nhost: localhost\r\n",
        "host: localhost\r\nHost: page.example\r\n",
        "host:\r\n",
        "host: localhost:x\r\n",
        "host: localhost,page.example\r\n",
        "host: user@localhost\r\n",
        "host: \xe9\r\n",
        "host: localhost/\r\n",
    ],
)
def test_a_request_has_exactly_one_host(named: Running, headers: str) -> None:
    assert asked(named, headers).startswith(b"HTTP/1.1 400 ")


def test_http_1_0_needs_no_host_but_may_not_name_another(named: Running) -> None:
    assert b" 200 OK" in asked(named, "", version="1.0").partition(b"\r\n")[0]
    assert b" 421 " in asked(named, HOST.format("rebound.example"), version="1.0").partition(b"\r\n")[0]
    assert b" 400 " in asked(named, 2 * HOST.format("localhost"), version="1.0").partition(b"\r\n")[0]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_the_host_of_the_target_takes_precedence(named: Running, version: str) -> None:
    for host, path, status in (
        ("localhost", "http://rebound.example/healthz", b" 421 "),
        ("localhost", "http://user@rebound.example:80/healthz", b" 421 "),
        ("rebound.example", "http://Page.Example:8443/healthz", b" 200 "),
        ("rebound.example", "http://[::1]/healthz", b" 200 "),
    ):
        assert status in asked(named, HOST.format(host), path=path, version=version).partition(b"\r\n")[0]


def test_without_names_localhost_and_addresses_are_served(server: Running) -> None:
    assert asked(server, HOST.format("localhost")).startswith(b"HTTP/1.1 200 ")
    assert asked(server, HOST.format("page.example")).startswith(b"HTTP/1.1 421 ")


def test_the_name_in_the_address_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    find = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: find(host.replace("Here", ""), *rest, **more)
    )
    settings = dataclasses.replace(NAMED, web_address="127.0.0.1Here:0", web_hosts=(), insecure=True)
    with running(settings) as server:
        found = dataclasses.replace(server, address=f"127.0.0.1:{server.server.web_port}")
        assert asked(found, HOST.format("127.0.0.1here")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("host", ["", "Page.example", "page.example:80", "https://page.example", "*", "page.example/"])
def test_an_invalid_host_name_is_refused(host: str) -> None:
    with pytest.raises(SettingError, match=r"^web_hosts: a host must be a name in lower case, not "):
        Settings(web_address="127.0.0.1:0", web_hosts=(host,))


def test_host_names_require_the_door_for_browsers() -> None:
    with pytest.raises(SettingError, match=r"^web_hosts: needs web_address"):
        Settings(web_hosts=("page.example",))
