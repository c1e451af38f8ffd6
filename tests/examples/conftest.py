"""A service for the examples."""

from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run a service, and return its address."""
    server, port = create_server(Settings(address="127.0.0.1:0", relay="memory"), CollectorRegistry())
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(grace=None).wait()
