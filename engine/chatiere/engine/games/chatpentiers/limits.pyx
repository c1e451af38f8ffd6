"""Chatpentiers: how long a game can be (rules file: Components and setup; A trick).

All games with the same number of players have the same length: three rounds of as many tricks as a seat gets cards. In
each trick every seat plays a card, and all but one of the cards on the table are taken, one decision each.
"""

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.games.chatpentiers.state cimport (
    CARDS,
    ROUNDS,
    VALUES,
    Options,
    cards_dealt,
    cards_taken,
    has_extra_card,
)


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int tricks = cards_dealt(players)
    found.max_game_length = ROUNDS * tricks * (players + cards_taken(players))
    # Cards are dealt one at a time; 3 players see an extra card in each trick.
    found.max_chance_nodes = first_seat_comes + ROUNDS * tricks * (players + has_extra_card(players))
    # The first card of a deal: any card in use.
    found.max_chance_outcomes = CARDS - (VALUES if players == 3 else 0)
