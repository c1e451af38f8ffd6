"""Discat: bounds on the length of games (rules file: A turn; Draw pile; End)."""

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.games.discat.state cimport Options, cards_in_use


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # A turn is one decision, a play or a pass. Each play lays one card or more; at most n - 1 passes come before the
    # next play, and after n - 1 it is the same seat that plays again (Back to the creator).
    #
    # A hand is empty only if the draw pile is: the first seat to empty its hand begins the n - 1 last turns, and leaves
    # each other seat one card or more. So with N cards there are at most N - (n - 1) plays up to that one; no passes
    # count after the last of them; and whenever a different seat plays, a pass is missing. That happens at least n - 1
    # times if all seats play. A seat that does not play keeps five cards, which costs more than it saves. A winning
    # group lays five cards at once, and no last turns follow. With n (N - (n - 1)) turns for the plays this makes:
    #
    #     n (N - (n - 1)) - (n - 1) for the last play - (n - 1) for other seats' + (n - 1) last turns.
    #
    # With suitable arrows a game reaches it: one seat plays all cards of the pile, none of which the others can
    # respect; then they play in turn, counter-clockwise.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int cards = cards_in_use(players), others = players - 1
    found.max_game_length = players * (cards - others) - others
    # Each card is dealt or drawn by chance once: cards put under the pile are redrawn without chance.
    found.max_chance_nodes = first_seat_comes + cards
    # The largest number is that of the first card dealt.
    found.max_chance_outcomes = cards
