"""Measure how often a bot misses a sure win: a move that ends the game immediately and wins in every world.

    python -m bots.dawdling [BOT] [POSITIONS]

This prints for each game, with the smallest number of players, how often the bot misses a sure win.
"""

import random
import sys
from collections.abc import Iterator
from itertools import chain, count, islice

from chatiere import bots, engine
from chatiere.bots import hosting
from chatiere.engine import Game, Position

# The number of worlds in which a move has to win, and the number of chance draws in each world.
WORLDS, DRAWS = 24, 2
# The search ends after this many consecutive games without a sure win.
MAX_GAMES = 200


def wins_at_once(position: Position, action: int) -> bool:
    """Return True if an action ends the game with the acting seat as the only winner in every drawn world."""
    seat = position.current_player()
    worlds = (position.resample(seat, draw, world) for world in range(WORLDS) for draw in range(DRAWS))
    # Try the true state first, because it is already available.
    return all(
        after.is_terminal() and after.returns()[seat] == position.num_players() - 1
        for after in (world.child(action) for world in chain([position], worlds))
    )


def sure_wins(position: Position) -> list[int]:
    """Return the actions that win immediately."""
    return [action for action in position.legal_actions() if wins_at_once(position, action)]


def found(game: Game) -> Iterator[tuple[Position, list[int]]]:
    """Yield positions in which some but not all actions win immediately, each with its winning actions.

    Every second game is played at random. The game's own bot plays the other games, with every fifth decision at
    random.
    """
    players = game.min_players
    own = bots.get(bots.names(game)[3], game, players)
    last = 0
    for seed in count():
        if seed - last > MAX_GAMES:
            return
        choose = random.Random(seed)
        position = game.new_game(players, seed=seed)
        while not position.is_terminal():
            legal = position.legal_actions()
            winning = sure_wins(position)
            if 0 < len(winning) < len(legal):
                last = seed
                yield position.clone(), winning
            if seed % 2 or choose.random() < 0.2:
                position.apply(choose.choice(legal))
            else:
                position.apply(int(own.choose(hosting.decisions_at(position, own, choose.getrandbits(64)))[0]))


def missed(game: Game, spec: str, positions: int) -> tuple[int, int]:
    """Return the number of sure wins that the bot misses, and the number of positions tried, at most `positions`."""
    bot = bots.get(spec, game, game.min_players)
    misses = number = 0
    for number, (position, winning) in enumerate(islice(found(game), positions), 1):
        (chosen,) = bot.choose(hosting.decisions_at(position, bot, number)).tolist()
        misses += chosen not in winning
    return misses, number


def main() -> None:
    """Print the shares for each game."""
    spec = sys.argv[1] if len(sys.argv) > 1 else "ismcts:simulations=1000"
    positions = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    for game in engine.games():
        misses, number = missed(game, spec, positions)
        share = f"{100 * misses / number:.1f} %" if number else "none to be found"
        print(f"{game.name}: {spec} misses {misses} of {number} sure wins, {share}", flush=True)


if __name__ == "__main__":
    main()
