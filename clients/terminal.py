"""A match as lines for a terminal, move by move, with all hands open; styled for click.echo."""

from collections.abc import Iterable, Iterator, Sequence

import click

from chatiere.clients.match import Step
from chatiere.drawing import DRAWINGS
from chatiere.v1.game_pb2 import Event, GameInfo, Position, Score


def narrate(info: GameInfo, names: Sequence[str], beginning: Position, steps: Iterable[Step]) -> Iterator[str]:
    """Yield the lines of a match, each move's as soon as it is made.

    `names`: the name of each seat's bot. `beginning` and `steps`: from `match.begin` and `match.play`. Games without a
    drawing are shown only by their events and scores.
    """
    drawing = DRAWINGS.get(info.name)
    yield click.style(f"{info.english_title}, {len(names)} players", bold=True)
    yield from (f"  seat {seat}: {name}" for seat, name in enumerate(names))
    # A table shows the hands, so events of the deal that only some seats see are left out.
    yield from event_lines(event for event in beginning.events if event.everybody or drawing is None)
    last = beginning
    for number, (before, seat, _, after) in enumerate(steps, 1):
        yield ""
        scores = " ".join(str(total) for total in before.score.totals)
        yield click.style(f"Move {number}: seat {seat} ({names[seat]})", fg="cyan", bold=True) + f"   scores {scores}"
        if drawing is not None:
            yield from drawing.draw_table([getattr(viewer.view, info.name) for viewer in before.viewers])
        yield from event_lines(after.events)
        last = after
    yield ""
    yield click.style("Result", bold=True)
    yield from result_lines(info, names, last.score)


def event_lines(events: Iterable[Event]) -> Iterator[str]:
    """Yield a line for each event."""
    return (click.style(f"  {event.label}", fg="green") for event in events)


def result_lines(info: GameInfo, names: Sequence[str], score: Score) -> Iterator[str]:
    """Yield the lines of the score of a game that is over, best seat first. `names`: one for each seat."""
    drawing = DRAWINGS.get(info.name)
    breakdown = None if drawing is None else drawing.break_down(score)
    for seat in sorted(range(len(names)), key=lambda seat: score.ranks[seat]):
        line = f"  {score.ranks[seat]}. seat {seat} ({names[seat]}): {score.totals[seat]}"
        if breakdown is not None:
            line += f" = {breakdown[seat]}"
        yield click.style(line, bold=True) if seat in score.winners else line
    winners = " and ".join(f"seat {seat}" for seat in score.winners)
    yield f"{winners} won."
