"""The zoo has data from every release: its states, records and tables can still be read and continued."""

import json
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from tables.support import OVER, Host
from tools.zoo import choices, decoded, score, steps

from chatiere import engine
from chatiere.clients.records import read_record
from chatiere.engine.wire import Reader
from chatiere.selfplay.dataset import read_manifest, verify
from chatiere.selfplay.shard_file import READABLE_FORMATS
from chatiere.service.calls import conversion, table_service
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import game_pb2
from chatiere.v1.record_pb2 import GameRecord

ZOO = Path(__file__).parents[1] / "data" / "zoo"
FILES = sorted(ZOO.glob("*/*.json"))
files = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")


# The data sets of the newest format, and of earlier formats (data_set_2).
DATA_SETS = sorted(ZOO.glob("*/data_set*"))


def kept(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def includes(found: Any, wanted: Any) -> bool:
    """Return True if `found` has all fields of the stored JSON. Later releases may add fields."""
    if isinstance(wanted, dict):
        return all(name in found and includes(found[name], value) for name, value in wanted.items())
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(includes, found, wanted))
    return bool(found == wanted)


def test_every_release_has_kept_games_that_it_played() -> None:
    assert {path.parent.name for path in FILES} >= {"v1"}
    assert {path.stem for path in FILES if path.parent.name == "v1"} <= {game.name for game in engine.games()}


@files
def test_records_can_be_replayed(path: Path) -> None:
    for game in kept(path)["games"]:
        record = decoded(GameRecord, game["record"])
        seen = ""
        for position, _ in steps(record):
            assert position.rules_version() == record.rules_version
            seen += choices(position)
            # Compare at every step, because the first difference is the most informative.
            assert game["choices"].startswith(seen)
        assert position.is_terminal()
        assert seen == game["choices"]
        assert includes(score(position), game["score"])


@files
def test_records_as_text_can_be_read(path: Path) -> None:
    assert read_record(path.with_suffix(".chatiere")) == decoded(GameRecord, kept(path)["games"][0]["record"])


@files
def test_typed_states_can_be_continued(path: Path) -> None:
    for game in kept(path)["games"]:
        record = decoded(GameRecord, game["record"])
        moves = [move for _, move in steps(record) if move is not None]
        states = {int(step): decoded(game_pb2.State, state) for step, state in game["states"].items()}
        for step, (position, _) in enumerate(steps(record)):
            if step not in states:
                continue
            found = conversion.read_state(Reader(states[step]))
            assert found == position
            for move in moves[step:]:
                found.apply(move)
            assert includes(score(found), game["score"])


@files
def test_sealed_tables_can_be_continued(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = kept(path)["tables"]
    # The tables expire after a year.
    monkeypatch.setattr(table_service, "time", SimpleNamespace(time=lambda: tables["time"]))
    host, secrets = (
        Host(Keyring(None, bytes.fromhex(tables["key"]))),
        [bytes.fromhex(each) for each in tables["secrets"]],
    )
    record = decoded(GameRecord, tables["record"])
    for ply, sealed in tables["sealed"].items():
        chain = [b64decode(sealed)]
        for action in record.actions[int(ply) :]:
            view = host.look(chain[-1]).view
            assert view.rules_version == record.rules_version
            chain.append(host.move(chain[-1], secrets[view.turn.seat], action).table)
        assert host.look(chain[-1]).view.turn.kind == OVER
        if ply == "0":
            assert host.get_record(chain).record == record


@pytest.mark.parametrize("path", DATA_SETS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_data_sets_can_be_read(path: Path) -> None:
    manifest, (decisions, games_hash) = read_manifest(path), verify(path)
    assert games_hash == manifest["hash"]
    format_version, rows = manifest["format_version"], parquet.read_table(path / "games").to_pylist()
    assert len(rows) == decisions
    game = engine.game(manifest["game"])
    for number in range(manifest["games"]):
        position = game.new_game(
            manifest["players"],
            manifest["options"],
            seed=manifest["seed"],
            game_number=number,
            rules_version=manifest["rules_version"],
        )
        own = [row for row in rows if row["game"] == number]
        for ply, row in enumerate(own):
            assert (row["ply"], row["actor"]) == (ply, position.current_player())
            # In format 2, lists are bytes, and null instead of empty.
            ids = row["legal_ids"] if format_version > 2 else np.frombuffer(row["legal_ids"], "<u2").tolist()
            assert ids == position.legal_actions()
            assert manifest["bots"][row["bot"]] in ("ismcts:simulations=4", "random")
            assert (not row["visit_shares"]) == (manifest["bots"][row["bot"]] == "random")
            position.apply(row["action"])
        assert position.is_terminal()
        assert all(row["returns"] == position.returns() and row["totals"] == position.totals() for row in own)


def test_every_release_has_kept_a_data_set() -> None:
    assert {path.parent.name for path in DATA_SETS} == {path.parent.name for path in FILES}
    assert {read_manifest(path)["format_version"] for path in DATA_SETS} >= set(READABLE_FORMATS)
