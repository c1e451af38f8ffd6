"""A server with a port for streams, a client of it, and simple handlers."""

from collections.abc import Iterator

import pytest

from chatiere.service.calls.batch_service import BatchService

from ..support import Running
from .peer import Peer, Slow, playing


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with playing() as server:
        yield server


@pytest.fixture
def peer(server: Running) -> Iterator[Peer]:
    with Peer(server) as peer:
        yield peer


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Echo every request."""
    monkeypatch.setattr(BatchService, "play", lambda self, request, cancellation: [bytes(request)])


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow(monkeypatch)
    yield slow
    slow.released.release(1000)
