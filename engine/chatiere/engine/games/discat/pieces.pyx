"""Discat: what is printed on the cards, and the numbers of a table, as the fields of DiscatPieces."""

from chatiere.engine.games.discat.codec import DEFAULT_UP_ARROWS

from chatiere.engine.games.discat.state cimport (
    BONUS_GROUP,
    BONUS_POINTS,
    DEALT,
    MAX_CARD,
    MAX_HAND,
    MAX_PLAYERS,
    MIN_PLAYERS,
    WINNING_GROUP,
    cards_in_use,
)


def _card_info(card):
    tens, units = divmod(card, 10)
    return {
        "card": card,
        "tens": tens,
        "units": units,
        "points_up": card in DEFAULT_UP_ARROWS,
        "min_players": next(
            players for players in range(MIN_PLAYERS, MAX_PLAYERS + 1) if card <= cards_in_use(players)
        ),
    }


PIECE_DETAILS = {
    "cards": [_card_info(card) for card in range(1, MAX_CARD + 1)],
    "cards_dealt": DEALT,
    "largest_hand": MAX_HAND,
    "bonus_group_size": BONUS_GROUP,
    "winning_group_size": WINNING_GROUP,
    "pile_card_points": 1,
    "bonus_card_points": BONUS_POINTS,
    "hand_card_points": -1,
}
