"""Discat: the numbers and texts of its description, faults and events."""

from types import SimpleNamespace

from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.discat.observation cimport OBSERVATION_SEAT_NUMBERS
from chatiere.engine.games.discat.state cimport (
    BONUS_GROUP,
    FIRST_EXCHANGE_ID,
    KEEP_ID,
    LARGEST_CARD,
    LARGEST_HAND,
    LARGEST_PILE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ACTIONS,
    PHASES,
    PLAY_IDS,
    TOP_SHIFT,
    WINNING_GROUP,
    DiscatEnd,
    DiscatEvent,
    DiscatFault,
)

SIZES = SimpleNamespace(
    cards=LARGEST_CARD,
    seats=MAX_PLAYERS,
    hand=LARGEST_HAND,
    bonus_group=BONUS_GROUP,
    pile=LARGEST_PILE,
    phases=int(PHASES),
    seat_numbers=OBSERVATION_SEAT_NUMBERS,
)
IDS = SimpleNamespace(
    plays=PLAY_IDS,
    plays_a_top=1 << TOP_SHIFT,
    keep=KEEP_ID,
    first_exchange=FIRST_EXCHANGE_ID,
    count=NUM_ACTIONS,
)

RULES = RulesFile("discat.md")
FAULTS = {
    int(DiscatFault.PASSING_NOT_A_CHOICE): RULES.illegal(
        "a hand card respects the constraint, or there is none: passing is not a choice", "A turn: play"
    ),
    int(DiscatFault.MUST_PASS): RULES.illegal(
        "no hand card respects the constraint: only Keep or Exchange is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.CARD_NOT_IN_HAND): RULES.illegal("the hand has no card in that slot", "Actions"),
    int(DiscatFault.NOT_A_GROUP): RULES.illegal(
        "the cards do not all share the tens digit, nor all the units digit", "A turn: play"
    ),
    int(DiscatFault.WRONG_SIDE): RULES.illegal("the top card does not respect the constraint", "A turn: play"),
    int(DiscatFault.FIRST_PLAY_IS_ONE_CARD): RULES.illegal(
        "the first turn of the game is exactly one card", "Components and setup"
    ),
    int(DiscatFault.DRAW_PILE_EMPTY): RULES.illegal(
        "the draw pile is empty: only Keep is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.BAD_PLAYERS): RULES.broken(
        f"Discat is for {MIN_PLAYERS} to {MAX_PLAYERS} players", "hands", "Components and setup"
    ),
    int(DiscatFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
    ),
    int(DiscatFault.BAD_ARROWS): RULES.broken(
        f"an arrow is set for a card above {LARGEST_CARD}", "options.up_arrows", "Arrows"
    ),
    int(DiscatFault.BAD_PHASE): RULES.broken(
        "the phase does not fit the hand of the active seat, the constraint or the draw pile", "phase", "A turn: play"
    ),
    int(DiscatFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat does not follow from the turns so far and the phase", "active_seat", "A turn: play"
    ),
    int(DiscatFault.BAD_LAST_TURNS): RULES.broken(
        "last turns need an empty draw pile and an empty hand of the seat that began them, and go round only once",
        "last_turns",
        "End",
    ),
    int(DiscatFault.BAD_WINNER): RULES.broken(
        f"a play has at most {LARGEST_HAND} cards, and one of {WINNING_GROUP} or more wins and is the last",
        "turns",
        "End",
    ),
    int(DiscatFault.BAD_HAND): RULES.broken(
        f"a hand does not have the number of cards due at this moment, ascending and each from 1 to {LARGEST_CARD}",
        "hands",
    ),
    int(DiscatFault.BAD_REDRAWN): RULES.broken(
        "the redrawn cards are not as many as have left the queue, were drawn before the unknown part of the draw pile "
        "was empty, or are not cards",
        "redrawn",
        "Draw pile",
    ),
    int(DiscatFault.BAD_TURNS): RULES.broken(
        "the turns are not plays each followed by at most players - 1 passes", "turns"
    ),
    int(DiscatFault.BAD_QUEUE): RULES.broken(
        "the queue has more cards than were exchanged, or than the draw pile can have", "queue", "Draw pile"
    ),
    int(DiscatFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "a card in use is missing or in two places, or a card that is not in use is in play", "unknown_cards"
    ),
    int(DiscatFault.NOT_ZERO): RULES.broken("an unused byte is not zero", ""),
    int(DiscatFault.HISTORY_CONTRADICTS_HANDS): RULES.broken(
        "the hidden cards contradict what the turns have shown", "turns", "Public and hidden"
    ),
    int(DiscatFault.TOO_FEW_DEALS): RULES.broken(
        "no placement of the hidden cards that agrees with the turns was found; the state cannot come up in play",
        "turns",
        "Public and hidden",
    ),
}

ENDS = {int(DiscatEnd.GROUP): "group", int(DiscatEnd.LAST_TURNS): "last_turns"}

EVENT_LABELS = {
    int(DiscatEvent.FIRST_SEAT_CHOSEN): "seat {seat} begins",
    int(DiscatEvent.CARD_DEALT): "seat {seat} is dealt {cards}",
    int(DiscatEvent.CARDS_PLAYED): "seat {seat} plays {cards}",
    int(DiscatEvent.CARD_TO_BONUS_PILE): "{cards} goes to the bonus pile of seat {seat}",
    int(DiscatEvent.BONUS_CARD_DRAWN): "seat {seat} draws {cards} as a bonus",
    int(DiscatEvent.TOP_TURNED): "seat {seat} turns {cards} face down",
    int(DiscatEvent.HAND_KEPT): "seat {seat} passes and keeps its hand",
    int(DiscatEvent.CARD_EXCHANGED): "seat {seat} passes and puts {cards} under the draw pile",
    int(DiscatEvent.EXCHANGE_DRAWN): "seat {seat} draws {cards} for it",
    int(DiscatEvent.CARD_REFILLED): "seat {seat} refills with {cards}",
    int(DiscatEvent.CONSTRAINT_LIFTED): "all others have passed: seat {seat} plays without a constraint",
    int(DiscatEvent.LAST_TURNS_BEGUN): (
        "seat {seat} has no card left and the draw pile is empty: one more turn for the others"
    ),
    int(DiscatEvent.GAME_ENDED): "the game is over",
}
