"""Find by brute force the deals consistent with a seat's knowledge, and the number of ways in which each can occur.

A deal counts once for each way to assign distinct cards to the other seats' draws and the pile's places (rules file:
"Decisions of the engine"). Every placement of the Princesses is tried with all hands, whereas the kernel counts with
formulas. This module shares no code with the kernel.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import comb, factorial, perm, prod
from typing import Any

from chatiere.engine import Position

from ..building import state_of, view_of
from .reference import PRINCESS

# The hands, and the seat that drew the Princess of each part.
Deal = tuple[tuple[tuple[int, ...], ...], tuple[int | None, ...]]


def only_pattern(kind: int) -> int:
    """Return the first kind with the same walls. Princesses are a separate kind."""
    return kind if kind == PRINCESS else kind // 9 * 9


def deal_of(position: Position, patterns: bool = False) -> Deal:
    """Return the hidden cards. With `patterns`, cartons in hands are represented by their walls."""
    state = state_of(position)
    drawers = tuple(part.princess_drawn_by if part.HasField("princess_drawn_by") else None for part in state.parts)
    return tuple(
        tuple(map(only_pattern, seat.hand_cards) if patterns else seat.hand_cards) for seat in state.seats
    ), drawers


def all_deals(position: Position, viewer: int, patterns: bool = False) -> dict[Deal, Fraction]:
    """Return every deal consistent with the viewer's knowledge, with its number of ways (up to a common factor)."""
    state = state_of(position)
    others = [seat for seat in range(len(state.seats)) if seat != viewer]
    hidden = [kind for seat in others for kind in state.seats[seat].hand_cards if kind != PRINCESS] + list(
        state.draw_pile_cards
    )
    cartons = Counter(only_pattern(kind) if patterns else kind for kind in hidden if kind < 72)
    deals: dict[Deal, Fraction] = {}
    for held, drawers, ways in _princesses(position, viewer):
        weight = Fraction(ways)
        sizes = {seat: len(state.seats[seat].hand_cards) - held[seat] for seat in others}
        if min(sizes.values()) < 0 or sum(sizes.values()) > cartons.total():
            continue
        if state.final_phase and any((sizes[seat] > 0) != _holds_carton(state.seats[seat]) for seat in others):
            continue
        for seat in others:
            # The seat's cartons can have been dealt and drawn in any order, whereas the hand has no order.
            drawn = sum(part.cards_drawn for part in state.seats[seat].by_part)
            weight *= factorial(2 + drawn - princesses_played(state.seats[seat]) - held[seat])
        # The cards of the pile can be in any order.
        weight *= factorial(len(hidden) - sum(sizes.values()))
        for hands, choices in _hands(state, cartons, [(seat, sizes[seat], held[seat]) for seat in others]):
            own = deal_of(position, patterns)[0][viewer]
            whole = tuple(own if seat == viewer else hands[seat] for seat in range(len(state.seats)))
            deals[whole, drawers] = weight * choices
    return deals


def princesses_played(seat: Any) -> int:
    """Return the number of Princesses that a seat has played."""
    return sum(part.princesses_played for part in seat.by_part)


def _holds_carton(seat: Any) -> bool:
    return any(kind != PRINCESS for kind in seat.hand_cards)


def _princesses(position: Position, viewer: int) -> Iterator[tuple[dict[int, int], tuple[int | None, ...], int]]:
    # Yield the number of Princesses that each other seat holds, the seat that drew each Princess, and the number of
    # ways.
    state = state_of(position)
    lefts = [part.cards_left for part in view_of(position, None).parts]
    others = [seat for seat in range(len(state.seats)) if seat != viewer]
    played = {seat: princesses_played(state.seats[seat]) for seat in others}
    if len(lefts) == 1:
        # All Princesses are in one part. The Princesses that are not on the table are distinct, as are the other draws
        # and the places in the pile.
        unlocated = 5 - sum(princesses_played(seat) for seat in state.seats)
        unlocated -= list(state.seats[viewer].hand_cards).count(PRINCESS)
        for counts in product(range(unlocated + 1), repeat=len(others)):
            if sum(counts) <= unlocated:
                held = dict(zip(others, counts, strict=True))
                rest, ways = unlocated, 1
                for seat, count in held.items():
                    ways *= comb(rest, count) * perm(state.seats[seat].by_part[0].cards_drawn - played[seat], count)
                    rest -= count
                if ways * perm(lefts[0], rest):
                    yield held, (None,), ways * perm(lefts[0], rest)
        return
    options: list[list[tuple[int | None, int]]] = []
    for part, left in enumerate(lefts):
        drawer = state.parts[part].princess_drawn_by if state.parts[part].HasField("princess_drawn_by") else None
        if drawer == viewer:
            options.append([(viewer, 1)])
        else:
            drawn = [(seat, state.seats[seat].by_part[part].cards_drawn) for seat in others]
            options.append([(who, ways) for who, ways in ((None, left), *drawn) if ways])
    for chosen in product(*options):
        drawers = tuple(who for who, _ in chosen)
        ways = prod(count for _, count in chosen) * prod(_ways_played(state, seat, drawers) for seat in others)
        if ways:
            yield {seat: drawers.count(seat) - played[seat] for seat in others}, drawers, ways


def _ways_played(state: Any, seat: int, drawers: tuple[int | None, ...]) -> int:
    # Return the number of ways to assign the Princesses that the seat played to those that it drew. A seat cannot have
    # played a Princess before drawing her.
    drew = [part for part, who in enumerate(drawers) if who == seat]
    played = [part for part, had in enumerate(state.seats[seat].by_part) for _ in range(had.princesses_played)]
    return sum(
        all(of <= when for of, when in zip(chosen, played, strict=True)) for chosen in permutations(drew, len(played))
    )


def _hands(
    state: Any, cartons: Counter[int], seats: list[tuple[int, int, int]]
) -> Iterator[tuple[dict[int, tuple[int, ...]], int]]:
    # Yield the hands with these numbers of cartons and Princesses, and the number of ways to choose each.
    if not seats:
        yield {}, 1
        return
    (seat, size, princesses), *further = seats
    for chosen in combinations_with_replacement(sorted(cartons), size):
        taken = Counter(chosen)
        ways = prod(comb(cartons[kind], count) for kind, count in taken.items())
        hand = (*chosen, *(PRINCESS,) * princesses)
        if ways and _fits(state.seats[seat].shown, hand):
            for rest, choices in _hands(state, cartons - taken, further):
                yield {seat: hand, **rest}, ways * choices


def _fits(shown: Any, hand: tuple[int, ...]) -> bool:
    # Return True if some order of the hand's cards agrees with the facts that the passes showed about each card.
    def may_be(kind: int, each: Any) -> bool:
        return not each.not_princess if kind == PRINCESS else kind // 9 not in each.not_patterns

    return any(
        all(may_be(kind, each) for kind, each in zip(order, shown, strict=False)) for order in permutations(hand)
    )
