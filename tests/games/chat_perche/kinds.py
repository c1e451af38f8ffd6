"""Kinds of events in Chat perché, including the variants that the rules page distinguishes."""

from collections.abc import Iterator, Sequence
from typing import Any

from chatiere.engine import Position

from ..building import name_of, state_of
from ..script import Happening
from .reference import CARDS, START, TRUNK

CLASSES = ("dogs 1", "dogs 2", "bird", "own falls", "other falls", "one own", "one other", "two own", "two other")
MOVERS = tuple(name for name in CLASSES if name.split()[0] in ("one", "two"))
KINDS = (
    "first seat chosen",
    *(f"token of {value}" for value in range(1, 5)),
    "token placed",
    "deck refilled",
    *(f"turned up: {name}" for name in CLASSES),
    *(f"turned up: {name}, {value} steps" for name in MOVERS for value in range(1, 10)),
    "dogs stopped by the last space",
    "move from the start",
    "move on the trunk",
    "move out from the trunk",
    "move along a branch outward",
    "move along a branch inward",
    "move from a branch to the trunk",
    "move from branch to branch",
    "move by a second cat",
    "move by a second cat from the start, the first cat fallen",
    "move with barred cats",
    "move on a full trunk",
    "stopped immediately",
    "stopped after a move",
    "fall by a card, own",
    "fall by a card, the opponent's",
    "fall as a branch breaks",
    "fall of a barred cat before the second move",
    "fall from the trunk",
    "bird placed",
    "bird left",
    *(f"branch of {value} breaks by {what}" for value in range(1, 4) for what in ("a cat", "a bird")),
    "own token's branch breaks",
    "branch breaks with animals of several kinds",
    "nothing possible: bird, none left",
    "nothing possible: bird, no space",
    "nothing possible: fall",
    "nothing possible: move",
    "nothing possible: second move",
    "end",
    "shared",
    "no cat in the tree at the end",
)


def open_facts(state: Any) -> None:
    """Return None, because viewers know no other facts."""


def kinds_of(before: Position, happened: Sequence[Happening], after: Position) -> Iterator[str]:
    """Yield the kinds of events in a move."""
    state = state_of(before)
    phase = name_of(state, "phase")
    event_kinds = [event.kind for event in happened]
    for place, event in enumerate(happened):
        values = event.values
        match event.kind:
            case "FIRST_SEAT_CHOSEN":
                yield "first seat chosen"
            case "TOKEN_CHOSEN":
                yield f"token of {values[0]}"
            case "TOKEN_PLACED":
                yield "token placed"
            case "DECK_REFILLED":
                yield "deck refilled"
            case "CARD_TURNED_UP":
                name, _, steps = CARDS[values[0]].rpartition(" ")
                moves = name in MOVERS
                yield f"turned up: {name if moves else CARDS[values[0]]}"
                if moves:
                    yield f"turned up: {name}, {steps} steps"
            case "DOGS_ADVANCED":
                if CARDS[happened[place - 1].values[0]] != f"dogs {values[0]}":
                    yield "dogs stopped by the last space"
            case "CAT_MOVED":
                yield from kinds_of_move(state, phase, values)
            case "STOPPED":
                yield "stopped after a move" if phase == "SECOND_MOVE" else "stopped immediately"
            case "CAT_FELL":
                if "BRANCH_BROKE" in event_kinds:
                    yield "fall as a branch breaks"
                    if values[0] in state.barred and name_of(state_of(after), "phase") == "SECOND_MOVE":
                        yield "fall of a barred cat before the second move"
                else:
                    yield "fall by a card, own" if event.seat == state.active_seat else "fall by a card, the opponent's"
                    if values[0] in TRUNK:
                        yield "fall from the trunk"
            case "BIRD_PLACED":
                yield "bird placed"
            case "BIRD_LEFT":
                yield "bird left"
            case "BRANCH_BROKE":
                yield f"branch of {values[1]} breaks by {'a bird' if 'BIRD_PLACED' in event_kinds else 'a cat'}"
                if event.seat == state.active_seat:
                    yield "own token's branch breaks"
                gone = [(one.kind, one.seat) for one in happened[place:] if one.kind in ("CAT_FELL", "BIRD_LEFT")]
                if len(set(gone)) > 1:
                    yield "branch breaks with animals of several kinds"
            case "NOTHING_POSSIBLE":
                yield from kinds_of_nothing(state, happened)
            case "GAME_ENDED":
                yield "end"
                totals = after.totals()
                if totals[0] == totals[1]:
                    yield "shared"
                if not any(totals):
                    yield "no cat in the tree at the end"


def part_of(space: int) -> int | None:
    """Return the branch of a space, or None on the trunk."""
    return None if space in TRUNK else (space - 5) // 4


def kinds_of_move(state: Any, phase: str, values: Sequence[int]) -> Iterator[str]:
    """Yield the kinds of a move."""
    colour, start, end, _ = values
    if state.barred:
        yield "move with barred cats"
    if phase == "SECOND_MOVE":
        yield "move by a second cat"
        if start == START and not state.HasField("moved"):
            yield "move by a second cat from the start, the first cat fallen"
    if start == START:
        yield "move from the start"
    elif part_of(start) is None:
        yield "move on the trunk" if part_of(end) is None else "move out from the trunk"
        if part_of(end) is None and sum(space in TRUNK for space in state.seats[colour].cats) == 2:
            yield "move on a full trunk"
    elif part_of(end) is None:
        yield "move from a branch to the trunk"
    elif part_of(end) != part_of(start):
        yield "move from branch to branch"
    else:
        yield "move along a branch outward" if end > start else "move along a branch inward"


def kinds_of_nothing(state: Any, happened: Sequence[Happening]) -> Iterator[str]:
    """Yield the kinds of a card, or of a second move, that gives the seat no choice."""
    turned = next((event for event in happened if event.kind == "CARD_TURNED_UP"), None)
    if turned is None:
        yield "nothing possible: second move"
        return
    card = CARDS[turned.values[0]]
    if card == "bird":
        yield f"nothing possible: bird, {'none left' if len(state.birds) == 6 else 'no space'}"
    else:
        yield f"nothing possible: {'fall' if card.endswith('falls') else 'move'}"
