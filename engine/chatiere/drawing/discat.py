"""The table of Discat in a terminal."""

from collections.abc import Sequence

import click

from chatiere.v1.discat_pb2 import DISCAT_PHASE_PASS, DISCAT_PHASE_PLAY, DiscatSeatView, DiscatView
from chatiere.v1.game_pb2 import Score


def draw_table(views: Sequence[DiscatView]) -> list[str]:
    """Draw the constraint, each seat's hand and piles, and the draw pile."""
    seats = [view.seats[seat] for seat, view in enumerate(views)]
    acts = views[0].active_seat if views[0].HasField("active_seat") else None
    total = views[0].draw_pile_size
    queue = len(views[0].queue)
    returned = f", {queue} of them put under it" if queue else ""
    return [
        *_task(views[0]),
        *(_seat_line(seat, held, seat == acts) for seat, held in enumerate(seats)),
        f"  draw pile {total}{returned}",
    ]


def _task(view: DiscatView) -> list[str]:
    lines = []
    if view.phase in (DISCAT_PHASE_PLAY, DISCAT_PHASE_PASS):
        if view.HasField("constraint"):
            side = "higher" if view.constraint.higher else "lower"
            wanted = f"{side} than {view.constraint.card}, laid by seat {view.constraint.creator}"
            lines.append(f"  {'to play' if view.phase == DISCAT_PHASE_PLAY else 'has nothing'} {wanted}")
        else:
            lines.append("  to play any card" if not view.turns else "  to play any card or group")
    if view.last_turns_left:
        lines.append(f"  last turns: {view.last_turns_left} left")
    return lines


def _seat_line(seat: int, held: DiscatSeatView, acts: bool) -> str:
    cards = [*(f"{card:>2}" for card in held.hand_cards), *[" ?"] * (held.hand_size - len(held.hand_cards))]
    hand = " ".join(cards) or "empty"
    pile = f"pile {len(held.pile):>2}"
    if held.pile:
        top = held.pile[-1]
        pile += f" (top {'face down' if top.face_down else top.card})"
    line = f"  {'>' if acts else ' '} seat {seat}  hand {hand:<17}  bonus {len(held.bonus_pile)}  {pile}"
    return click.style(line, bold=True) if acts else line


def break_down(score: Score) -> list[str]:
    """Return each seat's points for the pile, the bonus pile and the hand, and mark an immediate win."""
    detail = score.detail.discat
    words = [f"pile {seat.pile_points} + bonus {seat.bonus_points} - hand {-seat.hand_points}" for seat in detail.seats]
    if detail.HasField("group_winner"):
        words[detail.group_winner] += ", won at once with a group of five or more"
    return words
