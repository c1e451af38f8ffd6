"""Discat in words: what the game says of itself."""

from chatiere.engine.core.description import ActionKind, Description, Option, Piece, first_seat_option, lay_out
from chatiere.engine.games.discat.codec import encode_options, options_of, outcome_label, put_action_label
from chatiere.engine.games.discat.words import FAULTS

_CARDS = 90
_SEATS = 6


_OBSERVATION = (
    ("own_hand", "Per card (index card - 1): 1 in the own hand.", (_CARDS,)),
    ("laid", "Per card: 1 if it lies on a personal or bonus pile.", (_CARDS,)),
    (
        "known",
        "Per card: 1 if the own seat put it under the draw pile and it lies there; 1 + d if it is known to be in the "
        "hand d seats to the left; else 0.",
        (_CARDS,),
    ),
    ("meets_constraint", "Per card in use: 1 if it is on the constraint's right side, or there is none.", (_CARDS,)),
    ("points_up", "Per card in use: 1 if its arrows point up.", (_CARDS,)),
    (
        "seats",
        "Per seat, the own one first, then clockwise (zeros beyond the players): 1; hand size; cards on the personal "
        "pile; cards on the bonus pile; number of the top card of the personal pile (0: none); 1 if that lies face "
        "down; 1 if it is its turn; 1 if it created the constraint in force.",
        (_SEATS, 8),
    ),
    ("players", "The number of players.", ()),
    ("draw_pile", "Cards in the draw pile, those put under it included.", ()),
    ("queue", "Cards that were put under the draw pile and lie there.", ()),
    ("passes", "Passes since the last play.", ()),
    ("bonus_drawn", "1 if the constraint's creator has drawn its bonus card.", ()),
    ("last_turns", "Turns left once last turns have begun, the present one included; else 0.", ()),
    ("phase", "One-hot: first seat, deal, play, bonus, pass, exchange, refill, over.", (8,)),
)

DESCRIPTION = Description(
    name="discat",
    english_title="Discat",
    french_title="Discat",
    options=(
        first_seat_option("The seat that begins.", _SEATS),
        Option(
            "up_arrows",
            "The cards whose arrows point up; all others point down.",
            1,
            _CARDS,
            "odd numbers point up, even numbers down",
            tuple(range(1, _CARDS, 2)),
        ),
    ),
    action_kinds=(
        ActionKind(
            "play",
            "Lay a card or a group: with the hand sorted ascending into slots 0-5, 32 x the top card's slot + a mask "
            "of the others, bit k for the k-th slot other than the top's.",
            0,
            191,
        ),
        ActionKind("keep", "Pass and keep the hand.", 192, 192),
        ActionKind("exchange", "Pass and put the card of slot id - 193 under the draw pile.", 193, 198),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn the card's number - 1.",
    pieces=tuple(Piece(card, f"card {card}", f"carte {card}") for card in range(1, _CARDS + 1)),
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    encode_options=encode_options,
    options_of=options_of,
    put_action_label=put_action_label,
    outcome_label=outcome_label,
)
