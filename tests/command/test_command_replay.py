"""chatiere replay: the sample games of every game match, and differences and malformed files are reported exactly."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from tools.over import over_names
from tools.sample_records import record_of

from chatiere import engine
from chatiere.clients import ChatiereError, Client
from chatiere.clients.records import read_record, write_record
from chatiere.v1.game_pb2 import TURN_KIND_CHANCE, ChanceOutcome, Position, Turn

from .conftest import Run

pytestmark = pytest.mark.long

TRACES = Path(__file__).parents[1] / "data" / "traces"
EDITED = json.loads((TRACES.parent / "edited_records.json").read_text("utf-8"))
GAMES = [game.name for game in engine.games()]

Record = dict[str, Any]
# A function that changes the lines of a sample game, and returns the number of the changed line, from 1.
Change = Callable[[list[Record]], int]


def samples_of(name: str) -> list[Path]:
    return sorted((TRACES / name).glob("*.jsonl"))


def read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, records: list[Record]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def last_where(records: list[Record], key: str, least: int = 1) -> int:
    """Return the index of the last line with at least `least` values under a key."""
    return max(index for index, record in enumerate(records) if len(record.get(key, ())) >= least)


@over_names
def test_all_sample_games_match(run: Run, name: str) -> None:
    paths = samples_of(name)
    steps = sum(len(read(path)) - 1 for path in paths)
    result = run("replay", *paths)
    assert result.stderr == ""
    assert result.exit_code == 0
    assert result.stdout == f"{steps} of {steps} steps matched, {len(paths)} of {len(paths)} games complete.\n"
    # The sample games have all numbers of players, and some have options.
    players = {read(path)[0]["players"] for path in paths}
    rules = engine.game(name)
    assert players == set(range(rules.min_players, rules.max_players + 1))
    assert any(read(path)[0]["options"] for path in paths)


@over_names
def test_a_running_server_can_be_checked(run: Run, address: str, name: str) -> None:
    result = run("replay", samples_of(name)[0], "--address", address)
    assert (result.exit_code, result.stdout.split(", ")[1]) == (0, "1 of 1 games complete.\n")


def test_the_help_describes_the_format(run: Run) -> None:
    text = run("replay", "--help").stdout
    for line in ('{"game": name,', '{"actor": -1, "outcomes":', '{"actor": seat, "legal":', '{"actor": -2, "totals":'):
        assert line in text


def fewer_legal(records: list[Record]) -> int:
    index = last_where(records, "legal", 2)
    record = records[index]
    record["legal"].remove(next(action for action in record["legal"] if action != record["move"]))
    return index + 1


def more_legal(records: list[Record]) -> int:
    index = last_where(records, "legal")
    records[index]["legal"].append(records[index]["legal"][-1] + 1)
    return index + 1


def other_totals(records: list[Record]) -> int:
    index = last_where(records, "legal")
    records[index]["totals"][-1] += 1
    return index + 1


def other_seat(records: list[Record]) -> int:
    index = last_where(records, "legal")
    records[index]["actor"] = (records[index]["actor"] + 1) % records[0]["players"]
    return index + 1


def other_weight(records: list[Record]) -> int:
    index = last_where(records, "outcomes", 2)
    records[index]["outcomes"][0][1] += 1
    return index + 1


def fewer_outcomes(records: list[Record]) -> int:
    index = last_where(records, "outcomes", 2)
    record = records[index]
    record["outcomes"] = [each for each in record["outcomes"] if each[0] == record["move"]]
    return index + 1


def other_winners(records: list[Record]) -> int:
    records[-1]["winners"] = [seat for seat in range(records[0]["players"]) if seat not in records[-1]["winners"]]
    return len(records)


def other_end_totals(records: list[Record]) -> int:
    records[-1]["totals"][0] -= 1
    return len(records)


def decision_for_chance(records: list[Record]) -> int:
    index = last_where(records, "outcomes")
    zeros = [0] * records[0]["players"]
    records[index] = {"actor": 0, "legal": [records[index]["move"]], "totals": zeros, "move": records[index]["move"]}
    return index + 1


def over_too_early(records: list[Record]) -> int:
    index = last_where(records, "legal")
    records[index:] = [records[-1]]
    return index + 1


CHANGES = [
    (fewer_legal, "legal"),
    (more_legal, "legal"),
    (other_totals, "totals"),
    (other_seat, "actor"),
    (other_weight, "outcomes"),
    (fewer_outcomes, "outcomes"),
    (other_winners, "winners"),
    (other_end_totals, "totals"),
    (decision_for_chance, "actor"),
    (over_too_early, "actor"),
]


@over_names
@pytest.mark.parametrize(("change", "field"), CHANGES)
def test_a_difference_is_reported_and_exits_1(run: Run, tmp_path: Path, name: str, change: Change, field: str) -> None:
    first, second, *_ = samples_of(name)
    right, wrong = read(second), read(second)
    line = change(wrong)
    path = write(tmp_path / "changed.jsonl", wrong)
    result = run("replay", first, path, first)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{path}, line {line}:\n"
        f"  expected: {field} {wrong[line - 1][field]}\n"
        f"  actual:   {field} {right[line - 1][field]}\n"
    )
    steps = len(read(first)) - 1
    total = 2 * steps + len(wrong) - 1
    assert result.stdout == f"{steps + line - 2} of {total} steps matched, 1 of 3 games complete.\n"


@over_names
def test_another_move_leads_to_a_later_difference(run: Run, tmp_path: Path, name: str) -> None:
    records = read(samples_of(name)[0])
    index = next(index for index, record in enumerate(records) if len(record.get("legal", ())) > 1)
    records[index]["move"] = next(each for each in records[index]["legal"] if each != records[index]["move"])
    result = run("replay", write(tmp_path / "changed.jsonl", records))
    assert result.exit_code == 1
    assert int(result.stderr.splitlines()[0].split("line ")[1].rstrip(":")) > index + 1


@over_names
def test_a_listed_move_that_the_service_refuses_is_a_difference(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise ChatiereError(grpc.StatusCode.INVALID_ARGUMENT, "not today", "ILLEGAL_ACTION")

    monkeypatch.setattr(Client, "apply", refuse)
    path = samples_of(name)[0]
    result = run("replay", path)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{path}, line 2:\n  expected: move {read(path)[1]['move']}\n  actual:   ILLEGAL_ACTION: not today\n"
    )


def test_different_weights_of_the_service_are_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [ChanceOutcome(outcome=0, weight=2), ChanceOutcome(outcome=1, weight=1)]
    position = Position(turn=Turn(kind=TURN_KIND_CHANCE), chance_outcomes=outcomes)
    monkeypatch.setattr(Client, "new_game", lambda *arguments, **options: position)
    path = tmp_path / "sample.jsonl"
    path.write_text(beginning() + CHANCE + END)
    result = run("replay", path)
    assert result.exit_code == 1
    assert result.stderr.endswith("expected: outcomes [[0, 1], [1, 1]]\n  actual:   outcomes [[0, 2], [1, 1]]\n")


def beginning(**fields: object) -> str:
    return json.dumps({"game": GAMES[0], "players": 3, "options": {}} | fields) + "\n"


CHANCE = '{"actor": -1, "outcomes": [[0, 1], [1, 1]], "move": 0}\n'
DECISION = '{"actor": 0, "legal": [3], "totals": [0, 0, 0], "move": 3}\n'
END = '{"actor": -2, "totals": [0, 0, 0], "winners": [0]}\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: the file is empty"),
        ("Schnurr\n", "line 1: not JSON: "),
        ("[1, 2]\n", "line 1: not a JSON object"),
        ("[" * 100_000, "line 1: not JSON: "),
        ('{"players": 3, "options": {}}\n', "line 1: 'game' is missing"),
        (beginning(game=3), "line 1: 'game' must be a name"),
        (beginning(players="3"), "line 1: 'players' must be an integer"),
        (beginning(players=True), "line 1: 'players' must be an integer"),
        (beginning(options=[]), "line 1: 'options' must be an object"),
        (beginning(), "line 1: the file ends before the game is over"),
        (beginning() + CHANCE, "line 2: the file ends before the game is over"),
        (beginning() + CHANCE + END + DECISION + END, "line 3: the game is over, but the file continues"),
        ("\n" + beginning() + "\n" + DECISION.replace("[3]", "3") + END, "line 4: 'legal' must be a list of integers"),
        (beginning() + "{}\n" + END, "line 2: 'actor' is missing"),
        (beginning() + CHANCE.replace("-1", "-3") + END, "line 2: 'actor' must be a seat, -1 or -2"),
        (beginning() + CHANCE.replace("[0, 1]", "[0, 1, 2]") + END, "line 2: 'outcomes' must be a list of pairs of"),
        (beginning() + CHANCE.replace("[0, 1]", "[0, 1.5]") + END, "line 2: 'outcomes' must be a list of pairs of"),
        (beginning() + CHANCE.replace("outcomes", "legal") + END, "line 2: 'outcomes' is missing"),
        (beginning() + CHANCE.replace("}", ', "totals": []}') + END, "line 2: 'totals' is not allowed for actor -1"),
        (beginning() + CHANCE.replace('"move": 0', '"move": 2') + END, "line 2: 'move' is not in the line's list"),
        (beginning() + DECISION.replace("[3]", "3") + END, "line 2: 'legal' must be a list of integers"),
        (beginning() + DECISION.replace('"move": 3', '"move": 4') + END, "line 2: 'move' is not in the line's list"),
        (beginning() + END.replace("winners", "winner"), "line 2: 'winners' is missing"),
        (beginning(game="tarock") + END, "line 1: unknown game 'tarock'; known games: "),
        (beginning(players=99) + END, "line 1: "),
        (beginning(players=-(2**70)) + END, "line 1: "),
        (beginning(options={"first_seat": 3}) + END, "line 1: "),
        (beginning(options={"first_seat": "0"}) + END, "line 1: "),
        (beginning(options={"no_such_option": 1}) + END, "line 1: "),
    ],
)
def test_an_invalid_sample_game_exits_2(run: Run, tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(text)
    result = run("replay", path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {path}, {complaint}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("edited", EDITED, ids=[edited["what"] for edited in EDITED])
def test_sample_games_saved_by_editors_are_read(run: Run, tmp_path: Path, edited: dict[str, str]) -> None:
    text = samples_of("discat")[0].read_text("utf-8").rstrip()
    path = tmp_path / "edited.jsonl"
    path.write_bytes((f"{edited['before']}{text}".replace("\n", edited["newline"]) + edited["after"]).encode())
    result = run("replay", path)
    assert (result.exit_code, result.stderr) == (0, "")


def test_files_that_cannot_be_read_exit_2(run: Run, tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    assert run("replay", binary).stderr == f"Error: {binary}: not a text file in UTF-8\n"
    for path in (tmp_path, tmp_path / "missing.jsonl"):
        result = run("replay", path)
        assert result.exit_code == 2
        assert str(path) in result.stderr


@over_names
def test_a_server_that_cannot_be_reached_exits_2(run: Run, name: str) -> None:
    with socket.socket() as held:
        # The socket is bound, so that no other process can use the port, but it does not listen.
        held.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{held.getsockname()[1]}"
        result = run("replay", samples_of(name)[0], "--address", address)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: no response from a server at {address}: UNAVAILABLE: ")


@over_names
def test_a_record_written_by_play_is_shown(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "game.chatiere"
    printed = run("play", "--game", name, "--bots", "random", "--seed", 3, "--record", path).stdout
    record = read_record(path)
    assert list(record.seat_names) == ["random"] * engine.game(name).min_players
    assert (record.stream.seed, record.stream.game_number) == (3, 0)
    result = run("replay", path)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    # The output has the lines of `play`, and also the hidden events of the deal.
    assert set(printed.splitlines()) <= set(lines)
    assert lines[-1].endswith(" won.")
    moves = [line for line in lines if line.startswith("Move ")]
    assert [int(line.split(":")[0].removeprefix("Move ")) for line in moves] == list(range(1, len(record.actions) + 1))


@over_names
@pytest.mark.parametrize("viewer", ["0", "spectator"])
def test_a_range_is_shown_as_a_viewer_may_see_it(run: Run, tmp_path: Path, name: str, viewer: str) -> None:
    path = tmp_path / "game.chatiere"
    write_record(path, record_of(samples_of(name)[0]))
    result = run("replay", path, "--viewer", viewer, "--from", 2, "--to", 4)
    assert (result.exit_code, result.stderr) == (0, "")
    headings = [line.split(":")[0] for line in result.stdout.splitlines() if line.startswith(("Move ", "After "))]
    assert headings == ["Move 3", "Move 4", "After move 4"]
    with_all_hands = run("replay", path, "--from", 2, "--to", 4).stdout.splitlines()
    assert not set(result.stdout.splitlines()) >= set(with_all_hands)


def test_control_characters_in_names_are_not_printed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.chatiere"
    record = record_of(samples_of("discat")[0])
    record.seat_names.extend(["\x1b[31m", "B"])
    write_record(path, record)
    assert "  seat 0: \\u001b[31m\n" in run("replay", path, "--to", 0).stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--from", 39), "INVALID_RANGE: from_ply: "),
        (("--from", 3, "--to", 2), "INVALID_RANGE: to_ply: "),
        (("--viewer", 2), "INVALID_SEAT: include.viewers[0]: "),
        (("--viewer", "-1"), "'-1' is neither a seat nor 'spectator'"),
        (("--viewer", "9" * 5000), "is neither a seat nor 'spectator'"),
    ],
)
def test_invalid_ranges_and_viewers_exit_2(
    run: Run, tmp_path: Path, arguments: tuple[object, ...], complaint: str
) -> None:
    path = tmp_path / "game.chatiere"
    write_record(path, record_of(samples_of("discat")[0]))
    result = run("replay", path, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr


def test_an_invalid_record_exits_2(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.chatiere"
    path.write_text("game: tarock\n")
    result = run("replay", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {path}, line ")


def test_a_record_that_the_service_refuses_exits_1(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise ChatiereError(grpc.StatusCode.INVALID_ARGUMENT, "not today", "ILLEGAL_ACTION")

    monkeypatch.setattr(Client, "replay", refuse)
    path = tmp_path / "game.chatiere"
    write_record(path, record_of(samples_of("discat")[0]))
    result = run("replay", path)
    assert (result.exit_code, result.stderr) == (1, f"{path}: ILLEGAL_ACTION: not today\n")


def test_ranges_apply_only_to_records(run: Run) -> None:
    result = run("replay", samples_of("discat")[0], "--from", 3)
    assert (result.exit_code, result.stdout) == (2, "")


def test_play_writes_records_only_to_new_files_with_the_suffix(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "kept.chatiere"
    kept.write_text("kept")
    for path in (tmp_path / "game.txt", tmp_path / "none" / "game.chatiere", kept):
        result = run("play", "--game", "discat", "--record", path, "--bots", "random")
        assert result.exit_code == 2
        assert str(path) in result.stderr
    assert kept.read_text() == "kept"


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["Alice", "Bob"], True),
        ([], False),
        (["Bob", "Bob"], False),
        (["Alice", ""], False),
        (["Alice", "B" * 41], False),
    ],
)
def test_labels_have_the_names_of_the_record(run: Run, tmp_path: Path, names: list[str], named: bool) -> None:
    record = record_of(TRACES / "discat" / "2p-1.jsonl")
    record.seat_names.extend(names)
    write_record(tmp_path / "game.chatiere", record)
    for viewer in ([], ["--viewer", "0"], ["--viewer", "spectator"]):
        shown = run("replay", tmp_path / "game.chatiere", "--to", "2", *viewer).stdout
        assert ("  Alice plays " in shown) == named
        assert ("  seat 0 plays " in shown) != named
