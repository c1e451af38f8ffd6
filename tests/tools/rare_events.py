"""Play games that lead to rare kinds of events, with the kernel and with the reference: `make rare-events`.

A move leads to a rare kind of event if one of the tried moves does. Otherwise it is random. A style has weights for the
kinds of actions, and for the cards that chance draws. Many games start from an edited state. From one position, the
kernel plays several games in this way. The game with the most rare kinds is then played again with the reference.
"""

import random
import time
from collections import Counter

import click
from conformance.counting import OFTEN, kinds_after, kinds_module, kinds_of, report
from conformance.style import Style
from conformance.support import TABLES, Table, random_options, reference
from conformance.test_conformance_edited import edited
from games.script import move_both, same

from chatiere.engine import Position, games

# For each game, the number of tries (each with another style) and the maximum length.
TRIES = 3
MOVES = 300


def explored(position: Position, style: Style, rare: set[str]) -> tuple[list[int], int]:
    """Play a game only with the kernel. Return its moves, and the number of rare kinds in it."""
    position = position.clone()
    moves: list[int] = []
    met: set[str] = set()
    while len(moves) < MOVES and not position.is_terminal():
        move = style.move(position, rare - met)
        met.update(kinds_after(position, move))
        position.apply(move)
        moves.append(move)
    return moves, len(met & rare)


def play(table: Table, choices: random.Random, met: Counter[str]) -> int:
    """Search for a game with rare kinds, and play it with both. Return the number of its moves."""
    game, players = table
    rare = {kind for kind in kinds_module(game).KINDS if met[kind] < OFTEN}
    if choices.random() < 0.6:
        position, script = next(edited(table, choices))
    else:
        options = random_options(game, players, choices)
        position, script = game.new_game(players, options), reference(game)(players, options)
    moves, found = max(
        (explored(position, Style(game, choices, choices.choice((0.2, 0.7, 1))), rare) for _ in range(TRIES)),
        key=lambda one: one[1],
    )
    if not found:
        return 0
    for move in moves:
        same(position, script)
        position.check()
        before = position.clone()
        move_both(position, script, move)
        met.update(kinds_of(before, script.happened, position))
    same(position, script)
    return len(moves)


@click.command()
@click.option("--seconds", default=540, show_default=True, help="The maximum time in seconds.")
@click.option("--seed", default=1, show_default=True, help="The seed of the first game.")
def main(seconds: float, seed: int) -> None:
    """Play until each kind of event has occurred ten times, or time is up. Print the kinds that are still rare."""
    met: dict[str, Counter[str]] = {game.name: Counter() for game in games()}
    begin, number, moves = time.monotonic(), seed, 0
    while time.monotonic() - begin < seconds:
        # The probability of a game is proportional to its number of kinds that are still rare.
        left = [sum(met[game.name][kind] < OFTEN for kind in kinds_module(game).KINDS) for game, _ in TABLES]
        if not any(left):
            break
        choices = random.Random(number)
        ((game, players),) = choices.choices(TABLES, left)
        try:
            moves += play((game, players), choices, met[game.name])
        except AssertionError:
            click.echo(f"{game.name}, {players} players: kernel and reference differ in game {number}", err=True)
            raise
        number += 1
    print(f"{number - seed} games in {time.monotonic() - begin:.0f} s; {moves} moves made in both kernel and reference")
    for game in games():
        print(report(game, met[game.name]))


if __name__ == "__main__":
    main()
