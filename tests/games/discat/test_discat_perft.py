"""Perft: how many sequences of moves follow some positions, counted by the reference and kept in perft.json.

`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/games/discat/test_discat_perft.py` counts them anew (a minute), with
the reference alone: the kernel has no say in them.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from .building import GAME, LARGEST
from .reference import OVER, Game, perft
from .test_discat_reference import choose, random_options

PATH = Path(__file__).with_name("perft.json")
PROVENANCE = (
    "Counted by tests/games/discat/reference.py, which shares nothing with the engine; explicit chance, outcomes count "
    "as moves. `moves` lead from the beginning to the position."
)
LARGEST_COUNT = 8_000


def count_moves(players: int, options: dict[str, int], moves: list[int], choices: random.Random) -> tuple[int, int]:
    """A depth, up to 8, with thousands of sequences but not too many for the reference, and their number."""
    depth, count = 1, perft(players, options, moves, 1)
    while depth < 8:
        # How much more the next depth is likely to hold, from a few games played on.
        leaves = []
        for _ in range(5):
            game = Game.replay(players, options, moves)
            for _ in range(depth):
                if game.question.actor != OVER:
                    game.move(choices.choice(game.question.moves))
            leaves.append(len(game.question.moves))
        if count * max(leaves) > LARGEST_COUNT:
            break
        depth += 1
        count = perft(players, options, moves, depth)
    return depth, count


def generate() -> list[dict[str, Any]]:
    """Positions from the first event to the last turns of random games, and their counts."""
    choices = random.Random(11)
    entries = []
    for players in LARGEST:
        for style in ("random", "single cards", "always exchange"):
            options = {} if style == "random" else random_options(players, choices)
            game, moves = Game(players, options), []
            while game.question.actor != OVER:
                move = choose(game.question, style, choices)
                moves.append(move)
                game.move(move)
            deal = 5 * players + ("first_seat" not in options)
            for length in {0, deal, deal + (len(moves) - deal) // 2, len(moves) * 9 // 10, len(moves) - 6}:
                depth, count = count_moves(players, options, moves[:length], choices)
                entries.append(
                    {"players": players, "options": options, "moves": moves[:length], "depth": depth, "count": count}
                )
    return entries


if "CHATIERE_UPDATE_GOLDEN" in os.environ:
    lines = ",\n".join(json.dumps(entry) for entry in generate())
    PATH.write_text(f'{{"provenance": {json.dumps(PROVENANCE)}, "positions": [\n{lines}\n]}}\n', encoding="utf-8")

POSITIONS = json.loads(PATH.read_text(encoding="utf-8"))["positions"]


@pytest.mark.parametrize("entry", POSITIONS, ids=lambda e: f"{e['players']}p-{len(e['moves'])}-depth{e['depth']}")
def test_perft(entry: dict[str, Any]) -> None:
    players, options, moves, depth = entry["players"], entry["options"], entry["moves"], entry["depth"]
    position = GAME.new_game(players, options)
    for move in moves:
        position.apply(move)
    if position.perft(depth) != entry["count"]:
        # Move by move, to see where the difference lies.
        legal = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
        split = {move: position.child(move).perft(depth - 1) for move in legal}
        expected_moves = Game.replay(players, options, moves).question.moves
        assert split == {move: perft(players, options, [*moves, move], depth - 1) for move in expected_moves}
    assert position.perft(depth) == entry["count"]


def test_the_positions_are_of_all_kinds() -> None:
    assert {entry["players"] for entry in POSITIONS} == set(LARGEST)
    assert sum(entry["count"] > 500 for entry in POSITIONS) > 20
    assert sum(entry["depth"] >= 4 for entry in POSITIONS) > 10
