"""Tests of the rules in "A turn", "When a seat is asked" and "End"."""

import pytest

from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER, EventLog, Reason
from chatiere.engine.wire import written_text

from ..building import end_of, event_of, view_of
from ..played import played
from .building import (
    BIRD,
    CODEC,
    DEFAULT_DECK,
    DOGS_1,
    DOGS_2,
    GAME,
    OTHER_FALLS,
    OWN_FALLS,
    START,
    STOP,
    Table,
    bird_id,
    card,
    deck_of,
    fall_id,
    holding,
    left,
    move_id,
    right,
    score_of,
    trunk,
)

# A turn


@pytest.mark.rules("chat_perche", "A turn")
def test_the_card_is_a_chance_event_over_the_cards_left_in_the_seats_deck() -> None:
    table = Table()
    assert table.actor == CHANCE_PLAYER
    assert table.position.chance_outcomes() == [(number, count) for number, count in enumerate(DEFAULT_DECK) if count]
    table.turn_up(DOGS_2)
    # Black's own deck is complete.
    assert table.position.chance_outcomes() == [(number, count) for number, count in enumerate(DEFAULT_DECK) if count]
    table.turn_up(DOGS_1)
    left_over = dict(table.position.chance_outcomes())
    assert DOGS_2 not in left_over
    assert left_over[DOGS_1] == 2
    assert table.position.outcome_label(DOGS_1) == "dogs, 1 step"


@pytest.mark.rules("chat_perche", "A turn")
def test_weights_are_the_copies_left_without_a_common_divisor() -> None:
    deck = deck_of({DOGS_1: 4, BIRD: 6, OWN_FALLS: 2, card("one own", 1): 14})
    table = Table(options={"deck": deck})
    assert table.position.chance_outcomes() == [(DOGS_1, 2), (BIRD, 3), (OWN_FALLS, 1), (card("one own", 1), 7)]
    only = [0] * 41
    only[BIRD] = 3
    table = Table(decks=(only, DEFAULT_DECK))
    assert table.position.chance_outcomes() == [(BIRD, 1)]


@pytest.mark.rules("chat_perche", "A turn", "Decisions of the engine")
def test_an_empty_deck_takes_all_its_cards_back_when_a_card_is_to_be_drawn() -> None:
    last = [0] * 41
    last[OWN_FALLS] = 1
    table = Table(decks=(last, DEFAULT_DECK)).turn_up(OWN_FALLS)
    assert not table.state.seats[0].draw_pile_cards
    table.turn_up(OWN_FALLS)
    # The deck stays empty until a card is drawn from it, but all of its cards are possible.
    assert not table.state.seats[0].draw_pile_cards
    assert table.position.chance_outcomes() == [(number, count) for number, count in enumerate(DEFAULT_DECK) if count]
    assert len(view_of(table.position, 0).seats[0].discards) == 26
    table.turn_up(DOGS_1)
    assert [kind for kind, _ in table.plain_events()] == ["DECK_REFILLED", "CARD_TURNED_UP", "DOGS_ADVANCED"]
    assert list(table.state.seats[0].draw_pile_cards).count(DOGS_1) == 1
    assert len(table.state.seats[0].draw_pile_cards) == 25


@pytest.mark.rules("chat_perche", "A turn")
def test_the_turned_up_card_counts_as_discarded_immediately() -> None:
    table = Table().turn_up(card("two own", 7))
    assert (table.phase, table.state.card) == ("MOVE", card("two own", 7))
    view = view_of(table.position, 1)
    assert list(view.seats[0].discards) == [card("two own", 7)]
    assert len(view.seats[0].draw_pile_cards) == 25


@pytest.mark.rules("chat_perche", "A turn")
def test_dogs_advance_by_their_number() -> None:
    table = Table().turn_up(DOGS_1)
    assert table.plain_events() == [
        ("CARD_TURNED_UP", {"seat": 0, "cards": [DOGS_1]}),
        ("DOGS_ADVANCED", {"seat": 0, "steps": 1, "dog_steps": 1}),
    ]
    table.turn_up(DOGS_2)
    assert table.state.dog_steps == 3
    assert (table.actor, table.state.active_seat) == (CHANCE_PLAYER, 0)


@pytest.mark.rules("chat_perche", "A turn")
@pytest.mark.parametrize(("number", "colour"), [(card("one own", 3), 0), (card("one other", 3), 1)])
def test_one_cat_moves_one_cat_of_that_colour_up_to_its_value(number: int, colour: int) -> None:
    table = Table(cats=([trunk(2)], [trunk(4)])).turn_up(number)
    assert table.movable() == {START, trunk(4 if colour else 2)}
    assert table.state.steps_left == 3
    assert view_of(table.position, None).cat_owner == colour
    table.move(START, trunk(1))
    # Only one cat moves, even if steps of the value are left.
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)
    assert table.cats(colour) == [trunk(1), trunk(4 if colour else 2)]


@pytest.mark.rules("chat_perche", "A turn")
@pytest.mark.parametrize("number", [card("one own", 3), card("two own", 4), card("two other", 4), card("one other", 2)])
def test_moving_is_optional(number: int) -> None:
    table = Table().turn_up(number)
    assert table.position.legal_actions()[-1] == STOP
    table.stop()
    assert table.plain_events() == [("STOPPED", {"seat": 0})]
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)
    assert table.cats(0) == table.cats(1) == []


@pytest.mark.rules("chat_perche", "A turn")
def test_two_cats_may_move_together_up_to_the_value() -> None:
    table = Table().turn_up(card("two own", 6)).move(START, left(1, 3))
    assert (table.phase, table.actor, table.state.steps_left, table.state.moved) == ("SECOND_MOVE", 0, 2, left(1, 3))
    assert table.ends(START) == {trunk(1), trunk(2), left(1, 1), right(1, 1)}
    table.move(START, trunk(2))
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)
    assert table.cats(0) == [trunk(2), left(1, 3)]


@pytest.mark.rules("chat_perche", "A turn")
def test_no_second_cat_moves_without_steps_left() -> None:
    table = Table().turn_up(card("two own", 4)).move(START, left(1, 3))
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)
    assert [kind for kind, _ in table.plain_events()] == ["CAT_MOVED"]


@pytest.mark.rules("chat_perche", "A turn")
def test_stop_is_legal_at_the_second_move_too() -> None:
    table = Table().turn_up(card("two other", 4)).move(START, trunk(1)).stop()
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)
    assert table.cats(1) == [trunk(1)]


@pytest.mark.rules("chat_perche", "A turn")
@pytest.mark.parametrize(("number", "colour"), [(OWN_FALLS, 0), (OTHER_FALLS, 1)])
def test_a_cat_of_the_active_seats_choice_falls(number: int, colour: int) -> None:
    cats = [trunk(1), left(2, 2)], [trunk(2), right(3, 4)]
    table = Table(cats=cats).turn_up(number)
    assert (table.phase, table.actor) == ("FALL", 0)
    assert table.position.legal_actions() == [fall_id(space) for space in cats[colour]]
    assert view_of(table.position, None).cat_owner == colour
    table.fall(cats[colour][1])
    assert table.plain_events() == [("CAT_FELL", {"seat": colour, "space": cats[colour][1]})]
    assert table.cats(colour) == [cats[colour][0]]
    assert view_of(table.position, None).seats[colour].cats_at_start == 11
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)


@pytest.mark.rules("chat_perche", "A turn")
@pytest.mark.parametrize("number", [OWN_FALLS, OTHER_FALLS])
def test_no_cat_falls_if_the_tree_has_none(number: int) -> None:
    cats = ([], [trunk(1)]) if number == OWN_FALLS else ([trunk(1)], [])
    table = Table(cats=cats).turn_up(number)
    assert table.plain_events()[1] == ("NOTHING_POSSIBLE", {"seat": 0})
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)


@pytest.mark.rules("chat_perche", "A turn")
def test_a_bird_is_placed_on_a_free_space_of_an_unbroken_branch() -> None:
    taken = {left(1, 1), right(2, 4), left(3, 2)}
    table = Table(cats=([left(1, 1), trunk(1)], [right(2, 4)]), birds=[left(3, 2)], broken=[1, 8]).turn_up(BIRD)
    spaces = {space for space in range(5, 45) if (space - 5) // 4 not in (1, 8)} - taken
    assert table.position.legal_actions() == sorted(bird_id(space) for space in spaces)
    # The bird must be placed.
    assert STOP not in table.position.legal_actions()
    table.bird(left(3, 1))
    assert table.plain_events() == [("BIRD_PLACED", {"seat": 0, "space": left(3, 1)})]
    assert list(table.state.birds) == [left(3, 1), left(3, 2)]
    assert view_of(table.position, None).birds_beside == 4


@pytest.mark.rules("chat_perche", "A turn")
def test_there_is_no_choice_without_a_bird() -> None:
    birds = [left(1, 1), left(2, 1), left(3, 1), left(4, 1), left(5, 1), right(2, 1)]
    table = Table(birds=birds).turn_up(BIRD)
    assert table.plain_events()[1] == ("NOTHING_POSSIBLE", {"seat": 0})
    assert table.state.active_seat == 1


@pytest.mark.rules("chat_perche", "A turn")
def test_there_is_no_choice_without_a_free_branch_space() -> None:
    # Eight branches are broken. The other two have solidity 4 and are full.
    cats = [left(5, space) for space in range(1, 5)], [right(5, space) for space in range(1, 5)]
    table = Table(cats=cats, broken=[0, 1, 2, 3, 5, 6, 7, 8]).turn_up(BIRD)
    assert table.plain_events()[1] == ("NOTHING_POSSIBLE", {"seat": 0})
    assert view_of(table.position, None).birds_beside == 6


@pytest.mark.rules("chat_perche", "A turn")
@pytest.mark.parametrize(
    ("number", "wrong", "words"),
    [
        (card("one own", 3), fall_id(trunk(1)), "move one, or stop"),
        (card("one own", 3), bird_id(left(1, 1)), "move one, or stop"),
        (OWN_FALLS, STOP, "choose which one"),
        (OWN_FALLS, move_id(START, trunk(2)), "choose which one"),
        (OWN_FALLS, bird_id(left(1, 1)), "choose which one"),
        (BIRD, STOP, "put it on a branch"),
        (BIRD, move_id(START, trunk(2)), "put it on a branch"),
        (BIRD, fall_id(trunk(1)), "put it on a branch"),
        (OWN_FALLS, fall_id(trunk(2)), "no cat of the card's colour"),
        (OWN_FALLS, fall_id(trunk(3)), "no cat of the card's colour"),
        (card("one own", 3), move_id(trunk(2), trunk(3)), "no cat of the card's colour"),
    ],
)
def test_actions_that_the_card_does_not_allow_are_refused(number: int, wrong: int, words: str) -> None:
    table = Table(cats=([trunk(1)], [trunk(2)])).turn_up(number)
    error = table.refusal(wrong)
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "chat_perche.md: A turn")
    assert words in error.message


@pytest.mark.rules("chat_perche", "A turn")
def test_a_bird_is_refused_on_broken_branches_and_taken_spaces() -> None:
    table = Table(cats=([left(1, 1)], []), broken=[1]).turn_up(BIRD)
    assert "out of play" in table.refusal(bird_id(left(2, 3))).message
    assert "another animal" in table.refusal(bird_id(left(1, 1))).message


# When a seat is asked


@pytest.mark.rules("chat_perche", "When a seat is asked", "Decisions of the engine")
def test_a_move_is_skipped_if_none_is_possible() -> None:
    # The only step from the start ends on an occupied space, and the seat has no cat in the tree.
    table = Table(cats=([], [trunk(1)]), options=holding()).turn_up(card("one own", 1))
    assert table.plain_events() == [
        ("CARD_TURNED_UP", {"seat": 0, "cards": [card("one own", 1)]}),
        ("NOTHING_POSSIBLE", {"seat": 0}),
    ]
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)


@pytest.mark.rules("chat_perche", "When a seat is asked")
def test_the_second_move_is_skipped_if_none_is_possible() -> None:
    # After the first move one step is left, to the lowest trunk space. This space is taken.
    table = Table(cats=([], [trunk(1)]), options=holding(card("two own", 3)))
    table.turn_up(card("two own", 3)).move(START, trunk(2))
    assert table.plain_events()[-1] == ("NOTHING_POSSIBLE", {"seat": 0})
    assert (table.phase, table.state.active_seat) == ("TURN_UP", 1)


@pytest.mark.rules("chat_perche", "When a seat is asked")
def test_a_single_choice_is_still_a_decision() -> None:
    table = Table(cats=([trunk(3)], [])).turn_up(OWN_FALLS)
    assert (table.actor, table.position.legal_actions()) == (0, [fall_id(trunk(3))])


@pytest.mark.rules("chat_perche", "When a seat is asked")
def test_sampled_games_skip_turns_without_a_choice() -> None:
    # There is never a cat in the tree, so all turns after the last token are skipped.
    deck = [0] * 41
    deck[DOGS_1], deck[OWN_FALLS] = 1, 25
    position = GAME.new_game(2, {"deck": deck, "dog_track": 99}, seed=5)
    while not position.is_terminal():
        events = EventLog()
        position.apply(position.legal_actions()[0], events)
    labels = [written_text(CODEC.put_event_label, event, True) for event in events]
    turns = sum(" turns up: " in label for label in labels)
    # The dogs make one step for every 26 turns of a seat.
    assert 99 * 26 - 52 <= turns <= 99 * 26
    assert labels.count("seat 0 has no possible action") + labels.count("seat 1 has no possible action") == turns - 99
    assert labels[-2:] == ["the dogs advance 1 step, to space 99", "the dogs have arrived: the game is over"]


# End


@pytest.mark.rules("chat_perche", "End", "Decisions of the engine")
def test_the_game_is_over_as_soon_as_the_dogs_reach_the_last_space() -> None:
    table = Table(cats=([trunk(1), left(1, 1)], [right(3, 2)]), dogs=9).turn_up(DOGS_1)
    assert table.actor == TERMINAL_PLAYER
    assert table.plain_events()[1:] == [("DOGS_ADVANCED", {"seat": 0, "steps": 1, "dog_steps": 10}), ("GAME_ENDED", {})]
    assert table.state.active_seat == 0
    assert not table.state.HasField("card")
    assert end_of(table.position) == "dogs_arrived"
    assert table.position.totals() == [2, 1]
    assert table.position.winners() == [0]
    assert table.position.returns() == [1.0, -1.0]


@pytest.mark.rules("chat_perche", "End")
def test_the_end_names_the_seat_that_turned_up_the_dogs_last_card() -> None:
    seats = set()
    for position, events in played(GAME, 2, games=12):
        if position.is_terminal():
            turned = [
                message for kind, message in (event_of(GAME, event) for event in events) if kind == "CARD_TURNED_UP"
            ]
            assert position.ended_by() == turned[-1].seat
            seats.add(position.ended_by())
    assert seats == {0, 1}


@pytest.mark.rules("chat_perche", "End")
def test_the_last_space_stops_the_dogs() -> None:
    table = Table(dogs=9).turn_up(DOGS_2)
    assert table.state.dog_steps == 10
    assert table.plain_events()[1] == ("DOGS_ADVANCED", {"seat": 0, "steps": 1, "dog_steps": 10})
    table = Table(options={"dog_track": 1}).turn_up(DOGS_2)
    assert (table.state.dog_steps, table.actor) == (1, TERMINAL_PLAYER)


@pytest.mark.rules("chat_perche", "End")
def test_the_score_is_the_number_of_own_cats_on_trunk_and_branches() -> None:
    table = Table(cats=([trunk(1), trunk(5), left(1, 1)], [trunk(3), right(3, 2), right(4, 4)]))
    assert table.position.totals() == [3, 3]
    assert score_of(table.position) == [(2, 1), (1, 2)]
    assert table.position.winners() is None


@pytest.mark.rules("chat_perche", "End")
def test_the_seat_with_more_cats_wins() -> None:
    for cats, winner in (([[5], []], 0), ([[], [5]], 1)):
        table = Table(cats=cats, dogs=9, active=1).turn_up(DOGS_1)
        assert table.position.winners() == [winner]
        assert table.position.ranks() == [1 + (winner != seat) for seat in range(2)]


@pytest.mark.rules("chat_perche", "End")
def test_decision_equal_scores_are_shared() -> None:
    table = Table(cats=([trunk(1)], [left(1, 1)]), dogs=9).turn_up(DOGS_1)
    assert table.position.ranks() == [1, 1]
    assert table.position.winners() == [0, 1]
    assert table.position.returns() == [0.0, 0.0]
