"""Tests of the rules in "Components and setup"."""

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from tools.over import over

from chatiere.engine import EngineError, Reason
from chatiere.engine.core.languages import catalogue

from ..building import state_of
from .building import DEALT, GAME, TAKEN, Table, names, score_of, take_id

pytestmark = pytest.mark.rules("chatpentiers", "Components and setup")


def random_play(players: int, seed: int, **options: Any) -> list[Any]:
    """Return every position of a random game with explicit chance."""
    choices = random.Random(seed)
    position = GAME.new_game(players, options)
    positions = [position]
    while not position.is_terminal():
        position = position.child(
            choices.choice(position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()])
        )
        positions.append(position)
    return positions


@pytest.mark.parametrize(("players", "deck", "dealt", "left"), [(3, 48, 11, 15), (4, 60, 14, 4), (5, 60, 12, 0)])
def test_cards_and_hands_depend_on_the_number_of_players(players: int, deck: int, dealt: int, left: int) -> None:
    assert len(GAME.new_game(players, {"first_seat": 0}).chance_outcomes()) == deck
    table = Table(*[""] * players)
    state = state_of(table.position)
    assert [len(seat.hand_cards) for seat in state.seats] == [dealt] * players
    assert len(state.draw_pile_cards) == left


@over("players", [3, 4, 5])
def test_the_first_seat_is_a_chance_event_uniform_over_seats(players: int) -> None:
    position = GAME.new_game(players)
    assert position.chance_outcomes() == [(seat, 1) for seat in range(players)]
    assert position.outcome_label(1) == "seat 1 begins"
    table = Table.at(position).chance(1)
    assert table.plain_events() == [("FIRST_SEAT_CHOSEN", 1)]
    assert (state_of(table.position).first_seat, table.phase) == (1, "DEAL")


def test_a_first_seat_given_by_the_option_is_no_chance_event() -> None:
    position = GAME.new_game(4, {"first_seat": 2})
    assert len(position.chance_outcomes()) == 60
    assert state_of(position).active_seat == 2


@over("players", [3, 4, 5])
def test_cards_are_dealt_one_at_a_time_clockwise_from_the_first_seat(players: int) -> None:
    table = Table.at(GAME.new_game(players, {"first_seat": 1}))
    for number in range(DEALT[players] * players):
        seat = (1 + number) % players
        assert table.phase == "DEAL"
        outcome = table.position.chance_outcomes()[-1][0]
        table.chance(outcome)
        assert table.plain_events() == [("CARD_DEALT", seat, outcome)]
        assert table.events[0].seen_by == frozenset({seat})
        assert outcome in state_of(table.position).seats[seat].hand_cards
    assert table.phase == ("EXTRA" if players == 3 else "PLAY")


def test_every_draw_is_uniform_over_the_possible_cards() -> None:
    position = GAME.new_game(5, {"first_seat": 0})
    for taken in range(60):
        outcomes = position.chance_outcomes()
        assert [weight for _, weight in outcomes] == [1] * (60 - taken)
        position.apply(outcomes[taken % len(outcomes)][0])


def test_brown_is_left_out_with_3_players_by_default() -> None:
    outcomes = [outcome for outcome, _ in GAME.new_game(3, {"first_seat": 0}).chance_outcomes()]
    assert outcomes == [*range(36), *range(48, 60)]


@pytest.mark.parametrize("colour", range(5))
def test_the_option_removed_colour_leaves_out_that_colour(colour: int) -> None:
    position = GAME.new_game(3, {"first_seat": 0, "removed_colour": colour})
    assert {outcome // 12 for outcome, _ in position.chance_outcomes()} == set(range(5)) - {colour}
    assert Table.at(position).view.removed_colour == colour


@pytest.mark.rules("chatpentiers", "Decisions of the engine")
@over("players", [4, 5])
@pytest.mark.parametrize("value", [0, 4, 5, 99, -1])
def test_any_removed_colour_is_ignored_with_4_and_5_players(players: int, value: int) -> None:
    position = GAME.new_game(players, {"removed_colour": value})
    assert position == GAME.new_game(players)
    assert position.options() == {}
    assert not Table.at(position).view.HasField("removed_colour")


@pytest.mark.parametrize(("players", "limits"), [(3, [1, 2, 3, 5]), (4, [1, 2, 3, 4]), (5, [1, 2, 3, 4])])
def test_default_limits_depend_on_the_number_of_players(players: int, limits: list[int]) -> None:
    position = GAME.new_game(players)
    assert list(Table.at(position).view.section_limits) == limits
    assert GAME.new_game(players, {"section_limits": limits}) == position


@pytest.mark.rules("chatpentiers", "Decisions of the engine")
def test_the_option_section_limits_sets_the_limits_of_all_boards() -> None:
    position = GAME.new_game(5, {"section_limits": (4, 9, 2, 1)})
    assert list(Table.at(position).view.section_limits) == [4, 9, 2, 1]
    assert position.options() == {"section_limits": [4, 9, 2, 1]}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("first_seat", 3),
        ("first_seat", -1),
        ("first_seat", True),
        ("section_limits", []),
        ("section_limits", [1, 2, 3]),
        ("section_limits", [1, 2, 3, 4, 5]),
        ("section_limits[0]", [0, 2, 3, 4]),
        ("section_limits[3]", [1, 2, 3, 10]),
        ("section_limits[3]", [1, 2, 3, True]),
        ("section_limits[3]", [1, 2, 3, "4"]),
        ("section_limits", 4),
        ("removed_colour", 5),
        ("removed_colour", -1),
        ("removed_colour", 1.0),
        ("jokers", 1),
    ],
)
def test_invalid_and_unknown_options_are_refused(field: str, value: object) -> None:
    with pytest.raises(EngineError) as caught:
        GAME.new_game(3, {field.partition("[")[0]: value})
    assert caught.value.reason is Reason.INVALID_OPTION
    assert caught.value.field == field


def test_jokers_are_not_played() -> None:
    # The box has 5 jokers, but only the 60 numbered cards are drawn.
    assert len([piece for piece in GAME.description.pieces if piece.kind == "card"]) == 60
    assert len(GAME.new_game(5, {"first_seat": 0}).chance_outcomes()) == 60


def test_cards_colours_and_zones_have_names_in_both_languages() -> None:
    french = catalogue(GAME.description.package, "fr")
    names = {
        (piece.kind, piece.number): (str(piece.name), piece.name.text(french)) for piece in GAME.description.pieces
    }
    assert len(names) == len(GAME.description.pieces) == 60 + 5 + 5
    assert names["card", 0] == ("grey 1", "1 gris")
    assert names["card", 47] == ("brown 12", "12 marron")
    assert names["colour", 2] == ("red", "rouge")
    assert names["zone", 3] == ("section 4", "section 4")
    assert names["zone", 4] == ("zero zone", "zone Zéro")


def test_the_first_seat_leads_the_first_trick() -> None:
    assert Table("", "", "", "", first_seat=3).actor == 3
    table = Table("", "", "", first_seat=2)
    assert table.turn(names([state_of(table.position).draw_pile_cards[0]])).actor == 2


@over("players", [3, 4, 5])
def test_each_round_is_dealt_to_empty_boards_from_the_seat_after_the_previous_first(players: int) -> None:
    positions = random_play(players, players, first_seat=players - 1)
    deals = [
        position for before, position in pairwise(positions) if state_of(position).round == state_of(before).round + 1
    ]
    assert [state_of(position).round for position in deals] == [2, 3]
    for number, position in enumerate(deals):
        state = state_of(position)
        assert state.leader == state.active_seat == number
        assert len(state.draw_pile_cards) == (48 if players == 3 else 60)
        assert not state.discards
        assert all(not seat.hand_cards and not seat.zones and not seat.shown_voids for seat in state.seats)
        assert len(state.seats[0].round_points) == number + 1
    tricks = Counter(state_of(position).round for position in positions if state_of(position).phase == 5)
    assert tricks == dict.fromkeys((1, 2, 3), DEALT[players] * TAKEN[players])


@over("players", [3, 4, 5])
def test_the_last_boards_remain_visible(players: int) -> None:
    last = random_play(players, 7)[-1]
    state = state_of(last)
    assert sum(len(zone.cards) for seat in state.seats for zone in seat.zones) == DEALT[players] * TAKEN[players]
    assert len(state.discards) == DEALT[players]
    assert state.phase == 6
    assert state.leader == state.active_seat
    # Round 3 is counted once.
    for seat in range(players):
        assert len(score_of(last, seat).round_points) == 3
        assert list(score_of(last, seat).round_points[:2]) == list(state.seats[seat].round_points)


@pytest.mark.rules("chatpentiers", "Decisions of the engine")
@over("players", [3, 4, 5])
def test_the_end_of_a_round_has_events(players: int) -> None:
    positions = random_play(players, 11, first_seat=0)
    ends = [
        before
        for before, position in pairwise(positions)
        if state_of(position).round > state_of(before).round or position.is_terminal()
    ]
    for number, before in enumerate(ends, 1):
        table = Table.at(before).apply(before.legal_actions()[0])
        last = ("GAME_ENDED",) if number == 3 else ("ROUND_BEGUN", number, number + 1)
        kinds = [kind for kind, *_ in table.plain_events()]
        assert kinds == ["CARD_TAKEN", "CARD_DISCARDED", *["ROUND_SCORED"] * players, last[0]]
        assert table.plain_events()[-1] == last
        gains = [score_of(table.position, seat).round_points[number - 1] for seat in range(players)]
        assert table.plain_events()[2:-1] == [("ROUND_SCORED", seat, number, gain) for seat, gain in enumerate(gains)]


def test_the_score_is_0_before_the_deal() -> None:
    table = Table.at(GAME.new_game(3, {"first_seat": 0}))
    assert table.position.totals() == [0, 0, 0]
    assert not table.board(0)


def test_labels_of_actions_contain_the_card_and_the_zone() -> None:
    table = Table("y1", "g12", "r3", "n4")
    assert table.position.action_label(0) == "play grey 1"
    assert table.position.action_label(take_id("b12", 4)) == "take blue 12 into the zero zone"
    assert table.position.action_label(take_id("r3", 2)) == "take red 3 into section 3 (limit 3)"
