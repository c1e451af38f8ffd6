"""Tests of the rules in "End of a round", "End of the game" and "Worked cases"."""

from collections.abc import Callable
from typing import Any

import pytest
from tools.over import over

from chatiere.engine import TERMINAL_PLAYER
from chatiere.engine.wire import fill
from chatiere.v1.momistigri_pb2 import MomistigriRoundEnd, MomistigriScoreDetail

from ..building import end_of
from .building import CODEC, PLAYERS, Table, cards, names

LAST_SEATS = ["3A", "4A", "5A", "7A", "8C"]


@pytest.mark.rules("momistigri", "End of a round", "Worked cases")
def test_the_last_seat_with_cards_finishes_its_own_turn() -> None:
    # Worked case: A draws B's last card, so B leaves. A may discard one more pair, and the rest is its penalty.
    table = Table.late("3A 3B 4C M", "4A", "", active=0, phase="DRAW", draws_left=1).draw("4A")
    assert table.inside() == [0]
    assert (table.phase, table.actor) == ("DISCARD", 0)
    table.pair("3A 4A")
    assert table.penalties() == [[17, 0, 0]]
    assert [event[0] for event in table.plain_events()] == [
        "PAIR_DISCARDED",
        "ONE_SEAT_LEFT",
        "HAND_SHOWN",
        "PENALTY_TAKEN",
        "PENALTY_TAKEN",
        "PENALTY_TAKEN",
        "ROUND_BEGUN",
    ]


@pytest.mark.rules("momistigri", "End of a round")
def test_the_last_seat_can_use_a_1_and_a_6() -> None:
    # Worked case: Main of a 1 and a 6 work as usual. Other effects have no target.
    table = Table.late("1A 1B 1C 4A", "", "", "", "").pair("1A 1B").main()
    assert table.penalties() == [[4, 0, 0, 0, 0]]
    table = Table.late("6A 6B 7A 5A 4B", "", "").pair("6A 6B").pair("5A 7A")
    assert table.penalties() == [[4, 0, 0]]
    for both in ("4B 4C", "5A 5B", "7A 7B", "8C 8D"):
        assert Table.late(f"{both} M", "", "").pair(both).penalties() == [[10, 0, 0]]


@pytest.mark.rules("momistigri", "End of a round", "Decisions of the engine")
def test_the_last_seat_can_pass() -> None:
    table = Table.late("6A M", "", "").pass_turn()
    assert table.penalties() == [[16, 0, 0]]
    assert table.plain_events()[1][0] == "ONE_SEAT_LEFT"


@pytest.mark.rules("momistigri", "End of a round", "Worked cases")
def test_the_momistigri_by_itself_is_ten_points() -> None:
    # Worked case.
    assert Table.late("M", "", "").pass_turn().penalties() == [[10, 0, 0]]


@pytest.mark.rules("momistigri", "End of a round")
def test_otherwise_the_round_ends_immediately() -> None:
    # Seat 0 discards its last cards in its own turn, and seat 1 has no more turns.
    table = Table.late("3A 3B", "4A 4B M", "").pair("3A 3B").main()
    assert table.penalties() == [[0, 18, 0]]
    # Giving its last card away has the same result.
    table = Table.late("4A 4B 3A", "M", "").pair("4A 4B").give("3A", 1)
    assert table.penalties() == [[0, 13, 0]]


@pytest.mark.rules("momistigri", "End of a round")
def test_the_end_is_checked_only_when_an_effect_is_complete() -> None:
    # The rulebook leaves this open. In the engine, seat 0 hands out cards after discarding its last two cards, and then
    # the round ends.
    table = Table.late("5A 5B", "M", "").pair("5A 5B")
    assert (table.phase, table.round) == ("HAND_OUT", 1)
    table.hand_out("8C")
    assert table.penalties() == [[0, 18, 0]]


@pytest.mark.rules("momistigri", "End of a round")
def test_the_round_can_end_with_all_hands_empty() -> None:
    table = Table.late("6A 6B", "", "").pair("6A 6B").stop()
    assert table.penalties() == [[0, 0, 0]]


@pytest.mark.rules("momistigri", "End of a round", "Worked cases")
def test_the_round_ends_when_three_seats_pass_in_a_row() -> None:
    # Worked case: sums 11, 7 and 4.
    table = Table.late("5A 6B", "7A", "4A", "").pass_turn().draw("5A").pass_turn().draw("7A")
    assert table.round == 1
    assert table.passed() == [0, 1]
    table = Table.late("4B 7B", "7A", "4A", "", active=0, passed=(1, 2)).pass_turn()
    assert table.penalties() == [[11, 7, 4, 0]]
    assert table.plain_events()[:2] == [("PASSED", 0, ""), ("ALL_PASSED", None, "")]


@pytest.mark.rules("momistigri", "End of a round")
def test_pass_marks_count_even_if_passes_are_not_consecutive() -> None:
    # The rulebook leaves this open. In the engine, only the marks matter. In this test, seats 1 and 2 have passed, and
    # seat 0 discards. In seat 0's next turn, only its own mark is missing.
    table = Table.late("3A 4A 7A M", "5B 6A", "5C 6B", passed=(1, 2)).pair("3A 4A")
    assert table.passed() == [1, 2]
    table.draw("7A").pass_turn().draw("7A").pass_turn()
    assert table.round == 1
    table.draw("7A").pass_turn()
    assert table.round == 2


@pytest.mark.rules("momistigri", "End of a round")
def test_the_round_ends_when_the_last_seat_without_a_mark_leaves() -> None:
    # The rulebook leaves this open. In the engine, the round ends if all seats still in it have marks, even if the turn
    # was not a pass.
    table = Table.late("3A 4A", "5B 7A", "6B 8C", passed=(1, 2)).pair("3A 4A")
    assert table.penalties() == [[0, 12, 14]]
    assert [event[0] for event in table.plain_events()][:3] == ["PAIR_DISCARDED", "SEAT_LEFT", "ALL_PASSED"]
    # The same is true after a complete effect: Main of a 1, Reverse, a gift of the last card, the cards of a 5, Stop.
    marked = {"passed": (1, 2)}
    assert Table.late("1A 1B 1C", "6A", "7B", "", "", **marked).pair("1A 1B").main().penalties() == [[0, 6, 7, 0, 0]]
    assert Table.late("3A 3B", "6A", "7B", **marked).pair("3A 3B").reverse().penalties() == [[0, 6, 7]]
    assert Table.late("4A 4B 3A", "6A", "7B", **marked).pair("4A 4B").give("3A", 2).penalties() == [[0, 6, 10]]
    table = Table.late("5A 5B", "6A", "7B", **marked).pair("5A 5B").hand_out("3A")
    assert table.round == 1
    assert table.hand_out("8C").penalties() == [[0, 9, 15]]
    assert Table.late("6A 6B", "7A", "7B", **marked).pair("6A 6B").stop().penalties() == [[0, 7, 7]]


@pytest.mark.rules("momistigri", "End of a round")
def test_a_seat_whose_last_card_is_drawn_leaves_within_the_drawers_turn() -> None:
    # The rulebook leaves this open. In the engine, the seat that draws finishes its turn, although its own mark is set.
    # A pair clears that mark, so the round continues.
    drawn = Table.late("3A 4A", "5B 6B", "7B", active=0, passed=(0, 1), phase="DRAW", draws_left=1).draw("7B")
    assert (drawn.inside(), drawn.passed(), drawn.phase, drawn.round) == ([0, 1], [0, 1], "DISCARD", 1)
    assert Table(drawn.position.clone()).pass_turn().penalties() == [[14, 11, 0]]
    table = Table(drawn.position.clone()).pair("3A 4A")
    assert (table.round, table.passed(), table.phase) == (1, [1], "DRAW")


@pytest.mark.rules("momistigri", "End of a round")
def test_a_seat_that_passed_can_play_again() -> None:
    table = Table.late("3A 4A 5B", "6B", "7A", passed=(0,)).pair("3A 4A")
    assert table.passed() == []


@pytest.mark.rules("momistigri", "End of a round")
def test_seats_that_left_take_no_penalty() -> None:
    table = Table.late("5A", "", "7A", "", "4A", passed=(2, 4)).pass_turn()
    assert table.penalties() == [[5, 0, 7, 0, 4]]


@pytest.mark.rules("momistigri", "End of a round", "Decisions of the engine")
def test_hands_are_shown_when_they_are_counted() -> None:
    held = "3A 3B 3C 3D 4A 4B 4C 4D 5A 5B"
    table = Table.late(held, "7A", "", passed=(1,)).pass_turn()
    shown = [(seat, cards) for kind, seat, cards in table.plain_events() if kind == "HAND_SHOWN"]
    assert [len(cards.split()) for _, cards in shown] == [8, 2, 1]
    assert " ".join(cards for seat, cards in shown if seat == 0).split() == names(cards(held)).split()


@pytest.mark.rules("momistigri", "End of a round")
@pytest.mark.parametrize("turn", [199, 200])
@over("players", PLAYERS)
def test_the_200th_turn_is_the_rounds_last(players: int, turn: int) -> None:
    # The rulebook does not limit the number of turns. In the engine, the round then ends as if all seats had passed.
    hands = ["3A 4A 7B", *LAST_SEATS[1:players]]
    hands[1] = "4B"
    expected = [[7, 4, 5, 7, 8][:players]]
    table = Table.late(*hands, turn=turn).pair("3A 4A")
    if turn == 199:
        assert (table.state.turn, table.round) == (200, 1)
        table.draw("7B").pass_turn()
        expected = [[0, 11, 5, 7, 8][:players]]
    assert table.penalties() == expected
    assert "TURN_LIMIT_REACHED" in [kind for kind, _, _ in table.plain_events()]


@pytest.mark.rules("momistigri", "End of a round", "Decisions of the engine")
def test_effects_of_the_200th_turn_are_completed() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B", turn=200).pair("4A 4B")
    assert table.phase == "GIVE"
    assert table.give("3A", 1).penalties() == [[0, 9, 6]]
    table = Table.late("2A 2B 3A", "6A", "6B", "6C", turn=200).pair("2A 2B").main()
    assert table.phase == "NAME"
    assert table.name("3A").penalties() == [[3, 6, 6, 6]]
    table = Table.late("7A 7B 3A", "6A", "6B", turn=200).pair("7A 7B")
    assert table.penalties() == [[3, 6, 6]]


@pytest.mark.rules("momistigri", "End of a round")
def test_a_turn_counts_once_regardless_of_the_cards_drawn() -> None:
    table = Table.late("8C 8D 3A 4A 5A", "6A", "6B").pair("8C 8D")
    assert table.state.turn == 21
    table.draw("3A", "4A", "5A")
    assert table.state.turn == 21


# End of the game


@pytest.mark.rules("momistigri", "End of the game")
def test_after_two_rounds_the_fewest_points_win() -> None:
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[7, 1, 2]]).pass_turn()
    assert table.actor == TERMINAL_PLAYER
    assert table.position.totals() == [11, 6, 8]
    assert table.position.ranks() == [3, 1, 2]
    assert table.position.winners() == [1]
    assert end_of(table.position) == "two_rounds"
    assert table.plain_events()[-1] == ("GAME_ENDED", None, "")


LATE: dict[str, Any] = {"round": 2, "penalties": [[7, 1, 2]]}


@pytest.mark.rules("momistigri", "End of the game", "End of a round")
@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (lambda: Table.late("5A", "4A", "6A", active=1, passed=(0, 2), **LATE).pass_turn(), "ALL_PASSED"),
        (lambda: Table.late("5A", "4A", "6A", active=1, passed=(0, 2), turn=200, **LATE).pass_turn(), "ALL_PASSED"),
        (lambda: Table.late("5A", "3A 4A", "", active=1, passed=(0,), **LATE).pair("3A 4A"), "ONE_SEAT_LEFT"),
        (lambda: Table.late("5A", "4A", "6A", active=1, turn=200, **LATE).pass_turn(), "TURN_LIMIT"),
        # The last seat without a mark leaves.
        (lambda: Table.late("5A", "3A 4A", "6A", active=1, passed=(0, 2), **LATE).pair("3A 4A"), "ALL_PASSED"),
        (
            lambda: Table.late("5A", "3A 4A", "6A", active=1, passed=(0, 2), turn=200, **LATE).pair("3A 4A"),
            "ALL_PASSED",
        ),
        (
            lambda: Table.late("5A", "3A 4A", "6A", active=1, passed=(0,), turn=200, **LATE).pair("3A 4A"),
            "TURN_LIMIT",
        ),
    ],
)
def test_the_end_names_the_reason_of_the_last_round_and_the_last_turns_seat(
    ended: Callable[[], Table], reason: str
) -> None:
    table = ended()
    last_round = MomistigriRoundEnd.Name(table.state.end.last_round).removeprefix("MOMISTIGRI_ROUND_END_")
    assert (last_round, table.position.ended_by()) == (reason, 1)
    assert any(kind.startswith(reason) for kind, *_ in table.plain_events())


@pytest.mark.rules("momistigri", "End of the game")
def test_hands_and_pile_are_unchanged_after_the_last_round() -> None:
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[7, 1, 2]]).pass_turn()
    assert [table.hand(seat) for seat in range(3)] == ["4A", "5A", "6A"]
    assert len(table.state.discards) == 25


@pytest.mark.rules("momistigri", "End of the game")
def test_a_tie_for_the_fewest_points_after_two_rounds_starts_a_third_for_all() -> None:
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[7, 1, 0]], first=0).pass_turn()
    assert table.position.totals() == [11, 6, 6]
    assert (table.round, table.phase, table.active) == (3, "DEAL", 0)
    assert end_of(table.position) is None
    # A tie at a higher number of points does not start a third round.
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[2, 1, 0]]).pass_turn()
    assert (table.position.totals(), table.round) == ([6, 6, 6], 3)
    table = Table.late("4A", "5A", "3A", passed=(1, 2), round=2, penalties=[[2, 1, 0]]).pass_turn()
    assert table.actor == TERMINAL_PLAYER
    assert table.position.ranks() == [2, 2, 1]


@pytest.mark.rules("momistigri", "End of the game")
def test_a_tie_after_the_third_round_is_shared() -> None:
    # The rulebook leaves this open. In the engine, the seats share the win.
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=3, penalties=[[7, 1, 0], [3, 5, 6]]).pass_turn()
    assert table.actor == TERMINAL_PLAYER
    assert end_of(table.position) == "third_round"
    assert table.position.totals() == [14, 11, 12]
    table = Table.late("4A", "5A", "5B", passed=(1, 2), round=3, penalties=[[7, 1, 0], [3, 5, 6]]).pass_turn()
    assert table.position.winners() == [1, 2]
    assert table.position.ranks() == [3, 1, 1]
    assert table.position.returns() == [-1.0, 0.5, 0.5]
    assert end_of(table.position) == "third_round"


@pytest.mark.rules("momistigri", "End of the game")
def test_the_score_during_a_round_counts_the_hands() -> None:
    table = Table.late("4A", "5A M", "6A", round=2, penalties=[[7, 1, 2]])
    assert table.position.totals() == [11, 16, 8]
    detail = MomistigriScoreDetail()
    fill(detail, CODEC.put_score, table.position)
    assert [(list(seat.round_points), seat.hand_points) for seat in detail.seats] == [([7], 4), ([1], 15), ([2], 6)]


@pytest.mark.rules("momistigri", "End of the game")
def test_the_score_after_the_end_counts_only_finished_rounds() -> None:
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[7, 1, 2]]).pass_turn()
    detail = MomistigriScoreDetail()
    fill(detail, CODEC.put_score, table.position)
    assert [(list(seat.round_points), seat.hand_points) for seat in detail.seats] == [
        ([7, 4], 0),
        ([1, 5], 0),
        ([2, 6], 0),
    ]


@pytest.mark.rules("momistigri", "End of the game")
def test_the_first_seat_of_the_third_round_has_the_most_points_of_both() -> None:
    table = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[0, 9, 0]], first=1)
    table.pass_turn()
    assert (table.position.totals(), table.phase) == ([4, 14, 6], "OVER")
    table = Table.late("6A", "4A", "6B", passed=(1, 2), round=2, penalties=[[0, 9, 0]], first=1).pass_turn()
    assert (table.position.totals(), table.round, table.active) == ([6, 13, 6], 3, 1)
