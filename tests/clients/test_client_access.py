"""Clients of a service that requires TLS and a token; request ids; limits."""

import asyncio
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from prometheus_client import CollectorRegistry

from chatiere.clients import AsyncClient, ChatiereError, Client, TransportError
from chatiere.service.base.settings import Settings
from chatiere.service.guards.tokens import new_token
from chatiere.service.ports.server import create_server

ListGames = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def list_games(request: pytest.FixtureRequest) -> ListGames:
    """Return list_games(target, option=…). It creates a client with these options and calls the client's list_games."""

    def ask(target: Any, calls: int = 1, **options: Any) -> Any:
        with Client(target, **options) as client:
            return [client.list_games() for _ in range(calls)][-1]

    async def ask_async(target: Any, calls: int = 1, **options: Any) -> Any:
        async with AsyncClient(target, **options) as client:
            return [await client.list_games() for _ in range(calls)][-1]

    return (
        ask if request.param == "sync" else lambda *arguments, **options: asyncio.run(ask_async(*arguments, **options))
    )


@pytest.fixture
def serving() -> Iterator[Callable[..., str]]:
    """Return serving(setting=…). It starts a server with these settings and returns the server's address."""
    servers = []

    def serve(**settings: Any) -> str:
        server, port = create_server(Settings(address="127.0.0.1:0", **settings), CollectorRegistry())
        server.start()
        servers.append(server)
        return f"localhost:{port}"

    yield serve
    for server in servers:
        server.stop(None).wait()


def error_of(ask: ListGames, *arguments: Any, **options: Any) -> ChatiereError:
    with pytest.raises(ChatiereError) as raised:
        ask(*arguments, **options)
    return raised.value


def test_calls_need_the_servers_certificate_and_the_token(
    list_games: ListGames, serving: Callable[..., str], tmp_path: Path
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate = authority.issue_cert("localhost")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    token, line = new_token("alice")
    (tmp_path / "tokens").write_text(line)
    files = {"tls_certificate": tmp_path / "server.pem", "tls_key": tmp_path / "server.pem"}
    address = serving(**files, tokens=tmp_path / "tokens")
    credentials = grpc.ssl_channel_credentials((tmp_path / "ca.pem").read_bytes())

    assert list_games(address, credentials=credentials, token=token)
    for wrong in None, token + "x":
        error = error_of(list_games, address, credentials=credentials, token=wrong)
        assert type(error) is ChatiereError
        assert (error.code, error.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
    for elsewhere in {}, {"credentials": grpc.ssl_channel_credentials()}:
        error = error_of(list_games, address, token=token, **elsewhere)
        assert type(error) is TransportError
        assert error.code is grpc.StatusCode.UNAVAILABLE


def test_a_call_has_the_id_chosen_by_its_client(
    list_games: ListGames, serving: Callable[..., str], tmp_path: Path
) -> None:
    _, line = new_token("alice")
    (tmp_path / "tokens").write_text(line)
    address = serving(tokens=tmp_path / "tokens")
    assert error_of(list_games, address, new_request_id=lambda: "mine").request_id == "mine"
    own = {error_of(list_games, address).request_id for _ in range(2)}
    assert len(own) == 2
    assert "" not in own


def test_an_error_states_when_to_retry(list_games: ListGames, serving: Callable[..., str]) -> None:
    # "localhost" is not used, because it may resolve to several addresses, each with its own limit.
    address = serving(max_rate_per_client=0.001).replace("localhost", "127.0.0.1")
    error = error_of(list_games, address, calls=2)
    assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")
    assert error.retry_after is not None
    assert 900 < error.retry_after <= 1000
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_an_error_of_the_request_has_no_time_to_retry(serving: Callable[..., str]) -> None:
    with Client(serving()) as client, pytest.raises(ChatiereError) as raised:
        client.new_game("tarock", 3)
    assert raised.value.retry_after is None
