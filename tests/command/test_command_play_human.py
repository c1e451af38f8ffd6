"""chatiere play --human without a terminal: reads and prints lines, as in a terminal but without editing."""

import re
from pathlib import Path

import pytest
from tools.over import over_names

from chatiere import engine
from chatiere.bots.ladder import ladder
from chatiere.clients import records
from chatiere.v1.record_pb2 import GameRecord, RecordOutcomes, RecordStream

from .conftest import Run

PAGE = Path(__file__).parents[2] / "docs" / "play.md"


def typed(*lines: object) -> str:
    return "".join(f"{line}\n" for line in lines)


def discat(*lines: object) -> tuple[tuple[object, ...], dict[str, str]]:
    """Return the arguments of a game of Discat in which seat 0 makes the second move, and its input."""
    asked = ("play", "--game", "discat", "--players", 3, "--human", 0, "--seed", 3, "--bots", "random")
    return asked, {"input": typed(*lines)}


def screens(shown: str) -> list[str]:
    """Return the output between consecutive prompts, without prompts and typed text."""
    return re.split(r"^(?:Move \d+, seat \d+|Game over)> .*\n", shown, flags=re.M)


@over_names
def test_whole_games_fit_into_80_columns(run: Run, address: str, name: str) -> None:
    players = engine.game(name).max_players
    asked = ("play", "--game", name, "--players", players, "--seed", 5, "--bots", "random", "--address", address)
    result = run(*asked, "--human", 1, input=typed(*[1] * 500), env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert "\nResult\n" in result.stdout
    assert "Game over> " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@over_names
def test_a_saved_and_resumed_game_is_the_same(run: Run, address: str, tmp_path: Path, name: str) -> None:
    seated = ("--human", 0, "--bots", "random", "--address", address)
    asked = ("play", "--game", name, "--seed", 2**64 - 1, *seated)
    whole, half, rest = (tmp_path / each for each in ("whole", "half", "rest"))
    # The game ends before the 500 lines do. Numbers after its end have no effect.
    lines = [(1, 2, 1, 3)[number % 4] for number in range(500)]
    run(*asked, input=typed(*lines, f"save {whole}"))
    # Refused numbers are also part of the input, so the first half is given by its lines.
    run(*asked, input=typed(*lines[:7], f"save {half}"))
    run("play", "--resume", half, "--address", address, input=typed(*lines[7:], f"save {rest}", "save"))
    assert rest.read_text() == whole.read_text()
    assert whole.read_text().splitlines()[-1].startswith("over")
    assert len(records.read_record(half).actions) < len(records.read_record(whole).actions)
    # A finished game can also be resumed, to view it or to undo moves.
    shown = run("play", "--resume", whole, "--address", address, input=typed("undo", 1)).stdout
    assert shown.index("\nResult\n") < shown.index("Back to move ")


@over_names
def test_undone_moves_leave_no_trace(run: Run, address: str, tmp_path: Path, name: str) -> None:
    asked = ("play", "--game", name, "--seed", 4, "--human", 0, "--bots", "random", "--address", address)
    plainly, back = tmp_path / "plainly", tmp_path / "back"
    run(*asked, input=typed(1, 1, 1, 1, f"save {plainly}"))
    shown = screens(run(*asked, input=typed(1, 1, 1, "undo", "undo", 1, 1, 1, f"save {back}")).stdout)
    assert back.read_text() == plainly.read_text()
    # The same screen is shown again, without the events.
    assert shown[4] == re.sub(r"(?s).*?\n(?=\nMove )", f"Back to move {number(shown[2])}.\n", shown[2], count=1)
    assert "Back to move" in shown[5]
    assert number(shown[5]) == number(shown[1])


def number(screen: str) -> int:
    return int(re.findall(r"^Move (\d+): ", screen, re.M)[0])


def test_undo_stops_at_the_first_decision(run: Run) -> None:
    asked, given = discat("undo")
    assert "You have no decision to take back." in run(*asked, **given).stdout


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("15", "play 59"),
        ("play 59", "play 59"),
        ("  Play   59 ", "play 59"),
        ("59 with 19", "play 59 with 19 on top"),
        ("pl 19 wi 59", "play 19 with 59 on top"),
        ("20 24 with", "play 20 and 24 with 21 on top"),
    ],
)
def test_moves_are_made_by_number_label_or_words(run: Run, line: str, label: str) -> None:
    asked, given = discat(line)
    assert screens(run(*asked, **given).stdout)[1].startswith(f"  seat 0 {label.replace('play', 'plays')}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0", "There is no move 0: their numbers are 1 to 16."),
        ("17", "There is no move 17: their numbers are 1 to 16."),
        ("9" * 5000, "There is no move"),
        ("²", "No move has the words “²”."),
        ("play 2", "No move has the words “play 2”."),
        ("miaow", "No move has the words “miaow”. Type moves to list them, or help."),
        ("?!", "No move has the words “?!”."),
        ("with 21", "3 moves have these words. Type a number, or more of the words:\n    8  play 20 with 21 on top"),
        ("moves miaow", "No move has the words “miaow”."),
        ("more", "There are no more moves to list. Type moves to start again."),
        ("save", "Name the file: save FILE."),
        ("save /", "There is a / already: choose another name."),
        ("save /nowhere/at/all", "Cannot write the file: "),
        ("save a\0b", "Cannot write the file: "),
        ("save " + "x" * 5000, "Cannot write the file: "),
    ],
)
def test_wrong_input_is_reported_and_changes_nothing(run: Run, line: str, message: str) -> None:
    asked, given = discat(line)
    result = run(*asked, **given, env={"COLUMNS": "20000"})
    assert result.exit_code == 0
    assert screens(result.stdout)[1].startswith(message)
    assert result.stdout.count("Move 2: ") == 1
    assert "Move 3: " not in result.stdout
    assert "The game was not saved." in result.stdout


def test_long_lists_are_paged(run: Run) -> None:
    asked = ("play", "--game", "chat_perche", "--human", 0, "--seed", 1, "--bots", "random")
    result = run(*asked, input=typed("moves", *["more"] * 20, "moves 3"), env={"COLUMNS": "80"})
    first, *pages, _ = screens(result.stdout)[:-1]
    kinds = re.findall("^Moves: (.*)$", first, re.M)[0]
    count = int(re.findall(r"\d+", kinds)[-1])
    assert count > 24
    listed = [int(each) for page in pages for each in re.findall(r"^ {2} *(\d+)  ", page, re.M)]
    assert sorted(listed) == list(range(1, count + 1))
    assert all(len(page.splitlines()) <= 13 for page in pages)
    assert pages[-1].startswith("There are no more moves to list")


def test_a_hint_rates_the_player_s_moves(run: Run) -> None:
    asked, given = discat("hint", "hint")
    first, once, again, *_ = screens(run(*asked, **given, env={"COLUMNS": "80"}).stdout)
    assert once.startswith("ismcts:simulations=1000, with your information, would play ")
    labels = dict(re.findall(r"(\d+)  (play [\w ]+?)(?= {2}|$)", first, re.M))
    rated = re.findall(r"^ +(\d+)  (.*): wins \d+%, \d+% of the search$", once, re.M)
    assert len(rated) == 5
    assert all(labels[index] == label for index, label in rated)
    assert once == again


def test_commands_after_the_end_find_no_move(run: Run, address: str) -> None:
    asked = ("play", "--game", "discat", "--human", 0, "--seed", 2, "--bots", "random", "--address", address)
    shown = run(*asked, input=typed(*[1] * 100, "hint", "moves", "play")).stdout
    *_, hint, moves, play, left = screens(shown)
    assert hint == "There is no move to advise on.\n"
    assert moves == "There is no move to make now.\n"
    assert play == "There is no move to make now: undo, save FILE, quit or help.\n"
    assert left == "The game was not saved.\n"


def test_unsaved_moves_are_reported(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game"
    asked, given = discat(f"save {path}", 1)
    result = run(*asked, **given, env={"COLUMNS": "500"})
    assert "Moves made since you saved the game are not in the file." in result.stdout
    assert result.stdout.endswith(f"To continue: chatiere play --resume {path}\n")


def test_a_saved_record_names_the_players(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game"
    asked, given = discat(f"save {path}")
    run(*asked, **given)
    record = records.read_record(path)
    assert (record.game, record.players, record.stream.seed) == ("discat", 3, 3)
    assert list(record.seat_names) == ["human", "random", "random"]
    assert record.date
    # Other players may continue the game.
    shown = run("play", "--resume", path, "--human", 2, "--bots", "random,largest").stdout
    assert shown.splitlines()[1:4] == ["  seat 0: random", "  seat 1: largest", "  seat 2: human (you)"]


def test_bots_take_the_remaining_seats_in_turn(run: Run) -> None:
    asked = ("play", "--game", "discat", "--players", 4, "--human", 1)
    shown = run(*asked, "--bots", "largest,random").stdout
    assert shown.splitlines()[1:5] == [
        "  seat 0: largest",
        "  seat 1: human (you)",
        "  seat 2: random",
        "  seat 3: largest",
    ]
    assert f"  seat 0: {ladder(engine.game('discat'))[1].bot}\n" in run(*asked).stdout


def test_games_differ_unless_a_seed_is_given(run: Run) -> None:
    asked = ("play", "--game", "momistigri", "--human", 0, "--bots", "random")
    assert run(*asked).stdout != run(*asked).stdout
    assert run(*asked, "--seed", 5).stdout == run(*asked, "--seed", 5).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--game", "discat", "--human", 2), "--human 2: the seats of 2 players are 0 to 1"),
        (("--game", "discat", "--human", 0, "--human", 1), "several people need a terminal"),
        (("--human", 0), "--game is missing"),
        (("--game", "tarock", "--human", 0), "unknown game 'tarock'"),
        (("--game", "discat", "--human", 0, "--bots", "cheater"), "unknown bot 'cheater' for discat"),
        (("--game", "discat", "--human", 0, "--players", 9), "discat is for 2 to 6 players"),
    ],
)
def test_invalid_arguments_are_reported(run: Run, arguments: tuple[object, ...], message: str) -> None:
    result = run("play", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stdout == ""


def test_a_custom_bot_plays_or_is_named_in_the_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot.py").write_text("from chatiere.bots.random import RandomBot as Agent\n")
    result = run("play", "--game", "discat", "--human", 0, "--bots", "mybot.py:Agent", input=typed(1, 1, "save saved"))
    assert result.exit_code == 0, result.stderr
    assert list(records.read_record(tmp_path / "saved").seat_names) == ["human", "mybot.py:Agent"]
    result = run("play", "--resume", "saved", "--bots", "mybot.py:Agent", input=typed(1))
    assert result.exit_code == 0, result.stderr
    result = run("play", "--game", "discat", "--human", 0, "--bots", "mybot.py:Nobody")
    refusal = "Error: bot mybot.py:Nobody: mybot.py has no Nobody; its bots: Agent\n"
    assert (result.exit_code, result.stderr) == (2, refusal)


def test_a_file_that_cannot_be_resumed_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game"

    def refused(text: bytes, *arguments: object) -> str:
        path.write_bytes(text)
        result = run("play", "--resume", path, *arguments)
        assert result.exit_code == 2
        return result.stderr

    assert f"{path}, line 1" in refused(b"")
    assert f"{path}: not a text file" in refused(b"\xff")
    record = GameRecord(
        game="discat", rules_version=1, players=2, stream=RecordStream(seed=1), seat_names=["Anna", "Bo"]
    )
    text = records.to_text(record).encode()
    assert f"{path} does not name the seats of people" in refused(text)
    assert "unknown bot 'Bo'" in refused(text, "--human", 0)
    for option in (("--game", "discat"), ("--players", 2), ("--seed", 1)):
        assert "omit --game, --players and --seed" in refused(text, *option)
    assert "truncated" in refused(text.removesuffix(b"so far\n"))
    record.seat_names[:] = ["human", "random"]
    assert "name the bots with --bots" in refused(records.to_text(record).encode(), "--human", 1)
    # The author of the file must not choose the code that runs here.
    for code in ("mybot.py:Agent", "os:system"):
        record.seat_names[:] = ["human", code]
        assert f"unknown bot {code.partition(':')[0]!r} for discat" in refused(records.to_text(record).encode())
    record.outcomes.CopyFrom(RecordOutcomes())
    assert "explicit chance" in refused(records.to_text(record).encode())
    assert "does not exist" in run("play", "--resume", tmp_path / "none").stderr


def test_the_documented_session_matches_the_output(run: Run) -> None:
    block = re.findall(r"^```\n\$ (chatiere play .*?)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(block) == 1
    ((asked, shown),) = block
    lines = re.findall(r"^Move \d+, seat \d+> (.*)$", shown, re.M)
    assert run(*asked.split()[1:], input=typed(*lines), env={"COLUMNS": "80"}).stdout == shown
