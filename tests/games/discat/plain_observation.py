"""A seat's observation, computed in plain Python."""

from collections.abc import Sequence
from typing import Any

from ..building import name_of
from ..plain import Parts, clockwise, flags, one_hot, padded

CARDS = range(1, 91)
SEATS = 6


def observation(view: Any, events: Sequence[Any], seat: int) -> Parts:
    """Return a mapping from the names of the observation's parts to their numbers."""
    players = len(view.seats)
    phase = name_of(view, "phase")
    deciding = None if phase in ("FIRST_SEAT", "OVER") else view.active_seat
    in_use = range(1, 30 + 10 * players + 1)
    up = set(view.options.up_arrows.cards) if view.options.HasField("up_arrows") else set(range(1, 91, 2))
    constraint = view.constraint if view.HasField("constraint") else None

    def fits(card: int) -> bool:
        if card not in in_use or constraint is None:
            return card in in_use
        return bool(card > constraint.card if constraint.card in up else card < constraint.card)

    laid = {card for seen in view.seats for card in [*(card.card for card in seen.pile), *seen.bonus_pile]}
    known = {queued.card: 1 for queued in view.queue if queued.seat == seat}
    rows = []
    for distance, other in enumerate(clockwise(seat, players)):
        seen = view.seats[other]
        if distance:
            known |= dict.fromkeys(seen.hand_cards, 1 + distance)
        top = seen.pile[-1] if seen.pile else None
        rows.append(
            [
                1,
                seen.hand_size,
                len(seen.pile),
                len(seen.bonus_pile),
                top.card if top else 0,
                int(top is not None and top.face_down),
                int(other == deciding),
                int(constraint is not None and constraint.creator == other),
            ]
        )
    order, turns = laid_in_order(view.turns)
    queue_place = {queued.card: place for place, queued in enumerate(view.queue, 1) if queued.seat == seat}
    return {
        "own_hand": flags(view.seats[seat].hand_cards, CARDS),
        "laid": flags(laid, CARDS),
        "order": [order.get(card, 0) for card in CARDS],
        "turns": [turns.get(card, 0) for card in CARDS],
        "known": [known.get(card, 0) for card in CARDS],
        "queue_place": [queue_place.get(card, 0) for card in CARDS],
        "meets_constraint": [int(fits(card)) for card in CARDS],
        "points_up": flags(up.intersection(in_use), CARDS),
        "redrawn": padded([drawn.card for drawn in view.redrawn][::-1], 30),
        "seats": padded(rows, SEATS, [0] * 8),
        "players": players,
        "draw_pile": view.draw_pile_size,
        "queue": len(view.queue),
        "passes": view.passes,
        "bonus_drawn": bonus_drawn(events),
        "last_turns_left": view.last_turns_left,
        "phase": one_hot(view.phase - 1, 8),
    }


def laid_in_order(turns: Sequence[Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the number of each card laid, and for each top the number of turns (from bit 5 on) and the exchanges."""
    order: dict[int, int] = {}
    after: dict[int, int] = {}
    top = passes = 0
    for turn in turns:
        if turn.HasField("played"):
            for top in turn.played.cards:
                order[top] = len(order) + 1
            after[top], passes = 32, 0
        else:
            after[top] += 32 + (turn.passed.exchanged << passes)
            passes += 1
    return order, after


def bonus_drawn(events: Sequence[Any]) -> int:
    """Return 1 if a bonus card has been drawn since the last play, otherwise 0."""
    for event in reversed(events):
        kind = name_of(event, "kind")
        if kind in ("BONUS_CARD_DRAWN", "CARDS_PLAYED"):
            return int(kind == "BONUS_CARD_DRAWN")
    return 0
