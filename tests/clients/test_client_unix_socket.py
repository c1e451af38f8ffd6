"""The clients over a Unix socket, at grpcio's port and at the fast door."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tools.needs import needs
from tools.patience import PATIENCE

from chatiere import engine
from chatiere.clients import FastStream, TransportError
from chatiere.clients.calls.batch_requests import new_games, step
from chatiere.clients.transport.fast_call import IS_BUILT, FastCall
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns

from .conftest import Ask

NAMES = [game.name for game in engine.games()]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a server's sockets. api.sock always exists, fast.sock only if the server has the fast door."""
    with tempfile.TemporaryDirectory() as name:
        fast = f"unix:{name}/fast.sock" if IS_BUILT else None
        server, _ = create_server(Settings(address=f"unix:{name}/api.sock", fast_address=fast), CollectorRegistry())
        server.start()
        yield Path(name)
        server.stop(grace=None).wait()


@pytest.mark.parametrize("socket", ["api.sock", pytest.param("fast.sock", marks=needs("libnghttp2"))])
def test_clients_call_over_a_unix_socket(ask_at: Ask, folder: Path, socket: str) -> None:
    assert [info.name for info in ask_at(f"unix:{folder / socket}", "list_games")] == NAMES
    # gRPC also accepts this second form of the address.
    assert [info.name for info in ask_at(f"unix://{folder / socket}", "list_games")] == NAMES


@needs("libnghttp2")
@pytest.mark.parametrize("socket", ["api.sock", "fast.sock"])
def test_a_fast_stream_plays(folder: Path, socket: str) -> None:
    table = BatchSetup(game="discat", players=2)
    with FastStream(f"unix:{folder / socket}") as stream:
        games = stream.submit(new_games(table, [1, 2], columns=Columns(legal=True))).result(PATIENCE)
        moves = games.legal_ids[games.legal_offsets[:-1]]
        stepped = stream.submit(step(table, games.states, moves)).result(PATIENCE)
    assert not stepped.faults
    assert (stepped.positions.states != games.states).any(axis=1).all()


@needs("libnghttp2")
@pytest.mark.parametrize("name", ["none.sock", "n" * 200])
def test_a_missing_socket(folder: Path, name: str) -> None:
    address = f"unix:{folder / name}"
    with pytest.raises(TransportError, match=f"no connection to {address}: ") as raised:
        FastCall(address, "/chatiere.v1.BatchService/Play", timeout=10)
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
