"""Chatpentiers: the description of the game."""

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
from chatiere.engine.games.chatpentiers.codec import CODEC, DEFAULT_REMOVED_COLOUR
from chatiere.engine.games.chatpentiers.pieces import PIECE_DETAILS
from chatiere.engine.games.chatpentiers.words import COLOURS_IN_WORDS, ENDS, FAULTS, IDS, PIECES, SIZES

_OBSERVATION = (
    ("own_hand", "Per card: 1 if it is in the own hand.", (SIZES.cards,), (flag(),)),
    ("table", "Per card: 1 if it lies on the table, not taken.", (SIZES.cards,), (flag(),)),
    (
        "trick",
        "Per card: 1 + d if the seat d to the left played it to this trick (even once it is taken), "
        f"{SIZES.seats + 1} if it is the extra card; else 0.",
        (SIZES.cards,),
        (category(SIZES.seats + 1),),
    ),
    ("discards", "Per card: 1 if it was discarded in this round.", (SIZES.cards,), (flag(),)),
    ("unseen", "Per card: 1 if the own seat does not know its place.", (SIZES.cards,), (flag(),)),
    (
        "boards",
        "Per seat, the own one first, then clockwise (zeros beyond the players), per card: 1 if it lies under that "
        "board.",
        (SIZES.seats, SIZES.cards),
        (flag(),),
    ),
    (
        "seats",
        "Per seat, the own one first: 1; hand size; points of rounds 1 and 2 (0 until they are finished); points of "
        "the present board; how far its sum is below 0; its perfect sections; 1 if it decides, or gets the next card; "
        "1 if it leads; total; per colour 1 if it has failed to follow it in this round; per colour 1 + the zone it "
        "lies in, 0 if it lies in none; per colour its cards under the board.",
        (SIZES.seats, SIZES.seat_numbers),
        (
            flag("present"),
            count(SIZES.max_hand, "hand_size"),
            count(SIZES.max_points, "round_points", (SIZES.rounds - 1,)),
            count(SIZES.max_points, "board_points"),
            count(SIZES.max_taken, "below_zero"),
            count(SIZES.sections, "perfect_sections"),
            flag("acts"),
            flag("leads"),
            count(SIZES.rounds * SIZES.max_points, "total"),
            flag("voids", (SIZES.colours,)),
            category(SIZES.sections + 1, "zones", (SIZES.colours,)),
            count(SIZES.values, "cards", (SIZES.colours,)),
        ),
    ),
    ("players", "The number of players.", (), (count(SIZES.seats),)),
    ("round", f"The round, 1-{SIZES.rounds}.", (), (count(SIZES.rounds),)),
    ("tricks", "The number of tricks of a round.", (), (count(SIZES.max_hand),)),
    (
        "section_limits",
        f"The limits of sections 0-{SIZES.sections - 1}.",
        (SIZES.sections,),
        (count(SIZES.max_limit),),
    ),
    ("colours_in_use", "Per colour: 1 if its cards are played with.", (SIZES.colours,), (flag(),)),
    (
        "led_colour",
        "One-hot: the colour that was led; zeros before the leader has played.",
        (SIZES.colours,),
        (flag(),),
    ),
    ("undealt", "Cards neither dealt nor turned up as an extra card.", (), (count(SIZES.cards),)),
    ("discarded", "Cards discarded in this round.", (), (count(SIZES.max_hand),)),
    ("to_take", "Cards of the trick that the deciding seat has yet to take; 0 unless it takes.", (), (count(2),)),
    ("phase", "One-hot: first seat, deal, extra card, play, take, over.", (SIZES.phases,), (flag(),)),
)

DESCRIPTION = Description(
    name="chatpentiers",
    package=__package__,
    title="CATsle Builders",
    options=(
        first_seat_option("The seat that leads the first round's first trick.", SIZES.seats),
        Option(
            "section_limits",
            "Limits of the sections",
            "The limits of the four sections of every board.",
            OptionType.NUMBERS,
            1,
            SIZES.max_limit,
            "1, 2, 3, 4 with 4 or 5 players, 1, 2, 3, 5 with 3 players",
            defaults={each["players"]: tuple(each["section_limits"]) for each in PIECE_DETAILS["by_players"]},
            length=SIZES.sections,
            index_kind="zone",
        ),
        Option(
            "removed_colour",
            "Colour left out",
            "The colour that is left out with 3 players; with 4 or 5 it has no effect.",
            OptionType.NUMBER,
            0,
            SIZES.colours - 1,
            f"{DEFAULT_REMOVED_COLOUR}, {COLOURS_IN_WORDS[DEFAULT_REMOVED_COLOUR]}",
            (DEFAULT_REMOVED_COLOUR,),
            piece_kind="colour",
            only_for=tuple(
                each["players"] for each in PIECE_DETAILS["by_players"] if each["removed_colour"] is not None
            ),
        ),
    ),
    action_kinds=(
        ActionKind(
            "play_card", "Play a card of the hand to the trick; the id is the card's number.", 0, IDS.first_take - 1
        ),
        ActionKind(
            "take_card",
            f"Take a card from the table and place it in a zone of the own board: {IDS.first_take} + {SIZES.zones} x "
            f"the card's number + the zone (0-{SIZES.sections - 1}: that section; {SIZES.zero_zone}: the zero zone, "
            "with 4 or 5 players).",
            IDS.first_take,
            IDS.end - 1,
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or turned up the card's number.",
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
