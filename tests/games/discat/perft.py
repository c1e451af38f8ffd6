"""Positions of Discat for perft.json: `PYTHONPATH=tests python -m games.discat.perft` counts them."""

import random
from typing import Any

from ..perft_file import write
from ..script import OVER
from .building import MAX_CARD
from .reference import Game
from .test_discat_reference import choose, random_options

MAX_COUNT = 8_000


def count_moves(players: int, options: dict[str, int], moves: list[int], choices: random.Random) -> tuple[int, int]:
    """Return a depth, up to 8, and its number of sequences: large, but not too large for the reference."""
    depth, count = 1, Game.perft(players, options, moves, 1)
    while depth < 8:
        # The expected growth at the next depth, from a few random games.
        leaves = []
        for _ in range(5):
            game = Game.replay(players, options, moves)
            for _ in range(depth):
                if game.question.actor != OVER:
                    game.move(choices.choice(game.question.moves))
            leaves.append(len(game.question.moves))
        if count * max(leaves) > MAX_COUNT:
            break
        depth += 1
        count = Game.perft(players, options, moves, depth)
    return depth, count


def generate() -> list[dict[str, Any]]:
    """Return positions between the first event and the last turns of random games, with their counts."""
    choices = random.Random(11)
    entries = []
    for players in MAX_CARD:
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


if __name__ == "__main__":
    write("discat", generate())
