"""Labels of events of every kind, including events with hidden values (rules: Public and hidden)."""

from functools import partial

from ..building import made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 3), "seat 3 begins"),
    (happened("ROUND_BEGUN", 1, 2), "round 2 begins: seat 1 leads"),
    (happened("CARD_DEALT", 4, 59, seen_by={4}), "seat 4 is dealt blue 12"),
    (happened("EXTRA_CARD_TURNED", None, 0), "the extra card is grey 1"),
    (happened("CARD_PLAYED", 2, 25), "seat 2 plays red 2"),
    (happened("VOID_SHOWN", 0, 3), "seat 0 has no brown card"),
    (happened("TRICK_RANKED", None, 2, 0, 1), "ranking: seat 2, seat 0, and seat 1"),
    (happened("CARD_TAKEN", 1, 12, 0), "seat 1 takes green 1 into section 1"),
    (happened("CARD_TAKEN", 1, 12, 4), "seat 1 takes green 1 into the zero zone"),
    (happened("CARD_DISCARDED", None, 36), "brown 1 is discarded"),
    (happened("LEADER_CHOSEN", 0), "seat 0 took two cards and leads"),
    (happened("ROUND_SCORED", 2, 3, 17), "round 3: seat 2 scores 17 points"),
    (happened("GAME_ENDED", None), "the game is over"),
)

# The labels for viewers from whom the field HIDDEN_FIELD is hidden.
HIDDEN = ((happened("CARD_DEALT", 4, 59, seen_by={4}), "seat 4 is dealt a card"),)
HIDDEN_FIELD = "cards"
