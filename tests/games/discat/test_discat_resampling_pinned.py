"""Resampling, compared with a search for every placement of the hidden cards consistent with a seat's information.

resampling.json has positions of random games with few hidden cards, each with a description and the number of
consistent placements.
"""

import json
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import chisquare

from chatiere.engine import Position

from ..building import state_of
from .building import GAME, Table
from .knowledge import Knowledge, Placement
from .reference import Game

pytestmark = pytest.mark.rules("discat", "Public and hidden", "Decisions of the engine")

POSITIONS = json.loads(Path(__file__).with_name("resampling.json").read_text(encoding="utf-8"))
DRAWS_PER_PLACEMENT = 40
P_VALUE = 1e-5


def placement_of(position: Position) -> Placement:
    state = state_of(position)
    return tuple(frozenset(seat.hand_cards) for seat in state.seats), tuple(state.queue_cards)


def drawn(position: Position, seat: int, number: int, game_number: int) -> Counter[Placement]:
    packed = Counter(position.resample(seat, seed, game_number).pack() for seed in range(number))
    found: Counter[Placement] = Counter()
    for state, count in packed.items():
        found[placement_of(GAME.unpack(state))] += count
    return found


def name_of(entry: dict[str, Any]) -> str:
    return f"{entry['players']}p {', '.join(entry['what'])}: {entry['placements']}"


@pytest.mark.parametrize(("number", "entry"), list(enumerate(POSITIONS)), ids=[name_of(e) for e in POSITIONS])
def test_every_consistent_placement_is_drawn(number: int, entry: dict[str, Any]) -> None:
    players, options, seat = entry["players"], entry["options"], entry["seat"]
    position = GAME.new_game(players, options)
    for move in entry["moves"]:
        position.apply(move)
    knowledge = Knowledge(Game.replay(players, options, entry["moves"]), seat)
    possible = knowledge.placements()
    assert len(possible) == entry["placements"]
    assert placement_of(position) in possible
    found = drawn(position, seat, DRAWS_PER_PLACEMENT * len(possible), number)
    assert possible <= found.keys()
    if not knowledge.card_passed_unseen():
        assert found.keys() == possible
        assert chisquare([found[one] for one in possible]).pvalue > P_VALUE
    # Resampling a drawn position gives the same placements.
    again = drawn(position.resample(seat, 1), seat, DRAWS_PER_PLACEMENT * len(possible), number + 1000)
    assert again.keys() == found.keys()


def shown_hands(table: Table, other: int, forbidden: range, free: int, samples: int = 6000) -> None:
    """Assert that the other hand of five, resampled for seat 0, is uniform with at most `free` forbidden cards."""
    hidden = {*state_of(table.position).draw_pile_cards, *table.hand(other)}
    among = len(hidden & set(forbidden))
    expected = {count: comb(among, count) * comb(len(hidden) - among, 5 - count) for count in range(free + 1)}
    expected = {count: ways for count, ways in expected.items() if ways}
    counts = Counter(
        sum(card in forbidden for card in state_of(table.position.resample(0, seed, 77)).seats[other].hand_cards)
        for seed in range(samples)
    )
    assert counts.keys() == expected.keys()
    total = sum(expected.values())
    if len(expected) > 1:
        assert (
            chisquare(
                [counts[count] for count in expected], [samples * ways / total for ways in expected.values()]
            ).pvalue
            > P_VALUE
        )


def test_after_a_pass_with_keep_the_hand_has_no_card_that_respects_the_constraint() -> None:
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35], up_arrows=[]).play(12).draw(45, 46).keep()
    shown_hands(table, 1, range(1, 12), 0)


def test_a_card_drawn_after_a_pass_can_be_any_card() -> None:
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35], up_arrows=[]).play(12).draw(45, 46).keep()
    shown_hands(table.play(41).play(31).draw(5), 1, range(1, 12), 1)


@pytest.mark.release_only
def test_resampling_is_uniform_if_hardly_any_shuffle_is_consistent() -> None:
    # Seat 1 had no card above 8, laid two cards and drew two, so at least three of its cards are from 3 to 7. Only one
    # shuffle in a hundred is consistent. A search that stops at the first consistent deal would not be uniform.
    table = Table([8, 9, 20, 21, 22], [1, 2, 3, 4, 5], up_arrows=[8]).play(8).draw(23, 24).keep().play(9)
    shown_hands(table.play(1, 2).draw(30, 31), 1, range(8, 51), 2, samples=30_000)
