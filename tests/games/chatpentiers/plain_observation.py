"""A seat's observation, computed in plain Python."""

from collections.abc import Sequence
from typing import Any

from ..building import name_of
from ..plain import Parts, clockwise, flags, one_hot, padded

CARDS = range(60)
COLOURS = range(5)
SEATS = 5
TRICKS = {3: 11, 4: 14, 5: 12}
BONUS = (0, 0, 1, 2, 4)


def observation(view: Any, _: Sequence[Any], seat: int) -> Parts:
    """Return a mapping from the names of the observation's parts to their numbers."""
    players = len(view.seats)
    order = clockwise(seat, players)
    trick = {play.card: 1 + order.index(play.seat) for play in view.plays}
    if view.HasField("extra_card"):
        trick[view.extra_card] = 6
    removed = view.removed_colour if view.HasField("removed_colour") else None
    return {
        "own_hand": flags(view.seats[seat].hand_cards, CARDS),
        "table": flags(view.table_cards, CARDS),
        "trick": [trick.get(card, 0) for card in CARDS],
        "discards": flags(view.discards, CARDS),
        "unseen": flags(view.unseen_cards, CARDS),
        "boards": padded([flags(board(view.seats[other]), CARDS) for other in order], SEATS, [0] * 60),
        "seats": padded([seat_numbers(view, other) for other in order], SEATS, [0] * 25),
        "players": players,
        "round": view.round,
        "tricks": TRICKS[players],
        "section_limits": list(view.section_limits),
        "colours_in_use": [int(colour != removed) for colour in COLOURS],
        "led_colour": one_hot(view.plays[0].card // 12 if view.plays else -1, 5),
        "undealt": view.draw_pile_size,
        "discarded": len(view.discards),
        "to_take": view.cards_to_take,
        "phase": one_hot(view.phase - 1, 6),
    }


def board(seen: Any) -> list[int]:
    """Return the cards under a seat's board."""
    return [card for zone in seen.zones for card in zone.cards]


def board_score(seen: Any, limits: list[int]) -> tuple[int, int]:
    """Return the sum of a seat's current board, and its perfect sections ("Score of a round, a seat")."""
    total = perfect = 0
    for zone in seen.zones:
        limit = 0 if zone.zone == 4 else limits[zone.zone]
        cards = len(zone.cards)
        total += cards if cards <= limit else limit - cards
        perfect += cards == limit
    return total + BONUS[perfect], perfect


def seat_numbers(view: Any, other: int) -> list[int]:
    """Return the numbers of a seat in the part `seats`."""
    seen = view.seats[other]
    phase = name_of(view, "phase")
    begun = phase != "FIRST_SEAT"
    finished = padded(seen.round_points, 2)
    total, perfect = board_score(seen, list(view.section_limits))
    zones = {zone.cards[0] // 12: 1 + zone.zone for zone in seen.zones}
    return [
        1,
        seen.hand_size,
        *finished,
        max(0, total),
        max(0, -total),
        perfect,
        int(begun and phase != "OVER" and view.active_seat == other),
        int(begun and view.leader == other),
        sum(finished) + max(0, total),
        *flags(seen.shown_voids, COLOURS),
        *(zones.get(colour, 0) for colour in COLOURS),
        *(sum(card // 12 == colour for card in board(seen)) for colour in COLOURS),
    ]
