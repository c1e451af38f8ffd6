"""What the kernels cost, side by side in one run: `make bench`.

Each figure is the median of alternating rounds over the positions of random games (seeded). What a call from Python
costs anyway is measured in the same rounds and taken off where the table says "net".
"""

import platform
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import click

from chatiere.engine import Game, Position, games

ROUNDS = 7
GAMES = 40


def positions_of(game: Game, players: int) -> list[Position]:
    """Every decision of some random games."""
    found = []
    for number in range(GAMES):
        rng = random.Random(number)
        position = game.new_game(players, seed=number)
        while not position.is_terminal():
            found.append(position.clone())
            position.apply(rng.choice(position.legal_actions()))
    return found


def nanoseconds(work: Callable[[Position], object], positions: list[Position]) -> float:
    """The mean time of one call over all positions."""
    start = time.perf_counter_ns()
    for position in positions:
        work(position)
    return (time.perf_counter_ns() - start) / len(positions)


def medians(works: dict[str, Callable[[Position], object]], positions: list[Position]) -> dict[str, float]:
    """Each work's median over rounds in which all take turns."""
    rounds = [{name: nanoseconds(work, positions) for name, work in works.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(one[name] for one in rounds) for name in works}


def playout_rate(game: Game, players: int) -> float:
    """Decisions a second in random playouts, the median of the rounds."""
    rates = []
    for number in range(ROUNDS):
        starts = [game.new_game(players, seed=seed) for seed in range(1000)]
        start = time.perf_counter()
        decisions = sum(position.play_out(number, seed) for seed, position in enumerate(starts))
        rates.append(decisions / (time.perf_counter() - start))
    return statistics.median(rates)


def processor() -> str:
    """The processor's name, as well as the system tells it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


@click.command()
def main() -> None:
    """Print the table."""
    click.echo(f"{processor()}, Python {platform.python_version()}; medians of {ROUNDS} rounds, ns")
    click.echo(f"{'game':<16}{'legal':>8}{'apply':>8}{'check':>8}{'observe':>9}{'resample':>10}{'playout moves/s':>17}")
    for game in games():
        for players in range(game.min_players, game.max_players + 1):
            positions = positions_of(game, players)
            first_actions = {id(position): position.legal_actions()[0] for position in positions}
            cost = medians(
                {
                    "call": Position.num_players,
                    "clone": Position.clone,
                    "legal": Position.legal_actions,
                    "child": lambda position, actions=first_actions: position.child(actions[id(position)]),
                    "check": Position.check,
                    "observe": lambda position: position.observation(0),
                    "resample": lambda position: position.resample(0, 1),
                },
                positions,
            )
            click.echo(
                f"{game.name + ' ' + str(players):<16}"
                f"{cost['legal'] - cost['call']:>8.0f}{cost['child'] - cost['clone']:>8.0f}"
                f"{cost['check'] - cost['call']:>8.0f}{cost['observe'] - cost['call']:>9.0f}"
                f"{cost['resample'] - cost['clone']:>10.0f}{playout_rate(game, players):>17,.0f}"
            )
    click.echo("net of a call's own cost; apply and resample net of the copy that they are made on")


if __name__ == "__main__":
    main()
