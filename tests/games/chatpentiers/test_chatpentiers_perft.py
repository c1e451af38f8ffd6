"""Numbers of move sequences from fixed positions, written down in perft.json.

Each entry: how the game begins, the moves (ids and outcomes) to the position, and the number of sequences of 0, 1, 2 …
moves from there. To write one down anew after a wanted change: `position.perft(depth)`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from chatiere.engine import Position

from .building import GAME
from .reference import Game

ENTRIES = json.loads((Path(__file__).parent / "perft.json").read_text(encoding="utf-8"))


def position_of(entry: dict[str, Any]) -> Position:
    position = GAME.new_game(entry["players"], entry["options"])
    for move in entry["moves"]:
        position.apply(move)
    return position


def reference_at(entry: dict[str, Any], moves: list[int]) -> Game:
    game = Game(entry["players"], entry["options"])
    for move in [*entry["moves"], *moves]:
        game.move(move)
    return game


def reference_paths(entry: dict[str, Any], moves: list[int], depth: int) -> int:
    game = reference_at(entry, moves)
    if depth == 0 or not game.question.moves:
        return 1
    if depth == 1:
        return len(game.question.moves)
    return sum(reference_paths(entry, [*moves, move], depth - 1) for move in game.question.moves)


def split(entry: dict[str, Any], depth: int) -> str:
    """How many sequences begin with each move, by the kernel and by the reference (depth 3 at most)."""
    position = position_of(entry)
    moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
    lines = []
    for move in moves:
        slow = reference_paths(entry, [move], depth - 1) if depth <= 3 else "-"
        lines.append(f"{move:>4}: {position.child(move).perft(depth - 1)} (reference: {slow})")
    return "\n".join(lines)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_counts_are_those_written_down(entry: dict[str, Any]) -> None:
    position = position_of(entry)
    for depth, paths in enumerate(entry["paths"]):
        assert position.perft(depth) == paths, f"{entry['name']}, depth {depth}\n{split(entry, depth)}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_the_reference_counts_the_same(entry: dict[str, Any]) -> None:
    for depth, paths in enumerate(entry["paths"]):
        # Every sequence of the reference is played from the beginning of the game.
        if paths * len(entry["moves"]) > 20_000:
            break
        assert reference_paths(entry, [], depth) == paths, f"{entry['name']}, depth {depth}\n{split(entry, depth)}"
