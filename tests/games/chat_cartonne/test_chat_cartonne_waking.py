"""Tests of the rules in "A turn" about waking."""

import pytest

from chatiere.engine import EventLog, Position

from ..building import event_of, phase, state_of
from .building import (
    DRAW,
    GAME,
    PRINCESS,
    SKIP,
    Board,
    cat,
    cell,
    place,
    plain_events,
    play,
    princess_in,
    princess_on,
    sleep,
    toy_as_carton,
    toy_on,
)

pytestmark = pytest.mark.rules("chat_cartonne", "A turn")

JOINT = cell(11, 11)


def woken(position: Position) -> list[int]:
    """Return the cells of all cats that have woken up."""
    return [card.cell for card in state_of(position).table if card.woken]


def asked(board: Board) -> Position:
    """Return the position after seat 0 has placed a carton at (12, 11), where it may lay a cat on JOINT."""
    return play(board.hand(0, 3, 4).position(), DRAW, 20, place(0, cell(12, 11)))


def laid(position: Position, joint: int = JOINT) -> tuple[Position, EventLog]:
    """Return the position after a cat was laid on a joint, and the events."""
    events = EventLog()
    position = position.clone()
    position.apply(cat(joint), events)
    position.check()
    return position, events


def test_an_awake_cat_wakes_its_seats_cats_in_the_box_with_one_event() -> None:
    board = Board().asleep(cell(10, 11), 0).asleep(cell(11, 10), 0).asleep(cell(9, 11), 0)
    position, events = laid(asked(board))
    cells = [cell(11, 10), cell(9, 11), cell(10, 11)]
    assert woken(position) == cells
    assert plain_events(events) == [("CAT_AWAKE", 0), ("CATS_WOKEN", 0)]
    assert events[1].seen_by is None
    message = event_of(GAME, events[1], True)[1]
    assert (list(message.cells), message.HasField("cell")) == (cells, False)
    assert position.current_player() == 1


def test_without_a_cat_to_wake_there_is_no_event() -> None:
    assert plain_events(laid(asked(Board()))[1]) == [("CAT_AWAKE", 0)]
    board = Board().asleep(cell(10, 11), 0, woken=True).put(cell(11, 10), "NS").put(cell(10, 10), "")
    position, events = laid(asked(board.awake(cell(10, 10), 0)))
    assert plain_events(events) == [("CAT_AWAKE", 0)]
    assert woken(position) == [cell(10, 11)]


def test_only_cats_of_the_same_seat_wake() -> None:
    position, _ = laid(asked(Board().asleep(cell(10, 11), 1).asleep(cell(11, 10), 0)))
    assert woken(position) == [cell(11, 10)]


def test_cats_in_other_boxes_stay_asleep() -> None:
    # (10, 11) has walls east and west.
    board = Board().put(cell(10, 11), "EW").asleep(cell(9, 11), 0).asleep(cell(11, 10), 0)
    position, _ = laid(asked(board))
    assert woken(position) == [cell(11, 10)]


def test_a_woken_cat_stays_awake_when_the_other_cat_is_replaced() -> None:
    position, _ = laid(asked(Board().asleep(cell(10, 11), 0).hand(1, 2, PRINCESS)))
    position = play(position, DRAW, 21, princess_on(JOINT))
    assert woken(position) == [cell(10, 11)]
    assert state_of(position).seats[0].supply == 4


def test_joining_boxes_wakes_no_cat_but_the_next_cat_does() -> None:
    # Seat 0's cat in the west is awake, and its cat in the east sleeps. The carton between them joins their boxes. In
    # the north, there is a row of cartons with walls in the south.
    board = Board().put(cell(10, 11), "N").awake(cell(10, 11), 0).put(cell(13, 11), "N", "m").asleep(cell(14, 11), 0)
    board.put(cell(11, 10), "NS").put(cell(12, 10), "NS", "m").put(cell(13, 10), "NS", "b")
    position = asked(board)
    assert phase(position) == "CAT"
    assert woken(play(position, SKIP)) == []
    assert woken(laid(position)[0]) == [cell(14, 11)]


def test_a_princess_or_toy_card_on_a_joint_wakes_no_cat() -> None:
    board = Board().put(cell(12, 11), "").asleep(cell(10, 11), 0).hand(0, 1, PRINCESS)
    assert woken(play(board.position(), DRAW, 72, toy_on(JOINT))) == []
    position = play(board.awake(JOINT, 0).position(), DRAW, 20, princess_on(JOINT))
    assert woken(position) == []


def test_a_cat_that_follows_a_toy_card_laid_as_a_carton_also_wakes_cats() -> None:
    position = play(Board().asleep(cell(10, 11), 0).position(), DRAW, 74, toy_as_carton(cell(12, 11)))
    assert woken(laid(position)[0]) == [cell(10, 11)]


def test_a_cat_laid_asleep_next_to_an_awake_cat_sleeps_until_the_next_is_laid() -> None:
    board = Board().put(cell(12, 11), "").awake(JOINT, 0).hand(0, 3, 4)
    position = play(board.position(), sleep(cell(13, 11)))
    assert woken(position) == []
    assert position.totals() == [0, 0]
    position = play(position, sleep(cell(11, 13)), DRAW, 20, place(0, cell(10, 11)))
    assert woken(laid(position, cell(10, 11))[0]) == [cell(13, 11)]


def alone(active: int) -> Position:
    """Return a table where a woken cat of seat 0 is the only cat in its box, with `active` as the active seat."""
    board = Board().put(cell(10, 11), "").princess(cell(10, 11), True, 1).asleep(cell(10, 10), 0, woken=True)
    board.active = active
    return board.hand(active, 3, 4).position()


@pytest.mark.parametrize(("active", "allowed"), [(0, True), (1, False)])
def test_a_woken_cat_closes_its_box_to_other_seats(active: int, allowed: bool) -> None:
    position = play(alone(active), DRAW, 20, place(0, cell(12, 11)))
    assert (phase(position) == "CAT") == allowed


def test_a_woken_cat_has_no_walls_and_no_joints() -> None:
    # The carton placed to its east is in its box.
    position = play(alone(0), DRAW, 20, place(0, cell(11, 10)))
    assert phase(position) == "TURN"
    assert state_of(position).seats[0].supply == 4


def test_a_woken_cat_replaced_by_a_princess_sleeps_when_laid_again() -> None:
    board = Board().put(cell(12, 11), "").awake(JOINT, 0).asleep(cell(10, 11), 0, woken=True).hand(0, 1, PRINCESS)
    position = play(board.position(), DRAW, 20)
    assert princess_in(cell(10, 11)) in position.legal_actions()
    position = play(position, princess_in(cell(10, 11)))
    assert woken(position) == []
    assert state_of(position).seats[0].supply == 4
    position = play(position, sleep(cell(13, 11)), sleep(cell(9, 11)))
    assert woken(position) == []
    assert [card.sleeping_cat for card in state_of(position).table if card.HasField("sleeping_cat")] == [0, 1]


def test_the_fifth_cat_wakes_cats_before_the_final_phase_starts() -> None:
    board = Board()
    for number in range(4):
        board.asleep(cell(7 + number, 11), 0)
    position, events = laid(asked(board))
    assert plain_events(events) == [("CAT_AWAKE", 0), ("CATS_WOKEN", 0), ("FINAL_PHASE_BEGUN", None)]
    assert woken(position) == [cell(7 + number, 11) for number in range(4)]
