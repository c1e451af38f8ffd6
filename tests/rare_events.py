"""Play games towards kinds of events that are rare, in the kernel and the reference at once: `make rare-events`.

Each move is one that brings a rare kind, if some are tried and find one; otherwise it is random, by a style: how much
each kind of action is liked, and which cards chance likes. Many games begin with an edited state. Of a few games that
the kernel plays so from one position, the one that met most rare kinds is played again beside the reference.
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

# Of a game: the tries, each by another style, and its longest.
TRIES = 3
MOVES = 300


def explored(position: Position, style: Style, rare: set[str]) -> tuple[list[int], int]:
    """Play a game in the kernel alone; return its moves, and how many rare kinds it met."""
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
    """Look for a game that meets rare kinds, and play it in both; return the number of moves made in both."""
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
@click.option("--seconds", default=540, show_default=True, help="The most time that it takes.")
@click.option("--seed", default=1, show_default=True, help="Of the first game.")
def main(seconds: float, seed: int) -> None:
    """Play until each kind of event was met ten times, or the time is up; list those that stay rare."""
    met: dict[str, Counter[str]] = {game.name: Counter() for game in games()}
    begin, number, moves = time.monotonic(), seed, 0
    while time.monotonic() - begin < seconds:
        # A game comes as often as it has rare kinds left.
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
    print(
        f"{number - seed} games in {time.monotonic() - begin:.0f} s; {moves} moves of the best in kernel and reference"
    )
    for game in games():
        print(report(game, met[game.name]))


if __name__ == "__main__":
    main()
