"""Tests of the rules in "Actions": the ids, messages and labels of actions."""

import pytest

from chatiere.engine import EngineError, Event, Reason
from chatiere.engine.wire import Reader, fill, written_text
from chatiere.v1.momistigri_pb2 import MomistigriAction, MomistigriEvent

from ..building import label_of, made_event
from .building import CODEC, GAME, Table, card, typed
from .reference import pair_of

pytestmark = pytest.mark.rules("momistigri", "Actions")


def test_there_are_1453_ids() -> None:
    assert GAME.num_distinct_actions == 1453
    kinds = [(kind.name, kind.first_id, kind.last_id) for kind in GAME.description.action_kinds]
    assert kinds == [
        ("discard_pair", 0, 1080),
        ("pass_turn", 1081, 1081),
        ("stop", 1082, 1082),
        ("main", 1083, 1083),
        ("reverse", 1084, 1084),
        ("name_card", 1085, 1130),
        ("give", 1131, 1314),
        ("hand_out", 1315, 1360),
        ("swap_out", 1361, 1406),
        ("swap_in", 1407, 1452),
    ]


def typed_of(table: Table, action: int) -> MomistigriAction:
    message = MomistigriAction()
    fill(message, CODEC.put_action, table.position, action)
    return message


def test_every_id_has_its_typed_action() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B", "6C", "6D")
    for action in range(1453):
        message = typed_of(table, action)
        assert CODEC.read_action(Reader(message), table.position) == action
        if action < 1081:
            assert tuple(message.discard_pair.cards) == pair_of(action)
    assert typed_of(table, 1085) == typed("name_card", card=0)
    assert typed_of(table, 1315 + 7) == typed("hand_out", card=7)
    assert typed_of(table, 1361 + 44) == typed("swap_out", card=44)
    assert typed_of(table, 1407 + 45) == typed("swap_in", card=45)


@pytest.mark.parametrize(
    ("giver", "places", "seat"),
    [(0, 1, 1), (0, 4, 4), (2, 1, 3), (2, 3, 0), (4, 1, 0), (4, 4, 3)],
)
def test_messages_name_the_receiver_and_ids_its_distance(giver: int, places: int, seat: int) -> None:
    table = Table.late("6A", "6B", "6C", "6D", "3A", active=giver)
    assert typed_of(table, 1131 + 46 * (places - 1) + 45) == typed("give", card=45, seat=seat)
    assert table.position.action_label(1131 + 46 * (places - 1) + 45) == f"give the Momistigri to seat {seat}"


def test_a_distance_beyond_the_number_of_seats_is_refused_and_has_no_label() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B").pair("4A 4B")
    for places in (3, 4):
        action = 1131 + 46 * (places - 1) + card("3A")
        for ask in (table.position.action_label, lambda id: typed_of(table, id), table.position.child):
            with pytest.raises(EngineError) as caught:
                ask(action)
            assert caught.value.reason is Reason.ILLEGAL_ACTION
            assert "another player" in caught.value.message


def test_giving_a_card_to_oneself_has_no_id() -> None:
    for table, words in (
        (Table.late("6A", "4A 4B 3A", "6B", active=1), "after a pair of 4"),
        (Table.late("6A", "4A 4B 3A", "6B", active=1).pair("4A 4B"), "another player"),
    ):
        with pytest.raises(EngineError) as caught:
            CODEC.read_action(Reader(typed("give", card=card("3A"), seat=1)), table.position)
        assert caught.value.reason is Reason.ILLEGAL_ACTION
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (MomistigriAction(), ""),
        (typed("discard_pair", cards=[1]), "discard_pair.cards"),
        (typed("discard_pair", cards=[1, 2, 3]), "discard_pair.cards"),
        (typed("discard_pair", cards=[1, 46]), "discard_pair.cards[1]"),
        (typed("name_card", card=46), "name_card.card"),
        (typed("hand_out", card=2**32 - 1), "hand_out.card"),
        (typed("swap_out", card=46), "swap_out.card"),
        (typed("swap_in", card=46), "swap_in.card"),
        (typed("give", card=46, seat=1), "give.card"),
        (typed("give", card=1, seat=3), "give.seat"),
    ],
)
def test_typed_actions_without_an_id_are_refused(message: MomistigriAction, field: str) -> None:
    table = Table.late("4A 4B 3A", "6A", "6B")
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(Reader(message), table.position)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_ACTION, field)


def test_ids_beyond_the_range_have_no_label() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B")
    for action in (-1, 1453):
        for ask in (lambda id: table.position.action_label(id), lambda id: typed_of(table, id)):
            with pytest.raises(EngineError) as caught:
                ask(action)
            assert caught.value.reason is Reason.INVALID_ACTION


def test_the_label_of_main_describes_the_effect() -> None:
    labels = []
    for both in ("1A 1B", "2A 2B", "3A 3B"):
        labels.append(Table.late(f"{both} 4A", "6A", "6B", "6C", "6D").pair(both).legal()[0])
    assert labels == [
        "discard all other 1s",
        "choose the card that the next player must draw",
        "swap a card with the discard pile after the next player's draw",
    ]


def test_labels_of_outcomes_contain_the_seat_or_the_card() -> None:
    position = GAME.new_game(3)
    assert position.outcome_label(2) == "seat 2 begins"
    position.apply(2)
    assert position.outcome_label(card("3A")) == "3A"
    assert position.outcome_label(45) == "the Momistigri"


def label_and_message(event: Event, whole: bool) -> tuple[str, MomistigriEvent]:
    message = MomistigriEvent()
    fill(message, CODEC.put_event, event, whole)
    return written_text(CODEC.put_event_label, event, whole), message


def test_giver_and_receiver_are_public_but_the_card_is_not() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B").pair("4A 4B").give("3A", 2)
    label, message = label_and_message(table.events[0], whole=False)
    assert label == "seat 0 gives a card to seat 2"
    assert (message.seat, message.other_seat, list(message.cards)) == (0, 2, [])
    label, message = label_and_message(table.events[0], whole=True)
    assert label == "seat 0 gives 3A to seat 2"
    assert list(message.cards) == [card("3A")]


@pytest.mark.parametrize(
    ("count", "english", "french"),
    [
        (0, "0 penalty points", "0 point de pénalité"),
        (1, "1 penalty point", "1 point de pénalité"),
        (21, "21 penalty points", "21 points de pénalité"),
    ],
)
def test_the_label_of_penalty_points_is_correct_for_any_number(count: int, english: str, french: str) -> None:
    event = made_event(GAME, "PENALTY_TAKEN", 3, count)
    assert label_of(GAME, event, True) == f"seat 3 takes {english}"
    assert label_of(GAME, event, True, "fr") == f"siège 3 prend {french}"
