"""ChatPerchePieces has the numbers of the rules file. The kernel uses the same numbers."""

import pytest

from ..building import event_of, name_of, view_of
from ..played import details_of, played
from .building import DEFAULT_DECK, GAME, START, Table, card, holding, left, right, trunk
from .reference import steps_from

pytestmark = pytest.mark.rules("chat_perche", "Components and setup")

DETAILS = details_of(GAME)
SPACES = {info.space: info for info in DETAILS.spaces}
CARDS = {info.card: info for info in DETAILS.cards}
DECK = [1, 2, 3, 4, 5, 5, 6] + [0] * 34


def test_the_tree_is_that_of_the_rules_file() -> None:
    assert {info.space for info in DETAILS.spaces if name_of(info, "kind") == "TRUNK"} == set(range(5))
    for number in range(1, 6):
        assert (SPACES[trunk(number)].place, SPACES[trunk(number)].HasField("branch")) == (number, False)
        for side, at, of in (("LEFT", left, number - 1), ("RIGHT", right, number + 4)):
            branch = DETAILS.branches[of]
            assert (name_of(branch, "side"), branch.trunk_space) == (side, trunk(number))
            assert list(branch.spaces) == [at(number, place) for place in range(1, 5)]
            for place, space in enumerate(branch.spaces, 1):
                info = SPACES[space]
                assert (name_of(info, "kind"), info.branch, info.place) == ("BRANCH", of, place)
    assert DETAILS.start_space == START
    assert name_of(SPACES[START], "kind") == "START"


def test_steps_lead_to_neighbours() -> None:
    for info in DETAILS.spaces:
        assert {end for end, steps in steps_from(info.space, False).items() if steps == 1} == set(info.neighbours)
        # Compare with the moves of one step in the kernel.
        cats = [] if info.space == START else [info.space]
        number = card("one own", 1)
        table = Table(cats=(cats, []), options=holding(number)).turn_up(number)
        assert table.ends(info.space) == set(info.neighbours)
        assert list(info.neighbours) == sorted(info.neighbours)


def test_cards_are_those_of_the_rules_file() -> None:
    cards = [(name_of(info, "kind"), info.value, info.own_cats) for info in DETAILS.cards]
    assert cards[:5] == [
        ("DOGS", 1, False),
        ("DOGS", 2, False),
        ("BIRD", 0, False),
        ("FALL", 0, True),
        ("FALL", 0, False),
    ]
    assert [info.HasField("own_cats") for info in DETAILS.cards] == [False] * 3 + [True] * 38
    assert cards[5:] == [
        (kind, value, own) for kind in ("ONE_CAT", "TWO_CATS") for own in (True, False) for value in range(1, 10)
    ]
    assert [info.total_copies for info in DETAILS.cards] == DEFAULT_DECK
    assert sum(info.total_copies for info in DETAILS.cards) == DETAILS.deck_size == 26


def test_the_numbers_are_those_of_the_rules_file() -> None:
    assert (DETAILS.cats_per_seat, DETAILS.total_birds, DETAILS.trunk_limit, DETAILS.dog_track) == (12, 6, 2, 10)
    assert list(DETAILS.solidity) == [1, 2, 3, 3, 4]
    names = {piece.number: piece for piece in GAME.description.pieces if piece.kind == "colour"}
    assert [str(names[colour].name) for colour in DETAILS.colours] == ["ginger", "black"]


def test_play_uses_these_numbers() -> None:
    most_dogs = 0
    for position, events in played(GAME, 2, games=6):
        view = view_of(position, None)
        assert view.birds_beside + len(view.birds) == DETAILS.total_birds
        for seat in view.seats:
            assert seat.cats_at_start + len(seat.cats) == DETAILS.cats_per_seat
            assert sum(space in range(5) for space in seat.cats) <= DETAILS.trunk_limit
        if name_of(view, "phase") == "MOVE":
            info = CARDS[view.card]
            assert name_of(info, "kind") in ("ONE_CAT", "TWO_CATS")
            assert view.steps_left == info.value
            assert (view.cat_owner == view.active_seat) == info.own_cats
        elif name_of(view, "phase") == "FALL":
            assert (view.cat_owner == view.active_seat) == CARDS[view.card].own_cats
        for kind, message in (event_of(GAME, event) for event in events):
            if kind == "CARD_TURNED_UP":
                turned_up = CARDS[message.cards[0]]
            elif kind == "DOGS_ADVANCED" and message.dog_steps < DETAILS.dog_track:
                assert (name_of(turned_up, "kind"), turned_up.value) == ("DOGS", message.steps)
        most_dogs = max(most_dogs, view.dog_steps)
    assert most_dogs == DETAILS.dog_track


@pytest.mark.parametrize("solidity", [None, [4, 1, 1, 2, 2]])
@pytest.mark.parametrize("deck", [None, DECK])
def test_views_contain_the_tokens_and_the_deck_in_use(solidity: list[int] | None, deck: list[int] | None) -> None:
    options = {name: value for name, value in (("solidity", solidity), ("deck", deck)) if value is not None}
    for position, _ in played(GAME, 2, options):
        for seat in (None, 0, 1):
            view = view_of(position, seat)
            assert list(view.solidity) == sorted(solidity or DETAILS.solidity)
            assert list(view.deck) == (deck or DEFAULT_DECK)
            for each in view.seats:
                cards = [*each.draw_pile_cards, *each.discards]
                assert [cards.count(card) for card in range(41)] == list(view.deck)
