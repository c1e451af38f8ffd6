"""Records as text: every record is read back unchanged, and the error for a damaged text names the line."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from tools.over import over, over_games
from tools.sample_records import SAMPLES, TRACES, record_of

from chatiere import engine
from chatiere.clients.records import (
    MAX_CHARACTERS,
    MalformedRecordError,
    begin_record,
    from_text,
    read_record,
    to_text,
    write_record,
)
from chatiere.v1.game_pb2 import Position, State
from chatiere.v1.record_pb2 import GameRecord

# The page and the TypeScript package also read these files.
VECTORS = json.loads((Path(__file__).parents[1] / "data/records.json").read_text("utf-8"))
REFUSED = json.loads((Path(__file__).parents[1] / "data/refused_records.json").read_text("utf-8"))
EDITED = json.loads((Path(__file__).parents[1] / "data/edited_records.json").read_text("utf-8"))
RECORD = record_of(TRACES / "discat" / "2p-1.jsonl")
TEXT = to_text(RECORD)
WHOLE = TEXT.splitlines()


def sampled(game: engine.Game, players: int, seed: int, moves: int) -> GameRecord:
    """Return the record of a random game of `moves` moves, with sampled chance."""
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=players)
    record.stream.seed, record.stream.game_number = seed, 2**64 - 1
    position, choices = game.new_game(players, seed=seed, game_number=2**64 - 1), random.Random(seed)
    while not position.is_terminal() and len(record.actions) < moves:
        record.actions.append(choices.choice(position.legal_actions()))
        position.apply(record.actions[-1])
    return record


@over("path", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_sample_game_is_read_back_from_its_text(path: Path) -> None:
    record = record_of(path)
    text = to_text(record)
    assert from_text(text) == record
    assert to_text(from_text(text)) == text
    assert text.splitlines()[-1].startswith("over  # ")


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["record"]["game"] for vector in VECTORS])
def test_records_with_options_are_read_as_by_other_clients(vector: dict[str, Any]) -> None:
    assert from_text(vector["text"]) == json_format.ParseDict(vector["record"], GameRecord())


@over_games
@given(seed=st.integers(0, 2**64 - 1), moves=st.integers(0, 40), data=st.data())
def test_a_game_from_a_seed_is_read_back_from_its_text(
    game: engine.Game, seed: int, moves: int, data: st.DataObject
) -> None:
    record = sampled(game, data.draw(st.integers(game.min_players, game.max_players)), seed, moves)
    assert from_text(to_text(record)) == record


@given(
    names=st.lists(st.text(max_size=100), min_size=2, max_size=2) | st.just([]), date=st.dates().map(str) | st.just("")
)
def test_names_and_dates_of_any_characters_are_read_back(names: list[str], date: str) -> None:
    record = GameRecord()
    record.CopyFrom(RECORD)
    record.seat_names.extend(names)
    record.date = date
    text = to_text(record)
    assert from_text(text) == record
    assert all(line.isprintable() for line in text.split("\n"))


@over_games
@given(data=st.data())
def test_a_first_seat_is_read_back(game: engine.Game, data: st.DataObject) -> None:
    record = sampled(game, game.min_players, 1, 0)
    getattr(record.options, game.name).first_seat = data.draw(st.integers(0, game.min_players - 1))
    assert from_text(to_text(record)) == record


def test_the_text_matches_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "records.md").read_text()
    (example,) = re.findall(r"```\n(game: .*?)```", page, re.DOTALL)
    assert to_text(from_text(example)) == example


def test_a_record_begins_with_the_position_of_a_new_game() -> None:
    state = State(rules_version=1)
    state.stream.seed, state.stream.game_number, state.stream.drawn = 7, 8, 9
    state.discat.SetInParent()
    record = begin_record(Position(state=state), 2, seat_names=["A", "B"], date="2024-02-29")
    assert (record.game, record.rules_version, record.players) == ("discat", 1, 2)
    assert (record.stream.seed, record.stream.game_number) == (7, 8)
    assert (list(record.seat_names), record.date) == (["A", "B"], "2024-02-29")
    state.ClearField("stream")
    assert begin_record(Position(state=state), 2).WhichOneof("chance") == "outcomes"


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "game.chatiere"
    write_record(path, RECORD)
    assert path.read_bytes() == TEXT.encode()
    assert read_record(path) == RECORD


def test_on_a_full_disk_an_existing_record_stays_intact(tmp_path: Path) -> None:
    path = tmp_path / "game.chatiere"
    path.write_text(TEXT)
    path.with_name(".game.chatiere.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"^\[Errno 28\] cannot write the file: .*: '.*/game\.chatiere'$"):
        write_record(path, RECORD)
    assert [each.name for each in tmp_path.iterdir()] == ["game.chatiere"]
    assert path.read_text() == TEXT


@pytest.mark.parametrize("edited", EDITED, ids=[edited["what"] for edited in EDITED])
def test_records_saved_by_editors_are_read(edited: dict[str, str], tmp_path: Path) -> None:
    text = f"{edited['before']}{TEXT.rstrip()}".replace("\n", edited["newline"]) + edited["after"]
    assert from_text(text) == RECORD
    path = tmp_path / "game.chatiere"
    path.write_bytes(text.encode())
    assert read_record(path) == RECORD


def test_comments_are_ignored() -> None:
    assert from_text("# a comment\n\n" + re.sub("#.*", "# nothing: 1. seat 0: 3", TEXT)) == RECORD
    assert from_text(re.sub(" +#.*", "", TEXT)) == RECORD


def test_a_text_cut_short_before_its_end_is_refused() -> None:
    last = TEXT.index("\nover") + len("\nover")
    assert from_text(TEXT[:last]) == RECORD
    for end in range(last):
        with pytest.raises(MalformedRecordError, match=r"^record, line \d+: "):
            from_text(TEXT[:end])


def replaced(pattern: str, by: str) -> Callable[[], str]:
    def change() -> str:
        changed, count = re.subn(pattern, lambda _: by, TEXT, count=1, flags=re.MULTILINE)
        assert count == 1
        return changed

    return change


FIRST_OUTCOME = WHOLE.index("") + 2
FIRST_MOVE = next(number for number, line in enumerate(WHOLE, 1) if line.startswith("1. "))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda: "", "line 1: truncated: the last line must be 'over' or 'so far'"),
        (lambda: "\0" * 100 + "\n", "line 1: a control character"),
        (lambda: "x" * 1_000_000 + "\n", "line 1: a line has at most 10000 characters, not 1000000"),
        (replaced("^game: .*\n", ""), f"line {FIRST_OUTCOME - 1}: no line 'game: …' before the moves"),
        (replaced("^game: .*", "game: tarock"), "line 1: unknown game 'tarock'; known games: "),
        (
            replaced("^rules_version: 1", "rules_version: 2"),
            "line 2: unsupported version 2 of the rules of discat; supported: 1",
        ),
        (replaced("^rules_version: 1", "rules_version: -1"), "line 2: rules_version must be an integer from 0 to "),
        (replaced("^players: 2", "players: 7"), "line 3: "),
        (replaced("^players: 2", "players: " + "9" * 5000), "line 3: players must be an integer from 0 to "),
        (replaced("^players: 2", "players: 2\nplayers: 2"), "line 4: duplicate tag 'players', first given in line 3"),
        (replaced("^players: 2", "players: 2\ncolour: 2"), "line 4: unknown tag 'colour'; tags are game, "),
        (replaced("^players: 2", "players: 2\noption first_seat: 2"), "line 4: first_seat must be "),
        (replaced("^players: 2", "players: 2\noption first_seat: "), "line 4: a move must be "),
        (replaced("^players: 2", "players: 2\noption first_seat: [["), "line 4: the value is not JSON: '[['"),
        (replaced("^players: 2", "players: 2\noption up_arrows: " + "[" * 9000), "line 4: the value is not JSON: "),
        (replaced("^players: 2", "players: 2\noption up_arrows: " + "9" * 9000), "line 4: the value is not JSON: "),
        (replaced("^players: 2", "players: 2\noption up_arrows: NaN"), "line 4: up_arrows must be "),
        (replaced("^players: 2", "players: 2\noption no_such: 1"), "line 4: Discat has no option 'no_such'"),
        (replaced("^chance: explicit\n", ""), f"line {FIRST_OUTCOME - 1}: neither 'seed: …' nor 'chance: explicit'"),
        (replaced("^chance: explicit", "chance: random"), "line 4: chance must be 'explicit', not 'random'"),
        (replaced("^chance: explicit", "chance: explicit\nseed: 3"), "line 5: explicit chance has no seed"),
        (replaced("^chance: explicit", "seed: 3"), f"line {FIRST_OUTCOME}: outcomes are not allowed"),
        (replaced("^chance: explicit", f"seed: {2**64}"), "line 4: seed must be an integer from 0 to "),
        (replaced("^\n", 'name 0: "A"\n\n'), f"line {FIRST_OUTCOME - 1}: no line 'name 1: …'"),
        (replaced("^\n", 'name 2: "A"\n\n'), f"line {FIRST_OUTCOME - 1}: no such seat: seats are 0 to 1"),
        (replaced("^\n", 'name 0: 7\nname 1: "B"\n\n'), f"line {FIRST_OUTCOME - 1}: a name must be a JSON string"),
        (replaced("^\n", 'name 0: "\\ud800"\nname 1: "B"\n\n'), f"line {FIRST_OUTCOME - 1}: a name must be a JSON str"),
        (replaced("^\n", f'name 0: "B"\nname 1: "{"x" * 101}"\n\n'), f"line {FIRST_OUTCOME}: a name has at most 100"),
        (replaced("^\n", "date: 2023-02-29\n\n"), f"line {FIRST_OUTCOME - 1}: a date is a day as YYYY-MM-DD"),
        (replaced("^chance: [0-9]+", "chance: 7"), f"line {FIRST_OUTCOME}: not a possible outcome of the pending chan"),
        (replaced("^chance: [0-9].*\n", ""), f"line {FIRST_OUTCOME}: not a possible outcome of the pending chance ev"),
        (replaced("^chance: [0-9].*", "1. seat 0: 3"), f"line {FIRST_OUTCOME}: an outcome is missing"),
        (replaced(r"^1\. ", "chance: 3\n1. "), f"line {FIRST_MOVE}: no chance event is pending: seat 0 has to act"),
        (replaced(r"^1\. ", "2. "), f"line {FIRST_MOVE}: this is move 1, not 2"),
        (replaced(r"^1\. seat 0", "1. seat 1"), f"line {FIRST_MOVE}: seat 0 has to act, not seat 1"),
        (replaced(r"^1\. seat 0: [0-9]+", "1. seat 0: 70000"), f"line {FIRST_MOVE}: "),
        (replaced(r"^1\. seat 0: [0-9]+", "1. seat 0: 198"), f"line {FIRST_MOVE}: "),
        (replaced("^over.*", "so far"), f"line {len(WHOLE)}: the game is over"),
        (replaced("^over.*", "99. seat 0: 1"), f"line {len(WHOLE)}: the game is over: the last line must be 'over'"),
        (lambda: "\n".join([*WHOLE[:-9], "over", ""]), f"line {len(WHOLE) - 8}: the game is not over yet"),
        (lambda: TEXT + "over\n", f"line {len(WHOLE) + 1}: text after the end of the record"),
    ],
)
def test_an_invalid_text_is_refused_with_its_line(change: Callable[[], str], complaint: str) -> None:
    with pytest.raises(MalformedRecordError) as refused:
        from_text(change(), "game.chatiere")
    assert str(refused.value).startswith(f"game.chatiere, {complaint}")
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("vector", REFUSED, ids=[vector["what"] for vector in REFUSED])
def test_a_text_of_another_form_is_refused_as_by_other_clients(vector: dict[str, str]) -> None:
    with pytest.raises(MalformedRecordError) as refused:
        from_text(vector["text"])
    assert str(refused.value) == f"record, {vector['error']}"


def test_a_move_that_a_rule_forbids_is_refused_with_the_rule() -> None:
    position = engine.game("discat").new_game(2, seed=1)
    record = GameRecord(game="discat", rules_version=1, players=2)
    record.stream.seed = 1
    text = to_text(record)
    illegal = min(set(range(192)) - set(position.legal_actions()))
    broken = text.replace("so far", f"1. seat {position.current_player()}: {illegal}\nso far")
    with pytest.raises(MalformedRecordError, match=r"line 7: .* \(discat\.md: Components and setup\)$"):
        from_text(broken)


@given(st.data())
def test_damaged_texts_are_read_or_refused(data: st.DataObject) -> None:
    text = list(TEXT)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(
            st.sampled_from(["", "\n", "\0", "9" * 30, "9" * 5000, "[", "{", "\ud800", ":", "#"]) | st.text()
        )
        text[place : place + data.draw(st.integers(0, 40))] = piece
        if not text:
            return
    try:
        record = from_text("".join(text))
    except MalformedRecordError:
        return
    assert from_text(to_text(record)) == record


@given(st.text())
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(MalformedRecordError):
        from_text(text)


def test_long_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedRecordError, match=f"a record has at most {MAX_CHARACTERS}"):
        from_text("\n" * (MAX_CHARACTERS + 1))
    path = tmp_path / "long.chatiere"
    path.write_bytes(b"x" * 10_000_000)
    with pytest.raises(MalformedRecordError, match="too large; a record has at most"):
        read_record(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(MalformedRecordError, match="not a text file in UTF-8"):
        read_record(path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"game": "tarock"}, "record.game: unknown game"),
        ({"rules_version": 0}, "record.rules_version: "),
        ({"players": 99}, "record.players: "),
        ({"seat_names": ["A"]}, "record.seat_names: a record of 2 players has 2 names, or none"),
        ({"date": "today"}, "record.date: a date is a day"),
        ({"actions": [70_000]}, "record.actions[0]: "),
        ({"actions": [0] * 1_000}, "record.actions: 1000 actions, but no game with 2 players has more than "),
    ],
)
def test_a_record_that_cannot_be_played_has_no_text(changes: dict[str, object], complaint: str) -> None:
    record = GameRecord(game="discat", rules_version=1, players=2)
    record.stream.seed = 1
    record.MergeFrom(GameRecord(**changes))  # type: ignore[arg-type]
    if not changes.get("rules_version", 1):
        record.rules_version = 0
    with pytest.raises(MalformedRecordError) as refused:
        to_text(record)
    assert str(refused.value).startswith(complaint)
