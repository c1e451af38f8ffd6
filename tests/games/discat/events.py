"""Labels of events of every kind, including events with hidden values (rules: Public and hidden)."""

from functools import partial

from ..building import made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 5), "seat 5 begins"),
    (happened("CARD_DEALT", 1, 90, seen_by={1}), "seat 1 is dealt 90"),
    (happened("CARDS_PLAYED", 0, 7), "seat 0 plays 7"),
    (happened("CARDS_PLAYED", 0, 41, 45), "seat 0 plays 41 with 45 on top"),
    (happened("CARDS_PLAYED", 0, 12, 22, 42, 32), "seat 0 plays 12, 22, and 42 with 32 on top"),
    (happened("CARD_TO_BONUS_PILE", 2, 12), "12 goes to seat 2's bonus pile"),
    (happened("BONUS_CARD_DRAWN", 3, 33, seen_by={3}), "seat 3 draws 33 as a bonus"),
    (happened("TOP_TURNED", 4, 80), "seat 4 turns 80 face down"),
    (happened("HAND_KEPT", 4), "seat 4 passes and keeps the hand"),
    (happened("CARD_EXCHANGED", 1, 9, seen_by={1}), "seat 1 passes and puts 9 under the draw pile"),
    (happened("EXCHANGE_DRAWN", 1, 10, seen_by={1}), "seat 1 draws 10 in exchange"),
    (happened("CARD_REFILLED", 2, 64, seen_by={2}), "seat 2 refills the hand with 64"),
    (happened("CONSTRAINT_LIFTED", 0), "all others have passed: seat 0 plays without a constraint"),
    (
        happened("LAST_TURNS_BEGUN", 1),
        "seat 1 has no cards left and the draw pile is empty: the others have one more turn each",
    ),
    (happened("GAME_ENDED", None), "the game is over"),
)

# The labels for viewers from whom the field HIDDEN_FIELD is hidden.
HIDDEN = (
    (happened("CARD_DEALT", 1, 90, seen_by={1}), "seat 1 is dealt a card"),
    (happened("BONUS_CARD_DRAWN", 3, 33, seen_by={3}), "seat 3 draws a card as a bonus"),
    (happened("CARD_EXCHANGED", 1, 9, seen_by={1}), "seat 1 passes and puts a card under the draw pile"),
    (happened("EXCHANGE_DRAWN", 1, 10, seen_by={1}), "seat 1 draws a card in exchange"),
    (happened("CARD_REFILLED", 2, 64, seen_by={2}), "seat 2 refills the hand with a card"),
)
HIDDEN_FIELD = "cards"
