"""Chatpentiers' table."""

from typing import Any

import click

from chatiere import bots
from chatiere.clients import Client, begin, play
from chatiere.drawing.chatpentiers import break_down, draw_table
from chatiere.v1.chatpentiers_pb2 import (
    CHATPENTIERS_PHASE_PLAY,
    CHATPENTIERS_PHASE_TAKE,
    ChatpentiersPlay,
    ChatpentiersScoreDetail,
    ChatpentiersSeatScore,
    ChatpentiersSeatView,
    ChatpentiersView,
    ChatpentiersZone,
)
from chatiere.v1.game_pb2 import Score, ScoreDetail


def views(**public: Any) -> list[ChatpentiersView]:
    """Return both seats' views of a position in which seat 1 has to act. Each view shows the viewer's hand."""
    shown = []
    for viewer, hand in enumerate(([0, 11, 24], [59])):
        seats = [
            ChatpentiersSeatView(
                hand_size=3,
                shown_voids=[2, 4],
                round_points=[7, 0],
                zones=[ChatpentiersZone(zone=1, cards=[12, 13]), ChatpentiersZone(zone=4, cards=[36])],
            ),
            ChatpentiersSeatView(hand_size=1),
        ]
        seats[viewer].hand_cards.extend(hand)
        view = ChatpentiersView(
            seats=seats, round=3, trick=4, leader=0, active_seat=1, section_limits=[1, 2, 3, 4], **public
        )
        shown.append(view)
    return shown


def drawn(**public: Any) -> list[str]:
    return [click.unstyle(line) for line in draw_table(views(**public))]


SEATS = [
    "    seat 0  hand   grey 1 12, red 1  (has shown: no red blue)",
    "            board  [1: -, 0 of 1] [2: green 1 2, 2 of 2] [3: -, 0 of 3] [4: -, 0 of 4] [zero: brown 1]"
    "  earlier rounds 7 + 0",
    "  > seat 1  hand   blue 12",
    "            board  [1: -, 0 of 1] [2: -, 0 of 2] [3: -, 0 of 3] [4: -, 0 of 4]",
]


def test_the_table_before_the_first_move() -> None:
    assert drawn(phase=CHATPENTIERS_PHASE_PLAY) == ["  round 3, trick 4, seat 0 leads", "  table   -", *SEATS]


def test_the_table_with_an_extra_card_and_a_taken_one() -> None:
    lines = drawn(
        phase=CHATPENTIERS_PHASE_TAKE,
        extra_card=20,
        plays=[ChatpentiersPlay(seat=0, card=30), ChatpentiersPlay(seat=1, card=31)],
        table_cards=[20, 30],
        ranking=[0, 1],
        cards_to_take=2,
    )
    assert lines == [
        "  round 3, trick 4, seat 0 leads",
        "  table   extra green 9 | seat 0: red 7 | seat 1: red 8 (taken)",
        "  rank    seat 0, seat 1; seat 1 takes 2 cards",
        *SEATS,
    ]


def test_a_viewer_sees_the_number_of_cards_of_other_seats() -> None:
    lines = [click.unstyle(line) for line in draw_table([views(phase=CHATPENTIERS_PHASE_PLAY)[1]] * 2)]
    assert lines[2] == "    seat 0  hand   ?×3  (has shown: no red blue)"
    assert lines[4] == "  > seat 1  hand   blue 12"


def test_every_card_is_drawn_in_the_tables_of_a_whole_game(client: Client) -> None:
    seated = [bots.get("random", "chatpentiers", 5)] * 5
    for step in play(client, begin(client, "chatpentiers", 5, seed=3), seated, seed=3):
        views = [viewer.view.chatpentiers for viewer in step.before.updates]
        text = click.unstyle("\n".join(draw_table(views)))
        assert text.count("hand ") == text.count("board ") == 5
        assert text.count("> seat") == 1
        shown = sum(
            len(view.seats[seat].hand_cards) + sum(len(zone.cards) for zone in view.seats[seat].zones)
            for seat, view in enumerate(views)
        )
        assert shown + len(views[0].table_cards) + len(views[0].discards) == 60


def test_the_breakdown_names_the_parts_of_each_seats_points() -> None:
    seats = [
        ChatpentiersSeatScore(
            round_points=[3, 0, 9],
            section_points=[1, 2, 3, 4],
            zero_zone_points=-5,
            perfect_sections=4,
            bonus_points=4,
            board_sum=9,
        )
    ]
    detail = ScoreDetail(chatpentiers=ChatpentiersScoreDetail(seats=seats))
    assert break_down(Score(detail=detail)) == [
        "3 + 0 + 9 (last board: sections 1 2 3 4, zero zone -5, 4 perfect, bonus 4)"
    ]
