"""Chatpentiers: what is printed on cards and boards, and the numbers of a table: the fields of ChatpentiersPieces."""

from chatiere.engine.games.chatpentiers.codec import encode_options

from libc.string cimport memset

from chatiere.engine.games.chatpentiers.state cimport (
    CARDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_COLOUR,
    ROUNDS,
    SECTIONS,
    VALUES,
    ZONES,
    BoardScore,
    Options,
    State,
    card_bit,
    cards_dealt,
    cards_taken,
    colour_of,
    has_extra_card,
    num_zones,
    rank_that_takes,
    score_board,
    value_of,
)


cdef int zones_with(int players):
    cdef State state
    state.players = players
    return num_zones(&state)


cdef list cards_taken_by_rank(int players):
    cdef State state
    cdef int taken
    state.players = players
    numbers = [0] * players
    for taken in range(cards_taken(players)):
        numbers[rank_that_takes(&state, taken)] += 1
    return numbers


cdef int bonus_for(int perfect):
    # The bonus of a board with so many perfect sections: one card in each, and limits of 1.
    cdef State state
    cdef BoardScore score
    cdef int colour
    memset(&state, 0, sizeof(State))
    memset(state.section_limits, 1, SECTIONS)
    for colour in range(perfect):
        state.board[0] |= card_bit(VALUES * colour)
        state.zone[0][colour] = colour + 1
    score_board(&state, 0, &score)
    return score.bonus


def _players_info(int players):
    cdef bytes encoded = encode_options(players, {})
    cdef const Options* options = <const Options*> <const char*> encoded
    cdef int section
    return {
        "players": players,
        "cards_dealt": cards_dealt(players),
        "cards_taken": cards_taken_by_rank(players),
        "extra_cards": int(has_extra_card(players)),
        "section_limits": [options.section_limits[section] for section in range(SECTIONS)],
        "removed_colour": None if options.removed_colour == NO_COLOUR else options.removed_colour,
    }


def _zone_info(int zone):
    return {
        "zone": zone,
        "section": zone < SECTIONS,
        "min_players": next(
            players for players in range(MIN_PLAYERS, MAX_PLAYERS + 1) if zone < zones_with(players)
        ),
    }


PIECE_DETAILS = {
    "cards": [{"card": card, "colour": colour_of(card), "value": value_of(card)} for card in range(CARDS)],
    "zones": [_zone_info(zone) for zone in range(ZONES)],
    "by_players": [_players_info(players) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)],
    "perfect_bonus": [bonus_for(perfect) for perfect in range(SECTIONS + 1)],
    "rounds": ROUNDS,
}
