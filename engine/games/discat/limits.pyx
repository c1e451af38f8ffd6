"""Discat: how long a game can be (rules file: A turn; Draw pile; End)."""

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.games.discat.state cimport Options, cards_in_use


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # A turn is one decision, a play or a pass. Each play lays a card or more, and before the next one come n - 1 passes at
    # most, which only the seat that has just played follows with a play (Back to the creator).
    #
    # A hand is empty only when the draw pile is: the first seat that empties its own begins the last turns, n - 1 of them,
    # and leaves each other seat a card or more. So there are at most N - (n - 1) plays up to that one, of N cards; no pass
    # counts after the last of them; and wherever another seat than before plays, a pass is missing. That is the case n - 1
    # times or more if all seats play. A seat that doesn't keeps five cards, which costs more than it saves. A winning group
    # lays five cards at once, and no last turns follow. With n (N - (n - 1)) turns for the plays that makes:
    #
    #     n (N - (n - 1)) - (n - 1) for the last play - (n - 1) for other seats' + (n - 1) last turns.
    #
    # With arrows to suit a game reaches it: one seat plays all cards of the pile, and the others cannot respect any; then
    # they play in turn, counter-clockwise.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int cards = cards_in_use(players), others = players - 1
    found.max_game_length = players * (cards - others) - others
    # Each card is dealt or drawn by chance once: one that was put under the pile is drawn without chance.
    found.max_chance_nodes = first_seat_comes + cards
    # The first card of the deal.
    found.max_chance_outcomes = cards
