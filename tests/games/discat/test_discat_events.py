"""Rules file: Public and hidden. Events in words."""

from functools import partial

import pytest

from chatiere.engine import Event

from ..building import event_kinds, event_of, label_of, made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 5), "seat 5 begins"),
    (happened("CARD_DEALT", 1, 90, seen_by={1}), "seat 1 is dealt 90"),
    (happened("CARDS_PLAYED", 0, 7), "seat 0 plays 7"),
    (happened("CARDS_PLAYED", 0, 41, 45), "seat 0 plays 41 with 45 on top"),
    (happened("CARDS_PLAYED", 0, 12, 22, 42, 32), "seat 0 plays 12 22 42 with 32 on top"),
    (happened("CARD_TO_BONUS_PILE", 2, 12), "12 goes to the bonus pile of seat 2"),
    (happened("BONUS_CARD_DRAWN", 3, 33, seen_by={3}), "seat 3 draws 33 as a bonus"),
    (happened("TOP_TURNED", 4, 80), "seat 4 turns 80 face down"),
    (happened("HAND_KEPT", 4), "seat 4 passes and keeps its hand"),
    (happened("CARD_EXCHANGED", 1, 9, seen_by={1}), "seat 1 passes and puts 9 under the draw pile"),
    (happened("EXCHANGE_DRAWN", 1, 10, seen_by={1}), "seat 1 draws 10 for it"),
    (happened("CARD_REFILLED", 2, 64, seen_by={2}), "seat 2 refills with 64"),
    (happened("CONSTRAINT_LIFTED", 0), "all others have passed: seat 0 plays without a constraint"),
    (
        happened("LAST_TURNS_BEGUN", 1),
        "seat 1 has no card left and the draw pile is empty: one more turn for the others",
    ),
    (happened("GAME_ENDED", None), "the game is over"),
)

# To those who may not see them whole.
HIDDEN = (
    (happened("CARD_DEALT", 1, 90, seen_by={1}), "seat 1 is dealt a card"),
    (happened("BONUS_CARD_DRAWN", 3, 33, seen_by={3}), "seat 3 draws a card as a bonus"),
    (happened("CARD_EXCHANGED", 1, 9, seen_by={1}), "seat 1 passes and puts a card under the draw pile"),
    (happened("EXCHANGE_DRAWN", 1, 10, seen_by={1}), "seat 1 draws a card for it"),
    (happened("CARD_REFILLED", 2, 64, seen_by={2}), "seat 2 refills with a card"),
)


@pytest.mark.parametrize(("event", "label"), LABELS)
def test_events_in_words(event: Event, label: str) -> None:
    assert label_of(GAME, event, whole=True) == label
    if event.seen_by is None:
        assert label_of(GAME, event, whole=False) == label


def test_every_kind_of_event_is_tested() -> None:
    assert {event.kind for event, _ in LABELS} == event_kinds(GAME)


@pytest.mark.parametrize(("event", "label"), HIDDEN)
def test_what_only_some_seats_see_is_not_told(event: Event, label: str) -> None:
    assert label_of(GAME, event, whole=False) == label
    _, message = event_of(GAME, event, whole=False)
    assert not message.cards
