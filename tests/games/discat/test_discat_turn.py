"""Tests of the rules about turns and the constraint, and of the worked cases."""

import pytest

from chatiere.engine import Reason
from chatiere.v1.discat_pb2 import DISCAT_PHASE_BONUS

from ..building import read, view_of
from .building import EXCHANGE, KEEP, KEPT, Table, late_state, play_id, played


def rulebook_table() -> Table:
    """Return a table of three seats where 24 was played, and the next seat holds 22, 27, 37, 41 and 47."""
    return Table([24, 1, 2, 3, 4], [22, 27, 37, 41, 47], [28, 38, 58, 18, 60]).play(24).draw(50)


# Worked cases


@pytest.mark.rules("discat", "Worked cases (from the rulebook)")
def test_worked_case_groups_of_22_27_37_41_47() -> None:
    table = Table([60, 57, 59, 56, 58], [20, 22, 27, 37, 41], [51, 52, 53, 54, 55], first_seat=1, up_arrows=[])
    # No seat has a card below 20, so seat 1 gets a bonus card and plays freely.
    table.play(20).draw(47, 1).keep().keep()
    assert (table.actor, table.constraint()) == (1, None)
    groups = {play for play in table.legal_plays() if 1 not in play}
    singles = {(22,), (27,), (37,), (41,), (47,)}
    pairs = {(41, 47), (47, 41), (22, 27), (27, 22), (27, 37), (37, 27), (27, 47), (47, 27), (37, 47), (47, 37)}
    triples = {(27, 37, 47), (27, 47, 37), (37, 47, 27)}
    assert groups == singles | pairs | triples


@pytest.mark.rules("discat", "Worked cases (from the rulebook)")
def test_worked_case_under_lower_than_24() -> None:
    table = rulebook_table()
    assert table.constraint() == (24, False)
    assert table.legal_plays() == {(22,), (27, 22)}


@pytest.mark.rules("discat", "Worked cases (from the rulebook)")
def test_worked_case_28_38_58_with_18_on_top() -> None:
    table = rulebook_table().play(27, 22).draw(5, 6)
    assert table.constraint() == (22, False)
    assert (28, 38, 58, 18) in table.legal_plays()
    table.play(28, 38, 58, 18)
    assert table.bonus_pile(2) == [28]
    assert table.pile(2) == [38, 58, 18]
    assert table.plain_events()[:2] == [("CARDS_PLAYED", 2, (28, 38, 58, 18)), ("CARD_TO_BONUS_PILE", 2, (28,))]
    table.draw(7, 8, 9, 10)
    assert table.constraint() == (18, False)
    assert table.position.totals()[2] == 3 + 4 - 5


@pytest.mark.rules("discat", "Worked cases (from the rulebook)")
def test_worked_case_bonus_exchange_keep_and_free_play() -> None:
    # Seat 0 is the creator of "lower than 18", seat 1 exchanges 52 for 48, and seat 2 keeps.
    table = Table([18, 31, 32, 33, 34], [52, 53, 54, 55, 56], [41, 42, 43, 44, 45]).play(18).draw(35)
    assert table.phase == "BONUS"
    table.draw(36)
    assert table.hand(0) == [31, 32, 33, 34, 35, 36]
    assert table.actor == 1
    assert table.position.legal_actions() == [KEEP, *range(EXCHANGE, EXCHANGE + 5)]
    table.exchange(52)
    assert table.phase == "EXCHANGE"
    table.draw(48)
    assert table.hand(1) == [48, 53, 54, 55, 56]
    assert table.queue() == [52]
    # There is no second bonus for the same constraint.
    assert (table.actor, table.phase) == (2, "PASS")
    assert table.hand(0) == [31, 32, 33, 34, 35, 36]
    table.keep()
    assert (table.actor, table.phase) == (0, "PLAY")
    assert table.constraint() is None
    assert table.face_down(0) == [18]
    singles = {(card,) for card in range(31, 37)}
    assert singles < table.legal_plays()
    assert len(table.legal_plays()) == 6 * 2**5


# Play


@pytest.mark.rules("discat", "A turn")
def test_a_group_shares_the_first_or_the_second_digit_throughout() -> None:
    # 22 and 27 share the first digit, and 27 and 37 share the second, so all three together are not a group.
    table = Table([50, 1, 2, 3, 4], [22, 27, 37, 41, 47], up_arrows=[]).play(50).draw(5)
    for cards in ((22, 27, 37), (22, 41), (27, 37, 41, 47), (22, 27, 37, 41, 47)):
        error = table.refusal(play_id(table.position, *cards))
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: A turn")
        assert "digit" in error.message


@pytest.mark.rules("discat", "A turn")
def test_only_the_top_card_has_to_respect_the_constraint() -> None:
    table = rulebook_table()
    table.play(27, 22)
    assert table.pile(1) == [27, 22]
    error = rulebook_table().refusal(play_id(rulebook_table().position, 22, 27))
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: A turn")
    assert "top card" in error.message
    assert error.metadata["actor"] == "1"


@pytest.mark.rules("discat", "A turn")
def test_only_the_top_card_makes_the_next_constraint() -> None:
    assert rulebook_table().play(27, 22).draw(5, 6).constraint() == (22, False)
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 5, 6]).play(50).draw(7)
    assert Table.at(table.position).play(31, 32, 33).draw(8, 9, 10).constraint() == (33, True)
    assert Table.at(table.position).play(31, 33, 32).draw(8, 9, 10).constraint() == (32, False)


@pytest.mark.rules("discat", "A turn")
@pytest.mark.parametrize(("up", "allowed"), [(True, {31, 49}), (False, {1, 2, 29})])
def test_cards_must_be_higher_or_lower_but_never_equal(up: bool, allowed: set[int]) -> None:
    table = Table([30, 41, 42, 43, 44], [1, 2, 29, 31, 49], up_arrows=[30] if up else [])
    table.play(30).draw(45)
    assert {play[-1] for play in table.legal_plays()} == allowed


@pytest.mark.rules("discat", "A turn")
def test_played_cards_lie_ascending_then_the_top() -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 5, 6]).play(50).draw(7)
    table.play(33, 31, 32)
    assert table.pile(1) == [31, 33, 32]
    assert table.plain_events()[0] == ("CARDS_PLAYED", 1, (31, 33, 32))


@pytest.mark.rules("discat", "A turn")
@pytest.mark.parametrize("top", [31, 32, 33, 34])
def test_the_lowest_card_under_the_top_of_a_group_of_four_is_the_bonus_card(top: int) -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 34, 6], up_arrows=[]).play(50).draw(7)
    rest = [card for card in (31, 32, 33, 34) if card != top]
    table.play(*reversed(rest), top)
    assert table.bonus_pile(1) == rest[:1]
    assert table.pile(1) == [*rest[1:], top]
    assert table.position.totals() == [1 - 5, 3 + 4 - 1]


@pytest.mark.rules("discat", "A turn")
def test_groups_of_three_give_no_bonus_card() -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 34, 6], up_arrows=[]).play(50).draw(7).play(31, 32, 33)
    assert table.bonus_pile(1) == []
    assert table.pile(1) == [31, 32, 33]


@pytest.mark.rules("discat", "A turn")
def test_a_seat_with_a_legal_play_must_play() -> None:
    table = rulebook_table()
    for move in (KEEP, *range(EXCHANGE, EXCHANGE + 6)):
        error = table.refusal(move)
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: A turn")
        assert "passing is not allowed" in error.message


@pytest.mark.rules("discat", "A turn")
def test_a_seat_that_plays_freely_must_also_play() -> None:
    table = Table([24, 1, 2, 3, 4], [41, 42, 43, 44, 45])
    assert "passing is not allowed" in table.refusal(KEEP).message
    table.play(24).draw(5).draw(6).keep()
    assert table.constraint() is None
    assert "passing is not allowed" in table.refusal(KEEP).message


# Cannot respect the constraint


def lower_than_ten(players: int = 3) -> Table:
    """Return a table where seat 0 has played 10 and no other seat has a lower card."""
    hands = [[10, 21, 22, 23, 24], [31, 32, 33, 34, 35], [41, 42, 43, 44, 45], [51, 52, 53, 54, 55]]
    return Table(*hands[:players]).play(10).draw(25)


@pytest.mark.rules("discat", "A turn")
def test_a_seat_without_a_card_that_respects_the_constraint_may_not_play() -> None:
    table = lower_than_ten().draw(26)
    for move in range(192):
        error = table.refusal(move)
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: Cannot respect the constraint")


@pytest.mark.rules("discat", "A turn")
def test_the_creator_draws_the_bonus_before_the_choice() -> None:
    table = lower_than_ten()
    assert (table.actor, table.phase) == (-1, "BONUS")
    assert view_of(table.position, None).constraint.bonus_drawn is False
    table.draw(26)
    assert table.plain_events() == [("BONUS_CARD_DRAWN", 0, (26,))]
    assert table.hand(0) == [21, 22, 23, 24, 25, 26]
    assert view_of(table.position, None).constraint.bonus_drawn is True
    assert (table.actor, table.phase) == (1, "PASS")


@pytest.mark.rules("discat", "A turn")
def test_there_is_one_bonus_per_constraint() -> None:
    table = lower_than_ten(4).draw(26).keep()
    assert (table.actor, table.phase) == (2, "PASS")
    table.keep()
    assert (table.actor, table.phase) == (3, "PASS")
    assert len(table.hand(0)) == 6


@pytest.mark.rules("discat", "A turn")
def test_the_next_constraint_has_its_own_bonus() -> None:
    table = lower_than_ten(2).draw(26).keep().play(22)
    assert table.hand(0) == [21, 23, 24, 25, 26]
    # Cards must be lower than 22, so seat 1 passes again.
    assert table.phase == "BONUS"
    table.draw(27)
    assert table.hand(0) == [21, 23, 24, 25, 26, 27]


@pytest.mark.rules("discat", "A turn")
def test_a_bonus_prevented_by_an_empty_pile_does_not_count() -> None:
    state = late_state([[2, 4], [30, 32]], [played(6)], first=0, active=1, phase="PASS")
    table = Table.at(read(state))
    assert table.position.legal_actions() == [KEEP]
    assert view_of(table.position, None).constraint.bonus_drawn is False
    table.keep()
    assert view_of(table.position, None).HasField("constraint") is False
    # A state in which a bonus draw is recorded is the same as after the draw.
    state.bonus_drawn = True
    assert read(state).legal_actions() == [KEEP]


@pytest.mark.rules("discat", "A turn")
def test_only_keep_is_legal_if_the_bonus_was_the_last_card_of_the_pile() -> None:
    state = late_state(
        [[1, 2, 3, 4, 5], [30, 32, 34, 36, 38]], [played(6)], first=0, active=1, phase="BONUS", unknown=[50]
    )
    table = Table.at(read(state))
    assert table.position.chance_outcomes() == [(49, 1)]
    table.draw(50)
    assert table.hand(0) == [1, 2, 3, 4, 5, 50]
    assert table.position.legal_actions() == [KEEP]
    for slot in (0, 1):
        error = table.refusal(EXCHANGE + slot)
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: Cannot respect the constraint")
        assert "draw pile is empty" in error.message


@pytest.mark.rules("discat", "A turn")
def test_passing_turns_the_top_face_down_before_the_choice() -> None:
    table = Table([24, 1, 2, 3, 4], [22, 41, 42, 43, 44], [5, 45, 46, 47, 48], up_arrows=[]).play(24).draw(50)
    table.play(22).draw(51).play(5).draw(52).play(4).draw(53)
    # Cards must be lower than 4, so seat 1 has to pass.
    assert table.phase == "BONUS"
    assert table.face_down(1) == []
    table.draw(54)
    assert (table.actor, table.phase) == (1, "PASS")
    assert table.face_down(1) == [22]
    assert table.plain_events() == [("BONUS_CARD_DRAWN", 0, (54,)), ("TOP_TURNED", 1, (22,))]


@pytest.mark.rules("discat", "A turn")
def test_face_down_cards_score_the_same() -> None:
    table = Table([24, 1, 2, 3, 4], [22, 41, 42, 43, 44], up_arrows=[]).play(24).draw(50).play(22).draw(49)
    table.play(4).draw(48)
    before = table.position.totals()
    table.draw(47)
    assert table.face_down(1) == [22]
    # The bonus card in hand costs the creator a point. The other scores are unchanged.
    assert table.position.totals() == [before[0] - 1, before[1]]


@pytest.mark.rules("discat", "A turn")
def test_a_pass_with_an_empty_personal_pile_turns_no_card() -> None:
    table = lower_than_ten().draw(26)
    assert table.plain_events() == [("BONUS_CARD_DRAWN", 0, (26,))]
    assert table.face_down(1) == []


@pytest.mark.rules("discat", "A turn")
def test_a_pass_with_the_top_face_down_turns_no_card() -> None:
    state = late_state(
        [[14, 16, 18, 20, 22], [30, 32, 34, 36, 38], [40, 42, 44, 46, 48]],
        [played(9), played(12), KEPT, KEPT, played(10)],
        first=0,
        active=2,
        unknown=[60, 58],
    )
    state.phase = DISCAT_PHASE_BONUS
    table = Table.at(read(state))
    # Seat 2 has passed under 12, so its top is face down. It passes again under 10.
    face_down = table.face_down(2)
    assert len(face_down) == 1
    table.draw(58)
    assert [kind for kind, *_ in table.plain_events()] == ["BONUS_CARD_DRAWN"]
    assert table.face_down(2) == face_down


@pytest.mark.rules("discat", "A turn")
def test_a_new_card_on_the_pile_is_face_up() -> None:
    table = lower_than_ten(2).draw(26).keep()
    assert table.face_down(0) == [10]
    table.play(21).draw()
    assert table.pile(0) == [10, 21]
    assert table.face_down(0) == [10]
    assert not view_of(table.position, None).seats[0].pile[-1].face_down


@pytest.mark.rules("discat", "A turn")
def test_keep_leaves_the_hand_unchanged() -> None:
    table = lower_than_ten().draw(26)
    hand = table.hand(1)
    table.keep()
    assert table.hand(1) == hand
    assert table.plain_events()[0] == ("HAND_KEPT", 1, ())


@pytest.mark.rules("discat", "A turn")
def test_an_exchange_puts_a_card_under_the_pile_and_draws_the_top() -> None:
    table = lower_than_ten().draw(26).exchange(33)
    assert table.plain_events() == [("CARD_EXCHANGED", 1, (33,))]
    assert table.phase == "EXCHANGE"
    assert table.actor == -1
    # 33 is under the pile, so it cannot be drawn while there are unknown cards.
    assert 32 not in dict(table.position.chance_outcomes())
    table.draw(60)
    assert table.plain_events()[0] == ("EXCHANGE_DRAWN", 1, (60,))
    assert table.hand(1) == [31, 32, 34, 35, 60]
    assert table.queue() == [33]
    assert view_of(table.position, None).draw_pile_size == 60 - 15 - 1 - 1


@pytest.mark.rules("discat", "A turn")
def test_the_next_seat_has_the_same_constraint() -> None:
    table = lower_than_ten(4).draw(26)
    for seat in (1, 2, 3):
        assert table.actor == seat
        assert table.constraint() == (10, False)
        assert view_of(table.position, None).passes == seat - 1
        table.keep()
    assert view_of(table.position, None).passes == 3


@pytest.mark.rules("discat", "A turn")
def test_the_seat_after_a_pass_can_respect_the_constraint() -> None:
    table = Table([10, 21, 22, 23, 24], [31, 32, 33, 34, 35], [9, 42, 43, 44, 45]).play(10).draw(25)
    table.draw(26).keep()
    assert (table.actor, table.phase) == (2, "PLAY")
    assert table.legal_plays() == {(9,)}
    table.play(9).draw(50)
    assert view_of(table.position, None).constraint.creator == 2


# Back to the creator


@pytest.mark.rules("discat", "A turn")
def test_when_play_returns_to_the_creator_the_top_is_turned_and_the_play_is_free() -> None:
    table = lower_than_ten().draw(26).keep().keep()
    assert table.plain_events() == [("HAND_KEPT", 2, ()), ("TOP_TURNED", 0, (10,)), ("CONSTRAINT_LIFTED", 0, ())]
    assert (table.actor, table.phase) == (0, "PLAY")
    assert table.face_down(0) == [10]
    assert view_of(table.position, 0).HasField("constraint") is False
    assert {(card,) for card in (21, 22, 23, 24, 25, 26)} < table.legal_plays()
    # This play makes the next constraint.
    table.play(24)
    assert view_of(table.position, None).constraint.card == 24


@pytest.mark.rules("discat", "A turn")
def test_when_play_returns_to_the_creator_a_group_is_allowed() -> None:
    table = lower_than_ten().draw(26).keep().keep()
    assert (21, 22, 23) in table.legal_plays()
    assert (21, 22, 23, 24) in table.legal_plays()


# Refill


@pytest.mark.rules("discat", "A turn")
def test_a_hand_below_five_draws_up_to_five() -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 5, 6], up_arrows=[]).play(50).draw(7).play(31, 32, 33)
    for card in (8, 9, 10):
        assert (table.phase, len(table.hand(1))) == ("REFILL", 5 - (11 - card))
        table.draw(card)
        assert table.plain_events()[0] == ("CARD_REFILLED", 1, (card,))
    assert table.hand(1) == [5, 6, 8, 9, 10]
    assert table.actor == 0


@pytest.mark.rules("discat", "A turn")
def test_a_hand_of_six_is_not_reduced_and_does_not_draw_until_it_is_below_five() -> None:
    table = lower_than_ten(2).draw(26).keep()
    assert len(table.hand(0)) == 6
    table.play(26)
    # The hand still has five cards, so there is no refill. The next seat also has no card below 26.
    assert table.hand(0) == [21, 22, 23, 24, 25]
    assert table.phase == "BONUS"
    assert table.plain_events() == [("CARDS_PLAYED", 0, (26,))]


@pytest.mark.rules("discat", "A turn")
def test_a_refill_ends_with_the_last_card_of_the_pile() -> None:
    state = late_state(
        [[31, 32, 33, 34, 40], [1, 2, 3, 4, 5]], [played(36)], first=1, active=0, unknown=[50, 49], up_arrows=[]
    )
    table = Table.at(read(state)).play(31, 32, 33)
    table.draw(50, 49)
    assert table.hand(0) == [34, 40, 49, 50]
    assert table.actor == 1


@pytest.mark.rules("discat", "A turn")
def test_passes_and_exchanges_are_listed_as_turns() -> None:
    table = lower_than_ten(4).draw(26).keep().exchange(41).draw(60).keep()
    turns = view_of(table.position, None).turns
    assert [turn.seat for turn in turns] == [0, 1, 2, 3]
    assert [turn.WhichOneof("turn") for turn in turns] == ["played", "passed", "passed", "passed"]
    assert [turn.passed.exchanged for turn in turns[1:]] == [False, True, False]
