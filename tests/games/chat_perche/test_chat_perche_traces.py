"""Sample games of an independent implementation."""

import json
from pathlib import Path

import pytest

from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER

from .building import GAME

TRACES = sorted((Path(__file__).parents[2] / "data" / "traces" / "chat_perche").glob("*.jsonl"))


def test_there_are_sample_games() -> None:
    assert len(TRACES) >= 5


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_sample_games_replay_exactly(path: Path) -> None:
    header, *steps = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert header["game"] == GAME.name
    position = GAME.new_game(header["players"], header["options"])
    for number, step in enumerate(steps, 2):
        assert position.current_player() == step["actor"], number
        if step["actor"] == CHANCE_PLAYER:
            assert [list(outcome) for outcome in position.chance_outcomes()] == step["outcomes"], number
        else:
            assert position.totals() == step["totals"], number
        if step["actor"] == TERMINAL_PLAYER:
            assert position.winners() == step["winners"]
            break
        if step["actor"] >= 0:
            assert position.legal_actions() == step["legal"], number
        position.apply(step["move"])
    assert position.is_terminal()
