"""Lines of text that show matches and records in a terminal, move by move, styled for click.echo."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import click

from chatiere.clients.match import Step
from chatiere.drawing import DRAWINGS
from chatiere.v1.game_pb2 import (
    TURN_KIND_DECISION,
    TURN_KIND_OVER,
    Event,
    GameInfo,
    Position,
    Score,
    ViewerUpdate,
)


def narrate(info: GameInfo, names: Sequence[str], beginning: Position, steps: Iterable[Step]) -> Iterator[str]:
    """Yield the lines of a match while the match is played. The lines of a move follow when the move is made.

    Games without a drawing are shown only by their events and scores.

    Args:
        info: The description of the game.
        names: The name of each seat's bot.
        beginning: The position returned by `match.begin`.
        steps: The steps yielded by `match.play`.
    """
    drawing = DRAWINGS.get(info.name)
    yield click.style(f"{info.title}, {len(names)} players", bold=True)
    yield from (f"  seat {seat}: {name}" for seat, name in enumerate(names))
    # A drawing of the table shows the hands, so events of the deal that only some seats see are omitted.
    yield from event_lines(event for event in beginning.events if event.everybody or drawing is None)
    last = beginning
    for number, (before, seat, _, after) in enumerate(steps, 1):
        yield ""
        scores = " ".join(str(total) for total in before.score.totals)
        yield click.style(f"Move {number}: seat {seat} ({names[seat]})", fg="cyan", bold=True) + f"   scores {scores}"
        if drawing is not None:
            yield from drawing.draw_table([getattr(viewer.view, info.name) for viewer in before.updates])
        yield from event_lines(after.events)
        last = after
    yield ""
    yield click.style("Result", bold=True)
    yield from result_lines(info, names, last.score)


def show_stretch(
    info: GameInfo, names: Sequence[str], positions: Sequence[Position], first: int, *, hands_open: bool
) -> Iterator[str]:
    """Yield the lines of a range of a record.

    Args:
        info: The description of the game.
        names: The names, one per seat.
        positions: The positions returned by Client.replay, with the score.
        first: The ply of the first position.
        hands_open: True to show all hands. The positions then include the views of all seats. With False, the positions
            include the view of one viewer, and only the information that this viewer may know is shown.
    """
    drawing = DRAWINGS.get(info.name)
    yield click.style(f"{info.title}, {len(names)} players", bold=True)
    yield from (f"  seat {seat}: {name}" for seat, name in enumerate(names))

    def table(position: Position) -> Iterator[str]:
        if drawing is not None:
            views = [getattr(update.view, info.name) for update in position.updates]
            yield from drawing.draw_table(views if hands_open else views * len(names))

    def events(position: Position) -> Iterator[str]:
        return event_lines(position.events if hands_open else position.updates[0].events)

    if first == 0:
        yield from events(positions[0])
    for ply, (before, after) in enumerate(pairwise(positions), first + 1):
        yield ""
        scores = _scores(before.score if hands_open else before.updates[0])
        seat = before.turn.seat
        yield click.style(f"Move {ply}: seat {seat} ({names[seat]})", fg="cyan", bold=True) + scores
        yield from table(before)
        yield from events(after)
    last = positions[-1]
    yield ""
    if last.turn.kind == TURN_KIND_OVER:
        yield click.style("Result", bold=True)
        yield from result_lines(info, names, last.score)
        return
    ply = first + len(positions) - 1
    waits = f"seat {last.turn.seat} has to act" if last.turn.kind == TURN_KIND_DECISION else "a chance event is pending"
    yield click.style(f"After move {ply}: {waits}", fg="cyan", bold=True) + _scores(
        last.score if hands_open else last.updates[0]
    )
    yield from table(last)


def _scores(known: Score | ViewerUpdate) -> str:
    # Return the totals, with ? for a total that the viewer may not know.
    if isinstance(known, Score):
        totals = [str(total) for total in known.totals]
    else:
        totals = [str(each.total) if each.HasField("total") else "?" for each in known.score.totals]
    return f"   scores {' '.join(totals)}"


def event_lines(events: Iterable[Event]) -> Iterator[str]:
    """Yield one line for each event."""
    return (click.style(f"  {event.label}", fg="green") for event in events)


def result_lines(info: GameInfo, names: Sequence[str], score: Score) -> Iterator[str]:
    """Yield the lines of the score of a game that is over, best seat first. `names` has one name for each seat."""
    drawing = DRAWINGS.get(info.name)
    breakdown = None if drawing is None else drawing.break_down(score)
    for seat in sorted(range(len(names)), key=lambda seat: score.ranks[seat]):
        line = f"  {score.ranks[seat]}. seat {seat} ({names[seat]}): {score.totals[seat]}"
        if breakdown is not None:
            line += f" = {breakdown[seat]}"
        yield click.style(line, bold=True) if seat in score.winners else line
    winners = " and ".join(f"seat {seat}" for seat in score.winners)
    yield f"{winners} won."
