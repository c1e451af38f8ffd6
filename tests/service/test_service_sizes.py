"""The largest metadata, and the largest requests to all methods: valid requests fit, and the sizes are documented."""

import re
from pathlib import Path

import grpc
from prometheus_client import CollectorRegistry
from tools.over import over

from chatiere.engine import Game
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.table_service import TableService
from chatiere.service.guards.sizes import MAX_METADATA, MAX_REQUEST_BYTES, largest_request
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import game_service_pb2
from chatiere.v1 import table_service_pb2 as pb

from .support import ALL_DOORS, Running, refusal

DOCS = Path(__file__).parents[2] / "docs/operations.md"
TABLES = "/chatiere.v1.TableService/"
SETTINGS = Settings()


def largest(path: str) -> int:
    return largest_request(path, SETTINGS.max_message_bytes)


def test_the_docs_state_the_largest_requests() -> None:
    text = DOCS.read_text()
    table = text.partition("### The largest requests")[2].partition("| --- | --- |\n")[2].partition("\n\n")[0]
    documented = dict(re.findall(r"^\| ([^|]*) \| ([0-9,]+)(?:;[^|]*)? \|$", table, re.MULTILINE))
    assert documented == {words_of(path): f"{size:,}" for path, size in MAX_REQUEST_BYTES.items() if size is not None}


def words_of(path: str) -> str:
    """Return the documentation's name for the method (or methods) at a path."""
    service, _, method = path.removeprefix("/chatiere.v1.").partition("/")
    if not service:
        return "health, reflection, channelz"
    if method:
        return f"`{service}`: `{method}`"
    has_others = any(other.startswith(path) for other in MAX_REQUEST_BYTES if other != path)
    return f"`{service}`: others" if has_others else f"`{service}`"


def test_the_setting_bounds_every_method() -> None:
    assert largest("/chatiere.v1.BatchService/Step") == SETTINGS.max_message_bytes
    assert {largest_request(path, 1000) for path in ("/a/b", TABLES + "Move", "/chatiere.v1.BatchService/Step")} == {
        1000
    }


def test_the_tables_of_the_longest_game_fit(game: Game) -> None:
    tables = TableService(SETTINGS, Metrics(CollectorRegistry()), Keyring(None, bytes(32)))
    for players in range(game.min_players, game.max_players + 1):
        request = pb.NewTableRequest(
            game=game.name,
            players=players,
            seats=[pb.TableSeat()] * players,
            acknowledgement=pb.ACKNOWLEDGEMENT_NEXT,
        )
        (data,) = tables.answer("new_table", request.SerializeToString(), Cancellation(), lambda size: None)
        table = pb.NewTableResponse.FromString(bytes(data)).table
        # In JSON, a table is in base64, with quotes and a comma.
        size = len(table) * 4 / 3 + 8
        assert 4 * size < largest(TABLES + "Move")
        assert size * (game.limits_of_any_options(players).max_game_length + 1) < largest(TABLES + "GetRecord")


@over("door", ALL_DOORS, indirect=True)
def test_metadata_above_the_limit_has_the_same_refusal_at_all_doors(server: Running) -> None:
    list_games, request = server.stub.ListGames, game_service_pb2.ListGamesRequest()
    list_games(request, metadata=[("x-large", "a" * 15_000)])
    # The smallest size is just above the limit. The larger ones end the connection at the fast door, and gRPC's core
    # refuses them.
    for size in (16_500, 33_000, 66_000, 200_000):
        for fields in (1, 30):
            refused = refusal(list_games, request, metadata=[(f"x-{k}", "a" * (size // fields)) for k in range(fields)])
            assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED, (size, fields, refused.message)
    assert list_games(request).games


def test_the_docs_state_the_largest_metadata() -> None:
    assert f"{MAX_METADATA:,} bytes, counted as in HTTP/2" in DOCS.read_text().replace("\n", " ")
