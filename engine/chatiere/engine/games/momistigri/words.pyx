"""Momistigri: the words for cards, events and faults."""

from types import SimpleNamespace

from chatiere.engine.core.description import Name, Piece
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.phrases import Phrases
from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.momistigri.cards cimport BOX, COLOURED, COLOURS, KINDS, MOMISTIGRI, MAX_PLAYERS, VALUES
from chatiere.engine.games.momistigri.observation cimport OBSERVATION_SEAT_NUMBERS
from chatiere.engine.games.momistigri.state cimport (
    FIRST_GIVE_ID,
    FIRST_HAND_OUT_ID,
    FIRST_NAME_ID,
    FIRST_SWAP_IN_ID,
    FIRST_SWAP_OUT_ID,
    MAX_DRAW,
    LAST_CHOICE,
    LAST_TURN,
    MAIN_ID,
    MARKS,
    NUM_ACTIONS,
    ONES,
    PASS_ID,
    PHASES,
    REVERSE_ID,
    ROUNDS,
    STOP_ID,
    MomistigriEnd,
    MomistigriEvent,
    MomistigriFault,
)

RULES = RulesFile("momistigri.md")

# The kernel's numbers, for text.py.
SIZES = SimpleNamespace(
    box=BOX,
    coloured=COLOURED,
    colours=COLOURS,
    kinds=KINDS,
    max_draw=MAX_DRAW,
    last_choice=LAST_CHOICE,
    last_turn=LAST_TURN,
    marks=int(MARKS),
    momistigri=MOMISTIGRI,
    ones=ONES,
    phases=int(PHASES),
    rounds=ROUNDS,
    seat_numbers=OBSERVATION_SEAT_NUMBERS,
    seats=MAX_PLAYERS,
    values=VALUES,
)
# The first dense id of each kind of action; `end` is one past the last.
IDS = SimpleNamespace(
    pass_turn=PASS_ID,
    stop=STOP_ID,
    main=MAIN_ID,
    reverse=REVERSE_ID,
    name_card=FIRST_NAME_ID,
    give=FIRST_GIVE_ID,
    hand_out=FIRST_HAND_OUT_ID,
    swap_out=FIRST_SWAP_OUT_ID,
    swap_in=FIRST_SWAP_IN_ID,
    end=NUM_ACTIONS,
)


# Of the colours, as they are printed.
LETTERS = "ABCDE"

_EFFECTS = "Effects of a pair of one value"

FAULTS = {
    int(MomistigriFault.NO_PAIR_NOW): RULES.illegal("no_pair_now", "no pair can be discarded at this moment", "A turn"),
    int(MomistigriFault.NO_PASS_NOW): RULES.illegal(
        "no_pass_now", "a seat can pass only instead of discarding a pair", "A turn"
    ),
    int(MomistigriFault.NO_STOP_NOW): RULES.illegal(
        "no_stop_now", "Stop is for a seat that has discarded a pair of 6", _EFFECTS
    ),
    int(MomistigriFault.NO_CHOICE_NOW): RULES.illegal(
        "no_choice_now", "Main and Reverse are for a seat that has discarded a pair of 1, 2 or 3", _EFFECTS
    ),
    int(MomistigriFault.NO_NAMING_NOW): RULES.illegal(
        "no_naming_now", "a card is named after the main effect of a pair of 2", _EFFECTS
    ),
    int(MomistigriFault.NO_GIVING_NOW): RULES.illegal("no_giving_now", "a card is given after a pair of 4", _EFFECTS),
    int(MomistigriFault.NO_HANDING_OUT_NOW): RULES.illegal(
        "no_handing_out_now", "cards of the pile are handed out after a pair of 5", _EFFECTS
    ),
    int(MomistigriFault.NO_SWAPPING_OUT_NOW): RULES.illegal(
        "no_swapping_out_now", "no seat has to discard a card for a swap at this moment", "A turn"
    ),
    int(MomistigriFault.NO_SWAPPING_IN_NOW): RULES.illegal(
        "no_swapping_in_now", "no seat has to take a card for a swap at this moment", "A turn"
    ),
    int(MomistigriFault.CARD_NOT_IN_HAND): RULES.illegal(
        "card_not_in_hand", "the hand does not hold that card, or not twice", "Actions", "card", "cards"
    ),
    int(MomistigriFault.NOT_A_PAIR): RULES.illegal(
        "not_a_pair", "the cards have neither one value nor one colour, or one is the Momistigri", "A turn", "cards"
    ),
    int(MomistigriFault.SEAT_NOT_ELIGIBLE): RULES.illegal(
        "seat_not_eligible", "the card goes to another seat that is still in the round", _EFFECTS, "seat"
    ),
    int(MomistigriFault.CARD_NOT_IN_PILE): RULES.illegal(
        "card_not_in_pile", "the discard pile does not hold that card", "Actions", "card"
    ),
    int(MomistigriFault.CARD_JUST_SWAPPED_OUT): RULES.illegal(
        "card_just_swapped_out",
        "a swap takes a card that lay in the pile before, not the one just discarded",
        "A turn",
        "card",
    ),
    int(MomistigriFault.BAD_PLAYERS): RULES.broken(
        "bad_players", "Momistigri is for 3 to 5 players", "seats", "Components and setup"
    ),
    int(MomistigriFault.BAD_FIRST_SEAT): RULES.broken(
        "bad_first_seat",
        "the first seat is not a seat, not the one that the options name for the first round, not one with the most "
        "penalty points in a later round, or set before chance has chosen it",
        "round_first_seat",
        "Components and setup",
    ),
    int(MomistigriFault.BAD_COPIES): RULES.broken(
        "bad_copies",
        "the copies of value 1 do not sum to 9, those of value 2 to 8, and so on",
        "options.copies",
        "Components and setup",
    ),
    int(MomistigriFault.BAD_PHASE): RULES.broken(
        "bad_phase", "the phase needs another seat in the round", "phase", "A turn"
    ),
    int(MomistigriFault.BAD_ACTIVE_SEAT): RULES.broken(
        "bad_active_seat",
        "the active seat is not a seat in the round, or not the one that the next card is dealt to",
        "active_seat",
        "A turn",
    ),
    int(MomistigriFault.BAD_ROUND): RULES.broken(
        "bad_round",
        "the round is not the first, the second, or a third because the fewest penalty points are tied after two",
        "round",
        "End of the game",
    ),
    int(MomistigriFault.BAD_TURN): RULES.broken(
        "bad_turn", "a turn is from 1 to 200, and 0 before the first", "turn", "End of a round"
    ),
    int(MomistigriFault.BAD_DIRECTION): RULES.broken(
        "bad_direction",
        "the direction of play is neither way, or reversed before the first turn",
        "reversed",
        "Components and setup",
    ),
    int(MomistigriFault.BAD_IN_ROUND): RULES.broken(
        "bad_in_round",
        "a seat out of the round holds cards, one in the round holds none in a moment when it has to, or one is out of "
        "the round during the deal",
        "seats.in_round",
    ),
    int(MomistigriFault.BAD_PASSED): RULES.broken(
        "bad_passed", "a pass mark is set of a seat that is not in the round, or during the deal", "seats.pass_mark"
    ),
    int(MomistigriFault.BAD_MARK): RULES.broken(
        "bad_mark", "a mark is pending outside of a draw, or is not a known mark", "mark", "A turn"
    ),
    int(MomistigriFault.BAD_DRAWS): RULES.broken(
        "bad_draws",
        "the number of cards still to be drawn is more than the mark or the hand allows, or none in a draw, or some "
        "outside of one",
        "draws_left",
        "A turn",
    ),
    int(MomistigriFault.BAD_EFFECT): RULES.broken(
        "bad_effect",
        "the value of the pair is not 1, 2 or 3 when Main or Reverse is to be chosen, or is set otherwise",
        "pair_value",
        _EFFECTS,
    ),
    int(MomistigriFault.BAD_RECEIVER): RULES.broken(
        "bad_receiver",
        "the receiver is not another seat in the round, or is set when no card is handed out",
        "receiver",
        _EFFECTS,
    ),
    int(MomistigriFault.BAD_SWAPPED_OUT): RULES.broken(
        "bad_swapped_out",
        "the card just discarded for a swap does not lie in the pile, is missing, or is set outside of a swap",
        "swapped_out",
        "A turn",
    ),
    int(MomistigriFault.BAD_PENALTIES): RULES.broken(
        "bad_penalties",
        "penalties are those of finished rounds, the last round's the sums of the hands",
        "seats.round_points",
        "End of a round",
    ),
    int(MomistigriFault.BAD_DEAL): RULES.broken(
        "bad_deal",
        "cards are dealt one at a time from the first seat on, nine to each, and the last to its right neighbour; then "
        "none are left",
        "seats.hand_cards",
        "Components and setup",
    ),
    int(MomistigriFault.BAD_HAND): RULES.broken(
        "bad_hand", "a hand is not a set of cards of the box", "seats.hand_cards"
    ),
    int(MomistigriFault.BAD_PILE): RULES.broken(
        "bad_pile",
        "the pile is not a set of cards of the box, is not empty during the deal, or lacks the pair whose effect is "
        "under way",
        "discards",
    ),
    int(MomistigriFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "card_twice_or_missing",
        "the hands and the pile together are not the cards of the deck, each once",
        "seats.hand_cards",
    ),
    int(MomistigriFault.BAD_KNOWN): RULES.broken(
        "bad_known",
        "cards are known of a hand that lacks them, to the hand's own seat, to all but not to each seat, or outside of "
        "a round",
        "seats.knowledge",
        "Public and hidden",
    ),
    int(MomistigriFault.BAD_MOST_ONES): RULES.broken(
        "bad_most_ones",
        "a hand holds more 1s than the most that is known of it, or such a bound is set in a deck without 1s, for the "
        "hand's own seat, of a seat out of the round, for all but not for each seat, or outside of a round",
        "seats.knowledge",
        "Public and hidden",
    ),
    int(MomistigriFault.NOT_ZERO): RULES.broken("not_zero", "an unused byte is not zero", ""),
}

ENDS = {int(MomistigriEnd.TWO_ROUNDS): "two_rounds", int(MomistigriEnd.THIRD_ROUND): "third_round"}

PIECES = (
    *(
        Piece(kind, Name("{value}{letter}", value=kind % VALUES + 1, letter=LETTERS[kind // VALUES]))
        for kind in range(MOMISTIGRI)
    ),
    Piece(MOMISTIGRI, Name("Momistigri")),
    *(Piece(colour, Name("colour {letter}", letter=letter), "colour") for colour, letter in enumerate(LETTERS)),
)

PHRASES = Phrases(
    __package__,
    {
        "action.discard_pair": "discard {cards}",
        "action.pass_turn": "pass",
        "action.stop": "discard no further pair",
        "action.main_ones": "discard all other 1s",
        "action.main_name": "name the card that the next seat must draw",
        "action.main_swap": "swap a card after the next seat's draw",
        "action.reverse": "reverse the direction of play",
        "action.name_card": "name {card} for the next seat to draw",
        "action.give": "give {card} to {other_seat}",
        "action.hand_out": "hand {card} out to {other_seat}",
        "action.swap_out": "discard {card} for the swap",
        "action.swap_in": "take {card} from the pile",
        "outcome.first_seat": "{seat} begins",
        "outcome.card": "card {card}",
        "prompt.swap_out": "choose a card from the hand to swap for one of the pile",
        "prompt.swap_in": "choose the card of the pile to take for {card}",
        "prompt.discard": "discard a pair of one value or one colour, or pass",
        "prompt.choice_ones": "discard all other 1s, or reverse the direction of play",
        "prompt.choice_name": "name the card that {other_seat} must draw, or reverse the direction of play",
        "prompt.choice_swap": "swap a card after the next draw, or reverse the direction of play",
        "prompt.name": "choose the card that {other_seat} must draw",
        "prompt.give": "choose a card to give, and who gets it",
        "prompt.hand_out": "choose a card of the pile for {other_seat}",
        "prompt.again": "discard another pair, or stop",
        "event.ones_discarded_none": "{seat} has no other 1",
    },
    {
        int(MomistigriEvent.FIRST_SEAT_CHOSEN): ("first_seat_chosen", "{seat} begins"),
        int(MomistigriEvent.ROUND_BEGUN): ("round_begun", "round {round} begins with {seat}"),
        int(MomistigriEvent.CARD_DEALT): ("card_dealt", "{seat} is dealt {card}", "{seat} is dealt a card"),
        int(MomistigriEvent.TURN_BEGUN): (
            "turn_begun",
            Plural(
                "draws",
                "{seat} is to draw {draws} card from {other_seat}",
                "{seat} is to draw {draws} cards from {other_seat}",
            ),
        ),
        int(MomistigriEvent.CARD_DRAWN): (
            "card_drawn",
            "{seat} draws {card} from {other_seat}",
            "{seat} draws a card from {other_seat}",
        ),
        int(MomistigriEvent.SEAT_LEFT): ("seat_left", "{seat} has no cards left and leaves the round"),
        int(MomistigriEvent.CARD_SWAPPED_OUT): ("card_swapped_out", "{seat} discards {card} for a swap"),
        int(MomistigriEvent.CARD_SWAPPED_IN): ("card_swapped_in", "{seat} takes {card} from the pile"),
        int(MomistigriEvent.PAIR_DISCARDED): ("pair_discarded", "{seat} discards {cards}"),
        int(MomistigriEvent.PASSED): ("passed", "{seat} passes"),
        int(MomistigriEvent.STOPPED): ("stopped", "{seat} discards no further pair"),
        int(MomistigriEvent.CARD_NAMED): (
            "card_named",
            "{seat} names {card}, which the next seat must draw",
            "{seat} names a card, which the next seat must draw",
        ),
        int(MomistigriEvent.ONES_DISCARDED): ("ones_discarded", "{seat} discards all other 1s: {cards}"),
        int(MomistigriEvent.DIRECTION_REVERSED): ("direction_reversed", "{seat} reverses the direction of play"),
        int(MomistigriEvent.SWAP_PENDING): (
            "swap_pending", "{seat} will swap a card with the pile after the next seat's draw"
        ),
        int(MomistigriEvent.TWO_PENDING): ("two_pending", "the next seat must draw two cards from {seat}"),
        int(MomistigriEvent.THREE_PENDING): ("three_pending", "the next seat must draw three cards from {seat}"),
        int(MomistigriEvent.CARD_GIVEN): (
            "card_given",
            "{seat} gives {card} to {other_seat}",
            "{seat} gives a card to {other_seat}",
        ),
        int(MomistigriEvent.CARD_HANDED_OUT): (
            "card_handed_out", "{other_seat} hands {card} out to {seat}"
        ),
        int(MomistigriEvent.ONE_SEAT_LEFT): ("one_seat_left", "the round ends: at most one seat still holds cards"),
        int(MomistigriEvent.ALL_PASSED): ("all_passed", "the round ends: all seats still in it have passed"),
        int(MomistigriEvent.TURN_LIMIT_REACHED): ("turn_limit_reached", "the round ends: it was its 200th turn"),
        int(MomistigriEvent.HAND_SHOWN): ("hand_shown", "{seat} shows {cards}"),
        int(MomistigriEvent.PENALTY_TAKEN): ("penalty_taken", "penalty points of {seat}: {points}"),
        int(MomistigriEvent.GAME_ENDED): ("game_ended", "the game is over"),
    },
    (
        ("two_rounds", "two rounds are over, and one seat has the fewest penalty points"),
        ("third_round", "the fewest penalty points were tied after two rounds, and the third is over"),
    ),
    FAULTS.values(),
    {"seat": "seat", "other_seat": "seat", "card": "card", "cards": "card"},
    PIECES,
)
