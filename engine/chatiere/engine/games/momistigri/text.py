"""Momistigri in words: titles, options, actions, pieces and the layout of observations."""

from chatiere.engine.core.description import (
    ActionKind,
    Description,
    Option,
    OptionType,
    category,
    count,
    first_seat_option,
    flag,
    lay_out,
)
from chatiere.engine.games.momistigri.codec import CODEC, DEFAULTS
from chatiere.engine.games.momistigri.pieces import PIECE_DETAILS
from chatiere.engine.games.momistigri.words import ENDS, FAULTS, IDS, PIECES, SIZES

# Of all cards: nine 1s, eight 2s ... one 9, and the Momistigri's 10.
_MAX_POINTS = sum(value * (SIZES.values + 1 - value) for value in range(1, SIZES.values + 1)) + SIZES.values + 1

_OBSERVATION = (
    (
        "own_hand",
        "A flag per card of the whole box, in ascending order of kind (as `copies` says): of a kind of which the own "
        f"hand holds n the first n are 1. So in all parts with {SIZES.box} numbers.",
        (SIZES.box,),
        (flag(),),
    ),
    ("pile", "What lies in the discard pile.", (SIZES.box,), (flag(),)),
    ("unseen", "What is in the game of which the own seat does not know where it is.", (SIZES.box,), (flag(),)),
    (
        "known",
        "Per other seat, clockwise from the own one (zeros beyond the players): what its hand holds at least, as the "
        "own seat surely knows.",
        (SIZES.seats - 1, SIZES.box),
        (flag(),),
    ),
    (
        "known_to_all",
        "Per seat, the own one first, then clockwise (zeros beyond the players): what its hand holds at least, as all "
        "know.",
        (SIZES.seats, SIZES.box),
        (flag(),),
    ),
    (
        "copies",
        f"Per kind 0-{SIZES.coloured - 1}: how many cards the whole box has; kind {SIZES.momistigri} has one.",
        (SIZES.coloured,),
        (count(SIZES.ones),),
    ),
    (
        "seats",
        "Per seat, the own one first, then clockwise (zeros beyond the players): 1; hand size; 1 if in the round; "
        "1 if its pass mark is set; 1 if it is its turn; 1 if it has to decide; 1 if it is drawn from, or swaps; "
        "1 if a card is being handed out to it; 1 if it was the round's first seat; 1 + how many 1s its hand "
        "holds at most, as the own seat knows beyond counting cards, 0 for no such knowledge; the same, as all know; "
        "penalties of rounds 1, 2 and 3.",
        (SIZES.seats, SIZES.seat_numbers),
        (
            flag("present"),
            count(SIZES.box, "hand_size"),
            flag("in_round"),
            flag("passed"),
            flag("has_turn"),
            flag("decides"),
            flag("gives"),
            flag("receives"),
            flag("first"),
            category(1 + SIZES.ones, "most_ones"),
            category(1 + SIZES.ones, "most_ones_known_to_all"),
            count(_MAX_POINTS, "penalties", (SIZES.rounds,)),
        ),
    ),
    ("players", "The number of players.", (), (count(SIZES.seats),)),
    ("round", "The round, from 1.", (), (count(SIZES.rounds),)),
    ("turn", "The turn of the round, from 1; 0 during the deal.", (), (count(SIZES.last_turn),)),
    ("reversed", "1 if play goes counter-clockwise.", (), (flag(),)),
    ("draws_left", "Cards still to be drawn in the draw under way; else 0.", (), (count(SIZES.max_draw),)),
    (
        "pair_value",
        "The value of the pair for which Main or Reverse is to be chosen; else 0.",
        (),
        (category(SIZES.last_choice),),
    ),
    ("swapped_out", "1 + the kind just discarded by the seat that swaps; else 0.", (), (category(SIZES.box),)),
    (
        "mark",
        "One-hot, what changes the draw under way: nothing, a swap after it, two cards, three cards.",
        (SIZES.marks,),
        (flag(),),
    ),
    (
        "phase",
        "One-hot: first seat, deal, draw, swap out, swap in, discard, Main or Reverse, name, give, hand out, "
        "another pair, over.",
        (SIZES.phases,),
        (flag(),),
    ),
)


DESCRIPTION = Description(
    name="momistigri",
    package=__package__,
    title="Momistigri",
    options=(
        first_seat_option("The seat that begins the first round.", SIZES.seats),
        Option(
            "copies",
            "Copies of the cards",
            "How many cards of each kind the whole box has, whatever the number of players; over the five colours "
            "those of value 1 sum to 9, of value 2 to 8, ... of value 9 to 1.",
            OptionType.NUMBERS,
            0,
            SIZES.values,
            f"in the order of value, card i = 0 ... {SIZES.coloured - 1} has colour i mod {SIZES.colours}",
            tuple(DEFAULTS["copies"]),
            length=SIZES.coloured,
            index_kind="card",
        ),
    ),
    action_kinds=(
        ActionKind(
            "discard_pair",
            "Discard a pair, kinds a <= b: id b x (b + 1) / 2 + a. Legal pairs have one value (with its effect) or "
            "one colour.",
            0,
            IDS.pass_turn - 1,
        ),
        ActionKind("pass_turn", "Discard nothing; the pass mark is set.", IDS.pass_turn, IDS.pass_turn),
        ActionKind("stop", "After a pair of 6: discard no further pair.", IDS.stop, IDS.stop),
        ActionKind(
            "main",
            "After a pair of 1: discard all other 1s; of 2: name the card that the next seat must draw; of 3: swap a "
            "card with the pile after the next seat's draw.",
            IDS.main,
            IDS.main,
        ),
        ActionKind(
            "reverse", "After a pair of 1, 2 or 3: reverse the direction of play instead.", IDS.reverse, IDS.reverse
        ),
        ActionKind(
            "name_card",
            f"Name the card of the own hand, kind id - {IDS.name_card}, that the next seat must draw.",
            IDS.name_card,
            IDS.give - 1,
        ),
        ActionKind(
            "give",
            "After a pair of 4: give a card to the seat d places to the left of the own one, d = 1 ... 4: id "
            f"{IDS.give} + {SIZES.kinds} x (d - 1) + kind.",
            IDS.give,
            IDS.hand_out - 1,
        ),
        ActionKind(
            "hand_out",
            f"After a pair of 5: the pile's card, kind id - {IDS.hand_out}, for the receiver.",
            IDS.hand_out,
            IDS.swap_out - 1,
        ),
        ActionKind(
            "swap_out",
            f"In a swap: the own card, kind id - {IDS.swap_out}, that is discarded.",
            IDS.swap_out,
            IDS.swap_in - 1,
        ),
        ActionKind(
            "swap_in",
            f"In a swap: the card of the pile, kind id - {IDS.swap_in}, that is taken.",
            IDS.swap_in,
            IDS.end - 1,
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn its kind.",
    pieces=PIECES,
    piece_details=PIECE_DETAILS,
    lowest_total_wins=True,
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    ends=ENDS,
    encode_options=CODEC.encode_options,
    options_of=CODEC.options_of,
    action_label=CODEC.action_label,
    outcome_label=CODEC.outcome_label,
)
