"""Kinds of events in Discat, including the variants that the rules page distinguishes."""

from collections.abc import Iterator, Sequence
from typing import Any

from chatiere.engine import Position

from ..building import end_of, score_of, view_of
from ..script import Happening

SIZES = ("two", "three", "four", "five", "six")
KINDS = (
    "first seat chosen",
    "card dealt",
    "first card of the game",
    "single card under higher",
    "single card under lower",
    "single card without a constraint",
    *(f"group of {size} by {digit}" for size in SIZES for digit in ("tens", "units")),
    "group of five or six in the last turns",
    "card to the bonus pile",
    "card to the bonus pile, higher than the top",
    *(
        f"{draw} from {source}"
        for draw in ("bonus", "exchange", "refill")
        for source in ("the unknown cards", "the queue", "the queue, put there by the same seat")
    ),
    "sixth card",
    "refill of several cards",
    "top turned",
    "creator's top turned",
    "pass without a card on the pile",
    "pass on a top already turned",
    "pass without a bonus, the draw pile empty",
    "kept with a draw pile",
    "kept without a draw pile",
    "exchanged",
    "constraint lifted",
    "last turns started",
    "another empty hand in the last turns",
    "end by a group",
    "end after the last turns",
    "tie broken by bonus cards",
    "shared",
)
DRAWS = {"BONUS_CARD_DRAWN": "bonus", "EXCHANGE_DRAWN": "exchange", "CARD_REFILLED": "refill"}


def open_facts(state: Any) -> None:
    """Return None, because viewers know no other facts."""


def kinds_of(before: Position, happened: Sequence[Happening], after: Position) -> Iterator[str]:
    """Yield the kinds of events in a move."""
    view, then = view_of(before, None), view_of(after, None)
    queue = [queued.seat for queued in view.queue]
    unknown = view.draw_pile_size - len(queue)
    refilled = 0
    decided = False
    for event in happened:
        seat = event.seat or 0
        match event.kind:
            case "FIRST_SEAT_CHOSEN":
                yield "first seat chosen"
            case "CARD_DEALT":
                yield "card dealt"
                unknown -= 1
            case "CARDS_PLAYED":
                decided = True
                yield from kinds_of_play(view, event)
            case "CARD_TO_BONUS_PILE":
                yield "card to the bonus pile"
                top = next(one for one in happened if one.kind == "CARDS_PLAYED").values[-1]
                if event.values[0] > top:
                    yield "card to the bonus pile, higher than the top"
            case "BONUS_CARD_DRAWN" | "EXCHANGE_DRAWN" | "CARD_REFILLED":
                source = "the unknown cards"
                if unknown:
                    unknown -= 1
                else:
                    source = "the queue, put there by the same seat" if queue.pop(0) == seat else "the queue"
                yield f"{DRAWS[event.kind]} from {source}"
                refilled += event.kind == "CARD_REFILLED"
                if event.kind == "BONUS_CARD_DRAWN" and then.seats[seat].hand_size == 6:
                    yield "sixth card"
            case "TOP_TURNED":
                lifted = any(one.kind == "CONSTRAINT_LIFTED" and one.seat == seat for one in happened)
                yield "creator's top turned" if lifted else "top turned"
            case "HAND_KEPT" | "CARD_EXCHANGED":
                decided = True
                yield from kinds_of_pass(view, event)
                if event.kind == "CARD_EXCHANGED":
                    queue.append(seat)
            case "CONSTRAINT_LIFTED":
                yield "constraint lifted"
            case "LAST_TURNS_BEGUN":
                yield "last turns started"
            case "GAME_ENDED":
                yield "end by a group" if end_of(after) == "group" else "end after the last turns"
                if end_of(after) != "group":
                    yield from kinds_of_result(after)
    if refilled > 1:
        yield "refill of several cards"
    emptied = view.seats[view.active_seat].hand_size and not then.seats[view.active_seat].hand_size
    if decided and view.last_turns_left and emptied and not then.HasField("group_winner"):
        yield "another empty hand in the last turns"


def kinds_of_play(view: Any, event: Happening) -> Iterator[str]:
    """Yield the elements of KINDS that apply to a play. `view` is the view before the move."""
    cards = event.values
    if not view.turns:
        yield "first card of the game"
    elif len(cards) > 1:
        for digit, values in (("tens", {card // 10 for card in cards}), ("units", {card % 10 for card in cards})):
            if len(values) == 1:
                yield f"group of {SIZES[len(cards) - 2]} by {digit}"
        if len(cards) > 4 and view.last_turns_left:
            yield "group of five or six in the last turns"
    elif not view.HasField("constraint"):
        yield "single card without a constraint"
    else:
        yield f"single card under {'higher' if view.constraint.higher else 'lower'}"


def kinds_of_pass(view: Any, event: Happening) -> Iterator[str]:
    """Yield the elements of KINDS that apply to a pass. `view` is the view before the move."""
    seat = view.seats[view.active_seat]
    if event.kind == "CARD_EXCHANGED":
        yield "exchanged"
    else:
        yield "kept with a draw pile" if view.draw_pile_size else "kept without a draw pile"
    if not seat.pile:
        yield "pass without a card on the pile"
    # The top lies face down in any case, because this pass has turned it. It did so before if the seat's previous turn
    # was a pass.
    earlier = [turn for turn in view.turns if turn.seat == view.active_seat]
    if seat.pile and earlier and earlier[-1].WhichOneof("turn") == "passed":
        yield "pass on a top already turned"
    if view.HasField("constraint") and not view.constraint.bonus_drawn:
        yield "pass without a bonus, the draw pile empty"


def kinds_of_result(after: Position) -> Iterator[str]:
    """Yield how a tie was resolved."""
    scores = [
        (seat.pile_points + seat.bonus_points + seat.hand_points, seat.bonus_points) for seat in score_of(after).seats
    ]
    best = max(total for total, _ in scores)
    leading = [bonus for total, bonus in scores if total == best]
    if leading.count(max(leading)) > 1:
        yield "shared"
    elif len(leading) > 1:
        yield "tie broken by bonus cards"
