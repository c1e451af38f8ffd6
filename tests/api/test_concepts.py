"""Shared concepts have one name, type and place in the messages of all games, as listed in proto/README.md.

The type of a field is compared without the game's name. If a field has numbers of pieces, its type is the kind of
piece, with [] for a list.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from google.protobuf.descriptor import FieldDescriptor

from chatiere import engine
from chatiere.v1 import annotations_pb2, game_pb2

GUIDE = Path(__file__).parents[2] / "proto/README.md"
# For each game, the prefix of its messages' names.
GAMES = {game.name: game.name.title().replace("_", "") for game in engine.games()}
SCALARS = {
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_UINT32: "uint32",
}


class Row(NamedTuple):
    """A row of the table: a field's name and type, and for each game the messages that contain the field."""

    name: str
    type: str
    places: dict[str, set[str]]


@cache
def rows() -> list[Row]:
    """Return the rows of the table."""
    text = GUIDE.read_text().split("## Names in the games' messages\n")[1]
    head, _, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]
    games = [cell.strip("`") for cell in head[3:]]
    return [
        Row(
            name.strip("`"),
            kind.strip("`"),
            {game: set(filter(None, cell.split(", "))) for game, cell in zip(games, cells, strict=True)},
        )
        for _, name, kind, *cells in lines
    ]


def type_of(field: Any, prefix: str) -> str:
    """Return a field's type, without `prefix`: the prefix of the names of the game's messages."""
    named = field.message_type or field.enum_type
    piece = str(field.GetOptions().Extensions[annotations_pb2.piece])
    kind = piece or (named.name.removeprefix(prefix) if named else SCALARS[field.type])
    return f"{kind}[]" if field.is_repeated else kind


def fields() -> Iterator[tuple[str, str, str, str]]:
    """Yield the name, type, game and message of each field in the games' protos."""
    for game, prefix in GAMES.items():
        pieces: Any = game_pb2.Pieces.DESCRIPTOR.fields_by_name[game].message_type
        for message in pieces.file.message_types_by_name.values():
            for field in message.fields:
                yield field.name, type_of(field, prefix), game, message.name.removeprefix(prefix)


def test_the_table_has_every_game() -> None:
    assert all(set(row.places) == set(GAMES) for row in rows())
    assert len({(row.name, row.type) for row in rows()}) == len(rows())


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.name}: {row.type}")
def test_a_field_is_in_the_messages_that_the_table_lists(row: Row) -> None:
    found: dict[str, set[str]] = {game: set() for game in GAMES}
    for name, kind, game, message in fields():
        if (name, kind) == (row.name, row.type):
            found[game].add(message)
    assert found == row.places


def test_the_table_lists_shared_fields_cards_and_points() -> None:
    known = {(row.name, row.type) for row in rows()}
    users: defaultdict[str, set[str]] = defaultdict(set)
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for name, kind, game, _ in fields():
        users[name].add(game)
        kinds[name].add(kind)
    wanted = {
        (name, kind)
        for name in users
        for kind in kinds[name]
        if len(users[name]) > 1
        or name in {row.name for row in rows()}
        or kinds[name] & {"card", "card[]"}
        or re.search(r"(^|_)points$", name)
    }
    assert wanted - known == set()


def base_of(kind: str, message: str) -> str:
    """Return the part of a field's type that its name implies.

    Here, the State, View, Score and Info messages of a concept, and its number in a list, count as the same type. A
    field `kind` has the type of its message's kind.
    """
    own_kind = message.removesuffix("Info") + "Kind"
    kind = re.sub(r"(?<=[a-z])(View|Score|Info)(?=$|\[)", "", "Kind" if kind == own_kind else kind)
    return kind[:1].lower() + kind[1:]


def test_a_name_has_one_type() -> None:
    types: defaultdict[str, set[str]] = defaultdict(set)
    for name, kind, _, message in fields():
        types[name].add(base_of(kind, message))
    # The rules page uses one name for the value of a token and for the option with the values of five tokens.
    assert types.pop("solidity") == {"uint32", "uint32[]"}
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_points_are_signed_everywhere() -> None:
    for name, kind, game, message in fields():
        if re.search(r"(^|_)(points|bonus|total|sum)$", name) and kind != "bool":
            assert kind.removesuffix("[]") == "int32", f"{game}: {message}.{name}"
