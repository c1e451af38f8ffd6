"""Tests of the rules in "A turn"."""

import pytest
from tools.over import over

from chatiere.engine import CHANCE_PLAYER, Reason
from chatiere.engine.wire import Reader

from ..building import name_of
from .building import CODEC, PLAYERS, Table, card, cards, typed
from .reference import PASS, STOP, SWAP_IN, SWAP_OUT, pair_id

pytestmark = pytest.mark.rules("momistigri", "A turn")

DRAWING = {"phase": "DRAW", "draws_left": 1}


def test_one_card_is_drawn_at_random_from_the_previous_seat() -> None:
    table = Table.late("3A", "4A 4B 5C", "6A M", active=2, **DRAWING)
    assert table.actor == CHANCE_PLAYER
    assert table.outcomes() == {"4A": 1, "4B": 1, "5C": 1}
    table.draw("5C")
    assert (table.hand(1), table.hand(2)) == ("4A 4B", "6A 5C M")
    assert (table.phase, table.actor) == ("DISCARD", 2)
    assert table.plain_events() == [("CARD_DRAWN", 2, "5C")]
    assert table.events[0].seen_by == frozenset({1, 2})


def test_a_chance_event_can_have_a_single_outcome() -> None:
    assert Table.late("3A", "4A", "6A M", active=2, **DRAWING).outcomes() == {"4A": 1}


def test_after_a_reversal_the_previous_seat_is_on_the_other_side() -> None:
    table = Table.late("3A", "4A", "6A M", active=1, reversed=True, **DRAWING)
    assert set(table.outcomes()) == {"6A", "M"}
    table.draw("M").pass_turn()
    assert table.active == 0
    assert set(table.outcomes()) == {"4A", "M"}


def test_previous_and_next_are_seats_still_in_the_round() -> None:
    table = Table.late("3A", "", "", "4A M", "5A", active=0, passed=(3, 4))
    table.pass_turn()
    # All three marks are set, so the round ends.
    assert table.round == 2
    table = Table.late("3A", "", "", "4A M", "5A", active=0)
    table.pass_turn()
    assert table.active == 3
    assert table.outcomes() == {"3A": 1}
    table.draw("3A")
    # Seat 0 has left, so seat 4 follows seat 3, and then seat 3 follows again.
    assert table.inside() == [3, 4]
    table.pass_turn()
    assert table.active == 4
    assert set(table.outcomes()) == {"3A", "4A", "M"}


def test_two_or_three_cards_are_drawn_one_chance_event_each() -> None:
    for both, number in (("7A 7B", 2), ("8C 8D", 3)):
        table = Table.late(f"{both} 3A 4A 5A M", "6A", "6B").pair(both)
        assert table.plain_events()[1][0] == ("TWO_PENDING" if number == 2 else "THREE_PENDING")
        assert (table.active, table.state.draws_left) == (1, number)
        drawn = ["M", "3A", "4A"][:number]
        for i, one in enumerate(drawn):
            assert table.actor == CHANCE_PLAYER
            assert table.state.draws_left == number - i
            assert one in table.outcomes()
            table.draw(one)
            assert table.outcomes().keys().isdisjoint(drawn[: i + 1])
        assert table.phase == "DISCARD"
        assert table.hand(1).split() == sorted([*drawn, "6A"], key=card)
        # The mark had an effect only on that draw.
        table.pass_turn()
        assert (table.state.draws_left, name_of(table.state, "mark")) == (1, "NONE")


def test_all_cards_of_a_smaller_hand_are_drawn() -> None:
    table = Table.late("7A 7B 3A", "6A", "6B").pair("7A 7B")
    assert table.state.draws_left == 1
    table.draw("3A")
    assert table.inside() == [1, 2]
    assert table.phase == "DISCARD"


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_a_named_card_is_drawn_without_chance() -> None:
    table = Table.late("2A 2B 3A M", "6A", "6B", "6C").pair("2A 2B").main()
    assert (table.phase, table.actor) == ("NAME", 0)
    assert table.legal() == [
        "choose 3A for the next player to draw",
        "choose the Momistigri for the next player to draw",
    ]
    table.name("M")
    assert table.plain_events() == [("CARD_NAMED", 0, "M"), ("TURN_BEGUN", 1, ""), ("CARD_DRAWN", 1, "M")]
    assert table.events[0].seen_by == frozenset({0})
    assert (table.phase, table.actor, table.hand(0), table.hand(1)) == ("DISCARD", 1, "3A", "6A M")


def test_a_seat_leaves_when_its_named_last_card_is_drawn() -> None:
    table = Table.late("2A 2B M", "6A", "6B", "6C").pair("2A 2B").main().name("M")
    assert table.inside() == [1, 2, 3]
    assert table.plain_events()[-1] == ("SEAT_LEFT", 0, "")


def test_a_previous_seat_with_an_empty_hand_leaves_the_round() -> None:
    table = Table.late("3A", "4A", "6A M", active=2, passed=(1,), **DRAWING).draw("4A")
    assert table.inside() == [0, 2]
    assert table.passed() == []
    assert table.plain_events() == [("CARD_DRAWN", 2, "4A"), ("SEAT_LEFT", 1, "")]
    assert table.phase == "DISCARD"


def swap() -> Table:
    """Return a table where seat 0 has a pending swap and seat 1 has drawn."""
    return Table.late("3A 3B 4C 4D", "6A", "6B").pair("3A 3B").main().draw("4C")


def test_a_swap_follows_the_draw_and_its_owner_decides() -> None:
    table = Table.late("3A 3B 4C 4D", "6A", "6B").pair("3A 3B").main()
    assert table.plain_events()[0] == ("SWAP_PENDING", 0, "")
    assert (table.active, table.actor, table.state.draws_left) == (1, CHANCE_PLAYER, 1)
    table.draw("4C")
    assert (table.phase, table.actor, table.active) == ("SWAP_OUT", 0, 1)
    assert table.legal() == ["discard 4D for the swap"]
    table.swap_out("4D")
    # During the swap the hand is empty, but the seat is still in the round.
    assert (table.phase, table.actor, table.active, table.hand(0)) == ("SWAP_IN", 0, 1, "")
    assert table.inside() == [0, 1, 2]
    table.swap_in("3A")
    assert (table.phase, table.actor, table.hand(0)) == ("DISCARD", 1, "3A")
    assert table.in_pile("4D") == 1
    assert table.plain_events() == [("CARD_SWAPPED_IN", 0, "3A")]


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_a_swap_takes_a_card_that_was_already_in_the_pile() -> None:
    table = swap().swap_out("4D")
    assert table.in_pile("4D") == 1
    assert "take 4D from the discard pile" not in table.legal()
    error = table.refusal(SWAP_IN + card("4D"))
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "momistigri.md: A turn")
    assert "just discarded" in error.message


def test_a_swap_can_take_a_card_of_the_kind_that_it_discards() -> None:
    # The rulebook leaves this open. In the engine, the seat may take a card of the kind that it discards if the pile
    # already held one. In this test, the pile then has two 4E.
    table = Table.late("3A 3B 4E 4D", "6A", "6B").pair("3A 3B").main().draw("4D")
    assert table.in_pile("4E") == 1
    table.swap_out("4E")
    assert table.in_pile("4E") == 2
    assert "take 4E from the discard pile" in table.legal()
    table.swap_in("4E")
    assert (table.in_pile("4E"), table.hand(0)) == (1, "4E")


def test_there_is_no_swap_if_the_draw_took_the_last_card() -> None:
    table = Table.late("3A 3B 4C", "6A", "6B").pair("3A 3B").main().draw("4C")
    assert (table.phase, table.actor) == ("DISCARD", 1)
    assert table.inside() == [1, 2]


def test_a_pair_has_one_colour_or_one_value() -> None:
    table = Table.late("3A 4A 4B 6C M", "6A", "6B")
    assert table.legal() == ["discard 3A and 4A", "discard 4A and 4B", "pass"]
    for both, words in (("3A 4B", "same value or the same colour"), ("6C M", "Momistigri"), ("M M", "not twice")):
        assert words in table.refusal(pair_id(*cards(both))).message
    assert "not twice" in table.refusal(pair_id(*cards("3A 3A"))).message
    assert table.refusal(pair_id(*cards("3A 5A"))).rule == "momistigri.md: Actions"


def test_a_pair_of_one_colour_has_no_effect() -> None:
    table = Table.late("3A 4A 5B", "6A", "6B").pair("3A 4A")
    assert table.plain_events()[0] == ("PAIR_DISCARDED", 0, "3A 4A")
    assert (table.active, table.phase) == (1, "DRAW")


def test_a_pair_of_one_kind_has_its_effect() -> None:
    table = Table.late("4E 4E 5B", "6A", "6B").pair("4E 4E")
    assert (table.actor, table.phase) == (0, "GIVE")


def test_one_pair_per_turn_is_discarded() -> None:
    table = Table.late("3A 4A 3B 4B 5C", "6A", "6B").pair("3A 4A")
    assert table.active == 1


@over("players", PLAYERS)
def test_a_seat_can_pass_although_it_holds_a_pair(players: int) -> None:
    # The rulebook says that a seat "may" discard, so the engine always offers a pass.
    table = Table.late("3A 4A 5B", *["6A", "6B", "7A", "7B"][: players - 1])
    assert table.legal()[-1] == "pass"
    table.pass_turn()
    assert table.passed() == [0]
    assert table.plain_events()[0] == ("PASSED", 0, "")


def test_discarding_a_pair_clears_the_seats_pass_mark() -> None:
    table = Table.late("3A 4A 5B", "6A", "6B", passed=(0, 1)).pair("3A 4A")
    assert table.passed() == [1]
    # The mark is cleared before the effect.
    table = Table.late("6A 6C 5B", "6B", "7B", passed=(0, 1)).pair("6A 6C")
    assert table.passed() == [1]


def test_a_seat_without_cards_leaves_the_round() -> None:
    table = Table.late("3A 4A", "6A", "6B").pair("3A 4A")
    assert table.inside() == [1, 2]
    assert table.plain_events()[1] == ("SEAT_LEFT", 0, "")
    assert table.active == 1
    # The previous seat is now the seat before it.
    assert table.outcomes() == {"6B": 1}


def test_actions_of_other_phases_are_refused() -> None:
    table = Table.late("3A 4A 5B", "6A", "6B")
    for action, rule, words in (
        (STOP, "Effects of a pair of one value", "pair of 6"),
        (1083, "Effects of a pair of one value", "1, 2 or 3"),
        (1084, "Effects of a pair of one value", "1, 2 or 3"),
        (1085 + card("3A"), "Effects of a pair of one value", "pair of 2"),
        (1131 + card("3A"), "Effects of a pair of one value", "pair of 4"),
        (1315 + card("8A"), "Effects of a pair of one value", "pair of 5"),
        (SWAP_OUT + card("3A"), "A turn", "swap"),
        (SWAP_IN + card("8A"), "A turn", "swap"),
    ):
        error = table.refusal(action)
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, f"momistigri.md: {rule}")
        assert words in error.message
        assert error.metadata == {"actor": "0", "move": str(action)}
    swapping = swap()
    assert swapping.refusal(PASS).rule == "momistigri.md: A turn"
    assert swapping.refusal(pair_id(*cards("3C 4C"))).rule == "momistigri.md: A turn"
    assert swapping.refusal(SWAP_OUT + card("6A")).rule == "momistigri.md: Actions"
    assert swapping.swap_out("4D").refusal(SWAP_IN + card("6A")).rule == "momistigri.md: Actions"


def test_the_order_of_a_typed_pair_does_not_matter() -> None:
    table = Table.late("3A 4A 5B", "6A", "6B")
    both = cards("3A 4A")
    for order in (both, both[::-1]):
        assert CODEC.read_action(Reader(typed("discard_pair", cards=order)), table.position) == pair_id(*both)
