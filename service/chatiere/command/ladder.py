"""chatiere ladder."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import click

from chatiere import bots, engine
from chatiere.arena.ladder import Match, Measurement, Share, check_chain, propose
from chatiere.bots.games import GAME_BOTS
from chatiere.bots.ladder import FILE, Rung, ladder
from chatiere.command.common import SEED, CommandError, progress
from chatiere.command.games import player_count
from chatiere.engine import Game
from chatiere.engine.whole_files import write_whole

# The number of Elo points by which the lowest rung should be below the game's own bot. The rung then scores 17 % of the
# points.
_LOWEST = 275


@click.command("ladder")
@click.argument("game")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option(
    "--games",
    type=click.IntRange(1, 1_000_000),
    default=2000,
    show_default=True,
    help="The maximum number of games of a match, which ends earlier if its interval is within ± 6 points.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same games.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="Write all games to this JSON file. If the file exists, the measurement continues.",
)
@click.option(
    "--propose",
    "chain",
    metavar="BOT,BOT,…",
    help="Measure these bots instead, strongest first, and print rungs between them. Adjacent bots differ in one "
    "parameter.",
)
@click.option(
    "--write",
    is_flag=True,
    help="Write strengths and times into the package's ladder. Only for the game's minimum number of players.",
)
def command(
    game: str, players: int | None, games: int, seed: int, output: Path, chain: str | None, write: bool
) -> None:
    """Measure the ladder of GAME, the bots to play against by strength.

    For each rung, the command measures its share of points against the next lower rung, and its thinking time. Deals
    are paired, and seats are rotated. With more than two players, each bot plays one seat against the other bot. The
    points are then the share of pairs of seats, one seat of each bot, in which the higher rung finished ahead. A tie
    counts half. The lowest rung also plays against the game's own bot. You can stop the command at any time, and
    continue by running it again.
    """
    rules = engine.game(game)
    seats = player_count(rules, players)
    if write and (chain is not None or seats != rules.min_players):
        raise CommandError("--write is for the existing ladder, with the fewest players")
    own = next(iter(GAME_BOTS[game]))
    try:
        measurement = Measurement(game, seed, output)
        if chain is not None:
            for bot in _propose(measurement, seats, games, bots.split(chain), own):
                click.echo(bot)
            return
        rungs = [rung._replace(bot=rung.bot_for(seats)) for rung in ladder(rules)]
        matches = [Match(seats, higher.bot, lower.bot) for lower, higher in pairwise(rungs)]
        *shares, against_own = _measure(measurement, [*matches, Match(seats, own, rungs[0].bot)], games)
        measured = _with_figures(rungs, shares, [measurement.seconds(rung.bot, seats) for rung in rungs])
        if write:
            _write(rules, measured)
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from error
    for line in _report(measured, shares, own, against_own):
        click.echo(line)


def _propose(measurement: Measurement, players: int, games: int, chain: Sequence[str], own: str) -> list[str]:
    check_chain(chain)
    middle = len(chain) // 2
    matches = [Match(players, *pair) for pair in pairwise(chain)]
    *shares, of_own = _measure(measurement, [*matches, Match(players, own, chain[middle])], games)
    lowest = sum(share.elo() for share in shares[:middle]) - of_own.elo() + _LOWEST
    return propose(chain, shares, lowest)


def _measure(measurement: Measurement, matches: Sequence[Match], games: int) -> list[Share]:
    shares = []
    with progress(len(matches) * games, "games") as report:
        for match in matches:
            shares.append(measurement.measure(match, games, report))
            report(games - shares[-1].games)
    return shares


def _with_figures(rungs: Sequence[Rung], shares: Sequence[Share], seconds: Sequence[float]) -> list[Rung]:
    strengths = [0.0]
    for share in shares:
        strengths.append(strengths[-1] + share.elo())
    return [
        rung._replace(strength=round(strength), seconds=round(each, 6))
        for rung, strength, each in zip(rungs, strengths, seconds, strict=True)
    ]


def _write(game: Game, rungs: Sequence[Rung]) -> None:
    ladders = json.loads(FILE.read_text(encoding="utf-8"))
    for entry, rung in zip(ladders[game.name], rungs, strict=True):
        entry.update(strength=rung.strength, seconds=rung.seconds)
    write_whole(FILE, f"{json.dumps(ladders, indent=1, ensure_ascii=False)}\n".encode())


def _report(rungs: Sequence[Rung], shares: Sequence[Share], own: str, against_own: Share) -> Iterator[str]:
    yield "| rung | bot | strength | a decision | of the points against | | 95 % interval | games |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for place, rung in enumerate(rungs):
        points, low, high, games = shares[place - 1] if place else _of_lower(against_own)
        other = rungs[place - 1].title if place else f"`{own}`"
        yield (
            f"| {rung.title} | `{rung.bot}` | {rung.strength} | {1000 * rung.seconds:.1f} ms "
            f"| {other} | {100 * points:.1f} % | {100 * low:.1f} to {100 * high:.1f} % | {games} |"
        )


def _of_lower(share: Share) -> Share:
    return Share(1 - share.points, 1 - share.high, 1 - share.low, share.games)
