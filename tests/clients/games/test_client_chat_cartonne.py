"""Chat Cartonne's table."""

from typing import Any

import click
import pytest

from chatiere import bots
from chatiere.clients import Client, begin, play
from chatiere.drawing.chat_cartonne import break_down, draw_table
from chatiere.v1.chat_cartonne_pb2 import (
    CHAT_CARTONNE_PHASE_CAT,
    CHAT_CARTONNE_PHASE_PLAY,
    CHAT_CARTONNE_PHASE_TOY,
    CHAT_CARTONNE_PHASE_TURN,
    ChatCartonneBox,
    ChatCartonneBoxSeat,
    ChatCartonneCard,
    ChatCartonneCardView,
    ChatCartonneOnJoint,
    ChatCartonnePrincess,
    ChatCartonneScoreDetail,
    ChatCartonneSeatScore,
    ChatCartonneSeatView,
    ChatCartonneView,
)
from chatiere.v1.game_pb2 import Score, ScoreDetail


def views(*table: ChatCartonneCardView, **public: Any) -> list[ChatCartonneView]:
    """Return both seats' views of a position in which seat 1 has to act. Each view shows the viewer's hand."""
    shown = []
    for viewer in (0, 1):
        seats = [
            ChatCartonneSeatView(hand_size=2, supply=4, holds_carton=True),
            ChatCartonneSeatView(hand_size=1, supply=0, holds_carton=False),
        ]
        seats[viewer].hand_cards.extend(([5, 30], [75])[viewer])
        view = ChatCartonneView(seats=seats, active_seat=1, table=table, draw_pile_size=61, **public)
        shown.append(view)
    return shown


def drawn(*table: ChatCartonneCardView, **public: Any) -> list[str]:
    """Return the lines of the table, without colours."""
    return [click.unstyle(line) for line in draw_table(views(*table, **public))]


def card(cell: int, on_joint: ChatCartonneOnJoint | None = None, **fields: Any) -> ChatCartonneCard:
    return ChatCartonneCard(cell=cell, on_joint=on_joint, **fields)


SEATS = ["    seat 0  hand 5 30               cats left 4", "  > seat 1  hand Princess           cats left 0"]


def test_the_table_shows_hands_cats_and_pile() -> None:
    assert drawn(phase=CHAT_CARTONNE_PHASE_TURN) == [*SEATS, "  pile 61"]


def test_a_viewer_sees_the_number_of_cards_of_other_seats() -> None:
    view = views(phase=CHAT_CARTONNE_PHASE_TURN)[1]
    assert [click.unstyle(line) for line in draw_table([view, view])][:2] == [
        "    seat 0  hand ? ?                cats left 4",
        SEATS[1],
    ]


def test_in_the_final_phase_seats_without_a_carton_are_marked() -> None:
    assert drawn(phase=CHAT_CARTONNE_PHASE_TURN, final_phase=True) == [
        SEATS[0],
        SEATS[1] + "  no carton left",
        "  pile 61, final phase",
    ]


@pytest.mark.parametrize(
    ("phase", "task"),
    [
        (CHAT_CARTONNE_PHASE_PLAY, "  to play a card of the hand"),
        (CHAT_CARTONNE_PHASE_TOY, "  to play the toy card at once"),
        (CHAT_CARTONNE_PHASE_CAT, "  a cat may follow the carton just played"),
    ],
)
def test_the_table_states_the_task_of_the_active_seat(phase: Any, task: str) -> None:
    assert drawn(phase=phase)[0] == task


def test_cards_are_drawn_as_turned() -> None:
    lies = {
        "cat": ChatCartonneOnJoint(cat=1),
        "toy": ChatCartonneOnJoint(toy=74),
        "princess": ChatCartonneOnJoint(princess=ChatCartonnePrincess()),
    }
    lines = drawn(
        ChatCartonneCardView(laid=card(250, lies["toy"], card=8), wall_west=True, sprayers=1),
        ChatCartonneCardView(laid=card(251, lies["princess"], card=73), balls=2),
        ChatCartonneCardView(laid=card(252, card=79), wall_north=True, wall_east=True),
        ChatCartonneCardView(laid=card(274, sleeping_cat=0)),
        ChatCartonneCardView(laid=card(275, lies["cat"], card=76), wall_south=True),
        ChatCartonneCardView(laid=card(276, card=5), mice=1, balls=1),
        ChatCartonneCardView(laid=card(298, sleeping_cat=1, woken=True)),
        ChatCartonneCardView(laid=card(300, princess=ChatCartonnePrincess())),
        phase=CHAT_CARTONNE_PHASE_TURN,
    )
    assert lines[3:] == [
        "        11   12   13",
        "       +   ++   ++###+",
        "  11   # ! F bb P    #",
        "       +   ++   ++   +",
        "       +   ++   ++   +",
        "  12    z0      1 mb",
        "       +   ++###++   +",
        "       +   +     +   +",
        "  13    w1         P",
        "       +   +     +   +",
    ]


def test_the_tables_of_a_whole_game_can_be_drawn(client: Client) -> None:
    seated = [bots.get(name, "chat_cartonne", 3) for name in ("builder", "random", "builder")]
    lines = 0
    for step in play(client, begin(client, "chat_cartonne", 3, seed=4), seated, seed=2):
        lines += len(draw_table([viewer.view.chat_cartonne for viewer in step.before.updates]))
    assert lines > 0


def test_the_breakdown_names_the_parts_of_each_seats_points() -> None:
    boxes = [
        ChatCartonneBox(
            points=6,
            majority=[0, 1],
            by_seat=[ChatCartonneBoxSeat(bonus_points=2), ChatCartonneBoxSeat(bonus_points=0)],
        ),
        ChatCartonneBox(
            points=-3, majority=[1], by_seat=[ChatCartonneBoxSeat(bonus_points=1), ChatCartonneBoxSeat(bonus_points=0)]
        ),
        ChatCartonneBox(points=0, by_seat=[ChatCartonneBoxSeat(bonus_points=0), ChatCartonneBoxSeat(bonus_points=0)]),
    ]
    seats = [ChatCartonneSeatScore(total=9, negative_points=1), ChatCartonneSeatScore(total=3, negative_points=4)]
    detail = ChatCartonneScoreDetail(seats=seats, boxes=boxes)
    assert break_down(Score(detail=ScoreDetail(chat_cartonne=detail))) == [
        "boxes 6 + bonus 3 (negative points 1)",
        "boxes 3 + bonus 0 (negative points 4)",
    ]
