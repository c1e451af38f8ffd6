"""Tests of the rules in "Components and setup" and of the options."""

from collections import Counter
from typing import Any

import pytest

from chatiere.engine import CHANCE_PLAYER, EngineError, EventLog, Reason

from ..building import phase, state_of, view_of
from .building import BIRD, DEFAULT_DECK, DOGS_1, GAME, START, Table, card, deck_of, holding, token_id

pytestmark = pytest.mark.rules("chat_perche", "Components and setup")


def begin(**options: Any) -> Table:
    return Table(GAME.new_game(2, options))


def place_all(table: Table) -> Table:
    while table.phase == "PLACE_TOKEN":
        table.apply(table.position.legal_actions()[0])
    return table


def test_the_tree_has_a_trunk_of_five_and_ten_branches_of_four() -> None:
    spaces = [piece for piece in GAME.description.pieces if piece.kind == "space"]
    assert [piece.number for piece in spaces] == list(range(46))
    assert str(spaces[0].name) == "trunk 1"
    assert str(spaces[4].name) == "trunk 5"
    assert str(spaces[5].name) == "left branch 1, space 1"
    assert str(spaces[5 + 4 * 4 + 3].name) == "left branch 5, space 4"
    assert str(spaces[5 + 4 * 5].name) == "right branch 1, space 1"
    assert str(spaces[44].name) == "right branch 5, space 4"
    assert str(spaces[START].name) == "start"
    assert len(view_of(GAME.new_game(2), None).branches) == 10


@pytest.mark.parametrize("branch", range(10))
def test_decision_branch_pair_k_is_attached_to_trunk_space_k(branch: int) -> None:
    # The first space of the left and the right branch of each pair is one step from the pair's trunk space.
    table = Table(cats=([branch % 5], []), options=holding(card("one own", 1))).turn_up(card("one own", 1))
    assert 5 + 4 * branch in table.ends(branch % 5)


def test_decision_both_start_spaces_touch_the_lowest_trunk_space() -> None:
    for seat in range(2):
        for steps in range(1, 7):
            table = Table(active=seat, options=holding(card("one own", steps))).turn_up(card("one own", steps))
            heights = {end + 1 for end in table.ends(START) if end < 5}
            assert heights == set(range(1, min(steps, 5) + 1))
            outward = {(end - 5) // 4 % 5 + 1 + (end - 5) % 4 + 1 for end in table.ends(START) if end >= 5}
            assert max(outward, default=0) == (steps if steps > 1 else 0)


def test_twelve_cats_of_each_colour_and_six_birds_start_outside_the_tree() -> None:
    view = view_of(GAME.new_game(2), None)
    assert [seat.cats_at_start for seat in view.seats] == [12, 12]
    assert [list(seat.cats) for seat in view.seats] == [[], []]
    assert view.birds_beside == 6
    assert list(view.birds) == []
    assert view.dog_steps == 0


def test_the_first_seat_is_a_chance_event_uniform_over_the_seats() -> None:
    table = begin()
    assert (table.actor, table.phase) == (CHANCE_PLAYER, "FIRST_SEAT")
    assert table.position.chance_outcomes() == [(0, 1), (1, 1)]
    assert [table.position.outcome_label(seat) for seat in range(2)] == ["seat 0 begins", "seat 1 begins"]
    assert not table.state.HasField("first_seat")
    for seat in range(2):
        events = EventLog()
        after = table.position.clone()
        after.apply(seat, events)
        assert [(event.kind, event.seat) for event in events] == [(1, seat)]
        assert state_of(after).first_seat == seat


def test_first_seat_can_be_an_option() -> None:
    for seat in range(2):
        table = begin(first_seat=seat)
        assert table.phase == "PLACE_TOKEN"
        assert table.state.first_seat == seat
        assert table.position.options() == {"first_seat": seat}
    for wrong in (-1, 2, 255, 1.0, True, "0"):
        with pytest.raises(EngineError) as caught:
            begin(first_seat=wrong)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "first_seat")


@pytest.mark.parametrize("first_seat", [0, 1])
def test_seats_alternate_in_placing_tokens_and_the_second_seat_starts(
    first_seat: int,
) -> None:
    table = begin(first_seat=first_seat)
    order = []
    while table.phase == "PLACE_TOKEN":
        order.append(table.actor)
        table.apply(table.position.legal_actions()[0])
    assert order == [1 - first_seat, first_seat] * 5
    assert [branch.token_owner for branch in table.state.branches] == order
    # The first seat takes the first turn.
    assert (table.phase, table.state.active_seat) == ("TURN_UP", first_seat)


def test_a_token_of_the_hand_is_placed_at_a_free_branch() -> None:
    table = begin(first_seat=0)
    assert table.position.legal_actions() == list(range(40))
    table.place(3, 4)
    # Black has used its own 4, so ginger still has a 4. The branch is taken.
    assert table.position.legal_actions() == [i for i in range(40) if i // 4 != 3]
    table.place(0, 4)
    assert table.position.legal_actions() == [i for i in range(40) if i // 4 not in (0, 3) and i % 4 != 3]
    table.place(1, 3).place(2, 1)
    # The seat still has its second 3.
    assert token_id(9, 3) in table.position.legal_actions()
    table.place(9, 3)
    table.place(8, 2)
    assert {i % 4 + 1 for i in table.position.legal_actions()} == {1, 2}


def test_impossible_placements_are_refused() -> None:
    table = begin(first_seat=0).place(3, 4).place(0, 4)
    for move, words in (
        (token_id(3, 1), "already has a token"),
        (token_id(1, 4), "no token of that value is left"),
        (40, "have to be placed first"),
        (2110, "have to be placed first"),
        (2111, "have to be placed first"),
        (2195, "have to be placed first"),
    ):
        error = table.refusal(move)
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "chat_perche.md: Components and setup")
        assert words in error.message
        assert error.metadata["actor"] == "1"
    later = Table().turn_up(BIRD)
    assert "every branch already has its token" in later.refusal(token_id(0, 1)).message


def test_decision_default_tokens_are_1_2_3_3_and_4() -> None:
    table = begin(first_seat=0)
    assert [list(view_of(table.position, seat).seats[seat].unplaced_solidity) for seat in range(2)] == [
        [1, 2, 3, 3, 4]
    ] * 2


@pytest.mark.rules("chat_perche", "Decisions of the engine")
def test_decision_option_solidity_sets_the_tokens_of_both_seats() -> None:
    table = begin(first_seat=0, solidity=[4, 2, 2, 2, 1])
    assert list(view_of(table.position, 1).seats[1].unplaced_solidity) == [1, 2, 2, 2, 4]
    assert {i % 4 + 1 for i in table.position.legal_actions()} == {1, 2, 4}
    # The order of the cards does not matter.
    assert table.position == begin(first_seat=0, solidity=(2, 1, 2, 4, 2)).position
    assert table.position.options()["solidity"] == [1, 2, 2, 2, 4]
    assert begin(solidity=[3, 1, 4, 3, 2]).position.options() == {}
    place_all(table)
    assert Counter(branch.solidity for branch in table.state.branches) == {1: 2, 2: 6, 4: 2}
    for wrong, field in (
        ([1, 2, 3, 4], "solidity"),
        ([1, 2, 3, 3, 3, 4], "solidity"),
        ("12334", "solidity"),
        (12334, "solidity"),
        ([0, 2, 3, 3, 4], "solidity[0]"),
        ([1, 2, 3, 3, 5], "solidity[4]"),
        ([1, 2, True, 3, 4], "solidity[2]"),
        ([1, 2.0, 3, 3, 4], "solidity[1]"),
    ):
        with pytest.raises(EngineError) as caught:
            begin(solidity=wrong)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, field)


def test_decision_default_dog_track_is_ten_steps() -> None:
    assert view_of(GAME.new_game(2), None).dog_track == 10
    assert begin(dog_track=10).position.options() == {}


@pytest.mark.rules("chat_perche", "Decisions of the engine")
def test_decision_option_dog_track_sets_the_number_of_steps() -> None:
    for steps in (1, 2, 11, 99):
        table = begin(dog_track=steps)
        assert view_of(table.position, None).dog_track == steps
        assert table.position.options() == {"dog_track": steps}
    for wrong in (0, 100, -1, 256, 1.0, True, "10"):
        with pytest.raises(EngineError) as caught:
            begin(dog_track=wrong)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "dog_track")


def test_decision_default_deck_is_that_of_the_rules_file() -> None:
    deck = {
        **{"dogs, 1 step": 2, "dogs, 2 steps": 1, "bird": 3, "own cat falls": 1, "opponent's cat falls": 2},
        **{f"own cat, {value} steps": count for value, count in Counter([2, 3, 3, 4, 4, 5, 5, 6]).items()},
        **{f"two own cats, {value} steps": count for value, count in Counter([4, 5, 6, 6, 7]).items()},
        **{f"opponent's cat, {value} steps": 1 for value in (2, 3, 4)},
        "two of the opponent's cats, 4 steps": 1,
    }
    names = {piece.number: str(piece.name) for piece in GAME.description.pieces if piece.kind == "card"}
    assert len(names) == 41
    for seat in view_of(GAME.new_game(2), None).seats:
        assert Counter(names[card] for card in seat.draw_pile_cards) == deck
        assert len(seat.draw_pile_cards) == 26
    assert begin(deck=DEFAULT_DECK).position.options() == {}


def test_decision_option_deck_is_the_same_for_both_seats() -> None:
    deck = deck_of({DOGS_1: 3, BIRD: 5, card("two other", 9): 2})
    table = begin(first_seat=1, deck=deck)
    assert table.position.options() == {"first_seat": 1, "deck": deck}
    for seat in table.state.seats:
        assert list(seat.draw_pile_cards) == [DOGS_1] * 3 + [BIRD] * 5 + [5] * 16 + [40] * 2
    place_all(table)
    assert table.position.chance_outcomes() == [(DOGS_1, 3), (BIRD, 5), (5, 16), (40, 2)]


def test_a_deck_has_26_cards_and_a_dogs_card() -> None:
    good = deck_of({DOGS_1: 1})
    for wrong, field in (
        (good[:-1], "deck"),
        ([*good, 0], "deck"),
        ("1" * 41, "deck"),
        ([*good[:5], good[5] - 1, *good[6:]], "deck"),
        ([*good[:5], good[5] + 1, *good[6:]], "deck"),
        (deck_of({BIRD: 1}), "deck"),
        ([1, 0, -1, 0, 0, 26, *good[6:]], "deck[2]"),
        ([1, 0, 27, *good[3:]], "deck[2]"),
        ([1, 0, 1.0, 0, 0, 24, *good[6:]], "deck[2]"),
        ([1, 0, True, 0, 0, 24, *good[6:]], "deck[2]"),
    ):
        with pytest.raises(EngineError) as caught:
            begin(deck=wrong)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, field)
    assert phase(GAME.new_game(2, {"deck": deck_of({1: 1})})) == "FIRST_SEAT"


def test_option_forward_only_is_off_by_default() -> None:
    assert begin(forward_only=False).position.options() == {}
    assert begin(forward_only=True).position.options() == {"forward_only": True}
    for wrong in (1, 0, "yes"):
        with pytest.raises(EngineError) as caught:
            begin(forward_only=wrong)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "forward_only")


def test_unknown_options_are_refused() -> None:
    with pytest.raises(EngineError) as caught:
        begin(up_arrows=1)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "up_arrows")
    assert "first_seat, forward_only, dog_track, solidity, deck" in caught.value.message


def test_all_seats_see_a_placement_but_only_the_owner_its_value() -> None:
    table = begin(first_seat=0).place(7, 3)
    assert table.plain_events() == [
        ("TOKEN_CHOSEN", {"seat": 1, "solidity": 3}),
        ("TOKEN_PLACED", {"seat": 1, "branch": 7}),
    ]
    assert [event.seen_by for event in table.events] == [frozenset({1}), None]
    assert table.plain_events(whole=False)[0] == ("TOKEN_CHOSEN", {"seat": 1})


def test_only_seats_can_be_chosen_as_first_seat() -> None:
    position = GAME.new_game(2)
    for outcome in (-1, 2, 255):
        with pytest.raises(EngineError) as caught:
            position.apply(outcome)
        assert caught.value.reason is Reason.IMPOSSIBLE_OUTCOME
