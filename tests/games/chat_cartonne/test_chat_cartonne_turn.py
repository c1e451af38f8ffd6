"""Tests of the rules in "A turn" and "When a seat is asked"."""

from collections.abc import Callable

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


def test_a_turn_starts_with_a_draw_or_a_sleeping_cat() -> None:
    position = begun()
    assert kinds(position) == {"draw", "sleep"}
    assert "begins with drawing" in refusal(position, place(0, cell(12, 11))).message
    assert "begins with drawing" in refusal(position, princess_on(1)).message
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


def test_only_its_seat_sees_a_draw_but_all_seats_see_a_toy_card() -> None:
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


def test_a_carton_is_placed_on_an_empty_cell_next_to_a_card() -> None:
    position = play(begun(), DRAW, 20)
    beside = [(11, 10), (10, 11), (12, 11), (10, 12), (12, 12), (11, 13)]
    assert [move for move in position.legal_actions() if move < 13 + 576] == [
        place(0, cell(*where)) for where in beside
    ]
    assert refusal(position, place(0, cell(11, 11))).rule == RULE
    assert "must share an edge" in refusal(position, place(0, cell(10, 10))).message


def test_the_table_ends_at_its_edges() -> None:
    position = Board().fill(*(cell(column, 11) for column in range(12, 24))).position()
    # (0, 12) is not next to (23, 11), although their numbers differ by one.
    assert sleep(cell(23, 10)) in position.legal_actions()
    assert sleep(cell(0, 12)) not in position.legal_actions()
    assert "must share an edge" in refusal(position, sleep(cell(0, 12))).message
    position = Board().fill(*(cell(column, 11) for column in range(11))).position()
    assert sleep(cell(23, 10)) not in position.legal_actions()
    assert "must share an edge" in refusal(position, sleep(cell(23, 10))).message
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
    assert (error.rule, error.message.startswith("in this variant")) == (RULE, True)
    # Test east and west with an EW carton next to the wall of the NES carton.
    slot = {kind: i for i, kind in enumerate(state_of(position).seats[0].hand_cards)}[carton("EW", "m")]
    assert place(slot, cell(13, 11)) not in position.legal_actions()
    assert place(slot, cell(12, 10)) in position.legal_actions()


def test_no_double_walls_does_not_apply_to_a_sleeping_cat() -> None:
    board = Board(no_double_walls=True).put(cell(12, 11), "NES")
    assert sleep(cell(13, 11)) in board.position().legal_actions()
    assert sleep(cell(12, 10)) in board.position().legal_actions()


# A cat may follow


def test_a_cat_may_follow_on_a_joint_of_the_last_carton() -> None:
    position = play(begun(), DRAW, 20, place(0, cell(12, 11)))
    assert (phase(position), state_of(position).just_played) == ("CAT", cell(12, 11))
    assert position.legal_actions() == [SKIP, cat(cell(11, 11))]
    after = play(position, cat(cell(11, 11)))
    assert after.current_player() == 1
    card = state_of(after).table[0]
    assert (card.cell, card.on_joint.cat) == (cell(11, 11), 0)
    assert state_of(after).seats[0].supply == 4
    for move in (DRAW, PASS, place(0, cell(13, 11)), sleep(cell(13, 11)), princess_on(1), toy_on(1)):
        assert "lay a cat, or choose to lay none" in refusal(position, move).message
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
def test_a_seat_is_not_asked_for_a_cat_if_it_can_lay_none() -> None:
    # The reasons are walls on the edges that touch, short edges, or an empty supply.
    wall = play(begun(hands=[[carton("EW"), 0], [1, 2]]), DRAW, 20)
    slot = list(state_of(wall).seats[0].hand_cards).index(carton("EW"))
    assert play(wall, place(slot, cell(12, 11))).current_player() == 1
    assert play(play(begun(), DRAW, 20), place(0, cell(11, 10))).current_player() == 1
    # 77 has a wall in the east.
    assert play(play(begun(), DRAW, 20), place(0, cell(12, 12))).current_player() == 1


@pytest.mark.parametrize("there", ["cat", "toy", "princess"])
def test_the_joint_must_be_free(there: str) -> None:
    # The carton just played has a joint to its west. The joint to its east is occupied only later, so use a toy card.
    board = Board().put(cell(12, 11), "N", "m").put(cell(13, 11), "N", "b")
    joint = cell(11, 11)
    if there == "cat":
        board.awake(joint, 0)
    elif there == "toy":
        board.toy_on(joint, 72)
    else:
        board.princess(joint, True, 0)
    position = play(board.position(), DRAW, 74)
    assert [move for move in position.legal_actions() if move < toy_as_carton(0)] == [toy_on(cell(12, 11))]
    assert "joint is already taken" in refusal(position, toy_on(joint)).message


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
def test_the_box_must_hold_no_cats_or_a_cat_of_the_seat(cats: list[tuple[str, int]], allowed: bool) -> None:
    # One box: (10, 11), the starting carton at (11, 11), and the card at (12, 11); sleeping cats lie north of them.
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


def test_both_seats_may_lay_cats_in_joined_boxes() -> None:
    # Seat 1 has a cat in the west, and seat 0 has a cat in the east. The carton between them joins the boxes, so seat 0
    # may lay another cat.
    board = Board().put(cell(10, 11), "NS").awake(cell(10, 11), 1)
    board.put(cell(13, 11), "N", "m").put(cell(14, 11), "N", "b").awake(cell(13, 11), 0)
    board.put(cell(13, 10), "NE", "m").put(cell(12, 10), "NE", "b").put(cell(11, 10), "NE", "f")
    board.hand(0, carton("NS", "m"), 1)
    position = play(board.position(), DRAW, carton("", "f"))
    slot = list(state_of(position).seats[0].hand_cards).index(carton("NS", "m"))
    position = play(position, place(slot, cell(12, 11)))
    assert position.legal_actions() == [SKIP, cat(cell(11, 11)), cat(cell(12, 11))]


# A sleeping cat


def test_a_sleeping_cat_ends_the_turn_and_no_cat_follows() -> None:
    position = play(begun(), sleep(cell(12, 11)))
    assert position.current_player() == 1
    assert state_of(position).seats[0].supply == 4
    assert list(state_of(position).seats[0].hand_cards) == [0, 1]
    assert state_of(position).table[1].sleeping_cat == 0
    assert refusal(position, sleep(cell(12, 11))).rule == RULE


# The Princess


def test_the_princess_replaces_any_cat_awake_or_asleep() -> None:
    board = Board().put(cell(12, 11), "").awake(cell(11, 11), 1).asleep(cell(12, 10), 0).asleep(cell(12, 12), 1)
    board.hand(0, 1, PRINCESS)
    position = play(board.position(), DRAW, 20)
    found = [move for move in position.legal_actions() if move >= 4621]
    assert found == [princess_on(cell(11, 11)), princess_in(cell(12, 10)), princess_in(cell(12, 12))]
    assert "not placed like a carton" in refusal(position, place(2, cell(13, 11))).message
    assert "no cat there" in refusal(position, princess_on(cell(12, 11))).message
    assert "no cat there" in refusal(position, princess_in(cell(12, 11))).message
    assert "no cat there" in refusal(position, princess_in(cell(0, 0))).message

    on_joint = play(position, princess_on(cell(11, 11)))
    assert [seat.supply for seat in state_of(on_joint).seats] == [4, 4]
    assert state_of(on_joint).table[1].on_joint.HasField("princess")
    assert [part.princesses_played for part in state_of(on_joint).seats[0].by_part] == [1, 0]
    # The Princess ends the turn.
    assert on_joint.current_player() == 1
    own = play(position, princess_in(cell(12, 10)))
    assert [seat.supply for seat in state_of(own).seats] == [5, 3]
    card = next(card for card in state_of(own).table if card.cell == cell(12, 10))
    assert card.HasField("princess")


def test_the_princess_is_secret_and_needs_a_cat_on_the_table() -> None:
    position = play(begun(), DRAW, PRINCESS)
    assert kinds(position) == {"carton"}
    assert "no cat there" in refusal(position, princess_on(cell(11, 11))).message
    assert "no Princess in the hand" in refusal(play(begun(), DRAW, 20), princess_in(cell(11, 11))).message


def test_the_princess_does_not_close_a_box_to_other_seats() -> None:
    board = Board().put(cell(10, 11), "", "f").princess(cell(10, 11), True, 1).hand(0, 0, 1)
    position = play(board.position(), DRAW, 20, place(0, cell(12, 11)))
    assert cat(cell(11, 11)) in position.legal_actions()


# Toy cards


def test_a_toy_card_is_played_immediately_on_any_joint_and_ends_the_turn() -> None:
    board = Board().put(cell(12, 11), "").put(cell(13, 11), "N").put(cell(12, 12), "N", "m").put(cell(13, 12), "N", "b")
    position = play(board.position(), DRAW, 72)
    assert (phase(position), state_of(position).toy) == ("TOY", 72)
    joints = [cell(11, 11), cell(12, 11), cell(12, 12)]
    assert position.legal_actions() == [toy_on(joint) for joint in joints]
    for move in (DRAW, PASS, SKIP, place(0, cell(14, 11)), sleep(cell(14, 11)), cat(cell(11, 11)), princess_on(1)):
        assert "must be played as soon as" in refusal(position, move).message
    assert "without a wall between" in refusal(position, toy_on(cell(11, 12))).message
    assert "no joint is left" in refusal(position, toy_as_carton(cell(14, 11))).message
    after = play(position, toy_on(cell(12, 12)))
    assert after.current_player() == 1
    card = next(card for card in state_of(after).table if card.cell == cell(12, 12))
    assert card.on_joint.toy == 72
    assert not state_of(after).HasField("toy")


def test_a_toy_card_needs_no_cat_in_supply_but_a_box_open_to_the_seat() -> None:
    board = Board().put(cell(12, 11), "NS").awake(cell(11, 11), 1).put(cell(13, 11), "NS", "m")
    board.put(cell(12, 13), "N", "b").put(cell(12, 12), "EW", "b").put(cell(13, 13), "N", "f")
    position = play(board.position(), DRAW, 72)
    assert "holds cats of other players" in refusal(position, toy_on(cell(12, 11))).message
    assert position.legal_actions() == [toy_on(cell(12, 13))]


def test_without_a_joint_a_toy_card_is_laid_as_a_carton_and_a_cat_may_follow() -> None:
    position = play(begun(), DRAW, 74)
    beside = [(11, 10), (10, 11), (12, 11), (10, 12), (12, 12), (11, 13)]
    assert position.legal_actions() == [toy_as_carton(cell(*where)) for where in beside]
    assert "share an edge" in refusal(position, toy_as_carton(cell(1, 1))).message
    assert "a card already lies there" in refusal(position, toy_as_carton(cell(11, 11))).message
    after = play(position, toy_as_carton(cell(12, 11)))
    assert (phase(after), after.legal_actions()) == ("CAT", [SKIP, cat(cell(11, 11))])
    after = play(after, cat(cell(11, 11)))
    assert after.totals() == [2, 0]


def two_boxes() -> Board:
    """Return a table of two boxes. One has a cat of seat 0 and a free joint (11, 11), the other a joint (14, 11)."""
    board = Board().put(cell(12, 11)).put(cell(13, 11)).awake(cell(12, 11), 0)
    return board.put(cell(14, 11), "E", turned=True).put(cell(15, 11), "", "m")


def test_a_toy_card_is_not_laid_as_a_carton_while_a_box_is_vacant() -> None:
    position = play(two_boxes().position(), DRAW, 72)
    assert position.legal_actions() == [toy_on(cell(11, 11)), toy_on(cell(14, 11))]
    assert "if every box holds a cat or a Princess" in refusal(position, toy_as_carton(cell(10, 11))).message
    # A single carton is also a box.
    alone = two_boxes().awake(cell(14, 11), 1).put(cell(16, 11), "NES", turned=True)
    assert play(alone.position(), DRAW, 72).legal_actions() == [toy_on(cell(11, 11))]


@pytest.mark.parametrize(
    ("take", "joints"),
    [
        (lambda board: board.awake(cell(14, 11), 1), [(11, 11)]),
        (lambda board: board.asleep(cell(14, 10), 1), [(11, 11)]),
        (lambda board: board.asleep(cell(14, 10), 0), [(11, 11), (14, 11)]),
        (lambda board: board.princess(cell(14, 11), True, 1), [(11, 11)]),
        (lambda board: board.princess(cell(14, 10), False, 1), [(11, 11), (14, 11)]),
    ],
    ids=["awake", "asleep", "own asleep", "Princess on a joint", "Princess in a cell"],
)
def test_a_toy_card_may_be_laid_as_a_carton_if_every_box_is_taken(
    take: Callable[[Board], Board], joints: list[tuple[int, int]]
) -> None:
    position = play(take(two_boxes()).position(), DRAW, 72)
    # The joints are legal in any case. As a carton, the toy card can be laid on any cell next to a card.
    taken = {card.cell for card in state_of(position).table}
    beside = {near for where in taken for near in (where - 24, where - 1, where + 1, where + 24)} - taken
    assert position.legal_actions() == [
        *(toy_on(cell(*joint)) for joint in joints),
        *(toy_as_carton(where) for where in sorted(beside)),
    ]
    assert play(position, toy_on(cell(11, 11))).current_player() == 1
    assert "a card already lies there" in refusal(position, toy_as_carton(cell(11, 11))).message
    # A cat may follow the toy card laid as a carton, as after any carton.
    after = play(position, toy_as_carton(cell(10, 11)))
    assert (phase(after), after.legal_actions()) == ("CAT", [SKIP, cat(cell(10, 11))])


def test_no_double_walls_does_not_apply_to_a_toy_card() -> None:
    board = Board(no_double_walls=True).put(cell(12, 12), "NES")
    position = play(board.position(), DRAW, 74)
    assert toy_as_carton(cell(13, 12)) in position.legal_actions()


# Three cards in hand


def passed(state: ChatCartonneState) -> None:
    """Give seat 0 three cards, as after a pass when it could only have played a carton without walls."""
    state.seats[0].shown.add(not_patterns=[0])
    state.seats[0].shown.add(not_patterns=[0])
    state.seats[0].shown.add(not_patterns=[0])


@pytest.mark.rules("chat_cartonne", "When a seat is asked")
def test_a_seat_that_starts_with_three_cards_does_not_draw() -> None:
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


def test_a_neighbours_wall_closes_an_open_edge() -> None:
    # 76 at (11, 11) and 77 at (11, 12) are joined. The carton at (11, 10) has a wall in the south.
    board = Board().put(cell(11, 10), "N", turned=True)
    boxes = score_of(board.position()).boxes
    assert [list(box.cells) for box in boxes] == [[cell(11, 10)], [cell(11, 11), cell(11, 12)]]
