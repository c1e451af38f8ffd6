"""Perft: how many sequences of moves follow some positions, counted by the reference and kept in perft.json.

`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/games/chat_cartonne/test_chat_cartonne_perft.py` counts them anew, with
the reference alone: the kernel has no say in them.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from .building import GAME
from .reference import OVER, Game, perft, perft_below
from .test_chat_cartonne_reference import choose, random_options

PATH = Path(__file__).with_name("perft.json")
# The reference visits this many positions at most at the last depth but one, to count all that follows.
LARGEST = 8100
PROVENANCE = (
    "Counted by tests/games/chat_cartonne/reference.py, which shares nothing with the engine; explicit chance, "
    "outcomes count as moves. `moves` lead from the beginning to the position."
)


def deepest(game: Game) -> tuple[int, int]:
    """As deep as LARGEST positions allow, and the count there; not deeper than the game goes."""
    depth, before, count = 1, 0, perft(game, 1)
    while before < count <= LARGEST:
        depth, before, count = depth + 1, count, perft(game, depth + 1)
    return depth, count


def generate() -> list[dict[str, Any]]:
    """Positions from the first event to the end of games that build, and their counts."""
    choices = random.Random(12)
    entries = []
    for players in range(2, 6):
        for style in ("build", "random"):
            options = random_options(players, choices) if style == "random" else {}
            game, moves = Game(players, options), []
            while game.question.actor != OVER:
                moves.append(choose(game, style, choices))
                game.move(moves[-1])
            setup = 4 * players
            for length in {setup, setup + (len(moves) - setup) // 2, len(moves) - 8, len(moves) - 2}:
                depth, count = deepest(Game.replay(players, options, moves[:length]))
                entries.append(
                    {"players": players, "options": options, "moves": moves[:length], "depth": depth, "count": count}
                )
    return entries


if "CHATIERE_UPDATE_GOLDEN" in os.environ:
    PATH.write_text(json.dumps({"provenance": PROVENANCE, "positions": generate()}) + "\n", encoding="utf-8")

ENTRIES = json.loads(PATH.read_text(encoding="utf-8"))["positions"]


@pytest.mark.parametrize("number", range(len(ENTRIES)))
def test_perft(number: int) -> None:
    entry = ENTRIES[number]
    position = GAME.new_game(entry["players"], entry["options"])
    for move in entry["moves"]:
        position.apply(move)
    if position.perft(entry["depth"]) != entry["count"]:
        pytest.fail(f"{position.perft(entry['depth'])} sequences, not {entry['count']}\n{split(position, entry)}")


def split(position: Any, entry: dict[str, Any]) -> str:
    """The count below each move, where kernel and reference disagree."""
    lines = []
    moves = set(position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()])
    game = Game.replay(entry["players"], entry["options"], entry["moves"])
    expected = set(game.question.moves)
    lines += [f"only the kernel: {move}" for move in sorted(moves - expected)]
    lines += [f"only the reference: {move}" for move in sorted(expected - moves)]
    for move in sorted(moves & expected):
        ours = position.child(move).perft(entry["depth"] - 1)
        theirs = perft_below(game, move, entry["depth"] - 1)
        if ours != theirs:
            lines.append(f"{move}: kernel {ours}, reference {theirs}")
    return "\n".join(lines)


def test_a_difference_is_split_by_move() -> None:
    entry = ENTRIES[0]
    position = GAME.new_game(entry["players"], entry["options"])
    assert "only the kernel: 0" in split(position, entry)
