"""Tests of the rules in "Invariants". Every fault of a state is reported with reason, field and heading."""

from collections.abc import Callable
from typing import Any

import pytest

from chatiere.engine import EngineError, Position, Reason
from chatiere.engine.wire import Reader

from ..building import read, state_of
from .building import CODEC, DRAW, GAME, PRINCESS, Board, begun, cell, late, place, play
from .test_chat_cartonne_end import final

pytestmark = pytest.mark.rules("chat_cartonne", "Invariants")

Change = Callable[[Any], object]


def setting(path: str, value: Any) -> Change:
    """Return a change that sets a field of the state, such as "seats[0].supply"."""

    def change(state: Any) -> None:
        holder: Any = state
        *steps, last = path.replace("]", "").replace("[", ".").split(".")
        for step in steps:
            holder = holder[int(step)] if step.isdigit() else getattr(holder, step)
        if last.isdigit():
            holder[int(last)] = value
        elif value is None:
            holder.ClearField(last)
        elif isinstance(value, list):
            del getattr(holder, last)[:]
            getattr(holder, last).extend(value)
        else:
            setattr(holder, last, value)

    return change


def turn() -> Position:
    return Board().put(cell(12, 11), "").awake(cell(11, 11), 0).position()


def woken() -> Position:
    """Return a table with a woken cat of each seat in a box, the cats that woke these, and boxes north and east."""
    board = Board().put(cell(12, 11), "").awake(cell(11, 11), 0).asleep(cell(12, 10), 0, woken=True)
    board.put(cell(10, 11), "").princess(cell(10, 11), True, 1).asleep(cell(10, 10), 1, woken=True)
    board.put(cell(10, 9), "NS").put(cell(13, 11), "EW")
    return board.put(cell(14, 11), "", "m").put(cell(15, 11), "", "b").asleep(cell(16, 11), 1).position()


def asked_for_a_cat() -> Position:
    return play(begun(), DRAW, 20, place(0, cell(12, 11)))


def placing_start() -> Position:
    return play(GAME.new_game(3, {"first_seat": 0}), 0, 1, 2, 3, 4, 5, 0, 80)


def last_turns() -> Position:
    return final().hand(0, 0, 1).hand(1, 2).position()


def princess_played(**options: Any) -> Position:
    board = Board(**options).put(cell(12, 11)).put(cell(13, 11)).put(cell(10, 11), "", "m").put(cell(9, 11), "", "b")
    return board.princess(cell(11, 10), False, 0).position()


def princess_held() -> Position:
    """Return a position where seat 0 has drawn a Princess and played another card, and seat 1 has drawn, too."""
    position = play(begun(), DRAW, PRINCESS)
    return play(position, position.legal_actions()[0], DRAW, 10)


def lower_part() -> Position:
    return late(2, 5, {0: (70, 71), 1: (69, PRINCESS)}).position()


BROKEN: list[tuple[Callable[[], Position], Change, str]] = [
    (turn, setting("phase", 12), "phase"),
    (turn, setting("phase", 0), "phase"),
    (turn, setting("first_seat", None), "first_seat"),
    (turn, setting("first_seat", 1), "first_seat"),
    (turn, setting("first_seat", 2), "first_seat"),
    (lambda: GAME.new_game(2), setting("first_seat", 1), "first_seat"),
    (turn, setting("active_seat", 2), "active_seat"),
    (lambda: GAME.new_game(2), setting("active_seat", 1), "active_seat"),
    (lambda: play(GAME.new_game(2, {"first_seat": 0}), 0, 1, 2, 3), setting("active_seat", 1), "active_seat"),
    (placing_start, setting("active_seat", 0), "active_seat"),
    (last_turns, setting("seats[1].hand_cards", [PRINCESS]), "draw_pile_cards"),
    (lambda: final(3).hand(0, 0).hand(1).hand(2, 2).position(), setting("active_seat", 1), "active_seat"),
    (turn, setting("final_phase", True), "final_phase"),
    (last_turns, setting("final_phase", False), "final_phase"),
    (placing_start, setting("final_phase", True), "final_phase"),
    (turn, setting("phase", 11), "final_phase"),
    (last_turns, setting("phase", 7), "phase"),
    (turn, setting("passes", 1), "passes"),
    (turn, setting("passes", 3), "passes"),
    (placing_start, setting("passes", 1), "passes"),
    (last_turns, setting("passes", 2), "passes"),
    (last_turns, setting("phase", 11), "passes"),
    (turn, setting("seats[0].hand_cards", [0, 1, 2, 3]), "seats[0].hand_cards"),
    (turn, setting("seats[0].hand_cards", [72, 71]), "seats.hand_cards"),
    (turn, setting("seats[0].hand_cards", [76, 71]), "seats[0].hand_cards[0]"),
    (turn, setting("phase", 8), "seats.hand_cards"),
    (lambda: play(begun(), DRAW, 20), setting("phase", 6), "seats.hand_cards"),
    (
        placing_start,
        lambda state: (state.seats[1].hand_cards.append(20), state.draw_pile_cards.remove(20)),
        "seats.hand_cards",
    ),
    (placing_start, lambda state: hands_of_one(state), "seats.hand_cards"),
    (placing_start, setting("phase", 2), "table"),
    (turn, setting("seats[0].supply", 5), "seats.supply"),
    (turn, setting("seats[0].supply", 6), "seats[0].supply"),
    (turn, lambda state: state.table.add(cell=100, sleeping_cat=1), "seats.supply"),
    (turn, lambda state: (state.table.add(cell=100, sleeping_cat=1), setting("seats[1].supply", 4)(state)), "table"),
    (turn, setting("table[0].turned", True), "table"),
    (turn, setting("table[0].cell", 576), "table[0].cell"),
    (turn, setting("table[0].cell", cell(12, 11)), "table[1].cell"),
    (turn, setting("table[0].sleeping_cat", 2), "table[0].sleeping_cat"),
    (turn, setting("table[0].card", 81), "table[0].card"),
    (turn, setting("table[0].card", 75), "table[0].card"),
    (turn, setting("table[0].card", None), "table[0]"),
    (lambda: Board(no_double_walls=True).put(cell(12, 11), "").position(), lambda state: double_wall(state), "table"),
    (turn, setting("table[0].on_joint.cat", 2), "table[0].on_joint.cat"),
    (turn, setting("table[0].on_joint.toy", 75), "table[0].on_joint.toy"),
    (turn, lambda state: state.table[0].on_joint.ClearField("cat"), "table[0].on_joint"),
    (turn, lambda state: move_cat(state, 1), "table.on_joint"),
    (turn, lambda state: crowded_joints(state), "table.on_joint"),
    (turn, setting("table[0].card", 78), "table.on_joint"),
    (turn, setting("table[0].woken", True), "table[0].woken"),
    (princess_played, setting("table[0].woken", True), "table[0].woken"),
    (woken, setting("table[1].turned", True), "table[1].turned"),
    (woken, setting("table[9].woken", True), "table.woken"),
    (woken, lambda state: awake_elsewhere(state), "table.woken"),
    (woken, lambda state: toys_instead(state), "table.woken"),
    (turn, setting("table[2].card", 76), "table"),
    (turn, lambda state: setting("table[0].cell", cell(13, 11))(state), "table"),
    (begun, setting("table[0].cell", cell(10, 12)), "table"),
    (begun, setting("table[1].cell", cell(11, 13)), "table"),
    (begun, lambda state: [setting(f"table[{i}].cell", cell(11, 20 + i))(state) for i in (1, 0)], "table"),
    (turn, setting("starting_carton", 80), "starting_carton"),
    (turn, setting("starting_carton", 75), "starting_carton"),
    (turn, setting("toy", 71), "toy"),
    (placing_start, setting("toy", 72), "toy"),
    (turn, lambda state: (setting("toy", 72)(state), state.draw_pile_cards.remove(72)), "starting_carton"),
    (placing_start, setting("starting_carton", None), "starting_carton"),
    (placing_start, setting("starting_carton", 76), "starting_carton"),
    (placing_start, setting("phase", 4), "starting_carton"),
    (turn, setting("just_played", 5), "just_played"),
    (turn, setting("just_played", 576), "just_played"),
    (placing_start, setting("just_played", 5), "just_played"),
    (asked_for_a_cat, setting("just_played", None), "just_played"),
    (asked_for_a_cat, setting("just_played", 5), "just_played"),
    (asked_for_a_cat, setting("just_played", cell(11, 12)), "just_played"),
    (turn, setting("seats[0].by_part[0].cards_drawn", 7), "seats.by_part.cards_drawn"),
    (last_turns, lambda state: whole_pile(state), "seats.by_part.cards_drawn"),
    (turn, setting("seats[0].by_part[1].cards_drawn", 1), "seats.by_part.cards_drawn"),
    (turn, setting("seats[0].by_part[1].cards_drawn", 256), "seats[0].by_part[1].cards_drawn"),
    (turn, lambda state: state.seats[0].by_part.pop(), "seats[0].by_part"),
    (placing_start, setting("seats[0].by_part[1].cards_drawn", 1), "seats.by_part.cards_drawn"),
    (lambda: GAME.new_game(2), setting("seats[0].by_part[1].cards_drawn", 1), "seats.by_part.cards_drawn"),
    (
        lambda: play(begun(), DRAW, 20),
        lambda state: [setting(f"seats[{i}].by_part[0].cards_drawn", i)(state) for i in (0, 1)],
        "seats.by_part.cards_drawn",
    ),
    (turn, setting("parts[1].princess_drawn_by", 1), "seats.by_part.cards_drawn"),
    (turn, setting("parts[1].princess_drawn_by", 2), "parts[1].princess_drawn_by"),
    (turn, lambda state: state.parts.pop(), "parts"),
    (turn, setting("seats[0].by_part[0].princesses_played", 1), "parts"),
    (lambda: play(begun(), DRAW, PRINCESS), lambda state: princess_elsewhere(state), "parts"),
    (lambda: play(begun(), DRAW, PRINCESS), setting("parts[0].princess_drawn_by", 1), "parts"),
    (princess_played, lambda state: played_later(state), "parts"),
    (princess_played, lambda state: nobodys_princess(state), "parts"),
    (princess_held, setting("parts[0].princess_drawn_by", 1), "parts"),
    (lambda: princess_played(all_princesses=True), setting("parts[0].princess_drawn_by", 0), "parts"),
    (lower_part, lambda state: princess_left_behind(state), "parts"),
    (turn, lambda state: state.seats[0].shown.add(not_patterns=[1]), "seats.shown"),
    (turn, lambda state: state.seats[0].shown.add(not_patterns=[0]), "seats.shown"),
    (turn, lambda state: state.seats[0].shown.add(not_patterns=range(8)), "seats.shown"),
    (turn, lambda state: [state.seats[0].shown.add(not_patterns=[0, 8])], "seats[0].shown[0].not_patterns[1]"),
    (turn, lambda state: [state.seats[0].shown.add() for _ in range(3)], "seats[0].shown"),
    (placing_start, lambda state: state.seats[0].shown.add(not_patterns=[0]), "seats.shown"),
    (
        lambda: Board(no_double_walls=True).hand(0, 70, 71).position(),
        lambda state: [state.seats[0].shown.add(not_patterns=patterns) for patterns in ([0], [0, 1])],
        "seats.shown",
    ),
    (turn, lambda state: state.draw_pile_cards.pop(), "draw_pile_cards"),
    (turn, setting("draw_pile_cards[0]", 75), "draw_pile_cards[0]"),
    (turn, lambda state: state.draw_pile_cards.append(state.draw_pile_cards[0]), "draw_pile_cards[70]"),
    (turn, lambda state: state.draw_pile_cards.append(state.seats[0].hand_cards[0]), "draw_pile_cards"),
    (turn, lambda state: state.seats.pop(), "seats"),
    (turn, setting("options.first_seat", 2), "options.first_seat"),
]  # fmt: skip


def double_wall(state: Any) -> None:
    """Give the carton at (12, 11) a wall next to a wall of the neighbour of (11, 12)."""
    state.table[1].cell = cell(12, 12)
    state.table[1].card = 18
    state.table[1].turned = True
    state.table[1].cell, state.table[2].cell = cell(12, 12), cell(11, 12)
    state.draw_pile_cards.remove(18)
    state.draw_pile_cards.append(0)


def move_cat(state: Any, place_: int) -> None:
    state.table[0].ClearField("on_joint")
    state.table[place_].on_joint.cat = 0


def princess_elsewhere(state: Any) -> None:
    """Give a seat the Princess of a part from which no seat has drawn."""
    state.parts[0].ClearField("princess_drawn_by")
    state.parts[1].princess_drawn_by = 0


def awake_elsewhere(state: Any) -> None:
    """Move the cat that woke seat 0's cat into another box."""
    for card in state.table:
        if card.cell == cell(11, 11):
            card.ClearField("on_joint")
        elif card.cell == cell(14, 11):
            card.on_joint.cat = 0


def toys_instead(state: Any) -> None:
    """Replace seat 0's awake cat with a toy card. The Princess replaced only one cat, not a cat of each seat."""
    card = next(card for card in state.table if card.cell == cell(11, 11))
    card.on_joint.toy = 72
    state.draw_pile_cards.remove(72)
    state.seats[0].supply += 1


def crowded_joints(state: Any) -> None:
    """Lay more cards on joints than the numbers of cats, Princesses and toy cards allow."""
    for number in range(34):
        state.table.add(card=number, cell=number).on_joint.cat = 0


def hands_of_one(state: Any) -> None:
    """Leave each seat with one card fewer than it was dealt."""
    for seat in state.seats:
        state.draw_pile_cards.append(seat.hand_cards.pop())


def whole_pile(state: Any) -> None:
    """Put all cartons except one per hand into the pile, including some that were dealt."""
    for card in [card for card in state.table if card.WhichOneof("lies") == "card" and card.card < 72]:
        state.draw_pile_cards.append(card.card)
        state.table.remove(card)
    for seat in state.seats:
        state.draw_pile_cards.extend(seat.hand_cards[1:])
        del seat.hand_cards[1:]


def played_later(state: Any) -> None:
    """Change the state as if seat 0 had played its Princess after it had drawn from the second part."""
    first, second = state.seats[0].by_part
    first.princesses_played, second.princesses_played = 0, 1


def nobodys_princess(state: Any) -> None:
    """Put a Princess on the table that no seat has drawn or played."""
    state.seats[0].by_part[0].princesses_played = 0
    state.seats[0].by_part[0].cards_drawn -= 1
    state.parts[0].ClearField("princess_drawn_by")


def princess_left_behind(state: Any) -> None:
    """Leave the Princess in the upper part although cards are drawn from the lower part."""
    state.parts[0].ClearField("princess_drawn_by")
    state.parts[1].princess_drawn_by = 1


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_the_refusal_of_a_broken_state_names_its_field(number: int) -> None:
    make, change, field = BROKEN[number]
    position = make()
    state = state_of(position)
    assert read(state, position.ply()) == position
    change(state)
    with pytest.raises(EngineError) as caught:
        read(state)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, field)
    assert caught.value.rule.startswith("chat_cartonne.md: ")


@pytest.mark.parametrize("players", [1, 6])
def test_states_with_other_than_two_to_five_players_are_refused(players: int) -> None:
    state = state_of(turn())
    del state.seats[:]
    for _ in range(players):
        state.seats.add()
    with pytest.raises(EngineError) as caught:
        read(state)
    assert caught.value.field == "seats"


def body(position: Position) -> bytearray:
    return bytearray(CODEC.read_state(Reader(state_of(position)), GAME.rules_version))


# Offsets in the packed form. Each seat has 16 bytes.
FILLED, SEATS, JOINTS, LAID, CARDS = 24, 96, 176, 247, 256
PACKED: list[tuple[int, int, str]] = [
    (0, 6, "seats"),
    (0, 1, "seats"),
    (2, 2, "first_seat"),
    (3, 16, "options"),
    (5, 11, "phase"),
    (6, 2, "active_seat"),
    (7, 2, "final_phase"),
    (8 + 15, 0x80, "draw_pile_cards"),
    (8, 0, "draw_pile_cards"),
    (FILLED, 1, "table"),
    (FILLED + 71, 0x80, "table"),
    (SEATS + 3, 0x80, ""),
    (SEATS + 1, 2, "seats.shown"),
    (SEATS + 2, 4, ""),
    (SEATS + 4 + 1, 0x80, ""),
    (SEATS + 4, 0x40, ""),
    (SEATS + 7, 4, "seats.hand_cards"),
    (SEATS + 8, 73, "seats.hand_cards"),
    (SEATS + 8 + 1, 3, "seats.hand_cards"),
    (SEATS + 8 + 2, 3, ""),
    (SEATS + 11, 0, "seats.by_part.cards_drawn"),
    (SEATS + 11, 3, "seats.by_part.cards_drawn"),
    (SEATS + 11 + 2, 1, ""),
    (SEATS + 2 * 16 + 6, 1, ""),
    (SEATS + 2 * 16 + 10, 1, ""),
    (JOINTS, 0x14, "table.on_joint"),
    (JOINTS + 1, 0, "table.on_joint"),
    (JOINTS + 1, 0xC1, "table.on_joint"),
    (JOINTS + 2, 1, "table.on_joint"),
    (JOINTS + 4, 1, ""),
    (JOINTS + 2 * 33, 1, ""),
    (LAID, 2, "table"),
    (LAID, 111, "table"),
    (LAID + 1 + 2, 0, ""),
    (CARDS - 2, 1, ""),
    (CARDS - 1, 1, ""),
    (CARDS, 76 | 0x80, "table"),
    (CARDS + 2, 76, "table"),
    (CARDS, 86, "table"),
    (CARDS + 2, 83 | 0x80, "table"),
    (CARDS + 2, 86 | 0x80, "table"),
    (CARDS + 5, 1, ""),
    (CARDS + 100, 1, ""),
    (CARDS + 111, 1, ""),
]


@pytest.mark.parametrize(("offset", "value", "field"), PACKED)
def test_a_broken_byte_is_refused(offset: int, value: int, field: str) -> None:
    data = body(turn())
    data[offset] = value
    with pytest.raises(EngineError) as caught:
        GAME.position(bytes(data))
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, field)


def test_no_seat_is_active_before_chance_has_chosen_the_first_seat() -> None:
    data = body(GAME.new_game(2))
    data[6] = 1
    with pytest.raises(EngineError) as caught:
        GAME.position(bytes(data))
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, "active_seat")


def test_a_table_has_at_most_110_cartons() -> None:
    state = state_of(turn())
    for number in range(111):
        state.table.add(cell=number, sleeping_cat=0)
    with pytest.raises(EngineError) as caught:
        read(state)
    assert caught.value.field == "table"
