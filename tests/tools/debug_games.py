"""Play many random games in the debug build: `make debug-games GAMES=2000`.

After every move the debug build itself checks the rules' invariants, under the sanitizers. This program only plays,
alternating explicit and sampled chance, and queries each seat's view on the way.
"""

import random
import time

import click

from chatiere.engine import EventLog, Game, games


def play(game: Game, players: int, number: int) -> int:
    """Play a whole game. Return its number of moves, including chance outcomes."""
    rng = random.Random(f"{game.name} {players} {number}")
    position = game.new_game(players, seed=number if number % 2 else None)
    moves = 0
    while not position.is_terminal():
        if position.is_chance_node():
            outcomes, weights = zip(*position.chance_outcomes(), strict=True)
            position.apply(rng.choices(outcomes, weights)[0], EventLog())
        else:
            position.apply(rng.choice(position.legal_actions()), EventLog())
        moves += 1
        if rng.random() < 0.05:
            seat = rng.randrange(players)
            position.observation(seat)
            position.resample(seat, moves).check()
            game.unpack(position.pack())
    position.returns()
    return moves


@click.command()
@click.option(
    "--games", "count", default=2000, show_default=True, help="Games played for each game and number of players."
)
def main(count: int) -> None:
    """Play `count` games for each game and number of players, and print the total number of moves."""
    for game in games():
        for players in range(game.min_players, game.max_players + 1):
            start = time.perf_counter()
            moves = sum(play(game, players, number) for number in range(count))
            seconds = time.perf_counter() - start
            click.echo(f"{game.name}, {players} players: {count} games, {moves} moves, no finding, {seconds:.0f} s")


if __name__ == "__main__":
    main()
