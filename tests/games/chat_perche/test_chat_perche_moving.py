"""Tests of the rules in "Moving a cat" and "Breaking"."""

from typing import Any

import pytest

from chatiere.engine import Reason

from ..building import view_of
from .building import BIRD, OTHER_FALLS, OWN_FALLS, START, Table, card, holding, left, move_id, right, trunk
from .reference import steps_from


def moving(number: int, **what: Any) -> Table:
    """Return a state in which the active seat has turned up the given card. The decks contain this card."""
    options = what.pop("options", {})
    return Table(options=holding(number, OWN_FALLS, OTHER_FALLS, BIRD, **options), **what).turn_up(number)


# Steps and paths


@pytest.mark.rules("chat_perche", "Moving a cat")
@pytest.mark.parametrize("forward_only", [False, True])
@pytest.mark.parametrize("value", range(1, 10))
def test_a_move_uses_the_only_path_in_the_tree_and_at_least_one_step(value: int, forward_only: bool) -> None:
    options = {"forward_only": True} if forward_only else {}
    for start in range(46):
        cats = [] if start == START else [start]
        table = moving(card("one own", value), cats=(cats, []), options=options)
        far = steps_from(start, forward_only)
        expected = {end for end, steps in far.items() if 1 <= steps <= value}
        assert table.ends(start) == expected


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_a_longer_path_is_refused() -> None:
    table = moving(card("one own", 3), cats=([left(1, 2)], []))
    # The path has two steps inward, no steps on the trunk, and two steps outward.
    error = table.refusal(move_id(left(1, 2), right(1, 2)))
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "chat_perche.md: Moving a cat")
    assert "too far for the steps" in error.message
    assert right(1, 1) in table.ends(left(1, 2))


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_a_cat_uses_at_least_one_step() -> None:
    table = moving(card("one own", 3), cats=([left(1, 2)], []))
    assert "at least 1 step" in table.refusal(move_id(left(1, 2), left(1, 2))).message


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_decision_a_cat_moves_in_any_direction() -> None:
    table = moving(card("one own", 4), cats=([left(3, 2)], []))
    assert {left(3, 1), left(3, 3), left(3, 4), trunk(3), trunk(1), trunk(5), right(3, 2), left(2, 1)} < table.ends(
        left(3, 2)
    )


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_decision_option_forward_only_allows_only_steps_up_the_trunk_and_outward() -> None:
    for cats, number in ((([trunk(3), left(3, 2)], []), "one own"), (([], [trunk(3), left(3, 2)]), "one other")):
        table = moving(card(number, 3), cats=cats, options={"forward_only": True})
        assert table.ends(left(3, 2)) == {left(3, 3), left(3, 4)}
        out = {f(height, 1) for f in (left, right) for height in (3, 4, 5)}
        further = {f(height, 2) for f in (left, right) for height in (3, 4)} | {right(3, 3), left(3, 3)}
        assert table.ends(trunk(3)) == (out | further | {trunk(4), trunk(5)}) - {left(3, 2)}
        for start, end in (
            (left(3, 2), left(3, 1)),
            (left(3, 2), trunk(3 + 1)),
            (trunk(3), trunk(2)),
            (trunk(3), left(2, 1)),
        ):
            error = table.refusal(move_id(start, end))
            assert "only move up the trunk and outward" in error.message


# Passing and ending


@pytest.mark.rules("chat_perche", "Moving a cat")
@pytest.mark.parametrize("other", ["own cat", "other cat", "bird"])
def test_moves_may_pass_but_not_end_on_taken_spaces_which_count_as_steps(other: str) -> None:
    between = left(1, 2)
    cats = [left(1, 1), between] if other == "own cat" else [left(1, 1)], [between] if other == "other cat" else []
    tokens = [(0, 4), (0, 1), (0, 2), (0, 3), (0, 3), (1, 1), (1, 2), (1, 3), (1, 3), (1, 4)]
    table = moving(card("one own", 2), cats=cats, birds=[between] if other == "bird" else [], tokens=tokens)
    assert left(1, 3) in table.ends(left(1, 1))
    assert left(1, 4) not in table.ends(left(1, 1))
    assert between not in table.ends(left(1, 1))
    assert "another animal" in table.refusal(move_id(left(1, 1), between)).message


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_a_move_may_pass_a_cat_on_the_trunk() -> None:
    table = moving(card("one own", 3), cats=([], [trunk(2)]))
    assert table.ends(START) & set(range(5)) == {trunk(1), trunk(3)}
    assert {left(1, 2), left(2, 1)} < table.ends(START)


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_spaces_of_a_broken_branch_are_out_of_play() -> None:
    table = moving(card("one own", 3), broken=[0])
    assert not table.ends(START) & {left(1, space) for space in range(1, 5)}
    assert right(1, 2) in table.ends(START)
    assert "out of play" in table.refusal(move_id(START, left(1, 1))).message


# The trunk limit


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_a_move_may_not_end_on_the_trunk_with_two_other_cats_of_its_colour() -> None:
    table = moving(card("one own", 5), cats=([trunk(2), trunk(4), left(1, 1)], []))
    assert not table.ends(START) & set(range(5))
    assert not table.ends(left(1, 1)) & set(range(5))
    for start in (START, left(1, 1)):
        assert "two other cats" in table.refusal(move_id(start, trunk(1))).message
    # The cat may pass along the trunk.
    assert left(3, 2) in table.ends(START)
    # One of these two cats may move along the trunk.
    assert table.ends(trunk(2)) & set(range(5)) == {trunk(1), trunk(3), trunk(5)}


@pytest.mark.rules("chat_perche", "Moving a cat", "Decisions of the engine")
def test_the_trunk_limit_applies_to_each_colour() -> None:
    table = moving(card("one own", 5), cats=([trunk(2)], [trunk(1), trunk(4)]))
    assert table.ends(START) & set(range(5)) == {trunk(3), trunk(5)}
    table = moving(card("one other", 5), cats=([trunk(2)], [trunk(1), trunk(4)]))
    assert not table.ends(START) & set(range(5))


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_decision_the_trunk_limit_is_checked_after_each_single_move() -> None:
    table = moving(card("two own", 5), cats=([trunk(2), trunk(4)], []))
    # The move is illegal even if a cat leaves the trunk in the second move.
    assert not table.ends(START) & set(range(5))
    table.move(trunk(4), left(4, 1))
    assert trunk(3) in table.ends(START)
    table.move(START, trunk(3))
    assert table.cats(0) == [trunk(2), trunk(3), left(4, 1)]


# Cats that the opponent moved


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_a_cat_that_the_opponent_moved_in_its_last_turn_may_not_move() -> None:
    # In each case, seat 0 moves a cat, and seat 1's card moves cats of the same colour. Seat 1 may not move that cat.
    for first, second, colour in (("one own", "one other", 0), ("one other", "one own", 1)):
        table = Table(cats=([left(3, 2)], [right(3, 2)]), options=holding(card(first, 3), card(second, 4)))
        table.turn_up(card(first, 3)).move([left(3, 2), right(3, 2)][colour], trunk(3)).turn_up(card(second, 4))
        assert table.actor == 1
        assert list(table.state.barred) == [trunk(3)]
        # Neither that cat nor a cat of the other colour may move.
        assert table.movable() == {START}
        error = table.refusal(move_id(trunk(3), trunk(4)))
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "chat_perche.md: Moving a cat")
        assert "opponent has just moved that cat" in error.message


@pytest.mark.rules("chat_perche", "Moving a cat", "Decisions of the engine")
def test_cats_of_the_other_colour_are_not_barred() -> None:
    table = Table(cats=([left(3, 2)], [left(2, 2)]), options=holding(card("one own", 3)))
    table.turn_up(card("one own", 3)).move(left(3, 2), trunk(3))
    assert list(table.state.barred) == [trunk(3)]
    # Black moves its own cat, so ginger's last move has no effect.
    table.turn_up(card("one own", 1))
    assert list(table.state.barred) == []
    assert left(2, 2) in table.movable()


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_both_cats_of_a_two_cat_card_are_barred() -> None:
    table = Table(options=holding(card("two own", 4), card("two other", 4)))
    table.turn_up(card("two own", 4)).move(START, left(1, 1)).move(START, trunk(2)).turn_up(card("two other", 4))
    assert list(table.state.barred) == [trunk(2), left(1, 1)]
    assert table.movable() == {START}
    # The same is true in the second move.
    table.move(START, trunk(1))
    assert table.movable() == {START}


@pytest.mark.rules("chat_perche", "Moving a cat", "Decisions of the engine")
def test_the_bar_lasts_for_one_turn() -> None:
    options = holding(card("one own", 3), card("one other", 3))
    table = Table(options=options).turn_up(card("one own", 3)).move(START, trunk(3))
    table.turn_up(card("one own", 1)).stop()
    # Seat 0 may move the cat again. Seat 1 has had its turn, and may also move the cat.
    table.turn_up(card("one own", 1)).stop().turn_up(card("one other", 3))
    assert list(table.state.barred) == []
    assert trunk(3) in table.movable()


@pytest.mark.rules("chat_perche", "Moving a cat", "Decisions of the engine")
def test_a_seat_may_move_its_own_last_cat_again() -> None:
    options = holding(card("one own", 3), card("one own", 2))
    table = Table(options=options).turn_up(card("one own", 3)).move(START, trunk(3))
    table.turn_up(card("one own", 1)).stop().turn_up(card("one own", 2))
    assert trunk(3) in table.movable()


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_a_barred_cat_may_fall_and_is_no_longer_barred() -> None:
    options = holding(card("one own", 3), OTHER_FALLS, card("one own", 2))
    table = Table(options=options).turn_up(card("one own", 3)).move(START, trunk(3)).turn_up(OTHER_FALLS)
    assert list(table.state.barred) == []
    table.fall(trunk(3))
    assert view_of(table.position, None).seats[0].cats_at_start == 12
    table.turn_up(card("one own", 2))
    assert table.movable() == {START}


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_decision_a_fallen_cat_is_at_its_start_and_no_longer_barred() -> None:
    # Seat 0's own move breaks the branch. Seat 0's cat is then at the start, and seat 1 may move it.
    cats = [left(1, 2), *(left(5, space) for space in range(1, 5)), *(right(5, space) for space in range(1, 5))]
    cats += [right(3, 1), right(3, 2)]
    table = Table(cats=(cats, []), options=holding(card("one own", 2), card("one other", 2)))
    table.turn_up(card("one own", 2)).move(START, left(1, 1))
    assert [kind for kind, _ in table.plain_events()] == ["CAT_MOVED", "BRANCH_BROKE", "CAT_FELL", "CAT_FELL"]
    table.turn_up(card("one other", 2))
    assert list(table.state.barred) == []
    assert START in table.movable()


# The second cat


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_decision_the_second_cat_is_not_the_first() -> None:
    table = moving(card("two own", 6), cats=([left(1, 1)], [])).move(left(1, 1), trunk(2))
    assert table.state.moved == trunk(2)
    assert table.movable() == {START}
    error = table.refusal(move_id(trunk(2), trunk(3)))
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "chat_perche.md: Moving a cat")
    assert "a different one" in error.message


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_the_second_cat_has_the_remaining_steps() -> None:
    table = moving(card("two other", 7)).move(START, left(1, 2))
    assert table.state.steps_left == 4
    assert table.ends(START) & set(range(5)) == {trunk(number) for number in range(1, 5)}


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_decision_a_fallen_first_cat_is_under_the_other_cats_at_its_start() -> None:
    # Eleven cats are in the tree, one is at the start and moves to a branch of solidity 1. The branch breaks.
    spaces = [right(5, space) for space in range(1, 5)] + [left(5, space) for space in range(1, 5)]
    spaces += [right(3, 1), right(3, 2), left(1, 2)]
    table = moving(card("two own", 7), cats=(spaces, [])).move(START, left(1, 1))
    # The cat fell together with the cat that was on the branch. The start now has two cats, and the other cat may move.
    assert table.phase == "SECOND_MOVE"
    assert not table.state.HasField("moved")
    assert START in table.movable()
    table.move(START, trunk(1))
    assert table.cats(0) == sorted([*spaces[:-1], trunk(1)])

    # With a bird on the branch, only the first cat is at the start.
    spaces = [*spaces[:-1], trunk(5)]
    table = moving(card("two own", 7), cats=(spaces, []), birds=[left(1, 2)]).move(START, left(1, 1))
    assert table.phase == "SECOND_MOVE"
    assert START not in table.movable()
    error = table.refusal(move_id(START, trunk(1)))
    assert "a different one" in error.message
    assert trunk(5) in table.movable()


@pytest.mark.rules("chat_perche", "Moving a cat")
def test_an_empty_start_has_no_cat_to_move() -> None:
    spaces = [f(5, space) for f in (left, right) for space in range(1, 5)]
    spaces += [left(4, 1), left(4, 2), right(4, 1), right(4, 2)]
    table = moving(card("one own", 3), cats=(spaces, []))
    assert START not in table.movable()
    assert "at the start" in table.refusal(move_id(START, trunk(1))).message


# Breaking


@pytest.mark.rules("chat_perche", "Breaking")
@pytest.mark.parametrize("branch", range(10))
@pytest.mark.parametrize("animal", ["own cat", "other cat", "bird"])
def test_a_branch_breaks_under_more_animals_than_its_solidity(branch: int, animal: str) -> None:
    tokens = [(0, value) for value in (1, 2, 3, 3, 4)] + [(1, value) for value in (1, 2, 3, 3, 4)]
    solidity = tokens[branch][1]
    spaces = [5 + 4 * branch + place for place in range(4)]
    standing = spaces[: min(solidity, 3)]
    kinds: dict[str, list[int]] = {"own": standing[::3], "other": standing[1::3], "bird": standing[2::3]}
    cats = kinds["own"], kinds["other"]
    number = {"own cat": card("one own", 9), "other cat": card("one other", 9), "bird": BIRD}[animal]
    table = moving(number, cats=cats, birds=kinds["bird"])
    table.bird(spaces[3]) if animal == "bird" else table.move(START, spaces[3])
    broke = [fields for kind, fields in table.plain_events() if kind == "BRANCH_BROKE"]
    state = table.state
    if solidity == 4:
        # A branch of solidity 4 never breaks, because it has no space for a fifth animal.
        assert not broke
        assert state.branches[branch].greatest_load == 4
        return
    assert broke == [{"seat": tokens[branch][0], "branch": branch, "solidity": solidity}]
    assert state.branches[branch].broken
    assert state.branches[branch].greatest_load == 0
    assert list(state.birds) == list(state.seats[0].cats) == list(state.seats[1].cats) == []
    view = view_of(table.position, None)
    assert view.birds_beside == 6
    assert [seat.cats_at_start for seat in view.seats] == [12, 12]
    # The token is shown to all viewers.
    for viewer in (None, 0, 1):
        assert view_of(table.position, viewer).branches[branch].solidity == solidity
    # All animals leave, in the order of the spaces.
    left_spaces = [fields["space"] for kind, fields in table.plain_events() if kind in ("CAT_FELL", "BIRD_LEFT")]
    assert left_spaces == [*standing, spaces[3]]


@pytest.mark.rules("chat_perche", "Breaking")
@pytest.mark.parametrize("branch", range(10))
def test_a_branch_holds_as_many_animals_as_its_solidity(branch: int) -> None:
    solidity = (1, 2, 3, 3, 4)[branch % 5]
    spaces = [5 + 4 * branch + place for place in range(4)]
    table = moving(card("one own", 9), cats=([], spaces[: solidity - 1])).move(START, spaces[3])
    assert "BRANCH_BROKE" not in [kind for kind, _ in table.plain_events()]
    assert not table.state.branches[branch].broken
    assert table.state.branches[branch].greatest_load == solidity


@pytest.mark.rules("chat_perche", "Breaking")
def test_passing_and_moving_within_a_branch_do_not_break_it() -> None:
    # Both branches hold as many animals as they can.
    table = moving(card("one own", 6), cats=([left(1, 1)], [left(2, 1), left(2, 2)]))
    table.move(left(1, 1), left(1, 4))
    assert [kind for kind, _ in table.plain_events()] == ["CAT_MOVED"]
    table = moving(card("one own", 6), cats=([left(1, 4)], []))
    table.move(left(1, 4), trunk(2))
    assert table.state.branches[0].greatest_load == 1


@pytest.mark.rules("chat_perche", "Breaking")
def test_birds_of_a_broken_branch_can_be_placed_again() -> None:
    birds = [left(5, 1), left(5, 2), left(5, 3), left(5, 4), right(5, 1), left(1, 2)]
    table = Table(birds=birds, options=holding(BIRD, card("one own", 3)))
    table.turn_up(card("one own", 3)).move(START, left(1, 1))
    assert ("BIRD_LEFT", {"space": left(1, 2)}) in table.plain_events()
    table.turn_up(BIRD)
    assert (table.phase, table.actor) == ("PLACE_BIRD", 1)
    assert not {left(1, space) - 5 + 2156 for space in range(1, 5)} & set(table.position.legal_actions())


@pytest.mark.rules("chat_perche", "Breaking")
def test_a_barred_cat_falls_with_its_branch_and_is_no_longer_barred() -> None:
    # Seat 0 moves a ginger cat to left branch 2. Seat 1's first cat breaks that branch, and any cat may be its second
    # cat.
    options = holding(card("one own", 4), card("two other", 7))
    table = Table(cats=([left(2, 1)], [left(2, 4)]), options=options)
    table.turn_up(card("one own", 4)).move(left(2, 1), left(2, 2)).turn_up(card("two other", 7))
    assert list(table.state.barred) == [left(2, 2)]
    table.move(START, left(2, 1))
    assert table.phase == "SECOND_MOVE"
    assert list(table.state.barred) == []
    assert table.movable() == {START}


@pytest.mark.rules("chat_perche", "Breaking", "Decisions of the engine")
def test_both_moves_of_a_card_can_break_a_branch() -> None:
    table = moving(card("two own", 6), birds=[left(1, 2), right(1, 2)]).move(START, left(1, 1)).move(START, right(1, 1))
    assert [kind for kind, _ in table.plain_events()] == ["CAT_MOVED", "BRANCH_BROKE", "CAT_FELL", "BIRD_LEFT"]
    assert [branch.broken for branch in table.state.branches] == [True, *[False] * 4, True, *[False] * 4]
    # No cat is barred, because both cats have fallen.
    assert list(table.state.barred) == []


@pytest.mark.rules("chat_perche", "Breaking")
def test_the_first_moved_cat_may_fall_in_the_second_move() -> None:
    table = moving(card("two own", 6)).move(START, left(1, 1))
    assert table.state.moved == left(1, 1)
    table.move(START, left(1, 2))
    assert ("BRANCH_BROKE", {"seat": 0, "branch": 0, "solidity": 1}) in table.plain_events()
    assert table.cats(0) == []
    assert list(table.state.barred) == []
    assert table.phase == "TURN_UP"


@pytest.mark.rules("chat_perche", "Breaking")
def test_greatest_loads_are_kept_when_animals_leave() -> None:
    table = Table(cats=([right(2, 1), right(2, 2)], []), options=holding(OWN_FALLS, card("one own", 9)))
    assert table.state.branches[6].greatest_load == 2
    table.turn_up(OWN_FALLS).fall(right(2, 1))
    assert table.state.branches[6].greatest_load == 2
