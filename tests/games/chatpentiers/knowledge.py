"""Find the placements of the hidden cards consistent with a seat's information, by brute force, for small positions.

A placement is tested by playing the round's tricks backwards. Each seat takes back the card that it played. If it did
not follow the led colour, its hand must not have had a card of this colour. This module shares no code with the kernel.
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb

from .reference import Card, Game

# The hands of all seats. The remaining hidden cards are undealt.
Placement = tuple[frozenset[Card], ...]


def hidden_cards(game: Game, seat: int) -> list[Card]:
    """Return the cards in other seats' hands, and the undealt cards."""
    return sorted(set().union(game.pack, *(hand for other, hand in enumerate(game.hands) if other != seat)))


def num_candidates(game: Game, seat: int) -> int:
    """Return the number of ways to place the hidden cards, regardless of the seat's information."""
    left, ways = len(hidden_cards(game, seat)), 1
    for other, hand in enumerate(game.hands):
        if other != seat:
            ways *= comb(left, len(hand))
            left -= len(hand)
    return ways


def candidates(game: Game, seat: int) -> Iterator[Placement]:
    """Yield all placements of the hidden cards."""

    def place(other: int, cards: frozenset[Card], so_far: Placement) -> Iterator[Placement]:
        if other == game.players:
            yield so_far
        elif other == seat:
            yield from place(other + 1, cards, (*so_far, frozenset(game.hands[seat])))
        else:
            for chosen in combinations(sorted(cards), len(game.hands[other])):
                yield from place(other + 1, cards - set(chosen), (*so_far, frozenset(chosen)))

    yield from place(0, frozenset(hidden_cards(game, seat)), ())


def agrees(game: Game, placement: Placement) -> bool:
    """Return whether every seat has followed whenever it could, given these hands."""
    hands = [set(hand) for hand in placement]
    for trick in reversed(game.tricks):
        for seat, card in reversed(trick.plays):
            hands[seat].add(card)
            led = trick.plays[0][1][0]
            if card[0] != led and any(held[0] == led for held in hands[seat]):
                return False
    return True


def placements(game: Game, seat: int) -> set[Placement]:
    """Return the placements consistent with the seat's information."""
    return {placement for placement in candidates(game, seat) if agrees(game, placement)}
