"""Momistigri: the description of the game, with all texts of the game."""

from typing import Any

from chatiere.engine.core.description import ActionKind, Description, EventKind, Name, Option, OptionType, Piece
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.observation_parts import category, count, flag, lay_out
from chatiere.engine.core.rules_file import RulesFile, with_keys

from . import state
from .observation import OBSERVATION_SEAT_NUMBERS
from .state import MomistigriEnd as End
from .state import MomistigriEvent as Event
from .state import MomistigriFault as Fault

RULES = RulesFile("momistigri.md")
illegal_action, invalid_state = RULES.illegal_action, RULES.invalid_state

# The printed letters of the colours.
_LETTERS = "ABCDE"

_EFFECTS_OF_PAIRS = "Effects of a pair of one value"

# For each value, beginning with 1: the effect of a pair, the number of cards that the next seat draws, and the
# description.
_EFFECTS = (
    ("DISCARD_ONES", 0, "discard all other 1s"),
    ("NAME_CARD", 0, "choose the card that the next player must draw"),
    ("SWAP", 0, "after the next player's draw, swap a card with the discard pile"),
    ("GIVE", 0, "give a card to another player"),
    ("HAND_OUT", 0, "give a card of the discard pile to each other player"),
    ("AGAIN", 0, "discard another pair, if you like"),
    ("DRAW_MORE", 2, "the next player draws two cards"),
    ("DRAW_MORE", 3, "the next player draws three cards"),
)
# Map the number of players to the values in use (rules file: Components and setup).
_VALUES = {3: range(3, 9), 4: range(2, 10), 5: range(1, 10)}
# The default number of copies of each kind in the box. If cards are sorted by value, card i has colour i mod 5.
_COPIES = [0] * state.COLOURED
for _place, _value in enumerate(value for value in range(1, 10) for _ in range(10 - value)):
    _COPIES[state.VALUES * (_place % state.COLOURS) + _value - 1] += 1

_PIECES = (
    *(
        Piece(kind, Name("{value}{letter}", value=kind % state.VALUES + 1, letter=_LETTERS[kind // state.VALUES]))
        for kind in range(state.MOMISTIGRI)
    ),
    Piece(state.MOMISTIGRI, Name("the Momistigri")),
    *(Piece(colour, Name("colour {letter}", letter=letter), "colour") for colour, letter in enumerate(_LETTERS)),
)


def _card_info(kind: int) -> dict[str, Any]:
    if kind == state.MOMISTIGRI:
        return {"card": kind, "colour": None, "value": 10, "total_copies": 1, "min_players": min(_VALUES)}
    colour, value = divmod(kind, state.VALUES)
    return {
        "card": kind,
        "colour": colour,
        "value": value + 1,
        "total_copies": _COPIES[kind],
        "min_players": min(players for players, values in _VALUES.items() if value + 1 in values),
    }


_PIECE_DETAILS = {
    "cards": [_card_info(kind) for kind in range(state.KINDS)],
    "effects": [
        {
            "value": value,
            "effect": f"MOMISTIGRI_EFFECT_{effect}",
            "may_reverse": value <= state.LAST_CHOICE,
            "draws": draws,
            "description": Name(description),
        }
        for value, (effect, draws, description) in enumerate(_EFFECTS, 1)
    ],
    "cards_dealt": state.DEALT,
    "rounds": state.ROUNDS - 1,
    "last_turn": state.LAST_TURN,
}

# Faults, events and other phrases

_FAULTS = {
    Fault.NO_PAIR_NOW: illegal_action("no pair can be discarded now", "A turn"),
    Fault.NO_PASS_NOW: illegal_action("a player can pass only instead of discarding a pair", "A turn"),
    Fault.NO_STOP_NOW: illegal_action("a player can stop only when a pair of 6 allows another pair", _EFFECTS_OF_PAIRS),
    Fault.NO_CHOICE_NOW: illegal_action(
        "only a pair of 1, 2 or 3 gives a choice between its effect and reversing the direction", _EFFECTS_OF_PAIRS
    ),
    Fault.NO_NAMING_NOW: illegal_action(
        "a card for the next player to draw is chosen only after a pair of 2", _EFFECTS_OF_PAIRS
    ),
    Fault.NO_GIVING_NOW: illegal_action("a card is given away only after a pair of 4", _EFFECTS_OF_PAIRS),
    Fault.NO_HANDING_OUT_NOW: illegal_action(
        "cards of the discard pile are given only after a pair of 5", _EFFECTS_OF_PAIRS
    ),
    Fault.NO_SWAPPING_OUT_NOW: illegal_action("there is no card to discard for a swap now", "A turn"),
    Fault.NO_SWAPPING_IN_NOW: illegal_action("there is no card to take for a swap now", "A turn"),
    Fault.CARD_NOT_IN_HAND: illegal_action("that card is not in the hand, or not twice", "Actions", "card", "cards"),
    Fault.NOT_A_PAIR: illegal_action(
        "a pair is two cards of the same value or the same colour, without the Momistigri", "A turn", "cards"
    ),
    Fault.SEAT_NOT_ELIGIBLE: illegal_action(
        "the card has to go to another player who is still in the round", _EFFECTS_OF_PAIRS, "seat"
    ),
    Fault.CARD_NOT_IN_PILE: illegal_action("that card is not in the discard pile", "Actions", "card"),
    Fault.CARD_JUST_SWAPPED_OUT: illegal_action("the card just discarded cannot be taken back", "A turn", "card"),
    Fault.BAD_PLAYERS: invalid_state("Momistigri is for 3 to 5 players", "seats", "Components and setup"),
    Fault.BAD_FIRST_SEAT: invalid_state(
        "the first seat is not a seat of the game, differs from the options in the first round, does not have the "
        "most penalty points in a later round, or is set before chance has chosen it",
        "round_first_seat",
        "Components and setup",
    ),
    Fault.BAD_COPIES: invalid_state(
        "the copies of value 1 do not add up to 9, those of value 2 to 8, and so on",
        "options.copies",
        "Components and setup",
    ),
    Fault.BAD_PHASE: invalid_state("the phase needs another seat that is still in the round", "phase", "A turn"),
    Fault.BAD_ACTIVE_SEAT: invalid_state(
        "the active seat is not a seat in the round, or not the seat that gets the next card",
        "active_seat",
        "A turn",
    ),
    Fault.BAD_ROUND: invalid_state(
        "the round is not the first, the second, or a third because the fewest penalty points are tied after two",
        "round",
        "End of the game",
    ),
    Fault.BAD_TURN: invalid_state("a turn is from 1 to 200, and 0 before the first", "turn", "End of a round"),
    Fault.BAD_DIRECTION: invalid_state(
        "the direction of play is unknown, or reversed before the first turn", "reversed", "Components and setup"
    ),
    Fault.BAD_IN_ROUND: invalid_state(
        "a seat out of the round holds cards, a seat in the round holds none when it must, or a seat is out of the "
        "round during the deal",
        "seats.in_round",
    ),
    Fault.BAD_PASSED: invalid_state(
        "a pass mark is set for a seat that cannot have one now, or for all seats in the round as a turn begins",
        "seats.pass_mark",
    ),
    Fault.BAD_MARK: invalid_state("a mark is set outside of a draw, or is unknown", "mark", "A turn"),
    Fault.BAD_DRAWS: invalid_state(
        "the number of cards still to be drawn is more than the mark or the hand allows, zero during a draw, or not "
        "zero outside of one",
        "draws_left",
        "A turn",
    ),
    Fault.BAD_EFFECT: invalid_state(
        "the value of the pair is not 1, 2 or 3 while its effect is to be chosen, or is set at another moment",
        "pair_value",
        _EFFECTS_OF_PAIRS,
    ),
    Fault.BAD_RECEIVER: invalid_state(
        "the receiver is not another seat in the round, or is set while no card is handed out",
        "receiver",
        _EFFECTS_OF_PAIRS,
    ),
    Fault.BAD_SWAPPED_OUT: invalid_state(
        "the card just discarded for a swap is not in the discard pile, is missing, or is set outside of a swap",
        "swapped_out",
        "A turn",
    ),
    Fault.BAD_PENALTIES: invalid_state(
        "penalties are set for rounds that are not finished, or the last ones are not the sums of the hands",
        "seats.round_points",
        "End of a round",
    ),
    Fault.BAD_DEAL: invalid_state(
        "cards are dealt one at a time from the first seat on, nine to each and the last to its right neighbour, "
        "until none are left",
        "seats.hand_cards",
        "Components and setup",
    ),
    Fault.BAD_HAND: invalid_state("a hand is not a set of cards of the box", "seats.hand_cards"),
    Fault.BAD_PILE: invalid_state(
        "the discard pile is not a set of cards of the box, is not empty during the deal, or lacks the pair whose "
        "effect is under way",
        "discards",
    ),
    Fault.CARD_TWICE_OR_MISSING: invalid_state(
        "the hands and the discard pile together are not the cards of the deck, each once", "seats.hand_cards"
    ),
    Fault.BAD_KNOWN: invalid_state(
        "known cards are not in the hand, are known to the seat of the hand itself, to all but not to each seat, or "
        "outside of a round",
        "seats.knowledge",
        "Public and hidden",
    ),
    Fault.BAD_MOST_ONES: invalid_state(
        "a hand holds more 1s than its known bound, or a bound is set in a deck without 1s, for the seat of the hand "
        "itself, for a seat out of the round, for all but not for each seat, or outside of a round",
        "seats.knowledge",
        "Public and hidden",
    ),
    Fault.NOT_ZERO: invalid_state("an unused byte is not zero", ""),
}
_EVENTS = {
    Event.FIRST_SEAT_CHOSEN: EventKind("{seat} begins"),
    Event.ROUND_BEGUN: EventKind("round {round} begins: {seat} plays first"),
    Event.CARD_DEALT: EventKind("{seat} is dealt {card}", hidden="{seat} is dealt a card"),
    Event.TURN_BEGUN: EventKind(
        Plural(
            "draws",
            "{seat} is to draw {draws} card from {other_seat}",
            "{seat} is to draw {draws} cards from {other_seat}",
        )
    ),
    Event.CARD_DRAWN: EventKind(
        "{seat} draws {card} from {other_seat}", hidden="{seat} draws a card from {other_seat}"
    ),
    Event.SEAT_LEFT: EventKind("{seat} has no cards left and leaves the round"),
    Event.CARD_SWAPPED_OUT: EventKind("{seat} discards {card} for a swap"),
    Event.CARD_SWAPPED_IN: EventKind("{seat} takes {card} from the discard pile"),
    Event.PAIR_DISCARDED: EventKind("{seat} discards {cards}"),
    Event.PASSED: EventKind("{seat} passes"),
    Event.STOPPED: EventKind("{seat} discards no further pair"),
    Event.CARD_NAMED: EventKind(
        "{seat} chooses {card}, which the next player must draw",
        hidden="{seat} chooses a card, which the next player must draw",
    ),
    Event.ONES_DISCARDED: EventKind("{seat} discards all other 1s: {cards}"),
    Event.DIRECTION_REVERSED: EventKind("{seat} reverses the direction of play"),
    Event.SWAP_PENDING: EventKind("{seat} will swap a card with the discard pile after the next player's draw"),
    Event.TWO_PENDING: EventKind("the next player must draw two cards from {seat}"),
    Event.THREE_PENDING: EventKind("the next player must draw three cards from {seat}"),
    Event.CARD_GIVEN: EventKind("{seat} gives {card} to {other_seat}", hidden="{seat} gives a card to {other_seat}"),
    Event.CARD_HANDED_OUT: EventKind("{other_seat} gives {card} from the discard pile to {seat}"),
    Event.ONE_SEAT_LEFT: EventKind("the round ends: at most one player still has cards"),
    Event.ALL_PASSED: EventKind("the round ends: all remaining players have passed"),
    Event.TURN_LIMIT_REACHED: EventKind("the round ends: 200 turns have been played"),
    Event.HAND_SHOWN: EventKind("{seat} shows {cards}"),
    Event.PENALTY_TAKEN: EventKind(
        Plural("points", "{seat} takes {points} penalty point", "{seat} takes {points} penalty points")
    ),
    Event.GAME_ENDED: EventKind("the game is over"),
}
_PHRASES = {
    "action.main_ones": "discard all other 1s",
    "action.main_name": "choose the card that the next player must draw",
    "action.main_swap": "swap a card with the discard pile after the next player's draw",
    "outcome.first_seat": "{seat} begins",
    "outcome.card": "{card}",
    "prompt.swap_out": "choose a card of your hand to swap with one of the discard pile",
    "prompt.swap_in": "choose the card of the discard pile to take in exchange for {card}",
    "prompt.discard": "discard a pair of the same value or the same colour, or pass",
    "prompt.choice_ones": "discard all your other 1s, or reverse the direction of play",
    "prompt.choice_name": "choose the card that {other_seat} must draw, or reverse the direction of play",
    "prompt.choice_swap": "swap a card with the discard pile after the next draw, or reverse the direction of play",
    "prompt.name": "choose the card that {other_seat} must draw",
    "prompt.give": "choose a card to give, and the player who gets it",
    "prompt.hand_out": "choose a card of the discard pile for {other_seat}",
    "prompt.again": "discard another pair, or stop",
    "event.ones_discarded_none": "{seat} has no other 1",
}
_ENDS = {
    End.TWO_ROUNDS: "two rounds are over, and one player has the fewest penalty points",
    End.THIRD_ROUND: "there was a tie after two rounds, and the third is over",
}

# Parts of the observation

# The sum of the points of all cards: nine 1s, eight 2s and so on to one 9, and 10 for the Momistigri.
_MAX_POINTS = sum(value * (state.VALUES + 1 - value) for value in range(1, state.VALUES + 1)) + state.VALUES + 1

_OBSERVATION = (
    (
        "own_hand",
        "A flag per card of the whole box, in ascending order of kind; `copies` has the number of flags of each kind. "
        "If the observing seat holds n cards of a kind, the first n flags of the kind are 1. All parts with "
        f"{state.BOX} numbers have this form.",
        (state.BOX,),
        (flag(),),
    ),
    ("pile", "The cards in the discard pile.", (state.BOX,), (flag(),)),
    ("unseen", "The cards in the game that the observing seat cannot locate.", (state.BOX,), (flag(),)),
    (
        "known",
        "Per other seat, clockwise from the observing seat (zeros beyond the number of players): the cards that the "
        "observing seat knows to be in its hand.",
        (state.MAX_PLAYERS - 1, state.BOX),
        (flag(),),
    ),
    (
        "known_to_all",
        "Per seat, clockwise from the observing seat (zeros beyond the number of players): the cards that all seats "
        "know to be in its hand.",
        (state.MAX_PLAYERS, state.BOX),
        (flag(),),
    ),
    (
        "copies",
        f"Per kind 0-{state.COLOURED - 1}: the number of its cards in the whole box. Kind {state.MOMISTIGRI} has one "
        "card.",
        (state.COLOURED,),
        (count(state.ONES),),
    ),
    (
        "seats",
        "Per seat, clockwise from the observing seat (zeros beyond the number of players): 1; hand size; 1 if it is in "
        "the round; 1 if its pass mark is set; 1 if it is its turn; 1 if it has to decide; 1 if it is drawn from, or "
        "swaps; 1 if a card is being handed out to it; 1 if it was the round's first seat; 1 + the largest number of "
        "1s that it can hold, if the observing seat knows this from more than counting cards, else 0; the same for "
        "the knowledge that all seats share; penalties of rounds 1, 2 and 3.",
        (state.MAX_PLAYERS, OBSERVATION_SEAT_NUMBERS),
        (
            flag("present"),
            count(state.BOX, "hand_size"),
            flag("in_round"),
            flag("passed"),
            flag("has_turn"),
            flag("decides"),
            flag("gives"),
            flag("receives"),
            flag("first"),
            category(1 + state.ONES, "most_ones"),
            category(1 + state.ONES, "most_ones_known_to_all"),
            count(_MAX_POINTS, "penalties", (state.ROUNDS,)),
        ),
    ),
    ("players", "The number of players.", (), (count(state.MAX_PLAYERS),)),
    ("round", "The round, from 1.", (), (count(state.ROUNDS),)),
    ("turn", "The turn of the round, from 1; 0 during the deal.", (), (count(state.LAST_TURN),)),
    ("reversed", "1 if play goes counter-clockwise.", (), (flag(),)),
    ("draws_left", "Cards still to be drawn in the present draw; else 0.", (), (count(state.MAX_DRAW),)),
    (
        "pair_value",
        "The value of the pair for which Main or Reverse is to be chosen; else 0.",
        (),
        (category(state.LAST_CHOICE),),
    ),
    ("swapped_out", "1 + the kind just discarded by the seat that swaps; else 0.", (), (category(state.BOX),)),
    (
        "mark",
        "One-hot: the effect on the present draw: none, a swap after it, two cards, three cards.",
        (int(state.Mark.MARKS),),
        (flag(),),
    ),
    (
        "phase",
        "One-hot: first seat, deal, draw, swap out, swap in, discard, Main or Reverse, name, give, hand out, another "
        "pair, over.",
        (int(state.Phase.PHASES),),
        (flag(),),
    ),
)

DESCRIPTION = Description(
    name="momistigri",
    package=__package__,
    title="Momistigri",
    options=(
        Option.first_seat("The seat that begins the first round.", state.MAX_PLAYERS),
        Option(
            "copies",
            "Copies of the cards",
            "The number of cards of each kind in the whole box, for any number of players. Over the five colours, the "
            "cards of value 1 sum to 9, of value 2 to 8, ... of value 9 to 1.",
            OptionType.NUMBERS,
            0,
            state.VALUES,
            f"in order of value, card i (0 ... {state.COLOURED - 1}) has colour i mod {state.COLOURS}",
            tuple(_COPIES),
            length=state.COLOURED,
            index_kind="card",
        ),
    ),
    action_kinds=(
        ActionKind(
            "discard_pair",
            "Discard a pair of kinds a <= b: the id is b x (b + 1) / 2 + a. The cards of a legal pair have the same "
            "value (whose effect follows) or the same colour.",
            0,
            state.PASS_ID - 1,
            "discard {cards}",
        ),
        ActionKind("pass_turn", "Discard nothing; the pass mark is set.", state.PASS_ID, state.PASS_ID, "pass"),
        ActionKind(
            "stop",
            "After a pair of 6: discard no further pair.",
            state.STOP_ID,
            state.STOP_ID,
            "discard no further pair",
        ),
        ActionKind(
            "main",
            "After a pair of 1: discard all other 1s; of 2: name the card that the next seat must draw; of 3: swap a "
            "card with the pile after the next seat's draw.",
            state.MAIN_ID,
            state.MAIN_ID,
        ),
        ActionKind(
            "reverse",
            "After a pair of 1, 2 or 3: reverse the direction of play instead.",
            state.REVERSE_ID,
            state.REVERSE_ID,
            "reverse the direction of play",
        ),
        ActionKind(
            "name_card",
            f"Name a card of the hand, of kind id - {state.FIRST_NAME_ID}, which the next seat must draw.",
            state.FIRST_NAME_ID,
            state.FIRST_GIVE_ID - 1,
            "choose {card} for the next player to draw",
        ),
        ActionKind(
            "give",
            "After a pair of 4: give a card to the seat d places to the left, where d is 1 ... 4. The id is "
            f"{state.FIRST_GIVE_ID} + {state.KINDS} x (d - 1) + the kind of the card.",
            state.FIRST_GIVE_ID,
            state.FIRST_HAND_OUT_ID - 1,
            "give {card} to {other_seat}",
        ),
        ActionKind(
            "hand_out",
            f"After a pair of 5: give a card of the discard pile, of kind id - {state.FIRST_HAND_OUT_ID}, to the "
            "receiver.",
            state.FIRST_HAND_OUT_ID,
            state.FIRST_SWAP_OUT_ID - 1,
            "give {card} from the discard pile to {other_seat}",
        ),
        ActionKind(
            "swap_out",
            f"In a swap: discard a card of the hand, of kind id - {state.FIRST_SWAP_OUT_ID}.",
            state.FIRST_SWAP_OUT_ID,
            state.FIRST_SWAP_IN_ID - 1,
            "discard {card} for the swap",
        ),
        ActionKind(
            "swap_in",
            f"In a swap: take a card of the discard pile, of kind id - {state.FIRST_SWAP_IN_ID}.",
            state.FIRST_SWAP_IN_ID,
            state.NUM_ACTIONS - 1,
            "take {card} from the discard pile",
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn its kind.",
    pieces=_PIECES,
    piece_details=_PIECE_DETAILS,
    lowest_total_wins=True,
    observation=lay_out(_OBSERVATION),
    faults=with_keys(_FAULTS),
    events=_EVENTS,
    end_phrases=_ENDS,
    phrases=_PHRASES,
    argument_kinds={"seat": "seat", "other_seat": "seat", "card": "card", "cards": "card"},
)
