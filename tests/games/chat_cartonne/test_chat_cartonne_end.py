"""Tests of the rules in "End" and "Score"."""

from typing import Any

import pytest
from tools.over import over

from chatiere.engine import TERMINAL_PLAYER, EventLog, Position
from chatiere.v1.chat_cartonne_pb2 import ChatCartonneBoxSeat

from ..building import end_of, phase, read, refusal, score_of, state_of, view_of
from ..played import played
from .building import DRAW, GAME, PASS, PRINCESS, SKIP, Board, cat, cell, place, plain_events, play, princess_in, sleep

pytestmark = pytest.mark.rules("chat_cartonne", "End", "Score")

# End


@over("players", [2, 3, 4, 5])
def test_the_end_names_the_seat_that_moved_last(players: int) -> None:
    seat = 0
    for position, _ in played(GAME, players, games=6):
        if position.is_terminal():
            assert position.ended_by() == seat
        seat = position.current_player()


def four_cats(**options: Any) -> Board:
    """Return a table where four cats of seat 0 sleep west of the starting cartons."""
    board = Board(**options)
    for number in range(4):
        board.asleep(cell(7 + number, 11), 0)
    return board


def test_the_fifth_cat_starts_the_final_phase() -> None:
    events = EventLog()
    position = four_cats().position()
    position.apply(sleep(cell(6, 11)), events)
    assert plain_events(events) == [("CAT_ASLEEP", 0), ("FINAL_PHASE_BEGUN", None)]
    assert state_of(position).final_phase
    assert position.current_player() == 1
    # No seat draws in the final phase, so a turn is one decision: a carton or a sleeping cat.
    assert DRAW not in position.legal_actions()
    assert "before the final phase" in refusal(position, DRAW).message
    assert sleep(cell(12, 11)) in position.legal_actions()
    assert any(13 <= move < 3469 for move in position.legal_actions())
    assert refusal(position, PASS).rule == "chat_cartonne.md: End"


def test_an_awake_fifth_cat_also_starts_it_and_a_princess_does_not_end_it() -> None:
    board = four_cats().hand(0, 0, 1).hand(1, PRINCESS, 2)
    position = play(board.position(), DRAW, 20, place(0, cell(12, 11)), cat(cell(11, 11)))
    assert state_of(position).final_phase
    position = play(position, princess_in(cell(7, 11)))
    assert state_of(position).seats[0].supply == 1
    assert state_of(position).final_phase
    assert position.current_player() == 0
    assert sleep(cell(6, 11)) in position.legal_actions()


def last_card(**options: Any) -> Position:
    """Return a position of two seats with one card, a toy card or a carton, left in the pile."""
    board = Board(all_princesses=True, **options)
    cells = [cell(column, row) for row in (9, 10, 13, 14, 15) for column in range(4, 18)][:62]
    board.fill(*(cell(10, row) for row in (11, 12)), *cells)
    for number in range(5):
        board.princess(cell(18 + number, 13), False, number % 2)
    return board.position()


def test_the_final_phase_starts_when_a_turn_ends_with_the_pile_empty() -> None:
    position = last_card()
    while view_of(position, None).draw_pile_size > 1:
        position = play(position, DRAW, position.child(DRAW).chance_outcomes()[0][0])
        position = play(position, position.legal_actions()[0])
        if phase(position) == "CAT":
            position = play(position, SKIP)
        assert not state_of(position).final_phase
    position = play(position, DRAW, position.child(DRAW).chance_outcomes()[-1][0])
    # The turn has not ended yet.
    assert not state_of(position).final_phase
    position = play(position, position.legal_actions()[-1])
    if phase(position) == "CAT":
        position = play(position, SKIP)
    assert state_of(position).final_phase
    while not position.is_terminal():
        position = play(position, position.legal_actions()[0])
    assert not any(kind < 72 for seat in state_of(position).seats for kind in seat.hand_cards)
    assert end_of(position) == "no_cartons"


def final(players: int = 2, **options: Any) -> Board:
    """Return a table in the final phase, where all of seat 0's cats sleep."""
    board = Board(players, **options)
    for number in range(5):
        board.asleep(cell(6 + number, 11), 0)
    board.final = True
    return board


def test_a_seat_without_a_carton_is_skipped_even_with_a_princess() -> None:
    board = final(3).hand(0, 0, 1).hand(1, PRINCESS).hand(2, 3, 4)
    position = play(board.position(), place(0, cell(12, 11)))
    assert position.current_player() == 2
    view = view_of(position, 0)
    assert [seat.holds_carton for seat in view.seats] == [True, False, True]


def test_in_the_final_phase_a_seat_can_only_play_cards_that_it_has() -> None:
    position = final().hand(0, 0).hand(1, 1).position()
    assert "not in the hand" in refusal(position, place(1, cell(12, 11))).message
    assert "all five of the player's cats" in refusal(position, sleep(cell(12, 11))).message


def test_a_cat_may_follow_the_games_last_carton() -> None:
    board = final().hand(1, 3)
    board.active = 1
    position = play(board.position(), place(0, cell(12, 13)))
    assert phase(position) == "CAT"
    events = EventLog()
    position.apply(SKIP, events)
    assert plain_events(events) == [("NO_CAT_FOLLOWED", 1), ("GAME_ENDED", None)]
    assert position.current_player() == TERMINAL_PLAYER
    assert end_of(position) == "no_cartons"


def test_the_game_is_over_when_no_seat_holds_a_carton_even_when_the_final_phase_starts() -> None:
    board = four_cats(all_princesses=True).hand(0, PRINCESS, PRINCESS).hand(1, PRINCESS, PRINCESS)
    position = board.position()
    # The game is not over in the main phase.
    assert position.current_player() == 0
    position = play(position, sleep(cell(6, 11)))
    assert end_of(position) == "no_cartons"
    assert position.winners() == [0, 1]


def test_pass_is_legal_only_without_a_possible_play() -> None:
    # The seat holds three Princesses, and there is no cat on the table.
    board = Board(3, all_princesses=True).hand(0, PRINCESS, PRINCESS)
    position = play(board.position(), DRAW, PRINCESS)
    assert position.legal_actions() == [PASS]
    events = EventLog()
    position.apply(PASS, events)
    assert plain_events(events) == [("PASSED", 0)]
    position.check()
    shown = state_of(position).seats[0].shown
    assert [list(each.not_patterns) for each in shown] == [list(range(8))] * 3
    assert not any(each.not_princess for each in shown)
    # The other seats now know the cards in this hand.
    assert list(state_of(position.resample(1, 5)).seats[0].hand_cards) == [PRINCESS] * 3
    # Its next turn starts with three cards, so it does not draw.
    position = play(position, DRAW, 20, place(0, cell(12, 11)))
    position = play(position, SKIP) if phase(position) == "CAT" else position
    position = play(position, sleep(cell(13, 11)))
    assert position.current_player() == 0
    assert DRAW not in position.legal_actions()
    assert princess_in(cell(13, 11)) in position.legal_actions()
    after = play(position, princess_in(cell(13, 11)))
    assert len(state_of(after).seats[0].shown) == 2


def walled(cats: tuple[int, int], *hands: list[int]) -> Board:
    """Return a table with walls north and south from edge to edge, where no carton with walls N and S fits.

    The option no_double_walls is set. Row 11 is full, and row 12 is full in columns 7-15. The first cats of each seat
    are awake in row 11.
    """
    board = Board(no_double_walls=True)
    board.cards = {cell(11, 11): (80, False), cell(11, 12): (79, True)}
    for seat, hand in enumerate(hands):
        board.hand(seat, *hand)
    ns = [*range(27, 36), *range(63, 69)]
    ne, n = list(range(45, 54)), list(range(9, 18))
    for column in range(24):
        if column == 11:
            continue
        if column in range(7, 16):
            board.cards[cell(column, 11)] = (ne.pop(), False)
            board.cards[cell(column, 12)] = (n.pop(), True)
        else:
            board.cards[cell(column, 11)] = (ns.pop(0), False)
    joints = [cell(column, 11) for column in (*range(7), 16)]
    for seat, count in enumerate(cats):
        for _ in range(count):
            board.awake(joints.pop(0), seat)
    return board


NES = (70, 71)


def test_the_game_ends_when_every_seat_with_a_carton_passes() -> None:
    board = walled((5, 2), [NES[0]], [NES[1]])
    board.final = True
    position = board.position()
    # Seat 0 has no cell for its carton, and no cat. Seat 1 has cats.
    assert position.legal_actions() == [PASS]
    assert refusal(position, place(0, cell(3, 10))).message.startswith("in this variant")
    position = play(position, PASS)
    assert state_of(position).passes == 1
    assert [list(shown.not_patterns) for shown in state_of(position).seats[0].shown] == [[0, 1, 2, 4, 5, 6]]
    assert state_of(position).seats[0].shown[0].not_princess
    assert refusal(position, PASS).rule == "chat_cartonne.md: End"
    # Any other play restarts the count and gives seat 0 a cell.
    slept = play(position, sleep(cell(3, 10)))
    assert (state_of(slept).passes, slept.current_player()) == (0, 0)
    assert PASS not in slept.legal_actions()
    # The patterns that remain possible after the pass: NS and NES.
    hands = {state_of(position.resample(1, seed)).seats[0].hand_cards[0] // 9 for seed in range(40)}
    assert hands == {7}


def test_consecutive_passes_of_both_holders_end_the_game() -> None:
    board = walled((5, 3), [NES[0]], [NES[1]])
    board.final = True

    def seat_1_has_passed(state: Any) -> None:
        state.passes = 1

    position = board.position(seat_1_has_passed)
    events = EventLog()
    position.apply(PASS, events)
    assert plain_events(events) == [("PASSED", 0), ("GAME_ENDED", None)]
    assert end_of(position) == "all_passed"


def test_a_pass_after_a_draw_shows_which_cards_the_hand_lacks() -> None:
    board = walled((2, 2), list(NES), [0, 1])
    position = play(board.position(), DRAW, 69)
    assert position.legal_actions() == [PASS]
    position = play(position, PASS)
    assert not state_of(position).final_phase
    assert state_of(position).passes == 0
    assert [list(shown.not_patterns) for shown in state_of(position).seats[0].shown] == [[0, 1, 2, 4, 5, 6]] * 3
    # The other seats know that the seat holds three cartons with walls N and S.
    hands = {
        tuple(kind // 9 for kind in state_of(position.resample(1, seed)).seats[0].hand_cards) for seed in range(60)
    }
    assert hands <= {(3, 3, 3), (3, 3, 7), (3, 7, 7), (7, 7, 7)}


# Score


def boxes_of(position: Position) -> dict[int, Any]:
    """Return the box of each cell."""
    return {where: box for box in score_of(position).boxes for where in box.cells}


def house(closed: bool = True, **options: Any) -> Board:
    """Return a table with a box north of the starting cartons, at (11, 10) and (12, 10), closed or open there."""
    board = Board(**options)
    north = "NES" if closed else "NS"
    board.put(cell(12, 10), north, "m")
    board.put(cell(11, 10), "NES", "mb", turned=True)
    return board


def test_the_most_frequent_toy_counts_each_carton_one() -> None:
    position = house().awake(cell(11, 10), 1).position()
    box = boxes_of(position)[cell(11, 10)]
    assert (box.mice, box.balls, box.fish, box.sprayers) == (2, 1, 0, 0)
    assert list(box.cells) == [cell(11, 10), cell(12, 10)]
    assert box.closed
    assert (box.points, list(box.majority)) == (4, [1])
    assert position.totals() == [0, 4]


def test_an_open_box_is_not_doubled() -> None:
    position = house(closed=False).awake(cell(11, 10), 1).position()
    box = boxes_of(position)[cell(11, 10)]
    assert (box.closed, box.points) == (False, 2)


def test_the_tables_edge_leaves_a_box_open() -> None:
    row = [cell(column, 11) for column in range(12, 23)]
    board = Board().put(cell(23, 11), "NS", "m").put(cell(22, 11), "NES", "m", turned=True).fill(*row[:-1])
    assert not boxes_of(board.position())[cell(23, 11)].closed
    board = Board().put(cell(23, 11), "NES", "m").put(cell(22, 11), "NES", "b", turned=True).fill(*row[:-1])
    assert boxes_of(board.position())[cell(23, 11)].closed


def test_toys_on_joints_and_in_cells_count_two() -> None:
    position = house().toy_on(cell(11, 10), 73).position()
    box = boxes_of(position)[cell(11, 10)]
    assert (box.mice, box.balls) == (2, 3)
    # Without an awake cat there is no majority, so the box scores no points.
    assert (list(box.majority), box.points, position.totals()) == ([], 0, [0, 0])
    board = Board().toy(cell(12, 11), 74).awake(cell(11, 11), 0)
    assert boxes_of(board.position())[cell(12, 11)].fish == 2


def test_sprayers_are_subtracted_and_doubled_in_a_closed_box() -> None:
    board = Board().put(cell(12, 10), "NES", "!").put(cell(11, 10), "NES", "f", turned=True).awake(cell(11, 10), 0)
    board.put(cell(13, 10), "NS", "!")
    position = board.position()
    assert boxes_of(position)[cell(11, 10)].points == 0
    assert score_of(position).seats[0].negative_points == 2
    board = Board().put(cell(12, 10), "NES", "!").put(cell(11, 10), "NES", "", turned=True).awake(cell(11, 10), 0)
    position = board.position()
    assert position.totals() == [-2, 0]
    assert score_of(position).seats[0].total == -2


def crowd(*cats: tuple[str, int], **options: Any) -> Position:
    """Return a position with one large open box that has these cats and Princesses.

    The box of the starting cartons extends to the west, with joints at (5 … 10, 11).
    """
    board = Board(**options)
    for column in range(5, 11):
        board.put(cell(column, 11), "", ("", "m", "b", "f", "mb", "bf")[column - 5])
    joints = iter(range(5, 11))
    rows = iter(range(5, 11))
    for how, seat in cats:
        if how == "awake":
            board.awake(cell(next(joints), 11), seat)
        elif how == "princess":
            board.princess(cell(next(joints), 11), True, seat)
        else:
            board.asleep(cell(next(rows), 10), seat, how == "woken")
    return board.position()


def test_each_seat_with_most_cats_gets_all_points() -> None:
    position = crowd(("awake", 0), ("awake", 1))
    box = boxes_of(position)[cell(5, 11)]
    assert (list(box.majority), box.points) == ([0, 1], 3)
    assert position.totals() == [3, 3]
    assert crowd(("awake", 0), ("awake", 1), ("awake", 1)).totals() == [0, 3 + 1]


def test_a_sleeping_cat_counts_once_it_has_woken() -> None:
    position = crowd(("asleep", 0), ("asleep", 0), ("awake", 1))
    assert list(boxes_of(position)[cell(5, 11)].majority) == [1]
    assert position.totals() == [0, 3]
    # A cat that still sleeps does not count next to an awake cat that was laid earlier.
    assert crowd(("asleep", 0), ("awake", 0), ("awake", 1)).totals() == [3, 3]
    position = crowd(("woken", 0), ("awake", 0), ("awake", 1))
    assert list(boxes_of(position)[cell(5, 11)].majority) == [0]
    assert position.totals() == [3 + 1, 0]
    assert crowd(("asleep", 0), ("asleep", 1)).totals() == [0, 0]


def test_a_woken_cat_counts_without_an_awake_one() -> None:
    position = crowd(("woken", 0), ("woken", 0), ("princess", 1), ("awake", 1))
    assert list(boxes_of(position)[cell(5, 11)].majority) == [0]
    assert position.totals() == [3 + 1, 0]
    assert crowd(("woken", 0), ("princess", 1)).totals() == [3, 0]


def test_every_cat_of_a_box_is_awake_woken_or_asleep() -> None:
    box = boxes_of(crowd(("awake", 0), ("woken", 0), ("woken", 0), ("asleep", 0), ("asleep", 1)))[cell(5, 11)]
    assert [(own.awake_cats, own.woken_cats, own.sleeping_cats) for own in box.by_seat] == [(1, 2, 1), (0, 0, 1)]
    assert [own.bonus_points for own in box.by_seat] == [2, 0]


def test_half_sleepers_halves_a_woken_cat_only_for_the_majority() -> None:
    cats = (("awake", 0), ("woken", 0), ("woken", 0), ("awake", 1), ("awake", 1))
    assert crowd(*cats).totals() == [3 + 2, 1]
    # 1 + 1/2 + 1/2 equals 2, and the bonus is not halved.
    assert crowd(*cats, half_sleepers=True).totals() == [3 + 2, 3 + 1]
    less = (("awake", 0), ("woken", 0), ("awake", 1), ("awake", 1))
    assert crowd(*less, half_sleepers=True).totals() == [1, 3 + 1]


def test_the_bonus_goes_to_any_seat_and_is_not_doubled() -> None:
    position = house().put(cell(10, 10), "NES", "f").awake(cell(11, 10), 0).position()
    assert position.totals() == [4, 0]
    assert crowd(("awake", 0), ("awake", 0), ("awake", 1), ("awake", 1), ("awake", 1)).totals() == [1, 3 + 2]
    detail = score_of(crowd(("awake", 0), ("awake", 0), ("awake", 1)))
    assert [[own.bonus_points for own in box.by_seat] for box in detail.boxes if box.majority] == [[1, 0]]


def test_with_no_crowd_bonus_several_cats_give_no_bonus() -> None:
    cats = (("awake", 0), ("awake", 0), ("awake", 1), ("awake", 1), ("awake", 1))
    assert crowd(*cats, no_crowd_bonus=True).totals() == [0, 3]


def test_the_princess_does_not_count_for_a_majority() -> None:
    board = Board().put(cell(10, 11), "", "m").put(cell(9, 11), "", "b").awake(cell(9, 11), 1)
    board.princess(cell(10, 11), True, 0)
    position = board.position()
    assert list(boxes_of(position)[cell(9, 11)].majority) == [1]
    assert position.totals() == [0, 1]


def test_a_princess_in_a_cell_joins_boxes_like_a_card_without_walls() -> None:
    board = Board().princess(cell(12, 11), False, 0).put(cell(13, 11), "NES", "m")
    box = boxes_of(board.position())[cell(12, 11)]
    assert cell(11, 11) in box.cells
    assert cell(13, 11) in box.cells


def test_every_box_is_listed_by_its_lowest_cell() -> None:
    position = house().position()
    boxes = score_of(position).boxes
    assert [box.cells[0] for box in boxes] == sorted(box.cells[0] for box in boxes)
    assert sorted(where for box in boxes for where in box.cells) == [card.cell for card in state_of(position).table]
    assert all(list(box.by_seat) == [ChatCartonneBoxSeat()] * 2 for box in boxes)


def finished(board: Board) -> Position:
    """Return the board's position as the end of a game."""
    board.final = True
    board.hands = [[] for _ in range(board.players)]

    def end(state: Any) -> None:
        state.phase = 11

    return read(board.state(end))


def test_the_highest_total_wins_then_the_fewest_negative_points_then_it_is_shared() -> None:
    # One seat has a closed house in the north, the other in the south. The points are equal, the sprayers differ.
    def houses(first: tuple[str, str], second: tuple[str, str]) -> Position:
        board = Board()
        for number in range(5):
            board.asleep(cell(12 + number, 11), 0)
        board.asleep(cell(12, 12), 1)
        board.put(cell(11, 10), "NES", first[0], turned=True).put(cell(12, 10), "NES", first[1])
        board.put(cell(11, 13), "NES", second[0], turned=True).put(cell(12, 13), "NES", second[1])
        del board.cards[cell(16, 11)]
        board.awake(cell(11, 10), 0).awake(cell(11, 13), 1)
        return finished(board)

    assert houses(("m", "mb"), ("f", "b")).ranks() == [1, 2]
    position = houses(("", "fm"), ("f", "b"))
    assert (position.totals(), position.winners()) == ([2, 2], [0, 1])
    assert position.returns() == [0.0, 0.0]
    assert GAME.new_game(2).winners() is None


def test_fewest_negative_points_win_a_tie() -> None:
    # Seat 0 has a closed house with a mouse and a sprayer (0 points). Seat 1 has no awake cat, no points and no
    # sprayers.
    board = Board().put(cell(11, 10), "NES", "m", turned=True).put(cell(12, 10), "NES", "!").awake(cell(11, 10), 0)
    for number in range(4):
        board.asleep(cell(13 + number, 10), 0)
    position = finished(board)
    assert position.totals() == [0, 0]
    assert [seat.negative_points for seat in score_of(position).seats] == [2, 0]
    assert position.ranks() == [2, 1]
