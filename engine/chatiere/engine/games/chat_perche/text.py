"""Chat perché: the description of the game."""

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
from chatiere.engine.games.chat_perche.codec import CODEC, DEFAULTS
from chatiere.engine.games.chat_perche.pieces import PIECE_DETAILS
from chatiere.engine.games.chat_perche.words import ENDS, FAULTS, IDS, PIECES, SIZES

_OBSERVATION = (
    ("own_cats", "Per space: 1 if an own cat stands there.", (SIZES.spaces,), (flag(),)),
    ("other_cats", "Per space: 1 if a cat of the other seat stands there.", (SIZES.spaces,), (flag(),)),
    ("birds", "Per space: 1 if a bird is there.", (SIZES.spaces,), (flag(),)),
    (
        "barred",
        "Per space: 1 if a cat stands there that must not be moved, because the active seat's opponent moved it in its "
        "last turn.",
        (SIZES.spaces,),
        (flag(),),
    ),
    (
        "moved",
        "Per space: 1 if the cat that moved first stands there, while a second may move.",
        (SIZES.spaces,),
        (flag(),),
    ),
    (
        "branches",
        "Per branch the owner of its token (0 nobody, 1 the own seat, 2 the other); per branch its value (0: none, or "
        "not known); per branch 1 if it is broken; per branch animals now; per branch the most animals so far (0 once "
        "broken).",
        (5, SIZES.branches),
        (
            category(2, "owner", (SIZES.branches,)),
            category(SIZES.solidities, "value", (SIZES.branches,)),
            flag("broken", (SIZES.branches,)),
            count(SIZES.branch_spaces, "animals", (SIZES.branches,)),
            count(SIZES.branch_spaces, "most_animals", (SIZES.branches,)),
        ),
    ),
    (
        "tokens",
        f"Per value 1-{SIZES.solidities} the number of tokens: own ones that are not placed; the other seat's that the "
        "own seat has not seen; those that a seat begins with.",
        (3, SIZES.solidities),
        (
            count(SIZES.tokens, "own", (SIZES.solidities,)),
            count(SIZES.tokens, "other", (SIZES.solidities,)),
            count(SIZES.tokens, "all", (SIZES.solidities,)),
        ),
    ),
    (
        "decks",
        f"For the {SIZES.deck} cards of a full deck, in the order of their numbers: the card; 1 if it is left in the "
        "own deck; 1 if it is left in the other seat's deck. Of equal cards the last ones are left.",
        (3, SIZES.deck),
        (
            category(SIZES.cards - 1, "card", (SIZES.deck,)),
            flag("own", (SIZES.deck,)),
            flag("other", (SIZES.deck,)),
        ),
    ),
    (
        "card",
        "One-hot, per card: the one that the active seat has turned up and decides about; own and opponent's are the "
        "active seat's.",
        (SIZES.cards,),
        (flag(),),
    ),
    ("steps_left", "Steps left for the move; else 0.", (), (count(SIZES.values),)),
    ("own_start", "Own cats at their start.", (), (count(SIZES.cats),)),
    ("other_start", "Cats of the other seat at their start.", (), (count(SIZES.cats),)),
    ("birds_beside", "Birds beside the board.", (), (count(SIZES.birds),)),
    ("dog_steps", "Steps made by the dogs.", (), (count(SIZES.max_track),)),
    ("dog_track", "Steps to the dogs' last space.", (), (count(SIZES.max_track),)),
    ("forward_only", "1 if cats move up the trunk and outward only.", (), (flag(),)),
    ("takes_first_turn", "1 if the own seat takes the first turn.", (), (flag(),)),
    ("own_turn", "1 if it is the own seat's turn.", (), (flag(),)),
    (
        "phase",
        "One-hot: first seat, place token, turn up, move, second move, fall, place bird, over.",
        (SIZES.phases,),
        (flag(),),
    ),
)


DESCRIPTION = Description(
    name="chat_perche",
    package=__package__,
    title="Chat perché",
    options=(
        first_seat_option("The seat that takes the first turn.", SIZES.seats),
        Option(
            "forward_only",
            "Forward only",
            "Cats move up the trunk and outward only.",
            OptionType.FLAG,
            0,
            1,
            "cats move in any direction",
            (0,),
        ),
        Option(
            "dog_track",
            "Track of the dogs",
            "The number of steps to the dogs' last space.",
            OptionType.NUMBER,
            1,
            SIZES.max_track,
            str(DEFAULTS["dog_track"]),
            (DEFAULTS["dog_track"],),
        ),
        Option(
            "solidity",
            "Tokens",
            "The values of a seat's five tokens.",
            OptionType.NUMBERS,
            1,
            SIZES.solidities,
            ", ".join(map(str, DEFAULTS["solidity"])),
            tuple(DEFAULTS["solidity"]),
            length=SIZES.tokens,
        ),
        Option(
            "deck",
            "Deck",
            f"How many copies of each card a seat's deck has: {SIZES.deck} cards together, at least one of them a dogs "
            "card.",
            OptionType.NUMBERS,
            0,
            SIZES.deck,
            "dogs 1 x2, dogs 2 x1, bird x3, own cat falls x1, opponent's cat falls x2, one own cat 2, 3, 3, 4, 4, 5, "
            "5, 6, two own cats 4, 5, 6, 6, 7, one opponent's cat 2, 3, 4, two opponent's cats 4",
            tuple(DEFAULTS["deck"]),
            length=SIZES.cards,
            index_kind="card",
        ),
    ),
    action_kinds=(
        ActionKind(
            "place_token",
            f"Put a token beside a branch: {SIZES.solidities} x branch + value - 1.",
            0,
            IDS.first_move - 1,
        ),
        ActionKind(
            "move",
            f"Move a cat of the card's colour: {IDS.first_move} + {SIZES.spaces} x the space where it stands "
            f"({SIZES.start}: its start) + the space where it goes.",
            IDS.first_move,
            IDS.stop - 1,
        ),
        ActionKind("stop", "Move no (further) cat.", IDS.stop, IDS.stop),
        ActionKind(
            "fall",
            f"Let a cat of the card's colour fall: {IDS.first_fall} + its space.",
            IDS.first_fall,
            IDS.first_bird - 1,
        ),
        ActionKind(
            "place_bird",
            f"Put a bird on a branch: {IDS.first_bird} + the space - {SIZES.trunk_spaces}.",
            IDS.first_bird,
            IDS.end - 1,
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is turned up the card's number.",
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
