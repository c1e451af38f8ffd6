"""Rules file: Public and hidden. Events in words: every kind, and those that not everybody sees whole."""

from functools import partial

from ..building import made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 2), "seat 2 begins"),
    (happened("CARD_DEALT", 1, 13, seen_by={1}), "seat 1 is dealt carton 13 (walls N, fish)"),
    (happened("START_DRAWN", 0, 78), "seat 0 draws starting carton 78 (walls EW)"),
    (
        happened("START_PLACED", 0, 78, 1, 310),
        "seat 0 places starting carton 78 (walls EW), turned at 310 (column 22, row 12)",
    ),
    (happened("DRAW_CHOSEN", 3), "seat 3 chooses to draw"),
    (happened("CARD_DRAWN", 3, 75, seen_by={3}), "seat 3 draws Princess"),
    (happened("TOY_DRAWN", 3, 73), "seat 3 draws toy card (2 balls)"),
    (happened("CARTON_PLACED", 1, 13, 0, 300), "seat 1 places carton 13 (walls N, fish) at 300 (column 12, row 12)"),
    (
        happened("CARTON_PLACED", 1, 13, 1, 23),
        "seat 1 places carton 13 (walls S, fish), turned at 23 (column 23, row 0)",
    ),
    (happened("CAT_ASLEEP", 0, 0), "seat 0 lays a sleeping cat at 0 (column 0, row 0)"),
    (happened("CAT_AWAKE", 4, 575), "seat 4 lays a cat on the joint at 575 (column 23, row 23)"),
    (happened("CATS_WOKEN", 2, 48), "the cat of seat 2 that sleeps at 48 (column 0, row 2) wakes"),
    (
        happened("CATS_WOKEN", 2, 48, 71),
        "the cats of seat 2 that sleep at 48 (column 0, row 2) and 71 (column 23, row 2) wake",
    ),
    (happened("NO_CAT_FOLLOWED", 4), "seat 4 lays no cat beside it"),
    (
        happened("PRINCESS_ON_JOINT", 1, 299, 0),
        "the Princess of seat 1 takes the place of the cat of seat 0 on the joint at 299 (column 11, row 12)",
    ),
    (
        happened("PRINCESS_IN_CELL", 2, 47, 3),
        "the Princess of seat 2 takes the place of the cat of seat 3 at 47 (column 23, row 1)",
    ),
    (happened("TOY_ON_JOINT", 3, 72, 48), "seat 3 lays the toy card (2 mice) on the joint at 48 (column 0, row 2)"),
    (
        happened("TOY_AS_CARTON", 3, 74, 24),
        "seat 3 lays the toy card (2 fish treats) as a carton at 24 (column 0, row 1)",
    ),
    (happened("PASSED", 1), "seat 1 has nothing to play and passes"),
    (happened("FINAL_PHASE_BEGUN", None), "the final phase begins"),
    (happened("GAME_ENDED", None), "the game is over"),
)

# As told to those who may not see the whole event, without the field HIDDEN_FIELD.
HIDDEN = (
    (happened("CARD_DEALT", 1, 13, seen_by={1}), "seat 1 is dealt a card"),
    (happened("CARD_DRAWN", 3, 75, seen_by={3}), "seat 3 draws a card"),
)
HIDDEN_FIELD = "cards"
