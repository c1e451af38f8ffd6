"""Positions of Momistigri for perft.json: `PYTHONPATH=tests python -m games.momistigri.perft` counts them."""

import random
from typing import Any

from ..perft_file import write
from ..script import OVER
from .building import PLAYERS
from .reference import Game
from .test_momistigri_reference import STYLES, choose, random_options

MAX_COUNT = 6_000


def small_enough(players: int, options: dict[str, Any], moves: list[int]) -> tuple[int, int]:
    """Return the largest depth up to 6 whose count is below MAX_COUNT, and this count."""
    depth, count = 1, Game.perft(players, options, moves, 1)
    while depth < 6 and count < MAX_COUNT / 20:
        deeper = Game.perft(players, options, moves, depth + 1)
        if deeper > MAX_COUNT:
            break
        depth, count = depth + 1, deeper
    return depth, count


def generate() -> list[dict[str, Any]]:
    """Return positions between the first event and the last turns of random games, with their counts."""
    choices = random.Random(11)
    entries = []
    for players in PLAYERS:
        for style in STYLES:
            options = {} if style == "random" else random_options(players, choices)
            game = Game(players, options)
            moves: list[int] = []
            decisions: list[int] = []
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


if __name__ == "__main__":
    write("momistigri", generate())
