"""A position of Discat in a few lines, for the golden playthroughs."""

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.discat_pb2 import DiscatPhase, DiscatState, DiscatView


def summary(position: Position) -> str:
    """Describe the table as its host sees it: constraint and draw pile, then a line per seat."""
    codec = engine.codec("discat")
    state, view = DiscatState(), DiscatView()
    fill(state, codec.put_state, position)
    fill(view, codec.put_view, position, None)
    phase = DiscatPhase.Name(view.phase).removeprefix("DISCAT_PHASE_").lower()
    constraint = "no constraint"
    if view.HasField("constraint"):
        side = "higher" if view.constraint.higher else "lower"
        constraint = f"{side} than {view.constraint.card} of seat {view.constraint.creator}"
        constraint += ", bonus drawn" if view.constraint.bonus_drawn else ""
    pile = f"draw pile {len(state.draw_pile_cards)} unknown"
    if state.queue_cards:
        pile += " + " + ", ".join(f"{q.seat}'s {card}" for q, card in zip(view.queue, state.queue_cards, strict=True))
    if state.redrawn_cards:
        pile += f" (drawn from the queue so far: {' '.join(map(str, state.redrawn_cards))})"
    last = f"; last turns {view.last_turns_left}" if view.last_turns_left else ""
    lines = [f"{phase}; {constraint}; {pile}{last}"]
    for seat, (seen, held) in enumerate(zip(view.seats, state.seats, strict=True)):
        cards = " ".join(map(str, held.hand_cards))
        top = f", top {seen.pile[-1].card}{' face down' if seen.pile[-1].face_down else ''}" if seen.pile else ""
        bonus = f" | bonus pile {' '.join(map(str, seen.bonus_pile))}" if seen.bonus_pile else ""
        lines.append(f"  seat {seat}: hand {cards or '-'} | pile of {len(seen.pile)}{top}{bonus}")
    return "\n".join(lines)
