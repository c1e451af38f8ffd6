"""A position of Chatpentiers in a few lines, for the golden playthroughs."""

from collections.abc import Iterable

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.chatpentiers_pb2 import ChatpentiersPhase, ChatpentiersState, ChatpentiersView

COLOURS = ("grey", "green", "red", "brown", "blue")


def cards(numbers: Iterable[int]) -> str:
    """Return cards by colour: "grey 1 5, red 12"."""
    words = []
    numbers = list(numbers)
    for colour, name in enumerate(COLOURS):
        values = [str(card % 12 + 1) for card in numbers if card // 12 == colour]
        if values:
            words.append(f"{name} {' '.join(values)}")
    return ", ".join(words) or "-"


def summary(position: Position) -> str:
    """Describe the table as its host sees it: round, trick and open cards, then a line per seat."""
    codec = engine.codec("chatpentiers")
    state, view = ChatpentiersState(), ChatpentiersView()
    fill(state, codec.put_state, position)
    fill(view, codec.put_view, position, None)
    phase = ChatpentiersPhase.Name(view.phase).removeprefix("CHATPENTIERS_PHASE_").lower()
    take = f" {view.cards_to_take}" if view.cards_to_take else ""
    lines = [
        f"{phase}{take}; round {view.round}, trick {view.trick}, seat {view.leader} leads; "
        f"table {cards(view.table_cards)}; discards {len(view.discards)}; undealt {cards(state.draw_pile_cards)}"
    ]
    plays = {play.seat: cards([play.card]) for play in view.plays}
    for seat, held in enumerate(state.seats):
        zones = [f"{'zero' if zone.zone == 4 else zone.zone}: {cards(zone.cards)}" for zone in held.zones]
        shown = f" | no {' '.join(COLOURS[colour] for colour in held.shown_voids)}" if held.shown_voids else ""
        played = f" | played {plays[seat]}" if seat in plays else ""
        points = f" | points {' '.join(map(str, held.round_points))}" if held.round_points else ""
        lines.append(
            f"  seat {seat}: {cards(held.hand_cards)} | board {'; '.join(zones) or '-'}{played}{shown}{points}"
        )
    return "\n".join(lines)
