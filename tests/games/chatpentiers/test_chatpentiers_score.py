"""Tests of the rules in "Score of a round, a seat"."""

from typing import Any

import pytest
from tools.over import over

from ..building import end_of, event_of, read
from ..played import played
from .building import GAME, Table, final_state, score_of

pytestmark = pytest.mark.rules("chatpentiers", "Score of a round, a seat")

Zones = dict[int, tuple[str, int]]


def board(zones: Zones, players: int = 5, **options: Any) -> Any:
    """Return the breakdown of seat 0's last board. The section limits are 1, 2, 3, 4 unless the options change them."""
    position = read(final_state(players, [zones, *[{}] * (players - 2)], **options))
    score = score_of(position, 0)
    assert position.totals()[0] == sum(score.round_points) == max(0, score.board_sum)
    return score


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_section_up_to_its_limit_gives_a_point_per_card(count: int) -> None:
    score = board({2: ("r", count)})
    assert list(score.section_points) == [0, 0, count, 0]
    assert score.board_sum == count


@pytest.mark.rules("chatpentiers", "Worked cases (from the rulebook)")
def test_worked_case_a_section_of_limit_3_with_5_cards() -> None:
    # The section scores -2. There are no points for the 3 cards within the limit.
    score = board({2: ("r", 5)})
    assert list(score.section_points) == [0, 0, -2, 0]
    assert score.board_sum == -2
    assert score.perfect_sections == 0


@pytest.mark.parametrize("count", [1, 4])
def test_each_card_in_the_zero_zone_costs_a_point(count: int) -> None:
    score = board({4: ("b", count), 3: ("y", 4)})
    assert score.zero_zone_points == -count
    assert score.board_sum == 4 - count


def test_an_empty_zero_zone_is_neither_a_perfect_nor_an_empty_section() -> None:
    score = board({})
    assert (score.perfect_sections, score.bonus_points, score.zero_zone_points) == (0, 0, 0)


@pytest.mark.parametrize(
    ("zones", "perfect", "bonus"),
    [
        ({1: ("y", 1)}, 0, 0),
        ({0: ("y", 1)}, 1, 0),
        ({0: ("y", 1), 1: ("g", 2)}, 2, 1),
        ({0: ("y", 1), 1: ("g", 2), 2: ("r", 3)}, 3, 2),
        ({0: ("y", 1), 1: ("g", 2), 2: ("r", 3), 3: ("n", 4)}, 4, 4),
        ({0: ("y", 2), 1: ("g", 2), 2: ("r", 4), 3: ("n", 4)}, 2, 1),
    ],
)
def test_perfect_sections_give_a_bonus(zones: Zones, perfect: int, bonus: int) -> None:
    score = board(zones)
    assert (score.perfect_sections, score.bonus_points) == (perfect, bonus)
    assert score.board_sum == sum(score.section_points) + bonus


def test_the_sum_of_a_round_is_at_least_0() -> None:
    score = board({2: ("r", 9), 0: ("y", 1)})
    assert score.board_sum == -6 + 1
    assert list(score.round_points) == [0, 0, 0]


def test_the_floor_applies_to_the_round_not_to_the_total() -> None:
    points = [(3, 4), (0, 0), (0, 0), (0, 0), (0, 0)]
    position = read(final_state(5, [{2: ("r", 9)}, {}, {}, {}], round_points=points))
    assert position.totals() == [7, 0, 0, 0, 0]
    assert list(score_of(position, 0).round_points) == [3, 4, 0]


def test_limits_are_taken_from_the_option() -> None:
    score = board({0: ("r", 9), 1: ("y", 1)}, section_limits=[9, 1, 1, 1])
    assert list(score.section_points) == [9, 1, 0, 0]
    assert (score.perfect_sections, score.bonus_points, score.board_sum) == (2, 1, 11)


def test_the_default_limit_of_section_3_is_5_with_3_players() -> None:
    assert board({3: ("r", 5)}, players=3).section_points[3] == 5
    assert board({3: ("r", 5)}, players=4).section_points[3] == -1


@pytest.mark.rules("chatpentiers", "Decisions of the engine")
def test_the_total_includes_the_current_board() -> None:
    table = Table("r12 y12", "r1", "r2", "r3").play("r12", "r1", "r2", "r3")
    assert table.take("r1", 0).position.totals() == [1, 0, 0, 0]
    table.take("r2", 2).take("r3", 2)
    assert table.position.totals() == [1, 0, 0, 2]
    assert list(score_of(table.position, 3).round_points) == [2]


# Winners


def test_the_highest_total_wins() -> None:
    position = read(final_state(4, [{3: ("y", 4)}, {2: ("g", 2)}, {}], round_points=[(1, 1), (5, 5), (9, 4), (0, 0)]))
    assert position.totals() == [6, 12, 13, 0]
    assert position.ranks() == [3, 2, 1, 4]
    assert position.winners() == [2]
    assert position.returns() == [-1, -1, 3, -1]
    assert end_of(position) == "three_rounds"


@over("players", [3, 4, 5])
def test_the_end_names_the_seat_that_took_the_last_cards(players: int) -> None:
    for position, events in played(GAME, players, games=4):
        if position.is_terminal():
            taken = [message for kind, message in (event_of(GAME, event) for event in events) if kind == "CARD_TAKEN"]
            assert position.ended_by() == taken[-1].seat


def test_a_tie_goes_to_more_perfect_sections_in_the_last_round() -> None:
    # Both last boards score 2 points. Two perfect sections would give a bonus, so one seat has one perfect section and
    # the other seat has no perfect section.
    position = read(final_state(4, [{2: ("g", 2)}, {1: ("y", 2)}, {}], round_points=[(3, 3), (2, 4), (0, 0), (0, 0)]))
    assert position.totals() == [8, 8, 0, 0]
    assert [score_of(position, seat).perfect_sections for seat in (0, 1)] == [0, 1]
    assert position.ranks() == [2, 1, 3, 3]
    assert position.winners() == [1]


def test_perfect_sections_of_earlier_rounds_do_not_count() -> None:
    # Only the last boards count, regardless of the points of the finished rounds.
    position = read(final_state(3, [{1: ("y", 1)}, {0: ("g", 1)}], round_points=[(9, 9), (10, 8), (0, 0)]))
    assert position.totals() == [19, 19, 0]
    assert position.winners() == [1]


def test_the_tie_break_never_outweighs_a_point() -> None:
    zones: Zones = {0: ("y", 1), 1: ("g", 2), 2: ("r", 3), 3: ("n", 4)}
    position = read(final_state(4, [zones, {}, {}], round_points=[(0, 0), (14, 1), (0, 0), (0, 0)]))
    assert position.totals()[:2] == [14, 15]
    assert position.winners() == [1]


def test_a_remaining_tie_is_shared_and_the_next_seat_has_rank_3() -> None:
    position = read(final_state(5, [{0: ("y", 1)}, {0: ("g", 1)}, {1: ("b", 1)}, {}], round_points=[(1, 1)] * 5))
    assert position.totals() == [3, 3, 3, 2, 2]
    assert position.ranks() == [1, 1, 3, 4, 4]
    assert position.winners() == [0, 1]
    assert position.returns() == [1.5, 1.5, -1, -1, -1]


def test_the_tie_break_also_applies_to_losers() -> None:
    position = read(final_state(4, [{1: ("y", 1)}, {0: ("g", 1)}, {}], round_points=[(0, 0), (0, 0), (10, 0), (0, 0)]))
    assert position.totals() == [1, 1, 10, 0]
    assert position.ranks() == [3, 2, 1, 4]
