"""Perft: how many sequences of moves follow some positions, counted by the reference and kept in perft.json.

`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/games/chat_perche/test_chat_perche_perft.py` counts them anew (some
minutes), with the reference alone: the kernel has no say in them.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chatiere.engine import Position

from .building import GAME
from .reference import Game, perft

PATH = Path(__file__).with_name("perft.json")

if "CHATIERE_UPDATE_GOLDEN" in os.environ:
    kept = json.loads(PATH.read_text(encoding="utf-8"))
    for written in kept["positions"]:
        written["count"] = perft(written["options"], written["moves"], written["depth"])
    lines = ",\n".join(map(json.dumps, kept["positions"]))
    PATH.write_text(
        f'{{"provenance": {json.dumps(kept["provenance"])}, "positions": [\n{lines}\n]}}\n', encoding="utf-8"
    )

POSITIONS = json.loads(PATH.read_text(encoding="utf-8"))["positions"]


def split(position: Position, entry: dict[str, Any]) -> str:
    """Move by move, ours and the reference's counts that differ, at the first depth at which some do."""
    options, moves = entry["options"], entry["moves"]
    ours = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
    theirs = Game.replay(options, moves).question.moves
    if tuple(ours) != theirs:
        return f"moves {ours}, not {theirs}"
    for depth in range(1, entry["depth"]):
        counts = {move: (position.child(move).perft(depth), perft(options, [*moves, move], depth)) for move in ours}
        different = [f"{move}: {mine}, not {right}" for move, (mine, right) in counts.items() if mine != right]
        if different:
            return f"{depth} after the moves\n" + "\n".join(different)
    return "the reference does not count what is written down either"


@pytest.mark.parametrize("entry", POSITIONS, ids=lambda entry: entry["name"])
def test_perft(entry: dict[str, Any]) -> None:
    position = GAME.new_game(2, entry["options"])
    for move in entry["moves"]:
        position.apply(move)
    if position.perft(entry["depth"]) != entry["count"]:
        pytest.fail(f"{position.perft(entry['depth'])} sequences, not {entry['count']}\n{split(position, entry)}")


def test_there_are_millions_of_sequences_from_all_parts_of_the_game() -> None:
    assert sum(entry["count"] for entry in POSITIONS) > 5_000_000
    assert sum(entry["count"] for entry in POSITIONS if len(entry["moves"]) >= 40) > 1_500_000
