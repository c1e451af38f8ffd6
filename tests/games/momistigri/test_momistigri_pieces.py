"""MomistigriPieces has the numbers of the rules file. The kernel uses the same numbers."""

from collections import Counter

import pytest
from tools.over import over

from ..building import event_of, name_of, phase, view_of
from ..played import details_of, played
from .building import GAME, PLAYERS, card, deck, name

pytestmark = pytest.mark.rules("momistigri", "Components and setup")

DETAILS = details_of(GAME)
KINDS = {info.card: info for info in DETAILS.cards}
COPIES = [info.total_copies for info in DETAILS.cards[:45]]
# Each effect maps to the phase to which a pair leads. Each number of draws maps to the mark that the pair leaves.
PHASES = {"GIVE": "GIVE", "HAND_OUT": "HAND_OUT", "AGAIN": "AGAIN"}
PENDING = {2: "TWO_PENDING", 3: "THREE_PENDING"}
MAIN = {"DISCARD_ONES": "ONES_DISCARDED", "SWAP": "SWAP_PENDING", "NAME_CARD": "CARD_NAMED"}


def test_cards_have_the_colours_and_values_of_their_names() -> None:
    for info in DETAILS.cards:
        if info.HasField("colour"):
            assert name(info.card) == f"{info.value}{'ABCDE'[info.colour]}"
        else:
            assert (name(info.card), info.value) == ("M", 10)


@over("players", PLAYERS)
def test_the_deck_depends_on_the_number_of_players(players: int) -> None:
    wanted = Counter({info.card: info.total_copies for info in DETAILS.cards if info.min_players <= players})
    assert +wanted == deck(players)
    assert +wanted == Counter(view_of(GAME.new_game(players), None).unseen_cards)
    assert wanted.total() == DETAILS.cards_dealt * players + 1


def test_the_numbers_are_those_of_the_rules_file() -> None:
    values: Counter[int] = Counter()
    for info in DETAILS.cards:
        values[info.value] += info.total_copies
    assert values == {1: 9, 2: 8, 3: 7, 4: 6, 5: 5, 6: 4, 7: 3, 8: 2, 9: 1, 10: 1}
    assert {info.min_players for info in DETAILS.cards if info.value == 1} == {5}
    assert {info.min_players for info in DETAILS.cards if info.value in (2, 9)} == {4}
    assert {info.min_players for info in DETAILS.cards if info.value in (3, 4, 5, 6, 7, 8, 10)} == {3}
    assert (DETAILS.cards_dealt, DETAILS.rounds, DETAILS.last_turn) == (9, 2, 200)


def test_the_effects_are_those_of_the_rules_file() -> None:
    effects = [(info.value, name_of(info, "effect"), info.may_reverse, info.draws) for info in DETAILS.effects]
    assert effects == [
        (1, "DISCARD_ONES", True, 0),
        (2, "NAME_CARD", True, 0),
        (3, "SWAP", True, 0),
        (4, "GIVE", False, 0),
        (5, "HAND_OUT", False, 0),
        (6, "AGAIN", False, 0),
        (7, "DRAW_MORE", False, 2),
        (8, "DRAW_MORE", False, 3),
    ]
    assert all(info.description for info in DETAILS.effects)


def test_pairs_have_these_effects() -> None:
    effects = {info.value: info for info in DETAILS.effects}
    seen = set()
    chosen = None
    for position, events in played(GAME, 5, games=40):
        messages = [event_of(GAME, event) for event in events]
        kinds = [kind for kind, _ in messages]
        if chosen is not None and "DIRECTION_REVERSED" not in kinds:
            # Some effects have no target.
            others = set(MAIN.values()) - {MAIN[name_of(chosen, "effect")]}
            assert not others & set(kinds)
            seen |= {chosen.value} & {value for value in (1, 2, 3) if set(MAIN.values()) & set(kinds)}
        if phase(position) != "NAME":
            chosen = None
        for kind, message in messages:
            values = {KINDS[each].value for each in message.cards}
            if kind != "PAIR_DISCARDED" or len(values) > 1:
                continue
            info = effects[values.pop()]
            assert (phase(position) == "CHOICE") == info.may_reverse
            chosen = info if info.may_reverse else None
            found = {effect for effect, where in PHASES.items() if phase(position) == where}
            found |= {"DRAW_MORE" for pending in PENDING.values() if pending in kinds}
            assert found <= {name_of(info, "effect")}
            if "DRAW_MORE" in found:
                assert PENDING[info.draws] in kinds
            seen |= {info.value} if found else set()
    assert seen == set(effects)


@over("players", PLAYERS)
def test_views_contain_the_copies_in_use(players: int) -> None:
    moved = COPIES.copy()
    moved[card("3A")] += 1
    moved[card("3B")] -= 1
    for options, copies in (({}, COPIES), ({"copies": moved}, moved)):
        for position, _ in played(GAME, players, options):
            for seat in (None, *range(players)):
                assert list(view_of(position, seat).copies) == copies
