"""Observations of positions that random games almost never reach."""

from typing import Any

import pytest

from ..building import phase
from ..plain import check_observation, observed
from .building import DRAW, Board, begun, carton, cell, place, play
from .reference import CONTENTS

pytestmark = pytest.mark.rules("chat_cartonne", "Public and hidden")


def test_every_code_of_cells_and_joints_occurs_in_observations() -> None:
    board = Board(5, all_princesses=True)
    for number, content in enumerate(CONTENTS):
        board.put(cell(12 + number, 12), "", content)
    for number in range(3):
        board.toy(cell(12 + number, 13), 72 + number)
    for seat in range(5):
        board.asleep(cell(12 + seat, 11), seat)
        board.asleep(cell(12 + seat, 10), seat, woken=True)
        board.awake(cell(12 + seat, 12), seat)
    board.princess(cell(17, 11), False, 0).princess(cell(17, 12), True, 1)
    position = board.position()
    for seat in range(5):
        check_observation(position, seat)
    assert set(observed(position, 2)["contents"].flat) == set(range(23))
    assert set((observed(position, 2)["walls"] >> 4).flat) == set(range(7))


def test_observations_show_a_possible_cat_and_the_information_from_passes() -> None:
    table = Board(2, no_double_walls=True)
    table.put(cell(12, 11), "").hand(1, carton("NE"), carton("NES"))

    def passed(state: Any) -> None:
        state.seats[1].shown.add(not_patterns=[0, 1, 2, 3, 4], not_princess=True)
        state.seats[1].shown.add(not_patterns=[0])

    position = table.position(passed)
    check_observation(position, 0)
    check_observation(position, 1)
    asked = play(play(begun(hands=[[0, 1], [2, 3]]), DRAW, 20), place(0, cell(12, 11)))
    assert phase(asked) == "CAT"
    check_observation(asked, 1)
    assert observed(asked, 1)["just_played"].tolist() == [12, 13]
