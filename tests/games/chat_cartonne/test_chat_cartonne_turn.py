"""Rules file: A turn; When a seat is asked."""

import pytest

from chatiere.engine import EventLog, Position, Reason
from chatiere.v1.chat_cartonne_pb2 import ChatCartonneState

from ..building import phase, refusal, score_of, state_of
from .building import (
    DRAW,
    PASS,
    PRINCESS,
    SKIP,
    Board,
    begun,
    carton,
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

RULE = "chat_cartonne.md: A turn"


def kinds(position: Position) -> set[str]:
    """Return the kinds of the legal actions."""
    names = [(11, "draw"), (12, "skip"), (13, "pass"), (3469, "carton"), (4045, "sleep"), (4621, "cat")]
    names += ((5197, "princess on joint"), (5773, "princess in cell"), (6349, "toy on joint"), (6925, "toy as carton"))
    return {next(name for end, name in names if action < end) for action in position.legal_actions()}


# Draw, or lay a sleeping cat


def test_a_turn_begins_with_draw_or_a_sleeping_cat() -> None:
    position = begun()
    assert kinds(position) == {"draw", "sleep"}
    assert "begins with Draw" in refusal(position, place(0, cell(12, 11))).message
    assert "begins with Draw" in refusal(position, princess_on(1)).message
    for move in (SKIP, PASS, cat(1), toy_on(1), 0):
        error = refusal(position, move)
        assert error.reason is Reason.ILLEGAL_ACTION
        assert error.metadata["actor"] == "0"


def test_a_card_drawn_joins_the_hand_and_one_is_played() -> None:
    position = play(begun(), DRAW, 20)
    assert list(state_of(position).seats[0].hand_cards) == [0, 1, 20]
    assert kinds(position) == {"carton"}
    assert "instead of drawing" in refusal(position, sleep(cell(12, 11))).message
    assert "drawn only at the start" in refusal(position, DRAW).message
    assert refusal(position, PASS).rule == "chat_cartonne.md: End"
    after = play(position, place(2, cell(12, 11)))
    assert list(state_of(after).seats[0].hand_cards) == [0, 1]


def test_a_draw_is_seen_by_its_seat_alone_but_a_toy_card_by_all() -> None:
    events = EventLog()
    position = begun()
    position.apply(DRAW, events)
    position.apply(20, events)
    assert plain_events(events) == [("DRAW_CHOSEN", 0), ("CARD_DRAWN", 0)]
    assert [event.seen_by for event in events] == [None, frozenset({0})]
    toy = EventLog()
    play(begun(), DRAW).apply(73, toy)
    assert plain_events(toy) == [("TOY_DRAWN", 0)]
    assert toy[0].seen_by is None


# A carton


def test_a_carton_lies_on_an_empty_cell_beside_a_card() -> None:
    position = play(begun(), DRAW, 20)
    beside = [(11, 10), (10, 11), (12, 11), (10, 12), (12, 12), (11, 13)]
    assert [move for move in position.legal_actions() if move < 13 + 576] == [
        place(0, cell(*where)) for where in beside
    ]
    assert refusal(position, place(0, cell(11, 11))).rule == RULE
    assert "shares an edge with no card" in refusal(position, place(0, cell(10, 10))).message


def test_the_table_ends_at_its_edges() -> None:
    position = Board().fill(*(cell(column, 11) for column in range(12, 24))).position()
    # (0, 12) is not beside (23, 11), though their numbers differ by one.
    assert sleep(cell(23, 10)) in position.legal_actions()
    assert sleep(cell(0, 12)) not in position.legal_actions()
    assert "shares an edge with no card" in refusal(position, sleep(cell(0, 12))).message
    position = Board().fill(*(cell(column, 11) for column in range(11))).position()
    assert sleep(cell(23, 10)) not in position.legal_actions()
    assert "shares an edge with no card" in refusal(position, sleep(cell(23, 10))).message
    column = [cell(11, row) for row in range(24) if row not in (11, 12)]
    position = Board().fill(*column).position()
    assert {move - 3469 for move in position.legal_actions() if move > 3468} == {
        cell(column, row) for column in (10, 12) for row in range(24)
    }


def test_wall_may_meet_open_or_wall() -> None:
    board = Board().put(cell(12, 11), "NES").hand(0, carton("N", "m"), carton("NES", "m"))
    position = play(board.position(), DRAW, carton("", "f"))
    north = cell(12, 10)
    assert place(1, north, True) in position.legal_actions()


def test_no_double_walls_wall_may_not_meet_wall() -> None:
    board = Board(no_double_walls=True).put(cell(12, 11), "NES").hand(0, carton("N", "m"), carton("EW", "m"))
    position = play(board.position(), DRAW, carton("", "f"))
    north = cell(12, 10)
    slot = {kind: i for i, kind in enumerate(state_of(position).seats[0].hand_cards)}[carton("N", "m")]
    assert place(slot, north) in position.legal_actions()
    assert place(slot, north, True) not in position.legal_actions()
    error = refusal(position, place(slot, north, True))
    assert (error.rule, error.message.startswith("with no_double_walls")) == (RULE, True)
    # East and west: EW beside the NES carton's wall.
    slot = {kind: i for i, kind in enumerate(state_of(position).seats[0].hand_cards)}[carton("EW", "m")]
    assert place(slot, cell(13, 11)) not in position.legal_actions()
    assert place(slot, cell(12, 10)) in position.legal_actions()


def test_no_double_walls_never_binds_a_sleeping_cat() -> None:
    board = Board(no_double_walls=True).put(cell(12, 11), "NES")
    assert sleep(cell(13, 11)) in board.position().legal_actions()
    assert sleep(cell(12, 10)) in board.position().legal_actions()


# A cat may follow


def test_a_cat_may_follow_on_a_joint_of_the_carton_just_played() -> None:
    position = play(begun(), DRAW, 20, place(0, cell(12, 11)))
    assert (phase(position), state_of(position).just_played) == ("CAT", cell(12, 11))
    assert position.legal_actions() == [SKIP, cat(cell(11, 11))]
    after = play(position, cat(cell(11, 11)))
    assert after.current_player() == 1
    card = state_of(after).table[0]
    assert (card.cell, card.on_joint.cat) == (cell(11, 11), 0)
    assert state_of(after).seats[0].supply == 4
    for move in (DRAW, PASS, place(0, cell(13, 11)), sleep(cell(13, 11)), princess_on(1), toy_on(1)):
        assert "a cat follows, or Skip" in refusal(position, move).message
    assert "joint of the carton just played" in refusal(position, cat(cell(13, 11))).message
    assert "without a wall between" in refusal(position, cat(cell(12, 11))).message
    skipped = play(position, SKIP)
    assert skipped.current_player() == 1
    assert state_of(skipped).seats[0].supply == 5


def test_between_two_cartons_there_are_two_joints() -> None:
    board = Board().put(cell(12, 12), "", "m").put(cell(13, 12), "", "f").put(cell(13, 11), "", "b").hand(0, 0, 1)
    position = play(board.position(), DRAW, 20, place(0, cell(12, 11)))
    assert position.legal_actions() == [SKIP, cat(cell(11, 11)), cat(cell(12, 11))]


@pytest.mark.rules("chat_cartonne", "When a seat is asked")
def test_no_cat_is_asked_for_where_none_can_be_laid() -> None:
    # A wall on either of the touching edges; short edges; no cat in the supply.
    wall = play(begun(hands=[[carton("EW"), 0], [1, 2]]), DRAW, 20)
    slot = list(state_of(wall).seats[0].hand_cards).index(carton("EW"))
    assert play(wall, place(slot, cell(12, 11))).current_player() == 1
    assert play(play(begun(), DRAW, 20), place(0, cell(11, 10))).current_player() == 1
    # 77 has a wall in the east.
    assert play(play(begun(), DRAW, 20), place(0, cell(12, 12))).current_player() == 1


@pytest.mark.parametrize("there", ["cat", "toy", "princess"])
def test_nothing_may_lie_on_the_joint_yet(there: str) -> None:
    # The carton just played has a joint to its west; the one to its east is taken only later, so look at a toy card.
    board = Board().put(cell(12, 11), "N", "m").put(cell(13, 11), "N", "b")
    joint = cell(11, 11)
    if there == "cat":
        board.awake(joint, 0)
    elif there == "toy":
        board.toy_on(joint, 72)
    else:
        board.princess(joint, True, 0)
    position = play(board.position(), DRAW, 74)
    assert position.legal_actions() == [toy_on(cell(12, 11))]
    assert "something lies on that joint" in refusal(position, toy_on(joint)).message


def test_starting_cartons_and_toy_cards_laid_as_cartons_have_joints() -> None:
    board = Board().toy(cell(12, 11), 73).hand(0, 0, 1)
    position = play(board.position(), DRAW, 20, place(0, cell(13, 11)))
    assert cat(cell(12, 11)) in position.legal_actions()
    position = play(board.position(), DRAW, 20, place(0, cell(10, 11)))
    assert cat(cell(10, 11)) in position.legal_actions()


def test_sleeping_cats_and_the_princess_in_a_cell_have_no_joints() -> None:
    board = Board().asleep(cell(12, 11), 0).hand(0, 0, 1)
    position = play(board.position(), DRAW, 20, place(0, cell(13, 11)))
    assert position.current_player() == 1
    board = Board().princess(cell(12, 11), False, 1).hand(0, 0, 1)
    position = play(board.position(), DRAW, 20, place(0, cell(13, 11)))
    assert position.current_player() == 1


@pytest.mark.parametrize(
    ("cats", "allowed"),
    [([], True), ([("awake", 0)], True), ([("awake", 1)], False), ([("awake", 1), ("asleep", 0)], True),
     ([("asleep", 1)], False), ([("asleep", 0)], True), ([("asleep", 1), ("asleep", 0)], True)],
)  # fmt: skip
def test_the_box_must_hold_an_own_cat_or_nobodys(cats: list[tuple[str, int]], allowed: bool) -> None:
    # One box: (10, 11), the starting carton at (11, 11), and what is laid at (12, 11); sleepers north of them.
    board = Board().put(cell(10, 11), "").hand(0, carton("NS"), 1)
    for number, (how, seat) in enumerate(cats):
        if how == "awake":
            board.awake(cell(10, 11), seat)
        else:
            board.asleep(cell(10 + number, 10), seat)
    position = play(board.position(), DRAW, carton("N", "b"))
    slot = list(state_of(position).seats[0].hand_cards).index(carton("NS"))
    position = play(position, place(slot, cell(12, 11)))
    assert (phase(position) == "CAT") == allowed


def test_joining_boxes_lets_both_seats_in() -> None:
    # Seat 1 has a cat in the west, seat 0 one in the east: the carton between joins the boxes, and seat 0 may lay more.
    board = Board().put(cell(10, 11), "NS").awake(cell(10, 11), 1)
    board.put(cell(13, 11), "N", "m").put(cell(14, 11), "N", "b").awake(cell(13, 11), 0)
    board.put(cell(13, 10), "NE", "m").put(cell(12, 10), "NE", "b").put(cell(11, 10), "NE", "f")
    board.hand(0, carton("NS", "m"), 1)
    position = play(board.position(), DRAW, carton("", "f"))
    slot = list(state_of(position).seats[0].hand_cards).index(carton("NS", "m"))
    position = play(position, place(slot, cell(12, 11)))
    assert position.legal_actions() == [SKIP, cat(cell(11, 11)), cat(cell(12, 11))]


# A sleeping cat


def test_a_sleeping_cat_ends_the_turn_without_another_cat() -> None:
    position = play(begun(), sleep(cell(12, 11)))
    assert position.current_player() == 1
    assert state_of(position).seats[0].supply == 4
    assert list(state_of(position).seats[0].hand_cards) == [0, 1]
    assert state_of(position).table[1].sleeping_cat == 0
    assert refusal(position, sleep(cell(12, 11))).rule == RULE


# The Princess


def test_the_princess_takes_the_place_of_any_cat_awake_or_asleep() -> None:
    board = Board().put(cell(12, 11), "").awake(cell(11, 11), 1).asleep(cell(12, 10), 0).asleep(cell(12, 12), 1)
    board.hand(0, 1, PRINCESS)
    position = play(board.position(), DRAW, 20)
    found = [move for move in position.legal_actions() if move >= 4621]
    assert found == [princess_on(cell(11, 11)), princess_in(cell(12, 10)), princess_in(cell(12, 12))]
    assert "not placed like a carton" in refusal(position, place(2, cell(13, 11))).message
    assert "no cat lies there" in refusal(position, princess_on(cell(12, 11))).message
    assert "no cat lies there" in refusal(position, princess_in(cell(12, 11))).message
    assert "no cat lies there" in refusal(position, princess_in(cell(0, 0))).message

    on_joint = play(position, princess_on(cell(11, 11)))
    assert [seat.supply for seat in state_of(on_joint).seats] == [4, 4]
    assert state_of(on_joint).table[1].on_joint.HasField("princess")
    assert [part.princesses_played for part in state_of(on_joint).seats[0].by_part] == [1, 0]
    # She ends the turn.
    assert on_joint.current_player() == 1
    own = play(position, princess_in(cell(12, 10)))
    assert [seat.supply for seat in state_of(own).seats] == [5, 3]
    card = next(card for card in state_of(own).table if card.cell == cell(12, 10))
    assert card.HasField("princess")


def test_the_princess_is_secret_and_needs_a_cat_on_the_table() -> None:
    position = play(begun(), DRAW, PRINCESS)
    assert kinds(position) == {"carton"}
    assert "no cat lies there" in refusal(position, princess_on(cell(11, 11))).message
    assert "the hand has no Princess" in refusal(play(begun(), DRAW, 20), princess_in(cell(11, 11))).message


def test_the_princess_bars_nobody() -> None:
    board = Board().put(cell(10, 11), "", "f").princess(cell(10, 11), True, 1).hand(0, 0, 1)
    position = play(board.position(), DRAW, 20, place(0, cell(12, 11)))
    assert cat(cell(11, 11)) in position.legal_actions()


# Toy cards


def test_a_toy_card_is_played_at_once_on_any_joint_of_the_table_and_ends_the_turn() -> None:
    board = Board().put(cell(12, 11), "").put(cell(13, 11), "N").put(cell(12, 12), "N", "m").put(cell(13, 12), "N", "b")
    position = play(board.position(), DRAW, 72)
    assert (phase(position), state_of(position).toy) == ("TOY", 72)
    joints = [cell(11, 11), cell(12, 11), cell(12, 12)]
    assert position.legal_actions() == [toy_on(joint) for joint in joints]
    for move in (DRAW, PASS, SKIP, place(0, cell(14, 11)), sleep(cell(14, 11)), cat(cell(11, 11)), princess_on(1)):
        assert "is played at once" in refusal(position, move).message
    assert "without a wall between" in refusal(position, toy_on(cell(11, 12))).message
    assert "can lie on no joint" in refusal(position, toy_as_carton(cell(14, 11))).message
    after = play(position, toy_on(cell(12, 12)))
    assert after.current_player() == 1
    card = next(card for card in state_of(after).table if card.cell == cell(12, 12))
    assert card.on_joint.toy == 72
    assert not state_of(after).HasField("toy")


def test_no_cat_in_supply_is_needed_for_a_toy_card_and_the_box_must_welcome_a_cat() -> None:
    board = Board().put(cell(12, 11), "NS").awake(cell(11, 11), 1).put(cell(13, 11), "NS", "m")
    board.put(cell(12, 13), "N", "b").put(cell(12, 12), "EW", "b").put(cell(13, 13), "N", "f")
    position = play(board.position(), DRAW, 72)
    assert "holds cats of other seats" in refusal(position, toy_on(cell(12, 11))).message
    assert position.legal_actions() == [toy_on(cell(12, 13))]


def test_without_a_joint_a_toy_card_is_laid_as_a_carton_and_a_cat_may_follow() -> None:
    position = play(begun(), DRAW, 74)
    beside = [(11, 10), (10, 11), (12, 11), (10, 12), (12, 12), (11, 13)]
    assert position.legal_actions() == [toy_as_carton(cell(*where)) for where in beside]
    assert "no card" in refusal(position, toy_as_carton(cell(1, 1))).message
    assert "there is a card" in refusal(position, toy_as_carton(cell(11, 11))).message
    after = play(position, toy_as_carton(cell(12, 11)))
    assert (phase(after), after.legal_actions()) == ("CAT", [SKIP, cat(cell(11, 11))])
    after = play(after, cat(cell(11, 11)))
    assert after.totals() == [2, 0]


def test_no_double_walls_never_binds_a_toy_card() -> None:
    board = Board(no_double_walls=True).put(cell(12, 12), "NES")
    position = play(board.position(), DRAW, 74)
    assert toy_as_carton(cell(13, 12)) in position.legal_actions()


# Three cards in hand


def passed(state: ChatCartonneState) -> None:
    """Give seat 0 three cards, as after a pass when only a carton without walls could be played."""
    state.seats[0].shown.add(not_patterns=[0])
    state.seats[0].shown.add(not_patterns=[0])
    state.seats[0].shown.add(not_patterns=[0])


@pytest.mark.rules("chat_cartonne", "When a seat is asked")
def test_a_seat_that_begins_with_three_cards_draws_nothing() -> None:
    board = Board(no_double_walls=True).put(cell(12, 11), "").asleep(cell(12, 10), 1)
    board.hand(0, carton("NES"), carton("NES", "m"), PRINCESS)
    position = board.position(passed)
    assert kinds(position) == {"carton", "sleep", "princess in cell"}
    assert "three cards in hand" in refusal(position, DRAW).message
    assert refusal(position, PASS).rule == "chat_cartonne.md: End"
    slept = play(position, sleep(cell(13, 11)))
    assert len(state_of(slept).seats[0].hand_cards) == 3
    played = play(position, princess_in(cell(12, 10)))
    assert len(state_of(played).seats[0].hand_cards) == 2
    assert "joint of" not in refusal(position, cat(cell(11, 11))).message


# Boxes


def test_an_open_edge_against_a_neighbours_wall_is_shut_by_it() -> None:
    # 76 at (11, 11) and 77 at (11, 12) are joined; (11, 10) has its wall in the south.
    board = Board().put(cell(11, 10), "N", turned=True)
    boxes = score_of(board.position()).boxes
    assert [list(box.cells) for box in boxes] == [[cell(11, 10)], [cell(11, 11), cell(11, 12)]]
