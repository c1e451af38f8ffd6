"""Tests of the rules in "Invariants". Invalid states are refused with the correct reason, field and rule."""

from collections.abc import Callable
from typing import Any

import pytest

from chatiere.engine import EngineError, Position, Reason
from chatiere.v1.chat_perche_pb2 import ChatPerchePhase, ChatPercheState

from ..building import read, state_of
from ..packed import edited, poke_bytes
from .building import BIRD, DOGS_1, GAME, OTHER_FALLS, OWN_FALLS, START, Table, card, holding, left, right, trunk

pytestmark = pytest.mark.rules("chat_perche", "Invariants")

Edit = Callable[[ChatPercheState], object]


def refused(position: Position, edit: Edit) -> EngineError:
    """Return the refusal of the edited state."""
    state = state_of(position)
    assert read(state, position.ply()) == position
    edit(state)
    with pytest.raises(EngineError) as caught:
        read(state)
    assert caught.value.reason is Reason.INVALID_STATE
    assert caught.value.message
    return caught.value


def refused_packed(position: Position, **changes: int) -> EngineError:
    """Return the refusal of the packed state with some bytes of its fields changed (see `poke_bytes`)."""
    assert GAME.unpack(edited(position)) == position
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(position, poke_bytes(**changes)))
    assert caught.value.reason is Reason.INVALID_STATE
    return caught.value


def put(**fields: int) -> Edit:
    """Return an edit that sets fields of the state."""

    def edit(state: ChatPercheState) -> None:
        for name, value in fields.items():
            setattr(state, name, value)

    return edit


def put_card(seat: int, place: int, number: int) -> Edit:
    """Return an edit that replaces a card in a deck."""

    def edit(state: ChatPercheState) -> None:
        state.seats[seat].draw_pile_cards[place] = number

    return edit


def phase(name: str) -> int:
    return ChatPerchePhase.Value(f"CHAT_PERCHE_PHASE_{name}")


def beginning() -> Position:
    return GAME.new_game(2)


def placing(tokens: int = 3) -> Position:
    position = GAME.new_game(2, {"first_seat": 0})
    for _ in range(tokens):
        position.apply(position.legal_actions()[0])
    return position


def between_turns(**what: Any) -> Position:
    return Table(**what).position


def moving(kind: str = "two own", value: int = 6, **what: Any) -> Position:
    what.setdefault("cats", ([trunk(1), left(2, 1)], [trunk(2), right(2, 1)]))
    return Table(options=holding(card(kind, value)), **what).turn_up(card(kind, value)).position


def second_move() -> Position:
    return Table(moving()).move(START, left(1, 1)).position


@pytest.mark.parametrize(
    ("changes", "field", "heading"),
    [
        ({"players": 3}, "seats", "Components and setup"),
        ({"players": 0}, "seats", "Components and setup"),
        ({"first_seat_option": 2}, "first_seat", "Components and setup"),
        ({"forward_only": 2}, "options.forward_only", "Moving a cat"),
        ({"dog_track": 0}, "options.dog_track", "Components and setup"),
        ({"dog_track": 100}, "options.dog_track", "Components and setup"),
        ({"solidity": 2}, "options.solidity", "Components and setup"),
        ({"solidity__2": 1}, "options.solidity", "Components and setup"),
        ({"full_deck__3": 1, "full_deck__4": 0}, "options.deck", "Components and setup"),
        ({"full_deck__25": 41}, "options.deck", "Components and setup"),
        ({"full_deck__25": 255}, "options.deck", "Components and setup"),
        ({"full_deck": 2, "full_deck__1": 2, "full_deck__2": 2}, "options.deck", "Components and setup"),
        ({"phase": 8}, "phase", "When a seat is asked"),
        ({"phase": 255}, "phase", "When a seat is asked"),
        ({"active": 2}, "active_seat", "A turn"),
    ],
)
def test_numbers_out_of_range_are_refused_by_field_and_rule(changes: dict[str, int], field: str, heading: str) -> None:
    for position in (between_turns(), beginning()):
        error = refused_packed(position, **changes)
        assert (error.field, error.rule) == (field, f"chat_perche.md: {heading}")


def test_unused_bytes_are_zero() -> None:
    for place in range(7):
        assert "unused byte" in refused_packed(between_turns(), **{f"zero__{place}": 1}).message


def test_the_first_seat_is_set_exactly_after_chance_has_chosen_it() -> None:
    for error in (
        refused(beginning(), put(first_seat=1)),
        refused(between_turns(), lambda state: state.ClearField("first_seat")),
        refused(placing(), put(first_seat=1)),
        refused(placing(), lambda state: setattr(state.options, "first_seat", 1)),
        refused(beginning(), lambda state: setattr(state.options, "first_seat", 1)),
    ):
        assert (error.field, error.rule) == ("first_seat", "chat_perche.md: Components and setup")


def test_no_seat_is_active_before_chance_has_chosen_the_first_seat() -> None:
    assert refused(beginning(), put(active_seat=1)).field == "active_seat"
    assert refused_packed(beginning(), active=1).field == "active_seat"


# Tokens


def test_tokens_are_placed_in_turn() -> None:
    for error in (
        refused(placing(), put(active_seat=1)),
        refused(placing(9), put(active_seat=1)),
        # All tokens are placed, but the phase is that of placing a token.
        refused(placing(10), put(phase=phase("PLACE_TOKEN"))),
        refused(placing(9), put(phase=phase("TURN_UP"))),
        refused(
            beginning(), lambda state: state.branches[0].MergeFrom(type(state.branches[0])(token_owner=0, solidity=1))
        ),
        # A branch with tokens of both seats, bits on the trunk, half a branch, and a branch above the tenth.
        refused_packed(placing(), placed=0xFE, placed__1=1, placed__8=0xE0, placed__9=1),
        refused_packed(placing(), placed__1=0x3E),
        refused_packed(placing(), placed__13=0xE0),
        refused(between_turns(), lambda state: setattr(state.branches[1], "token_owner", 1)),
    ):
        assert error.rule == "chat_perche.md: Components and setup"
        assert error.field in ("branches.token_owner", "branches.solidity")
    assert refused_packed(placing(), placed__1=0x3E).field == "branches.token_owner"
    assert refused(placing(), put(active_seat=1)).field == "branches.token_owner"


def test_tokens_have_the_values_of_their_seat() -> None:
    for error in (
        refused(between_turns(), lambda state: setattr(state.branches[0], "solidity", 4)),
        refused(placing(), twice),
        # A value without a token, a token without a value, and values that no token has.
        refused_packed(placing(), values__5=0x02),
        refused_packed(placing(), values=0x01),
        refused_packed(placing(), values__7=0x80),
        refused_packed(between_turns(), values=0x00),
        refused_packed(between_turns(), values=0xA0),
        refused_packed(between_turns(), values__1=0x1E),
    ):
        assert (error.field, error.rule) == ("branches.solidity", "chat_perche.md: Components and setup")


def twice(state: ChatPercheState) -> None:
    # The first and the third token belong to one seat. Now both have a value that only one token of the seat has.
    state.branches[2].solidity = state.branches[0].solidity


# Before the first turn


def test_the_table_is_untouched_before_the_first_turn() -> None:
    for position in (beginning(), placing()):
        for edit, field in (
            (put(dog_steps=1), "dog_steps"),
            (lambda state: state.seats[0].cats.append(3), "seats.cats"),
            (lambda state: state.seats[1].cats.append(3), "seats.cats"),
            (lambda state: state.birds.append(30), "birds"),
            (lambda state: setattr(state.branches[0], "broken", True), "branches.broken"),
            (lambda state: setattr(state.branches[9], "greatest_load", 1), "branches.greatest_load"),
            (lambda state: state.seats[0].draw_pile_cards.pop(), "seats.draw_pile_cards"),
            (lambda state: state.seats[1].draw_pile_cards.pop(0), "seats.draw_pile_cards"),
            (put(card=8), "card"),
            (put(steps_left=1), "steps_left"),
            (put(moved=3), "moved"),
            (lambda state: state.barred.append(3), "barred"),
        ):
            assert refused(position, edit).field == field


# The tree


def test_at_most_twelve_cats_of_each_colour_are_in_the_tree() -> None:
    many = [left(5, space) for space in range(1, 5)] + [right(5, space) for space in range(1, 5)]
    many += [left(3, 1), left(3, 2), left(4, 1), left(4, 2)]
    position = between_turns(cats=(many, []), loads={2: 3})
    error = refused(position, lambda state: state.seats[0].cats.append(left(3, 3)))
    assert (error.field, error.rule) == ("seats.cats", "chat_perche.md: Invariants")
    assert refused_packed(between_turns(), cats__5=32).field == "seats.cats"
    assert refused_packed(between_turns(), cats__15=128).field == "seats.cats"


def test_at_most_six_birds_are_on_branches() -> None:
    birds = [left(5, space) for space in range(1, 5)] + [right(5, 1), right(5, 2)]
    position = between_turns(birds=birds, loads={9: 3})
    assert refused(position, lambda state: state.birds.append(right(5, 3))).field == "birds"
    assert refused(between_turns(), lambda state: state.birds.append(trunk(2))).field == "birds"
    assert refused_packed(between_turns(), birds__5=32).field == "birds"


def test_a_space_holds_one_animal() -> None:
    position = between_turns(cats=([left(2, 1)], []), birds=[left(5, 1)])
    for edit in (
        lambda state: state.seats[1].cats.append(left(2, 1)),
        lambda state: state.seats[1].cats.append(left(5, 1)),
        lambda state: state.birds.append(left(2, 1)),
    ):
        error = refused(position, edit)
        assert "two animals" in error.message
        assert error.rule == "chat_perche.md: Moving a cat"


def test_at_most_two_cats_of_a_colour_are_on_the_trunk() -> None:
    position = between_turns(cats=([trunk(1), trunk(2)], [trunk(3), trunk(4)]))
    for seat in range(2):
        error = refused(position, lambda state, seat=seat: state.seats[seat].cats.append(trunk(5)))  # type: ignore[misc]
        assert error.field == "seats.cats"
        assert "on the trunk" in error.message


def test_a_broken_branch_is_empty_and_not_of_solidity_4() -> None:
    position = between_turns(cats=([left(2, 1)], []))
    assert refused(position, lambda state: setattr(state.branches[1], "broken", True)).field == "branches.broken"
    assert refused(position, lambda state: setattr(state.branches[4], "broken", True)).field == "branches.broken"
    assert refused_packed(position, broken__1=4).field == "branches.broken"
    assert refused_packed(position, broken=1).field == "branches.broken"
    assert refused_packed(position, broken__5=0xE0).field == "branches.broken"


def test_no_unbroken_branch_holds_or_held_more_animals_than_its_value() -> None:
    position = between_turns(cats=([left(2, 1)], [left(2, 2)]))
    for edit in (
        lambda state: setattr(state.branches[1], "greatest_load", 1),
        lambda state: setattr(state.branches[1], "greatest_load", 3),
        lambda state: state.birds.append(left(2, 3)),
        lambda state: setattr(state.branches[0], "greatest_load", 2),
    ):
        assert refused(position, edit).field == "branches.greatest_load"
    # Bits below and above the spaces of branches, and a number that no branch can have.
    for number in (1, 0xE1, 0xF0):
        assert refused_packed(position, loads=number).field == "branches.greatest_load"
    assert refused_packed(position, loads__5=0x20).field == "branches.greatest_load"
    broken = between_turns(broken=[0])
    assert (
        refused(broken, lambda state: setattr(state.branches[0], "greatest_load", 1)).field == "branches.greatest_load"
    )


def test_the_game_is_over_exactly_when_the_dogs_have_arrived() -> None:
    over = Table(dogs=9).turn_up(0).position
    assert refused(over, put(dog_steps=9)).field == "dog_steps"
    assert refused(over, put(dog_steps=11)).field == "dog_steps"
    assert refused(over, put(phase=phase("TURN_UP"))).field == "dog_steps"
    assert refused(between_turns(), put(dog_steps=10)).field == "dog_steps"
    assert refused(over, lambda state: state.barred.append(1)).field == "barred"
    assert refused(over, put(card=8)).field == "card"


def test_deck_and_discards_are_26_cards() -> None:
    position = between_turns()
    error = refused(position, lambda state: state.seats[1].draw_pile_cards.append(0))
    assert error.field == "seats[1].draw_pile_cards[26]"
    assert "a full deck has 2 copies of card 0, no more" in error.message
    error = refused(position, lambda state: state.seats[0].draw_pile_cards.insert(3, 40))
    assert error.field == "seats[0].draw_pile_cards[3]"
    assert "a full deck has 0 copies of card 40" in error.message
    assert refused_packed(position, left__3=7).field == "seats.draw_pile_cards"


def test_the_last_of_equal_cards_are_left() -> None:
    # The default deck starts with two dogs cards of one step, at places 0 and 1.
    position = Table().turn_up(DOGS_1).position
    error = refused_packed(position, left=0xFD)
    assert error.field == "seats.draw_pile_cards"
    assert "equal cards" in error.message


# The card


def test_a_decision_needs_a_discarded_card_with_a_choice() -> None:
    position = moving()
    number = card("two own", 6)
    for error in (
        refused(position, lambda state: state.seats[0].draw_pile_cards.append(number)),
        refused(position, put(card=0)),
        refused(position, lambda state: state.ClearField("card")),
        refused_packed(position, card=41),
        refused(position, put(card=card("one own", 9))),
        refused(between_turns(), put(card=number)),
    ):
        assert (error.field, error.rule) == ("card", "chat_perche.md: A turn")


def test_phase_and_card_agree() -> None:
    bird = Table(options=holding(BIRD)).turn_up(BIRD).position
    fall = Table(cats=([trunk(1)], []), options=holding(OWN_FALLS)).turn_up(OWN_FALLS).position
    one = moving("one own", 3)
    for error in (
        refused(bird, put(phase=phase("FALL"))),
        refused(bird, put(phase=phase("MOVE"))),
        refused(fall, put(phase=phase("PLACE_BIRD"))),
        refused(fall, put(phase=phase("SECOND_MOVE"))),
        refused(one, put(phase=phase("SECOND_MOVE"))),
        refused(one, put(phase=phase("FALL"))),
        refused(one, put(phase=phase("PLACE_BIRD"))),
    ):
        assert (error.field, error.rule) == ("phase", "chat_perche.md: When a seat is asked")


def test_a_seat_without_a_choice_is_not_asked() -> None:
    fall = Table(cats=([trunk(1)], []), options=holding(OWN_FALLS)).turn_up(OWN_FALLS).position
    assert refused(fall, lambda state: state.seats[0].cats.pop()).field == "phase"
    assert refused(fall, lambda state: move_cat_to_other_seat(state)).field == "phase"
    birds = [left(5, space) for space in range(1, 5)] + [right(5, 1)]
    bird = Table(birds=birds, options=holding(BIRD), loads={9: 2}).turn_up(BIRD).position
    assert refused(bird, lambda state: state.birds.append(right(5, 2))).field == "phase"
    one = Table(cats=([], [trunk(2)]), options=holding(card("one own", 1))).turn_up(card("one own", 1)).position
    assert refused(one, lambda state: state.seats[1].cats.__setitem__(0, trunk(1))).field == "phase"


def move_cat_to_other_seat(state: ChatPercheState) -> None:
    state.seats[1].cats.append(state.seats[0].cats.pop())


def test_steps_agree_with_card_and_phase() -> None:
    bird = Table(options=holding(BIRD)).turn_up(BIRD).position
    for position, steps in (
        (moving(), 5),
        (moving(), 7),
        (moving(), 0),
        (second_move(), 0),
        (second_move(), 6),
        (between_turns(), 1),
        (bird, 1),
    ):
        error = refused(position, put(steps_left=steps))
        assert (error.field, error.rule) == ("steps_left", "chat_perche.md: Moving a cat")
    assert refused_packed(moving(), steps=10).field == "steps_left"


def test_barred_cats_are_at_most_two_cats_of_one_colour_on_these_spaces() -> None:
    cats = [trunk(1), left(2, 1), left(5, 1)], [trunk(2), right(2, 1)]
    free = between_turns(cats=cats)
    asked = moving(cats=cats)
    bird = Table(cats=cats, options=holding(BIRD)).turn_up(BIRD).position
    fall = Table(cats=cats, options=holding(OTHER_FALLS)).turn_up(OTHER_FALLS).position
    for position, barred in (
        (free, [trunk(3)]),
        (free, [trunk(1), trunk(2)]),
        (free, cats[0]),
        (asked, [trunk(2)]),
        (asked, [trunk(3)]),
        (asked, cats[0]),
        (bird, [trunk(1)]),
        (fall, [trunk(2)]),
    ):
        error = refused(position, lambda state, barred=barred: state.barred.extend(sorted(barred)))  # type: ignore[misc]
        assert (error.field, error.rule) == ("barred", "chat_perche.md: Moving a cat")
    assert refused_packed(free, barred__7=1).field == "barred"


def test_the_first_moved_cat_is_on_its_space_or_has_fallen() -> None:
    bird = Table(options=holding(BIRD)).turn_up(BIRD).position
    for position, edit in (
        (second_move(), put(moved=trunk(2))),
        (second_move(), put(moved=trunk(5))),
        (second_move(), lambda state: state.ClearField("moved")),
        (second_move(), lambda state: state.barred.append(left(1, 1))),
        (moving(), put(moved=trunk(1))),
        (between_turns(cats=([trunk(1)], [])), put(moved=trunk(1))),
        (bird, put(moved=left(1, 1))),
    ):
        error = refused(position, edit)
        assert (error.field, error.rule) == ("moved", "chat_perche.md: Moving a cat")
    assert refused_packed(second_move(), moved=1 | 32).field == "moved"


def test_a_first_moved_cat_that_fell_is_at_its_start() -> None:
    # All twelve cats are in the tree, so no cat has fallen.
    spaces = [f(5, space) for f in (left, right) for space in range(1, 5)]
    spaces += [left(4, 1), left(4, 2), right(4, 1)]
    position = moving("two own", 7, cats=(spaces, []), birds=[left(1, 2)])
    position = Table(position).move(START, left(1, 1)).position
    assert not state_of(position).HasField("moved")
    error = refused(position, lambda state: state.seats[0].cats.append(trunk(1)))
    assert error.field == "moved"


# Messages that are not a state


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (lambda state: state.ClearField("phase"), "phase"),
        (put(active_seat=2), "active_seat"),
        (put(first_seat=2), "first_seat"),
        (put(dog_steps=100), "dog_steps"),
        (put(card=41), "card"),
        (put(steps_left=10), "steps_left"),
        (put(moved=45), "moved"),
        (lambda state: state.seats.add(), "seats"),
        (lambda state: state.seats.pop(), "seats"),
        (lambda state: state.branches.pop(), "branches"),
        (lambda state: state.branches.add(), "branches"),
        (lambda state: state.seats[1].cats.append(45), "seats[1].cats[2]"),
        (lambda state: state.seats[0].cats.append(0), "seats[0].cats[2]"),
        (lambda state: state.birds.append(2**32 - 1), "birds[0]"),
        (lambda state: state.barred.extend([1, 1]), "barred[1]"),
        (put_card(0, 1, 41), "seats[0].draw_pile_cards[1]"),
        (put_card(1, 0, 2**32 - 1), "seats[1].draw_pile_cards[0]"),
        (put_card(1, 2, 0), "seats[1].draw_pile_cards[2]"),
        (lambda state: state.seats[1].draw_pile_cards.extend([0] * 50), "seats[1].draw_pile_cards[26]"),
        (lambda state: setattr(state.branches[3], "token_owner", 2), "branches[3].token_owner"),
        (lambda state: setattr(state.branches[3], "solidity", 5), "branches[3].solidity"),
        (lambda state: setattr(state.branches[3], "solidity", 0), "branches[3].solidity"),
        (lambda state: setattr(state.branches[3], "greatest_load", 5), "branches[3].greatest_load"),
        (lambda state: state.branches[3].ClearField("token_owner"), "branches[3]"),
        (lambda state: state.branches[3].ClearField("solidity"), "branches[3]"),
        (lambda state: setattr(state.options, "dog_track", 100), "options.dog_track"),
        (lambda state: setattr(state.options, "dog_track", 0), "options.dog_track"),
        (lambda state: state.options.solidity.append(1), "options.solidity"),
        (lambda state: state.options.deck.pop(), "options.deck"),
        (lambda state: setattr(state.options, "first_seat", 2), "options.first_seat"),
    ],
)
def test_fields_out_of_range_are_named(edit: Edit, field: str) -> None:
    assert refused(moving(), edit).field == field
