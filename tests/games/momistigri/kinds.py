"""Kinds of events in Momistigri, including the variants that the rules page distinguishes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from chatiere.engine import Position
from chatiere.v1.momistigri_pb2 import MOMISTIGRI_MARK_SWAP

from ..building import end_of, name_of, state_of
from ..script import Happening
from .reference import MOMISTIGRI, colour, pairs_in, value

PAIRS = tuple(f"pair of {points}" for points in range(1, 9))
KINDS = (
    "first seat chosen",
    "second round",
    "third round",
    "round started by one of several seats with the most points",
    "card dealt",
    "Momistigri dealt",
    "draw of one",
    "draw of two",
    "draw of three",
    "draw of two, only one in hand",
    "draw of three, only two in hand",
    "draw of three, only one in hand",
    "card drawn",
    "named card drawn",
    "Momistigri drawn",
    "left when the last card was drawn",
    "left after a discard",
    "left after giving the last card",
    "left after discarding ones",
    "swap",
    "swap of a kind for itself",
    "swap with only the pair in the pile",
    "no swap because the seat has left",
    "pair of one colour",
    *PAIRS,
    *(f"{pair} and of one colour" for pair in PAIRS),
    *(f"{pair}, the last cards" for pair in PAIRS),
    *(f"{pair}, only seat in the round" for pair in PAIRS),
    "pair after a six",
    "pair of 6 after a six",
    "pass mark cleared",
    "passed",
    "passed with a pair in hand",
    "passed as the only seat",
    "passed again",
    "stopped",
    "stopped with a pair in hand",
    "stopped with an empty hand",
    *(f"ones discarded: {count}" for count in ("none", "one", "several")),
    "reversed after a pair of 1",
    "reversed after a pair of 2",
    "reversed after a pair of 3",
    "reversed with an empty hand",
    "named",
    "swap pending",
    "two pending",
    "three pending",
    "given",
    "Momistigri given",
    "handed out",
    "handed out, pile empty before all seats got a card",
    "one seat left, in its own turn",
    "one seat left, in another's turn",
    "no seat left",
    "all passed",
    "all passed because a seat left",
    "turn limit",
    "hand shown",
    "hand of more than eight shown",
    "penalty",
    "no penalty",
    "end after two rounds",
    "end after three rounds",
    "shared",
)
PENDING = {"SWAP_PENDING": "swap pending", "TWO_PENDING": "two pending", "THREE_PENDING": "three pending"}
WANTED = {"TWO_PENDING": ("two", 2), "THREE_PENDING": ("three", 3)}
COUNTS = ("", "one", "two", "three")


def open_facts(state: Any) -> None:
    """Return None, because viewers know no other facts."""


def kinds_of(before: Position, happened: Sequence[Happening], after: Position) -> Iterator[str]:
    """Yield the kinds of events in a move."""
    state = state_of(before)
    phase = name_of(state, "phase")
    active = state.active_seat
    held = Counter(state.seats[active].hand_cards)
    inside = {number for number, seat in enumerate(state.seats) if seat.in_round}
    event_kinds = [event.kind for event in happened]
    seats_left = [event.seat for event in happened if event.kind == "SEAT_LEFT"]
    for place, event in enumerate(happened):
        cards = event.values
        match event.kind:
            case "FIRST_SEAT_CHOSEN":
                yield "first seat chosen"
            case "ROUND_BEGUN":
                yield "second round" if cards[-1] == 2 else "third round"
                sums = [sum(seat.round_points) for seat in state_of(after).seats]
                if sums.count(max(sums)) > 1:
                    yield "round started by one of several seats with the most points"
            case "CARD_DEALT":
                yield "Momistigri dealt" if cards[0] == MOMISTIGRI else "card dealt"
            case "TURN_BEGUN":
                yield f"draw of {COUNTS[cards[-1]]}"
                pending = next((WANTED[kind] for kind in event_kinds[:place] if kind in WANTED), None)
                if pending and cards[-1] < pending[1]:
                    yield f"draw of {pending[0]}, only {COUNTS[cards[-1]]} in hand"
            case "CARD_DRAWN":
                yield "named card drawn" if "CARD_NAMED" in event_kinds else "card drawn"
                if cards[0] == MOMISTIGRI:
                    yield "Momistigri drawn"
                if state.mark == MOMISTIGRI_MARK_SWAP and "SEAT_LEFT" in event_kinds:
                    yield "no swap because the seat has left"
            case "SEAT_LEFT":
                yield from kinds_of_leaving(event_kinds[:place], event.seat == active)
            case "CARD_SWAPPED_IN":
                yield "swap"
                if cards[0] == state.swapped_out:
                    yield "swap of a kind for itself"
                if len(state.discards) == 3:
                    yield "swap with only the pair in the pile"
            case "PAIR_DISCARDED":
                yield from kinds_of_pair(phase, held, inside, active, cards, state)
            case "PASSED":
                yield "passed"
                if pairs_in(held):
                    yield "passed with a pair in hand"
                if inside == {active}:
                    yield "passed as the only seat"
                if state.seats[active].pass_mark:
                    yield "passed again"
            case "STOPPED":
                yield "stopped"
                if pairs_in(held):
                    yield "stopped with a pair in hand"
                if not held:
                    yield "stopped with an empty hand"
            case "ONES_DISCARDED":
                yield f"ones discarded: {('none', 'one', 'several')[min(2, len(cards))]}"
            case "DIRECTION_REVERSED":
                yield f"reversed after a pair of {state.pair_value}"
                if not held:
                    yield "reversed with an empty hand"
            case "CARD_NAMED":
                yield "named"
            case "SWAP_PENDING" | "TWO_PENDING" | "THREE_PENDING":
                yield PENDING[event.kind]
            case "CARD_GIVEN":
                yield "Momistigri given" if cards[0] == MOMISTIGRI else "given"
            case "CARD_HANDED_OUT":
                yield "handed out"
                if len(state.discards) == 1 and event.seat != last_receiver(inside - {active}, state):
                    yield "handed out, pile empty before all seats got a card"
            case "ONE_SEAT_LEFT":
                left = inside - set(seats_left)
                if not left:
                    yield "no seat left"
                else:
                    yield "one seat left, in its own turn" if left == {active} else "one seat left, in another's turn"
            case "ALL_PASSED":
                yield "all passed" if "PASSED" in event_kinds else "all passed because a seat left"
            case "TURN_LIMIT_REACHED":
                yield "turn limit"
            case "HAND_SHOWN":
                yield "hand shown"
                if happened[place - 1].kind == "HAND_SHOWN" and happened[place - 1].seat == event.seat:
                    yield "hand of more than eight shown"
            case "PENALTY_TAKEN":
                yield "penalty" if cards[-1] else "no penalty"
            case "GAME_ENDED":
                yield "end after two rounds" if end_of(after) == "two_rounds" else "end after three rounds"
                if len(after.winners() or ()) > 1:
                    yield "shared"


def last_receiver(others: set[int], state: Any) -> int:
    """Return the last seat to which cards are handed out."""
    sense = -1 if state.reversed else 1
    return max(others, key=lambda seat: (seat - state.active_seat) * sense % len(state.seats))


def kinds_of_leaving(event_kinds: Sequence[str], active: bool) -> Iterator[str]:
    """Yield the way in which a seat left the round, derived from the previous events."""
    if "CARD_DRAWN" in event_kinds and not active:
        yield "left when the last card was drawn"
    elif "CARD_GIVEN" in event_kinds:
        yield "left after giving the last card"
    elif "ONES_DISCARDED" in event_kinds:
        yield "left after discarding ones"
    else:
        yield "left after a discard"


def kinds_of_pair(
    phase: str, held: Counter[int], inside: set[int], active: int, cards: Sequence[int], state: Any
) -> Iterator[str]:
    """Yield the kinds of a pair."""
    first, second = cards
    if state.seats[active].pass_mark:
        yield "pass mark cleared"
    if phase == "AGAIN":
        yield "pair after a six"
        if value(first) == value(second) == 6:
            yield "pair of 6 after a six"
    if value(first) != value(second):
        yield "pair of one colour"
        return
    pair = f"pair of {value(first)}"
    yield pair
    if colour(first) == colour(second):
        yield f"{pair} and of one colour"
    if held.total() == 2:
        yield f"{pair}, the last cards"
    if inside == {active}:
        yield f"{pair}, only seat in the round"
