"""chatiere selfplay."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click
import numpy as np

from chatiere import engine
from chatiere.arena.matches import Exploration, Results, wilson_interval
from chatiere.command.common import SEED, CommandError, ServerAddress, progress
from chatiere.command.games import BOTS_HELP, game_option, parse_bots, parse_options, player_count
from chatiere.engine.memory import keep_freed_memory
from chatiere.selfplay.cluster import TaskError, cluster, play_on_ray
from chatiere.selfplay.dataset import GAMES_PER_SHARD, DataSet, DataSetError, Recipe
from chatiere.selfplay.shard_file import GameRange
from chatiere.selfplay.shards import ShardPlayer


@click.command("selfplay")
@click.option("--game", required=True, metavar="NAME", help="The game's name.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option("--games", type=click.IntRange(1, 10_000_000), default=1000, show_default=True, help="Games to play.")
@click.option(
    "--bots",
    "names",
    default="random",
    show_default=True,
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help=f"The bots, which take turns at the seats, shifted by one seat each game. {BOTS_HELP}",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same games.")
@click.option(
    "--random-plies",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="The number of random decisions at the beginning of each game.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Draw the actions of ismcts and networks by their shares to the power of 1/temperature; 0: choose the best.",
)
@click.option(
    "--temperature-plies",
    type=click.IntRange(0, 2**32 - 1),
    default=2**32 - 1,
    help="The number of decisions at the beginning of each game to which --temperature applies. Default: all.",
)
@game_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write all decisions to a data set in this directory, or complete an interrupted data set. "
    "Needs chatiere[data].",
)
@click.option(
    "--shard",
    type=click.IntRange(1),
    default=GAMES_PER_SHARD,
    show_default=True,
    help="The number of games in a file of the data set, and in a task of a cluster.",
)
@click.option(
    "--ray",
    metavar="ADDRESS|local",
    help="Play on the Ray cluster at this address, or start one on this machine. Needs --output and chatiere[ray].",
)
@click.option("--batch", type=click.IntRange(1), default=1024, show_default=True, help="Games per request.")
@click.option(
    "--in-flight",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="The number of concurrent requests to a server, each with different games.",
)
@click.option(
    "--address", type=ServerAddress(), help="A running server that plays the games. Default: play without a server."
)
def command(
    game: str,
    players: int | None,
    games: int,
    names: str,
    seed: int,
    random_plies: int,
    temperature: float,
    temperature_plies: int,
    given_options: tuple[str, ...],
    output: Path | None,
    shard: int,
    ray: str | None,
    batch: int,
    in_flight: int,
    address: str | None,
) -> None:
    """Let bots play many games against each other, and report who wins.

    A shared win counts as a fraction for each winner. The intervals of win rates are Wilson intervals. The games do not
    depend on --batch, --in-flight, --ray or --address.
    """
    if ray is not None and output is None:
        raise click.UsageError("--ray needs --output")
    rules = engine.game(game)
    seats = player_count(rules, players)
    chosen = [spec for spec, _ in parse_bots(rules, seats, names)]
    try:
        options = parse_options(rules, given_options)
        exploration = Exploration(random_plies, temperature, temperature_plies)
        recipe = Recipe(game, seats, games, tuple(chosen), seed, options, shard, exploration)
    except ValueError as error:
        raise CommandError(str(error)) from error
    player = ShardPlayer(recipe, address, batch, in_flight)
    keep_freed_memory()
    begun = time.perf_counter()
    try:
        with _responding(address):
            results, last = (_play(player), []) if output is None else _write(player, output, ray)
    # An OSError means that the directory cannot be used, or that no Ray cluster responds at the address.
    except (DataSetError, TaskError, ImportError, OSError) as error:
        raise CommandError(str(error)) from error
    for line in [*_report(game, chosen, results, time.perf_counter() - begun), *last]:
        click.echo(line)


def _responding(address: str | None) -> AbstractContextManager[None]:
    # Import the client only for an address, because games in this process do not need its extra.
    if address is None:
        return nullcontext()
    try:
        from chatiere.command.servers import responding
    except ModuleNotFoundError as error:
        raise ImportError("--address needs a client: pip install 'chatiere[service]'") from error
    return responding(address)


def _play(player: ShardPlayer) -> Results:
    recipe = player.recipe
    results = Results.of(recipe.games, recipe.players, len(recipe.bots))
    with progress(recipe.games, recipe.game) as report:
        for played, _ in player.play_batches(GameRange(0, recipe.games), observations=False):
            results.add(played.ended)
            report(len(played.ended.envs))
    return results


def _write(player: ShardPlayer, directory: Path, ray: str | None) -> tuple[Results, list[str]]:
    # Return the results, and lines to report about the data set.
    recipe, data_set = player.recipe, DataSet(directory, player.recipe)
    missing = data_set.missing()
    kept = recipe.games - sum(games.length for games in missing)
    with progress(recipe.games, recipe.game) as report:
        report(kept)
        if ray is None:
            for games in missing:
                data_set.add(games, player.play(games, report))
        elif missing:
            with cluster(ray):
                for games, shard in play_on_ray(player.play, missing):
                    data_set.add(games, shard)
                    report(games.length)
    lines = [f"{kept:,} games existed already"] if kept else []
    return data_set.results(), [*lines, f"written to {directory}; the games' hash is {data_set.finish()}"]


def _report(game: str, names: Sequence[str], results: Results, seconds: float) -> Iterator[str]:
    games, seats = results.bots.shape
    decisions = int(results.lengths.sum())
    yield (
        f"{game}, {seats} players: {games:,} games, {decisions:,} decisions "
        f"in {seconds:.1f} s ({decisions / seconds:,.0f} per second)"
    )
    low, median, high = np.quantile(results.lengths, (0.05, 0.5, 0.95), method="inverted_cdf")
    yield (
        f"decisions per game: mean {results.lengths.mean():.1f}, median {median}, 90 % from {low} to {high}, "
        f"shortest {results.lengths.min()}, longest {results.lengths.max()}"
    )
    for bot, name in enumerate(names):
        wins = results.wins(bot)
        low, high = wilson_interval(float(wins.mean()), len(wins))
        fair = (results.bots == bot).sum() / (seats * len(wins))
        yield (
            f"{name}: wins {wins.mean():.1%} of {len(wins):,} games (95 % interval {low:.1%} to {high:.1%}); "
            f"its share of the seats is {fair:.1%}"
        )
