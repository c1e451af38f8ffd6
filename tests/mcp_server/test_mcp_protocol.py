"""The SDK's own client plays at the server, over stdio and over HTTP."""

import random
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client
from service.rooms.redis_server import redis_server
from tools.needs import needs
from tools.over import TABLES, over

from chatiere.mcp.server import _Guarded
from chatiere.service.base.settings import Settings
from chatiere.service.guards.tokens import new_token
from chatiere.service.tables.new_key import new_key

from .support import seats, served, stdio


async def called(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


async def played(client: Client, name: str, players: int) -> dict[str, Any]:
    """Play a game to its end at random. Return the result of the last call."""
    choices = random.Random(f"{name} {players}")
    told = await called(client, "new_table", game=name, seats=seats(players, seat=choices.randrange(players)))
    while not told["over"]:
        assert len(told["handle"]) <= 64
        action = choices.randint(1, told["legal_actions"])
        told = await called(client, "move", handle=told["handle"], action=action, legal=choices.random() < 0.5)
    return told


@pytest.mark.long
@over("mode", ["auto", "legacy"])
async def test_a_client_plays_every_game_over_stdio(mode: str) -> None:
    async with Client(stdio(), mode=mode) as client:
        for name, players in TABLES:
            told = await played(client, name, players)
            assert told["winners"]
            assert (await called(client, "record", handle=told["handle"]))["record"].startswith(f"game: {name}\n")


@pytest.mark.long
@over("mode", ["auto", "legacy"])
async def test_a_client_plays_every_game_over_http(mode: str) -> None:
    with served() as server:
        async with Client(server.url, mode=mode) as client:
            for name, players in TABLES:
                assert (await played(client, name, players))["winners"]


async def test_a_client_sees_eight_tools_with_schemas() -> None:
    async with Client(stdio("--relay", "none")) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8
        for tool in tools:
            assert tool.description
            assert tool.input_schema["type"] == "object"
            assert tool.output_schema is not None
        # The client checks structured results against the schema.
        told = await called(client, "new_table", game="discat")
        for name, arguments in {
            "games": {"game": "discat"},
            "rules": {"game": "discat"},
            "look": {"handle": told["handle"]},
            "suggest": {"handle": told["handle"], "bot": "random"},
            "explain": {"game": "discat", "about": "bonus"},
        }.items():
            assert await called(client, name, **arguments)


class Guest:
    """A player that knows only what the server tells: the tools' schemas and the results."""

    def __init__(self, seed: int) -> None:
        self._choices, self._handle, self._legal = random.Random(seed), "", 0
        self.is_over = False

    async def act(self, client: Client) -> None:
        """Make one call."""
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        (begin,) = [name for name, schema in tools.items() if "seats" in schema["properties"]]
        (move,) = [name for name, schema in tools.items() if {"handle", "action"} <= {*schema["required"]}]
        if not self._handle:
            (listing,) = [name for name, schema in tools.items() if not schema["required"] and name.startswith("games")]
            games = (await called(client, listing))["games"]
            told = await called(client, begin, game=self._choices.choice(games)["name"])
        else:
            told = await called(client, move, handle=self._handle, action=self._choices.randint(1, self._legal))
        self._handle, self._legal, self.is_over = told["handle"], told["legal_actions"], told["over"]


async def continued(seed: int, *options: str | Path) -> None:
    """Play a game at two servers in turn, one of which is killed in mid-game."""
    guest = Guest(seed)
    with served(*options) as one, served(*options) as other:
        for server in (one, other, one):
            async with Client(server.url) as client:
                await guest.act(client)
        one.kill()
        async with Client(other.url) as client:
            while not guest.is_over:
                await guest.act(client)


@pytest.mark.long
@over("seed", range(5))
async def test_a_game_goes_on_at_another_server_with_the_table_as_the_handle(seed: int, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(new_key().hex())
    await continued(seed, "--relay", "none", "--table-keys", keys)


@pytest.mark.long
@needs("Redis")
@over("seed", range(5))
async def test_a_game_goes_on_at_another_server_with_the_same_relay(seed: int, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(new_key().hex())
    with redis_server(tmp_path) as redis:
        await continued(seed, "--relay", redis.address, "--table-keys", keys)


@pytest.mark.long
def test_the_calls_of_each_client_are_limited(tmp_path: Path) -> None:
    tokens = dict(new_token(name) for name in ("one", "other"))
    (tmp_path / "tokens").write_text("\n".join(tokens.values()))
    options = ("--tokens", tmp_path / "tokens", "--max-rate-per-client", "0.01", "--max-calls-per-client", "2")
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with served(*options) as server:
        for token in tokens:
            headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
            assert httpx.post(server.url, json=body, headers=headers).status_code == 200
            refused = httpx.post(server.url, json=body, headers=headers)
            assert refused.status_code == 429
            assert 1 <= int(refused.headers["retry-after"]) <= 100
            assert refused.text.startswith("limit exceeded: calls of one client a second (at most 0.01)")


async def test_the_calls_in_progress_of_each_address_are_limited() -> None:
    called, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        called.append(scope["client"])
        if len(called) == 1:
            await guarded(scope, receive, send)
            await guarded({**scope, "client": ("::1", 5)}, receive, send)

    async def send(message: Any) -> None:
        sent.append(message)

    guarded = _Guarded(app, Settings(max_calls_per_client=1))
    scope = {"type": "http", "method": "POST", "client": ("127.0.0.1", 5), "headers": []}
    for _ in range(2):
        await guarded(scope, None, send)  # type: ignore[arg-type]
    assert called == [("127.0.0.1", 5), ("::1", 5), ("127.0.0.1", 5)]
    # A GET would open a stream that never ends.
    await guarded({**scope, "method": "GET"}, None, send)  # type: ignore[arg-type]
    assert len(called) == 3
    assert [each["status"] for each in sent if "status" in each] == [429, 405]


@pytest.mark.long
def test_a_server_with_tokens_answers_only_clients_with_one(tmp_path: Path) -> None:
    token, line = new_token("model")
    (tmp_path / "tokens").write_text(line)
    with served("--tokens", tmp_path / "tokens") as server:
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {token}"}):
            assert httpx.post(server.url, json=body, headers=headers).status_code == 401
        good = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        assert httpx.post(server.url, json=body, headers=good).status_code == 200
        assert httpx.post(server.url, content=b"x" * 1_000_000, headers=good).status_code == 413
        foreign = good | {"host": "elsewhere.example"}
        assert httpx.post(server.url, json=body, headers=foreign).status_code == 421
