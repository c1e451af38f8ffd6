"""Labels of events of every kind, including events with hidden values (rules: Public and hidden)."""

from functools import partial

from ..building import made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 2), "seat 2 begins"),
    (happened("CARD_DEALT", 1, 13, seen_by={1}), "seat 1 is dealt carton 13 (wall N, fish)"),
    (happened("START_DRAWN", 0, 78), "seat 0 draws starting carton 78 (walls EW)"),
    (
        happened("START_PLACED", 0, 78, 1, 310),
        "seat 0 places starting carton 78 turned (walls EW) at column 23, row 13",
    ),
    (happened("DRAW_CHOSEN", 3), "seat 3 chooses to draw"),
    (happened("CARD_DRAWN", 3, 75, seen_by={3}), "seat 3 draws the Princess"),
    (happened("TOY_DRAWN", 3, 73), "seat 3 draws the toy card (2 balls)"),
    (happened("CARTON_PLACED", 1, 13, 0, 300), "seat 1 places carton 13 (wall N, fish) at column 13, row 13"),
    (
        happened("CARTON_PLACED", 1, 13, 1, 23),
        "seat 1 places carton 13 turned (wall S, fish) at column 24, row 1",
    ),
    (happened("CAT_ASLEEP", 0, 0), "seat 0 lays a sleeping cat at column 1, row 1"),
    (happened("CAT_AWAKE", 4, 575), "seat 4 lays a cat on the joint to the right of column 24, row 24"),
    (happened("CATS_WOKEN", 2, 48), "seat 2's cat asleep at column 1, row 3 wakes up"),
    (
        happened("CATS_WOKEN", 2, 48, 71),
        "seat 2's cats asleep at column 1, row 3 and column 24, row 3 wake up",
    ),
    (happened("NO_CAT_FOLLOWED", 4), "seat 4 lays no cat"),
    (
        happened("PRINCESS_ON_JOINT", 1, 299, 0),
        "seat 1 replaces seat 0's cat on the joint to the right of column 12, row 13 with the Princess",
    ),
    (
        happened("PRINCESS_IN_CELL", 2, 47, 3),
        "seat 2 replaces seat 3's cat at column 24, row 2 with the Princess",
    ),
    (
        happened("TOY_ON_JOINT", 3, 72, 48),
        "seat 3 lays the toy card (2 mice) on the joint to the right of column 1, row 3",
    ),
    (
        happened("TOY_AS_CARTON", 3, 74, 24),
        "seat 3 lays the toy card (2 fish treats) as a carton at column 1, row 2",
    ),
    (happened("PASSED", 1), "seat 1 cannot play anything and passes"),
    (happened("FINAL_PHASE_BEGUN", None), "the final phase begins"),
    (happened("GAME_ENDED", None), "the game is over"),
)

# The labels for viewers from whom the field HIDDEN_FIELD is hidden.
HIDDEN = (
    (happened("CARD_DEALT", 1, 13, seen_by={1}), "seat 1 is dealt a card"),
    (happened("CARD_DRAWN", 3, 75, seen_by={3}), "seat 3 draws a card"),
)
HIDDEN_FIELD = "cards"
