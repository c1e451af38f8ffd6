"""Tests of the rules in "Draw pile" and "End"."""

import pytest

from chatiere.engine.wire import fill
from chatiere.v1.discat_pb2 import DiscatScoreDetail

from ..building import end_of, read, state_of, view_of
from .building import CODEC, EXCHANGED, KEEP, KEPT, Table, late_state, played

# Draw pile


@pytest.mark.rules("discat", "Draw pile")
def test_the_last_unknown_card_is_still_a_chance_event() -> None:
    state = late_state(
        [[31, 40, 41, 42, 43], [1, 2, 3, 4, 5]], [played(36)], first=1, active=0, unknown=[50], up_arrows=[]
    )
    table = Table.at(read(state)).play(31)
    assert (table.actor, table.phase) == (-1, "REFILL")
    assert table.position.chance_outcomes() == [(49, 1)]
    table.draw(50)
    assert table.plain_events()[0] == ("CARD_REFILLED", 0, (50,))


def late_with_queue(*hands: list[int], unknown: tuple[int, ...] = (), queue: tuple[int, ...]) -> Table:
    """Return a table of two seats. Seat 1 put the queue's cards under the pile. Seat 0 has to play lower than 40."""
    turns = [turn for number in range(len(queue)) for turn in (played(9 - 2 * number), EXCHANGED)]
    state = late_state(
        hands, [*turns, played(38), played(40)], first=0, active=0, unknown=unknown, queue=queue, up_arrows=[]
    )
    return Table.at(read(state))


@pytest.mark.rules("discat", "Draw pile")
def test_the_queue_is_drawn_oldest_first_without_chance_once_no_card_is_unknown() -> None:
    table = late_with_queue([31, 32, 33, 49, 50], [2, 4, 6, 8, 10], queue=(46, 45, 47))
    table.play(31, 32, 33)
    assert table.plain_events()[1:4] == [
        ("CARD_REFILLED", 0, (46,)),
        ("CARD_REFILLED", 0, (45,)),
        ("CARD_REFILLED", 0, (47,)),
    ]
    assert table.hand(0) == [45, 46, 47, 49, 50]
    assert table.queue() == []
    assert table.actor == 1


@pytest.mark.rules("discat", "Draw pile")
def test_a_refill_takes_the_unknown_cards_first_then_the_queue() -> None:
    table = late_with_queue([31, 32, 33, 49, 50], [2, 4, 6, 8, 10], unknown=(47,), queue=(46, 45))
    table.play(31, 32, 33)
    assert table.phase == "REFILL"
    assert table.position.chance_outcomes() == [(46, 1)]
    table.draw(47)
    assert table.plain_events()[:3] == [
        ("CARD_REFILLED", 0, (47,)),
        ("CARD_REFILLED", 0, (46,)),
        ("CARD_REFILLED", 0, (45,)),
    ]


@pytest.mark.rules("discat", "Draw pile")
def test_a_bonus_is_drawn_from_the_queue_without_chance_once_no_card_is_unknown() -> None:
    # With six cards in hand, there is no refill, so the queue still has its cards when seat 1 has to pass.
    table = late_with_queue([10, 41, 42, 43, 44, 48], [12, 14, 16, 18, 20], queue=(46, 45)).play(10)
    assert table.plain_events() == [
        ("CARDS_PLAYED", 0, (10,)),
        ("BONUS_CARD_DRAWN", 0, (46,)),
        ("TOP_TURNED", 1, (40,)),
    ]
    assert table.hand(0) == [41, 42, 43, 44, 46, 48]
    assert (table.actor, table.phase) == (1, "PASS")
    assert view_of(table.position, None).constraint.bonus_drawn


@pytest.mark.rules("discat", "Draw pile")
def test_an_exchange_takes_the_oldest_of_the_queue_without_chance_once_no_card_is_unknown() -> None:
    table = late_with_queue([10, 41, 42, 43, 44, 48], [12, 14, 16, 18, 20], queue=(46, 45)).play(10)
    table.exchange(16)
    assert table.plain_events()[:2] == [("CARD_EXCHANGED", 1, (16,)), ("EXCHANGE_DRAWN", 1, (45,))]
    assert table.hand(1) == [12, 14, 18, 20, 45]
    assert table.queue() == [16]


@pytest.mark.rules("discat", "Draw pile")
def test_an_exchange_for_the_last_card_of_the_pile_leaves_the_exchanged_card() -> None:
    state = late_state(
        [[1, 2, 3, 4, 6], [30, 32, 34, 36, 38]],
        [played(10)],
        first=0,
        active=1,
        unknown=[50],
        phase="PASS",
        bonus_drawn=True,
        up_arrows=[],
    )
    table = Table.at(read(state)).exchange(30)
    assert table.phase == "EXCHANGE"
    table.draw(50)
    assert table.queue() == [30]
    assert view_of(table.position, None).draw_pile_size == 1


@pytest.mark.rules("discat", "Draw pile")
def test_outcomes_are_the_cards_number_minus_one() -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 5, 6]).play(50)
    assert dict(table.position.chance_outcomes()) == {
        card - 1: 1 for card in range(1, 51) if card not in (50, 1, 2, 3, 4, 31, 32, 33, 5, 6)
    }
    assert table.position.outcome_label(16) == "card 17"


# End: groups of five and six


@pytest.mark.rules("discat", "End")
def test_a_group_of_five_is_an_immediate_sole_win_regardless_of_points() -> None:
    table = Table([50, 42, 43, 44, 45], [1, 11, 21, 31, 41], [12, 13, 14, 15, 16], up_arrows=[]).play(50).draw(46)
    table.play(1, 11, 21, 41, 31)
    assert (table.actor, table.phase, end_of(table.position)) == (-4, "OVER", "group")
    assert table.plain_events() == [("CARDS_PLAYED", 1, (1, 11, 21, 41, 31)), ("GAME_ENDED", None, ())]
    assert table.position.winners() == [1]
    # There is no refill, but scores are reported, and all five cards are on the personal pile.
    assert table.hand(1) == []
    assert table.position.totals() == [1 - 5, 5, -5]
    assert table.pile(1) == [1, 11, 21, 41, 31]
    assert table.bonus_pile(1) == []


@pytest.mark.rules("discat", "End")
def test_after_a_group_of_five_the_winner_has_rank_1_and_all_other_seats_2() -> None:
    state = late_state([[2, 3], [1, 11, 21, 31, 41], [4], [5, 6, 7]], [played(50)], first=0, active=1, up_arrows=[])
    position = read(state)
    table = Table.at(position).play(1, 11, 21, 31, 41)
    totals = table.position.totals()
    assert len(set(totals)) > 2
    assert table.position.ranks() == [2, 1, 2, 2]
    assert table.position.returns() == [-1, 3, -1, -1]


@pytest.mark.rules("discat", "End")
def test_a_group_of_five_also_wins_against_more_points_and_in_the_last_turns() -> None:
    turns = [played(2, 12, 22, 32), played(58), played(59), played(4, 14, 24, 34)]
    state = late_state([[], [1, 11, 21, 31, 41], [6]], turns, first=0, active=1, last_turns_left=2, up_arrows=[])
    table = Table.at(read(state)).play(11, 21, 31, 41, 1)
    assert table.position.is_terminal()
    assert table.position.totals()[0] > table.position.totals()[1]
    assert table.position.winners() == [1]
    assert table.position.ranks() == [2, 1, 2]
    assert view_of(table.position, None).group_winner == 1
    assert (end_of(table.position), table.position.ended_by()) == ("group", 1)


@pytest.mark.rules("discat", "End")
@pytest.mark.parametrize("top", [21, 26])
def test_a_group_of_six_wins_like_a_group_of_five(top: int) -> None:
    hand = [21, 22, 23, 24, 25, 26]
    turns = [played(50), played(30), KEPT]
    state = late_state(
        [[40, 41, 42, 43, 44], hand], turns, first=0, active=1, unknown=[49], bonus_drawn=True, up_arrows=[]
    )
    table = Table.at(read(state))
    table.play(*(card for card in hand if card != top), top)
    assert table.position.winners() == [1]
    assert (end_of(table.position), table.position.ended_by()) == ("group", 1)
    assert view_of(table.position, None).group_winner == 1
    assert table.bonus_pile(1) == []
    assert state_of(table.position).draw_pile_cards == [49]


@pytest.mark.rules("discat", "End")
def test_a_group_of_four_does_not_end_the_game() -> None:
    table = Table([50, 41, 42, 43, 44], [1, 11, 21, 31, 49], up_arrows=[]).play(50).draw(45).play(1, 11, 21, 31)
    assert not table.position.is_terminal()
    assert end_of(table.position) is None
    assert not view_of(table.position, None).HasField("group_winner")


# End: last turns


def last_card(players: int, hands: list[list[int]], **options: object) -> Table:
    """Return a table with an empty pile where seat 0 can play any card (the previous seat's top is 1 and points up)."""
    last = players - 1
    state = late_state(hands, [played(1)], first=last, active=0, up_arrows=[1], **options)  # type: ignore[arg-type]
    return Table.at(read(state))


@pytest.mark.rules("discat", "End")
def test_an_empty_hand_with_an_empty_pile_starts_the_last_turns() -> None:
    table = last_card(3, [[30], [10, 11], [20, 21]])
    table.play(30)
    assert ("LAST_TURNS_BEGUN", 0, ()) in table.plain_events()
    assert state_of(table.position).last_turns_left == 2
    assert table.actor == 1


@pytest.mark.rules("discat", "End")
def test_every_other_seat_has_exactly_one_more_turn_in_order() -> None:
    table = last_card(4, [[60], [10, 11], [20, 21], [62, 31]]).play(60)
    actors = []
    while not table.position.is_terminal():
        actors.append((table.actor, table.phase, view_of(table.position, None).last_turns_left))
        table.apply(table.position.legal_actions()[0])
    assert actors == [(1, "PLAY", 3), (2, "PASS", 2), (3, "PASS", 1)]
    assert (end_of(table.position), table.position.ended_by()) == ("last_turns", 0)
    assert table.plain_events()[-1] == ("GAME_ENDED", None, ())


@pytest.mark.rules("discat", "End")
def test_a_last_turn_may_be_a_pass_and_then_only_keep_is_legal() -> None:
    table = last_card(2, [[10], [20, 21]]).play(10)
    assert table.position.legal_actions() == [KEEP]
    table.keep()
    assert table.position.is_terminal()
    # The creator has no card and does not play again, and its top is unchanged.
    assert table.face_down(0) == []


@pytest.mark.rules("discat", "End")
def test_an_empty_pile_does_not_start_the_last_turns_while_the_hand_has_cards() -> None:
    table = last_card(2, [[30, 31], [10, 11]]).play(30)
    assert state_of(table.position).last_turns_left == 0


@pytest.mark.rules("discat", "End")
def test_a_second_empty_hand_does_not_restart_the_last_turns() -> None:
    table = last_card(3, [[30], [10], [20, 5]]).play(30).play(10)
    assert "LAST_TURNS_BEGUN" not in [kind for kind, *_ in table.plain_events()]
    assert (table.actor, state_of(table.position).last_turns_left) == (2, 1)
    table.play(5)
    assert table.position.is_terminal()


@pytest.mark.rules("discat", "End")
def test_a_seat_can_end_a_last_turn_with_cards_in_hand() -> None:
    table = last_card(3, [[30], [10, 11, 12], [20, 5]]).play(30).play(10).play(5)
    assert table.position.is_terminal()
    assert table.hand(1) == [11, 12]


# End: score


@pytest.mark.rules("discat", "End")
def test_the_score_counts_pile_bonus_and_hand() -> None:
    position = read(late_state([[29, 40, 42], [46]], [played(1, 3, 5, 7), played(30)], first=0, active=0, up_arrows=[]))
    detail = DiscatScoreDetail()
    fill(detail, CODEC.put_score, position)
    view = view_of(position, None)
    for seat, score in enumerate(detail.seats):
        assert score.pile_points == len(view.seats[seat].pile)
        assert score.bonus_points == 4 * len(view.seats[seat].bonus_pile)
        assert score.hand_points == -view.seats[seat].hand_size
    assert [seat.bonus_points for seat in detail.seats] == [4, 0]
    assert [seat.hand_points for seat in detail.seats] == [-3, -1]
    assert position.totals() == [sum((s.pile_points, s.bonus_points, s.hand_points)) for s in detail.seats]


@pytest.mark.rules("discat", "End")
def test_there_is_a_score_from_the_deal_on() -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 5, 6])
    assert table.position.totals() == [-5, -5]
    assert table.play(50).position.totals() == [1 - 4, -5]


GROUPS = [played(1, 11, 21, 31), played(3, 13, 23), played(2, 12, 22, 32), played(5, 15, 25), KEPT, played(7, 17)]


@pytest.mark.rules("discat", "End")
def test_the_most_points_win() -> None:
    # The hands have different sizes, and everything else is equal.
    table = Table.at(read(late_state([[20, 22], []], [], active=1, phase="OVER")))
    assert table.position.totals() == [24 - 2, 24]
    assert table.position.ranks() == [2, 1]
    assert table.position.winners() == [1]


@pytest.mark.rules("discat", "End")
def test_a_tie_is_broken_by_bonus_cards() -> None:
    state = late_state([[40, 41, 42, 43, 44, 45], []], GROUPS, first=0, active=1, phase="OVER")
    table = Table.at(read(state))
    assert table.position.totals() == [22, 22]
    assert [len(table.bonus_pile(seat)) for seat in (0, 1)] == [2, 0]
    assert table.position.ranks() == [1, 2]
    assert table.position.winners() == [0]
    assert table.position.returns() == [1, -1]


@pytest.mark.rules("discat", "End")
def test_a_tie_in_points_and_bonus_cards_is_shared() -> None:
    position = read(late_state([[], []], [], active=1, phase="OVER"))
    assert position.totals() == [25, 25]
    assert position.ranks() == [1, 1]
    assert position.winners() == [0, 1]
    assert position.returns() == [0, 0]


@pytest.mark.rules("discat", "End")
def test_seats_behind_shared_winners_have_rank_three() -> None:
    position = read(late_state([[], [], [56, 58, 60]], [], first=0, active=2, phase="OVER"))
    assert position.totals() == [19, 19, 16]
    assert position.ranks() == [1, 1, 3]
    assert position.returns() == [0.5, 0.5, -1]


@pytest.mark.rules("discat", "End")
def test_no_move_is_possible_after_the_end() -> None:
    table = Table.at(read(late_state([[], []], [], active=1, phase="OVER")))
    assert table.refusal(KEEP).reason == "GAME_OVER"
