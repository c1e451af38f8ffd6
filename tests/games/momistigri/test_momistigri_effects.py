"""Tests of the rules in "Effects of a pair of one value"."""

import pytest

from ..building import name_of
from .building import Table, card
from .reference import HAND_OUT, NAME, gift_id, pair_id

pytestmark = pytest.mark.rules("momistigri", "Effects of a pair of one value")


def test_main_of_a_1_discards_all_other_1s() -> None:
    table = Table.late("1A 1B 1A 1E 3A", "6A", "6B", "6C", "6D").pair("1A 1B")
    assert table.legal() == ["discard all other 1s", "reverse the direction of play"]
    table.main()
    assert table.plain_events()[0] == ("ONES_DISCARDED", 0, "1A 1E")
    assert table.hand(0) == "3A"
    assert table.active == 1


def test_main_of_a_1_can_discard_seven_cards() -> None:
    table = Table.late("1A 1A 1B 1B 1C 1C 1D 1D 1E", "6A", "6B", "6C", "6D").pair("1A 1A").main()
    assert table.plain_events()[0] == ("ONES_DISCARDED", 0, "1B 1B 1C 1C 1D 1D 1E")
    assert table.inside() == [1, 2, 3, 4]


def test_main_of_a_1_has_no_effect_without_another_1() -> None:
    table = Table.late("1A 1B 3A", "6A", "6B", "6C", "6D").pair("1A 1B").main()
    assert table.plain_events()[0] == ("ONES_DISCARDED", 0, "")
    assert table.hand(0) == "3A"


@pytest.mark.parametrize("both", ["1A 1B", "2A 2B", "3A 3B"])
def test_reverse_takes_effect_immediately(both: str) -> None:
    table = Table.late(f"{both} 4A", "6A", "6B", "6C", "6D").pair(both).reverse()
    assert table.state.reversed
    assert table.plain_events()[0] == ("DIRECTION_REVERSED", 0, "")
    # The next seat is then the seat on the other side. It draws from the seat that reversed.
    assert table.active == 4
    assert table.outcomes() == {"4A": 1}
    # Reversing again restores the direction.
    table = Table.late(f"{both} 4A", "6A", "6B", "6C", "6D", reversed=True).pair(both).reverse()
    assert not table.state.reversed
    assert table.active == 1


def test_a_reversal_by_a_seat_that_leaves() -> None:
    table = Table.late("3A 3B", "6A", "6B", "6C", "6D").pair("3A 3B").reverse()
    assert table.active == 4
    # Against the new direction, the nearest seat still in the round is seat 1.
    assert table.outcomes() == {"6A": 1}


def test_main_of_a_2_names_the_card_that_the_next_seat_must_draw() -> None:
    table = Table.late("2A 2B 3A 4A", "6A", "6B", "6C").pair("2A 2B").main()
    assert table.position.legal_actions() == [NAME + card("3A"), NAME + card("4A")]
    assert "not twice" in table.refusal(NAME + card("6A")).message
    table.name("4A")
    assert (table.hand(0), table.hand(1)) == ("3A", "4A 6A")


def test_main_of_a_3_swaps_after_the_next_seats_draw() -> None:
    table = Table.late("3A 3B 4A 5A", "6A", "6B").pair("3A 3B").main().draw("4A")
    assert (table.phase, table.actor) == ("SWAP_OUT", 0)


@pytest.mark.parametrize("both", ["1A 1B", "2A 2B", "3A 3B"])
def test_main_or_reverse_is_also_a_choice_with_an_empty_hand(both: str) -> None:
    # The rulebook leaves this open. The engine still asks, but Main then has no effect: no NameCard and no swap.
    table = Table.late(both, "6A", "6B", "6C", "6D").pair(both)
    assert (table.phase, table.actor, table.hand(0)) == ("CHOICE", 0, "")
    assert table.inside() == [0, 1, 2, 3, 4]
    table.main()
    assert table.inside() == [1, 2, 3, 4]
    assert (table.phase, table.active) == ("DRAW", 1)
    assert name_of(table.state, "mark") == "NONE"


@pytest.mark.parametrize("both", ["1A 1B", "2A 2B", "3A 3B"])
@pytest.mark.parametrize("reverse", [False, True])
def test_main_or_reverse_is_also_a_choice_before_the_round_ends(both: str, reverse: bool) -> None:
    # The rulebook leaves this open. The engine still asks.
    table = Table.late(f"{both} 4A", "", "", "", "").pair(both)
    assert (table.phase, table.actor) == ("CHOICE", 0)
    table = table.reverse() if reverse else table.main()
    assert table.penalties() == [[4, 0, 0, 0, 0]]


def test_a_4_gives_a_card_to_a_chosen_seat() -> None:
    table = Table.late("4A 4B 3A M", "6A", "6B", "", "7A").pair("4A 4B")
    assert (table.phase, table.actor) == ("GIVE", 0)
    assert table.position.legal_actions() == [gift_id(places, card(one)) for places in (1, 2, 4) for one in ("3A", "M")]
    assert table.legal()[0] == "give 3A to seat 1"
    error = table.refusal(gift_id(3, card("M")))
    assert "another player" in error.message
    assert error.rule == "momistigri.md: Effects of a pair of one value"
    assert "not twice" in table.refusal(gift_id(1, card("6A"))).message
    table.give("M", 2)
    assert (table.hand(0), table.hand(2)) == ("3A", "6B M")
    assert table.plain_events()[0] == ("CARD_GIVEN", 0, "M")
    assert table.events[0].seen_by == frozenset({0, 2})
    assert table.active == 1


def test_a_4_counts_receivers_from_the_giver() -> None:
    table = Table.late("6C", "6A", "", "4A 4B 3A M", "7A", active=3).pair("4A 4B")
    assert table.position.legal_actions() == [gift_id(places, card(one)) for places in (1, 2, 3) for one in ("3A", "M")]
    assert table.legal()[::2] == ["give 3A to seat 4", "give 3A to seat 0", "give 3A to seat 1"]
    assert "another player" in table.refusal(gift_id(4, card("M"))).message
    table.apply(gift_id(2, card("M")))
    assert (table.hand(3), table.hand(0)) == ("3A", "6C M")


def test_a_seat_that_gives_its_last_card_leaves_the_round() -> None:
    table = Table.late("4A 4B M", "6A", "6B").pair("4A 4B").give("M", 1)
    assert table.inside() == [1, 2]
    assert (table.active, table.hand(1)) == (1, "6A M")


def test_a_4_has_no_effect_with_an_empty_hand_or_without_another_seat() -> None:
    assert Table.late("4A 4B", "6A", "6B").pair("4A 4B").active == 1
    table = Table.late("4A 4B 3A", "", "").pair("4A 4B")
    assert table.penalties() == [[3, 0, 0]]


def test_a_5_hands_a_card_of_the_pile_to_each_other_seat_in_turn_order() -> None:
    table = Table.late("5A 5B 3A", "6A", "", "6C", "6D", active=0).pair("5A 5B")
    for receiver, one in ((1, "5A"), (3, "1E"), (4, "5B")):
        assert (table.phase, table.actor, table.state.receiver) == ("HAND_OUT", 0, receiver)
        assert one in {action.removeprefix("give ").split()[0] for action in table.legal()}
        assert table.legal()[0].endswith(f"to seat {receiver}")
        table.hand_out(one)
        assert table.plain_events()[0] == ("CARD_HANDED_OUT", receiver, one)
        assert one in table.hand(receiver)
    assert table.in_pile("5A") == table.in_pile("5B") == 0
    assert table.active == 1


def test_a_5_follows_the_direction_of_play() -> None:
    table = Table.late("5A 5B 3A", "6A", "6B", "6C", reversed=True).pair("5A 5B")
    order = []
    while table.phase == "HAND_OUT":
        order.append(table.state.receiver)
        table.apply(table.position.legal_actions()[0])
    assert order == [3, 2, 1]


def test_a_5_stops_when_the_pile_is_empty() -> None:
    # The rulebook leaves this open. The engine ends the effect. In this test, there are three other seats, but only the
    # two 5s are in the pile.
    everything = "2A 2A 2B 2B 2C 2D 2E 2E 3A 3B 3C 3C 3D 3D 3E 4A 4B 4C 4D 4E 4E"
    table = Table.late("5A 5B 9E", everything, "5C 5D 5E 6A 6B 6C 6D 7A 7B 7E", "8C 8D M").pair("5A 5B")
    assert table.position.legal_actions() == [HAND_OUT + card("5A"), HAND_OUT + card("5B")]
    table.hand_out("5A").hand_out("5B")
    assert (table.phase, table.active) == ("DRAW", 1)
    assert list(table.state.discards) == []


def test_only_cards_of_the_pile_are_handed_out() -> None:
    table = Table.late("5A 5B 3A", "6A", "6B").pair("5A 5B")
    error = table.refusal(HAND_OUT + card("6A"))
    assert (error.rule, "pile" in error.message) == ("momistigri.md: Actions", True)


def test_a_seat_whose_last_cards_were_a_pair_of_5_still_hands_out() -> None:
    # The rulebook leaves this open. In the engine, a seat without cards leaves only when the effect is complete.
    table = Table.late("5A 5B", "6A", "6B").pair("5A 5B")
    assert (table.phase, table.actor, table.inside()) == ("HAND_OUT", 0, [0, 1, 2])
    table.hand_out("3A").hand_out("8C")
    assert table.inside() == [1, 2]
    assert table.active == 1


def test_a_5_has_no_effect_without_another_seat() -> None:
    assert Table.late("5A 5B 3A", "", "").pair("5A 5B").penalties() == [[3, 0, 0]]


def test_a_6_allows_another_pair_with_its_effect() -> None:
    table = Table.late("6A 6B 4A 4B 3A", "7A", "7B").pair("6A 6B")
    assert (table.phase, table.actor) == ("AGAIN", 0)
    assert table.legal() == ["discard 3A and 4A", "discard 4A and 4B", "discard no further pair"]
    table.pair("4A 4B")
    assert table.phase == "GIVE"


def test_a_second_6_allows_another_pair() -> None:
    table = Table.late("6A 6B 6C 6D 4A 3A", "7A", "7B").pair("6A 6B").pair("6C 6D")
    assert table.phase == "AGAIN"
    table.pair("3A 4A")
    assert table.active == 1


def test_a_6_is_always_followed_by_a_decision_with_stop_as_an_option() -> None:
    table = Table.late("6A 6B", "7A", "7B").pair("6A 6B")
    assert (table.phase, table.actor, table.hand(0)) == ("AGAIN", 0, "")
    assert table.legal() == ["discard no further pair"]
    assert table.inside() == [0, 1, 2]
    table.stop()
    assert table.plain_events()[:2] == [("STOPPED", 0, ""), ("SEAT_LEFT", 0, "")]
    table = Table.late("6A 6B 4A 3A", "7A", "7B").pair("6A 6B").stop()
    assert (table.active, table.hand(0)) == (1, "3A 4A")


def test_stopping_after_a_6_is_not_a_pass() -> None:
    table = Table.late("6A 6B 4A", "7A", "7B", passed=(1, 2)).pair("6A 6B").stop()
    assert table.passed() == [1, 2]
    assert table.round == 1


def test_two_cards_that_are_no_pair_are_also_refused_after_a_6() -> None:
    table = Table.late("6A 6B 4A 5B", "7A", "7B").pair("6A 6B")
    assert "a pair is two cards" in table.refusal(pair_id(card("4A"), card("5B"))).message
    assert "instead of" in table.refusal(1081).message


@pytest.mark.parametrize(("both", "mark", "number"), [("7A 7B", "TWO", 2), ("8C 8D", "THREE", 3)])
def test_a_7_makes_the_next_seat_draw_two_and_an_8_three(both: str, mark: str, number: int) -> None:
    table = Table.late(f"{both} 3A 4A 5A", "6A", "6B").pair(both)
    assert (table.active, name_of(table.state, "mark"), table.state.draws_left) == (1, mark, number)


@pytest.mark.parametrize("both", ["7A 7B", "8C 8D"])
def test_a_7_or_8_has_no_effect_without_a_target(both: str) -> None:
    table = Table.late(both, "6A 6C", "6B 6D").pair(both)
    assert (table.active, name_of(table.state, "mark"), table.state.draws_left) == (1, "NONE", 1)
    assert Table.late(f"{both} 3A", "", "").pair(both).penalties() == [[3, 0, 0]]


def test_a_2_and_a_3_have_no_effect_without_another_seat() -> None:
    for both in ("2A 2B", "3A 3B"):
        assert Table.late(f"{both} 4A", "", "", "").pair(both).main().penalties() == [[4, 0, 0, 0]]
