"""A seat's observation, computed in plain Python."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..building import name_of
from ..plain import Parts, flags, is_set, one_hot

SPACES = range(45)
BRANCHES = range(10)
VALUES = range(1, 5)
TOKENS = (1, 2, 3, 3, 4)
# The number of cards of each type. The types are dogs 1 and 2, bird, own cat falls and opponent's cat falls. The other
# types have a value each: one own cat, one of the opponent's cats, two own cats, and two of the opponent's cats.
DECK = (
    2,
    1,
    3,
    1,
    2,
    *(0, 1, 2, 2, 2, 1, 0, 0, 0),
    *(0, 1, 1, 1, 0, 0, 0, 0, 0),
    *(0, 0, 0, 1, 1, 2, 1, 0, 0),
    *(0, 0, 0, 1, 0, 0, 0, 0, 0),
)


def observation(view: Any, _: Sequence[Any], seat: int) -> Parts:
    """Return a mapping from the names of the observation's parts to their numbers."""
    own, other = view.seats[seat], view.seats[1 - seat]
    phase = name_of(view, "phase")
    animals = Counter((space - 5) // 4 for space in [*own.cats, *other.cats, *view.birds] if space >= 5)
    tokens = Counter(view.options.solidity or TOKENS)
    shown = Counter(branch.solidity for branch in view.branches if is_set(branch, "token_owner", 1 - seat))
    deck = [card for card, copies in enumerate(view.options.deck or DECK) for _ in range(copies)]
    return {
        "own_cats": flags(own.cats, SPACES),
        "other_cats": flags(other.cats, SPACES),
        "birds": flags(view.birds, SPACES),
        "barred": flags(view.barred, SPACES),
        "moved": [is_set(view, "moved", space) for space in SPACES],
        "branches": [
            [
                is_set(branch, "token_owner", seat) + 2 * is_set(branch, "token_owner", 1 - seat)
                for branch in view.branches
            ],
            [branch.solidity for branch in view.branches],
            [int(branch.broken) for branch in view.branches],
            [animals[branch] for branch in BRANCHES],
            [branch.greatest_load for branch in view.branches],
        ],
        "tokens": [
            [Counter(own.unplaced_solidity)[value] for value in VALUES],
            [tokens[value] - shown[value] for value in VALUES],
            [tokens[value] for value in VALUES],
        ],
        "decks": [deck, left_of(deck, own.draw_pile_cards), left_of(deck, other.draw_pile_cards)],
        "card": [is_set(view, "card", card) for card in range(41)],
        "steps_left": view.steps_left,
        "own_start": 12 - len(own.cats),
        "other_start": 12 - len(other.cats),
        "birds_beside": 6 - len(view.birds),
        "dog_steps": view.dog_steps,
        "dog_track": view.dog_track,
        "forward_only": int(view.options.forward_only),
        "takes_first_turn": is_set(view, "first_seat", seat),
        "own_turn": int(phase not in ("FIRST_SEAT", "OVER") and view.active_seat == seat),
        "phase": one_hot(view.phase - 1, 8),
    }


def left_of(deck: list[int], left: Any) -> list[int]:
    """Return flags for the cards of a full deck that are left. Of equal cards, the last are left."""
    counts = Counter(left)
    return [int(deck[place:].count(card) <= counts[card]) for place, card in enumerate(deck)]
