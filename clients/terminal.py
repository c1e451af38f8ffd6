"""A game as lines for a terminal, move by move, with all hands open; the styles are click's, for click.echo."""

from collections.abc import Iterable, Iterator, Sequence

import click

from chatiere.clients.games import GAME_SUPPORT
from chatiere.clients.match import Step
from chatiere.v1.game_pb2 import Event, GameInfo, Position, Score


def narrate(info: GameInfo, names: Sequence[str], beginning: Position, steps: Iterable[Step]) -> Iterator[str]:
    """The lines of a match, each as soon as it has happened.

    `names`: who plays each seat. `beginning` and `steps` as from `match.begin` and `match.play`. Games without a table
    of their own are told by their events and scores alone.
    """
    support = GAME_SUPPORT.get(info.name)
    yield click.style(f"{info.english_title}, {len(names)} players", bold=True)
    yield from (f"  seat {seat}: {name}" for seat, name in enumerate(names))
    # Where the table shows the hands, how each card got there at the start need not be told.
    yield from _events(event for event in beginning.events if event.everybody or support is None)
    last = beginning
    for number, (before, seat, _, after) in enumerate(steps, 1):
        yield ""
        scores = " ".join(str(total) for total in before.score.totals)
        yield click.style(f"Move {number}: seat {seat} ({names[seat]})", fg="cyan", bold=True) + f"   scores {scores}"
        if support is not None:
            yield from support.draw_table(before)
        yield from _events(after.events)
        last = after
    yield ""
    yield click.style("Result", bold=True)
    yield from _result(names, last.score, support.break_down(last.score) if support is not None else None)


def _events(events: Iterable[Event]) -> Iterator[str]:
    return (click.style(f"  {event.label}", fg="green") for event in events)


def _result(names: Sequence[str], score: Score, breakdown: Sequence[str] | None) -> Iterator[str]:
    for seat in sorted(range(len(names)), key=lambda seat: score.ranks[seat]):
        line = f"  {score.ranks[seat]}. seat {seat} ({names[seat]}): {score.totals[seat]}"
        if breakdown is not None:
            line += f" = {breakdown[seat]}"
        yield click.style(line, bold=True) if seat in score.winners else line
    winners = " and ".join(f"seat {seat}" for seat in score.winners)
    yield f"{winners} won."
