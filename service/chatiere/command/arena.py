"""chatiere arena."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from chatiere import bots, engine
from chatiere.arena.balance import Balance, Estimate
from chatiere.arena.matches import Results
from chatiere.arena.picture import draw, import_figure
from chatiere.arena.sequential import Sprt
from chatiere.arena.tournament import Arena, Pairing, Rate, Rating, evidence, import_model, win_rate
from chatiere.command.common import SEED, CommandError, progress
from chatiere.command.games import BOTS_HELP, game_option, parse_options, player_count
from chatiere.engine.whole_files import write_whole


class SequentialTest(click.ParamType[Sprt]):
    """The type of a sequential test."""

    name = "P0,P1[,ALPHA,BETA]"

    def convert(self, value: str | Sprt, param: click.Parameter | None, ctx: click.Context | None) -> Sprt:
        """Return the test that the value describes, if its numbers are in range."""
        if isinstance(value, Sprt):
            return value
        try:
            numbers = [float(number) for number in value.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4):
            self.fail(f"{value!r} must be {self.name}, such as 0.5,0.55", param, ctx)
        try:
            return Sprt(*numbers)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command("arena")
@click.option("--game", required=True, metavar="NAME", help="The game's name.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option(
    "--bots",
    "names",
    required=True,
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help=f"The bots. A single bot plays against itself. {BOTS_HELP}",
)
@click.option(
    "--games",
    type=click.IntRange(2, 1_000_000),
    default=200,
    show_default=True,
    help="Games per pairing; the maximum with --sprt. With --paired, a multiple of the number of players.",
)
@click.option(
    "--paired",
    is_flag=True,
    help="Play each deal with all rotations of the bots' seats. Intervals then describe deals, not games.",
)
@click.option(
    "--sprt",
    type=SequentialTest(),
    help="End a pairing once a sequential test has decided whether its first bot wins at most P0 or at least P1 of the "
    "games, with the error rates ALPHA and BETA (0.05 each).",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same games.")
@game_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write all figures to arena.json and, for two bots or more, a plot to arena.png, in this directory. "
    "Existing files are replaced.",
)
def command(
    game: str,
    players: int | None,
    names: str,
    games: int,
    paired: bool,
    sprt: Sprt | None,
    seed: int,
    given_options: tuple[str, ...],
    output: Path | None,
) -> None:
    """Let bots play a tournament, and report win rates, ratings and balance. Needs chatiere[arena].

    Every bot plays against every other bot. With n > 2 players, each bot plays one seat against n - 1 seats of the
    other bot. Seats are rotated. A shared win counts as a fraction for each winner. Intervals are Wilson intervals for
    win rates, and normal intervals for paired deals. Ratings are computed by openskill from all games. The balance
    describes the game: the number of decisions, the share of shared wins, the wins of the first seat to play, and the
    kinds of actions, with 95 % intervals.
    """
    rules = engine.game(game)
    seats = player_count(rules, players)
    try:
        options = parse_options(rules, given_options)
        arena = Arena(game, seats, tuple(bots.split(names)), games, seed, options, paired, sprt)
    except ValueError as error:
        raise CommandError(str(error)) from error
    try:
        # Check the packages before playing, because the games can take hours.
        import_model()
        if output is not None:
            import_figure()
            output.mkdir(parents=True, exist_ok=True)
    except (ImportError, OSError) as error:
        raise CommandError(str(error)) from error
    begun = time.perf_counter()
    played, balances, failures = _play(arena)
    seconds = time.perf_counter() - begun
    rated = _rate(arena, played) if len(arena.bots) > 1 else []
    for line in _report(arena, played, balances, rated, seconds):
        click.echo(line)
    for line in failures:
        click.echo(f"\n{line}", err=True)
    if output is not None:
        try:
            _write(arena, played, balances, rated, output)
        except OSError as error:
            raise CommandError(str(error)) from error
        click.echo(f"\nwritten to {output}")


def _play(arena: Arena) -> tuple[dict[Pairing, Results], dict[Pairing, Balance], list[str]]:
    # Also return a text about each bot that failed.
    pairings = arena.pairings()
    played, balances = {}, {}
    lost: Counter[str] = Counter()
    reasons: dict[str, str] = {}

    def failed(bot: str, games: int, reason: str) -> None:
        lost[bot] += games
        reasons.setdefault(bot, reason)

    with progress(len(pairings) * arena.games, arena.game) as report:
        for pairing in pairings:
            played[pairing], balances[pairing] = arena.play(pairing, report, failed)
            report(arena.games - len(played[pairing].lengths))
    return played, balances, [f"{bot} lost {lost[bot]:,} games because it failed: {reasons[bot]}" for bot in lost]


def _rate(arena: Arena, played: dict[Pairing, Results]) -> list[Rating]:
    with progress(sum(len(results.lengths) for results in played.values()), "ratings") as report:
        return arena.rate_bots(played, report)


def _write(
    arena: Arena,
    played: dict[Pairing, Results],
    balances: dict[Pairing, Balance],
    rated: Sequence[Rating],
    directory: Path,
) -> None:
    figures = json.dumps(arena.figures(played, balances, rated), indent=2, ensure_ascii=False)
    write_whole(directory / "arena.json", f"{figures}\n".encode())
    if rated:
        write_whole(directory / "arena.png", draw(arena, arena.win_rates(played), rated))


def _report(
    arena: Arena,
    played: dict[Pairing, Results],
    balances: dict[Pairing, Balance],
    rated: Sequence[Rating],
    seconds: float,
) -> Iterator[str]:
    pairings = "pairing" if len(played) == 1 else "pairings"
    decisions = sum(int(results.lengths.sum()) for results in played.values())
    yield (
        f"{arena.game}, {arena.players} players: {len(played)} {pairings} of {arena.extent()}, seed {arena.seed}; "
        f"{decisions:,} decisions in {seconds:.1f} s"
    )
    for bot in arena.unrepeatable():
        yield f"{bot} is not reproducible: the same arguments may give other games"
    yield ""
    if rated:
        rates = {pairing: win_rate(results) for pairing, results in played.items()}
        yield from _table(("bot", "against", "wins", "95 % interval", "even"), list(_rate_rows(arena, rates)))
        yield ""
        if arena.sprt is not None:
            test_heads = ("bot", "against", "games", "LLR", "bounds", "accepted")
            yield from _table(test_heads, list(_test_rows(arena, arena.sprt, played)))
            yield ""
        yield from _table(("bot", "mu", "sigma", "ordinal"), list(_rating_rows(rated)))
        yield ""
    heads = ("bot", "against", "decisions", "median", "range", "shared wins", "first seat's wins")
    yield from _table(heads, list(_balance_rows(arena, balances)))
    yield ""
    kinds = [kind.name for kind in engine.game(arena.game).description.action_kinds]
    yield from _table(("bot", "against", *kinds), list(_kind_rows(arena, balances)))


def _rate_rows(arena: Arena, rates: dict[Pairing, Rate]) -> Iterator[tuple[str, ...]]:
    for pairing, (wins, low, high) in rates.items():
        interval = f"{_percent(low)} to {_percent(high)}"
        yield *_names(arena, pairing), _percent(wins), interval, _percent(1 / arena.players)


def _test_rows(arena: Arena, sprt: Sprt, played: dict[Pairing, Results]) -> Iterator[tuple[str, ...]]:
    hypotheses = {
        "H0": f"H0: {_percent(sprt.p0)} or less",
        "H1": f"H1: {_percent(sprt.p1)} or more",
        None: "neither",
    }
    for pairing, results in played.items():
        games, llr, lower, upper, accepted = evidence(sprt, results)
        bounds = f"{lower:.2f} to {upper:.2f}"
        yield *_names(arena, pairing), f"{games:,}", f"{llr:.2f}", bounds, hypotheses[accepted]


def _rating_rows(rated: Sequence[Rating]) -> Iterator[tuple[str, ...]]:
    for bot, *figures in rated:
        yield bot, *(f"{figure:.1f}" for figure in figures)


def _balance_rows(arena: Arena, balances: dict[Pairing, Balance]) -> Iterator[tuple[str, ...]]:
    for pairing, balance in balances.items():
        mean, low, high = balance.length
        yield (
            *_names(arena, pairing),
            f"{mean:.1f} ({low:.1f} to {high:.1f})",
            str(balance.median_length),
            f"{balance.shortest} to {balance.longest}",
            _estimated(balance.shared),
            _estimated(balance.first_seat),
        )


def _kind_rows(arena: Arena, balances: dict[Pairing, Balance]) -> Iterator[tuple[str, ...]]:
    for pairing, balance in balances.items():
        yield *_names(arena, pairing), *map(_estimated, balance.kinds.values())


def _names(arena: Arena, pairing: Pairing) -> tuple[str, str]:
    others = "" if arena.players == 2 else f"{arena.players - 1} × "
    return arena.bots[pairing.alone], others + arena.bots[pairing.others]


def _estimated(share: Estimate) -> str:
    return f"{_percent(share.mean)} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    # Yield the lines of a Markdown table with aligned columns.
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, ["-" * width for width in widths], *rows):
        yield f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"
