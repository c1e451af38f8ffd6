"""The tools on a running service, which keeps the games in its rooms."""

from collections.abc import Iterator

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tools.over import over

from chatiere import engine
from chatiere.mcp.backend import RemoteBackend
from chatiere.mcp.tools import Tools
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server

from .support import seats, succeeded

GAMES = ["chatpentiers", "discat", "momistigri"]


@pytest.fixture
def channel() -> Iterator[grpc.Channel]:
    server, port = create_server(Settings(address="127.0.0.1:0", relay="memory"), CollectorRegistry())
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        server.stop(grace=1.0).wait()


@over("name", GAMES)
@over("keeps_rooms", [True, False])
def test_a_game_is_played_at_a_service(channel: grpc.Channel, name: str, keeps_rooms: bool) -> None:
    tools = Tools(RemoteBackend(channel, None, keeps_rooms=keeps_rooms))
    told = succeeded(tools.call("new_table", {"game": name, "seats": seats(engine.game(name).min_players)}))
    while not told.data["over"]:
        told = succeeded(tools.call("move", {"handle": told.data["handle"], "action": 1, "language": "fr"}))
    record = tools.call("record", {"handle": told.data["handle"]})
    assert record.is_error != keeps_rooms
    assert keeps_rooms or record.text.startswith("INVALID_HISTORY: this server keeps no tables")


def test_refusals_of_a_service_are_told(channel: grpc.Channel) -> None:
    tools = Tools(RemoteBackend(channel, None, keeps_rooms=True))
    assert tools.call("look", {"handle": "A" * 43}).text.startswith("INVALID_TABLE: no game is kept for this handle")
    assert tools.call("look", {"handle": "A" * 80}).text.startswith("INVALID_TABLE: table: not a table sealed")
    told = succeeded(tools.call("new_table", {"game": "chat_perche", "options": {"first_seat": 0}}))
    refused = tools.call("move", {"handle": told.data["handle"], "action": "end the turn"})
    assert refused.is_error
    asked = tools.call("explain", {"handle": told.data["handle"], "about": "stop"})
    assert asked.data["legal"] is False
    assert asked.data["sections"]


def test_a_service_that_does_not_respond_is_reported() -> None:
    with grpc.insecure_channel("127.0.0.1:1") as channel:
        result = Tools(RemoteBackend(channel, None, keeps_rooms=True)).call("games", {})
    assert result.is_error
    assert result.text.startswith("UNAVAILABLE: ")
