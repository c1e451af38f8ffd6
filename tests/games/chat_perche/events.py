"""Labels of events of every kind, including events with hidden values (rules: Public and hidden)."""

from functools import partial

from ..building import made_event
from .building import GAME

happened = partial(made_event, GAME)

LABELS = (
    (happened("FIRST_SEAT_CHOSEN", 1), "seat 1 takes the first turn"),
    (happened("TOKEN_CHOSEN", 0, 4, seen_by={0}), "seat 0 takes a token of solidity 4"),
    (happened("TOKEN_PLACED", 0, 9), "seat 0 puts it next to right branch 5"),
    (happened("DECK_REFILLED", 1), "seat 1 shuffles all cards into a new deck"),
    (happened("CARD_TURNED_UP", 0, 3), "seat 0 turns up: own cat falls"),
    (happened("DOGS_ADVANCED", 1, 1, 3), "the dogs advance 1 step, to space 3"),
    (happened("DOGS_ADVANCED", 1, 2, 10), "the dogs advance 2 steps, to space 10"),
    (happened("CAT_MOVED", 0, 1, 45, 3, 1), "seat 0 moves a black cat from the start to trunk 4 (1 step)"),
    (
        happened("CAT_MOVED", 0, 0, 0, 44, 9),
        "seat 0 moves a ginger cat from trunk 1 to right branch 5, space 4 (9 steps)",
    ),
    (happened("STOPPED", 1), "seat 1 stops"),
    (happened("CAT_FELL", 0, 7), "a ginger cat falls from left branch 1, space 3"),
    (happened("CAT_FELL", 1, 2), "a black cat falls from trunk 3"),
    (happened("BIRD_PLACED", 1, 5), "seat 1 puts a bird on left branch 1, space 1"),
    (happened("NOTHING_POSSIBLE", 0), "seat 0 has no possible action"),
    (happened("BRANCH_BROKE", 1, 0, 3), "left branch 1 (solidity 3) breaks"),
    (happened("BIRD_LEFT", None, 44), "a bird flies away from right branch 5, space 4"),
    (happened("GAME_ENDED", None), "the dogs have arrived: the game is over"),
)

# The labels for viewers from whom the field HIDDEN_FIELD is hidden.
HIDDEN = ((happened("TOKEN_CHOSEN", 0, 4, seen_by={0}), "seat 0 takes a token"),)
HIDDEN_FIELD = "solidity"
