"""Momistigri: what is printed on the cards, and the numbers of a table, as the fields of MomistigriPieces."""

from chatiere.engine.core.description import Name
from chatiere.engine.games.momistigri.codec import DEFAULTS

from chatiere.engine.games.momistigri.cards cimport (
    FEWEST_PLAYERS,
    KINDS,
    MOMISTIGRI,
    MAX_PLAYERS,
    USUAL_BOX,
    VALUES,
    bits_of,
    deck_for,
)
from chatiere.engine.games.momistigri.state cimport DEALT, LAST_CHOICE, LAST_TURN, ROUNDS, value_of

# By value from 1: the effect of a pair, the cards that the next seat draws, the description.
_EFFECTS = (
    ("DISCARD_ONES", 0, "discard all other 1s"),
    ("NAME_CARD", 0, "name the card that the next seat must draw"),
    ("SWAP", 0, "after the next seat's draw, swap a card with the pile"),
    ("GIVE", 0, "give a card to another seat"),
    ("HAND_OUT", 0, "hand a card of the pile to each other seat"),
    ("AGAIN", 0, "you may discard another pair"),
    ("DRAW_MORE", 2, "the next seat draws two cards"),
    ("DRAW_MORE", 3, "the next seat draws three cards"),
)


cdef bint in_use(int kind, int players):
    # True of kinds without a card, too, if those of the same value are in use.
    cdef int colour
    if kind == MOMISTIGRI:
        return True
    for colour in range(MOMISTIGRI // VALUES):
        if deck_for(&USUAL_BOX, players) & bits_of(&USUAL_BOX, VALUES * colour + kind % VALUES):
            return True
    return False


def _card_info(int kind):
    return {
        "card": kind,
        "colour": None if kind == MOMISTIGRI else kind // VALUES,
        "value": value_of(kind),
        "total_copies": 1 if kind == MOMISTIGRI else DEFAULTS["copies"][kind],
        "min_players": next(
            players for players in range(FEWEST_PLAYERS, MAX_PLAYERS + 1) if in_use(kind, players)
        ),
    }


PIECE_DETAILS = {
    "cards": [_card_info(kind) for kind in range(KINDS)],
    "effects": [
        {
            "value": value,
            "effect": f"MOMISTIGRI_EFFECT_{effect}",
            "may_reverse": value <= LAST_CHOICE,
            "draws": draws,
            "description": Name(description),
        }
        for value, (effect, draws, description) in enumerate(_EFFECTS, 1)
    ],
    "cards_dealt": DEALT,
    "rounds": ROUNDS - 1,
    "last_turn": LAST_TURN,
}
