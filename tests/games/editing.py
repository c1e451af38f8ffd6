"""Helpers of the games' edits of typed states: cards that change places."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

# A repeated field of numbers.
Place = Any


def exchange(places: Sequence[Place], choices: random.Random) -> None:
    """Exchange a card of one place with one of another, if there are cards in two of them."""
    filled = [place for place in places if place]
    if len(filled) < 2:
        return
    one, other = choices.sample(filled, 2)
    i, j = choices.randrange(len(one)), choices.randrange(len(other))
    one[i], other[j] = other[j], one[i]


def shift(places: Sequence[Place], choices: random.Random) -> None:
    """Put a card of one place into another, if there is any."""
    filled = [place for place in places if place]
    if not filled:
        return
    source = choices.choice(filled)
    target = choices.choice([place for place in places if place is not source])
    target.append(source.pop(choices.randrange(len(source))))


def bring(place: Place, wanted: Iterable[int], places: Sequence[Place]) -> None:
    """Bring wanted cards into a place, each in exchange for one that isn't wanted, as far as there are such."""
    wanted = set(wanted)
    for slot, card in enumerate(place):
        if card in wanted:
            continue
        for other in places:
            if other is place:
                continue
            found = next((i for i, there in enumerate(other) if there in wanted), None)
            if found is not None:
                place[slot], other[found] = other[found], card
                break


def sort(places: Iterable[Place]) -> None:
    """Put the cards of each place in order."""
    for place in places:
        place[:] = sorted(place)
