"""chatiere train."""

from pathlib import Path

import click

from chatiere import engine
from chatiere.command.common import CommandError, progress
from chatiere.command.games import player_count
from chatiere.training.run import Run, RunError, Setting


@click.command("train")
@click.option("--game", required=True, metavar="NAME", help="The game's name.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option(
    "--decisions",
    type=click.IntRange(1),
    default=3_000_000,
    show_default=True,
    help="The number of decisions to learn from. The learning rate decreases to 0 at their end.",
)
@click.option(
    "--games",
    type=click.IntRange(1, 2**19),
    default=1024,
    show_default=True,
    help="The number of games that an iteration plays before it learns.",
)
@click.option(
    "--measure-games",
    type=click.IntRange(1, 2**17),
    default=1000,
    show_default=True,
    help="Games against each opponent after each twentieth of the decisions; four times as many at the end.",
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, help="The seed of the whole run.")
@click.option(
    "--against",
    metavar="FILE",
    help="Learn a best response to a network, a file or `trained` for the package's network, instead of by self-play.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder of the run. If it contains a run with the same options, the run continues.",
)
def command(
    game: str,
    players: int | None,
    decisions: int,
    games: int,
    measure_games: int,
    seed: int,
    against: str | None,
    output: Path,
) -> None:
    """Train a network for a game by self-play, for net:FILE. Needs chatiere[train].

    You can stop the run at any time, and continue from the last iteration by running the same command. At the end, the
    folder contains network.net, the plot curve.png, and card.md with the network's training and strength. Measurements
    are games with rotated seats against random, the game's own bot, flat:playouts=50 and the network at the previous
    measurement, or against the network of --against. They are not used for learning. A shared win counts as a fraction
    for each winner.
    """
    rules = engine.game(game)
    seats = player_count(rules, players)
    try:
        run = Run(Setting(game, seats, decisions, games, measure_games, seed, against), output)
        with progress(decisions, game) as report:
            run.go_on(report, lambda point: click.echo(f"{run.seconds:6.0f} s, {point}"))
    except (RunError, OSError) as error:
        raise CommandError(str(error)) from error
    click.echo(f"written to {output}")
