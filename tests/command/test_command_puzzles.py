"""chatiere puzzles."""

import json
import random
from itertools import count
from pathlib import Path

import pytest

from chatiere import engine
from chatiere.arena import puzzles
from chatiere.arena.puzzles import MARGIN, explain, find
from chatiere.bots.ladder import Rung

from .conftest import Run

# A game of Discat in which one card wins, and any other move loses.
DISCAT = [
    96,
    100,
    98,
    128,
    193,
    34,
    196,
    34,
    3,
    68,
    100,
    104,
    66,
    137,
    99,
    195,
    176,
    196,
    67,
    128,
    130,
    3,
    197,
    176,
    34,
]
DISCAT += [128, 64]
WINS = 96


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a quick bot play the games."""
    monkeypatch.setattr(
        puzzles, "ladder", lambda game: [Rung("tiger", "Tiger", "flat:playouts=20", 0, 0.001, {"3": "flat:playouts=9"})]
    )


def test_a_position_with_one_good_action_is_found() -> None:
    position = engine.game("discat").new_game(2, seed=1, game_number=4)
    for action in DISCAT:
        position.apply(action)
    for first in (1, 10, 20):
        found = find(position, 30, count(first))
        assert found is not None
        assert found["seat"] == position.current_player()
        assert found["actions"][0][0] == WINS
        assert sorted(action for action, _ in found["actions"]) == position.legal_actions()
        values = [value for _, value in found["actions"]]
        assert values == sorted(values, reverse=True)
        assert MARGIN <= found["margin"] <= values[0] - values[1] + 0.01
        assert 0 <= found["wrong"] < 0.5
        after = position.child(found["line"][0])
        assert found["line"][0] != WINS
        for action in found["line"][1:]:
            after.apply(action)


def test_the_line_begins_with_the_most_frequent_wrong_choice() -> None:
    position = engine.game("discat").new_game(2, seed=1, game_number=4)
    for action in DISCAT:
        position.apply(action)
    legal = position.legal_actions()
    for best in (WINS, legal[0]):
        actions = [best, *(action for action in legal if action != best)]
        told = explain(position, actions, 30, 1)
        assert told == explain(position, actions, 30, 1)
        # Almost all choices are the winning card.
        assert (told["wrong"] < 0.5) == (best == WINS)
        assert (told["line"][0] == WINS) == (best != WINS)


def test_a_position_with_few_legal_actions_is_no_puzzle(monkeypatch: pytest.MonkeyPatch) -> None:
    position = engine.game("discat").new_game(2, seed=1, game_number=4)
    for action in DISCAT:
        position.apply(action)
    legal = len(position.legal_actions())
    assert find(position, 30, count(1)) is not None
    monkeypatch.setattr(puzzles, "_MIN_ACTIONS", legal + 1)
    assert find(position, 30, count(1)) is None


def test_a_position_with_two_equal_actions_is_no_puzzle() -> None:
    position = engine.game("chat_perche").new_game(2, seed=11)
    drawn = random.Random(11)
    while position.ply() < 61:
        position.apply(drawn.choice(position.legal_actions()))
    seat = position.current_player()
    wins = [action for action in position.legal_actions() if position.child(action).winners() == [seat]]
    # Several actions win immediately, and there are other actions.
    assert 2 <= len(wins) < len(position.legal_actions())
    assert find(position, 30, count(), easy=True) is None


def test_a_forced_move_is_no_puzzle() -> None:
    position = engine.game("discat").new_game(2, seed=1)
    while len(position.legal_actions()) > 1:
        position.apply(position.legal_actions()[0])
    assert find(position, 30, count(), easy=True) is None


@pytest.mark.usefixtures("quick")
def test_an_interrupted_search_is_resumed(run: Run, tmp_path: Path) -> None:
    asked = ("puzzles", "momistigri", "--simulations", 20, "--easy", "--output")
    whole, stopped = tmp_path / "whole.json", tmp_path / "stopped.json"
    result = run(*asked, whole, "--games", 12)
    assert (result.exit_code, result.stderr) == (0, "")
    kept = json.loads(whole.read_text())
    assert result.stdout == f"{len(kept['puzzles'])} puzzles in 12 games: {whole}\n"
    assert 2 <= len(kept["puzzles"]) <= 12
    assert (kept["setting"]["game"], kept["setting"]["players"]) == ("momistigri", 3)
    assert kept["setting"]["bot"] == "flat:playouts=9"
    # The search ends with the requested number of puzzles.
    run(*asked, stopped, "--count", 1)
    assert len(json.loads(stopped.read_text())["puzzles"]) == 1
    run(*asked, stopped, "--games", 12)
    assert stopped.read_bytes() == whole.read_bytes()


@pytest.mark.usefixtures("quick")
def test_files_of_other_searches_are_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    run("puzzles", "discat", "--simulations", 1, "--games", 1, "--output", path)
    kept = path.read_bytes()
    result = run("puzzles", "discat", "--simulations", 2, "--games", 1, "--output", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {path} is of another search: {{'game': 'discat', 'players': 2, ")
    assert path.read_bytes() == kept
    for content in (b"", b"[]", b"{}", b"\xff"):
        path.write_bytes(content)
        result = run("puzzles", "discat", "--output", path)
        assert (result.exit_code, result.stderr) == (2, f"Error: {path} is no file of puzzles\n")
