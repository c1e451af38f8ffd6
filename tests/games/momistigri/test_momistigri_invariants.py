"""Tests of the rules in "Invariants". Every reason to refuse a state, as a message and as bytes."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from chatiere.engine import EngineError, Position, Reason
from chatiere.v1.momistigri_pb2 import MOMISTIGRI_PHASE_HAND_OUT, MomistigriState

from ..building import read, state_of
from ..packed import body_of, edited, poke
from .building import GAME, Table, card, cards, late_state, refused
from .reference import default_copies

pytestmark = pytest.mark.rules("momistigri", "Invariants")

PUBLIC = 5


def bytes_with(position: Position, **numbers: int) -> bytes:
    """Return the packed state with some of its numbers changed (see `poke`)."""
    return edited(position, poke(**numbers))


def sets_with(position: Position, **sets: str | int) -> bytes:
    """Return the packed state with some sets of cards replaced by the given cards or bits."""
    return bytes_with(position, **{name: held if isinstance(held, int) else bits(held) for name, held in sets.items()})


def box_with(position: Position, **fields: int) -> bytes:
    """Return the packed state with another box."""
    return edited(position, lambda body: poke(**fields)(body.box))


def bits(names: str) -> int:
    """Return cards of the default box as bits: the first card of each kind."""
    copies = default_copies()
    found = 0
    for kind, number in Counter(cards(names)).items():
        found |= (1 << number) - 1 << sum(copies[:kind])
    return found


def known(knower: int) -> str:
    """Return the name of the field with a knower's knowledge of other hands."""
    return f"known__{knower}"


def most(seat: int, knower: int) -> str:
    """Return the name of the field with the maximum number of 1s in a seat's hand, as known to a knower."""
    return f"most_ones__{seat}_{knower}"


def fault(packed: bytes) -> EngineError:
    with pytest.raises(EngineError) as caught:
        GAME.unpack(packed)
    assert caught.value.reason is Reason.INVALID_STATE
    assert caught.value.rule.startswith("momistigri.md: ")
    return caught.value


def table(**fields: Any) -> Position:
    return read(late_state(["3A 4A 5B", "6A 7A", "M"], **fields))


def dealing(cards_dealt: int = 4) -> Position:
    position = GAME.new_game(3, {"first_seat": 1})
    for _ in range(cards_dealt):
        position.apply(position.chance_outcomes()[0][0])
    return position


def drawing(**fields: Any) -> Position:
    return read(late_state(["3A 4A 5B", "6A 7A", "M"], phase="DRAW", draws_left=1, active=1, **fields))


def finished() -> Position:
    done = Table.late("4A", "5A", "6A", passed=(1, 2), round=2, penalties=[[7, 1, 2]]).pass_turn()
    return done.position


def of_five(**fields: Any) -> Position:
    return read(late_state(["1A 1B 5B", "6A 7A", "M", "6B", "6C"], active=1, **fields))


CASES: list[tuple[str, Callable[[], bytes], str]] = [
    ("players", lambda: bytes_with(table(), players=2), "seats"),
    ("players", lambda: bytes_with(table(), players=6), "seats"),
    ("phase beyond", lambda: bytes_with(table(), phase=12), "phase"),
    ("active beyond", lambda: bytes_with(table(), active=3), "active_seat"),
    ("active before the first seat", lambda: bytes_with(GAME.new_game(3), active=1), "active_seat"),
    ("round beyond", lambda: bytes_with(table(), round=3), "round"),
    ("round before the first seat", lambda: bytes_with(GAME.new_game(3), round=1), "round"),
    ("over in the first round", lambda: bytes_with(finished(), round=0), "round"),
    ("first seat option beyond", lambda: bytes_with(table(), first_seat_option=3), "round_first_seat"),
    ("first seat option while open", lambda: bytes_with(GAME.new_game(3), first_seat_option=1), "round_first_seat"),
    ("first seat known while open", lambda: bytes_with(GAME.new_game(3), first_seat=1), "round_first_seat"),
    ("first seat beyond", lambda: bytes_with(table(), first_seat=3), "round_first_seat"),
    ("first seat unknown", lambda: bytes_with(table(), first_seat=255), "round_first_seat"),
    ("first seat not the option's", lambda: bytes_with(table(), first_seat_option=2), "round_first_seat"),
    ("turn beyond", lambda: bytes_with(table(), turn=201), "turn"),
    ("no turn in play", lambda: bytes_with(table(), turn=0), "turn"),
    ("turn in the deal", lambda: bytes_with(dealing(), turn=1), "turn"),
    ("direction beyond", lambda: bytes_with(table(), backwards=2), "reversed"),
    ("reversed in the deal", lambda: bytes_with(dealing(), backwards=1), "reversed"),
    ("in the round beyond", lambda: bytes_with(table(), in_round=15), "seats.in_round"),
    ("out of the round with cards", lambda: bytes_with(table(), in_round=5), "seats.in_round"),
    ("out of the round in the deal", lambda: bytes_with(dealing(), in_round=3), "seats.in_round"),
    ("passed out of the round", lambda: bytes_with(table(), passed=8), "seats.pass_mark"),
    ("passed in the deal", lambda: bytes_with(dealing(), passed=1), "seats.pass_mark"),
    ("mark beyond", lambda: bytes_with(drawing(), mark=4), "mark"),
    ("mark outside of a draw", lambda: bytes_with(table(), mark=1), "mark"),
    ("draws beyond", lambda: bytes_with(drawing(), draws_left=4), "draws_left"),
    ("no draws in a draw", lambda: bytes_with(drawing(), draws_left=0), "draws_left"),
    ("draws outside of a draw", lambda: bytes_with(table(), draws_left=1), "draws_left"),
    ("more draws than the mark says", lambda: bytes_with(drawing(), draws_left=2), "draws_left"),
    ("effect beyond", lambda: bytes_with(table(), effect=4), "pair_value"),
    ("effect outside of a choice", lambda: bytes_with(table(), effect=1), "pair_value"),
    ("receiver beyond", lambda: bytes_with(table(), receiver=3), "receiver"),
    ("receiver when nothing is handed out", lambda: bytes_with(table(), receiver=1), "receiver"),
    ("swapped out beyond", lambda: bytes_with(table(), swapped_out=47), "swapped_out"),
    ("swapped out outside of a swap", lambda: bytes_with(table(), swapped_out=1), "swapped_out"),
    ("zero", lambda: bytes_with(table(), zero__0=1), ""),
    ("copies", lambda: with_copies(table(), {"1A": 9}), "options.copies"),
    ("one of another value", lambda: with_copies(table(), {"1A": 3, "2A": 1}), "options.copies"),
    ("usual copies written down", lambda: with_copies(table(), {}), "options.copies"),
    ("a second Momistigri", lambda: with_copies(table(), {"1A": 1, "M": 2}), "options.copies"),
    ("no Momistigri", lambda: box_with(of_other_box(), kind_at__45=44), "options.copies"),
    ("card beyond the last kind", lambda: box_with(of_other_box(), kind_at__44=46), "options.copies"),
    ("card beyond the box's last", lambda: box_with(of_other_box(), kind_at__47=0), "options.copies"),
    ("kinds out of order", lambda: out_of_order(), "options.copies"),
    ("first card of a kind missing", lambda: box_with(of_other_box(), firsts=1 << 45), "options.copies"),
    ("first cards of the usual box", lambda: box_with(table(), firsts=1 << 45), "options.copies"),
    ("kinds without first cards", lambda: box_with(of_other_box(), firsts=0), "options.copies"),
    ("hand of a seat that is not there", lambda: sets_with(table(), hands__3="3A"), "seats.hand_cards"),
    ("card missing", lambda: sets_with(table(), hands__0="3A 4A"), "seats.hand_cards"),
    ("card twice", lambda: sets_with(table(), hands__1="3A 6A 7A"), "seats.hand_cards"),
    ("card in a hand and in the pile", lambda: sets_with(table(), left=(1 << 46) - 1), "seats.hand_cards"),
    ("card that three do not play with", lambda: sets_with(table(), hands__0="1A 4A 5B"), "seats.hand_cards"),
    ("card beyond the box", lambda: sets_with(table(), hands__0=1 << 46), "seats.hand_cards"),
    ("second card in the pile's stead", lambda: exchanged("left"), "seats.hand_cards"),
    ("second card in a later seat's stead", lambda: exchanged("hands__1"), "seats.hand_cards"),
    ("pile beyond the box", lambda: sets_with(table(), left=1 << 63), "discards"),
    ("undealt beyond the box", lambda: sets_with(dealing(), left=1 << 50), "seats.hand_cards"),
    ("undealt too few", lambda: sets_with(dealing(), left="M"), "seats.hand_cards"),
    ("everything everywhere", lambda: everywhere(), "seats.hand_cards"),
    ("knowledge of the own hand", lambda: sets_with(table(), **{known(0): "3A"}), "seats.knowledge"),
    ("knowledge to a seat not there", lambda: sets_with(table(), **{known(3): "3A"}), "seats.knowledge"),
    ("knowledge of the pile", lambda: sets_with(table(), **{known(0): "8C"}), "seats.knowledge"),
    ("knowledge of all but not each", lambda: sets_with(table(), **{known(PUBLIC): "3A"}), "seats.knowledge"),
    ("knowledge of a card not in the deck", lambda: sets_with(table(), **{known(1): "1A"}), "seats.knowledge"),
    ("knowledge beyond the box", lambda: sets_with(table(), **{known(1): 1 << 46}), "seats.knowledge"),
    (
        "knowledge of all of the pile",
        lambda: sets_with(table(), **{known(knower): "8C" for knower in (0, 1, 2, PUBLIC)}),
        "seats.knowledge",
    ),
    (
        "knowledge in the deal",
        lambda: sets_with(dealing(), **{known(0): body_of(dealing()).hands[1]}),
        "seats.knowledge",
    ),
    ("knowledge of a second copy alone", lambda: sets_with(twins(), **{known(1): second("3C")}), "seats.knowledge"),
    (
        "knowledge of all of a second copy alone",
        lambda: sets_with(twins(), **{known(1): "3C 3C", known(2): "3C 3C"}, **{known(PUBLIC): second("3C")}),
        "seats.knowledge",
    ),
    ("most ones of a seat not there", lambda: bytes_with(table(), **{most(4, 0): 1}), "seats.knowledge"),
    ("most ones without 1s", lambda: bytes_with(table(), **{most(0, 1): 1}), "seats.knowledge"),
    ("most ones to the own seat", lambda: bytes_with(of_five(), **{most(0, 0): 5}), "seats.knowledge"),
    ("fewer ones than there are", lambda: bytes_with(of_five(), **{most(0, 1): 2}), "seats.knowledge"),
    ("most ones beyond", lambda: bytes_with(of_five(), **{most(0, 1): 10}), "seats.knowledge"),
    ("most ones to all but not each", lambda: bytes_with(of_five(), **{most(0, PUBLIC): 4}), "seats.knowledge"),
    (
        "most ones to all fewer than to one",
        lambda: bytes_with(of_five(), **{most(0, knower): 4 + (knower == 2) for knower in (1, 2, 3, 4, PUBLIC)}),
        "seats.knowledge",
    ),
    (
        "most ones of a seat out of the round",
        lambda: bytes_with(read(late_state(["1A", "", "3A", "6B", "6C"])), **{most(1, 0): 3}),
        "seats.knowledge",
    ),
    ("penalty of a later round", lambda: bytes_with(table(), penalties__0_0=1), "seats.round_points"),
    ("penalty of a seat not there", lambda: bytes_with(finished(), penalties__0_3=1), "seats.round_points"),
    ("last penalty not the hand's", lambda: bytes_with(finished(), penalties__1_0=9), "seats.round_points"),
    ("uneven deal", lambda: uneven_deal(), "seats.hand_cards"),
    (
        "dealt before the first seat",
        lambda: bytes_with(dealing(), phase=0, first_seat=255, active=0, first_seat_option=255),
        "seats.hand_cards",
    ),
    ("dealt out and still dealing", lambda: dealt_out(), "seats.hand_cards"),
    ("next card to another", lambda: bytes_with(dealing(), active=0), "active_seat"),
]


def twins() -> Position:
    return read(late_state(["3C 3C", "6A 7A", "M"]))


def second(name: str) -> int:
    """Return the second card of a kind, as a bit."""
    return bits(f"{name} {name}") & ~bits(name)


def exchanged(later: str) -> bytes:
    """Exchange seat 0's 3C with the other 3C, which is in the pile or in seat 1's hand."""
    position = read(late_state(["3C 4A", "3C" if later != "left" else "5A", "M"]))
    both, body = bits("3C 3C"), body_of(position)
    held = body.left if later == "left" else body.hands[1]
    return sets_with(position, **{"hands__0": body.hands[0] ^ both, later: held ^ both})


def with_copies(position: Position, changes: dict[str, int]) -> bytes:
    """Return the packed state with an explicit box: the default box except for the copies of some kinds."""
    copies = dict(enumerate([*default_copies(), 1])) | {card(name): number for name, number in changes.items()}
    kinds = bytes(kind for kind, number in copies.items() for _ in range(number)).ljust(48, bytes([card("M")]))[:48]
    firsts = sum(1 << place for place in range(46) if kinds[place] not in kinds[:place])
    return box_with(position, firsts=firsts, **{f"kind_at__{place}": kind for place, kind in enumerate(kinds)})


def out_of_order() -> bytes:
    """Return a state with another box in which the first two kinds are exchanged."""
    box = body_of(of_other_box()).box
    assert list(box.kind_at[:3]) == [0, 1, 1]
    return box_with(of_other_box(), kind_at__0=1, kind_at__2=0, firsts=box.firsts ^ 0b110)


def of_other_box() -> Position:
    copies = default_copies()
    copies[card("1A")] -= 1
    copies[card("1E")] += 1
    return read(late_state(["3A", "4A", "5A"], copies=copies))


def everywhere() -> bytes:
    """Return a state in which each of five hands and the pile contain the whole box."""
    whole = (1 << 46) - 1
    return sets_with(of_five(), left=whole, **{f"hands__{seat}": whole for seat in range(5)})


def uneven_deal() -> bytes:
    """Return a state in which all dealt cards are in seat 1's hand."""
    hands = body_of(dealing()).hands[:3]
    return sets_with(dealing(), hands__0=0, hands__1=sum(hands), hands__2=0)


def dealt_out() -> bytes:
    return bytes_with(dealing(28), phase=1, turn=0, draws_left=0)


@pytest.mark.parametrize(("body", "field"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bytes_that_break_an_invariant_are_refused(body: Callable[[], bytes], field: str) -> None:
    assert fault(body()).field == field


def test_the_positions_without_faults_are_valid() -> None:
    for position in (table(), dealing(), drawing(), finished(), of_five(), twins(), of_other_box(), GAME.new_game(3)):
        position.check()
        assert GAME.unpack(bytes_with(position)) == position


STATES: list[tuple[str, dict[str, Any], list[str], str]] = [
    ("active seat out of the round", {"active": 1}, ["3A", "", "4A"], "active_seat"),
    ("a draw needs another seat", {"phase": "DRAW", "draws_left": 1}, ["3A", "", ""], "phase"),
    ("a swap needs another seat", {"phase": "SWAP_IN", "swapped_out": card("4A")}, ["3A", "", ""], "phase"),
    ("giving needs another seat", {"phase": "GIVE"}, ["3A", "", ""], "phase"),
    ("giving needs a card", {"phase": "GIVE"}, ["-", "3A", "4A"], "seats.in_round"),
    ("discarding needs a card", {"phase": "DISCARD"}, ["-", "3A", "4A"], "seats.in_round"),
    ("a seat without cards is out", {"phase": "DISCARD"}, ["3A", "-", "4A"], "seats.in_round"),
    ("a receiver is another seat", {"phase": "HAND_OUT", "receiver": 0}, ["3A", "4A", "5A"], "receiver"),
    ("a receiver is in the round", {"phase": "HAND_OUT", "receiver": 1}, ["3A", "", "5A"], "receiver"),
    ("the pair of a choice", {"phase": "CHOICE", "pair_value": 1}, ["3A", "4A", "5A"], "discards"),
    ("the pair of a 2", {"phase": "NAME"}, ["3A", "4A", "5A"], "discards"),
    ("the pair of a 4", {"phase": "GIVE"}, ["4A 4B 4C 4D 4E", "5A", "5B"], "discards"),
    ("the pair of a 6", {"phase": "AGAIN"}, ["6A 6B 6C", "5A", "5B"], "discards"),
    (
        "the pair of a 3 at the draw",
        {"phase": "DRAW", "draws_left": 1, "mark": "MOMISTIGRI_MARK_SWAP"},
        ["3A 3B 3C 3C 3D 3D", "5A", "5B"],
        "discards",
    ),
    ("the pair of a 3", {"phase": "SWAP_OUT"}, ["3A 3B 3C 3C 3D 3D", "5A", "5B"], "discards"),
    (
        "the pair of a 7",
        {"phase": "DRAW", "draws_left": 1, "mark": "MOMISTIGRI_MARK_TWO"},
        ["7A 7B", "5A", "5B"],
        "discards",
    ),
    (
        "the pair of an 8",
        {"phase": "DRAW", "draws_left": 1, "mark": "MOMISTIGRI_MARK_THREE"},
        ["8C", "5A", "5B"],
        "discards",
    ),
    (
        "the pair of a 3 apart from the card just discarded",
        {"phase": "SWAP_IN", "swapped_out": card("3E")},
        ["3A 3B 3C 3C 3D", "5A", "5B"],
        "discards",
    ),
    ("the card just discarded", {"phase": "SWAP_IN", "swapped_out": card("4A")}, ["4A", "5A", "5B"], "swapped_out"),
    ("no card was discarded", {"phase": "SWAP_IN"}, ["4A", "5A", "5B"], "swapped_out"),
    (
        "more draws than cards",
        {"phase": "DRAW", "draws_left": 2, "mark": "MOMISTIGRI_MARK_TWO"},
        ["4A", "5A", "6A"],
        "draws_left",
    ),
    (
        "a first seat without the most points",
        {"round": 2, "penalties": [[1, 2, 3]]},
        ["4A", "5A", "6A"],
        "round_first_seat",
    ),
    (
        "a third round without a tie",
        {"round": 3, "penalties": [[1, 2, 3], [1, 2, 3]], "first": 2},
        ["4A", "5A", "6A"],
        "round",
    ),
    (
        "over after two rounds with a tie",
        {"phase": "OVER", "round": 2, "penalties": [[0, 0, 9], [4, 4, 4]]},
        ["4A", "4B", "4C"],
        "round",
    ),
    ("passed in another seat", {"passed": (1,)}, ["3A", "", "4A"], "seats.pass_mark"),
    (
        "all passed as a turn begins",
        {"passed": (0, 1), "phase": "DRAW", "draws_left": 1},
        ["3A", "4A", ""],
        "seats.pass_mark",
    ),
    (
        "all passed before a swap",
        {"passed": (0, 1), "phase": "SWAP_OUT"},
        ["3A", "4A", ""],
        "seats.pass_mark",
    ),
    ("all passed and nobody has left", {"passed": (0, 1, 2)}, ["3A", "4A", "5A"], "seats.pass_mark"),
    (
        "passed and discarded a pair",
        {"passed": (0,), "phase": "CHOICE", "pair_value": 3},
        ["4A", "5A", ""],
        "seats.pass_mark",
    ),
]


@pytest.mark.parametrize(("fields", "hands", "field"), [case[1:] for case in STATES], ids=[case[0] for case in STATES])
def test_states_that_play_cannot_reach_are_refused(fields: dict[str, Any], hands: list[str], field: str) -> None:
    state = late_state([hand.replace("-", "") for hand in hands], **fields)
    for seat, hand in zip(state.seats, hands, strict=True):
        seat.in_round |= hand == "-"
    error = refused(state)
    assert (error.reason, error.field) == (Reason.INVALID_STATE, field)
    assert error.rule.startswith("momistigri.md: ")


def test_cards_are_dealt_in_turn() -> None:
    state = state_of(dealing())
    state.seats[1].hand_cards.append(state.seats[0].hand_cards.pop())
    error = refused(state)
    assert (error.field, "one at a time" in error.message) == ("seats.hand_cards", True)


def test_an_empty_pile_cannot_be_handed_out() -> None:
    # All 28 cards are in three hands.
    everything = state_of(GAME.new_game(3, {"first_seat": 0}, seed=1))
    state = MomistigriState()
    state.CopyFrom(everything)
    state.phase = MOMISTIGRI_PHASE_HAND_OUT
    state.draws_left = 0
    state.receiver = 1
    assert refused(state).field == "discards"


MESSAGES: list[tuple[str, Callable[[MomistigriState], Any], str]] = [
    ("no seats", lambda s: s.ClearField("seats"), "seats"),
    ("six seats", lambda s: [s.seats.add() for _ in range(3)], "seats"),
    ("options", lambda s: s.options.copies.append(1), "options.copies"),
    ("option of a seat", lambda s: s.options.copies.extend([*default_copies()[:44], 10]), "options.copies[44]"),
    ("first seat option", lambda s: setattr(s.options, "first_seat", 3), "options.first_seat"),
    ("no phase", lambda s: s.ClearField("phase"), "phase"),
    ("phase beyond", lambda s: setattr(s, "phase", 13), "phase"),
    ("first seat", lambda s: setattr(s, "round_first_seat", 3), "round_first_seat"),
    ("no first seat", lambda s: s.ClearField("round_first_seat"), "round_first_seat"),
    ("active seat", lambda s: setattr(s, "active_seat", 3), "active_seat"),
    ("round", lambda s: setattr(s, "round", 0), "round"),
    ("round beyond", lambda s: setattr(s, "round", 4), "round"),
    ("turn", lambda s: setattr(s, "turn", 201), "turn"),
    ("no mark", lambda s: s.ClearField("mark"), "mark"),
    ("mark", lambda s: setattr(s, "mark", 5), "mark"),
    ("draws", lambda s: setattr(s, "draws_left", 4), "draws_left"),
    ("effect", lambda s: setattr(s, "pair_value", 4), "pair_value"),
    ("receiver", lambda s: setattr(s, "receiver", 0), "receiver"),
    ("swapped out", lambda s: setattr(s, "swapped_out", 46), "swapped_out"),
    ("card", lambda s: s.seats[1].hand_cards.append(46), "seats[1].hand_cards[2]"),
    ("too many cards", lambda s: s.seats[1].hand_cards.extend([0] * 50), "seats[1].hand_cards"),
    ("pile card", lambda s: s.discards.append(99), "discards[22]"),
    ("too large a pile", lambda s: s.discards.extend([0] * 50), "discards"),
    ("penalties", lambda s: s.seats[2].round_points.append(1), "seats[2].round_points"),
    ("knower", lambda s: s.seats[0].knowledge.add(seat=3), "seats[0].knowledge[0].seat"),
    ("own knowledge", lambda s: s.seats[1].knowledge.add(seat=1), "seats[1].knowledge[0].seat"),
    ("twice", lambda s: [s.seats[1].knowledge.add(seat=0) for _ in "ab"], "seats[1].knowledge[1].seat"),
    ("all twice", lambda s: [s.seats[1].knowledge.add() for _ in "ab"], "seats[1].knowledge[1].seat"),
    ("unheld card", lambda s: s.seats[1].knowledge.add(seat=0, cards=[2]), "seats[1].knowledge[0].cards"),
    ("most ones", lambda s: s.seats[1].knowledge.add(seat=0, most_ones=9), "seats[1].knowledge[0].most_ones"),
]


@pytest.mark.parametrize(("spoil", "field"), [case[1:] for case in MESSAGES], ids=[case[0] for case in MESSAGES])
def test_invalid_messages_are_refused(spoil: Callable[[MomistigriState], Any], field: str) -> None:
    state = state_of(table())
    spoil(state)
    error = refused(state)
    assert (error.reason, error.field) == (Reason.INVALID_STATE, field)


OFF_DECK: list[tuple[str, Callable[[], Position], Callable[[MomistigriState], Any]]] = [
    ("in two hands", lambda: table(), lambda s: s.seats[1].hand_cards.append(s.seats[0].hand_cards[0])),
    ("in a hand and the pile", lambda: table(), lambda s: s.discards.append(s.seats[0].hand_cards[0])),
    ("missing", lambda: table(), lambda s: s.discards.pop()),
    ("not in the deck", lambda: table(), lambda s: s.discards.append(card("1A"))),
    ("in two hands in the deal", lambda: dealing(), lambda s: s.seats[1].hand_cards.append(s.seats[0].hand_cards[0])),
    ("not in the deck in the deal", lambda: dealing(), lambda s: s.seats[0].hand_cards.append(card("1A"))),
    ("in the pile in the deal", lambda: dealing(), lambda s: s.discards.append(card("4E"))),
]


@pytest.mark.parametrize(
    ("position", "spoil"), [case[1:] for case in OFF_DECK], ids=[f"card {case[0]}" for case in OFF_DECK]
)
def test_messages_contain_each_card_of_the_deck_once(
    position: Callable[[], Position], spoil: Callable[[MomistigriState], Any]
) -> None:
    state = state_of(position())
    spoil(state)
    error = refused(state)
    assert (error.reason, error.field) == (Reason.INVALID_STATE, "seats.hand_cards")
    assert "are not the cards of the deck, each once" in error.message


def test_penalties_of_finished_rounds_fit_in_a_byte() -> None:
    state = late_state(["4A", "5A", "6A"], round=2, penalties=[[300, 0, 0]])
    assert refused(state).field == "seats[0].round_points[0]"


def test_the_order_of_the_cards_in_a_message_does_not_matter() -> None:
    state = state_of(table())
    state.seats[0].hand_cards[:] = state.seats[0].hand_cards[::-1]
    state.discards[:] = state.discards[::-1]
    assert read(state) == table()
