"""Kinds of events in Chat Cartonne, including the variants that the rules page distinguishes."""

from collections.abc import Iterator, Sequence
from typing import Any

from chatiere.engine import Position

from ..building import end_of, name_of, score_of, state_of
from ..script import Happening
from .reference import PRINCESS, TOYS, at

TOY_NAMES = {"m": "mouse", "b": "ball", "f": "fish"}
KINDS = (
    "first seat chosen",
    "card dealt",
    *(f"start placed {where}{turned}" for where in ("first", "north", "south") for turned in ("", ", turned")),
    "start drawn",
    "draw chosen",
    "carton drawn",
    "Princess drawn",
    *(f"{toy} drawn" for toy in TOY_NAMES.values()),
    "carton placed",
    "carton placed, turned",
    "carton at the table's edge",
    "carton in a hole",
    "carton closes a box",
    "carton joins boxes of several seats",
    "carton from a hand of three without a draw",
    *(f"asleep {when}" for when in ("instead of a draw", "with three cards", "in the final phase")),
    "asleep, the last cat of a supply",
    "asleep next to an awake cat",
    "asleep at the table's edge",
    "awake in a box without cats",
    "awake next to own cats",
    "awake among several seats' cats",
    "awake after the last carton",
    "awake, the last cat of a supply",
    "awake after a toy laid as a carton",
    *(f"woken: {count}" for count in ("one", "two", "three", "four")),
    "no cat followed",
    "toy on a joint",
    "toy on a joint, also possible as a carton",
    "toy as a carton",
    "toy as a carton, also possible on a joint",
    *(
        f"Princess {where} {whose}"
        for where in ("on a joint", "in a cell asleep", "in a cell woken")
        for whose in ("for an own cat", "for another seat's cat")
    ),
    "Princess in the final phase",
    "Princess on the last awake cat of a box with woken cats",
    "passed after a draw",
    "passed with three cards",
    "passed in the final phase",
    "final phase started by the pile",
    "final phase started by the cats",
    "end without cartons",
    "end after all passed",
    "tie broken by negative points",
    "shared",
    "result decided by a woken cat that counts half",
)
FIRST_TOY_AS_CARTON = 6349
COUNTS = ("one", "two", "three", "four")


def open_facts(state: Any) -> Any:
    """Return which seats hold a carton in the final phase."""
    return state.final_phase and [any(kind != PRINCESS for kind in seat.hand_cards) for seat in state.seats]


def kinds_of(before: Position, happened: Sequence[Happening], after: Position) -> Iterator[str]:
    """Yield the kinds of events in a move."""
    state, then = state_of(before), state_of(after)
    event_kinds = [event.kind for event in happened]
    for event in happened:
        values = event.values
        match event.kind:
            case "FIRST_SEAT_CHOSEN":
                yield "first seat chosen"
            case "CARD_DEALT":
                yield "card dealt"
            case "START_PLACED":
                centre = 24 * 11 + 11
                where = "first" if not state.table else "north" if values[2] < centre else "south"
                yield f"start placed {where}{', turned' if values[1] else ''}"
            case "START_DRAWN":
                yield "start drawn"
            case "DRAW_CHOSEN":
                yield "draw chosen"
            case "CARD_DRAWN":
                yield "Princess drawn" if values[0] == PRINCESS else "carton drawn"
            case "TOY_DRAWN":
                yield f"{TOY_NAMES[TOYS[values[0]]]} drawn"
            case "CARTON_PLACED":
                yield from kinds_of_carton(before, after, event)
            case "CAT_ASLEEP":
                yield from kinds_of_sleep(state, after, event)
            case "CAT_AWAKE":
                yield from kinds_of_cat(state, before, event)
            case "CATS_WOKEN":
                yield f"woken: {COUNTS[len(values) - 1]}"
            case "NO_CAT_FOLLOWED":
                yield "no cat followed"
            case "TOY_ON_JOINT":
                choice = max(before.legal_actions()) >= FIRST_TOY_AS_CARTON
                yield f"toy on a joint{', also possible as a carton' if choice else ''}"
            case "TOY_AS_CARTON":
                choice = min(before.legal_actions()) < FIRST_TOY_AS_CARTON
                yield f"toy as a carton{', also possible on a joint' if choice else ''}"
            case "PRINCESS_ON_JOINT" | "PRINCESS_IN_CELL":
                yield from kinds_of_princess(state, after, event)
            case "PASSED":
                drew = name_of(state, "phase") == "PLAY"
                final = "in the final phase" if state.final_phase else "with three cards"
                yield f"passed {'after a draw' if drew else final}"
            case "FINAL_PHASE_BEGUN":
                by_cats = any(held.supply == 0 for held in then.seats)
                yield f"final phase started by the {'cats' if by_cats else 'pile'}"
            case "GAME_ENDED":
                yield "end without cartons" if end_of(after) == "no_cartons" else "end after all passed"
                yield from kinds_of_result(after)
        if event.kind.startswith("PRINCESS") and state.final_phase:
            yield "Princess in the final phase"
    if "CAT_AWAKE" in event_kinds and not any(kind != PRINCESS for held in then.seats for kind in held.hand_cards):
        yield "awake after the last carton"


def box_at(position: Position, cell: int) -> Any:
    """Return the box that contains a cell."""
    return next(box for box in score_of(position).boxes if cell in box.cells)


def at_edge(cell: int) -> bool:
    """Return whether a cell is at the table's edge."""
    return any(place in (0, 23) for place in at(cell))


def neighbours(cell: int) -> list[int]:
    """Return the cells next to a cell."""
    x, y = at(cell)
    near = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
    return [24 * row + column for column, row in near if 0 <= column < 24 and 0 <= row < 24]


def seats_in(box: Any) -> set[int]:
    """Return the seats with cats in a box."""
    return {seat for seat, own in enumerate(box.by_seat) if own.awake_cats + own.woken_cats + own.sleeping_cats}


def kinds_of_carton(before: Position, after: Position, event: Happening) -> Iterator[str]:
    """Yield the kinds of placing a carton."""
    state = state_of(before)
    _, turned, cell = event.values
    yield "carton placed, turned" if turned else "carton placed"
    if at_edge(cell):
        yield "carton at the table's edge"
    taken = {card.cell for card in state.table}
    if all(near in taken for near in neighbours(cell)):
        yield "carton in a hole"
    if name_of(state, "phase") == "TURN" and not state.final_phase:
        yield "carton from a hand of three without a draw"
    box = box_at(after, cell)
    if box.closed and len(box.cells) > 1:
        yield "carton closes a box"
    earlier = [one for one in score_of(before).boxes if set(one.cells) < set(box.cells) and seats_in(one)]
    if len(earlier) > 1 and len(seats_in(box)) > 1:
        yield "carton joins boxes of several seats"


def kinds_of_sleep(state: Any, after: Position, event: Happening) -> Iterator[str]:
    """Yield the kinds of laying a sleeping cat."""
    seat, cell = event.seat or 0, event.values[0]
    three = len(state.seats[seat].hand_cards) == 3
    when = "in the final phase" if state.final_phase else "with three cards" if three else "instead of a draw"
    yield f"asleep {when}"
    if state.seats[seat].supply == 1:
        yield "asleep, the last cat of a supply"
    if at_edge(cell):
        yield "asleep at the table's edge"
    if box_at(after, cell).by_seat[seat].awake_cats:
        yield "asleep next to an awake cat"


def kinds_of_cat(state: Any, before: Position, event: Happening) -> Iterator[str]:
    """Yield the kinds of laying an awake cat."""
    seat, joint = event.seat or 0, event.values[0]
    seats = seats_in(box_at(before, joint))
    yield (
        "awake in a box without cats"
        if not seats
        else "awake next to own cats"
        if seats == {seat}
        else "awake among several seats' cats"
    )
    if state.seats[seat].supply == 1:
        yield "awake, the last cat of a supply"
    played = next(card for card in state.table if card.cell == state.just_played)
    if played.card in TOYS:
        yield "awake after a toy laid as a carton"


def kinds_of_princess(state: Any, after: Position, event: Happening) -> Iterator[str]:
    """Yield the kinds of playing a Princess."""
    place, owner = event.values
    whose = "for an own cat" if owner == event.seat else "for another seat's cat"
    if event.kind == "PRINCESS_ON_JOINT":
        yield f"Princess on a joint {whose}"
        left = box_at(after, place).by_seat[owner]
        if left.woken_cats and not left.awake_cats:
            yield "Princess on the last awake cat of a box with woken cats"
    else:
        woken = next(card.woken for card in state.table if card.cell == place)
        yield f"Princess in a cell {'woken' if woken else 'asleep'} {whose}"


def kinds_of_result(after: Position) -> Iterator[str]:
    """Yield how a tie was resolved, and whether a variant decided the result."""
    totals = after.totals()
    if totals.count(max(totals)) > 1:
        yield "shared" if len(after.winners() or ()) > 1 else "tie broken by negative points"
    for box in score_of(after).boxes:
        if len(box.majority) == 1 and state_of(after).options.half_sleepers:
            cats = [own.awake_cats + own.woken_cats for own in box.by_seat]
            if cats.count(max(cats)) > 1:
                yield "result decided by a woken cat that counts half"
