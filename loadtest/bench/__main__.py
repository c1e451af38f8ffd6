"""The command `python -m loadtest.bench`: it measures, prints tables and writes files."""

from collections.abc import Callable
from pathlib import Path

import click

from chatiere import engine
from chatiere.engine.memory import keep_freed_memory
from loadtest.bench import report
from loadtest.bench.measure import BenchPlan, Result
from loadtest.bench.rows import (
    fast_door,
    features,
    growth,
    in_process,
    ismcts,
    kernels,
    openspiel,
    page,
    pettingzoo,
    playout,
    rooms,
    seat_env,
    selfplay,
    strength,
    table_env,
    tables,
    trajectory,
    unary,
    web_door,
)

SUBJECTS: dict[str, Callable[[BenchPlan], Result]] = {
    "trajectory": trajectory.measure,
    "selfplay": selfplay.measure,
    "playout": playout.measure,
    "in-process": in_process.measure,
    "pettingzoo": pettingzoo.measure,
    "seat-env": seat_env.measure,
    "ismcts": ismcts.measure,
    "strength": strength.measure,
    "openspiel": openspiel.measure,
    "table-env": table_env.measure,
    "features": features.measure,
    "kernels": kernels.measure,
    "tables": tables.measure,
    "unary": unary.measure,
    "fast-door": fast_door.measure,
    "web-door": web_door.measure,
    "page": page.measure,
    "rooms": rooms.measure,
    "growth": growth.measure,
}


@click.command("python -m loadtest.bench")
@click.option(
    "--row",
    "subjects",
    type=click.Choice(list(SUBJECTS)),
    multiple=True,
    help="Measure only this subject; may be repeated.",
)
@click.option(
    "--game",
    "names",
    type=click.Choice([game.name for game in engine.games()]),
    multiple=True,
    help="Measure only this game; may be repeated.",
)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Rounds for medians.")
@click.option("--seconds", type=click.FloatRange(min=0.001), default=1.0, show_default=True, help="Seconds per run.")
@click.option("--batch", type=click.IntRange(min=1), default=1024, show_default=True, help="Games per batch.")
@click.option(
    "--warm-up", type=click.IntRange(min=0), default=150, show_default=True, help="Moves per game before measuring."
)
@click.option(
    "--moves",
    type=click.IntRange(min=1),
    default=10_000_000,
    show_default=True,
    help="Moves for the memory row.",
)
@click.option(
    "--rooms",
    "room_count",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Rooms for the rows of rooms.",
)
@click.option("--quick", is_flag=True, help="Take minutes only: 3 rounds, 0.3 s per run, a million moves, 200 rooms.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("build"),
    show_default=True,
    help="The folder for bench.json, bench-more.json and bench.png.",
)
def main(
    subjects: tuple[str, ...],
    names: tuple[str, ...],
    rounds: int,
    seconds: float,
    batch: int,
    warm_up: int,
    moves: int,
    room_count: int,
    quick: bool,
    output: Path,
) -> None:
    """Measure Chatière and its peers; docs/benchmarks.md explains the rows."""
    if quick:
        rounds, seconds, moves, room_count = 3, 0.3, 1_000_000, 200
    games = {
        game: (game.min_players + game.max_players) // 2 for game in engine.games() if not names or game.name in names
    }
    # This process is the client in the rows over gRPC.
    keep_freed_memory()
    plan = BenchPlan(games, rounds, seconds, batch, warm_up, moves, room_count)
    click.echo(report.heading(plan))
    result = Result()
    for name in subjects or SUBJECTS:
        click.echo(f"measuring: {name}", err=True)
        found = SUBJECTS[name](plan)
        result.rows += found.rows
        result.tables |= found.tables
    report.print_rows(result.rows)
    for title, lines in result.tables.items():
        report.print_table(title, lines)
    output.mkdir(parents=True, exist_ok=True)
    report.write_json(output, plan, result)
    report.draw(output / "bench.png", result)
    missed = sum(row.holds is False for row in result.rows)
    click.echo(f"\n{len(result.rows)} bounds, {missed} missed; written to {output}")


if __name__ == "__main__":
    main()
