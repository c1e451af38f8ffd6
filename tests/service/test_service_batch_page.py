"""The examples in docs/batch.md work exactly as printed."""

import re
from pathlib import Path
from typing import Any

import pytest
from tools.over import over_games

from chatiere.engine import Game
from chatiere.engine.core.game_info import game_info

from .support import Running

PAGE = (Path(__file__).parents[2] / "docs/batch.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_loop_over_the_service(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    code = EXAMPLES[0].replace("127.0.0.1:50051", server.address)
    assert server.address in code
    exec(compile(code, "docs/batch.md", "exec"), {})
    printed = re.fullmatch(r"(\d+) games; wins by seat: (\[.*\])\n", capsys.readouterr().out)
    assert printed
    games, wins = printed.groups()
    assert int(games) >= 200
    assert sum(int(each) for each in re.findall(r"\d+", wins)) >= int(games)


def test_the_step_in_process() -> None:
    found: dict[str, Any] = {}
    exec(compile(EXAMPLES[1], "docs/batch.md", "exec"), found)
    assert found["faults"].reasons == b""
    assert found["observations"].any(axis=1).all()


def test_the_numbers_of_an_observation(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(EXAMPLES[2].replace("127.0.0.1:50051", server.address), "docs/batch.md", "exec"), {})
    *shapes, in_a_row = capsys.readouterr().out.splitlines()
    assert shapes == ["(32, 90) (32, 6)", "(32, 90) (32, 6, 91)"]
    assert in_a_row == "True"


def test_the_compact_form(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(EXAMPLES[3], "docs/batch.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["6047 6", "True"]


def test_the_evaluation_of_actions() -> None:
    found: dict[str, Any] = {}
    exec(compile(EXAMPLES[4], "docs/batch.md", "exec"), found)
    assert found["faults"].reasons == b""
    assert len(found["best"]) == 4
    assert all(-1 <= value <= 2 for value in found["mean_returns"])


def test_all_examples_of_the_page_are_tested() -> None:
    assert len(EXAMPLES) == 5


@over_games
def test_the_table_of_limits(game: Game) -> None:
    players = range(game.min_players, game.max_players + 1)
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {game_info(game, 'fr')['title']} ("))
    seats, decisions, chance_events = (re.findall(r"[\d,]*\d", cell) for cell in row.split("|")[1:4])
    assert {int(seats[0]), int(seats[-1])} == {players[0], players[-1]}
    limits = [game.limits(each) for each in players]
    assert decisions == [f"{each.max_game_length:,}" for each in limits]
    assert chance_events == [f"{each.max_chance_nodes_in_history:,}" for each in limits]
