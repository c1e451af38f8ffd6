"""Discat's table."""

from typing import Any

import click

from chatiere.clients import Client, begin
from chatiere.drawing.discat import break_down, draw_table
from chatiere.v1.discat_pb2 import (
    DISCAT_PHASE_PASS,
    DISCAT_PHASE_PLAY,
    DiscatConstraint,
    DiscatPileCard,
    DiscatQueuedCard,
    DiscatScoreDetail,
    DiscatSeatScore,
    DiscatSeatView,
    DiscatTurn,
    DiscatView,
)
from chatiere.v1.game_pb2 import Score, ScoreDetail


def views(**public: Any) -> list[DiscatView]:
    """Return both seats' views of a position in which seat 1 has to act. Each view shows the viewer's hand."""
    hands = ([5, 17], [30, 42, 44])
    shown = []
    for viewer in (0, 1):
        seats = [
            DiscatSeatView(hand_size=len(hand), hand_cards=hand if seat == viewer else [])
            for seat, hand in enumerate(hands)
        ]
        seats[0].pile.extend([DiscatPileCard(card=8), DiscatPileCard(card=24)])
        seats[0].bonus_pile.append(3)
        seats[1].pile.append(DiscatPileCard(card=9, face_down=True))
        view = DiscatView(seats=seats, active_seat=1, draw_pile_size=12, turns=[DiscatTurn()], **public)
        shown.append(view)
    return shown


def drawn(**public: Any) -> list[str]:
    return [click.unstyle(line) for line in draw_table(views(**public))]


LOWER_THAN_24 = DiscatConstraint(card=24, higher=False, creator=0)
SEATS = [
    "    seat 0  hand  5 17              bonus 1  pile  2 (top 24)",
    "  > seat 1  hand 30 42 44           bonus 0  pile  1 (top face down)",
]


def test_the_table_shows_hands_piles_and_constraint() -> None:
    assert drawn(phase=DISCAT_PHASE_PLAY, constraint=LOWER_THAN_24) == [
        "  to play lower than 24, laid by seat 0",
        *SEATS,
        "  draw pile 12",
    ]


def test_the_table_at_a_pass() -> None:
    higher = DiscatConstraint(card=47, higher=True, creator=0)
    queue = [DiscatQueuedCard(seat=0), DiscatQueuedCard(seat=1)]
    assert drawn(phase=DISCAT_PHASE_PASS, constraint=higher, queue=queue, last_turns_left=1) == [
        "  has nothing higher than 47, laid by seat 0",
        "  last turns: 1 left",
        *SEATS,
        "  draw pile 12, 2 of them put under it",
    ]


def test_the_table_without_a_constraint() -> None:
    assert drawn(phase=DISCAT_PHASE_PLAY)[0] == "  to play any card or group"


def test_the_table_before_the_first_turn(client: Client) -> None:
    viewers = begin(client, "discat", 2, seed=1).updates
    assert draw_table([viewer.view.discat for viewer in viewers])[0] == "  to play any card"


def test_a_viewer_sees_known_cards_and_the_number_of_unknown_ones() -> None:
    view = views(phase=DISCAT_PHASE_PLAY)[0]
    view.seats[1].hand_cards.append(42)
    assert [click.unstyle(line) for line in draw_table([view, view])][1:3] == [
        SEATS[0],
        "  > seat 1  hand 42  ?  ?           bonus 0  pile  1 (top face down)",
    ]


def test_the_breakdown_names_the_parts_of_each_seats_points() -> None:
    seats = [
        DiscatSeatScore(pile_points=7, bonus_points=8, hand_points=-2),
        DiscatSeatScore(pile_points=5, bonus_points=0, hand_points=0),
    ]
    detail = DiscatScoreDetail(seats=seats)
    assert break_down(Score(detail=ScoreDetail(discat=detail))) == [
        "pile 7 + bonus 8 - hand 2",
        "pile 5 + bonus 0 - hand 0",
    ]
    detail.group_winner = 1
    assert break_down(Score(detail=ScoreDetail(discat=detail)))[1] == (
        "pile 5 + bonus 0 - hand 0, won at once with a group of five or more"
    )
