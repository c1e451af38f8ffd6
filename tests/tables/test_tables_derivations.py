"""Published derivations: fixed vectors for checking any client, and cases without a vector."""

import json
from pathlib import Path
from typing import Any

import pytest

from chatiere.clients import sealed_seat as client
from chatiere.service.tables import roots
from chatiere.service.tables.keys import Keyring, TableKey
from chatiere.service.tables.seal import Body, NotAuthenticError, acknowledged, open_table, seal
from chatiere.v1 import table_service_pb2 as pb

# The vectors were computed without the service. A program followed docs/tables.md and table_service.proto, and only
# used hashlib and cryptography.
VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivations.json").read_text())
VERIFIABLE: dict[str, Any] = VECTORS["verifiable"]
OWN: dict[str, Any] = VECTORS["service"]


def verifiable(name: str) -> bytes:
    return bytes.fromhex(VERIFIABLE[name])


def own(name: str) -> bytes:
    return bytes.fromhex(OWN[name])


@pytest.fixture
def key() -> TableKey:
    return TableKey(own("key"))


def test_the_stream_from_the_root() -> None:
    stream = VERIFIABLE["stream"]
    assert roots.stream_of(verifiable("root")) == (int(stream["seed"]), int(stream["game_number"]))


@pytest.mark.parametrize("ply", VERIFIABLE["luck"])
def test_the_luck_of_a_bot(ply: str) -> None:
    assert roots.luck_of(verifiable("root"), int(ply)) == int(VERIFIABLE["luck"][ply])


def test_the_commitment() -> None:
    assert roots.commitment_of(verifiable("table_id"), verifiable("root")) == verifiable("commitment")


def test_the_hash_of_a_table() -> None:
    table = client.table_of(VERIFIABLE["table"])
    assert client.hash_of(table) == verifiable("hash")
    assert client.header_of(table).commitment == verifiable("commitment")
    assert open_table(Keyring(None, own("key")), table).hash == verifiable("hash")


def test_the_name_of_a_key(key: TableKey) -> None:
    assert key.key_id == own("key_id")


def test_nonce_and_seal(key: TableKey) -> None:
    sealed = key.seal(own("header"), own("body"))
    assert sealed[:12] == own("nonce")
    assert sealed == own("seal")
    assert key.open(own("header"), own("seal")) == own("body")


def test_the_nonce_depends_on_the_end_of_the_header(key: TableKey) -> None:
    assert key.seal(b"ab", b"c")[:12] != key.seal(b"a", b"bc")[:12]


def test_acknowledgements(key: TableKey) -> None:
    for seat, code in OWN["acknowledgements"].items():
        assert key.acknowledgement(verifiable("hash"), int(seat)).hex() == code


def test_a_whole_table(key: TableKey) -> None:
    header = pb.TableHeader.FromString(own("header"))
    keys = Keyring(None, own("key"))
    body = Body(verifiable("root"), own("state"), OWN["decision"])
    table = seal(key, header, body)
    for seat in map(int, OWN["acknowledgements"]):
        table = acknowledged(open_table(keys, table), seat)
    assert client.text_of(table) == VERIFIABLE["table"]
    assert open_table(keys, table).body == body


def test_an_unknown_format_is_not_opened(key: TableKey) -> None:
    header = pb.TableHeader.FromString(own("header"))
    keys, body = Keyring(None, own("key")), Body(verifiable("root"), own("state"), None)
    assert open_table(keys, seal(key, header, body)).body == body
    for other in 0, 2:
        header.format = other
        with pytest.raises(NotAuthenticError):
            open_table(keys, seal(key, header, body))
