"""The clients over a Unix socket, at grpcio's port and at the fast door."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from prometheus_client import CollectorRegistry

from chatiere import engine
from chatiere.clients import TransportError, VectorEnv
from chatiere.clients.transport.fast_call import IS_BUILT, FastCall
from chatiere.clients.transport.fast_stream import FastStream
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server

from .conftest import Ask

NAMES = [game.name for game in engine.games()]
NEEDS_LIBNGHTTP2 = pytest.mark.skipif(not IS_BUILT, reason="built without libnghttp2")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with the sockets of a server: api.sock and, if it has that door, fast.sock."""
    with tempfile.TemporaryDirectory() as name:
        fast = f"unix:{name}/fast.sock" if IS_BUILT else None
        server, _ = create_server(Settings(address=f"unix:{name}/api.sock", fast_address=fast), CollectorRegistry())
        server.start()
        yield Path(name)
        server.stop(grace=None).wait()


@pytest.mark.parametrize("socket", ["api.sock", pytest.param("fast.sock", marks=NEEDS_LIBNGHTTP2)])
def test_clients_call(ask_at: Ask, folder: Path, socket: str) -> None:
    assert [info.name for info in ask_at(f"unix:{folder / socket}", "list_games")] == NAMES
    # As gRPC writes it, too.
    assert [info.name for info in ask_at(f"unix://{folder / socket}", "list_games")] == NAMES


@NEEDS_LIBNGHTTP2
@pytest.mark.parametrize("socket", ["api.sock", "fast.sock"])
def test_a_fast_stream_plays(folder: Path, socket: str) -> None:
    fast = f"unix:{folder / socket}"
    game = engine.games()[0]
    with VectorEnv(fast, game.name, game.min_players, num_envs=4, fast_address=fast) as env:
        assert isinstance(env._stream, FastStream)
        batch = env.reset(seed=1)
        assert (env.step(batch.random_actions()).states != batch.states).any()


@NEEDS_LIBNGHTTP2
@pytest.mark.parametrize("name", ["none.sock", "n" * 200])
def test_where_no_socket_is(folder: Path, name: str) -> None:
    address = f"unix:{folder / name}"
    with pytest.raises(TransportError, match=f"no connection to {address}: ") as raised:
        FastCall(address, "/chatiere.v1.BatchService/Play", timeout=10)
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
