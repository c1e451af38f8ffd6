"""Momistigri in words: what the game says of itself."""

from chatiere.engine.core.description import (
    ActionKind,
    Description,
    Option,
    Piece,
    category,
    count,
    first_seat_option,
    flag,
    lay_out,
)
from chatiere.engine.games.momistigri.codec import CODEC, DEFAULTS
from chatiere.engine.games.momistigri.words import CARD_NAMES, FAULTS

_CARDS = 46
_SEATS = 5
_COLOURED = 45
_MOMISTIGRI = 45
_ONES = 9
_ROUNDS = 3
_LAST_TURN = 200
_LARGEST_DRAW = 3
# Of all cards: nine 1s, eight 2s ... one 9, and the Momistigri's 10.
_MOST_POINTS = sum(value * (10 - value) for value in range(1, 11)) + 10

_OBSERVATION = (
    (
        "own_hand",
        "A flag per card of the whole box, in ascending order of kind (as `copies` says): of a kind of which the own "
        "hand holds n the first n are 1. So in all parts with 46 numbers.",
        (_CARDS,),
        (flag(),),
    ),
    ("pile", "What lies in the discard pile.", (_CARDS,), (flag(),)),
    ("unseen", "What is in the game of which the own seat does not know where it is.", (_CARDS,), (flag(),)),
    (
        "known",
        "Per other seat, clockwise from the own one (zeros beyond the players): what its hand holds at least, as the "
        "own seat surely knows.",
        (_SEATS - 1, _CARDS),
        (flag(),),
    ),
    ("copies", "Per kind 0-44: how many cards the whole box has; kind 45 has one.", (_COLOURED,), (count(_ONES),)),
    (
        "seats",
        "Per seat, the own one first, then clockwise (zeros beyond the players): 1; hand size; 1 if in the round; "
        "1 if its pass mark is set; 1 if it is its turn; 1 if it has to decide; 1 if it is drawn from, or swaps; "
        "1 if a card is being handed out to it; 1 if it was the round's first seat; 1 + how many 1s its hand "
        "holds at most, as the own seat knows beyond counting cards, 0 for no such knowledge; penalties of rounds "
        "1, 2 and 3.",
        (_SEATS, 13),
        (
            flag("present"),
            count(_CARDS, "hand_size"),
            flag("in_round"),
            flag("passed"),
            flag("has_turn"),
            flag("decides"),
            flag("gives"),
            flag("receives"),
            flag("first"),
            category(1 + _ONES, "most_ones"),
            count(_MOST_POINTS, "penalties", (_ROUNDS,)),
        ),
    ),
    ("players", "The number of players.", (), (count(_SEATS),)),
    ("round", "The round, from 1.", (), (count(_ROUNDS),)),
    ("turn", "The turn of the round, from 1; 0 during the deal.", (), (count(_LAST_TURN),)),
    ("reversed", "1 if play goes counter-clockwise.", (), (flag(),)),
    ("draws_left", "Cards still to be drawn in the draw under way; else 0.", (), (count(_LARGEST_DRAW),)),
    ("effect", "The value of the pair for which Main or Reverse is to be chosen; else 0.", (), (category(3),)),
    ("swapped_out", "1 + the kind just discarded by the seat that swaps; else 0.", (), (category(_CARDS),)),
    (
        "mark",
        "One-hot, what changes the draw under way: nothing, a swap after it, two cards, three cards.",
        (4,),
        (flag(),),
    ),
    (
        "phase",
        "One-hot: first seat, deal, draw, swap out, swap in, discard, Main or Reverse, name, give, hand out, "
        "another pair, over.",
        (12,),
        (flag(),),
    ),
)


def _pieces() -> tuple[Piece, ...]:
    coloured = tuple(
        Piece(kind, CARD_NAMES[kind], f"chat {kind % 9 + 1} de couleur {'ABCDE'[kind // 9]} ({CARD_NAMES[kind]})")
        for kind in range(_MOMISTIGRI)
    )
    return (*coloured, Piece(_MOMISTIGRI, "Momistigri", "Momistigri"))


DESCRIPTION = Description(
    name="momistigri",
    english_title="Momistigri",
    french_title="Momistigri",
    options=(
        first_seat_option("The seat that begins the first round.", _SEATS),
        Option(
            "copies",
            "How many cards of each kind 0-44 the whole box has, whatever the number of players: 45 numbers; over "
            "the five colours those of value 1 sum to 9, of value 2 to 8, ... of value 9 to 1.",
            0,
            9,
            "in the order of value, card i = 0 ... 44 has colour i mod 5",
            tuple(DEFAULTS["copies"]),
        ),
    ),
    action_kinds=(
        ActionKind(
            "discard_pair",
            "Discard a pair, kinds a <= b: id b x (b + 1) / 2 + a. Legal pairs have one value (with its effect) or "
            "one colour.",
            0,
            1080,
        ),
        ActionKind("pass_turn", "Discard nothing; the pass mark is set.", 1081, 1081),
        ActionKind("stop", "After a pair of 6: discard no further pair.", 1082, 1082),
        ActionKind(
            "main",
            "After a pair of 1: discard all other 1s; of 2: name the card that the next seat must draw; of 3: swap a "
            "card with the pile after the next seat's draw.",
            1083,
            1083,
        ),
        ActionKind("reverse", "After a pair of 1, 2 or 3: reverse the direction of play instead.", 1084, 1084),
        ActionKind(
            "name_card", "Name the card of the own hand, kind id - 1085, that the next seat must draw.", 1085, 1130
        ),
        ActionKind(
            "give",
            "After a pair of 4: give a card to the seat d places to the left of the own one, d = 1 ... 4: id "
            "1131 + 46 x (d - 1) + kind.",
            1131,
            1314,
        ),
        ActionKind("hand_out", "After a pair of 5: the pile's card, kind id - 1315, for the receiver.", 1315, 1360),
        ActionKind("swap_out", "In a swap: the own card, kind id - 1361, that is discarded.", 1361, 1406),
        ActionKind("swap_in", "In a swap: the card of the pile, kind id - 1407, that is taken.", 1407, 1452),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn its kind.",
    pieces=_pieces(),
    lowest_total_wins=True,
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    encode_options=CODEC.encode_options,
    options_of=CODEC.options_of,
    action_label=CODEC.action_label,
    outcome_label=CODEC.outcome_label,
)
