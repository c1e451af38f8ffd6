"""Tests of the rules in "Invariants". Every fault of a packed or typed state is refused with a specific message."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from chatiere.engine import EngineError, Position, Reason
from chatiere.engine.wire import Reader
from chatiere.v1.chatpentiers_pb2 import ChatpentiersState

from ..building import read, state_of
from ..packed import Edit, body_of, edited, poke
from .building import CODEC, GAME, Table, final_state

pytestmark = pytest.mark.rules("chatpentiers", "Invariants")

NO = 255


FIRST_SEAT, DEAL, EXTRA, PLAY, TAKE, FINISHED = range(6)


def lowest(cards: int) -> int:
    return cards & -cards


def get(place: Any, key: int | str) -> int:
    return int(getattr(place, key) if isinstance(key, str) else place[key])


def set_to(place: Any, key: int | str, value: int) -> None:
    if isinstance(key, str):
        setattr(place, key, value)
    else:
        place[key] = value


def move_card(source: Any, i: int | str, target: Any, j: int | str) -> None:
    """Move the lowest card of a place to another place. Places are fields of the body, or entries of its arrays."""
    bit = lowest(get(source, i))
    set_to(source, i, get(source, i) & ~bit)
    set_to(target, j, get(target, j) | bit)


def random_position(players: int, wanted: Callable[[Position, ChatpentiersState], bool], seed: int = 0) -> Position:
    """Return the first position of a random game that is `wanted`. The first seat is 0."""
    choices = random.Random(seed)
    position = GAME.new_game(players, {"first_seat": 0})
    while not wanted(position, state_of(position)):
        position.apply(choices.choice(position.legal_actions() or [o for o, _ in position.chance_outcomes()]))
    return position


STAGES: dict[str, Callable[[], Position]] = {
    "beginning": lambda: GAME.new_game(4),
    "dealing": lambda: random_position(4, lambda _, state: len(state.draw_pile_cards) == 30),
    "dealing again": lambda: random_position(4, lambda _, state: state.round == 2 and len(state.draw_pile_cards) == 30),
    "extra card": lambda: random_position(3, lambda _, state: state.phase == 3 and len(state.discards) == 2),
    "leading with 3": lambda: random_position(3, lambda _, state: state.phase == 4 and len(state.discards) == 2),
    "taking with 3": lambda: random_position(3, lambda _, state: state.phase == 5 and len(state.discards) == 2),
    "first lead": lambda: random_position(4, lambda _, state: state.phase == 4),
    "first play": lambda: random_position(4, lambda _, state: len(state.plays) == 2),
    "leading": lambda: random_position(4, lambda _, state: state.phase == 4 and len(state.discards) == 3),
    "playing": lambda: random_position(4, lambda _, state: len(state.plays) == 2 and len(state.discards) == 3),
    "taking": lambda: random_position(4, lambda _, state: state.phase == 5 and len(state.discards) == 3),
    "taking two": lambda: Table.at(STAGES["taking"]()).apply(STAGES["taking"]().legal_actions()[0]).position,
    "off colour": lambda: random_position(
        5,
        lambda position, state: (
            any(play.card // 12 != state.plays[0].card // 12 for play in state.plays) and state.phase == 4
        ),
    ),
    "over": lambda: read(final_state(4, [{0: ("y", 1)}, {1: ("g", 2)}, {}])),
}


def next_active(body: Any) -> None:
    body.active = (body.active + 1) % 4


def card_twice(body: Any) -> None:
    body.undealt |= lowest(body.hand[0])


def card_missing(body: Any) -> None:
    body.undealt &= ~lowest(body.undealt)


def card_60(body: Any) -> None:
    body.undealt |= 1 << 60


def card_on_table(body: Any) -> None:
    move_card(body, "undealt", body, "table")


def put_zone(body: Any) -> None:
    """Give a zone to a colour that is not on the board, or take the zone from a colour that is on the board."""
    body.zone[0][0] = 0 if body.zone[0][0] else 5


def two_colours_in_a_zone(body: Any) -> None:
    move_card(body, "undealt", body.board, 0)
    colours = [colour for colour in range(5) if body.board[0] >> 12 * colour & 0xFFF]
    while len(colours) < 2:
        body.board[0] |= lowest(body.undealt >> 12 * (colours[-1] + 1) << 12 * (colours[-1] + 1))
        colours = [colour for colour in range(5) if body.board[0] >> 12 * colour & 0xFFF]
    body.undealt &= ~body.board[0]
    for colour in range(5):
        body.zone[0][colour] = 1 if colour in colours else 0


def void_in_hand(body: Any) -> None:
    body.voids[1] = next(1 << colour for colour in range(5) if body.hand[1] >> 12 * colour & 0xFFF)


def forget_void(body: Any) -> None:
    led = body.play[0] // 12
    for seat in range(5):
        body.voids[seat] &= ~(1 << led)


def steal(body: Any) -> None:
    """Move the taken card to another board."""
    taken = next(n for n in [*body.play[:4]] if not body.table >> n & 1)
    owner = next(seat for seat in range(4) if body.board[seat] >> taken & 1)
    colour = taken // 12
    if not (body.board[owner] & ~(1 << taken)) >> 12 * colour & 0xFFF:
        body.zone[owner][colour] = 0
    body.board[owner] &= ~(1 << taken)
    other = (owner + 1) % 4
    body.board[other] |= 1 << taken
    if not body.zone[other][colour]:
        body.zone[other][colour] = next(z for z in range(1, 6) if z not in list(body.zone[other]))


def all_taken(body: Any) -> None:
    """Take three of the four cards. This would end the trick."""
    for number in body.play[:4]:
        if body.table >> number & 1 and bin(body.table).count("1") > 1:
            body.table &= ~(1 << number)
            body.board[0] |= 1 << number
            if not body.zone[0][number // 12]:
                body.zone[0][number // 12] = next(z for z in range(1, 6) if z not in list(body.zone[0]))


def board_without_trick(body: Any) -> None:
    """Put a discarded card under a board."""
    move_card(body, "discards", body.board, 0)
    mend_zones(body, 0)


def mend_zones(body: Any, seat: int) -> None:
    for colour in range(5):
        held = body.board[seat] >> 12 * colour & 0xFFF
        if held and not body.zone[seat][colour]:
            body.zone[seat][colour] = next(z for z in range(1, 6) if z not in list(body.zone[seat]))
        elif not held:
            body.zone[seat][colour] = 0


def undealt_on_board(body: Any) -> None:
    move_card(body, "undealt", body.board, 0)
    mend_zones(body, 0)


def swap_sizes(body: Any) -> None:
    """Move a card from one seat's hand to another."""
    move_card(body.hand, 0, body.hand, 1)


def play_twice(body: Any) -> None:
    body.table &= ~(1 << body.play[1])
    body.undealt |= 1 << body.play[1]
    body.play[1] = body.play[0]


def table_card_discarded(body: Any) -> None:
    body.discards |= 1 << body.play[0]
    body.table &= ~(1 << body.play[0])


def taken_too_early(body: Any) -> None:
    """Put a card of the trick under a board before all seats have played."""
    body.table &= ~(1 << body.play[0])
    body.board[0] |= 1 << body.play[0]
    mend_zones(body, 0)


def extra_discard(body: Any) -> None:
    move_card(body, "undealt", body, "discards")


def seat_beyond(body: Any) -> None:
    move_card(body, "undealt", body.hand, 4)


def leader_of_first_trick(body: Any) -> None:
    body.leader = body.active = 1


FAULTS: list[tuple[str, str, Edit, str]] = [
    ("leading", "too few players", poke(players=2), "seats"),
    ("leading", "too many players", poke(players=6), "seats"),
    ("leading", "an unknown phase", poke(phase=6), "phase"),
    ("leading", "an extra card with 4 players", poke(phase=EXTRA), "phase"),
    ("leading", "the option's first seat beyond the players", poke(first_seat_option=4), "first_seat"),
    ("leading", "another first seat than the option's", poke(first_seat=1), "first_seat"),
    ("leading", "no first seat", poke(first_seat=NO, first_seat_option=NO), "first_seat"),
    ("beginning", "an option that chance does not know of", poke(first_seat_option=1), "first_seat"),
    ("beginning", "a first seat before chance has spoken", poke(first_seat=1), "first_seat"),
    ("beginning", "a later round", poke(round=1), "round"),
    ("beginning", "a leader", poke(leader=1), "leader"),
    ("beginning", "an active seat", poke(active=1), "active_seat"),
    ("beginning", "a card in hand", lambda body: move_card(body, "undealt", body.hand, 0), "seats.hand_cards"),
    ("leading", "a limit of 0", poke(section_limits__2=0), "options.section_limits"),
    ("leading", "a limit of 10", poke(section_limits__2=10), "options.section_limits"),
    ("leading", "a colour left out with 4 players", poke(removed_colour=3), "options.removed_colour"),
    ("leading with 3", "no colour left out with 3 players", poke(removed_colour=NO), "options.removed_colour"),
    ("leading with 3", "another colour left out", poke(removed_colour=4), "draw_pile_cards"),
    ("leading", "a fourth round", poke(round=3), "round"),
    ("over", "an end in round 2", poke(round=1), "round"),
    ("leading", "a leader beyond the players", poke(leader=4), "leader"),
    ("first lead", "another leader of the first trick", leader_of_first_trick, "leader"),
    ("dealing", "another leader in the deal", poke(leader=1), "leader"),
    ("leading", "an active seat beyond the players", poke(active=4), "active_seat"),
    (
        "leading",
        "another active seat than the leader",
        next_active,
        "active_seat",
    ),
    ("playing", "another active seat than the next", lambda body: setattr(body, "active", body.leader), "active_seat"),
    ("taking", "another taker", next_active, "active_seat"),
    ("over", "another active seat than the last to take", poke(active=1), "active_seat"),
    (
        "dealing",
        "another seat's turn to be dealt",
        next_active,
        "seats.hand_cards",
    ),
    ("leading", "a byte that means nothing", poke(zero=1), ""),
    ("leading", "a byte that means nothing, at the end", poke(more_zero__2=1), ""),
    ("dealing", "a card played in the deal", poke(play__0=7), ""),
    (
        "leading",
        "a card in two places",
        card_twice,
        "draw_pile_cards",
    ),
    (
        "leading",
        "a card missing",
        card_missing,
        "draw_pile_cards",
    ),
    (
        "leading",
        "a card that does not exist",
        card_60,
        "draw_pile_cards",
    ),
    ("leading", "a hand beyond the players", seat_beyond, "seats.hand_cards"),
    ("leading", "hands of different sizes", swap_sizes, "seats.hand_cards"),
    ("dealing", "hands of different sizes in the deal", swap_sizes, "seats.hand_cards"),
    ("first lead", "a deal that is finished", poke(phase=DEAL), "seats.hand_cards"),
    ("leading", "an end with cards in hand", poke(phase=FINISHED, round=2), "seats.hand_cards"),
    ("over", "a lead without a card", poke(phase=PLAY), "seats.hand_cards"),
    ("leading", "an extra card with 4 players", poke(extra=0), "extra_card"),
    ("leading with 3", "no extra card with 3 players", poke(extra=NO), "extra_card"),
    ("extra card", "an extra card before it is turned up", poke(extra=0), "extra_card"),
    ("leading with 3", "an extra card that does not exist", poke(extra=60), "extra_card"),
    ("leading with 3", "another extra card", lambda body: setattr(body, "extra", body.extra ^ 1), "plays"),
    ("dealing", "cards played in the deal", poke(played=1), "plays"),
    ("dealing", "an extra card in the deal", poke(extra=0), "plays"),
    ("leading", "more plays than players", poke(played=5), "plays"),
    ("taking", "taking before all have played", poke(played=3), "plays"),
    ("playing", "a card that does not exist", poke(play__1=60), "plays"),
    ("playing", "a card behind those played", poke(play__3=1), "plays"),
    ("playing", "a card played twice", play_twice, "plays"),
    (
        "dealing",
        "a card on the table in the deal",
        card_on_table,
        "plays",
    ),
    (
        "leading",
        "a card on the table before anybody has played",
        card_on_table,
        "plays",
    ),
    ("playing", "a played card among the discards", table_card_discarded, "plays"),
    ("playing", "a card taken before all have played", taken_too_early, "plays"),
    ("taking two", "a taken card under a wrong board", steal, "plays"),
    ("taking two", "all cards taken", all_taken, "plays"),
    ("dealing again", "discards in the deal", extra_discard, "discards"),
    ("leading", "too many discards", extra_discard, "discards"),
    ("dealing", "a board in the deal", undealt_on_board, "seats.zones"),
    ("leading", "too many cards under the boards", undealt_on_board, "seats.zones"),
    ("leading", "a card discarded and taken", board_without_trick, "discards"),
    ("leading", "a zone that does not fit the board", put_zone, "seats.zones"),
    ("leading", "a zone beyond the zero zone", poke(zone__0_0=6), "seats.zones"),
    ("leading with 3", "a zero zone with 3 players", poke(zone__0_0=5), "seats.zones"),
    ("leading", "two colours in a zone", two_colours_in_a_zone, "seats.zones"),
    ("leading", "a void that is in the hand", void_in_hand, "seats.shown_voids"),
    ("leading", "a void of no colour", poke(voids__1=32), "seats.shown_voids"),
    ("leading", "a void beyond the players", poke(voids__4=1), "seats.shown_voids"),
    ("leading with 3", "a void of the colour left out", poke(voids__1=8), "seats.shown_voids"),
    ("dealing", "a void in the deal", poke(voids__1=1), "seats.shown_voids"),
    ("off colour", "a void that was shown is missing", forget_void, "seats.shown_voids"),
    (
        "dealing",
        "a round that is not finished has points",
        poke(points__1_0=1),
        "seats.round_points",
    ),
    (
        "dealing again",
        "points of the second round in it",
        poke(points__1_1=1),
        "seats.round_points",
    ),
    (
        "dealing again",
        "more points than a board gives",
        poke(points__1_0=15),
        "seats.round_points",
    ),
    (
        "dealing again",
        "points of a seat beyond the players",
        poke(points__4_0=1),
        "seats.round_points",
    ),
]


@pytest.mark.parametrize(
    ("stage", "what", "patch", "field"), FAULTS, ids=[f"{fault[0]}: {fault[1]}" for fault in FAULTS]
)
def test_a_packed_state_that_breaks_an_invariant_is_refused(stage: str, what: str, patch: Edit, field: str) -> None:
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(STAGES[stage](), patch))
    assert caught.value.reason is Reason.INVALID_STATE
    assert caught.value.field == field
    assert caught.value.rule.startswith("chatpentiers.md: ")


def hand_without(table: Table, seat: int) -> set[int]:
    """Return the colours that a hand does not hold."""
    return set(range(5)) - {number // 12 for number in state_of(table.position).seats[seat].hand_cards}


ONE_COLOURED = ("r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 y1 y2 y3 y4", "g1 g2 g3 g4 g5 g6 g7 g8 g9 g10 g11 g12 y5 y6")


def test_a_void_of_a_colour_that_was_not_led_is_refused_in_the_first_trick() -> None:
    table = Table(*ONE_COLOURED, "", "").play("r3")
    assert 4 in hand_without(table, 1)
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(table.position, poke(voids__1=1 << 4)))
    assert caught.value.field == "seats.shown_voids"


def test_a_void_of_another_colour_than_the_led_one_is_refused_in_the_first_trick() -> None:
    table = Table(*ONE_COLOURED, "", "").play("r3", "g1")
    assert body_of(table.position).voids[1] == 1 << 2
    assert 4 in hand_without(table, 1)
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(table.position, poke(voids__1=1 << 4)))
    assert caught.value.field == "seats.shown_voids"


def test_a_void_of_the_first_led_colour_is_refused_until_a_seat_has_followed() -> None:
    table = Table(*ONE_COLOURED, "", "").play("r3")
    assert 2 in hand_without(table, 1)
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(table.position, poke(voids__1=1 << 2)))
    assert caught.value.field == "seats.shown_voids"


def test_more_colours_shown_than_led_are_refused() -> None:
    table = Table(*ONE_COLOURED, "", "").play("r3", "g1")
    with pytest.raises(EngineError) as caught:
        GAME.unpack(edited(table.position, poke(voids__1=1 << 2 | 1 << 4)))
    assert caught.value.field == "seats.shown_voids"


def test_points_are_limited_by_the_limits_and_the_bonus() -> None:
    packed = edited(STAGES["dealing again"](), poke(points__1_0=1 + 2 + 3 + 4 + 4))
    assert GAME.unpack(packed).totals()[1] == 14


# Typed states


def typed(stage: str) -> ChatpentiersState:
    state: ChatpentiersState = state_of(STAGES[stage]())
    return state


def set_field(name: str, value: Any) -> Callable[[ChatpentiersState], None]:
    return lambda state: setattr(state, name, value)


def clear(name: str) -> Callable[[ChatpentiersState], None]:
    return lambda state: state.ClearField(name)


def only_zones(*zones: list[int]) -> Callable[[ChatpentiersState], None]:
    """Return an edit that gives seat 1 these zones, from zone 0 on."""

    def change(state: ChatpentiersState) -> None:
        state.seats[1].ClearField("zones")
        for zone, numbers in enumerate(zones):
            state.seats[1].zones.add(zone=zone, cards=numbers)

    return change


def clear_points(state: ChatpentiersState) -> None:
    state.seats[2].ClearField("round_points")


def many_points(state: ChatpentiersState) -> None:
    state.seats[2].round_points[0] = 256


TYPED_FAULTS: list[tuple[str, str, Callable[[ChatpentiersState], Any], str | None]] = [
    ("leading", "no seats", clear("seats"), "seats"),
    ("leading", "two seats", lambda state: state.seats.__delitem__(slice(2, None)), "seats"),
    ("leading", "six seats", lambda state: [state.seats.add() for _ in range(2)], "seats"),
    ("leading", "an option beyond its range", lambda s: setattr(s.options, "first_seat", 9), "options.first_seat"),
    ("leading", "three limits", lambda s: s.options.section_limits.extend([1, 2, 3]), "options.section_limits"),
    ("leading with 3", "no such colour", lambda s: setattr(s.options, "removed_colour", 5), "options.removed_colour"),
    ("leading", "no phase", clear("phase"), "phase"),
    ("leading", "an unknown phase", set_field("phase", 7), "phase"),
    ("leading", "a first seat beyond the players", set_field("first_seat", 4), "first_seat"),
    ("leading", "no first seat", clear("first_seat"), "first_seat"),
    ("leading", "no round", clear("round"), "round"),
    ("leading", "a fourth round", set_field("round", 4), "round"),
    ("leading", "a leader beyond the players", set_field("leader", 4), "leader"),
    ("leading", "an active seat beyond the players", set_field("active_seat", 2**32 - 1), "active_seat"),
    ("leading", "a card that does not exist", lambda s: s.seats[1].hand_cards.append(60), "seats[1].hand_cards[11]"),
    (
        "leading",
        "a card twice in a hand",
        lambda s: s.seats[1].hand_cards.append(s.seats[1].hand_cards[0]),
        "seats[1].hand_cards[11]",
    ),
    ("leading", "a zone beyond", lambda s: setattr(s.seats[0].zones.add(cards=[1]), "zone", 5), None),
    (
        "leading",
        "an empty zone",
        only_zones([]),
        "seats[1].zones[0].cards",
    ),
    (
        "leading",
        "two colours in a zone",
        only_zones([1, 13]),
        "seats[1].zones[0].cards",
    ),
    (
        "leading",
        "a colour in two zones",
        only_zones([0], [1]),
        "seats[1].zones[1].cards",
    ),
    ("leading", "a void of no colour", lambda s: s.seats[2].shown_voids.append(5), None),
    ("leading", "points of no round", lambda s: s.seats[2].round_points.append(1), "seats[2].round_points"),
    (
        "dealing again",
        "no points of the first round",
        clear_points,
        "seats[2].round_points",
    ),
    (
        "dealing again",
        "too many points",
        many_points,
        "seats[2].round_points[0]",
    ),
    ("leading with 3", "an extra card that does not exist", set_field("extra_card", 60), "extra_card"),
    ("leading", "too many plays", lambda s: [s.plays.add() for _ in range(5)], "plays"),
    ("playing", "a play of another seat", lambda s: setattr(s.plays[1], "seat", s.plays[0].seat), "plays[1].seat"),
    ("playing", "a play that does not exist", lambda s: setattr(s.plays[1], "card", 60), "plays[1].card"),
    ("leading", "a discard twice", lambda s: s.discards.append(s.discards[0]), "discards[3]"),
    (
        "leading",
        "an undealt card that does not exist",
        lambda s: s.draw_pile_cards.append(2**32 - 1),
        "draw_pile_cards[4]",
    ),
]


@pytest.mark.parametrize(
    ("stage", "what", "change", "field"), TYPED_FAULTS, ids=[f"{fault[0]}: {fault[1]}" for fault in TYPED_FAULTS]
)
def test_the_refusal_of_a_typed_state_names_the_wrong_field(
    stage: str, what: str, change: Callable[[ChatpentiersState], Any], field: str | None
) -> None:
    state = typed(stage)
    change(state)
    with pytest.raises(EngineError) as caught:
        read(state)
    assert caught.value.reason is Reason.INVALID_STATE
    assert caught.value.rule.startswith("chatpentiers.md: ")
    if field is None:
        number = len(state.seats[0].zones) - 1 if "zone" in what else len(state.seats[2].shown_voids) - 1
        field = f"seats[0].zones[{number}].zone" if "zone" in what else f"seats[2].shown_voids[{number}]"
    assert caught.value.field == field


def test_lists_of_a_typed_state_can_have_any_order() -> None:
    position = STAGES["taking two"]()
    state = state_of(position)
    for seat in state.seats:
        for cards in (seat.hand_cards, seat.shown_voids, *(zone.cards for zone in seat.zones)):
            cards.reverse()
        seat.zones.reverse()
    state.discards.reverse()
    state.draw_pile_cards.reverse()
    assert read(state, position.ply()) == position


def test_a_removed_colour_in_a_state_with_4_players_is_ignored() -> None:
    state = typed("leading")
    state.options.removed_colour = 77
    position = STAGES["leading"]()
    assert read(state, position.ply()) == position
    assert CODEC.read_options(Reader(state.options))["removed_colour"] == 77


@pytest.mark.parametrize("stage", STAGES)
def test_the_stages_are_valid_and_survive_conversion(stage: str) -> None:
    position = STAGES[stage]()
    position.check()
    assert read(state_of(position), position.ply()) == position
    assert GAME.unpack(position.pack()) == position
