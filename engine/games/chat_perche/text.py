"""Chat perché in words: what the game says of itself."""

from collections.abc import Iterator

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
from chatiere.engine.games.chat_perche.codec import CODEC, DEFAULTS
from chatiere.engine.games.chat_perche.words import CARD_NAMES, FAULTS, SPACE_NAMES

_SPACES = 45
_BRANCHES = 10
_BRANCH_SPACES = 4
_CARDS = 41
_VALUES = 9
_SOLIDITIES = 4
_LONGEST_TRACK = 99
_DECK_SIZE = 26
_CATS = 12
_BIRDS = 6
_TOKENS = 5

_OBSERVATION = (
    ("own_cats", "Per space: 1 if an own cat stands there.", (_SPACES,), (flag(),)),
    ("other_cats", "Per space: 1 if a cat of the other seat stands there.", (_SPACES,), (flag(),)),
    ("birds", "Per space: 1 if a bird is there.", (_SPACES,), (flag(),)),
    (
        "barred",
        "Per space: 1 if a cat stands there that must not be moved, because the other seat than the active one moved "
        "it in its last turn.",
        (_SPACES,),
        (flag(),),
    ),
    (
        "moved",
        "Per space: 1 if the cat stands there that has moved first, while a second may move.",
        (_SPACES,),
        (flag(),),
    ),
    (
        "branches",
        "Per branch whose token lies there (0 nobody's, 1 the own, 2 the other's); per branch its value (0: none, or "
        "not known); per branch 1 if it is broken; per branch animals now; per branch the most animals so far (0 once "
        "broken).",
        (5, _BRANCHES),
        (
            category(2, "owner", (_BRANCHES,)),
            category(_SOLIDITIES, "value", (_BRANCHES,)),
            flag("broken", (_BRANCHES,)),
            count(_BRANCH_SPACES, "animals", (_BRANCHES,)),
            count(_BRANCH_SPACES, "most_animals", (_BRANCHES,)),
        ),
    ),
    (
        "tokens",
        "How many of each value 1-4: own tokens that are not placed; the other seat's tokens that the own seat has not "
        "seen; tokens that a seat begins with.",
        (3, _SOLIDITIES),
        (
            count(_TOKENS, "own", (_SOLIDITIES,)),
            count(_TOKENS, "other", (_SOLIDITIES,)),
            count(_TOKENS, "all", (_SOLIDITIES,)),
        ),
    ),
    (
        "decks",
        "For the 26 cards of a full deck, in the order of their numbers: the card; 1 if it is left in the own deck; "
        "1 if it is left in the other seat's deck. Of equal cards the last ones are left.",
        (3, _DECK_SIZE),
        (
            category(_CARDS - 1, "card", (_DECK_SIZE,)),
            flag("own", (_DECK_SIZE,)),
            flag("other", (_DECK_SIZE,)),
        ),
    ),
    (
        "card",
        "One-hot, per card: the one that the active seat has turned up and decides about; own and opponent's are the "
        "active seat's.",
        (_CARDS,),
        (flag(),),
    ),
    ("steps", "Steps left for the move; else 0.", (), (count(_VALUES),)),
    ("own_start", "Own cats at their start.", (), (count(_CATS),)),
    ("other_start", "Cats of the other seat at their start.", (), (count(_CATS),)),
    ("birds_beside", "Birds beside the board.", (), (count(_BIRDS),)),
    ("dogs", "Steps that the dogs have made.", (), (count(_LONGEST_TRACK),)),
    ("dog_track", "Steps to the dogs' last space.", (), (count(_LONGEST_TRACK),)),
    ("forward_only", "1 if cats move up the trunk and outward only.", (), (flag(),)),
    ("takes_first_turn", "1 if the own seat takes the first turn.", (), (flag(),)),
    ("own_turn", "1 if it is the own seat's turn.", (), (flag(),)),
    ("phase", "One-hot: first seat, place token, turn up, move, second move, fall, place bird, over.", (8,), (flag(),)),
)


def _pieces() -> Iterator[Piece]:
    french_cards = (
        "chiens 1",
        "chiens 2",
        "oiseau",
        "un chat à soi tombe",
        "un chat adverse tombe",
        *(
            f"{cats} {value}"
            for cats in ("un chat à soi", "un chat adverse", "deux chats à soi", "deux chats adverses")
            for value in range(1, _VALUES + 1)
        ),
    )
    french_spaces = (
        *(f"tronc {number}" for number in range(1, 6)),
        *(
            f"branche {side} {number}, case {place}"
            for side in ("gauche", "droite")
            for number in range(1, 6)
            for place in range(1, _BRANCH_SPACES + 1)
        ),
        "case départ",
    )
    for number, (english, french) in enumerate(zip(CARD_NAMES, french_cards, strict=True)):
        yield Piece(number, english, french)
    for number, (english, french) in enumerate(zip((*SPACE_NAMES[:-1], "start"), french_spaces, strict=True)):
        yield Piece(number, english, french, "space")


DESCRIPTION = Description(
    name="chat_perche",
    english_title="Chat perché",
    french_title="Chat perché",
    options=(
        first_seat_option("The seat that takes the first turn.", 2),
        Option(
            "forward_only", "1: cats move up the trunk and outward only.", 0, 1, "0: cats move in any direction", (0,)
        ),
        Option("dog_track", "The number of steps to the dogs' last space.", 1, _LONGEST_TRACK, "10", (10,)),
        Option(
            "solidity",
            "The values of a seat's five tokens.",
            1,
            _SOLIDITIES,
            "1, 2, 3, 3, 4",
            tuple(DEFAULTS["solidity"]),
        ),
        Option(
            "deck",
            "How many copies of each card a seat's deck has, by card: 41 numbers, together 26, at least one of a dogs "
            "card.",
            0,
            _DECK_SIZE,
            "dogs 1 x2, dogs 2 x1, bird x3, own cat falls x1, opponent's cat falls x2, one own cat 2, 3, 3, 4, 4, 5, "
            "5, 6, two own cats 4, 5, 6, 6, 7, one opponent's cat 2, 3, 4, two opponent's cats 4",
            tuple(DEFAULTS["deck"]),
        ),
    ),
    action_kinds=(
        ActionKind("place_token", "Put a token beside a branch: 4 x branch + value - 1.", 0, 39),
        ActionKind(
            "move",
            "Move a cat of the card's colour: 40 + 45 x the space where it stands (45: its start) + the space where it "
            "goes.",
            40,
            2109,
        ),
        ActionKind("stop", "Move no (further) cat.", 2110, 2110),
        ActionKind("fall", "Let a cat of the card's colour fall: 2111 + its space.", 2111, 2155),
        ActionKind("place_bird", "Put a bird on a branch: 2156 + the space - 5.", 2156, 2195),
    ),
    outcomes="For the first seat the seat's number; for a card that is turned up the card's number.",
    pieces=tuple(_pieces()),
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=FAULTS,
    encode_options=CODEC.encode_options,
    options_of=CODEC.options_of,
    action_label=CODEC.action_label,
    outcome_label=CODEC.outcome_label,
)
