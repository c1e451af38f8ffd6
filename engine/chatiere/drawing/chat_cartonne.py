"""The table of Chat Cartonne in a terminal."""

from collections.abc import Mapping, Sequence

import click

from chatiere.v1.chat_cartonne_pb2 import (
    CHAT_CARTONNE_PHASE_CAT,
    CHAT_CARTONNE_PHASE_PLAY,
    CHAT_CARTONNE_PHASE_TOY,
    ChatCartonneCardView,
    ChatCartonneSeatView,
    ChatCartonneView,
)
from chatiere.v1.game_pb2 import Score

_SIDE = 24
# The number of cells that fit next to each other into a terminal of 80 characters.
_STRIP = 14
_CONTENTS = (("mice", "m"), ("balls", "b"), ("fish", "f"), ("sprayers", "!"))
_TOYS = {72: "M", 73: "B", 74: "F"}
_KINDS = {75: "Princess"}
_TASKS = {
    CHAT_CARTONNE_PHASE_PLAY: "  to play a card of the hand",
    CHAT_CARTONNE_PHASE_TOY: "  to play the toy card at once",
    CHAT_CARTONNE_PHASE_CAT: "  a cat may follow the carton just played",
}


def draw_table(views: Sequence[ChatCartonneView]) -> list[str]:
    """Draw each seat's hand and cats, the pile, and the cards on the table."""
    view = views[0]
    acts = view.active_seat if view.HasField("active_seat") else None
    task = [_TASKS[view.phase]] if view.phase in _TASKS else []
    phase = ", final phase" if view.final_phase else ""
    seats = [_seat_line(seat, own.seats[seat], seat == acts, view.final_phase) for seat, own in enumerate(views)]
    return [*task, *seats, f"  pile {view.draw_pile_size}{phase}", *_cards(view)]


def _seat_line(seat: int, held: ChatCartonneSeatView, acts: bool, final: bool) -> str:
    cards = [_KINDS.get(kind, str(kind)) for kind in held.hand_cards] or ["?"] * held.hand_size
    hand = " ".join(cards) or "empty"
    done = "  no carton left" if final and not held.holds_carton else ""
    line = f"  {'>' if acts else ' '} seat {seat}  hand {hand:<17}  cats left {held.supply}{done}"
    return click.style(line, bold=True) if acts else line


def _cards(view: ChatCartonneView) -> list[str]:
    # Each cell is five characters wide and three lines high. "#" is a wall. "m", "b", "f" and "!" are the contents of a
    # carton. "z1" is a sleeping cat of seat 1, "w1" is a woken cat, and "P" is the Princess. The joint to the east of a
    # cell shows the seat number of an awake cat, "P", or "M", "B" or "F" for two toys.
    if not view.table:
        return []
    cells = {card.laid.cell: card for card in view.table}
    rows = range(min(cells) // _SIDE, max(cells) // _SIDE + 1)
    columns = range(min(cell % _SIDE for cell in cells), max(cell % _SIDE for cell in cells) + 1)
    lines = []
    for first in range(columns.start, columns.stop, _STRIP):
        lines += _strip(cells, rows, range(first, min(first + _STRIP, columns.stop)))
    return lines


def _strip(cells: Mapping[int, ChatCartonneCardView], rows: range, columns: range) -> list[str]:
    lines = ["       " + "".join(f"{column + 1:^5}" for column in columns).rstrip()]
    for row in rows:
        drawn = [_cell(cells.get(_SIDE * row + column)) for column in columns]
        for number, parts in enumerate(zip(*drawn, strict=True)):
            label = f"{row + 1:>4}   " if number == 1 else "       "
            lines.append((label + "".join(parts)).rstrip())
    return lines


def _cell(seen: ChatCartonneCardView | None) -> tuple[str, str, str]:
    if seen is None:
        return "     ", "     ", "     "
    card = seen.laid
    what = card.WhichOneof("lies")
    if what == "sleeping_cat":
        inside = f"{'w' if card.woken else 'z'}{card.sleeping_cat}"
    elif what == "princess":
        inside = "P"
    else:
        inside = "".join(sign * getattr(seen, name) for name, sign in _CONTENTS)
    lies = card.on_joint.WhichOneof("lies") if card.HasField("on_joint") else None
    east = "#" if seen.wall_east else " "
    if lies == "cat":
        east = str(card.on_joint.cat)
    elif lies == "toy":
        east = _TOYS[card.on_joint.toy]
    elif lies == "princess":
        east = "P"
    north, south = (f"+{'###' if wall else '   '}+" for wall in (seen.wall_north, seen.wall_south))
    return north, f"{'#' if seen.wall_west else ' '}{inside:^3}{east}", south


def break_down(score: Score) -> list[str]:
    """Return each seat's points for the boxes in which it has the majority, its bonuses and its negative points."""
    detail = score.detail.chat_cartonne
    words = []
    for number, seat in enumerate(detail.seats):
        boxes = sum(box.points for box in detail.boxes if number in box.majority)
        bonus = sum(box.by_seat[number].bonus_points for box in detail.boxes)
        words.append(f"boxes {boxes} + bonus {bonus} (negative points {seat.negative_points})")
    return words
