"""Discat: the description of the game."""

from chatiere.engine.core.description import (
    ActionKind,
    Description,
    Option,
    OptionType,
    bits,
    category,
    count,
    first_seat_option,
    flag,
    lay_out,
)
from chatiere.engine.games.discat.codec import CODEC, DEFAULT_UP_ARROWS
from chatiere.engine.games.discat.pieces import PIECE_DETAILS
from chatiere.engine.games.discat.words import ENDS, FAULTS, IDS, PIECES, SIZES

_OBSERVATION = (
    ("own_hand", "Per card (index card - 1): 1 in the own hand.", (SIZES.cards,), (flag(),)),
    ("laid", "Per card: 1 if it lies on a personal or bonus pile.", (SIZES.cards,), (flag(),)),
    (
        "order",
        "Per card laid: its number, from 1, in the order in which all were laid, the top of a play last; else 0.",
        (SIZES.cards,),
        (count(SIZES.cards),),
    ),
    (
        "turns",
        "Per card that was the top of its play: bit i is 1 if the pass of number i after it exchanged a card; "
        f"above, from bit {SIZES.turns_bit} on, 1 + the number of passes after it. Else 0.",
        (SIZES.cards,),
        (bits(SIZES.turns_bit, "exchanged"), count(SIZES.seats, "count", first_bit=SIZES.turns_bit)),
    ),
    (
        "known",
        "Per card: 1 if the own seat put it under the draw pile and it lies there; 1 + d if it is known to be in the "
        "hand d seats to the left; else 0.",
        (SIZES.cards,),
        (category(SIZES.seats),),
    ),
    (
        "queue_place",
        "Per card that the own seat put under the draw pile and that lies there: its place, from 1, the next to be "
        "drawn; else 0.",
        (SIZES.cards,),
        (count(SIZES.pile),),
    ),
    (
        "meets_constraint",
        "Per card in use: 1 if it is on the constraint's right side, or there is none.",
        (SIZES.cards,),
        (flag(),),
    ),
    ("points_up", "Per card in use: 1 if its arrows point up.", (SIZES.cards,), (flag(),)),
    (
        "redrawn",
        f"The last {SIZES.redrawn} cards that were put under the draw pile and drawn since, the latest first: the "
        "number of each that the own seat put there or drew; else 0.",
        (SIZES.redrawn,),
        (category(SIZES.cards),),
    ),
    (
        "seats",
        "Per seat, the own one first, then clockwise (zeros beyond the players): 1; hand size; cards on the personal "
        "pile; cards on the bonus pile; number of the top card of the personal pile (0: none); 1 if that lies face "
        "down; 1 if it is its turn; 1 if it created the constraint in force.",
        (SIZES.seats, SIZES.seat_numbers),
        (
            flag("present"),
            count(SIZES.hand, "hand_size"),
            count(SIZES.cards, "personal_pile"),
            count(SIZES.cards // SIZES.bonus_group, "bonus_pile"),
            category(SIZES.cards, "top"),
            flag("top_face_down"),
            flag("has_turn"),
            flag("creator"),
        ),
    ),
    ("players", "The number of players.", (), (count(SIZES.seats),)),
    ("draw_pile", "Cards in the draw pile, those put under it included.", (), (count(SIZES.cards),)),
    ("queue", "Cards that were put under the draw pile and lie there.", (), (count(SIZES.pile),)),
    ("passes", "Passes since the last play.", (), (count(SIZES.seats - 1),)),
    ("bonus_drawn", "1 if the constraint's creator has drawn its bonus card.", (), (flag(),)),
    (
        "last_turns_left",
        "Turns left once last turns have begun, the present one included; else 0.",
        (),
        (count(SIZES.seats - 1),),
    ),
    ("phase", "One-hot: first seat, deal, play, bonus, pass, exchange, refill, over.", (SIZES.phases,), (flag(),)),
)

DESCRIPTION = Description(
    name="discat",
    package=__package__,
    title="Discat",
    options=(
        first_seat_option("The seat that begins.", SIZES.seats),
        Option(
            "up_arrows",
            "Arrows up",
            "The cards whose arrows point up; all others point down.",
            OptionType.PIECES,
            1,
            SIZES.cards,
            "odd numbers point up, even numbers down",
            DEFAULT_UP_ARROWS,
            piece_kind="card",
        ),
    ),
    action_kinds=(
        ActionKind(
            "play",
            f"Lay a card or a group: with the hand sorted ascending into slots 0-{SIZES.hand - 1}, {IDS.plays_a_top} x "
            "the top card's slot + a mask of the others, bit k for the k-th slot other than the top's.",
            0,
            IDS.plays - 1,
        ),
        ActionKind("keep", "Pass and keep the hand.", IDS.keep, IDS.keep),
        ActionKind(
            "exchange",
            f"Pass and put the card of slot id - {IDS.first_exchange} under the draw pile.",
            IDS.first_exchange,
            IDS.count - 1,
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn the card's number - 1.",
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
