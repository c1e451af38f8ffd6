"""Chatpentiers: the words for cards, events and faults."""

from types import SimpleNamespace

from chatiere.engine.core.description import Name, Piece
from chatiere.engine.core.phrases import Phrases
from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.chatpentiers.observation cimport OBSERVATION_SEAT_NUMBERS
from chatiere.engine.games.chatpentiers.state cimport (
    CARDS,
    COLOURS,
    FIRST_TAKE_ID,
    MAX_HAND,
    MAX_LIMIT,
    MAX_PLAYERS,
    MIN_PLAYERS,
    MAX_POINTS,
    MAX_TAKEN,
    NUM_ACTIONS,
    PHASES,
    ROUNDS,
    SECTIONS,
    VALUES,
    ZERO_ZONE,
    ZONES,
    ChatpentiersEnd,
    ChatpentiersEvent,
    ChatpentiersFault,
)

# The kernel's numbers, for text.py.
SIZES = SimpleNamespace(
    cards=CARDS,
    colours=COLOURS,
    max_hand=MAX_HAND,
    max_limit=MAX_LIMIT,
    max_points=MAX_POINTS,
    max_taken=MAX_TAKEN,
    phases=PHASES,
    rounds=ROUNDS,
    seat_numbers=OBSERVATION_SEAT_NUMBERS,
    seats=MAX_PLAYERS,
    sections=SECTIONS,
    values=VALUES,
    zero_zone=ZERO_ZONE,
    zones=ZONES,
)
IDS = SimpleNamespace(first_take=FIRST_TAKE_ID, end=NUM_ACTIONS)

RULES = RulesFile("chatpentiers.md")
COLOURS_IN_WORDS = tuple(Name(colour) for colour in ("grey", "green", "red", "brown", "blue"))

FAULTS = {
    int(ChatpentiersFault.TAKING_NOT_A_CHOICE): RULES.illegal(
        "taking_not_a_choice",
        "the seat must play a card from its hand; cards are taken when all have played",
        "A trick",
    ),
    int(ChatpentiersFault.PLAYING_NOT_A_CHOICE): RULES.illegal(
        "playing_not_a_choice", "all have played: the seat must take a card from the table", "A trick"
    ),
    int(ChatpentiersFault.CARD_NOT_IN_HAND): RULES.illegal(
        "card_not_in_hand", "the hand does not hold that card", "Actions", "card"
    ),
    int(ChatpentiersFault.MUST_FOLLOW): RULES.illegal(
        "must_follow", "the hand holds a card of the led colour and must follow", "A trick", "card"
    ),
    int(ChatpentiersFault.CARD_NOT_ON_TABLE): RULES.illegal(
        "card_not_on_table", "that card does not lie on the table", "Actions", "card"
    ),
    int(ChatpentiersFault.NO_ZERO_ZONE): RULES.illegal(
        "no_zero_zone", "with 3 players boards have no zero zone", "A trick", "zone"
    ),
    int(ChatpentiersFault.COLOUR_LIES_ELSEWHERE): RULES.illegal(
        "colour_lies_elsewhere", "the colour already lies under the board: the card goes to its zone", "A trick", "zone"
    ),
    int(ChatpentiersFault.ZONE_HOLDS_ANOTHER_COLOUR): RULES.illegal(
        "zone_holds_another_colour", "the zone holds another colour", "A trick", "zone"
    ),
    int(ChatpentiersFault.BAD_PLAYERS): RULES.broken(
        "bad_players", f"Chatpentiers is for {MIN_PLAYERS} to {MAX_PLAYERS} players", "seats", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_PHASE): RULES.broken(
        "bad_phase", "an extra card is turned up with 3 players only", "phase", "A trick"
    ),
    int(ChatpentiersFault.BAD_FIRST_SEAT): RULES.broken(
        "bad_first_seat",
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_LIMITS): RULES.broken(
        "bad_limits",
        f"the limit of a section is from 1 to {MAX_LIMIT}",
        "options.section_limits",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_REMOVED_COLOUR): RULES.broken(
        "bad_removed_colour",
        "with 3 players one of the five colours is left out, else none",
        "options.removed_colour",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_ROUND): RULES.broken(
        "bad_round",
        f"the round must be from 1 to {ROUNDS}: the first before anybody has begun, the last when the game is over",
        "round",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_LEADER): RULES.broken(
        "bad_leader",
        "the leader is not a seat, or not the round's first seat in the deal or the first trick",
        "leader",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_ACTIVE_SEAT): RULES.broken(
        "bad_active_seat",
        "the active seat does not follow from the leader, the cards played and taken, and their rank",
        "active_seat",
        "A trick",
    ),
    int(ChatpentiersFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "card_twice_or_missing",
        "a card of the round is in no place or in two, or a card that is left out is in play",
        "draw_pile_cards",
    ),
    int(ChatpentiersFault.BAD_HAND): RULES.broken(
        "bad_hand",
        "a hand does not have as many cards as it must have at this moment",
        "seats.hand_cards",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_EXTRA): RULES.broken(
        "bad_extra",
        "with 3 players, and with them only, an extra card lies open while cards are played and taken",
        "extra_card",
        "A trick",
    ),
    int(ChatpentiersFault.BAD_PLAYS): RULES.broken(
        "bad_plays",
        "the cards played to the trick are not different cards, as many as the phase says",
        "plays",
        "A trick",
    ),
    int(ChatpentiersFault.BAD_TABLE): RULES.broken(
        "bad_table",
        "the trick's cards are not on the table, nor under the boards of those whose turn it was to take",
        "plays",
        "A trick",
    ),
    int(ChatpentiersFault.BAD_DISCARDS): RULES.broken(
        "bad_discards", "every finished trick leaves one card", "discards"
    ),
    int(ChatpentiersFault.BAD_BOARDS): RULES.broken(
        "bad_boards",
        "the cards under the boards are not those taken in the tricks so far: 3 a trick, with 5 players 4",
        "seats.zones",
    ),
    int(ChatpentiersFault.BAD_ZONES): RULES.broken(
        "bad_zones", "a colour lies in one zone of a board, and a zone holds one colour", "seats.zones"
    ),
    int(ChatpentiersFault.BAD_VOIDS): RULES.broken(
        "bad_voids",
        "a colour that a seat has shown not to hold is in its hand, was not led, or is missing",
        "seats.shown_voids",
        "Public and hidden",
    ),
    int(ChatpentiersFault.BAD_POINTS): RULES.broken(
        "bad_points",
        "there are points of a round that is not finished, or more than a board can give",
        "seats.round_points",
        "Score of a round, a seat",
    ),
    int(ChatpentiersFault.NOT_ZERO): RULES.broken("not_zero", "an unused byte is not zero", ""),
}

ENDS = {int(ChatpentiersEnd.THREE_ROUNDS): "three_rounds"}

# By kind: the fields of the event that its values are, in order. A ranking is all of them.
EVENT_VALUES = {
    int(ChatpentiersEvent.FIRST_SEAT_CHOSEN): (),
    int(ChatpentiersEvent.ROUND_BEGUN): ("round",),
    int(ChatpentiersEvent.CARD_DEALT): ("card",),
    int(ChatpentiersEvent.EXTRA_CARD_TURNED): ("card",),
    int(ChatpentiersEvent.CARD_PLAYED): ("card",),
    int(ChatpentiersEvent.VOID_SHOWN): ("colour",),
    int(ChatpentiersEvent.TRICK_RANKED): ("ranking",),
    int(ChatpentiersEvent.CARD_TAKEN): ("card", "zone"),
    int(ChatpentiersEvent.CARD_DISCARDED): ("card",),
    int(ChatpentiersEvent.LEADER_CHOSEN): (),
    int(ChatpentiersEvent.ROUND_SCORED): ("round", "points"),
    int(ChatpentiersEvent.GAME_ENDED): (),
}


PIECES = (
    *(
        Piece(card, Name("{colour} {value}", colour=COLOURS_IN_WORDS[card // VALUES], value=card % VALUES + 1))
        for card in range(CARDS)
    ),
    *(Piece(colour, COLOURS_IN_WORDS[colour], "colour") for colour in range(COLOURS)),
    *(Piece(section, Name("section {number}", number=section), "zone") for section in range(SECTIONS)),
    Piece(ZERO_ZONE, Name("zero zone"), "zone"),
)

PHRASES = Phrases(
    __package__,
    {
        "action.play_card": "play {card}",
        "action.take_card": "take {card} into {zone} (limit {limit})",
        "action.take_card_zero": "take {card} into the {zone}",
        "outcome.first_seat": "{seat} begins",
        "outcome.card": "{card}",
        "prompt.lead": "lead a card to the trick",
        "prompt.follow": "play a card: {colour} was led, and has to be followed if possible",
        "prompt.take": "take a card of the trick, and choose where in the castle it goes",
        "prompt.take_two": "take two cards of the trick, one after the other, and choose where in the castle they go",
        "event.card_taken_zero": "{seat} takes {card} into the {zone}",
    },
    {
        int(ChatpentiersEvent.FIRST_SEAT_CHOSEN): ("first_seat_chosen", "{seat} begins"),
        int(ChatpentiersEvent.ROUND_BEGUN): ("round_begun", "round {round} begins, {seat} will lead"),
        int(ChatpentiersEvent.CARD_DEALT): ("card_dealt", "{seat} is dealt {card}", "{seat} is dealt a card"),
        int(ChatpentiersEvent.EXTRA_CARD_TURNED): ("extra_card_turned", "the extra card is {card}"),
        int(ChatpentiersEvent.CARD_PLAYED): ("card_played", "{seat} plays {card}"),
        int(ChatpentiersEvent.VOID_SHOWN): ("void_shown", "{seat} holds no {colour} card"),
        int(ChatpentiersEvent.TRICK_RANKED): ("trick_ranked", "rank: {ranking}"),
        int(ChatpentiersEvent.CARD_TAKEN): ("card_taken", "{seat} takes {card} into {zone}"),
        int(ChatpentiersEvent.CARD_DISCARDED): ("card_discarded", "{card} is discarded"),
        int(ChatpentiersEvent.LEADER_CHOSEN): ("leader_chosen", "{seat} took two cards and leads"),
        int(ChatpentiersEvent.ROUND_SCORED): ("round_scored", "round {round}: {seat} scores {points}"),
        int(ChatpentiersEvent.GAME_ENDED): ("game_ended", "the game is over"),
    },
    (("three_rounds", "all three rounds are over"),),
    FAULTS.values(),
    {"seat": "seat", "ranking": "seat", "card": "card", "colour": "colour", "zone": "zone"},
    PIECES,
    EVENT_VALUES,
    ("ranking",),
)
