"""chatiere perft."""

import time

import click

from chatiere.command.common import SEED
from chatiere.engine import Position, game


@click.command("perft")
@click.option("--game", "name", required=True, metavar="NAME", help="The game.")
@click.option("--players", type=int, required=True, help="The number of players.")
@click.option("--depth", type=click.IntRange(0, 100), required=True, help="The depth in moves.")
@click.option("--seed", type=SEED, help="The seed of sampled chance. Default: 1.")
@click.option("--explicit", is_flag=True, help="Use explicit chance: every outcome of a chance event counts as a move.")
@click.option("--divide", is_flag=True, help="Also print the count after each first move.")
def command(name: str, players: int, depth: int, seed: int | None, explicit: bool, divide: bool) -> None:
    """Count the sequences of moves from a new game.

    A game that ends before the depth is reached counts once. The count is written to standard output, and the time to
    standard error.
    """
    if explicit and seed is not None:
        raise click.UsageError("--explicit excludes --seed: no random numbers are drawn")
    if not explicit and seed is None:
        seed = 1
    position = game(name).new_game(players, seed=seed)
    start = time.perf_counter()
    if divide and depth > 0 and not position.is_terminal():
        total = 0
        for move, label in _moves(position):
            count = position.child(move).perft(depth - 1)
            click.echo(f"{move:>5}  {label}: {count}")
            total += count
    else:
        total = position.perft(depth)
    seconds = time.perf_counter() - start
    click.echo(total)
    click.echo(f"{seconds:.3f} s, {total / seconds:,.0f} sequences/s", err=True)


def _moves(position: Position) -> list[tuple[int, str]]:
    if position.is_chance_node():
        return [(outcome, position.outcome_label(outcome)) for outcome, _ in position.chance_outcomes()]
    return [(action, position.action_label(action)) for action in position.legal_actions()]
