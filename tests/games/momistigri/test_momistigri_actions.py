"""Rules file: Actions, with their messages and labels."""

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
def test_messages_name_the_receiver_and_ids_count_the_places_to_it(giver: int, places: int, seat: int) -> None:
    table = Table.late("6A", "6B", "6C", "6D", "3A", active=giver)
    assert typed_of(table, 1131 + 46 * (places - 1) + 45) == typed("give", card=45, seat=seat)
    assert table.position.action_label(1131 + 46 * (places - 1) + 45) == f"give Momistigri to seat {seat}"


def test_a_receiver_at_more_places_than_there_are_seats_has_no_words_and_is_refused() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B").pair("4A 4B")
    for places in (3, 4):
        action = 1131 + 46 * (places - 1) + card("3A")
        for ask in (table.position.action_label, lambda id: typed_of(table, id), table.position.child):
            with pytest.raises(EngineError) as caught:
                ask(action)
            assert caught.value.reason is Reason.ILLEGAL_ACTION
            assert "another seat" in caught.value.message


def test_a_card_given_to_the_own_seat_has_no_id() -> None:
    for table, words in (
        (Table.late("6A", "4A 4B 3A", "6B", active=1), "after a pair of 4"),
        (Table.late("6A", "4A 4B 3A", "6B", active=1).pair("4A 4B"), "another seat"),
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
def test_typed_actions_that_have_no_id_are_refused(message: MomistigriAction, field: str) -> None:
    table = Table.late("4A 4B 3A", "6A", "6B")
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(Reader(message), table.position)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_ACTION, field)


def test_ids_beyond_the_range_have_no_words() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B")
    for action in (-1, 1453):
        for ask in (lambda id: table.position.action_label(id), lambda id: typed_of(table, id)):
            with pytest.raises(EngineError) as caught:
                ask(action)
            assert caught.value.reason is Reason.INVALID_ACTION


def test_unknown_options_are_refused() -> None:
    with pytest.raises(EngineError) as caught:
        GAME.new_game(3, {"colours": 5})
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "colours")


def test_main_says_what_it_does() -> None:
    labels = []
    for both in ("1A 1B", "2A 2B", "3A 3B"):
        labels.append(Table.late(f"{both} 4A", "6A", "6B", "6C", "6D").pair(both).legal()[0])
    assert labels == [
        "discard all other 1s",
        "name the card that the next seat must draw",
        "swap a card after the next seat's draw",
    ]


def test_outcomes_in_words() -> None:
    position = GAME.new_game(3)
    assert position.outcome_label(2) == "seat 2 begins"
    position.apply(2)
    assert position.outcome_label(card("3A")) == "card 3A"
    assert position.outcome_label(45) == "card Momistigri"


def label_and_message(event: Event, whole: bool) -> tuple[str, MomistigriEvent]:
    message = MomistigriEvent()
    fill(message, CODEC.put_event, event, whole)
    return written_text(CODEC.put_event_label, event, whole), message


def test_who_takes_a_card_from_whom_is_public_and_the_card_is_not() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B").pair("4A 4B").give("3A", 2)
    label, message = label_and_message(table.events[0], whole=False)
    assert label == "seat 0 gives a card to seat 2"
    assert (message.seat, message.other_seat, list(message.cards)) == (0, 2, [])
    label, message = label_and_message(table.events[0], whole=True)
    assert label == "seat 0 gives 3A to seat 2"
    assert list(message.cards) == [card("3A")]


def labels(table: Table) -> list[str]:
    return [label_and_message(event, True)[0] for event in table.events]


def test_events_in_words() -> None:
    assert labels(Table.late("2A 2B 3A M", "6A", "6B", "6C").pair("2A 2B").main().name("M")) == [
        "seat 0 names Momistigri, which the next seat must draw",
        "seat 1 is to draw 1 card from seat 0",
        "seat 1 draws Momistigri from seat 0",
    ]
    assert labels(Table.late("7A 7B 3A 4A", "6A", "6B").pair("7A 7B")) == [
        "seat 0 discards 7A and 7B",
        "the next seat must draw two cards from seat 0",
        "seat 1 is to draw 2 cards from seat 0",
    ]
    assert labels(Table.late("1A 1B 4A", "6A", "6B", "6C", "6D").pair("1A 1B").main())[0] == "seat 0 has no other 1"
    assert labels(Table.late("1A 1B 1C 4A", "6A", "6B", "6C", "6D").pair("1A 1B").main())[0] == (
        "seat 0 discards all other 1s: 1C"
    )
    assert labels(Table.late("5A 5B 4A", "6A", "6B").pair("5A 5B").hand_out("8C")) == ["seat 0 hands 8C out to seat 1"]
    assert labels(Table.late("4A", "5A", "", passed=(1,)).pass_turn()) == [
        "seat 0 passes",
        "the round ends: all seats still in it have passed",
        "seat 0 shows 4A",
        "penalty points of seat 0: 4",
        "seat 1 shows 5A",
        "penalty points of seat 1: 5",
        "penalty points of seat 2: 0",
        "round 2 begins with seat 1",
    ]


@pytest.mark.parametrize("count", [0, 1, 21])
def test_penalty_points_are_told_in_words_that_agree_with_any_number(count: int) -> None:
    event = made_event(GAME, "PENALTY_TAKEN", 3, count)
    assert label_of(GAME, event, True) == f"penalty points of seat 3: {count}"
    assert label_of(GAME, event, True, "fr") == f"points de pénalité pour le joueur 3\u202f: {count}"
