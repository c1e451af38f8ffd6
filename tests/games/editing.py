"""Helpers for the games' edits of typed states. They move cards between places."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

# A repeated field of numbers.
Place = Any


def exchange(places: Sequence[Place], choices: random.Random) -> None:
    """Exchange cards between two places, if at least two places have cards."""
    filled = [place for place in places if place]
    if len(filled) < 2:
        return
    one, other = choices.sample(filled, 2)
    i, j = choices.randrange(len(one)), choices.randrange(len(other))
    one[i], other[j] = other[j], one[i]


def shift(places: Sequence[Place], choices: random.Random) -> None:
    """Move a card from one place to another, if there is any card."""
    filled = [place for place in places if place]
    if not filled:
        return
    source = choices.choice(filled)
    target = choices.choice([place for place in places if place is not source])
    target.append(source.pop(choices.randrange(len(source))))


def bring(place: Place, wanted: Iterable[int], places: Sequence[Place]) -> None:
    """Exchange as many unwanted cards of a place as possible for wanted cards from other places."""
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
    """Sort the cards of each place."""
    for place in places:
        place[:] = sorted(place)
