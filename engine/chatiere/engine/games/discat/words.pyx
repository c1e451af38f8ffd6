"""Discat: the numbers and texts of its description, faults and events."""

from types import SimpleNamespace

from chatiere.engine.core.description import Name, Piece
from chatiere.engine.core.phrases import Phrases
from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.discat.observation cimport OBSERVATION_SEAT_NUMBERS, TURNS_BIT
from chatiere.engine.games.discat.state cimport (
    BONUS_GROUP,
    FIRST_EXCHANGE_ID,
    KEEP_ID,
    MAX_CARD,
    MAX_HAND,
    MAX_PILE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ACTIONS,
    PHASES,
    PLAY_IDS,
    REDRAWN_KEPT,
    TOP_SHIFT,
    WINNING_GROUP,
    DiscatEnd,
    DiscatEvent,
    DiscatFault,
)

SIZES = SimpleNamespace(
    cards=MAX_CARD,
    seats=MAX_PLAYERS,
    hand=MAX_HAND,
    bonus_group=BONUS_GROUP,
    pile=MAX_PILE,
    redrawn=REDRAWN_KEPT,
    turns_bit=TURNS_BIT,
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
        "passing_not_a_choice",
        "a hand card respects the constraint, or there is none: passing is not a choice",
        "A turn: play",
    ),
    int(DiscatFault.MUST_PASS): RULES.illegal(
        "must_pass",
        "no hand card respects the constraint: only Keep or Exchange is possible",
        "Cannot respect the constraint",
    ),
    int(DiscatFault.CARD_NOT_IN_HAND): RULES.illegal(
        "card_not_in_hand", "the hand has no card in that slot", "Actions", "card"
    ),
    int(DiscatFault.NOT_A_GROUP): RULES.illegal(
        "not_a_group", "the cards do not all share the tens digit, nor all the units digit", "A turn: play", "cards"
    ),
    int(DiscatFault.WRONG_SIDE): RULES.illegal(
        "wrong_side", "the top card does not respect the constraint", "A turn: play", "cards"
    ),
    int(DiscatFault.FIRST_PLAY_IS_ONE_CARD): RULES.illegal(
        "first_play_is_one_card", "the first turn of the game is exactly one card", "Components and setup", "cards"
    ),
    int(DiscatFault.DRAW_PILE_EMPTY): RULES.illegal(
        "draw_pile_empty", "the draw pile is empty: only Keep is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.BAD_PLAYERS): RULES.broken(
        "bad_players", f"Discat is for {MIN_PLAYERS} to {MAX_PLAYERS} players", "seats", "Components and setup"
    ),
    int(DiscatFault.BAD_FIRST_SEAT): RULES.broken(
        "bad_first_seat",
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
    ),
    int(DiscatFault.BAD_ARROWS): RULES.broken(
        "bad_arrows", f"an arrow is set for a card above {MAX_CARD}", "options.up_arrows", "Arrows"
    ),
    int(DiscatFault.BAD_PHASE): RULES.broken(
        "bad_phase",
        "the phase does not fit the hand of the active seat, the constraint or the draw pile",
        "phase",
        "A turn: play",
    ),
    int(DiscatFault.BAD_ACTIVE_SEAT): RULES.broken(
        "bad_active_seat",
        "the active seat does not follow from the turns so far and the phase",
        "active_seat",
        "A turn: play",
    ),
    int(DiscatFault.BAD_LAST_TURNS): RULES.broken(
        "bad_last_turns",
        "last turns need an empty draw pile and an empty hand of the seat that began them, and go round only once",
        "last_turns_left",
        "End",
    ),
    int(DiscatFault.BAD_WINNER): RULES.broken(
        "bad_winner",
        f"a play has at most {MAX_HAND} cards, and one of {WINNING_GROUP} or more wins and is the last",
        "turns",
        "End",
    ),
    int(DiscatFault.BAD_HAND): RULES.broken(
        "bad_hand",
        f"a hand does not have the number of cards due at this moment, ascending and each from 1 to {MAX_CARD}",
        "seats.hand_cards",
    ),
    int(DiscatFault.BAD_REDRAWN): RULES.broken(
        "bad_redrawn",
        "the redrawn cards are not as many as have left the queue, were drawn before the unknown part of the draw pile "
        "was empty, or are not cards",
        "redrawn_cards",
        "Draw pile",
    ),
    int(DiscatFault.BAD_TURNS): RULES.broken(
        "bad_turns", "the turns are not plays each followed by at most players - 1 passes", "turns"
    ),
    int(DiscatFault.BAD_QUEUE): RULES.broken(
        "bad_queue",
        "the queue has more cards than were exchanged, or than the draw pile can have",
        "queue_cards",
        "Draw pile",
    ),
    int(DiscatFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "card_twice_or_missing",
        "a card in use is missing or in two places, or a card that is not in use is in play",
        "draw_pile_cards",
    ),
    int(DiscatFault.NOT_ZERO): RULES.broken("not_zero", "an unused byte is not zero", ""),
    int(DiscatFault.HISTORY_CONTRADICTS_HANDS): RULES.broken(
        "history_contradicts_hands",
        "the hidden cards contradict what the turns have shown",
        "turns",
        "Public and hidden",
    ),
    int(DiscatFault.TOO_FEW_DEALS): RULES.broken(
        "too_few_deals",
        "no placement of the hidden cards that agrees with the turns was found; the state cannot come up in play",
        "turns",
        "Public and hidden",
    ),
}

ENDS = {int(DiscatEnd.GROUP): "group", int(DiscatEnd.LAST_TURNS): "last_turns"}

PIECES = tuple(Piece(card, Name("{number}", number=card)) for card in range(1, MAX_CARD + 1))

PHRASES = Phrases(
    __package__,
    {
        "action.play": "play {card}",
        "action.play_group": "play {cards} with {top} on top",
        "action.keep": "keep the hand",
        "action.exchange": "put {card} under the draw pile and draw",
        "outcome.first_seat": "{seat} begins",
        "outcome.card": "card {card}",
        "prompt.first_play": "play one card, any of the hand",
        "prompt.play_any": "play any card, or a group that shares its tens or its units",
        "prompt.play_higher": "play a card higher than {card}, or a group with such a card on top",
        "prompt.play_lower": "play a card lower than {card}, or a group with such a card on top",
        "prompt.pass_higher": "no card in hand is higher than {card}: keep the hand, or choose a card to exchange",
        "prompt.pass_lower": "no card in hand is lower than {card}: keep the hand, or choose a card to exchange",
        "prompt.keep_higher": "no card in hand is higher than {card}, and the draw pile is empty: keep the hand",
        "prompt.keep_lower": "no card in hand is lower than {card}, and the draw pile is empty: keep the hand",
        "event.cards_played_group": "{seat} plays {cards} with {top} on top",
    },
    {
        int(DiscatEvent.FIRST_SEAT_CHOSEN): ("first_seat_chosen", "{seat} begins"),
        int(DiscatEvent.CARD_DEALT): ("card_dealt", "{seat} is dealt {card}", "{seat} is dealt a card"),
        int(DiscatEvent.CARDS_PLAYED): ("cards_played", "{seat} plays {card}"),
        int(DiscatEvent.CARD_TO_BONUS_PILE): ("card_to_bonus_pile", "{card} goes to the bonus pile of {seat}"),
        int(DiscatEvent.BONUS_CARD_DRAWN): (
            "bonus_card_drawn", "{seat} draws {card} as a bonus", "{seat} draws a card as a bonus"
        ),
        int(DiscatEvent.TOP_TURNED): ("top_turned", "{seat} turns {card} face down"),
        int(DiscatEvent.HAND_KEPT): ("hand_kept", "{seat} passes and keeps the hand"),
        int(DiscatEvent.CARD_EXCHANGED): (
            "card_exchanged",
            "{seat} passes and puts {card} under the draw pile",
            "{seat} passes and puts a card under the draw pile",
        ),
        int(DiscatEvent.EXCHANGE_DRAWN): (
            "exchange_drawn", "{seat} draws {card} for it", "{seat} draws a card for it"
        ),
        int(DiscatEvent.CARD_REFILLED): (
            "card_refilled", "{seat} refills with {card}", "{seat} refills with a card"
        ),
        int(DiscatEvent.CONSTRAINT_LIFTED): (
            "constraint_lifted", "all others have passed: {seat} plays without a constraint"
        ),
        int(DiscatEvent.LAST_TURNS_BEGUN): (
            "last_turns_begun",
            "{seat} has no card left and the draw pile is empty: one more turn for the others",
        ),
        int(DiscatEvent.GAME_ENDED): ("game_ended", "the game is over"),
    },
    (
        ("group", "{seat} has played a group of five or more cards and wins at once"),
        ("last_turns", "the last turns are over, which began when {seat} had no card left"),
    ),
    FAULTS.values(),
    {"seat": "seat", "card": "card", "cards": "card", "top": "card"},
    PIECES,
)
