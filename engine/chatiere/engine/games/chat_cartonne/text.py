"""Chat Cartonne in words: titles, options, actions, pieces and the layout of observations."""

from chatiere.engine.core.description import (
    ActionKind,
    Description,
    Each,
    Option,
    OptionType,
    bits,
    category,
    count,
    first_seat_option,
    flag,
    lay_out,
)
from chatiere.engine.games.chat_cartonne.codec import CODEC
from chatiere.engine.games.chat_cartonne.pieces import PIECE_DETAILS
from chatiere.engine.games.chat_cartonne.words import ENDS, FAULTS, IDS, PIECES, SIZES

# Kinds of cards in a pile: cartons, toys and, the last one, the Princess.
_PILE_KINDS = SIZES.princess + 1
# A Princess a part.
_PRINCESSES = SIZES.parts
# Before the deal.
_MAX_IN_PILE = SIZES.cartons + SIZES.toys + _PRINCESSES


_OBSERVATION = (
    (
        "contents",
        "Per cell (row, column): 0 empty; a carton or toy card with 1 nothing, 2 a mouse, 3 a ball, 4 a fish, 5 mouse "
        "and ball, 6 ball and fish, 7 fish and mouse, 8 a sprayer, 9 two mice, 10 two balls, 11 two fish; "
        f"{SIZES.first_sleeper_shown} + d a sleeping cat of the seat d seats to the left "
        f"({SIZES.first_sleeper_shown}: own); {SIZES.first_woken_shown} + d such a cat that has woken; "
        f"{SIZES.princess_shown} the Princess. One-hot: "
        f"numpy.eye({SIZES.princess_shown + 1})[contents].",
        (SIZES.side, SIZES.side),
        (category(SIZES.princess_shown),),
    ),
    (
        "walls",
        "Per cell: 1 for a wall north of it + 2 east + 4 south + 8 west + 16 x what lies on the joint of which it is "
        f"the west cell: 0 nothing; {SIZES.awake} + d an awake cat of the seat d seats to the left "
        f"({SIZES.awake}: own); {SIZES.princess_there} the Princess; {SIZES.toy_there} mice; {SIZES.toy_there + 1} "
        f"balls; {SIZES.last_there} fish. Planes of walls: walls >> numpy.arange(4)[:, None, None] & 1; of "
        f"joints, one-hot: numpy.eye({SIZES.last_there + 1})[walls >> 4].",
        (SIZES.side, SIZES.side),
        (bits(4, "sides"), category(SIZES.last_there, "joint", first_bit=4)),
    ),
    (
        "own_hand",
        f"Per slot of the own hand: 1 + kind ({_PILE_KINDS}: the Princess); 0 for none. One-hot: "
        f"numpy.eye({_PILE_KINDS + 1})[own_hand].",
        (SIZES.slots,),
        (category(_PILE_KINDS),),
    ),
    (
        "unseen",
        f"Per kind of card 0-{SIZES.princess}: how many of it are in the pile or in other hands.",
        (_PILE_KINDS,),
        (flag("cards", (_PILE_KINDS - 1,)), count(_PRINCESSES, "princesses")),
    ),
    (
        "pending",
        f"The kind of the toy card ({SIZES.first_toy}-{SIZES.princess - 1}) or starting carton "
        f"({SIZES.first_start}-{SIZES.sleeper - 1}) that the seat whose turn it is has drawn and has to place at once; "
        "else 0.",
        (),
        (category(SIZES.sleeper - 1),),
    ),
    (
        "just_played",
        "1 + row and 1 + column of the carton that a cat may follow now; else 0.",
        (2,),
        (category(SIZES.side),),
    ),
    (
        "seats",
        "Per seat, the own one first, then clockwise (zeros beyond the players): 1; hand size; cats in supply; 1 if it "
        "is its turn; 1 if it began; 1 if it holds a carton, in the final phase; cards drawn from each of "
        f"{SIZES.parts} parts of the pile, toys apart; Princesses played while each part was the last it had drawn "
        f"from; for each of {SIZES.slots} cards "
        "in hand (which ones is not known) two numbers of what passes have shown that it cannot be: the sum of 2 ** p "
        f"over wall patterns p, 0-{SIZES.patterns - 1}, and 1 if it is not the Princess. Flags of patterns: "
        'numpy.unpackbits(seats[:, 16::2, None], axis=2, bitorder="little").',
        (SIZES.seats, SIZES.seat_numbers),
        (
            flag("present"),
            count(SIZES.slots, "hand_size"),
            count(SIZES.cats, "supply"),
            flag("has_turn"),
            flag("first"),
            flag("holds_carton"),
            # With 2 players, after the deal.
            count(SIZES.cartons - 2 * SIZES.dealt + _PRINCESSES, "drawn", (SIZES.parts,)),
            count(_PRINCESSES, "played", (SIZES.parts,)),
            Each(SIZES.slots, (bits(SIZES.patterns, "not_patterns"), flag("not_princess"))),
        ),
    ),
    (
        "parts",
        "Per part of the pile, the upper one first: cards left; 1 if the own seat drew its Princess.",
        (SIZES.parts, 2),
        (count(_MAX_IN_PILE, "left"), flag("own_princess")),
    ),
    ("players", "The number of players.", (), (count(SIZES.seats),)),
    ("pile", "Cards in the pile.", (), (count(_MAX_IN_PILE),)),
    (
        "final_phase",
        "1 if the final phase has begun; passes in succession in it.",
        (2,),
        (flag("begun"), count(SIZES.seats, "passes")),
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
        (SIZES.phases,),
        (flag(),),
    ),
)


def _variant(name: str, title: str, meaning: str) -> Option:
    return Option(name, title, meaning, OptionType.FLAG, 0, 1, "no", (0,))


DESCRIPTION = Description(
    name="chat_cartonne",
    package=__package__,
    title="If It Fits",
    options=(
        first_seat_option("The seat that begins.", SIZES.seats),
        _variant("all_princesses", "All Princesses", "All five Princesses are shuffled into one pile."),
        _variant("no_double_walls", "No double walls", "Wall may not meet wall."),
        _variant("no_crowd_bonus", "No bonus for crowds", "Several cats of a seat in a box give no bonus."),
        _variant("half_sleepers", "Half sleepers", "For the majority a woken cat counts half."),
    ),
    action_kinds=(
        ActionKind(
            "choose_start",
            f"Choose the first starting carton: 2 x (kind - {SIZES.first_start}) + turned.",
            0,
            IDS.draw - 1,
        ),
        ActionKind("draw", "Draw a card.", IDS.draw, IDS.draw),
        ActionKind("skip", "Let no cat follow the carton just played.", IDS.skip, IDS.skip),
        ActionKind("pass_turn", "Pass, with nothing legal to play.", IDS.pass_turn, IDS.pass_turn),
        ActionKind(
            "place_carton",
            f"Place a carton: {IDS.place_carton} + {IDS.of_slot} x slot + {SIZES.cells} x turned + cell, the hand "
            f"sorted by kind ascending into slots 0-{SIZES.slots - 1}; slot 0 is the starting carton while that is to "
            "be placed.",
            IDS.place_carton,
            IDS.sleep - 1,
        ),
        ActionKind("sleep", f"Lay a sleeping cat: {IDS.sleep} + cell.", IDS.sleep, IDS.lay_cat - 1),
        ActionKind(
            "lay_cat",
            f"Lay an awake cat beside the carton just played: {IDS.lay_cat} + joint.",
            IDS.lay_cat,
            IDS.princess_on_joint - 1,
        ),
        ActionKind(
            "princess_on_joint",
            f"The Princess takes an awake cat's place: {IDS.princess_on_joint} + joint.",
            IDS.princess_on_joint,
            IDS.princess_in_cell - 1,
        ),
        ActionKind(
            "princess_in_cell",
            f"The Princess takes the place of a cat that sleeps, or has woken: {IDS.princess_in_cell} + cell.",
            IDS.princess_in_cell,
            IDS.toy_on_joint - 1,
        ),
        ActionKind(
            "toy_on_joint",
            f"Lay the toy card just drawn on a joint: {IDS.toy_on_joint} + joint.",
            IDS.toy_on_joint,
            IDS.toy_as_carton - 1,
        ),
        ActionKind(
            "toy_as_carton",
            f"Lay the toy card just drawn as a carton: {IDS.toy_as_carton} + cell.",
            IDS.toy_as_carton,
            IDS.end - 1,
        ),
    ),
    outcomes=(
        f"For the first seat the seat's number; for a card that is dealt or drawn its kind, 0-{SIZES.sleeper - 1}."
    ),
    pieces=PIECES,
    piece_details=PIECE_DETAILS,
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    ends=ENDS,
    encode_options=CODEC.encode_options,
    options_of=CODEC.options_of,
    action_label=CODEC.action_label,
    outcome_label=CODEC.outcome_label,
)
