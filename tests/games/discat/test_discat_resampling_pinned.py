"""Resampling against a search for every placement of the hidden cards that agrees with what a seat has seen.

resampling.json holds positions of random games at which few cards are hidden, what there is to say about each, and how
many placements agree.
"""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import chisquare

from chatiere.engine import Position

from ..building import state_of
from .building import GAME, Table
from .knowledge import Knowledge, Placement
from .reference import Game

POSITIONS = json.loads(Path(__file__).with_name("resampling.json").read_text(encoding="utf-8"))
DRAWS_PER_PLACEMENT = 40
P_VALUE = 1e-5


def placement_of(position: Position) -> Placement:
    state = state_of(position)
    return tuple(frozenset(hand.cards) for hand in state.hands), tuple(state.queue)


def drawn(position: Position, seat: int, number: int, game_number: int) -> Counter[Placement]:
    packed = Counter(position.resample(seat, seed, game_number).pack() for seed in range(number))
    found: Counter[Placement] = Counter()
    for state, count in packed.items():
        found[placement_of(GAME.unpack(state))] += count
    return found


def name_of(entry: dict[str, Any]) -> str:
    return f"{entry['players']}p {', '.join(entry['what'])}: {entry['placements']}"


@pytest.mark.parametrize(("number", "entry"), list(enumerate(POSITIONS)), ids=[name_of(e) for e in POSITIONS])
def test_every_placement_that_agrees_is_drawn(number: int, entry: dict[str, Any]) -> None:
    players, options, seat = entry["players"], entry["options"], entry["seat"]
    position = GAME.new_game(players, options)
    for move in entry["moves"]:
        position.apply(move)
    possible = Knowledge(Game.replay(players, options, entry["moves"]), seat).placements()
    assert len(possible) == entry["placements"]
    assert placement_of(position) in possible
    found = drawn(position, seat, DRAWS_PER_PLACEMENT * len(possible), number)
    assert possible <= found.keys()
    if players == 2:
        # With more players, what a pass showed of a card that two other hands passed on through the queue is forgotten.
        assert found.keys() == possible
        assert chisquare([found[one] for one in possible]).pvalue > P_VALUE
    # Again from a drawn position: the same placements.
    again = drawn(position.resample(seat, 1), seat, DRAWS_PER_PLACEMENT * len(possible), number + 1000)
    assert again.keys() == found.keys()


def shown_hands(table: Table, seat: int, other: int, free: int) -> None:
    """From `seat`, the other hand is uniform over sets with at most `free` cards below 12."""
    samples = 6000
    hidden = sorted(set(state_of(table.position).unknown_cards) | set(table.hand(other)))
    hands = [hand for hand in combinations(hidden, 5) if sum(card < 12 for card in hand) <= free]
    counts = Counter(
        sum(card < 12 for card in state_of(table.position.resample(seat, seed, 77)).hands[other].cards)
        for seed in range(samples)
    )
    expected = Counter(sum(card < 12 for card in hand) for hand in hands)
    assert counts.keys() == expected.keys()
    scaled = [expected[key] * samples / len(hands) for key in sorted(expected)]
    if len(scaled) > 1:
        assert chisquare([counts[key] for key in sorted(counts)], scaled).pvalue > P_VALUE


def test_after_a_pass_with_keep_the_hand_holds_no_card_on_the_right_side() -> None:
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35], up_arrows=[]).play(12).draw(45, 46).keep()
    shown_hands(table, 0, 1, 0)


def test_a_card_drawn_after_a_pass_is_any_card() -> None:
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35], up_arrows=[]).play(12).draw(45, 46).keep()
    shown_hands(table.play(41).play(31).draw(5), 0, 1, 1)
