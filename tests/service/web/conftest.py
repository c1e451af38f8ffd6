"""A server, and a client that calls it at the web door."""

from collections.abc import Iterator

import pytest

from ..support import Running, running
from .client import WebClient


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(door="web") as server:
        yield server


@pytest.fixture(scope="module")
def web(server: Running) -> Iterator[WebClient]:
    with WebClient(server.address) as web:
        yield web
