"""Chatpentiers in words: what the game says of itself."""

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
from chatiere.engine.games.chatpentiers.codec import CODEC
from chatiere.engine.games.chatpentiers.words import COLOUR_NAMES, FAULTS, card_name

_CARDS = 60
_COLOURS = 5
_VALUES = 12
_SEATS = 5
_SECTIONS = 4
_LARGEST_LIMIT = 9
_ROUNDS = 3
_LARGEST_HAND = 14
# Two of each trick.
_MOST_TAKEN = 2 * _LARGEST_HAND
# A point a card, and four perfect sections.
_MOST_POINTS = _MOST_TAKEN + 4
_FRENCH_COLOURS = ("gris", "vert", "rouge", "marron", "bleu")
_COLOUR_NUMBERS = ", ".join(f"{number} {name}" for number, name in enumerate(COLOUR_NAMES))

_OBSERVATION = (
    ("own_hand", "Per card: 1 in the own hand.", (_CARDS,), (flag(),)),
    ("table", "Per card: 1 if it lies on the table, not taken.", (_CARDS,), (flag(),)),
    (
        "trick",
        "Per card: 1 + d if the seat d to the left played it to this trick (also once it is taken), 6 if it is the "
        "extra card; else 0.",
        (_CARDS,),
        (category(_SEATS + 1),),
    ),
    ("discards", "Per card: 1 if it was discarded in this round.", (_CARDS,), (flag(),)),
    ("unseen", "Per card: 1 if the own seat does not know its place.", (_CARDS,), (flag(),)),
    (
        "boards",
        "Per seat, the own one first, then clockwise (zeros beyond the players), per card: 1 if it lies under that "
        "board.",
        (_SEATS, _CARDS),
        (flag(),),
    ),
    (
        "seats",
        "Per seat, the own one first: 1; hand size; points of rounds 1 and 2 (0 until they are finished); points of "
        "the present board; how far its sum is below 0; its perfect sections; 1 if it decides, or gets the next card; "
        "1 if it leads; total; per colour 1 if it has failed to follow it in this round; per colour 1 + the zone it "
        "lies in, 0 if it lies in none; per colour its cards under the board.",
        (_SEATS, 25),
        (
            flag("present"),
            count(_LARGEST_HAND, "hand_size"),
            count(_MOST_POINTS, "round_points", (_ROUNDS - 1,)),
            count(_MOST_POINTS, "board_points"),
            count(_MOST_TAKEN, "below_zero"),
            count(_SECTIONS, "perfect_sections"),
            flag("acts"),
            flag("leads"),
            count(_ROUNDS * _MOST_POINTS, "total"),
            flag("voids", (_COLOURS,)),
            category(_SECTIONS + 1, "zones", (_COLOURS,)),
            count(_VALUES, "cards", (_COLOURS,)),
        ),
    ),
    ("players", "The number of players.", (), (count(_SEATS),)),
    ("round", "The round, 1-3.", (), (count(_ROUNDS),)),
    ("tricks", "The number of tricks of a round.", (), (count(_LARGEST_HAND),)),
    ("section_limits", "The limits of sections 0-3.", (_SECTIONS,), (count(_LARGEST_LIMIT),)),
    ("colours_in_use", "Per colour: 1 if its cards are played with.", (_COLOURS,), (flag(),)),
    ("led_colour", "One-hot: the colour that was led; zeros before the leader has played.", (_COLOURS,), (flag(),)),
    ("undealt", "How many cards are not dealt, nor turned up as an extra card.", (), (count(_CARDS),)),
    ("discarded", "How many cards were discarded in this round.", (), (count(_LARGEST_HAND),)),
    ("to_take", "How many cards the deciding seat has yet to take of the trick; 0 unless it takes.", (), (count(2),)),
    ("phase", "One-hot: first seat, deal, extra card, play, take, over.", (6,), (flag(),)),
)

_PIECES = (
    *(
        Piece(card, card_name(card), f"{_FRENCH_COLOURS[card // _VALUES]} {card % _VALUES + 1}")
        for card in range(_CARDS)
    ),
    *(Piece(colour, COLOUR_NAMES[colour], _FRENCH_COLOURS[colour], "colour") for colour in range(_COLOURS)),
    *(Piece(section, f"section {section}", f"section {section}", "zone") for section in range(4)),
    Piece(4, "zero zone", "zone Zéro", "zone"),
)

DESCRIPTION = Description(
    name="chatpentiers",
    english_title="CATsle Builders",
    french_title="Chatpentiers",
    options=(
        first_seat_option("The seat that leads the first round's first trick.", _SEATS),
        Option(
            "section_limits",
            "The limits of sections 0, 1, 2 and 3 of every board: four numbers.",
            1,
            _LARGEST_LIMIT,
            "1, 2, 3, 4 with 4 or 5 players, 1, 2, 3, 5 with 3 players",
        ),
        Option(
            "removed_colour",
            f"The colour that is left out with 3 players (ignored with 4 or 5): {_COLOUR_NUMBERS}.",
            0,
            _COLOURS - 1,
            "3, brown",
            (3,),
        ),
    ),
    action_kinds=(
        ActionKind("play_card", "Play a card of the hand to the trick; the id is the card's number.", 0, 59),
        ActionKind(
            "take_card",
            "Take a card from the table and place it in a zone of the own board: 60 + 5 x the card's number + the zone "
            "(0-3: that section; 4: the zero zone, with 4 or 5 players).",
            60,
            359,
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or turned up the card's number.",
    pieces=_PIECES,
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    encode_options=CODEC.encode_options,
    options_of=CODEC.options_of,
    action_label=CODEC.action_label,
    outcome_label=CODEC.outcome_label,
)
