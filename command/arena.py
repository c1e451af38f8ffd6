"""chatiere arena."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from chatiere import bots, engine
from chatiere.clients.arena import Arena, Pairing, Rate, Rating, import_model, win_rate
from chatiere.clients.arena_picture import draw, import_figure
from chatiere.clients.matches import Results
from chatiere.command.common import BOTS_HELP, SEED, CommandError, player_count


@click.command("arena")
@click.option("--game", required=True, metavar="NAME", help="The game's name.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option(
    "--bots",
    "names",
    required=True,
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help=f"The bots, two or more. {BOTS_HELP}",
)
@click.option(
    "--games", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="Games of each pairing."
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same games.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write all figures to arena.json and a picture, arena.png, in this directory. Those there are replaced.",
)
def command(game: str, players: int | None, names: str, games: int, seed: int, output: Path | None) -> None:
    """Let bots play a tournament, and report win rates and ratings. Needs chatiere[arena].

    Every bot plays every other. With n > 2 players one plays alone against n - 1 of the other, then the other way
    round. Seats are rotated. A shared win counts in parts. The intervals of win rates are Wilson's. Ratings are
    openskill's, from all games.
    """
    seats = player_count(engine.game(game), players)
    try:
        arena = Arena(game, seats, tuple(bots.split(names)), games, seed)
    except ValueError as error:
        raise CommandError(str(error)) from error
    try:
        # Before the games, which can take hours.
        import_model()
        if output is not None:
            import_figure()
            output.mkdir(parents=True, exist_ok=True)
    except (ImportError, OSError) as error:
        raise CommandError(str(error)) from error
    begun = time.perf_counter()
    played = _play(arena)
    seconds = time.perf_counter() - begun
    rated = _rate(arena, played)
    for line in _report(arena, played, rated, seconds):
        click.echo(line)
    if output is not None:
        try:
            _write(arena, played, rated, output)
        except OSError as error:
            raise CommandError(str(error)) from error
        click.echo(f"\nwritten to {output}")


def _play(arena: Arena) -> dict[Pairing, Results]:
    pairings = arena.pairings()
    with click.progressbar(length=len(pairings) * arena.games, label=arena.game, file=sys.stderr) as bar:
        return {pairing: arena.play(pairing, bar.update) for pairing in pairings}


def _rate(arena: Arena, played: dict[Pairing, Results]) -> list[Rating]:
    with click.progressbar(length=len(played) * arena.games, label="ratings", file=sys.stderr) as bar:
        return arena.rate_bots(played, bar.update)


def _write(arena: Arena, played: dict[Pairing, Results], rated: Sequence[Rating], directory: Path) -> None:
    figures = json.dumps(arena.figures(played, rated), indent=2, ensure_ascii=False)
    (directory / "arena.json").write_text(figures + "\n", "utf-8")
    (directory / "arena.png").write_bytes(draw(arena, arena.win_rates(played), rated))


def _report(arena: Arena, played: dict[Pairing, Results], rated: Sequence[Rating], seconds: float) -> Iterator[str]:
    decisions = sum(int(results.lengths.sum()) for results in played.values())
    yield (
        f"{arena.game}, {arena.players} players: {len(played)} pairings of {arena.games:,} games, seed {arena.seed}; "
        f"{decisions:,} decisions in {seconds:.1f} s"
    )
    for bot in arena.unrepeatable():
        yield f"{bot} has a limit of time: the same arguments will give other games"
    yield ""
    rates = {pairing: win_rate(results) for pairing, results in played.items()}
    yield from _table(("bot", "against", "wins", "95 % interval", "even"), list(_rate_rows(arena, rates)))
    yield ""
    yield from _table(("bot", "mu", "sigma", "ordinal"), list(_rating_rows(rated)))


def _rate_rows(arena: Arena, rates: dict[Pairing, Rate]) -> Iterator[tuple[str, ...]]:
    others = "" if arena.players == 2 else f"{arena.players - 1} × "
    for pairing, (wins, low, high) in rates.items():
        alone, against = arena.bots[pairing.alone], others + arena.bots[pairing.others]
        yield alone, against, _percent(wins), f"{_percent(low)} to {_percent(high)}", _percent(1 / arena.players)


def _rating_rows(rated: Sequence[Rating]) -> Iterator[tuple[str, ...]]:
    for bot, *figures in rated:
        yield bot, *(f"{figure:.1f}" for figure in figures)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    # A table in Markdown, in columns for the eye.
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, ["-" * width for width in widths], *rows):
        yield f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"
