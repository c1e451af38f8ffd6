"""Chat perché's table."""

import click

from chatiere import bots
from chatiere.clients import Client, begin, play
from chatiere.drawing.chat_perche import break_down, draw_table
from chatiere.v1.chat_perche_pb2 import (
    ChatPercheBranch,
    ChatPercheScoreDetail,
    ChatPercheSeatScore,
    ChatPercheSeatView,
    ChatPercheView,
)
from chatiere.v1.game_pb2 import Score, ScoreDetail


def views() -> list[ChatPercheView]:
    """Return both seats' views of a position in which seat 1 moves a second cat.

    Each view shows the values of the viewer's own tokens.
    """
    shown = []
    for viewer in (0, 1):
        branches = [ChatPercheBranch() for _ in range(10)]
        branches[0] = ChatPercheBranch(token_owner=0, solidity=3 if viewer == 0 else None)
        branches[6] = ChatPercheBranch(token_owner=1, solidity=4 if viewer == 1 else None)
        branches[9] = ChatPercheBranch(token_owner=0, solidity=1, broken=True)
        seats = [
            ChatPercheSeatView(cats=[0, 5, 8], cats_at_start=9, draw_pile_cards=[0, 0], unplaced_tokens=3),
            ChatPercheSeatView(cats=[1, 29], cats_at_start=10, unplaced_tokens=4),
        ]
        seats[viewer].unplaced_solidity.extend([[1, 2, 4], [1, 2, 3, 3]][viewer])
        view = ChatPercheView(
            seats=seats,
            branches=branches,
            birds=[32],
            birds_beside=5,
            active_seat=1,
            dog_steps=3,
            dog_track=10,
            steps_left=2,
            barred=[5],
            moved=29,
        )
        shown.append(view)
    return shown


def test_the_table_shows_tree_seats_and_dogs() -> None:
    assert [click.unstyle(line) for line in draw_table(views())] == [
        "    --  . . . . |.| x x x x  G1",
        "    --  . . . . |.| . . . .  --",
        "    --  . . . . |.| . . . .  --",
        "    --  . . . . |B| b . . *  B4",
        "    G3  G . . g |G| . . . .  --",
        "    seat 0 ginger  start  9  in the tree  3  deck  2  tokens 1 2 4",
        "  > seat 1 black   start 10  in the tree  2  deck  0  tokens 1 2 3 3",
        "  dogs 3 of 10  birds beside the board 5  steps left 2",
    ]


def test_one_viewer_does_not_see_the_other_seats_tokens() -> None:
    view = views()[0]
    lines = [click.unstyle(line) for line in draw_table([view, view])]
    assert lines[3].endswith("  B?")
    assert lines[4].startswith("    G3")
    assert lines[5].endswith("  tokens 1 2 4")
    assert lines[6].endswith("  tokens ? ? ? ?")


def test_the_tables_of_a_whole_game_can_be_drawn(client: Client) -> None:
    seated = [bots.get("random", "chat_perche", 2)] * 2
    for step in play(client, begin(client, "chat_perche", 2, seed=3), seated, seed=1):
        lines = [
            click.unstyle(line) for line in draw_table([viewer.view.chat_perche for viewer in step.before.updates])
        ]
        assert len(lines) == 8
        assert sum(line.startswith("  > seat") for line in lines) == 1


def test_the_breakdown_names_the_parts_of_each_seats_points() -> None:
    seats = [ChatPercheSeatScore(trunk_points=2, branch_points=3), ChatPercheSeatScore()]
    score = Score(detail=ScoreDetail(chat_perche=ChatPercheScoreDetail(seats=seats)))
    assert break_down(score) == ["trunk 2 + branches 3", "trunk 0 + branches 0"]
