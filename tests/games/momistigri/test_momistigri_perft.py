"""Perft: how many sequences of moves follow some positions, counted by the reference and kept in perft.json.

`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/games/momistigri/test_momistigri_perft.py` counts them anew, with the
reference alone: the kernel has no say in them.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from .building import GAME, PLAYERS
from .reference import OVER, Game, perft
from .test_momistigri_reference import STYLES, choose, random_options

PATH = Path(__file__).with_name("perft.json")
PROVENANCE = (
    "Counted by tests/games/momistigri/reference.py, which shares nothing with the engine; explicit chance, outcomes "
    "count as moves, whatever their weight. `moves` lead from the beginning to the position."
)
LARGEST_COUNT = 6_000


def small_enough(players: int, options: dict[str, Any], moves: list[int]) -> tuple[int, int]:
    """The largest depth, up to 6, that stays below LARGEST_COUNT, and its count."""
    depth, count = 1, perft(players, options, moves, 1)
    while depth < 6 and count < LARGEST_COUNT / 20:
        deeper = perft(players, options, moves, depth + 1)
        if deeper > LARGEST_COUNT:
            break
        depth, count = depth + 1, deeper
    return depth, count


def generate() -> list[dict[str, Any]]:
    """Positions from the first event to the last turns of random games, and their counts."""
    choices = random.Random(11)
    entries = []
    for players in PLAYERS:
        for style in STYLES:
            options = {} if style == "random" else random_options(players, choices)
            game, moves, decisions = Game(players, options), [], []
            while game.question.actor != OVER:
                if game.question.actor >= 0:
                    decisions.append(len(moves))
                move = choose(game.question, style, choices)
                moves.append(move)
                game.move(move)
            lengths = {0, *choices.sample(decisions, 3), decisions[len(decisions) // 3], decisions[-1]}
            for length in sorted(lengths):
                depth, count = small_enough(players, options, moves[:length])
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
    assert {entry["players"] for entry in POSITIONS} == set(PLAYERS)
    assert sum(entry["count"] > 500 for entry in POSITIONS) > 20
    assert sum(entry["depth"] >= 3 for entry in POSITIONS) > 20
