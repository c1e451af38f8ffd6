"""Labels of events of every kind, including events with hidden values (rules: Public and hidden)."""

from functools import partial

from ..building import made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 2), "seat 2 begins"),
    (happened("ROUND_BEGUN", 0, 2), "round 2 begins: seat 0 plays first"),
    (happened("CARD_DEALT", 1, 45, seen_by={1}), "seat 1 is dealt the Momistigri"),
    (happened("TURN_BEGUN", 1, 0, 1), "seat 1 is to draw 1 card from seat 0"),
    (happened("TURN_BEGUN", 1, 0, 3), "seat 1 is to draw 3 cards from seat 0"),
    (happened("CARD_DRAWN", 1, 0, seen_by={0, 1}), "seat 1 draws 1A from seat 0"),
    (happened("CARD_DRAWN", 0, 0, seen_by={0, 2}), "seat 0 draws 1A from seat 2"),
    (happened("SEAT_LEFT", 3), "seat 3 has no cards left and leaves the round"),
    (happened("CARD_SWAPPED_OUT", 0, 10), "seat 0 discards 2B for a swap"),
    (happened("CARD_SWAPPED_IN", 0, 44), "seat 0 takes 9E from the discard pile"),
    (happened("PAIR_DISCARDED", 2, 3, 12), "seat 2 discards 4A and 4B"),
    (happened("PASSED", 2), "seat 2 passes"),
    (happened("STOPPED", 2), "seat 2 discards no further pair"),
    (happened("CARD_NAMED", 2, 8, seen_by={2}), "seat 2 chooses 9A, which the next player must draw"),
    (happened("ONES_DISCARDED", 1, 0, 9, 18), "seat 1 discards all other 1s: 1A, 1B, and 1C"),
    (happened("ONES_DISCARDED", 1), "seat 1 has no other 1"),
    (happened("DIRECTION_REVERSED", 0), "seat 0 reverses the direction of play"),
    (happened("SWAP_PENDING", 0), "seat 0 will swap a card with the discard pile after the next player's draw"),
    (happened("TWO_PENDING", 4), "the next player must draw two cards from seat 4"),
    (happened("THREE_PENDING", 4), "the next player must draw three cards from seat 4"),
    (happened("CARD_GIVEN", 2, 7, seen_by={0, 2}), "seat 2 gives 8A to seat 0"),
    (happened("CARD_HANDED_OUT", 1, 5, 3), "seat 3 gives 6A from the discard pile to seat 1"),
    (happened("ONE_SEAT_LEFT", None), "the round ends: at most one player still has cards"),
    (happened("ALL_PASSED", None), "the round ends: all remaining players have passed"),
    (happened("TURN_LIMIT_REACHED", None), "the round ends: 200 turns have been played"),
    (happened("HAND_SHOWN", 1, 45, 2, 2), "seat 1 shows the Momistigri, 3A, and 3A"),
    (happened("PENALTY_TAKEN", 3, 21), "seat 3 takes 21 penalty points"),
    (happened("GAME_ENDED", None), "the game is over"),
)

# The labels for viewers from whom the field HIDDEN_FIELD is hidden.
HIDDEN = (
    (happened("CARD_DEALT", 1, 45, seen_by={1}), "seat 1 is dealt a card"),
    (happened("CARD_DRAWN", 1, 0, seen_by={0, 1}), "seat 1 draws a card from seat 0"),
    (happened("CARD_DRAWN", 0, 0, seen_by={0, 2}), "seat 0 draws a card from seat 2"),
    (happened("CARD_NAMED", 2, 8, seen_by={2}), "seat 2 chooses a card, which the next player must draw"),
    (happened("CARD_GIVEN", 2, 7, seen_by={0, 2}), "seat 2 gives a card to seat 0"),
)
HIDDEN_FIELD = "cards"
