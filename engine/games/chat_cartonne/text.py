"""Chat Cartonne in words: what the game says of itself."""

from chatiere.engine.core.description import (
    ActionKind,
    Description,
    Each,
    Option,
    Piece,
    bits,
    category,
    count,
    first_seat_option,
    flag,
    lay_out,
)
from chatiere.engine.games.chat_cartonne.codec import CODEC
from chatiere.engine.games.chat_cartonne.words import FAULTS, KINDS

_SEATS = 5
_PARTS = 5
_SIDE = 24
_SLOTS = 3
_CATS = 5
_CARTONS = 72
_TOYS = 3
# Kinds of cards that a pile has: cartons, toys and, the last one, the Princess.
_HAND_KINDS = _CARTONS + _TOYS + 1
_PRINCESSES = 5
_LAST_KIND = 80
# Before the deal.
_MOST_IN_PILE = _CARTONS + _TOYS + _PRINCESSES


_OBSERVATION = (
    (
        "contents",
        "Per cell (row, column): 0 empty; a carton or toy card with 1 nothing, 2 a mouse, 3 a ball, 4 a fish, 5 mouse "
        "and ball, 6 ball and fish, 7 fish and mouse, 8 a sprayer, 9 two mice, 10 two balls, 11 two fish; 12 + d a "
        "sleeping cat of the seat d seats to the left (12: own); 17 the Princess. One-hot: numpy.eye(18)[contents].",
        (_SIDE, _SIDE),
        (category(17),),
    ),
    (
        "walls",
        "Per cell: 1 for a wall north of it + 2 east + 4 south + 8 west + 16 x what lies on the joint of which it is "
        "the west cell: 0 nothing; 1 + d an awake cat of the seat d seats to the left (1: own); 6 the Princess; 7 "
        "mice; 8 balls; 9 fish. Planes of walls: walls >> numpy.arange(4)[:, None, None] & 1; of joints, one-hot: "
        "numpy.eye(10)[walls >> 4].",
        (_SIDE, _SIDE),
        (bits(4, "sides"), category(9, "joint", first_bit=4)),
    ),
    (
        "own_hand",
        "Per slot of the own hand: 1 + kind (76: the Princess); 0 for none. One-hot: numpy.eye(77)[own_hand].",
        (_SLOTS,),
        (category(_HAND_KINDS),),
    ),
    (
        "unseen",
        "Per kind of card 0-75: how many of it are in the pile or in other hands.",
        (_HAND_KINDS,),
        (flag("cards", (_HAND_KINDS - 1,)), count(_PRINCESSES, "princesses")),
    ),
    (
        "pending",
        "The kind of the toy card (72-74) or starting carton (76-80) that the seat whose turn it is has drawn and has "
        "to place at once; else 0.",
        (),
        (category(_LAST_KIND),),
    ),
    (
        "just_played",
        "1 + row and 1 + column of the carton that a cat may follow now; else 0.",
        (2,),
        (category(_SIDE),),
    ),
    (
        "seats",
        "Per seat, the own one first, then clockwise (zeros beyond the players): 1; hand size; cats in supply; 1 if it "
        "is its turn; 1 if it began; 1 if it holds a carton, in the final phase; cards drawn from each of 5 parts of "
        "the pile, toys apart; Princesses played while each part was the last it had drawn from; for each of 3 cards "
        "in hand (which ones is not known) two numbers of what passes have shown that it cannot be: the sum of 2 ** p "
        "over wall patterns p, 0-7, and 1 if it is not the Princess. Flags of patterns: "
        'numpy.unpackbits(seats[:, 16::2, None], axis=2, bitorder="little").',
        (_SEATS, 22),
        (
            flag("present"),
            count(_SLOTS, "hand_size"),
            count(_CATS, "supply"),
            flag("has_turn"),
            flag("first"),
            flag("holds_carton"),
            # With 2 players, after the deal.
            count(_CARTONS - 4 + _PRINCESSES, "drawn", (_PARTS,)),
            count(_PRINCESSES, "played", (_PARTS,)),
            Each(_SLOTS, (bits(8, "not_patterns"), flag("not_princess"))),
        ),
    ),
    (
        "parts",
        "Per part of the pile, the upper one first: cards left; 1 if the own seat drew its Princess.",
        (_PARTS, 2),
        (count(_MOST_IN_PILE, "left"), flag("own_princess")),
    ),
    ("players", "The number of players.", (), (count(_SEATS),)),
    ("pile", "Cards in the pile.", (), (count(_MOST_IN_PILE),)),
    (
        "final_phase",
        "1 if the final phase has begun; passes in succession in it.",
        (2,),
        (flag("begun"), count(_SEATS, "passes")),
    ),
    (
        "variants",
        "1 for each of all_princesses, no_double_walls, no_crowd_bonus, half_sleepers in force.",
        (4,),
        (flag(),),
    ),
    (
        "phase",
        "One-hot: first seat, deal, choose start, draw start, place start, turn, draw, play, toy, cat, over.",
        (11,),
        (flag(),),
    ),
)


def _variant(name: str, meaning: str) -> Option:
    return Option(name, meaning, 0, 1, "no", (0,))


DESCRIPTION = Description(
    name="chat_cartonne",
    english_title="If It Fits",
    french_title="Chat Cartonne",
    options=(
        first_seat_option("The seat that begins.", _SEATS),
        _variant("all_princesses", "All five Princesses are shuffled into one pile."),
        _variant("no_double_walls", "Wall may not meet wall."),
        _variant("no_crowd_bonus", "Several cats of a seat in a box give no bonus."),
        _variant("half_sleepers", "For the majority a sleeping cat counts half."),
    ),
    action_kinds=(
        ActionKind("choose_start", "Choose the first starting carton: 2 x (kind - 76) + turned.", 0, 9),
        ActionKind("draw", "Draw a card.", 10, 10),
        ActionKind("skip", "Let no cat follow the carton just played.", 11, 11),
        ActionKind("pass_turn", "Pass, with nothing legal to play.", 12, 12),
        ActionKind(
            "place_carton",
            "Place a carton: 13 + 1152 x slot + 576 x turned + cell, the hand sorted by kind ascending into slots 0-2; "
            "slot 0 is the starting carton while that is to be placed.",
            13,
            3468,
        ),
        ActionKind("sleep", "Lay a sleeping cat: 3469 + cell.", 3469, 4044),
        ActionKind("lay_cat", "Lay an awake cat beside the carton just played: 4045 + joint.", 4045, 4620),
        ActionKind("princess_on_joint", "The Princess takes an awake cat's place: 4621 + joint.", 4621, 5196),
        ActionKind("princess_in_cell", "The Princess takes a sleeping cat's place: 5197 + cell.", 5197, 5772),
        ActionKind("toy_on_joint", "Lay the toy card just drawn on a joint: 5773 + joint.", 5773, 6348),
        ActionKind("toy_as_carton", "Lay the toy card just drawn as a carton: 6349 + cell.", 6349, 6924),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn its kind, 0-80.",
    pieces=(
        *(Piece(kind, english, french) for kind, (english, french) in enumerate(KINDS)),
        *(
            Piece(
                cell,
                f"column {cell % _SIDE}, row {cell // _SIDE}",
                f"colonne {cell % _SIDE}, ligne {cell // _SIDE}",
                "cell",
            )
            for cell in range(_SIDE * _SIDE)
        ),
    ),
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    encode_options=CODEC.encode_options,
    options_of=CODEC.options_of,
    action_label=CODEC.action_label,
    outcome_label=CODEC.outcome_label,
)
