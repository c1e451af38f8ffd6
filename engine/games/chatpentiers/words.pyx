"""Chatpentiers: the words for cards, events and faults."""

from types import SimpleNamespace

from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.chatpentiers.observation cimport OBSERVATION_SEAT_NUMBERS
from chatiere.engine.games.chatpentiers.state cimport (
    CARDS,
    COLOURS,
    FIRST_TAKE_ID,
    LARGEST_HAND,
    LARGEST_LIMIT,
    MAX_PLAYERS,
    MIN_PLAYERS,
    MOST_POINTS,
    MOST_TAKEN,
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
    largest_hand=LARGEST_HAND,
    largest_limit=LARGEST_LIMIT,
    most_points=MOST_POINTS,
    most_taken=MOST_TAKEN,
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
COLOUR_NAMES = ("grey", "green", "red", "brown", "blue")

FAULTS = {
    int(ChatpentiersFault.TAKING_NOT_A_CHOICE): RULES.illegal(
        "the seat must play a card from its hand; cards are taken when all have played", "A trick"
    ),
    int(ChatpentiersFault.PLAYING_NOT_A_CHOICE): RULES.illegal(
        "all have played: the seat must take a card from the table", "A trick"
    ),
    int(ChatpentiersFault.CARD_NOT_IN_HAND): RULES.illegal("the hand does not hold that card", "Actions"),
    int(ChatpentiersFault.MUST_FOLLOW): RULES.illegal(
        "the hand holds a card of the led colour and must follow", "A trick"
    ),
    int(ChatpentiersFault.CARD_NOT_ON_TABLE): RULES.illegal("that card does not lie on the table", "Actions"),
    int(ChatpentiersFault.NO_ZERO_ZONE): RULES.illegal("with 3 players boards have no zero zone", "A trick"),
    int(ChatpentiersFault.COLOUR_LIES_ELSEWHERE): RULES.illegal(
        "the colour already lies under the board: the card goes to its zone", "A trick"
    ),
    int(ChatpentiersFault.ZONE_HOLDS_ANOTHER_COLOUR): RULES.illegal("the zone holds another colour", "A trick"),
    int(ChatpentiersFault.BAD_PLAYERS): RULES.broken(
        f"Chatpentiers is for {MIN_PLAYERS} to {MAX_PLAYERS} players", "seats", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_PHASE): RULES.broken(
        "an extra card is turned up with 3 players only", "phase", "A trick"
    ),
    int(ChatpentiersFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_LIMITS): RULES.broken(
        f"the limit of a section is from 1 to {LARGEST_LIMIT}", "options.section_limits", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_REMOVED_COLOUR): RULES.broken(
        "with 3 players one of the five colours is left out, else none",
        "options.removed_colour",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_ROUND): RULES.broken(
        f"the round must be from 1 to {ROUNDS}: the first before anybody has begun, the last when the game is over",
        "round",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_LEADER): RULES.broken(
        "the leader is not a seat, or not the round's first seat in the deal or the first trick",
        "leader",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat does not follow from the leader, the cards played and taken, and their rank",
        "active_seat",
        "A trick",
    ),
    int(ChatpentiersFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "a card of the round is in no place or in two, or a card that is left out is in play", "undealt_cards"
    ),
    int(ChatpentiersFault.BAD_HAND): RULES.broken(
        "a hand does not have as many cards as it must have at this moment", "seats.hand", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_EXTRA): RULES.broken(
        "with 3 players, and with them only, an extra card lies open while cards are played and taken",
        "extra_card",
        "A trick",
    ),
    int(ChatpentiersFault.BAD_PLAYS): RULES.broken(
        "the cards played to the trick are not different cards, as many as the phase says", "plays", "A trick"
    ),
    int(ChatpentiersFault.BAD_TABLE): RULES.broken(
        "the trick's cards are not on the table, nor under the boards of those whose turn it was to take",
        "plays",
        "A trick",
    ),
    int(ChatpentiersFault.BAD_DISCARDS): RULES.broken("every finished trick leaves one card", "discards"),
    int(ChatpentiersFault.BAD_BOARDS): RULES.broken(
        "the cards under the boards are not those taken in the tricks so far: 3 a trick, with 5 players 4",
        "seats.zones",
    ),
    int(ChatpentiersFault.BAD_ZONES): RULES.broken(
        "a colour lies in one zone of a board, and a zone holds one colour", "seats.zones"
    ),
    int(ChatpentiersFault.BAD_VOIDS): RULES.broken(
        "a colour that a seat has shown not to hold is in its hand, was not led, or is missing",
        "seats.shown_voids",
        "Public and hidden",
    ),
    int(ChatpentiersFault.BAD_POINTS): RULES.broken(
        "there are points of a round that is not finished, or more than a board can give",
        "seats.round_points",
        "Score of a round, a seat",
    ),
    int(ChatpentiersFault.NOT_ZERO): RULES.broken("an unused byte is not zero", ""),
}

ENDS = {int(ChatpentiersEnd.THREE_ROUNDS): "three_rounds"}

EVENT_LABELS = {
    int(ChatpentiersEvent.FIRST_SEAT_CHOSEN): "seat {seat} begins",
    int(ChatpentiersEvent.ROUND_BEGUN): "round {round} begins, seat {seat} will lead",
    int(ChatpentiersEvent.CARD_DEALT): "seat {seat} is dealt {card}",
    int(ChatpentiersEvent.EXTRA_CARD_TURNED): "the extra card is {card}",
    int(ChatpentiersEvent.CARD_PLAYED): "seat {seat} plays {card}",
    int(ChatpentiersEvent.VOID_SHOWN): "seat {seat} holds no {colour} card",
    int(ChatpentiersEvent.TRICK_RANKED): "rank: {ranking}",
    int(ChatpentiersEvent.CARD_TAKEN): "seat {seat} takes {card} into {zone}",
    int(ChatpentiersEvent.CARD_DISCARDED): "{card} is discarded",
    int(ChatpentiersEvent.LEADER_CHOSEN): "seat {seat} took two cards and leads",
    int(ChatpentiersEvent.ROUND_SCORED): "round {round}: seat {seat} scores {points}",
    int(ChatpentiersEvent.GAME_ENDED): "the game is over",
}

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


def card_name(card):
    """Return a card in plain English, such as "red 10"."""
    return f"{COLOUR_NAMES[card // VALUES]} {card % VALUES + 1}"


CARD_NAMES = tuple(card_name(card) for card in range(CARDS))
