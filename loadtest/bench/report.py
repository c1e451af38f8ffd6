"""Functions that report the results as tables, files and a picture."""

import json
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from loadtest.bench.measure import BenchPlan, Result, Row, Run, machine
from loadtest.bench.servers import ROOT

try:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot
except ImportError:
    pyplot = None  # type: ignore[assignment]


def commit() -> str:
    """Return the commit that is measured, with the suffix "-dirty" if files have been changed."""
    try:
        result = subprocess.run(
            ("git", "describe", "--always", "--dirty"), cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return result.stdout.strip()


def heading(plan: BenchPlan) -> str:
    """Return a description of the machine, the commit and the plan."""
    tables = ", ".join(f"{game.name} for {players}" for game, players in plan.games.items())
    return (
        f"{machine()}; commit {commit()}; {datetime.now(UTC):%Y-%m-%d}\n"
        f"medians of {plan.rounds} rounds in which all take turns, {plan.seconds:g} s per run; {tables}"
    )


def figure(value: float | None) -> str:
    """Format a number with about three digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def print_rows(rows: Sequence[Row]) -> None:
    """Print the table of bounds, with the processor time of the runs."""
    holding = {True: "yes", False: "NO", None: "-"}
    click.echo(
        tabulate(
            [
                (
                    row.row,
                    row.game,
                    figure(row.ours),
                    figure(row.peer),
                    row.unit,
                    figure(row.ratio),
                    f"{'≤' if row.at_most else '≥'} {row.bound:g}",
                    holding[row.holds],
                    f"{figure(row.target_figure)} of {'≤ ' if row.at_most else ''}{figure(row.target)}"
                    if row.target
                    else "",
                    *_used(row.run),
                )
                for row in rows
            ],
            headers=(
                "row",
                "game",
                "ours",
                "peer",
                "unit",
                "ratio",
                "bound",
                "holds",
                "target",
                "server CPU-s",
                "client CPU-s",
                "CPU-s",
                "wall s",
            ),
            disable_numparse=True,
            colalign=("left", "left", "right", "right", "left", *["right"] * 8),
        )
    )
    for name in dict.fromkeys(f"{row.row}: {row.peer_name}" for row in rows):
        click.echo(f"peer of {name}")


def _used(run: Run | None) -> tuple[str, ...]:
    if run is None:
        return ("", "", "", "")
    return tuple(f"{seconds:.2f}" for seconds in (run.server, run.client, run.cpu, run.wall))


def print_table(title: str, lines: list[dict[str, Any]]) -> None:
    """Print one of the additional tables."""
    click.echo(f"\n{title}")
    shown = [
        {name: figure(value) if isinstance(value, float) else value for name, value in line.items()} for line in lines
    ]
    click.echo(tabulate(shown, headers="keys", disable_numparse=True))


def write_json(directory: Path, plan: BenchPlan, result: Result) -> None:
    """Write the rows to bench.json, and the heading, the runs and the additional tables to bench-more.json."""
    rows = [
        {
            "row": row.row,
            "game": row.game,
            "ours": row.ours,
            "peer": row.peer,
            "ratio": row.ratio,
            "bound": row.bound,
            "holds": row.holds,
        }
        for row in result.rows
    ]
    (directory / "bench.json").write_text(json.dumps(rows, indent=1) + "\n")
    more = {
        "heading": heading(plan),
        "rows": [
            {
                "row": row.row,
                "game": row.game,
                "unit": row.unit,
                "peer": row.peer_name,
                "bound_is": "at most" if row.at_most else "at least",
                "target": row.target,
                "target_figure": row.target_figure,
                "run": row.run and row.run._asdict(),
                "peer_run": row.peer_run and row.peer_run._asdict(),
            }
            for row in result.rows
        ],
        "tables": result.tables,
    }
    (directory / "bench-more.json").write_text(json.dumps(more, indent=1) + "\n")


def draw(path: Path, result: Result) -> None:
    """Draw bench.png: each row relative to its bound, self-play by batch size, and the server's memory."""
    if pyplot is None:
        return
    compared = [row for row in result.rows if row.ratio]
    growth = next((lines for title, lines in result.tables.items() if title.startswith("self-play by")), [])
    memory = next((lines for title, lines in result.tables.items() if "memory" in title), [])
    names = list(dict.fromkeys(row.row for row in compared))
    games = list(dict.fromkeys([*(row.game for row in compared), *(line["game"] for line in growth)]))
    drawing, (bounds, by_batch, by_moves) = pyplot.subplots(
        1, 3, figsize=(18, 2 + 0.35 * max(len(names), 12)), width_ratios=(2, 1, 1), layout="constrained"
    )
    for game in games:
        points = [
            (row.bound / row.ratio if row.at_most else row.ratio / row.bound, names.index(row.row))
            for row in compared
            if row.game == game and row.ratio
        ]
        bounds.plot([at for at, _ in points], [name for _, name in points], "o", label=game)
    bounds.axvline(1, color="black")
    bounds.set(xscale="log", xlabel="times its bound (right of the line: holds)", yticks=range(len(names)))
    bounds.set_yticklabels(names)
    bounds.invert_yaxis()
    bounds.legend()
    for game, workers in dict.fromkeys((line["game"], line["workers"]) for line in growth):
        points = [
            (line["batch"], line["moves/s"]) for line in growth if (line["game"], line["workers"]) == (game, workers)
        ]
        style = "-" if workers == 1 else "--"
        by_batch.plot(
            *zip(*points, strict=True), f"o{style}", color=f"C{games.index(game)}", label=f"{game}, {workers}"
        )
    by_batch.set(
        xscale="log",
        yscale="log",
        xlabel="games per batch",
        ylabel="moves per second",
        title="self-play over gRPC: 1 worker —, 2 workers - -",
    )
    by_moves.plot([line["moves"] / 1e6 for line in memory], [line["MB"] for line in memory], "o-")
    by_moves.set(xlabel="million moves", ylabel="MB", ylim=(0, None), title="the server's memory")
    drawing.savefig(path, dpi=80)
    pyplot.close(drawing)
