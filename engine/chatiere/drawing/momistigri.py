"""The table of Momistigri in a terminal."""

from collections import Counter
from collections.abc import Iterable, Sequence

import click

from chatiere.v1.game_pb2 import Score
from chatiere.v1.momistigri_pb2 import (
    MOMISTIGRI_PHASE_AGAIN,
    MOMISTIGRI_PHASE_CHOICE,
    MOMISTIGRI_PHASE_DISCARD,
    MOMISTIGRI_PHASE_GIVE,
    MOMISTIGRI_PHASE_HAND_OUT,
    MOMISTIGRI_PHASE_NAME,
    MOMISTIGRI_PHASE_SWAP_IN,
    MOMISTIGRI_PHASE_SWAP_OUT,
    MomistigriSeatView,
    MomistigriView,
)

_MOMISTIGRI = 45
_TASKS = {
    MOMISTIGRI_PHASE_SWAP_OUT: "discards a card for a swap",
    MOMISTIGRI_PHASE_SWAP_IN: "takes a card of the pile for it",
    MOMISTIGRI_PHASE_DISCARD: "may discard a pair",
    MOMISTIGRI_PHASE_CHOICE: "chooses the effect or the other direction",
    MOMISTIGRI_PHASE_NAME: "names the card that the next seat must draw",
    MOMISTIGRI_PHASE_GIVE: "gives a card away",
    MOMISTIGRI_PHASE_HAND_OUT: "hands a card of the pile out",
    MOMISTIGRI_PHASE_AGAIN: "may discard another pair",
}


def draw_table(views: Sequence[MomistigriView]) -> list[str]:
    """Draw the round, the current task, each seat's hand and penalties, and the pile."""
    table = views[0]
    acts = _acting(table)
    return [
        _task(table, acts),
        *(_seat_line(seat, view.seats[seat], seat == acts) for seat, view in enumerate(views)),
        f"  pile {_cards(table.discards, 'empty')}",
    ]


def _acting(view: MomistigriView) -> int | None:
    if view.phase in (MOMISTIGRI_PHASE_SWAP_OUT, MOMISTIGRI_PHASE_SWAP_IN):
        return view.drawn_from
    return view.active_seat if view.HasField("active_seat") else None


def _task(view: MomistigriView, acts: int | None) -> str:
    way = "counter-clockwise" if view.reversed else "clockwise"
    line = f"  round {view.round}, turn {view.turn}, {way}"
    if view.phase in _TASKS:
        line += f": seat {acts} {_TASKS[view.phase]}"
    return line + (f", to seat {view.receiver}" if view.HasField("receiver") else "")


def _seat_line(seat: int, held: MomistigriSeatView, acts: bool) -> str:
    nothing = "empty" if held.in_round else "out of the round"
    hand = _cards(held.hand_cards, nothing, held.hand_size - len(held.hand_cards))
    line = f"  {'>' if acts else ' '} seat {seat}  {'passed' if held.pass_mark else '      '}  hand {hand}"
    if held.round_points:
        line += f"  penalties {' + '.join(str(points) for points in held.round_points)}"
    return click.style(line, bold=True) if acts else line


def _cards(kinds: Iterable[int], nothing: str, unknown: int = 0) -> str:
    counts = [(_name(kind), number) for kind, number in sorted(Counter(kinds).items())]
    if unknown:
        counts.append(("?", unknown))
    return " ".join(name + (f"×{number}" if number > 1 else "") for name, number in counts) or nothing


def _name(kind: int) -> str:
    # Return a card's value and colour, as in the labels of actions.
    return "Momistigri" if kind == _MOMISTIGRI else f"{kind % 9 + 1}{'ABCDE'[kind // 9]}"


def break_down(score: Score) -> list[str]:
    """Return each seat's penalties in the rounds so far, and its hand during a round."""
    words = []
    for seat in score.detail.momistigri.seats:
        parts = [f"round {number} {points}" for number, points in enumerate(seat.round_points, 1)]
        if not score.final:
            parts.append(f"hand {seat.hand_points}")
        words.append(" + ".join(parts))
    return words
