"""Tests of the rules in "Components and setup"."""

import pytest
from tools.over import over

from chatiere.engine import CHANCE_PLAYER, EngineError, Reason

from ..building import read, state_of
from .building import GAME, PLAYERS, Table, card, deck, late_state
from .reference import default_copies, value

pytestmark = pytest.mark.rules("momistigri", "Components and setup")


def test_colours_alternate_in_the_order_of_value() -> None:
    # The rulebook leaves this open. In the engine, card i = 0 … 44 has colour i mod 5. The nine 1s are cards 0-8, the
    # first 2 is card 9, and the 9 is card 44.
    box = dict(GAME.new_game(5, {"first_seat": 0}).chance_outcomes())
    assert [box[card(f"1{colour}")] for colour in "ABCDE"] == [2, 2, 2, 2, 1]
    assert [box[card(f"2{colour}")] for colour in "ABCDE"] == [2, 2, 1, 1, 2]
    assert [box.get(card(f"9{colour}"), 0) for colour in "ABCDE"] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(("players", "size", "without"), [(5, 46, ()), (4, 37, (1,)), (3, 28, (1, 2, 9))])
def test_three_and_four_players_play_without_some_values(players: int, size: int, without: tuple[int, ...]) -> None:
    # Worked case: 28 cards make hands of 9, 9 and 10; 37 = 9·4 + 1; 46 = 9·5 + 1.
    position = GAME.new_game(players, {"first_seat": 0})
    expected = deck(players)
    assert expected.total() == size == 9 * players + 1
    assert position.chance_outcomes() == sorted(expected.items())
    assert not any(value(kind) in without for kind, _ in position.chance_outcomes())


@pytest.mark.rules("momistigri", "Worked cases")
@over("players", PLAYERS)
@pytest.mark.parametrize("first", range(3))
def test_each_seat_is_dealt_nine_cards_and_the_first_seats_right_neighbour_the_last(players: int, first: int) -> None:
    position = GAME.new_game(players, {"first_seat": first})
    order = []
    while state_of(position).turn == 0:
        assert position.current_player() == CHANCE_PLAYER
        order.append(state_of(position).active_seat)
        position.apply(position.chance_outcomes()[0][0])
        position.check()
    right = (first - 1) % players
    assert order == [(first + i) % players for i in range(9 * players)] + [right]
    state = state_of(position)
    assert [len(held.hand_cards) for held in state.seats] == [10 if seat == right else 9 for seat in range(players)]
    # The first seat starts by drawing from its right neighbour, who has ten cards.
    assert state.active_seat == first
    assert not state.reversed
    assert not state.discards
    assert sum(weight for _, weight in position.chance_outcomes()) in (10, 5, 2, 1)


def test_the_first_seat_is_a_chance_event_uniform_over_the_seats() -> None:
    position = GAME.new_game(4)
    assert position.chance_outcomes() == [(seat, 1) for seat in range(4)]
    assert not state_of(position).HasField("round_first_seat")
    after = position.child(2)
    assert state_of(after).round_first_seat == state_of(after).active_seat == 2
    assert after.options() == {}


@pytest.mark.parametrize("options", [{}, {"first_seat": 0}])
def test_other_outcomes_than_seats_and_cards_of_the_deck_are_refused(options: dict[str, int]) -> None:
    position = GAME.new_game(3, options)
    possible = {outcome for outcome, _ in position.chance_outcomes()}
    for outcome in set(range(-1, max(possible) + 2)) - possible:
        with pytest.raises(EngineError) as caught:
            position.apply(outcome)
        assert caught.value.reason is Reason.IMPOSSIBLE_OUTCOME


def test_first_seat_can_be_an_option() -> None:
    position = GAME.new_game(4, {"first_seat": 3})
    assert position.options() == {"first_seat": 3}
    assert state_of(position).active_seat == 3
    for wrong in (-1, 4, 5, 255, 1.0, True, "0"):
        with pytest.raises(EngineError) as caught:
            GAME.new_game(4, {"first_seat": wrong})
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "first_seat")


ONE_COLOUR = [9, 8, 7, 6, 5, 4, 3, 2, 1, *[0] * 36]


def test_option_copies_describes_the_whole_box_for_any_number_of_players() -> None:
    for players in PLAYERS:
        position = GAME.new_game(players, {"copies": ONE_COLOUR, "first_seat": 0})
        assert position.options() == {"copies": ONE_COLOUR, "first_seat": 0}
        left = {5: [9, 8, 7, 6, 5, 4, 3, 2, 1], 4: [0, 8, 7, 6, 5, 4, 3, 2, 1], 3: [0, 0, 7, 6, 5, 4, 3, 2, 0]}[players]
        expected = [(kind, n) for kind, n in enumerate(left) if n]
        assert position.chance_outcomes() == [*expected, (45, 1)]
        position.playout(1)
        assert position.options() == {"copies": ONE_COLOUR, "first_seat": 0}
    assert GAME.new_game(3, {"copies": default_copies()}).options() == {}
    assert GAME.new_game(3, {"copies": tuple(default_copies())}).options() == {}


def changed(**numbers: int) -> list[int]:
    copies = default_copies()
    for name, number in numbers.items():
        copies[card(name[1:])] = number
    return copies


@pytest.mark.parametrize(
    ("copies", "field"),
    [
        ([], "copies"),
        (default_copies()[:-1], "copies"),
        ([*default_copies(), 1], "copies"),
        (5, "copies"),
        ({}, "copies"),
        (changed(_1A=3), "copies"),
        (changed(_9E=0), "copies"),
        # The box also contains the 1s. Three players do not use them.
        (changed(_1A=1), "copies"),
        (changed(_3A=-1), f"copies[{card('3A')}]"),
        (changed(_3A=10), f"copies[{card('3A')}]"),
        (["1", *default_copies()[1:]], "copies[0]"),
        ([2.0, *default_copies()[1:]], "copies[0]"),
        ([True, *default_copies()[1:]], "copies[0]"),
    ],
)
def test_sums_over_the_colours_are_fixed(copies: object, field: str) -> None:
    for players in PLAYERS:
        with pytest.raises(EngineError) as caught:
            GAME.new_game(players, {"copies": copies})
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, field)


def test_kinds_are_nine_per_colour_and_the_momistigri() -> None:
    pieces = [piece for piece in GAME.description.pieces if piece.kind == "card"]
    assert [piece.number for piece in pieces] == list(range(46))
    assert [str(pieces[kind].name) for kind in (0, 8, 9, 44, 45)] == ["1A", "9A", "1B", "9E", "the Momistigri"]


def test_chance_weights_are_the_smallest_integers() -> None:
    # Seat 2 draws from seat 1.
    state = late_state(["M", "3C 3C 4E 4E", "5A"], active=2, phase="DRAW", draws_left=1)
    assert Table(read(state)).outcomes() == {"3C": 1, "4E": 1}
    state = late_state(["M", "3C 3C 4E", "5A"], active=2, phase="DRAW", draws_left=1)
    assert Table(read(state)).outcomes() == {"3C": 2, "4E": 1}


def first_of(penalties: list[int], first: int) -> tuple[int, int]:
    """Return the first seat of round 2 after these penalties. All seats pass, seat 0 last."""
    hands = {0: "", 10: "M", 4: "4A", 7: "7A", 5: "5A"}
    state = late_state([hands[points] for points in penalties], passed=(1, 2), first=first)
    table = Table(read(state)).pass_turn()
    assert table.penalties() == [penalties]
    assert table.phase == "DEAL"
    return table.state.round_first_seat, table.active


def test_later_rounds_start_with_the_seat_with_the_most_penalty_points() -> None:
    assert first_of([4, 7, 10], first=0) == (2, 2)
    assert first_of([4, 10, 7], first=2) == (1, 1)


def test_if_seats_are_tied_the_first_clockwise_from_the_previous_first_seat_starts() -> None:
    # The rulebook leaves this open. In the engine, the previous first seat itself comes first.
    for first, expected in ((0, 0), (1, 2), (2, 2)):
        state = late_state(["4A", "3A", "4B"], passed=(1, 2), first=first)
        table = Table(read(state)).pass_turn()
        assert table.penalties() == [[4, 3, 4]]
        assert table.active == expected


def test_direction_marks_and_pile_are_reset_in_every_round() -> None:
    state = late_state(["4A", "5A", "7A"], passed=(1, 2), reversed=True)
    table = Table(read(state)).pass_turn()
    assert not table.state.reversed
    assert table.passed() == []
    assert list(table.state.discards) == []
    assert table.inside() == [0, 1, 2]
    assert table.state.turn == 0
    assert table.outcomes() == Table(GAME.new_game(3, {"first_seat": 0})).outcomes()
