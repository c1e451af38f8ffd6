"""chatiere selfplay."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import click
import numpy as np

from chatiere.clients import Client
from chatiere.clients.matches import Recording, Results, play_many, wilson_interval
from chatiere.clients.selfplay import VectorEnv
from chatiere.command.common import (
    BOTS_HELP,
    SEED,
    CommandError,
    address_option,
    info_of,
    parse_bots,
    player_count,
    reach_for_batches,
)
from chatiere.v1.game_pb2 import GameInfo


@click.command("selfplay")
@click.option("--game", required=True, metavar="NAME", help="The game's name, as listed by the server.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option("--games", type=click.IntRange(1, 10_000_000), default=1000, show_default=True, help="Games to play.")
@click.option(
    "--bots",
    "names",
    default="random",
    show_default=True,
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help=f"The bots, which take the seats in turn, shifted by one seat each game. {BOTS_HELP}",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same games.")
@click.option("--batch", type=click.IntRange(1), default=1024, show_default=True, help="Games per request.")
@click.option(
    "--in-flight",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Requests in flight at a time, each with its own games.",
)
@click.option("--output", type=click.File("wb", lazy=False), help="Write all games to this .npz file.")
@click.option("--observations", is_flag=True, help="Write the observation of each decision, too.")
@address_option
def command(
    game: str,
    players: int | None,
    games: int,
    names: str,
    seed: int,
    batch: int,
    in_flight: int,
    output: BinaryIO | None,
    observations: bool,
    address: str | None,
) -> None:
    """Let bots play many games against each other, and report who wins.

    A shared win counts in parts. The intervals of win rates are Wilson's. Neither --batch nor --in-flight changes the
    games.
    """
    if observations and output is None:
        raise click.UsageError("--observations needs --output")
    with reach_for_batches(address) as (channel, own):
        info = info_of(Client(channel), game)
        seats = player_count(info, players)
        chosen, bots = zip(*parse_bots(info, seats, names), strict=True)
        if games < len(chosen):
            raise CommandError(f"{len(chosen)} bots need at least {len(chosen)} games")
        results = Results.of(games, seats, len(bots))
        recording = Recording(observations=observations) if output is not None else None
        begun = time.perf_counter()
        with (
            VectorEnv(
                channel,
                game,
                seats,
                num_envs=min(batch * in_flight, games),
                batches=min(in_flight, games),
                games=games,
                observations=observations or any(bot.needs_observations for bot in bots),
                fast_address=own,
            ) as env,
            click.progressbar(length=games, label=info.name, file=sys.stderr) as bar,
        ):
            for played, actions in play_many(env, bots, seed):
                results.add(played.ended)
                if recording is not None:
                    recording.add(played, actions)
                bar.update(len(played.ended.envs))
        seconds = time.perf_counter() - begun
    for line in _report(info, chosen, results, seconds):
        click.echo(line)
    if recording is not None and output is not None:
        recording.save(output, info, seed, chosen, results)
        click.echo(f"written to {output.name}")


def _report(info: GameInfo, names: Sequence[str], results: Results, seconds: float) -> Iterator[str]:
    games, seats = results.bots.shape
    decisions = int(results.lengths.sum())
    yield (
        f"{info.name}, {seats} players: {games:,} games, {decisions:,} decisions "
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
