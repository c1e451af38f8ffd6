"""A seat's observation, computed in plain Python."""

from collections.abc import Sequence
from typing import Any

from ..building import name_of
from ..plain import Parts, clockwise, is_set, one_hot, padded

SEATS = 5


def observation(view: Any, _: Sequence[Any], seat: int) -> Parts:
    """Return a mapping from the names of the observation's parts to their numbers."""
    players = len(view.seats)
    order = clockwise(seat, players)
    copies = list(view.options.copies) or usual_copies()

    def placed(cards: Sequence[int]) -> list[int]:
        return [
            int(copy < list(cards).count(kind)) for kind, number in enumerate([*copies, 1]) for copy in range(number)
        ]

    known = [placed(view.seats[other].hand_cards) for other in order[1:]]
    return {
        "own_hand": placed(view.seats[seat].hand_cards),
        "pile": placed(view.discards),
        "unseen": placed(view.unseen_cards),
        "known": padded(known, SEATS - 1, [0] * 46),
        "known_to_all": padded([placed(view.seats[other].known_to_all) for other in order], SEATS, [0] * 46),
        "copies": copies,
        "seats": padded([seat_numbers(view, other) for other in order], SEATS, [0] * 14),
        "players": players,
        "round": view.round,
        "turn": view.turn,
        "reversed": int(view.reversed),
        "draws_left": view.draws_left,
        "pair_value": view.pair_value,
        "swapped_out": 1 + view.swapped_out if view.HasField("swapped_out") else 0,
        "mark": one_hot(view.mark - 1, 4),
        "phase": one_hot(view.phase - 1, 12),
    }


def usual_copies() -> list[int]:
    """Return the number of cards of each kind in the box. If cards are sorted by value, card i has colour i mod 5."""
    values = [value for value in range(1, 10) for _ in range(10 - value)]
    kinds = [9 * (card % 5) + value - 1 for card, value in enumerate(values)]
    return [kinds.count(kind) for kind in range(45)]


def seat_numbers(view: Any, other: int) -> list[int]:
    """Return the numbers of a seat in the part `seats`."""
    seen = view.seats[other]
    phase = name_of(view, "phase")
    playing = phase not in ("FIRST_SEAT", "DEAL", "OVER")
    swaps = phase in ("SWAP_OUT", "SWAP_IN")
    decides = view.drawn_from if swaps else view.active_seat
    return [
        1,
        seen.hand_size,
        int(seen.in_round),
        int(seen.pass_mark),
        int(playing and view.active_seat == other),
        int(playing and phase != "DRAW" and decides == other),
        is_set(view, "drawn_from", other),
        is_set(view, "receiver", other),
        is_set(view, "round_first_seat", other),
        1 + seen.most_ones if seen.HasField("most_ones") else 0,
        1 + seen.most_ones_known_to_all if seen.HasField("most_ones_known_to_all") else 0,
        *padded(seen.round_points, 3),
    ]
