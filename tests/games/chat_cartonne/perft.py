"""Positions for Chat Cartonne's perft.json: `PYTHONPATH=tests python -m games.chat_cartonne.perft` counts them."""

import random
from typing import Any

from ..perft_file import write
from ..script import OVER
from .reference import Game
from .test_chat_cartonne_reference import choose, random_options

# The maximum number of positions whose successors the reference counts at the second-to-last depth.
MAX_POSITIONS = 8100


def deepest(game: Game) -> tuple[int, int]:
    """Return the largest depth before the end of the game with at most MAX_POSITIONS positions, and the count there."""
    depth, before, count = 1, 0, game.count(1)
    while before < count <= MAX_POSITIONS:
        depth, before, count = depth + 1, count, game.count(depth + 1)
    return depth, count


def generate() -> list[dict[str, Any]]:
    """Return positions between the first event and the end of games in which seats build a lot, with their counts."""
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


if __name__ == "__main__":
    write("chat_cartonne", generate())
