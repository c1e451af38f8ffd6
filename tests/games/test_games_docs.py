"""The pages for frontend authors print the service's responses, and refer only to existing names.

After an intended change to a response, update the pages' blocks and review the difference:
`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/games/test_games_docs.py`.
"""

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import ParseDict
from google.rpc import error_details_pb2, status_pb2
from service.support import game_stub, running

from chatiere import engine
from chatiere.engine import Game
from chatiere.v1 import errors_pb2, game_pb2, game_service_pb2, record_pb2

from .documented import PAGES, ROOT, made, rewritten

UPDATE = "CHATIERE_UPDATE_GOLDEN" in os.environ
HEADINGS = [
    "Begin a game",
    "Phases",
    "A player's update",
    "Actions",
    "Events",
    "Pieces",
    "Refusals",
    "The end",
    "Options",
    "For learners",
]
FILES = (game_pb2, game_service_pb2, errors_pb2, record_pb2, error_details_pb2, status_pb2)


@pytest.fixture(scope="module")
def channel() -> Iterator[grpc.Channel]:
    with running() as server:
        yield server.channel


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_json_of_a_page_is_the_services_response(channel: grpc.Channel, page: Path) -> None:
    responses = list(made(channel, page))
    assert len(responses) > 3
    if UPDATE:
        page.write_text(rewritten(page, responses), encoding="utf-8")
        responses = list(made(channel, page))
    for block, response in responses:
        assert block.text == response, f"{page.name}, line {block.line}: the service now responds\n{response}"


def test_every_game_has_a_page_and_all_pages_have_the_same_headings() -> None:
    pages = {path.stem: path for path in PAGES if path.parent.name == "games"}
    assert list(pages) == sorted(game.name for game in engine.games())
    for path in pages.values():
        assert re.findall(r"^## (.*)$", path.read_text("utf-8"), re.M) == HEADINGS, path.name


def page_of(game: Game) -> str:
    """Return a game's page."""
    return (ROOT / "docs" / "games" / f"{game.name}.md").read_text("utf-8")


def rows(game: Game, heading: str) -> list[list[str]]:
    """Return the rows of the table of a game's page whose first column has the given heading."""
    (table,) = re.findall(rf"^\| {heading} \|.*\n\|[- |]*\n((?:\|.*\n)+)", page_of(game), re.M)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def title(game: Game) -> str:
    """Return the prefix of the names of a game's messages."""
    return "".join(word.capitalize() for word in game.name.split("_"))


def enum_names(game: Game, enum: str) -> list[str]:
    """Return the names of the values of a game's enum without their prefix, in order, except UNSPECIFIED."""
    message = getattr(game_pb2.View(), game.name).DESCRIPTOR
    values = message.file.enum_types_by_name[title(game) + enum].values
    return [value.name.removeprefix(values[0].name.removesuffix("UNSPECIFIED")) for value in values[1:]]


@pytest.mark.parametrize(("heading", "enum"), [("kind", "EventKind"), ("phase", "Phase"), ("end", "EndKind")])
def test_the_tables_list_exactly_the_values_of_the_enums(game: Game, heading: str, enum: str) -> None:
    listed = [name for first, *_ in rows(game, heading) for name in re.findall("`([^`]*)`", first)]
    assert listed == enum_names(game, enum)


def described(channel: grpc.Channel, game: Game) -> Any:
    """Return a game's description in ListGames."""
    (info,) = (
        game_stub(channel)
        .ListGames(game_service_pb2.ListGamesRequest(games=[game.name], pieces=True, observation=True, phrases=True))
        .games
    )
    return info


def test_the_table_of_actions_has_their_typed_forms_and_ids(channel: grpc.Channel, game: Game) -> None:
    listed = []
    for _, typed, ids, *_ in rows(game, "action"):
        action = getattr(game_pb2.Action(), game.name)
        ParseDict(json_of(typed), action)
        first, _, last = ids.partition("–")
        listed.append((action.WhichOneof("action"), int(first), int(last or first)))
    kinds = described(channel, game).action_kinds
    assert listed == [(kind.name, kind.first_id, kind.last_id) for kind in kinds]


def test_the_table_of_options_has_their_names_and_json(channel: grpc.Channel, game: Game) -> None:
    listed = []
    for name, typed, *_ in rows(game, "option"):
        request = game_service_pb2.NewGameRequest(players=game.max_players)
        options = getattr(request.options, game.name)
        ParseDict(json_of(typed), options)
        (field,) = (field.name for field, _ in options.ListFields())
        assert name == f"`{field}`"
        game_stub(channel).NewGame(request)
        listed.append(field)
    assert listed == [option.name for option in described(channel, game).options]


def json_of(cell: str) -> Any:
    """Return the JSON in backticks at the start of a table's cell."""
    text = re.match(r"`(\{.*?\})`", cell)
    assert text, cell
    return json.loads(text[1])


@cache
def declared() -> tuple[set[str], set[str], set[str]]:
    """Return all names of fields (in JSON and as declared), messages and enum values."""
    fields, messages, values = set(), set(), set()
    todo: list[Descriptor] = [message for file in FILES for message in file.DESCRIPTOR.message_types_by_name.values()]
    while todo:
        message = todo.pop()
        if message.full_name in messages:
            continue
        messages.add(message.full_name)
        for field in message.fields:
            fields |= {field.name, field.json_name}
            if field.message_type:
                todo.append(field.message_type)
            if field.enum_type:
                values |= {value.name for value in field.enum_type.values}
    values |= set(errors_pb2.ErrorReason.keys())
    return fields, messages, values


def test_every_name_in_backticks_exists(channel: grpc.Channel, game: Game) -> None:
    fields, messages, values = declared()
    info = described(channel, game)
    methods = set(game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods_by_name) | {"BatchService"}
    # The comments in errors.proto name keys of metadata.
    proto = (ROOT / "proto/chatiere/v1/errors.proto").read_text("utf-8")
    known = fields | {name.rpartition(".")[2] for name in messages} | methods | {phrase.key for phrase in info.phrases}
    known |= {part.name for part in info.observation}
    known |= {name for piece in info.pieces for name in (piece.kind, piece.name)} | set(
        re.findall("`([a-z_-]+)`", proto)
    )
    text = re.sub(r"^```.*?^```$", "", page_of(game), flags=re.M | re.S)
    for name in re.findall(r"`([^`]*)`", text):
        if name.startswith(("{", "chatiere ")):
            continue
        if re.fullmatch("[A-Z][A-Z_]+", name):
            assert any(value.endswith(f"_{name}") for value in values), name
        elif name not in known:
            assert set(name.split(".")) <= fields, name


def test_the_length_of_an_observation_is_right(channel: grpc.Channel, game: Game) -> None:
    learners = page_of(game).partition("## For learners")[2]
    assert f"has {described(channel, game).observation_length} uint8 numbers" in learners.replace("\n", " ")
