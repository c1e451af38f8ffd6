"""Sample games of an independent implementation replay exactly."""

import json
from pathlib import Path

import pytest

from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER

from .building import GAME
from .reference import Game

TRACES = sorted((Path(__file__).parents[2] / "data" / "traces" / "chat_cartonne").glob("*.jsonl"))


def test_there_are_traces_for_each_number_of_players_and_with_options() -> None:
    names = [path.name for path in TRACES]
    for players in range(GAME.min_players, GAME.max_players + 1):
        assert any(name.startswith(f"{players}p-") for name in names)
    assert any("options" in name for name in names)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_trace_replays(path: Path) -> None:
    first, *steps = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert first["game"] == "chat_cartonne"
    position = GAME.new_game(first["players"], first["options"])
    for step in steps:
        assert position.current_player() == step["actor"]
        if step["actor"] == CHANCE_PLAYER:
            assert [list(outcome) for outcome in position.chance_outcomes()] == step["outcomes"]
        else:
            assert position.totals() == step["totals"]
            assert position.legal_actions() == step.get("legal", [])
        if step["actor"] == TERMINAL_PLAYER:
            assert position.winners() == step["winners"]
        else:
            position.apply(step["move"])
    assert position.is_terminal()


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_reference_agrees_with_the_trace(path: Path) -> None:
    first, *steps = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    game = Game(first["players"], first["options"])
    for step in steps:
        assert game.question.actor == step["actor"]
        if step["actor"] == CHANCE_PLAYER:
            pairs = zip(game.question.moves, game.question.weights, strict=True)
            assert [list(pair) for pair in pairs] == step["outcomes"]
        else:
            assert list(game.question.moves) == step.get("legal", [])
            assert game.totals() == step["totals"]
        if step["actor"] == TERMINAL_PLAYER:
            assert [seat for seat, rank in enumerate(game.ranks()) if rank == 1] == step["winners"]
        else:
            game.move(step["move"])
