"""Reading of sealed tables without the service, with vectors that the JavaScript tests in tests/page/unit also use."""

import json
from pathlib import Path
from typing import Any

import pytest

from chatiere.clients import ForkError
from chatiere.clients.sealed_seat import (
    awaited,
    hash_of,
    header_of,
    merged,
    missing_seats,
    table_of,
    text_of,
    to_send,
)
from chatiere.service.tables import seal
from chatiere.v1 import table_service_pb2 as pb

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/sealed_tables.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS["tables"])
def test_a_table_is_read_as_javascript_reads_it(vector: dict[str, Any]) -> None:
    table = table_of(vector["table"])
    header = header_of(table)
    assert text_of(table) == vector["table"]
    assert hash_of(table).hex() == vector["hash"]
    assert header.table_id.hex() == vector["id"]
    assert header.expires.seconds == vector["expires"]
    assert (header.acknowledgement == pb.ACKNOWLEDGEMENT_NEXT) == vector["asks_next"]
    assert [each.bot or None for each in header.seats] == vector["bots"]
    assert [each.made_by_service for each in header.seats] == vector["made_by_service"]
    for name in "game", "players", "ply", "mover":
        assert getattr(header, name) == vector[name]
    assert missing_seats(table) == vector["missing_seats"]
    for turn, seats in vector["awaited"].items():
        assert awaited(table, None if turn == "over" else int(turn)) == seats


@pytest.mark.parametrize("vector", VECTORS["tables"])
def test_the_service_waits_for_the_same_acknowledgements(vector: dict[str, Any]) -> None:
    sealed = pb.SealedTable.FromString(table_of(vector["table"]))
    acknowledged = tuple(each.seat for each in sealed.acknowledgements)
    assert seal.missing_seats(pb.TableHeader.FromString(sealed.header), acknowledged) == vector["missing_seats"]


@pytest.mark.parametrize("vector", VECTORS["merged"], ids=lambda vector: vector["what"])
def test_tables_merge(vector: dict[str, Any]) -> None:
    one, other = table_of(vector["one"]), table_of(vector["other"])
    error = vector.get("error")
    if error is None:
        assert text_of(merged(one, other)) == text_of(merged(other, one)) == vector["merged"]
    else:
        with pytest.raises(ForkError if error == "fork" else ValueError):
            merged(one, other)


@pytest.mark.parametrize("vector", VECTORS["to_send"], ids=lambda vector: vector["what"])
def test_tables_to_send_to_each_seat(vector: dict[str, Any]) -> None:
    tables = [table_of(text) for text in vector["tables"]]
    sending = to_send(tables, vector["mine"], vector["turn"])
    assert sending.seats == vector["seats"]
    assert sending.tables == [tables[index] for index in vector["sent"]]


def test_without_tables_to_send_raises_an_error() -> None:
    with pytest.raises(ValueError, match="no tables were given"):
        to_send([], [0])


@pytest.mark.parametrize("what", VECTORS["damaged"])
def test_damaged_tables_are_refused(what: str) -> None:
    table = table_of(VECTORS["damaged"][what])
    sound = table_of(VECTORS["tables"][0]["table"])
    for read in (
        header_of,
        hash_of,
        missing_seats,
        awaited,
        lambda bad: merged(sound, bad),
        lambda bad: to_send([sound, bad], [0]),
    ):
        with pytest.raises(ValueError, match="the bytes are not a sealed table"):
            read(table)


@pytest.mark.parametrize("text", VECTORS["damaged_texts"])
def test_damaged_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a table as text is base64url"):
        table_of(text)
