# Discat: the draws of a game so far, and resampling of the information hidden from a seat.
from libc.stdint cimport uint8_t
from libc.string cimport memset

from chatiere.engine.core.bits cimport lowest_bit
from chatiere.engine.core.operations cimport NO_SEAT, seat_at
from chatiere.engine.core.stream cimport Stream
from .state cimport (
    DEALT, MAX_EXCHANGES, MAX_PILE, MAX_PLAYERS, Layout, State, cards_in_use, turns_in,
)

ctypedef struct Draws:
    # The draws after the deal. The plays and passes determine the size of each hand. The sizes determine the seat that
    # drew each card.
    int drawn
    int left  # the size of the draw pile
    int hand_size[MAX_PLAYERS]
    int before_put[MAX_PLAYERS]  # the number of draws before each seat last put a card under the pile
    # The seats that drew, in order of time. The list has a spare word, because refills are written in groups of eight.
    uint8_t drawn_by[MAX_PILE + MAX_EXCHANGES + 8]

cdef inline void begin_draws(const State* state, Draws* draws) noexcept nogil:
    cdef int seat
    for seat in range(MAX_PLAYERS):
        draws.hand_size[seat] = DEALT
        draws.before_put[seat] = 0
    draws.left = cards_in_use(state.players) - DEALT * state.players
    draws.drawn = 0

cdef inline int draw_after_play(const State* state, int seat, int first, int top, Draws* draws) noexcept nogil:
    # Follow the draws after a play of a seat, from its first card to its top, and during the passes after it. When a
    # turn is over, the hand has five cards or more, or the draw pile is permanently empty. There is no refill after a
    # pass. Returns the number of cards that the seat drew for its play.
    cdef int turns = turns_in(state.codes[top]), exchanges = state.codes[top] ^ 1 << (turns - 1)
    cdef int size = draws.hand_size[seat] - (top + 1 - first), refill, other
    if top + 1 == state.laid and turns == 1:
        # Use the actual size of the hand. The game may have ended before the refill, or the first pass may be in
        # progress.
        refill = max(0, state.hand_size[seat] - size)
    else:
        # If there was a pass, the creator also drew a bonus card.
        refill = max(0, DEALT - size) + (turns > 1)
    refill = min(refill, draws.left)
    draws.left -= refill
    draws.hand_size[seat] = size + refill
    # No refill has more than eight cards. Later draws overwrite the excess.
    memset(&draws.drawn_by[draws.drawn], seat, 8)
    draws.drawn += refill
    while exchanges:
        # The seat draws a card for the card that it puts under the pile.
        other = seat_at(seat, 1 + lowest_bit(exchanges), state.players)
        exchanges &= exchanges - 1
        draws.before_put[other] = draws.drawn
        draws.drawn_by[draws.drawn] = other
        draws.drawn += 1
    return refill

cdef inline int taker_of(const Draws* draws, int draw) noexcept nogil:
    # Return the seat that drew a card, or NO_SEAT. In a forged state, some redrawn cards may not have been drawn.
    return draws.drawn_by[draw] if draw < draws.drawn else <int> NO_SEAT

cdef inline int first_redraw(const State* state, int forgotten) noexcept nogil:
    # Return the number of the draw that gave the oldest redrawn card kept, after `forgotten` older ones. All unknown
    # cards are drawn before the queue.
    return cards_in_use(state.players) - DEALT * state.players + forgotten

cdef void read_layout(const State* state, Layout* layout) noexcept nogil
cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
