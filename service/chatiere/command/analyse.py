"""chatiere analyse."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import click

from chatiere.arena.picture import import_figure
from chatiere.clients import ChatiereError, Client, TransportError
from chatiere.clients.records import printable
from chatiere.command.common import SEED, CommandError, progress
from chatiere.command.formats import record_in
from chatiere.command.servers import address_option, info_of, reach
from chatiere.engine.whole_files import write_whole
from chatiere.v1.bot_service_pb2 import AnalysedDecision
from chatiere.v1.record_pb2 import GameRecord

_PLY = click.IntRange(0, 2**32 - 1)
# The number of simulations per call. A call takes a few seconds.
_AT_ONCE = 100_000
_HEADINGS = ("ply", "seat", "chances", "loss", "visits", "played", "best")


@click.command("analyse")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--from", "first", type=_PLY, default=0, metavar="PLY", help="Begin at this ply. Default: 0.")
@click.option("--to", "last", type=_PLY, metavar="PLY", help="End before the decision at this ply. Default: the end.")
@click.option(
    "--simulations",
    type=click.IntRange(1, 1_000_000),
    default=1000,
    show_default=True,
    help="Playouts for each decision.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="The seed of the search.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.png",
    help="Plot the seats' chances from ply to ply. Needs chatiere[arena].",
)
@address_option
def command(
    file: Path, first: int, last: int | None, simulations: int, seed: int, plot: Path | None, address: str | None
) -> None:
    """Judge the decisions of a record by a tree search.

    For each decision, the search uses only information that the deciding seat had. The chances of a seat are its
    expected share of the win before its decision. The loss is the reduction of these chances by the action. The value
    of an action with few visits is imprecise. The ply of a decision is the number of decisions before it.
    """
    try:
        if plot is not None:
            import_figure()
    except ImportError as error:
        raise CommandError(str(error)) from error
    record = record_in(file)
    last = len(record.actions) if last is None else last
    with reach(address) as client:
        decisions = _analysed(client, file, record, (first, last), simulations, seed)
        title = info_of(client, record.game).title
    given = [printable(name) for name in record.seat_names] or [""] * record.players
    # Include the numbers of the seats, because two seats may have the same name.
    names = [f"seat {seat} {name}".rstrip() for seat, name in enumerate(given)]
    for line in _table(decisions, names):
        click.echo(line)
    if plot is not None:
        try:
            write_whole(plot, _drawn(decisions, names, title))
        except OSError as error:
            raise CommandError(str(error)) from error
        click.echo(f"written to {plot}")


def _analysed(
    client: Client, file: Path, record: GameRecord, plies: tuple[int, int], simulations: int, seed: int
) -> list[AnalysedDecision]:
    first, last = plies
    step = max(1, _AT_ONCE // simulations)
    found: list[AnalysedDecision] = []
    try:
        with progress(max(0, last - first), "decisions") as report:
            # Request even an empty range, so that the service refuses an invalid one.
            for place in range(first, max(last, first + 1), step):
                end = min(place + step, last)
                found += client.analyse(record, place, end, simulations=simulations, seed=seed)
                report(end - place)
    except TransportError:
        raise
    except ChatiereError as error:
        raise CommandError(f"{file}: {error}") from error
    return found


def _table(decisions: Sequence[AnalysedDecision], names: Sequence[str]) -> list[str]:
    players = len(names)
    rows = [_HEADINGS]
    for each in decisions:
        best = each.best[0]
        is_best = best.action.id == each.played.action.id
        rows.append(
            (
                str(each.ply),
                names[each.seat],
                f"{_share(each.value + 1, players):.0%}",
                _loss(each, players),
                str(each.played.visits),
                each.played.action.label,
                "" if is_best else f"{best.action.label} ({best.visits} visits)",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS) - 1)]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in rows]


def _loss(decision: AnalysedDecision, players: int) -> str:
    return f"{_share(decision.loss, players):.0%}" if decision.HasField("loss") else "unknown"


def _share(returns: float, players: int) -> float:
    # A return of -1 means no share of the win. A return of players - 1 means the whole win.
    return returns / players


def _drawn(decisions: Sequence[AnalysedDecision], names: Sequence[str], title: str) -> bytes:
    # Return a PNG file with a line for each seat, and a mark at each decision that lost more than a tenth.
    figure = import_figure()(figsize=(10, 5))
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    for seat, name in enumerate(names):
        own = [each for each in decisions if each.seat == seat]
        chances = [_share(each.value + 1, len(names)) for each in own]
        (line,) = axes.plot([each.ply for each in own], chances, marker=".", label=name)
        worst = [(each.ply, chance) for each, chance in zip(own, chances, strict=True) if _is_mistake(each, len(names))]
        axes.plot([ply for ply, _ in worst], [chance for _, chance in worst], "v", color=line.get_color(), markersize=9)
    axes.set_title(title)
    axes.set_xlabel("ply (marked: a tenth of the win or more was lost)")
    axes.set_ylabel("chances")
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.legend()
    file = BytesIO()
    figure.savefig(file, format="png", dpi=120)
    return file.getvalue()


def _is_mistake(decision: AnalysedDecision, players: int) -> bool:
    return _share(decision.loss, players) >= 0.1
