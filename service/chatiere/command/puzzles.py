"""chatiere puzzles."""

from pathlib import Path

import click

from chatiere import engine
from chatiere.arena.puzzles import Puzzles
from chatiere.command.common import SEED, CommandError, progress
from chatiere.command.games import player_count


@click.command("puzzles")
@click.argument("game")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option(
    "--count", type=click.IntRange(1, 1000), default=50, show_default=True, help="Stop at this number of puzzles."
)
@click.option(
    "--games",
    type=click.IntRange(1, 1_000_000),
    default=10_000,
    show_default=True,
    help="The maximum number of games, even if they give fewer puzzles.",
)
@click.option(
    "--simulations",
    type=click.IntRange(1, 25_000),
    default=1000,
    show_default=True,
    help="Playouts for each action, in each search.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same puzzles.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="Write the puzzles to this JSON file. If the file exists, the search continues.",
)
@click.option(
    "--easy",
    is_flag=True,
    help="Also accept puzzles that the game's own bot solves, for games in which other puzzles are rare.",
)
def command(
    game: str, players: int | None, count: int, games: int, simulations: int, seed: int, output: Path, easy: bool
) -> None:
    """Find puzzles of GAME: positions in which one action is much better than all others.

    The positions are taken from games of the ladder's strongest bot, at most one per game. Three tree searches must
    agree on an action whose return exceeds that of every other action by at least 0.25. The searches have only the
    information of the seat to act, and make the same number of simulations for each action. The game's own bot must not
    choose this action. A puzzle takes about 40 seconds of processor time with the defaults. You can stop the command at
    any time, and continue by running it again.
    """
    seats = player_count(engine.game(game), players)
    try:
        found = Puzzles(game, seats, seed, simulations, output, easy=easy)
        with progress(count, "puzzles") as report:
            report(len(found.puzzles))
            while len(found.puzzles) < count and found.games < games:
                report(int(found.look_through_next()))
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from error
    click.echo(f"{len(found.puzzles)} puzzles in {found.games} games: {output}")
