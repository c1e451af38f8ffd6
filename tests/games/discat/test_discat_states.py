"""Tests of the rules in "Invariants". The error for a typed or packed state names the field in error."""

from collections.abc import Callable
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import EngineError, Position, Reason
from chatiere.engine.wire import fill
from chatiere.v1 import discat_pb2
from chatiere.v1.discat_pb2 import DiscatEnd, DiscatEndKind, DiscatPhase, DiscatScoreDetail, DiscatState

from ..building import read, state_of
from ..packed import Edit, edited, poke, poke_bytes
from ..test_games_rules import page
from .building import CODEC, EXCHANGED, GAME, KEPT, Table, late_state, played

pytestmark = pytest.mark.rules("discat", "Invariants")


def typed(position: Position) -> DiscatState:
    state: DiscatState = state_of(position)
    return state


def middle() -> DiscatState:
    """Return a state of two seats. Seat 1 has to choose, and its exchanged card is queued. Seat 0 has had its bonus."""
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35], up_arrows=[]).play(12).draw(45, 46).exchange(33).draw(47)
    return typed(table.play(41).position)


def before_refill() -> DiscatState:
    """Return a state of two seats in which seat 0 has played and has to draw."""
    return typed(Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35]).play(12).position)


def before_bonus() -> DiscatState:
    """Return a state of two seats in which seat 0 has to draw its bonus card."""
    return typed(Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35]).play(12).draw(45).position)


def passing() -> DiscatState:
    """Return a state of two seats in which seat 1 has no card below 12, and seat 0 has had its bonus."""
    return typed(Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35]).play(12).draw(45, 46).position)


def before_exchange() -> DiscatState:
    """Return a state of two seats in which seat 1 has put 33 under the pile and has to draw."""
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35]).play(12).draw(45, 46)
    return typed(table.exchange(33).position)


def dealing() -> DiscatState:
    """Return a state of two seats during the deal. Seat 0 has three cards, and seat 1 has two."""
    return typed(Table.at(GAME.new_game(2, {"first_seat": 0})).draw(1, 2, 3, 4, 5).position)


def dealt() -> DiscatState:
    """Return a state of two seats before the first turn."""
    return typed(Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35]).position)


def beginning() -> DiscatState:
    """Return a state of two seats before chance has chosen the first seat."""
    return typed(GAME.new_game(2))


def last_turn() -> DiscatState:
    """Return a state of three seats. Seat 0 laid its last card, 30, seat 1 had its last turn, and seat 2 must keep."""
    return late_state(
        [[], [40], [50]], [played(30), KEPT], first=0, active=2, phase="PASS", last_turns_left=1, up_arrows=[]
    )


def over() -> DiscatState:
    """Return a state of two seats with all cards laid."""
    return late_state([[], []], [], active=1, phase="OVER")


def won() -> DiscatState:
    """Return a state of two seats in which seat 0 has won with a group of five."""
    table = Table([12, 13, 14, 15, 16], [1, 2, 3, 4, 5], first_seat=1).play(5).draw(6)
    return typed(table.play(12, 13, 14, 15, 16).position)


def four() -> DiscatState:
    """Return a state of two seats in which seat 1 has just played 31, 32, 33 with 34 on top, and has to draw."""
    table = Table([50, 41, 42, 43, 44], [31, 32, 33, 34, 6], up_arrows=[]).play(50).draw(45).play(31, 32, 33, 34)
    return typed(table.position)


STATES = (
    won,
    four,
    middle,
    before_refill,
    before_bonus,
    passing,
    before_exchange,
    dealing,
    dealt,
    beginning,
    last_turn,
    over,
)


@pytest.mark.parametrize("state", STATES)
def test_the_states_without_faults_are_valid(state: Callable[[], DiscatState]) -> None:
    position = read(state())
    position.check()
    # The reason for the end of a game follows from the other fields of the state.
    expected = state()
    if position.is_terminal():
        kind, seat = position.end(), position.ended_by()
        assert kind is not None
        expected.end.CopyFrom(DiscatEnd(kind=DiscatEndKind.Name(kind), seat=seat))
    assert state_of(position) == expected


def phase(name: str) -> DiscatPhase:
    number: DiscatPhase = getattr(discat_pb2, f"DISCAT_PHASE_{name}")
    return number


def put(path: str, value: object) -> Callable[[DiscatState], None]:
    """Return an edit that sets a field or an element of a repeated field."""

    def change(state: DiscatState) -> None:
        *holders, last = path.split(".")
        holder: Any = state
        for name in holders:
            holder = holder[int(name)] if name.isdigit() else getattr(holder, name)
        if last.isdigit():
            holder[int(last)] = value
        elif isinstance(value, list):
            del getattr(holder, last)[:]
            getattr(holder, last).extend(value)
        else:
            setattr(holder, last, value)

    return change


def both(*changes: Callable[[DiscatState], None]) -> Callable[[DiscatState], None]:
    def change(state: DiscatState) -> None:
        for one in changes:
            one(state)

    return change


def remove(path: str) -> Callable[[DiscatState], None]:
    """Return an edit that clears a field or deletes the last element of a repeated field."""

    def change(state: DiscatState) -> None:
        holder: Any = state
        *holders, last = path.split(".")
        for name in holders:
            holder = holder[int(name)] if name.isdigit() else getattr(holder, name)
        if state.DESCRIPTOR.fields_by_name.get(last) and state.DESCRIPTOR.fields_by_name[last].is_repeated:
            del getattr(holder, last)[-1]
        else:
            holder.ClearField(last)

    return change


def add_seats(count: int) -> Callable[[DiscatState], None]:
    def change(state: DiscatState) -> None:
        for _ in range(count):
            state.seats.add()

    return change


def add_turn(seat: int, kind: str | None, *cards: int) -> Callable[[DiscatState], None]:
    def change(state: DiscatState) -> None:
        turn = state.turns.add(seat=seat)
        if kind == "played":
            turn.played.cards.extend(cards)
        elif kind == "passed":
            turn.passed.exchanged = bool(cards)

    return change


def move_card(from_: str, to: str, card: int) -> Callable[[DiscatState], None]:
    """Return an edit that moves a card from one list to another."""

    def change(state: DiscatState) -> None:
        for path, add in ((from_, False), (to, True)):
            holder: Any = state
            for name in path.split("."):
                holder = holder[int(name)] if name.isdigit() else getattr(holder, name)
            cards = sorted({*holder, card} if add else {*holder} - {card})
            del holder[:]
            holder.extend(cards)

    return change


OUT_OF_RANGE = [
    (dealt, remove("seats"), "seats"),
    (dealt, add_seats(5), "seats"),
    (dealt, put("options.first_seat", 2), "options.first_seat"),
    (dealt, put("options.up_arrows.cards", [0]), "options.up_arrows.cards[0]"),
    (dealt, put("options.up_arrows.cards", [1, 91]), "options.up_arrows.cards[1]"),
    (dealt, put("options.up_arrows.cards", [1, 3, 1]), "options.up_arrows.cards[2]"),
    (dealt, put("options.up_arrows.cards", [*range(1, 91), 7]), "options.up_arrows.cards[90]"),
    (dealt, put("seats.1.hand_cards", [1, 2, 3, 4, 5, 6, 7]), "seats[1].hand_cards"),
    (dealt, put("seats.1.hand_cards.2", 0), "seats[1].hand_cards[2]"),
    (dealt, put("seats.1.hand_cards.2", 91), "seats[1].hand_cards[2]"),
    (dealt, put("seats.1.hand_cards.2", 2**32 - 1), "seats[1].hand_cards[2]"),
    (dealt, remove("phase"), "phase"),
    (dealt, put("phase", 9), "phase"),
    (dealt, put("first_seat", 2), "first_seat"),
    (dealt, put("active_seat", 2), "active_seat"),
    (dealt, put("active_seat", 2**32 - 1), "active_seat"),
    (last_turn, put("last_turns_left", 3), "last_turns_left"),
    (dealt, put("draw_pile_cards.0", 0), "draw_pile_cards[0]"),
    (dealt, put("draw_pile_cards.3", 91), "draw_pile_cards[3]"),
    (dealt, put("draw_pile_cards.3", 1), "draw_pile_cards[3]"),
    (middle, put("queue_cards.0", 0), "queue_cards[0]"),
    (middle, put("queue_cards.0", 91), "queue_cards[0]"),
    (middle, put("queue_cards", [33] * 91), "queue_cards"),
    (middle, put("redrawn_cards", [91]), "redrawn_cards[0]"),
    (middle, put("redrawn_cards", [33, 91]), "redrawn_cards[1]"),
    (middle, put("redrawn_cards", [33] * 31), "redrawn_cards"),
]

WRONG_TURNS = [
    (beginning, add_turn(0, "played", 12), "first_seat"),
    (dealt, add_turn(1, "played", 12), "turns[0].seat"),
    (dealt, add_turn(0, None), "turns[0]"),
    (dealt, add_turn(0, "passed"), "turns[0]"),
    (dealt, add_turn(0, "played"), "turns[0].played.cards"),
    (dealt, add_turn(0, "played", 1, 2, 3, 4, 5, 6, 7), "turns[0].played.cards"),
    (dealt, add_turn(0, "played", 0), "turns[0].played.cards[0]"),
    (dealt, add_turn(0, "played", 1, 91), "turns[0].played.cards[1]"),
    (middle, add_turn(1, "played", 60), "draw_pile_cards"),
    (passing, both(add_turn(1, "passed"), add_turn(0, "passed")), "turns[2]"),
    (over, both(*(add_turn(number % 2, "played", 1, 2, 3, 4, 5, 6) for number in range(7))), "turns[56].played.cards"),
    # The active seat is not the next seat.
    (passing, add_turn(1, "passed"), "active_seat"),
    (passing, both(add_turn(1, "passed"), put("active_seat", 0)), "active_seat"),
    (passing, put("active_seat", 0), "active_seat"),
    (before_refill, put("active_seat", 1), "active_seat"),
    (before_exchange, put("active_seat", 0), "active_seat"),
    (over, put("active_seat", 0), "active_seat"),
    (dealt, put("active_seat", 1), "active_seat"),
    # A group of five or six wins and ends the game.
    (won, both(add_turn(1, "passed"), put("active_seat", 1)), "turns"),
    (
        won,
        both(add_turn(1, "played", 1), put("seats.1.hand_cards", [2, 3, 4, 6]), put("active_seat", 1)),
        "turns",
    ),
    (won, put("phase", phase("REFILL")), "turns"),
]

WRONG_PHASE = [
    (middle, both(put("phase", phase("FIRST_SEAT")), remove("active_seat")), "first_seat"),
    (
        middle,
        both(put("phase", phase("FIRST_SEAT")), remove("active_seat"), remove("first_seat"), put("turns", [])),
        "first_seat",
    ),
    (beginning, put("first_seat", 0), "first_seat"),
    (beginning, both(put("phase", phase("DEAL")), put("active_seat", 0)), "first_seat"),
    (beginning, put("options.first_seat", 0), "first_seat"),
    (beginning, put("active_seat", 1), "active_seat"),
    (beginning, move_card("draw_pile_cards", "seats.0.hand_cards", 5), "seats.hand_cards"),
    (dealing, put("options.first_seat", 1), "first_seat"),
    (dealing, put("phase", phase("PLAY")), "active_seat"),
    (dealing, put("phase", phase("BONUS")), "phase"),
    (dealing, put("phase", phase("OVER")), "phase"),
    (dealing, put("active_seat", 0), "seats.hand_cards"),
    (dealing, put("bonus_drawn", True), "turns"),
    (dealing, put("last_turns_left", 1), "last_turns_left"),
    (dealing, move_card("draw_pile_cards", "seats.0.hand_cards", 50), "seats.hand_cards"),
    (dealing, both(move_card("draw_pile_cards", "queue_cards", 50)), "queue_cards"),
    (dealt, put("phase", phase("DEAL")), "seats.hand_cards"),
    (dealt, move_card("draw_pile_cards", "seats.0.hand_cards", 50), "seats.hand_cards"),
    (
        dealt,
        both(
            move_card("draw_pile_cards", "seats.0.hand_cards", 50),
            move_card("draw_pile_cards", "seats.1.hand_cards", 49),
        ),
        "seats.hand_cards",
    ),
    (middle, put("phase", phase("DEAL")), "phase"),
    # Seat 1 has no card that respects 41's constraint, or has such a card.
    (passing, put("phase", phase("PLAY")), "phase"),
    (passing, put("phase", phase("BONUS")), "phase"),
    (passing, put("bonus_drawn", False), "seats.hand_cards"),
    (passing, both(put("bonus_drawn", False), move_card("seats.0.hand_cards", "draw_pile_cards", 46)), "phase"),
    (before_bonus, put("bonus_drawn", True), "phase"),
    (before_bonus, put("phase", phase("PASS")), "phase"),
    (before_bonus, put("phase", phase("PLAY")), "phase"),
    (before_bonus, put("phase", phase("REFILL")), "active_seat"),
    (middle, put("phase", phase("PASS")), "phase"),
    (middle, put("phase", phase("BONUS")), "phase"),
    (before_refill, put("phase", phase("EXCHANGE")), "phase"),
    (before_refill, move_card("draw_pile_cards", "seats.0.hand_cards", 50), "phase"),
    (before_refill, put("bonus_drawn", True), "seats.hand_cards"),
    (before_exchange, put("turns.1.passed.exchanged", False), "queue_cards"),
    (
        before_exchange,
        both(put("turns.1.passed.exchanged", False), move_card("queue_cards", "draw_pile_cards", 33)),
        "phase",
    ),
    (before_exchange, put("phase", phase("OVER")), "phase"),
    (before_exchange, put("phase", phase("PLAY")), "active_seat"),
    (over, put("phase", phase("REFILL")), "phase"),
    (over, put("phase", phase("PLAY")), "active_seat"),
]

WRONG_END = [
    (over, put("last_turns_left", 1), "last_turns_left"),
    (last_turn, put("last_turns_left", 0), "last_turns_left"),
    (last_turn, put("last_turns_left", 2), "last_turns_left"),
    # The seat that started the last turns has a card.
    (last_turn, move_card("seats.1.hand_cards", "seats.0.hand_cards", 40), "last_turns_left"),
    # The pile has cards.
    (
        last_turn,
        both(move_card("seats.1.hand_cards", "draw_pile_cards", 40), put("bonus_drawn", True)),
        "last_turns_left",
    ),
    (middle, put("last_turns_left", 1), "last_turns_left"),
    (before_refill, put("last_turns_left", 1), "last_turns_left"),
]

WRONG_CARDS = [
    (dealt, put("seats.1.hand_cards.4", 12), "draw_pile_cards"),
    (dealt, put("seats.1.hand_cards.4", 51), "draw_pile_cards"),
    (dealt, remove("draw_pile_cards"), "draw_pile_cards"),
    (dealt, move_card("seats.0.hand_cards", "draw_pile_cards", 90), "draw_pile_cards"),
    (middle, put("queue_cards", []), "draw_pile_cards"),
    (middle, move_card("queue_cards", "draw_pile_cards", 33), "redrawn_cards"),
    (middle, both(move_card("queue_cards", "draw_pile_cards", 33), put("redrawn_cards", [33])), "redrawn_cards"),
    (middle, put("queue_cards.0", 34), "draw_pile_cards"),
    (middle, put("turns.0.played.cards", [13]), "draw_pile_cards"),
    (middle, move_card("draw_pile_cards", "queue_cards", 50), "queue_cards"),
    (passing, move_card("draw_pile_cards", "queue_cards", 50), "queue_cards"),
    (middle, put("redrawn_cards", [33]), "redrawn_cards"),
    (over, put("redrawn_cards", [33]), "redrawn_cards"),
    # The pile has cards, so every turn has ended with five cards or more.
    (passing, move_card("seats.1.hand_cards", "draw_pile_cards", 35), "seats.hand_cards"),
    (before_bonus, move_card("seats.0.hand_cards", "draw_pile_cards", 45), "seats.hand_cards"),
    (middle, move_card("seats.1.hand_cards", "draw_pile_cards", 35), "seats.hand_cards"),
    (before_refill, move_card("seats.1.hand_cards", "draw_pile_cards", 35), "seats.hand_cards"),
    (before_refill, move_card("seats.0.hand_cards", "draw_pile_cards", 44), "seats.hand_cards"),
    (four, move_card("seats.1.hand_cards", "draw_pile_cards", 6), "seats.hand_cards"),
    (before_exchange, move_card("seats.1.hand_cards", "draw_pile_cards", 35), "seats.hand_cards"),
    (won, move_card("seats.1.hand_cards", "draw_pile_cards", 6), "seats.hand_cards"),
]


@pytest.mark.parametrize(
    ("state", "change", "field"),
    [
        pytest.param(*case, id=f"{case[0].__name__}-{number}-{case[2]}")
        for number, case in enumerate([*OUT_OF_RANGE, *WRONG_TURNS, *WRONG_PHASE, *WRONG_END, *WRONG_CARDS])
    ],
)
def test_wrong_typed_states_are_refused(
    state: Callable[[], DiscatState], change: Callable[[DiscatState], None], field: str
) -> None:
    message = state()
    change(message)
    with pytest.raises(EngineError) as caught:
        read(message)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, field)
    assert caught.value.message
    name, heading, *_ = caught.value.rule.split(": ")
    assert name == "discat.md"
    assert heading in page(GAME)


# A hand has eight bytes, one for each slot.
PACKED = [
    (dealt, poke(players=1), "seats"),
    (dealt, poke(players=7), "seats"),
    (dealt, poke(players=0), "seats"),
    (dealt, poke(phase=8), "phase"),
    (dealt, poke(first_seat_option=2), "first_seat"),
    (dealt, poke(first_seat_option=1), "first_seat"),
    (dealt, poke(first_seat=2), "first_seat"),
    (dealt, poke(first_seat=255), "first_seat"),
    (beginning, poke(first_seat=1), "first_seat"),
    (beginning, poke(first_seat_option=1), "first_seat"),
    (dealt, poke(active=2), "active_seat"),
    (middle, poke(bonus_drawn=2), "turns"),
    (dealt, poke(up_arrows__1=1 << 26), "options.up_arrows"),
    (dealt, poke(unknown__1=1), "draw_pile_cards"),
    (dealt, poke(unknown__0=2**64 - 1), "draw_pile_cards"),
    (dealt, poke(laid=1), "draw_pile_cards"),
    (dealt, poke(laid=91), "turns"),
    (dealt, poke(laid=255, queue_length=255), "turns"),
    (dealt, poke(queue_length=51), "queue_cards"),
    (middle, poke(queue_length=2), "draw_pile_cards"),
    (middle, poke(queue_length=0), ""),
    (middle, poke(cards__119=33 + 128), "queue_cards"),
    (middle, poke(cards__119=34), "draw_pile_cards"),
    (middle, poke(cards__118=34), ""),
    (middle, poke(cards__2=34), ""),
    (middle, poke(cards__50=1), ""),
    (middle, poke(codes__0=2, codes__1=0), "turns"),
    (middle, poke(codes__0=3, codes__1=0), "turns"),
    (middle, poke(cards__0=0), "draw_pile_cards"),
    (middle, poke(cards__0=12 + 128), "draw_pile_cards"),
    (dealt, poke(hand_size__0=7), "seats.hand_cards"),
    (dealt, poke(hand_size__0=255), "seats.hand_cards"),
    (dealt, poke_bytes(hand_size__2=1, hand__16=1), "seats.hand_cards"),
    (dealt, poke(hand_size__0=4), ""),
    (dealt, poke_bytes(hand__6=1), ""),
    (dealt, poke_bytes(hand__7=200), "seats.hand_cards"),
    (dealt, poke_bytes(hand__5=1), ""),
    (dealt, poke_bytes(hand__24=1), ""),
    (dealt, poke_bytes(hand__0=41, hand__1=12), "seats.hand_cards"),
    (dealt, poke_bytes(hand__4=91), "seats.hand_cards"),
    (dealt, poke_bytes(hand__0=0), "draw_pile_cards"),
    (dealt, poke(codes__0=1), ""),
    (dealt, poke(codes__95=128), ""),
    (dealt, poke(zero__0=1), ""),
    (dealt, poke(zero__6=128), ""),
    (dealt, poke(cards__0=1), ""),
    (dealt, poke(cards__119=1), ""),
    (middle, poke(codes__0=5, codes__1=1), "turns"),
    (middle, poke(codes__0=32, codes__1=1), "turns"),
    (middle, poke(codes__0=64, codes__1=1), "turns"),
    (middle, poke(codes__0=128, codes__1=1), "turns"),
    (middle, poke(codes__2=1), ""),
    (middle, poke(codes__90=1), ""),
    (middle, poke(codes__0=2, codes__1=1), "queue_cards"),
    (middle, poke(redrawn_count=31), "redrawn_cards"),
    (middle, poke(redrawn_count=1), "draw_pile_cards"),
    (middle, poke(redrawn_count=1, cards__119=51), "redrawn_cards"),
    (middle, poke(redrawn_count=1, cards__119=33 + 128), "redrawn_cards"),
    (middle, poke(redrawn_count=1, cards__119=0, cards__118=33), "redrawn_cards"),
    (dealt, poke(redrawn_count=1, cards__119=1), "queue_cards"),
    # A play of four with its lower cards in the wrong order, or without its top.
    (four, poke(cards__1=32, cards__2=31), "turns"),
    (four, poke(codes__4=0), "turns"),
]


@pytest.mark.parametrize(
    ("state", "change", "field"),
    [pytest.param(*case, id=f"{case[0].__name__}-{number}-{case[2]}") for number, case in enumerate(PACKED)],
)
def test_wrong_packed_states_are_refused(state: Callable[[], DiscatState], change: Edit, field: str) -> None:
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(read(state()), change))
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, field)


def test_resampling_refuses_hands_that_contradict_the_turns() -> None:
    # Seat 1 has shown that it has no card below 12, and has not drawn since.
    state = passing()
    state.turns.add(seat=1).passed.exchanged = False
    state.active_seat = 0
    state.phase = phase("PLAY")
    for card in (35, 5):
        state.seats[1].hand_cards[4] = card
        state.draw_pile_cards[:] = sorted({*state.draw_pile_cards, 5, 35} - {card})
        position = read(state)
        if card == 35:
            position.resample(0, 1)
            continue
        for seat in (0, 1):
            with pytest.raises(EngineError) as caught:
                position.resample(seat, 1)
            assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, "turns")
            assert caught.value.rule == "discat.md: Public and hidden"


def test_an_evaluation_without_worlds_names_the_contradiction() -> None:
    state = passing()
    state.turns.add(seat=1).passed.exchanged = False
    state.active_seat = 0
    state.phase = phase("PLAY")
    state.seats[1].hand_cards[4] = 5
    state.draw_pile_cards[:] = sorted({*state.draw_pile_cards, 35} - {5})
    position = read(state)
    found, faults = engine.Table(GAME, position.num_players()).evaluate(position.pack(), 3, 2, seed=1)
    (fault,) = faults.items
    assert (fault.reason, fault.field) == (Reason.INVALID_STATE, "states")
    assert fault.rule == "discat.md: Public and hidden"
    assert not any(found.counts)
    assert not any(found.mean_returns)


def test_resampling_refuses_hands_of_impossible_sizes() -> None:
    hands = [[1, 2, 3, 4, 5], [30, 32, 34, 36, 38, 40]]
    position = read(late_state(hands, [played(6)], first=0, active=1, phase="BONUS", unknown=[44, 46, 48, 50]))
    with pytest.raises(EngineError) as caught:
        position.resample(0, 1)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, "turns")


def test_resampling_refuses_a_queue_card_that_no_seat_can_have_drawn() -> None:
    # Seat 1 has put 33 under the pile, but its hand is too small to have drawn it.
    position = read(
        late_state(
            [[2, 4, 6, 8, 10, 12], [30, 32, 34, 36]],
            [played(14), EXCHANGED],
            first=0,
            active=0,
            bonus_drawn=True,
            redrawn=[33],
        )
    )
    with pytest.raises(EngineError) as caught:
        position.resample(0, 1)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, "turns")


def test_the_score_names_the_seat_that_won_with_a_group() -> None:
    detail = DiscatScoreDetail()
    fill(detail, CODEC.put_score, read(won()))
    assert detail.group_winner == 0
    assert [seat.pile_points for seat in detail.seats] == [5, 1]
