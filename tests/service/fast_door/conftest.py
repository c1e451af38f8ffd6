"""A server that is called at its fast door, a client that sends single frames, and simple responses of Play."""

from collections.abc import Iterator

import pytest

from chatiere.service.calls.play_stream import PlayStream

from ..process import Served
from ..support import Running
from .peer import Bystander, Peer
from .servers import Slow, playing


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with playing() as server:
        yield server


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make Play echo its requests at servers that start later."""
    monkeypatch.setattr(PlayStream, "answer", lambda self, request, *_: [bytes(request)])


@pytest.fixture
def echoing(echo: None) -> Iterator[Running]:
    """Run a server whose Play echoes its requests."""
    with playing() as server:
        yield server


@pytest.fixture
def peer(echoing: Running) -> Iterator[Peer]:
    """Return a client of a server whose Play echoes its requests."""
    with Peer(echoing) as peer:
        yield peer


@pytest.fixture
def bystander(server: Served) -> Iterator[Bystander]:
    """Return an ordinary client. The server must continue to serve it."""
    with Bystander(server) as bystander:
        yield bystander


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow(monkeypatch)
    yield slow
    slow.released.release(1000)
