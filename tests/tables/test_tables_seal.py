"""Keys, the seal, and the information in the bytes of a table."""

import base64
import hashlib
import logging
import random
import time
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import example, given
from hypothesis import strategies as st

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.wire import fill
from chatiere.service.base import files
from chatiere.service.base.settings import SettingError
from chatiere.service.tables import roots
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import NotAuthenticError, open_table
from chatiere.v1 import table_service_pb2 as pb

from .support import NEXT, NONE, Host, begun, played, refused, secret_of


def test_a_table_is_small_and_has_a_constant_length(game: Game) -> None:
    """All bodies of a game have the same length. With all acknowledgements, a table has at most 1.5 kB as text."""
    host, bodies = Host(), set()
    for players in range(game.min_players, game.max_players + 1):
        # The table is largest if the service generates every secret.
        seats = [pb.TableSeat() for _ in range(players)]
        made = host.new_table(game=game.name, players=players, seats=seats, acknowledgement=NEXT)
        secrets = [each.secret for each in made.secrets]
        sizes = set()
        for table in played(host, host.acknowledge(made.table, *secrets), secrets, random.Random(players)):
            opened = host.open(table)
            assert len(opened.acknowledged) == players
            sizes.add(len(table))
            bodies.add(len(pb.SealedTable.FromString(table).seal))
            assert len(base64.urlsafe_b64encode(table)) <= 1500
        assert len(sizes) == 1
    assert len(bodies) == 1


def test_options_fit_into_a_table(game: Game) -> None:
    host = Host()
    position = game.new_game(game.max_players, {"first_seat": 1}, seed=1)
    request = pb.NewTableRequest(
        game=game.name, players=game.max_players, seats=[pb.TableSeat()] * game.max_players, acknowledgement=NONE
    )
    own = getattr(request.options, game.name)
    own.SetInParent()
    fill(own, engine.codec(game.name).put_options, position.options())
    made = host.call("new_table", request, pb.NewTableResponse)
    table = host.acknowledge(made.table, *(each.secret for each in made.secrets))
    assert host.open(table).header.options == request.options
    assert len(base64.urlsafe_b64encode(table)) <= 1500
    assert getattr(host.look(table).view, game.name).options == own


def test_the_header_describes_the_table(game: Game) -> None:
    host, before = Host(), int(time.time())
    table, secrets = begun(host, game, game.min_players, bots=["random"], lifetime=Duration(seconds=100))
    sealed = pb.SealedTable.FromString(table)
    header = pb.TableHeader.FromString(sealed.header)
    assert (header.format, header.game, header.players) == (1, game.name, game.min_players)
    assert (header.rules_version, header.ply, header.mover, header.parent) == (game.rules_version, 0, -1, bytes(32))
    assert 100 <= header.expires.seconds - before <= 101 + time.time() - before
    assert [seat.WhichOneof("holder") for seat in header.seats] == ["secret_sha256"] * len(secrets) + ["bot"]
    root = host.open(table).body.root
    assert header.commitment == hashlib.sha256(b"chatiere table root 1" + header.table_id + root).digest()
    child = next(iter(list(played(host, table, secrets, random.Random(1)))[1:]))
    after = pb.TableHeader.FromString(pb.SealedTable.FromString(child).header)
    assert (after.ply, after.table_id, after.parent) == (1, header.table_id, hashlib.sha256(table).digest())
    assert after.expires == header.expires


@given(st.data())
def test_no_changed_byte_is_accepted(data: st.DataObject) -> None:
    host = Host()
    table, _ = begun(host, engine.game("chat_perche"), mode=NEXT)
    place = data.draw(st.integers(0, len(table) - 1))
    changed = bytearray(table)
    changed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(NotAuthenticError):
        open_table(host.keys, bytes(changed))


@given(st.binary(max_size=200))
@example(b"\xa0\x00\x00")
def test_no_other_bytes_are_accepted(junk: bytes) -> None:
    host = Host()
    table, _ = begun(host, engine.game("chat_perche"))
    for other in junk, table + junk, junk + table, table * 2, table[:-1], table * 20:
        if other != table:
            with pytest.raises(NotAuthenticError):
                open_table(host.keys, other)


def test_acknowledgements_have_one_order_and_one_place() -> None:
    host = Host()
    table, secrets = begun(host, engine.game("discat"), 3, NONE)
    both = host.acknowledge(table, secrets[0], secrets[2])
    assert both == host.acknowledge(table, secrets[2], secrets[0], secrets[2])
    for order in [1, 0], [0, 0], [0, 1, 1]:
        sealed = pb.SealedTable.FromString(both)
        listed = [sealed.acknowledgements[i] for i in order]
        other = pb.SealedTable(header=sealed.header, seal=sealed.seal, acknowledgements=listed).SerializeToString()
        with pytest.raises(NotAuthenticError):
            host.open(other)
    # An acknowledgement is valid for one seat and one table.
    sealed = pb.SealedTable.FromString(both)
    sealed.acknowledgements[1].seat = 1
    with pytest.raises(NotAuthenticError):
        host.open(sealed.SerializeToString())


def write_keys(path: Path, *keys: int) -> None:
    path.write_text("# keys\n\n" + "".join(f"{key:064x}\n" for key in keys))


def test_a_table_keeps_its_key_when_keys_rotate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: Game) -> None:
    monkeypatch.setattr(files, "_INTERVAL", 0.0)
    path = tmp_path / "keys"
    write_keys(path, 1)
    host = Host(Keyring(path))
    table, secrets = begun(host, game)
    write_keys(path, 2, 1)
    other, _ = begun(host, game)
    ids = []
    for each in table, other:
        tables = list(played(host, each, secrets, random.Random(1)))
        assert len({host.open(one).header.key_id for one in tables}) == 1
        ids.append(host.open(tables[0]).header.key_id)
    assert ids[0] != ids[1]
    write_keys(path, 2)
    assert refused(host.look, table) == ("INVALID_TABLE", "table")
    assert host.look(other)


def test_invalid_keys_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(files, "_INTERVAL", 0.0)
    path = tmp_path / "keys"
    secret = "a" * 63
    for content, words in [
        ("", "has no keys"),
        ("# none\n", "has no keys"),
        (f"{'a' * 64}\n{secret}\n", "line 2: not a key"),
        (f"{'a' * 64}\n{'A' * 64}\n", "line 2: duplicate key"),
    ]:
        path.write_text(content)
        with pytest.raises(SettingError, match=words) as error:
            Keyring(path)
        assert error.value.setting == "table_keys"
        assert secret not in str(error.value)
    with pytest.raises(SettingError, match="cannot read"):
        Keyring(tmp_path / "absent")
    write_keys(path, 1)
    keys = Keyring(path)
    first = keys.newest()
    path.write_text(secret)
    with caplog.at_level(logging.ERROR):
        assert keys.newest().key_id == first.key_id
    assert "cannot reread the table keys" in caplog.text
    assert secret not in caplog.text
    write_keys(path, 3)
    assert keys.newest().key_id != first.key_id


def test_seeds_of_stream_and_bots_are_separate() -> None:
    """The stream and the bots have separate numbers. These cannot be derived from the commitment."""
    root = secret_of(1) * 2
    numbers = [*roots.stream_of(root), *(roots.luck_of(root, ply) for ply in range(50))]
    assert len(set(numbers)) == 52
    assert all(0 <= number < 2**64 for number in numbers)
    assert roots.commitment_of(bytes(16), root) != roots.commitment_of(bytes(15) + b"1", root)
