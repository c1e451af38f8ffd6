"""A position of Momistigri in a few lines, for the golden playthroughs."""

from collections.abc import Iterable

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.momistigri_pb2 import (
    MOMISTIGRI_MARK_NONE,
    MomistigriKnowledge,
    MomistigriMark,
    MomistigriPhase,
    MomistigriState,
)

NAMES = {
    piece.number: str(piece.name) for piece in engine.game("momistigri").description.pieces if piece.kind == "card"
}


def summary(position: Position) -> str:
    """Describe the table as its host sees it: the round, a line per seat with what others know of it, the pile."""
    state = MomistigriState()
    fill(state, engine.codec("momistigri").put_state, position)
    phase = MomistigriPhase.Name(state.phase).removeprefix("MOMISTIGRI_PHASE_").lower().replace("_", " ")
    line = f"{phase}; round {state.round}, turn {state.turn} of seat {state.active_seat}"
    line += ", counter-clockwise" if state.reversed else ""
    if state.draws_left:
        line += f"; {state.draws_left} to draw"
    if state.mark != MOMISTIGRI_MARK_NONE:
        line += f"; mark {MomistigriMark.Name(state.mark).removeprefix('MOMISTIGRI_MARK_').lower()}"
    if state.pair_value:
        line += f"; effect of {state.pair_value}"
    if state.HasField("receiver"):
        line += f"; receiver seat {state.receiver}"
    if state.HasField("swapped_out"):
        line += f"; swapped out {NAMES[state.swapped_out]}"
    lines = [line]
    for seat, held in enumerate(state.seats):
        marks = ("" if held.in_round else " out") + (" passed" if held.pass_mark else "")
        penalties = f" | penalties {' '.join(map(str, held.round_points))}" if held.round_points else ""
        known = "".join(f" | {_knowledge(entry)}" for entry in held.knowledge)
        lines.append(f"  seat {seat}{marks}: {_cards(held.hand_cards)}{penalties}{known}")
    return "\n".join([*lines, f"  pile: {_cards(state.discards)}"])


def _cards(cards: Iterable[int]) -> str:
    return " ".join(NAMES[card] for card in cards) or "-"


def _knowledge(entry: MomistigriKnowledge) -> str:
    who = f"seat {entry.seat} knows" if entry.HasField("seat") else "all know"
    facts = [_cards(entry.cards)] if entry.cards else []
    if entry.HasField("most_ones"):
        facts.append(f"at most {entry.most_ones} of value 1")
    return f"{who} {' and '.join(facts) or 'nothing'}"
