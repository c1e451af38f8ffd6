"""The table of Chatpentiers in a terminal."""

from collections.abc import Iterable, Sequence

import click

from chatiere.v1.chatpentiers_pb2 import (
    CHATPENTIERS_PHASE_PLAY,
    CHATPENTIERS_PHASE_TAKE,
    ChatpentiersSeatView,
    ChatpentiersView,
)
from chatiere.v1.game_pb2 import Score

_VALUES = 12
_ZERO_ZONE = 4
# The name of each colour, and the terminal's name for it, by number.
_COLOURS = (("grey", "bright_black"), ("green", "green"), ("red", "red"), ("brown", "yellow"), ("blue", "blue"))


def draw_table(views: Sequence[ChatpentiersView]) -> list[str]:
    """Draw the round and trick, the cards on the table, and each seat's hand and board."""
    public = views[0]
    leads = f", seat {public.leader} leads" if public.HasField("leader") else ""
    lines = [f"  round {public.round}, trick {public.trick}{leads}", f"  table   {_table(public)}"]
    if public.phase == CHATPENTIERS_PHASE_TAKE:
        ranking = ", ".join(f"seat {seat}" for seat in public.ranking)
        cards = "1 card" if public.cards_to_take == 1 else f"{public.cards_to_take} cards"
        lines.append(f"  rank    {ranking}; seat {public.active_seat} takes {cards}")
    for seat, view in enumerate(views):
        lines += _seat_lines(seat, view.seats[seat], view)
    return lines


def _cards(numbers: Iterable[int]) -> str:
    """Return cards grouped by colour, for example "grey 1 5, red 12"."""
    values: dict[int, list[str]] = {}
    for number in sorted(numbers):
        values.setdefault(number // _VALUES, []).append(str(number % _VALUES + 1))
    words = (
        click.style(f"{_COLOURS[colour][0]} {' '.join(held)}", fg=_COLOURS[colour][1])
        for colour, held in values.items()
    )
    return ", ".join(words) or "-"


def _table(view: ChatpentiersView) -> str:
    words = []
    if view.HasField("extra_card"):
        words.append(f"extra {_cards([view.extra_card])}{_taken(view, view.extra_card)}")
    words += [f"seat {play.seat}: {_cards([play.card])}{_taken(view, play.card)}" for play in view.plays]
    return " | ".join(words) or "-"


def _taken(view: ChatpentiersView, card: int) -> str:
    return "" if card in view.table_cards else " (taken)"


def _seat_lines(seat: int, held: ChatpentiersSeatView, view: ChatpentiersView) -> list[str]:
    decides = view.phase in (CHATPENTIERS_PHASE_PLAY, CHATPENTIERS_PHASE_TAKE) and seat == view.active_seat
    shown = " ".join(_COLOURS[colour][0] for colour in held.shown_voids)
    cards = _cards(held.hand_cards) if held.hand_cards or not held.hand_size else f"?×{held.hand_size}"
    hand = f"  {'>' if decides else ' '} seat {seat}  hand   {cards}"
    if shown:
        hand += f"  (has shown: no {shown})"
    board = f"            board  {_board(held, view.section_limits)}"
    if held.round_points:
        board += f"  earlier rounds {' + '.join(map(str, held.round_points))}"
    return [hand, board]


def _board(held: ChatpentiersSeatView, limits: Sequence[int]) -> str:
    zones = {zone.zone: zone.cards for zone in held.zones}
    words = []
    for section, limit in enumerate(limits):
        cards = zones.get(section, ())
        words.append(f"[{section + 1}: {_cards(cards)}, {len(cards)} of {limit}]")
    if _ZERO_ZONE in zones:
        words.append(f"[zero: {_cards(zones[_ZERO_ZONE])}]")
    return " ".join(words)


def break_down(score: Score) -> list[str]:
    """Return each seat's points in each round, with a breakdown of the last board."""
    words = []
    for seat in score.detail.chatpentiers.seats:
        rounds = " + ".join(str(points) for points in seat.round_points)
        sections = " ".join(str(points) for points in seat.section_points)
        perfect = f"{seat.perfect_sections} perfect, bonus {seat.bonus_points}"
        words.append(f"{rounds} (last board: sections {sections}, zero zone {seat.zero_zone_points}, {perfect})")
    return words
