"""Momistigri's own table."""

import click

from chatiere.clients.games.momistigri.table import break_down, draw_table
from chatiere.v1.game_pb2 import Position, Score, ScoreDetail, View, ViewerUpdate
from chatiere.v1.momistigri_pb2 import (
    MOMISTIGRI_PHASE_AGAIN,
    MOMISTIGRI_PHASE_DISCARD,
    MOMISTIGRI_PHASE_HAND_OUT,
    MOMISTIGRI_PHASE_SWAP_OUT,
    MomistigriScoreDetail,
    MomistigriSeatScore,
    MomistigriSeatView,
    MomistigriView,
)


def position(**public: object) -> Position:
    """Return a position where seat 1 of three is active and seat 2 is out; each view shows its seat's hand."""
    hands = ([2, 2, 12], [45], [])
    viewers = []
    for viewer in range(3):
        seats = [
            MomistigriSeatView(
                hand_size=len(hand),
                known_cards=hand if seat == viewer else [],
                in_round=seat < 2,
                passed=seat == 0,
                penalties=[4, 7],
            )
            for seat, hand in enumerate(hands)
        ]
        view = MomistigriView(seats=seats, active_seat=1, round=3, turn=9, pile=[3, 3, 21], **public)
        viewers.append(ViewerUpdate(seat=viewer, view=View(seat=viewer, momistigri=view)))
    return Position(viewers=viewers)


def drawn(**public: object) -> list[str]:
    return [click.unstyle(line) for line in draw_table(position(**public))]


def test_the_table_shows_hands_marks_penalties_and_pile() -> None:
    assert drawn(phase=MOMISTIGRI_PHASE_DISCARD) == [
        "  round 3, turn 9, clockwise: seat 1 may discard a pair",
        "    seat 0  passed  hand 3A×2 4B  penalties 4 + 7",
        "  > seat 1          hand Momistigri  penalties 4 + 7",
        "    seat 2          hand out of the round  penalties 4 + 7",
        "  pile 4A×2 4C",
    ]


def test_the_seat_that_swaps_acts_not_the_active_one() -> None:
    lines = drawn(phase=MOMISTIGRI_PHASE_SWAP_OUT, drawn_from=0, reversed=True)
    assert lines[0] == "  round 3, turn 9, counter-clockwise: seat 0 discards a card for a swap"
    assert lines[1].startswith("  > seat 0")


def test_the_receiver_of_a_card_is_named() -> None:
    assert drawn(phase=MOMISTIGRI_PHASE_HAND_OUT, receiver=0)[0].endswith("hands a card of the pile out, to seat 0")


def test_an_empty_hand_in_the_middle_of_an_effect() -> None:
    table = position(phase=MOMISTIGRI_PHASE_AGAIN)
    del table.viewers[1].view.momistigri.seats[1].known_cards[:]
    assert click.unstyle(draw_table(table)[2]) == "  > seat 1          hand empty  penalties 4 + 7"


def test_the_breakdown() -> None:
    seats = [MomistigriSeatScore(penalties=[4, 7], hand_points=3), MomistigriSeatScore(penalties=[0, 9])]
    detail = ScoreDetail(momistigri=MomistigriScoreDetail(seats=seats))
    assert break_down(Score(detail=detail)) == ["round 1 4 + round 2 7 + hand 3", "round 1 0 + round 2 9 + hand 0"]
    assert break_down(Score(detail=detail, final=True)) == ["round 1 4 + round 2 7", "round 1 0 + round 2 9"]
