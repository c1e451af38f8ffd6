"""Chatpentiers: the description of the game, with all texts of the game."""

from chatiere.engine.core.description import ActionKind, Description, EventKind, Name, Option, OptionType, Piece
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.observation_parts import category, count, flag, lay_out
from chatiere.engine.core.rules_file import RulesFile, with_keys

from . import state
from .observation import OBSERVATION_SEAT_NUMBERS
from .state import ChatpentiersEnd as End
from .state import ChatpentiersEvent as Event
from .state import ChatpentiersFault as Fault

RULES = RulesFile("chatpentiers.md")
illegal_action, invalid_state = RULES.illegal_action, RULES.invalid_state

# Pieces: names, and the fields of ChatpentiersPieces

_COLOURS = tuple(Name(colour) for colour in ("grey", "green", "red", "brown", "blue"))

_PIECES = (
    *(
        Piece(card, Name("{colour} {value}", colour=_COLOURS[card // state.VALUES], value=card % state.VALUES + 1))
        for card in range(state.CARDS)
    ),
    *(Piece(colour, _COLOURS[colour], "colour") for colour in range(state.COLOURS)),
    *(Piece(section, Name("section {number}", number=section + 1), "zone") for section in range(state.SECTIONS)),
    Piece(state.ZERO_ZONE, Name("zero zone"), "zone"),
)

_REMOVED_COLOUR = 3  # with 3 players
# For each number of players: the number of cards dealt to a seat, the number of cards that each rank takes from a
# trick, the number of extra cards in a trick, and the limits of the sections.
_BY_PLAYERS: dict[int, tuple[int, list[int], int, tuple[int, ...]]] = {
    3: (11, [1, 2, 0], 1, (1, 2, 3, 5)),
    4: (14, [1, 2, 0, 0], 0, (1, 2, 3, 4)),
    5: (12, [1, 1, 2, 0, 0], 0, (1, 2, 3, 4)),
}
_PIECE_DETAILS = {
    "cards": [
        {"card": card, "colour": card // state.VALUES, "value": card % state.VALUES + 1} for card in range(state.CARDS)
    ],
    "zones": [
        {"zone": zone, "section": zone < state.SECTIONS, "min_players": 4 if zone == state.ZERO_ZONE else 3}
        for zone in range(state.ZONES)
    ],
    "by_players": [
        {
            "players": players,
            "cards_dealt": dealt,
            "cards_taken": taken,
            "extra_cards": extra,
            "section_limits": limits,
            "removed_colour": _REMOVED_COLOUR if players == 3 else None,
        }
        for players, (dealt, taken, extra, limits) in _BY_PLAYERS.items()
    ],
    "perfect_bonus": [0, 0, 1, 2, 4],
    "rounds": state.ROUNDS,
}

# Faults, events and other phrases

_FAULTS = {
    Fault.TAKING_NOT_A_CHOICE: illegal_action("play a card first: cards are taken once everyone has played", "A trick"),
    Fault.PLAYING_NOT_A_CHOICE: illegal_action("everyone has played: take a card from the table", "A trick"),
    Fault.CARD_NOT_IN_HAND: illegal_action("that card is not in the hand", "Actions", "card"),
    Fault.MUST_FOLLOW: illegal_action("a player who holds the colour that was led must follow it", "A trick", "card"),
    Fault.CARD_NOT_ON_TABLE: illegal_action("that card is not on the table", "Actions", "card"),
    Fault.NO_ZERO_ZONE: illegal_action("with 3 players there is no zero zone", "A trick", "zone"),
    Fault.COLOUR_LIES_ELSEWHERE: illegal_action(
        "that colour is already in another zone of the castle: the card goes there", "A trick", "zone"
    ),
    Fault.ZONE_HOLDS_ANOTHER_COLOUR: illegal_action("that zone already holds another colour", "A trick", "zone"),
    Fault.BAD_PLAYERS: invalid_state(
        f"Chatpentiers is for {state.MIN_PLAYERS} to {state.MAX_PLAYERS} players", "seats", "Components and setup"
    ),
    Fault.BAD_PHASE: invalid_state("an extra card is turned up with 3 players only", "phase", "A trick"),
    Fault.BAD_FIRST_SEAT: invalid_state(
        "the first seat is not a seat of the game, differs from the options, or is set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    Fault.BAD_LIMITS: invalid_state(
        f"the limit of a section is from 1 to {state.MAX_LIMIT}", "options.section_limits", "Components and setup"
    ),
    Fault.BAD_REMOVED_COLOUR: invalid_state(
        "with 3 players one of the five colours is left out, otherwise none",
        "options.removed_colour",
        "Components and setup",
    ),
    Fault.BAD_ROUND: invalid_state(
        f"the round must be from 1 to {state.ROUNDS}: the first before anybody has begun, the last when the game is "
        "over",
        "round",
        "Components and setup",
    ),
    Fault.BAD_LEADER: invalid_state(
        "the leader is not a seat, or not the round's first seat in the deal or the first trick",
        "leader",
        "Components and setup",
    ),
    Fault.BAD_ACTIVE_SEAT: invalid_state(
        "the active seat does not match the leader, the cards played and taken, and their ranking",
        "active_seat",
        "A trick",
    ),
    Fault.CARD_TWICE_OR_MISSING: invalid_state(
        "a card of the round is in no place or in two, or a card that is left out is in play", "draw_pile_cards"
    ),
    Fault.BAD_HAND: invalid_state(
        "a hand does not have the number of cards due at this moment", "seats.hand_cards", "Components and setup"
    ),
    Fault.BAD_EXTRA: invalid_state(
        "an extra card lies open only with 3 players, while cards are played and taken",
        "extra_card",
        "A trick",
    ),
    Fault.BAD_PLAYS: invalid_state(
        "the cards played to the trick are not different, or not as many as the phase requires", "plays", "A trick"
    ),
    Fault.BAD_TABLE: invalid_state(
        "the cards of the trick are neither on the table nor under the boards of the seats that have taken",
        "plays",
        "A trick",
    ),
    Fault.BAD_DISCARDS: invalid_state("every finished trick leaves one card", "discards"),
    Fault.BAD_BOARDS: invalid_state(
        "the cards under the boards do not match the tricks so far: 3 a trick, 4 with 5 players",
        "seats.zones",
    ),
    Fault.BAD_ZONES: invalid_state(
        "a colour lies in only one zone of a board, and a zone holds only one colour", "seats.zones"
    ),
    Fault.BAD_VOIDS: invalid_state(
        "a colour that a seat has shown not to have is in its hand, was not led, or is not recorded",
        "seats.shown_voids",
        "Public and hidden",
    ),
    Fault.BAD_POINTS: invalid_state(
        "a round that is not finished has points, or a round has more than a board can give",
        "seats.round_points",
        "Score of a round, a seat",
    ),
    Fault.NOT_ZERO: invalid_state("an unused byte is not zero", ""),
}
_EVENTS = {
    Event.FIRST_SEAT_CHOSEN: EventKind("{seat} begins"),
    Event.ROUND_BEGUN: EventKind("round {round} begins: {seat} leads", ("round",)),
    Event.CARD_DEALT: EventKind("{seat} is dealt {card}", ("card",), hidden="{seat} is dealt a card"),
    Event.EXTRA_CARD_TURNED: EventKind("the extra card is {card}", ("card",)),
    Event.CARD_PLAYED: EventKind("{seat} plays {card}", ("card",)),
    Event.VOID_SHOWN: EventKind("{seat} has no {colour} card", ("colour",)),
    Event.TRICK_RANKED: EventKind("ranking: {ranking}", ("ranking",)),
    Event.CARD_TAKEN: EventKind("{seat} takes {card} into {zone}", ("card", "zone")),
    Event.CARD_DISCARDED: EventKind("{card} is discarded", ("card",)),
    Event.LEADER_CHOSEN: EventKind("{seat} took two cards and leads"),
    Event.ROUND_SCORED: EventKind(
        Plural("points", "round {round}: {seat} scores {points} point", "round {round}: {seat} scores {points} points"),
        ("round", "points"),
    ),
    Event.GAME_ENDED: EventKind("the game is over"),
}
_PHRASES = {
    "action.take_card_zero": "take {card} into the {zone}",
    "outcome.first_seat": "{seat} begins",
    "outcome.card": "{card}",
    "prompt.lead": "lead a card to the trick",
    "prompt.follow": "play a card: {colour} was led and must be followed if possible",
    "prompt.take": "take a card of the trick, and choose where it goes in your castle",
    "prompt.take_two": "take two cards of the trick, one after the other, and choose where they go in your castle",
    "event.card_taken_zero": "{seat} takes {card} into the {zone}",
}
_ENDS = {End.THREE_ROUNDS: "all three rounds are over"}

_OBSERVATION = (
    ("own_hand", "Per card: 1 if it is in the hand of the observing seat.", (state.CARDS,), (flag(),)),
    ("table", "Per card: 1 if it lies on the table and has not been taken.", (state.CARDS,), (flag(),)),
    (
        "trick",
        "Per card: 1 + d if the seat d to the left played it to this trick (even once it is taken), "
        f"{state.MAX_PLAYERS + 1} if it is the extra card; else 0.",
        (state.CARDS,),
        (category(state.MAX_PLAYERS + 1),),
    ),
    ("discards", "Per card: 1 if it was discarded in this round.", (state.CARDS,), (flag(),)),
    ("unseen", "Per card: 1 if the observing seat does not know where it is.", (state.CARDS,), (flag(),)),
    (
        "boards",
        "Per seat, clockwise from the observing seat (zeros beyond the number of players), and per card: 1 if the card "
        "lies under that seat's board.",
        (state.MAX_PLAYERS, state.CARDS),
        (flag(),),
    ),
    (
        "seats",
        "Per seat, clockwise from the observing seat (zeros beyond the number of players): 1; hand size; points of "
        "rounds 1 and 2 (0 until they are finished); points of the present board; how far the board's sum is below 0; "
        "the number of perfect sections; 1 if the seat decides, or gets the next card; 1 if it leads; total; per "
        "colour 1 if the seat has failed to follow it in this round; per colour 1 + the zone in which it lies, 0 if "
        "it lies in none; per colour the number of its cards under the board.",
        (state.MAX_PLAYERS, OBSERVATION_SEAT_NUMBERS),
        (
            flag("present"),
            count(state.MAX_HAND, "hand_size"),
            count(state.MAX_POINTS, "round_points", (state.ROUNDS - 1,)),
            count(state.MAX_POINTS, "board_points"),
            count(state.MAX_TAKEN, "below_zero"),
            count(state.SECTIONS, "perfect_sections"),
            flag("acts"),
            flag("leads"),
            count(state.ROUNDS * state.MAX_POINTS, "total"),
            flag("voids", (state.COLOURS,)),
            category(state.SECTIONS + 1, "zones", (state.COLOURS,)),
            count(state.VALUES, "cards", (state.COLOURS,)),
        ),
    ),
    ("players", "The number of players.", (), (count(state.MAX_PLAYERS),)),
    ("round", f"The round, 1-{state.ROUNDS}.", (), (count(state.ROUNDS),)),
    ("tricks", "The number of tricks of a round.", (), (count(state.MAX_HAND),)),
    ("section_limits", f"The limits of sections 0-{state.SECTIONS - 1}.", (state.SECTIONS,), (count(state.MAX_LIMIT),)),
    ("colours_in_use", "Per colour: 1 if its cards are used.", (state.COLOURS,), (flag(),)),
    (
        "led_colour",
        "One-hot: the colour that was led; zeros before the leader has played.",
        (state.COLOURS,),
        (flag(),),
    ),
    ("undealt", "Cards neither dealt nor turned up as an extra card.", (), (count(state.CARDS),)),
    ("discarded", "Cards discarded in this round.", (), (count(state.MAX_HAND),)),
    ("to_take", "Cards of the trick that the deciding seat has yet to take; 0 unless it takes.", (), (count(2),)),
    ("phase", "One-hot: first seat, deal, extra card, play, take, over.", (int(state.Phase.PHASES),), (flag(),)),
)

DESCRIPTION = Description(
    name="chatpentiers",
    package=__package__,
    title="CATsle Builders",
    options=(
        Option.first_seat("The seat that leads the first round's first trick.", state.MAX_PLAYERS),
        Option(
            "section_limits",
            "Limits of the sections",
            "The limits of the four sections of every board.",
            OptionType.NUMBERS,
            1,
            state.MAX_LIMIT,
            "1, 2, 3, 4 with 4 or 5 players, 1, 2, 3, 5 with 3 players",
            defaults={players: limits for players, (*_, limits) in _BY_PLAYERS.items()},
            length=state.SECTIONS,
            index_kind="zone",
        ),
        Option(
            "removed_colour",
            "Colour left out",
            "The colour that is left out with 3 players; with 4 or 5 it has no effect.",
            OptionType.NUMBER,
            0,
            state.COLOURS - 1,
            f"{_REMOVED_COLOUR}, {_COLOURS[_REMOVED_COLOUR]}",
            (_REMOVED_COLOUR,),
            piece_kind="colour",
            only_for=(3,),
        ),
    ),
    action_kinds=(
        ActionKind(
            "play_card",
            "Play a card of the hand to the trick; the id is the card's number.",
            0,
            state.FIRST_TAKE_ID - 1,
            "play {card}",
        ),
        ActionKind(
            "take_card",
            f"Take a card from the table and place it in a zone of the seat's board: {state.FIRST_TAKE_ID} + "
            f"{state.ZONES} x the card's number + the zone (0-{state.SECTIONS - 1}: that section; {state.ZERO_ZONE}: "
            "the zero zone, with 4 or 5 players).",
            state.FIRST_TAKE_ID,
            state.NUM_ACTIONS - 1,
            "take {card} into {zone} (limit {limit})",
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or turned up the card's number.",
    pieces=_PIECES,
    piece_details=_PIECE_DETAILS,
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=with_keys(_FAULTS),
    events=_EVENTS,
    end_phrases=_ENDS,
    phrases=_PHRASES,
    argument_kinds={"seat": "seat", "ranking": "seat", "card": "card", "colour": "colour", "zone": "zone"},
    lists=("ranking",),
)
