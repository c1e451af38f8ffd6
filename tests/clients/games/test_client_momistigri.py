"""Momistigri's table."""

from typing import Any

import click

from chatiere.drawing.momistigri import break_down, draw_table
from chatiere.v1.game_pb2 import Score, ScoreDetail
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


def views(**public: Any) -> list[MomistigriView]:
    """Return three seats' views of a position. Seat 1 is active. Seat 2 is out. Each view shows the viewer's hand."""
    hands: tuple[list[int], ...] = ([2, 2, 12], [45], [])
    shown = []
    for viewer in range(3):
        seats = [
            MomistigriSeatView(
                hand_size=len(hand),
                hand_cards=hand if seat == viewer else [],
                in_round=seat < 2,
                pass_mark=seat == 0,
                round_points=[4, 7],
            )
            for seat, hand in enumerate(hands)
        ]
        view = MomistigriView(seats=seats, active_seat=1, round=3, turn=9, discards=[3, 3, 21], **public)
        shown.append(view)
    return shown


def drawn(**public: object) -> list[str]:
    return [click.unstyle(line) for line in draw_table(views(**public))]


def test_the_table_shows_hands_marks_penalties_and_pile() -> None:
    assert drawn(phase=MOMISTIGRI_PHASE_DISCARD) == [
        "  round 3, turn 9, clockwise: seat 1 may discard a pair",
        "    seat 0  passed  hand 3A×2 4B  penalties 4 + 7",
        "  > seat 1          hand Momistigri  penalties 4 + 7",
        "    seat 2          hand out of the round  penalties 4 + 7",
        "  pile 4A×2 4C",
    ]


def test_the_swapping_seat_acts_instead_of_the_active_one() -> None:
    lines = drawn(phase=MOMISTIGRI_PHASE_SWAP_OUT, drawn_from=0, reversed=True)
    assert lines[0] == "  round 3, turn 9, counter-clockwise: seat 0 discards a card for a swap"
    assert lines[1].startswith("  > seat 0")


def test_the_receiver_of_a_card_is_named() -> None:
    assert drawn(phase=MOMISTIGRI_PHASE_HAND_OUT, receiver=0)[0].endswith("hands a card of the pile out, to seat 0")


def test_an_empty_hand_in_the_middle_of_an_effect() -> None:
    shown = views(phase=MOMISTIGRI_PHASE_AGAIN)
    shown[1].seats[1].ClearField("hand_size")
    shown[1].seats[1].ClearField("hand_cards")
    assert click.unstyle(draw_table(shown)[2]) == "  > seat 1          hand empty  penalties 4 + 7"


def test_a_viewer_sees_known_cards_and_the_number_of_unknown_ones() -> None:
    view = views(phase=MOMISTIGRI_PHASE_DISCARD)[1]
    view.seats[0].hand_cards.append(12)
    assert [click.unstyle(line) for line in draw_table([view] * 3)][1:4] == [
        "    seat 0  passed  hand 4B ?×2  penalties 4 + 7",
        "  > seat 1          hand Momistigri  penalties 4 + 7",
        "    seat 2          hand out of the round  penalties 4 + 7",
    ]


def test_the_breakdown_names_the_parts_of_each_seats_points() -> None:
    seats = [MomistigriSeatScore(round_points=[4, 7], hand_points=3), MomistigriSeatScore(round_points=[0, 9])]
    detail = ScoreDetail(momistigri=MomistigriScoreDetail(seats=seats))
    assert break_down(Score(detail=detail)) == ["round 1 4 + round 2 7 + hand 3", "round 1 0 + round 2 9 + hand 0"]
    assert break_down(Score(detail=detail, final=True)) == ["round 1 4 + round 2 7", "round 1 0 + round 2 9"]
