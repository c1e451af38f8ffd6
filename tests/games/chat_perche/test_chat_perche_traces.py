"""Sample games of an independent implementation, and counts of move sequences."""

import json
from pathlib import Path
from typing import Any

import pytest

from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER, Position

from .building import GAME

TRACES = sorted((Path(__file__).parents[2] / "data" / "traces" / "chat_perche").glob("*.jsonl"))
PERFT = json.loads((Path(__file__).parent / "perft.json").read_text(encoding="utf-8"))


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


def begin(entry: dict[str, Any]) -> Position:
    position = GAME.new_game(2, entry["options"])
    for move in entry["moves"]:
        position.apply(move)
    return position


@pytest.mark.parametrize("entry", PERFT["positions"], ids=lambda entry: entry["name"])
def test_perft(entry: dict[str, Any]) -> None:
    position = begin(entry)
    counts = [position.perft(depth) for depth in range(len(entry["counts"]))]
    if counts != entry["counts"]:
        depth = next(d for d, (have, want) in enumerate(zip(counts, entry["counts"], strict=True)) if have != want)
        moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
        split = {move: position.child(move).perft(depth - 1) for move in moves}
        pytest.fail(f"{entry['name']}: {counts} instead of {entry['counts']}; at depth {depth}, by move: {split}")
