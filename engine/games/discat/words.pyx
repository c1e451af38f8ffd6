"""Discat: the words for cards, events and faults."""

from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.discat.state cimport DiscatEvent, DiscatFault

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
    int(DiscatFault.BAD_PLAYERS): RULES.broken("Discat is for 2 to 6 players", "hands", "Components and setup"),
    int(DiscatFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it", "first_seat"
    ),
    int(DiscatFault.BAD_ARROWS): RULES.broken("an arrow is set for a card above 90", "options.up_arrows", "Arrows"),
    int(DiscatFault.BAD_PHASE): RULES.broken(
        "the phase does not fit the hand of the active seat, the constraint or the draw pile", "phase", "A turn: play"
    ),
    int(DiscatFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat does not follow from the turns so far and the phase", "active_seat", "A turn: play"
    ),
    int(DiscatFault.BAD_LAST_TURNS): RULES.broken(
        "last turns go with an empty draw pile and an empty hand of the seat that began them, and only once round",
        "last_turns",
        "End",
    ),
    int(DiscatFault.BAD_WINNER): RULES.broken(
        "a play has at most six cards, and one of five or six is the last and wins", "turns", "End"
    ),
    int(DiscatFault.BAD_HAND): RULES.broken(
        "a hand does not have as many cards as it may have at this moment, ascending and each from 1 to 90", "hands"
    ),
    int(DiscatFault.BAD_REDRAWN): RULES.broken(
        "the cards drawn from the queue are not as many as were put under the draw pile and lie there no more, or were "
        "drawn before the unknown part of the pile was empty, or are no cards",
        "redrawn",
        "Draw pile",
    ),
    int(DiscatFault.BAD_TURNS): RULES.broken(
        "the turns are not plays each followed by at most players - 1 passes", "turns"
    ),
    int(DiscatFault.BAD_QUEUE): RULES.broken(
        "the queue under the draw pile has more cards than were exchanged, or than the pile ever has", "queue", "Draw pile"
    ),
    int(DiscatFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "a card in use is in no place or in two, or a card that is not in use is in play", "unknown_cards"
    ),
    int(DiscatFault.NOT_ZERO): RULES.broken("a byte that means nothing here is not zero", ""),
    int(DiscatFault.HISTORY_CONTRADICTS_HANDS): RULES.broken(
        "what the turns have shown and the hidden cards contradict each other", "turns", "Public and hidden"
    ),
    int(DiscatFault.TOO_FEW_DEALS): RULES.broken(
        "the turns have shown so much that no placement of the hidden cards has been found; play does not lead there",
        "turns",
        "Public and hidden",
    ),
}

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
    int(DiscatEvent.LAST_TURNS_BEGUN): "seat {seat} has no card left and the draw pile is empty: one more turn for the others",
    int(DiscatEvent.GAME_ENDED): "the game is over",
}
