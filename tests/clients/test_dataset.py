"""Data sets: rows agree with the games, interrupted runs are resumed, and directories contain no other files."""

import dataclasses
import hashlib
import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest
from pyarrow import parquet
from tools.needs import require
from tools.over import over_names, over_tables

from chatiere import bots, engine
from chatiere.arena.matches import Exploration
from chatiere.bots import Decisions, Judgement, SearchBot
from chatiere.bots.hosting import luck
from chatiere.engine import EngineError
from chatiere.selfplay.dataset import DataSet, DataSetError, Recipe, verify
from chatiere.selfplay.shard_file import GameRange
from chatiere.selfplay.shards import ShardPlayer

pytestmark = pytest.mark.long

GAMES = [game.name for game in engine.games()]
# Bots that choose fast.
SIMPLE = {name: tuple(bot for bot in bots.names(name) if bot not in ("flat", "ismcts")) for name in GAMES}
RECIPE = Recipe(GAMES[0], engine.game(GAMES[0]).min_players, 10, ("random",), seed=7, games_per_shard=3)


def write(directory: Path, player: ShardPlayer) -> DataSet:
    """Play the missing games of a data set, the last shard first."""
    data_set = DataSet(directory, player.recipe)
    for games in reversed(data_set.missing()):
        data_set.add(games, player.play(games))
    return data_set


def rows_of(directory: Path) -> list[dict[str, Any]]:
    """Return the rows as Python objects."""
    rows: list[dict[str, Any]] = parquet.read_table(directory / "games").to_pylist()
    return rows


def ids(row: dict[str, Any]) -> list[int]:
    found: list[int] = row["legal_ids"]
    return found


@over_tables
def test_every_row_is_the_engine_s_decision(tmp_path: Path, name: str, players: int) -> None:
    names = (*SIMPLE[name], "random")
    recipe = Recipe(name, players, 7, names, seed=2**64 - 1, games_per_shard=3)
    data_set = write(tmp_path, ShardPlayer(recipe, batch=2))
    results = data_set.results()
    rows = iter(rows_of(tmp_path))
    for number in range(7):
        position = engine.game(name).new_game(players, seed=recipe.seed, game_number=number)
        decided: list[dict[str, Any]] = []
        while not position.is_terminal():
            row = next(rows)
            actor = position.current_player()
            assert (row["game"], row["ply"], row["actor"]) == (number, len(decided), actor)
            assert row["bot"] == (number + actor) % len(names)
            assert bytes(row["observation"]) == position.observation(actor)
            assert ids(row) == position.legal_actions()
            assert (row["visit_shares"], row["action_values"], row["value"]) == ([], [], None)
            position.apply(row["action"])
            decided.append(row)
        for row in decided:
            assert row["returns"] == pytest.approx(position.returns())
            assert row["return"] == row["returns"][row["actor"]]
            assert row["totals"] == position.totals()
        last = {row["actor"]: row["ply"] for row in decided}
        for row in decided:
            ends = last[row["actor"]] == row["ply"]
            assert bytes(row["final_observation"]) == (position.observation(row["actor"]) if ends else b"")
        assert results.lengths[number] == len(decided)
        assert results.returns[number].tolist() == pytest.approx(position.returns())
        assert results.totals[number].tolist() == position.totals()
        assert results.bots[number].tolist() == [(number + seat) % len(names) for seat in range(players)]
    assert next(rows, None) is None


def test_games_have_the_options_of_the_recipe(tmp_path: Path) -> None:
    for first_seat in (0, 1):
        directory = tmp_path / str(first_seat)
        write(directory, ShardPlayer(dataclasses.replace(RECIPE, options={"first_seat": first_seat}))).finish()
        assert {row["actor"] for row in rows_of(directory) if row["ply"] == 0} == {first_seat}
        assert json.loads((directory / "manifest.json").read_text())["options"] == {"first_seat": first_seat}


def test_the_manifest_has_the_games_dependencies_and_the_hash_of_their_decisions(tmp_path: Path) -> None:
    hashed = write(tmp_path, ShardPlayer(RECIPE)).finish()
    rows = rows_of(tmp_path)
    shards, digests = [], []
    for first, count in ((0, 3), (3, 3), (6, 3), (9, 1)):
        some = [row for row in rows if first <= row["game"] < first + count]
        packed = (struct.pack("<QIbH", row["game"], row["ply"], row["actor"], row["action"]) for row in some)
        digests.append(hashlib.sha256(b"".join(packed)))
        shards.append(
            {
                "file": f"games/{first:012}.parquet",
                "first_game": first,
                "games": count,
                "decisions": len(some),
                "hash": digests[-1].hexdigest(),
                "sha256": hashlib.sha256((tmp_path / f"games/{first:012}.parquet").read_bytes()).hexdigest(),
            }
        )
    assert hashed == hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    package_version = manifest.pop("package_version")
    assert package_version.split(".")[0].isdigit()
    assert manifest == {
        "format_version": 3,
        "game": RECIPE.game,
        "rules_version": engine.game(RECIPE.game).rules_version,
        "players": RECIPE.players,
        "options": {},
        "seed": 7,
        "bots_version": bots.BOTS_VERSION,
        "bots": ["random"],
        "bot_files": {},
        "exploration": {"random_plies": 0, "temperature": 0.0, "temperature_plies": 2**32 - 1},
        "games": 10,
        "games_per_shard": 3,
        "hash": hashed,
        "shards": shards,
    }
    assert sorted(path.name for path in (tmp_path / "games").iterdir()) == [
        Path(str(shard["file"])).name for shard in shards
    ]


@over_names
def test_the_hash_does_not_depend_on_how_games_are_played(tmp_path: Path, address: str, name: str) -> None:
    recipe = Recipe(name, engine.game(name).min_players, 10, SIMPLE[name], seed=3, games_per_shard=4)
    players = [
        ShardPlayer(recipe),
        ShardPlayer(recipe, batch=2),
        ShardPlayer(recipe, address),
        ShardPlayer(recipe, address, batch=1, in_flight=3),
    ]
    hashes = {write(tmp_path / str(number), player).finish() for number, player in enumerate(players)}
    assert len(hashes) == 1
    other = dataclasses.replace(recipe, seed=4)
    assert write(tmp_path / "other", ShardPlayer(other)).finish() not in hashes


def test_pyarrow_and_pandas_read_it(tmp_path: Path) -> None:
    write(tmp_path, ShardPlayer(RECIPE)).finish()
    length = engine.game(RECIPE.game).observation_length
    table = parquet.read_table(tmp_path / "games")
    assert table.schema.remove_metadata() == pa.schema(
        {
            "game": pa.uint64(),
            "ply": pa.uint32(),
            "actor": pa.int8(),
            "bot": pa.uint16(),
            "observation": pa.list_(pa.uint8(), length),
            "legal_ids": pa.large_list(pa.uint16()),
            "action": pa.uint16(),
            "visit_shares": pa.large_list(pa.float32()),
            "action_values": pa.large_list(pa.float32()),
            "value": pa.float32(),
            "return": pa.float32(),
            "returns": pa.list_(pa.float32(), RECIPE.players),
            "totals": pa.list_(pa.int32(), RECIPE.players),
            "final_observation": pa.large_list(pa.uint8()),
        }
    )
    frame = pandas.read_parquet(tmp_path / "games")
    assert frame["action"].tolist() == table["action"].to_pylist()
    assert np.stack(frame["observation"]).tolist() == table["observation"].to_pylist()


def test_the_readers_of_other_libraries_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("datasets", "duckdb", "polars")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets
    import duckdb
    import polars

    shards, names = f"{tmp_path}/games/*.parquet", ["observation", "legal_ids", "visit_shares", "final_observation"]
    write(tmp_path, ShardPlayer(dataclasses.replace(RECIPE, bots=("ismcts:simulations=2", "random")))).finish()
    rows = parquet.read_table(tmp_path / "games", columns=names).to_pylist()
    # The bytes that were lost are zeros at the end.
    assert rows[0]["observation"][-1] == 0
    # The card names the shards.
    loaded = datasets.load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache")).select_columns(
        names
    )
    assert loaded.to_list() == rows
    for number, row in enumerate(loaded.with_format("numpy")):
        assert {name: array.tolist() for name, array in row.items()} == rows[number]
    assert polars.read_parquet(shards).select(names).to_dicts() == rows
    found = duckdb.execute(f"SELECT {', '.join(names)} FROM '{shards}' ORDER BY game, ply").fetchall()
    assert [dict(zip(names, row, strict=True)) for row in found] == rows


def test_the_card_describes_the_data_set_and_is_not_replaced(tmp_path: Path) -> None:
    data_set = write(tmp_path, ShardPlayer(RECIPE))
    card = tmp_path / "README.md"
    assert not card.exists()
    data_set.finish()
    text = card.read_text()
    assert f"# 10 games of {engine.game(RECIPE.game).description.title} between bots\n" in text
    assert f"one of {len(rows_of(tmp_path))} decisions by {RECIPE.players} seats. The bots are `random`." in text
    assert set(rows_of(tmp_path)[0]) <= set(re.findall("`([a-z_]+)`", text))
    card.write_text("My games\n")
    data_set.finish()
    assert card.read_text() == "My games\n"


class Searching(SearchBot):
    """A bot that makes the first legal action and reports recognisable numbers. It gives values only for even luck."""

    is_reproducible = True

    def judge(self, decisions: Decisions) -> Judgement:
        values = decisions.luck.astype(np.float64)
        values[decisions.luck % 2 == 1] = np.nan
        actions = decisions.legal_ids[decisions.legal_offsets[:-1]]
        return Judgement(actions, np.repeat(values, decisions.legal_counts()), decisions.legal_ids / 1000)


def test_a_row_has_the_results_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    get = bots.get
    monkeypatch.setattr(bots, "get", lambda spec, *table: Searching() if spec == "searching" else get(spec, *table))
    recipe = dataclasses.replace(RECIPE, bots=("searching", "random"))
    shard = ShardPlayer(recipe, batch=2).play(GameRange(3, 4))
    kinds = set()
    for row in parquet.read_table(pa.BufferReader(shard)).to_pylist():
        own, lucky = (row["game"] + row["actor"]) % 2 == 0, luck(recipe.seed, [row["game"]], [row["ply"]])[0]
        kinds.add((own, lucky % 2))
        # Each decision of that bot has shares. It has values only if the bot reports them.
        if own:
            assert row["visit_shares"] == pytest.approx([legal / 1000 for legal in ids(row)])
        else:
            assert row["visit_shares"] == []
        if own and lucky % 2 == 0:
            assert row["action_values"] == [np.float32(lucky)] * len(ids(row))
            assert row["value"] == np.float32(lucky)
        else:
            assert (row["action_values"], row["value"]) == ([], None)
        if own:
            assert row["action"] == ids(row)[0]
    assert len(kinds) == 4


class Preferring(SearchBot):
    """A bot that takes the first legal action. The share of each action is half of the preceding action's share."""

    is_reproducible = True

    def judge(self, decisions: Decisions) -> Judgement:
        places = np.arange(len(decisions.legal_ids)) - np.repeat(
            decisions.legal_offsets[:-1].astype(np.int64), decisions.legal_counts()
        )
        shares = np.float_power(0.5, places + 1.0).astype(np.float64)
        return Judgement(decisions.legal_ids[decisions.legal_offsets[:-1]], -shares, shares)


@pytest.fixture
def preferring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the bot under the name "preferring"."""
    get = bots.get
    monkeypatch.setattr(bots, "get", lambda spec, *table: Preferring() if spec == "preferring" else get(spec, *table))


def explored(exploration: Exploration, games: int = 40, batch: int = 1024) -> list[dict[str, Any]]:
    recipe = Recipe("discat", 2, games, ("preferring",), seed=7, exploration=exploration)
    shard = ShardPlayer(recipe, batch=batch).play(GameRange(0, games))
    rows: list[dict[str, Any]] = parquet.read_table(pa.BufferReader(shard)).to_pylist()
    return rows


@pytest.mark.usefixtures("preferring")
def test_games_begin_at_random_and_the_bots_continue() -> None:
    rows = explored(Exploration(random_plies=3))
    assert rows == explored(Exploration(random_plies=3), batch=3)
    for row in rows:
        assert (row["visit_shares"] == []) == (row["ply"] < 3)
        if row["ply"] >= 3:
            assert row["action"] == ids(row)[0]
    opened = [row for row in rows if row["ply"] < 3]
    assert {ids(row).index(row["action"]) for row in opened} > {0, 1, 2}


@pytest.mark.usefixtures("preferring")
def test_a_temperature_draws_by_shares_and_does_not_change_them() -> None:
    found = {}
    for temperature in (0.0, 0.2, 1.0, 50.0):
        rows = explored(Exploration(temperature=temperature, temperature_plies=10), games=150)
        for row in rows:
            place, shares = ids(row).index(row["action"]), row["visit_shares"]
            assert shares == pytest.approx([0.5 ** (number + 1) for number in range(len(shares))])
            assert row["value"] == -shares[place]
            assert row["ply"] < 10 or place == 0
        several = [row for row in rows if row["ply"] < 10 and len(ids(row)) == 4]
        found[temperature] = [
            np.mean([ids(row).index(row["action"]) == place for row in several]) for place in range(4)
        ]
    assert found[0.0][0] == 1
    assert found[0.2] == pytest.approx([31 / 32, 1 / 32, 0, 0], abs=0.04)
    assert found[1.0] == pytest.approx([8 / 15, 4 / 15, 2 / 15, 1 / 15], abs=0.1)
    assert found[50.0] == pytest.approx([0.25] * 4, abs=0.1)
    rows = explored(Exploration(temperature=1.0))
    assert rows == explored(Exploration(temperature=1.0), batch=3)


@pytest.mark.parametrize(
    "wrong",
    [{"random_plies": -1}, {"temperature_plies": 2**32}, {"temperature": -1.0}, {"temperature": float("nan")}],
)
def test_invalid_explorations_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be "):
        Exploration(**wrong)


def test_intact_shards_are_kept_and_the_others_are_played_again(tmp_path: Path) -> None:
    hashed = write(tmp_path, ShardPlayer(RECIPE)).finish()
    lost, cut, changed, kept = sorted((tmp_path / "games").iterdir())
    before = kept.stat()
    rows = parquet.read_table(changed)
    lost.unlink()
    cut.write_bytes(cut.read_bytes()[:-1])
    actions = pa.array(rows["action"].to_numpy() + 1)
    parquet.write_table(rows.set_column(rows.schema.get_field_index("action"), "action", actions), changed)
    # A run that is killed while it writes leaves an incomplete file.
    (tmp_path / "games" / f".{lost.name}.part").write_bytes(b"PAR1")
    data_set = DataSet(tmp_path, RECIPE)
    assert data_set.missing() == [GameRange(0, 3), GameRange(3, 3), GameRange(6, 3)]
    for ask in (data_set.finish, data_set.results):
        with pytest.raises(DataSetError, match="games 0 to 2 are missing"):
            ask()
    assert write(tmp_path, ShardPlayer(RECIPE)).finish() == hashed
    assert parquet.read_table(tmp_path / "games").num_rows == sum(
        shard["decisions"] for shard in json.loads((tmp_path / "manifest.json").read_text())["shards"]
    )
    after = kept.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert DataSet(tmp_path, RECIPE).missing() == []


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_changed_byte_is_found_anywhere(tmp_path: Path) -> None:
    hashed = write(tmp_path, ShardPlayer(RECIPE)).finish()
    assert verify(tmp_path) == (len(rows_of(tmp_path)), hashed)
    path = tmp_path / "games" / "000000000003.parquet"
    whole = path.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 60).astype(int):
        flip(path, int(place))
        assert DataSet(tmp_path, RECIPE).missing() == [GameRange(3, 3)]
        with pytest.raises(DataSetError, match=r"^\S+/000000000003\.parquet (is|has) "):
            verify(tmp_path)
        path.write_bytes(whole)
    assert verify(tmp_path)[1] == hashed


@pytest.mark.parametrize("column", ["observation", "legal_ids", "visit_shares", "returns", "final_observation"])
def test_a_changed_column_is_found(tmp_path: Path, column: str) -> None:
    """A program that reads and rewrites the file updates Parquet's own checksums."""
    write(tmp_path, ShardPlayer(dataclasses.replace(RECIPE, bots=("ismcts:simulations=2",)))).finish()
    path = tmp_path / "games" / "000000000003.parquet"
    table = parquet.read_table(path)
    rows = table[column].to_pylist()
    place = next(number for number, value in enumerate(rows) if value)
    rows[place] = [7] * len(rows[place])
    field = table.schema.field(column)
    index = table.schema.get_field_index(column)
    parquet.write_table(table.set_column(index, field, pa.array(rows, field.type)), path)
    with pytest.raises(DataSetError, match=r"^\S+/000000000003\.parquet is damaged: its checksum differs$"):
        verify(tmp_path)


def test_all_faults_of_a_data_set_are_reported(tmp_path: Path) -> None:
    write(tmp_path, ShardPlayer(RECIPE)).finish()
    lost, flipped, swapped, kept = sorted((tmp_path / "games").iterdir())
    lost.unlink()
    flip(flipped, 500)
    swapped.write_bytes(kept.read_bytes())
    with pytest.raises(DataSetError) as raised:
        verify(tmp_path)
    assert str(raised.value).splitlines() == [
        f"games 0 to 2 are missing in {tmp_path}",
        f"{flipped} is damaged: its checksum differs",
        f"{swapped} has games 9 to 9, not games 6 to 8",
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format_version": 1}, "manifest.json has format 1, not 2 or 3"),
        ({"format_version": None}, "manifest.json has format null, not 2 or 3"),
        ({"games": "ten"}, "manifest.json does not give valid numbers of games"),
        ({"games_per_shard": 0}, "manifest.json does not give valid numbers of games"),
        ({"games": 13}, "000000000009.parquet has games 9 to 9, not games 9 to 11"),
        ({"hash": "0"}, "manifest.json lists a different hash of the games"),
        ({"shards": []}, "manifest.json does not list 4 shards"),
        ({"shards": [None] * 4}, "manifest.json lists a different shard of games 0 to 2"),
    ],
)
def test_a_manifest_that_does_not_match_is_reported(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    write(tmp_path, ShardPlayer(RECIPE)).finish()
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(DataSetError) as raised:
        verify(tmp_path)
    assert message in str(raised.value)


def test_an_unfinished_run_is_reported(tmp_path: Path) -> None:
    data_set = DataSet(tmp_path, RECIPE)
    with pytest.raises(DataSetError, match=r"^games 0 to 2 are missing .*\n.*\n.*\ngames 9 to 9 are missing "):
        verify(tmp_path)
    for games in data_set.missing():
        data_set.add(games, ShardPlayer(RECIPE).play(games))
    with pytest.raises(DataSetError, match=r"manifest\.json is incomplete: run the same"):
        verify(tmp_path)


def test_the_checksums_match_the_files(tmp_path: Path) -> None:
    data_set = DataSet(tmp_path, RECIPE)
    for games in [*data_set.missing(), GameRange(3, 3)]:
        data_set.add(games, ShardPlayer(RECIPE).play(games))
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == 5
    data_set.finish()
    assert (tmp_path / "SHA256SUMS").read_text() == "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  games/{path.name}\n"
        for path in sorted((tmp_path / "games").iterdir())
    )
    # The last line is cut off, as if the machine had crashed.
    (tmp_path / "SHA256SUMS").write_text((tmp_path / "SHA256SUMS").read_text()[:-1])
    assert DataSet(tmp_path, RECIPE).missing() == []
    (tmp_path / "SHA256SUMS").write_text((tmp_path / "SHA256SUMS").read_text()[:-2])
    assert DataSet(tmp_path, RECIPE).missing() == [GameRange(9, 1)]


@pytest.mark.parametrize("name", [".manifest.json.part", "games/.000000000000.parquet.part", "SHA256SUMS"])
def test_a_full_disk_is_reported_with_the_file_and_leaves_no_partial_file(tmp_path: Path, name: str) -> None:
    def fill() -> None:
        if name == ".manifest.json.part":
            (tmp_path / name).symlink_to("/dev/full")
        data_set = DataSet(tmp_path, RECIPE)
        # The link is created only now, because reading /dev/full never ends.
        (tmp_path / name).symlink_to("/dev/full")
        data_set.add(GameRange(0, 3), ShardPlayer(RECIPE).play(GameRange(0, 3)))

    with pytest.raises(OSError, match=r"^\[Errno 28\] cannot write the file: No space left on device: ") as raised:
        fill()
    named = {".manifest.json.part": "manifest.json", "games/.000000000000.parquet.part": "games/000000000000.parquet"}
    assert raised.value.filename == str(tmp_path / named.get(name, name))
    assert not list(tmp_path.rglob(".*"))


def test_a_recipe_may_have_a_bot_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = "from chatiere.bots.random import RandomBot as Agent\n"
    (tmp_path / "mybot.py").write_text(code)
    recipe = dataclasses.replace(RECIPE, bots=("mybot.py:Agent", "random"))
    DataSet(tmp_path / "out", recipe)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["bot_files"] == {"mybot.py": hashlib.sha256(code.encode()).hexdigest()}
    assert len(DataSet(tmp_path / "out", recipe).missing()) == 4
    (tmp_path / "mybot.py").write_text(code + "# Another one.\n")
    with pytest.raises(DataSetError, match=r"manifest\.json has a different bot_files: "):
        DataSet(tmp_path / "out", recipe)


def test_a_shard_of_other_games_is_refused(tmp_path: Path) -> None:
    data_set = DataSet(tmp_path, RECIPE)
    with pytest.raises(DataSetError, match=r"000000000003\.parquet has games 0 to 2, not games 3 to 5"):
        data_set.add(GameRange(3, 3), ShardPlayer(RECIPE).play(GameRange(0, 3)))


@pytest.mark.parametrize(
    ("key", "others"),
    [
        ("game", {"game": "chat_perche", "players": 2}),
        ("players", {"players": 3}),
        ("options", {"options": {"first_seat": 0}}),
        ("seed", {"seed": 8}),
        ("bots", {"bots": ("random", "random")}),
        ("exploration", {"exploration": Exploration(random_plies=1)}),
        ("games", {"games": 11}),
        ("games_per_shard", {"games_per_shard": 4}),
    ],
)
def test_a_data_set_of_another_recipe_is_refused(tmp_path: Path, key: str, others: dict[str, Any]) -> None:
    recipe = dataclasses.replace(RECIPE, game="discat", players=2)
    DataSet(tmp_path, recipe)
    DataSet(tmp_path, recipe)
    with pytest.raises(DataSetError, match=rf"manifest\.json has a different {key}: .*, not ") as raised:
        DataSet(tmp_path, dataclasses.replace(recipe, **others))
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize("key", ["format_version", "package_version", "rules_version"])
def test_a_data_set_of_another_version_is_refused(tmp_path: Path, key: str) -> None:
    DataSet(tmp_path, RECIPE)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    ours = json.dumps(manifest[key])
    for theirs in ("99", None):
        path.write_text(json.dumps({**manifest, key: theirs}))
        with pytest.raises(DataSetError, match=f"has a different {key}: {json.dumps(theirs)}, not {ours}"):
            DataSet(tmp_path, RECIPE)
    del manifest[key]
    path.write_text(json.dumps(manifest))
    with pytest.raises(DataSetError, match=f"has a different {key}: null"):
        DataSet(tmp_path, RECIPE)


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is not JSON"), (b"\xff", "is not JSON"), (b"[1]", "is not a JSON object")]
)
def test_an_invalid_manifest_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(DataSetError, match=message):
        DataSet(tmp_path, RECIPE)


def test_a_directory_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear cat")
    with pytest.raises(DataSetError, match=r"has no manifest\.json, and is not empty"):
        DataSet(tmp_path, RECIPE)
    with pytest.raises(FileExistsError):
        DataSet(tmp_path / "letter.txt", RECIPE)


def test_a_directory_with_a_partial_first_manifest_is_accepted(tmp_path: Path) -> None:
    (tmp_path / ".manifest.json.part").write_text('{"format')
    assert len(DataSet(tmp_path, RECIPE).missing()) == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"games": 0}, "games must be 1 or more"),
        ({"games_per_shard": 0}, "games_per_shard must be 1 or more"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": 2**64}, "seed must be an integer from 0"),
        ({"bots": ()}, "0 bots need at least 1 games"),
        ({"bots": ("random",) * 11}, "11 bots need at least 11 games"),
        (
            {"bots": ("ismcts:milliseconds=5",)},
            "'ismcts:milliseconds=5' is not reproducible: it has a budget in milliseconds",
        ),
    ],
)
def test_invalid_recipes_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(RECIPE, **wrong)


@pytest.mark.parametrize(
    ("reason", "wrong"),
    [
        ("UNKNOWN_GAME", {"game": "tarock"}),
        ("INVALID_PLAYERS", {"players": 99}),
        ("INVALID_OPTION", {"options": {"weather": 1}}),
    ],
)
def test_unknown_games_are_refused(reason: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as raised:
        dataclasses.replace(RECIPE, **wrong)
    assert raised.value.reason.name == reason


def test_without_pyarrow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'chatiere\[data\]'"):
        DataSet(tmp_path, RECIPE)
    assert list(tmp_path.iterdir()) == []
