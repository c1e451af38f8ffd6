"""A position of Chat perché in a few lines, for the golden playthroughs."""

from collections import Counter

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.chat_perche_pb2 import ChatPerchePhase, ChatPercheState

CARD_NAMES = [str(piece.name) for piece in engine.game("chat_perche").description.pieces if piece.kind == "card"]


def summary(position: Position) -> str:
    """Describe the table as its host sees it: card turned up, branches with tokens and animals, starts, decks."""
    state = ChatPercheState()
    fill(state, engine.codec("chat_perche").put_state, position)
    animals = dict.fromkeys(state.birds, "b")
    for seat, name in enumerate("GB"):
        animals |= dict.fromkeys(state.seats[seat].cats, name)
    # Cats that must not be moved.
    fixed = [*state.barred, state.moved] if state.HasField("moved") else state.barred
    animals |= {space: animals[space] + "!" for space in fixed}
    phase = ChatPerchePhase.Name(state.phase).removeprefix("CHAT_PERCHE_PHASE_").lower()
    card = f"; {CARD_NAMES[state.card]}" if state.HasField("card") else ""
    steps = f", steps left {state.steps_left}" if state.steps_left else ""
    lines = [
        f"{phase} of seat {state.active_seat}{card}{steps}; dogs {state.dog_steps}; birds beside {6 - len(state.birds)}"
    ]
    for height in range(4, -1, -1):
        sides = []
        for number in (height, 5 + height):
            branch = state.branches[number]
            token = f"{branch.token_owner}:{branch.solidity}" if branch.HasField("token_owner") else "---"
            places = [animals.get(5 + 4 * number + place, ".") for place in range(4)]
            sides.append((token, ["x"] * 4 if branch.broken else places, branch.greatest_load))
        (left_token, left, left_load), (right_token, right, right_load) = sides
        west = "".join(f"{place:>3}" for place in reversed(left))
        east = "".join(f"{place:>3}" for place in right)
        lines.append(
            f"  {left_token} {left_load} {west}  |{animals.get(height, '.'):>2} |{east}  {right_token} {right_load}"
        )
    for seat, message in enumerate(state.seats):
        deck = " ".join(f"{card}x{count}" for card, count in Counter(message.draw_pile_cards).items())
        lines.append(f"  seat {seat}: {12 - len(message.cats)} at the start; deck {deck or 'empty'}")
    return "\n".join(lines)
